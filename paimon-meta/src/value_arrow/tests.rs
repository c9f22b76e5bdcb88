use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, TimestampMillisecondArray};

use super::*;
use crate::error::ErrorKind;
use crate::types::{MAX_LENGTH, StringLayout};

const LAYOUTS: [StringLayout; 3] = [
    StringLayout::View,
    StringLayout::Offset32,
    StringLayout::Offset64,
];

/// A type and two values of it.
fn samples() -> Vec<(TypeKind, [Datum; 2])> {
    let timestamp = |millis, nanos| Datum::Timestamp { millis, nanos };
    vec![
        (TypeKind::Boolean, [true, false].map(Datum::Boolean)),
        (TypeKind::TinyInt, [i8::MIN, 1].map(Datum::TinyInt)),
        (TypeKind::SmallInt, [i16::MIN, 1].map(Datum::SmallInt)),
        (TypeKind::Int, [i32::MIN, 1].map(Datum::Int)),
        (TypeKind::BigInt, [i64::MIN, 1].map(Datum::BigInt)),
        (TypeKind::Float, [-0.0, f32::INFINITY].map(Datum::Float)),
        (TypeKind::Double, [-0.0, f64::INFINITY].map(Datum::Double)),
        (
            TypeKind::Decimal {
                precision: 38,
                scale: 2,
            },
            [-5, 10_i128.pow(37)].map(|value| Datum::Decimal(value, 2)),
        ),
        (
            TypeKind::Char(3),
            ["a", ""].map(|text| Datum::String(text.into())),
        ),
        (
            TypeKind::VarChar(MAX_LENGTH),
            ["a text of more than twelve bytes", "é"].map(|text| Datum::String(text.into())),
        ),
        (
            TypeKind::Binary(2),
            [vec![0, 255], vec![]].map(Datum::Binary),
        ),
        (
            TypeKind::VarBinary(9),
            [vec![1], vec![2]].map(Datum::Binary),
        ),
        (TypeKind::Date, [-1, 20_000].map(Datum::Date)),
        (TypeKind::Time(9), [0, 86_399_999].map(Datum::Time)),
        (
            TypeKind::Timestamp(0),
            [timestamp(-1000, 0), timestamp(2000, 0)],
        ),
        (TypeKind::Timestamp(3), [timestamp(-1, 0), timestamp(2, 0)]),
        (
            TypeKind::Timestamp(6),
            [timestamp(-1, 999_000), timestamp(2, 1000)],
        ),
        (
            TypeKind::LocalZonedTimestamp(9),
            [timestamp(-1, 999_999), timestamp(2, 1)],
        ),
    ]
}

#[test]
fn every_scalar_type_reads_back_in_every_layout() {
    // Table-format 8.1
    for (kind, values) in samples() {
        let data_type = kind.nullable();
        for layout in LAYOUTS {
            let arrow = data_type.to_arrow(layout).unwrap();
            let [first, second] = &values;
            let array = array_of([Some(first), None, Some(second)], &arrow).unwrap();
            assert_eq!(array.data_type(), &arrow);
            let read: Vec<_> = (0..3)
                .map(|index| datum_at(&array, index, &data_type).unwrap())
                .collect();
            assert_eq!(read, [Some(first.clone()), None, Some(second.clone())]);
        }
    }
}

#[test]
fn arrays_of_another_type_are_refused() {
    let array: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let error = datum_at(&array, 0, &TypeKind::BigInt.nullable()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "internal error: expected an array of BIGINT, found Int32"
    );
    assert!(datum_at(&array, 1, &TypeKind::Int.nullable()).is_err());
    let millis: ArrayRef = Arc::new(TimestampMillisecondArray::from(vec![-1]));
    assert_eq!(
        datum_at(&millis, 0, &TypeKind::Timestamp(9).nullable()).unwrap(),
        Some(Datum::Timestamp {
            millis: -1,
            nanos: 0
        })
    );
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let finer = Datum::Timestamp {
        millis: 0,
        nanos: 1000,
    };
    let far = Datum::Timestamp {
        millis: i64::MAX,
        nanos: 0,
    };
    for (value, arrow) in [
        (&Datum::Int(1), ArrowType::Int64),
        (&Datum::Decimal(1, 3), ArrowType::Decimal128(10, 2)),
        (&finer, ArrowType::Timestamp(TimeUnit::Millisecond, None)),
        (&far, ArrowType::Timestamp(TimeUnit::Nanosecond, None)),
    ] {
        let error = array_of([Some(value)], &arrow).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal);
    }
    let error = array_of([None], &ArrowType::Date64).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}
