use std::cmp::Ordering;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::error::ErrorKind;
use crate::types::{DataType, MAX_LENGTH, TypeKind};
use crate::value::Datum;

fn text(value: &str) -> Option<Datum> {
    Some(Datum::String(value.to_owned()))
}

fn string() -> DataType {
    TypeKind::VarChar(MAX_LENGTH).nullable()
}

fn decimal(precision: u8, scale: u8) -> DataType {
    TypeKind::Decimal { precision, scale }.nullable()
}

fn encode(columns: &[(DataType, Option<Datum>)]) -> BinaryRow {
    let types: Vec<&DataType> = columns.iter().map(|(data_type, _)| data_type).collect();
    let values: Vec<Option<Datum>> = columns.iter().map(|(_, value)| value.clone()).collect();
    encode_row(&types, &values).unwrap()
}

/// Hex with spaces, without the arity.
fn row(arity: usize, hex: &str) -> BinaryRow {
    let hex: String = hex.split_whitespace().collect();
    BinaryRow::from_parts(arity, &from_hex(&hex).unwrap()).unwrap()
}

#[track_caller]
fn check(columns: &[(DataType, Option<Datum>)], hex: &str) {
    let expected = row(columns.len(), hex);
    assert_eq!(encode(columns), expected);
    let types: Vec<&DataType> = columns.iter().map(|(data_type, _)| data_type).collect();
    let values: Vec<Option<Datum>> = columns.iter().map(|(_, value)| value.clone()).collect();
    assert_eq!(expected.as_ref().datums(&types).unwrap(), values);
}

#[test]
fn examples_a_to_c_of_section_5_3() {
    // (a), TF-056: three bytes are inside the slot.
    let int = TypeKind::Int.nullable();
    let a = [(int.clone(), Some(Datum::Int(5))), (string(), text("abc"))];
    check(&a, "0000000000000000 0500000000000000 6162630000000083");
    assert_eq!(
        encode(&a).as_serialized().first_chunk(),
        Some(&[0, 0, 0, 2])
    ); // TF-041
    // (b), TF-054: the null bit of field 0 is bit 0 of byte 1.
    check(
        &[(int, None), (string(), text("abc"))],
        "0001000000000000 0000000000000000 6162630000000083",
    );
    // (c): eight bytes and more are in a block.
    check(
        &[(string(), text("abcdefghij"))],
        "0000000000000000 0a00000010000000 6162636465666768 696a000000000000",
    );
}

#[test]
fn examples_d_of_section_5_3() {
    let small = (decimal(10, 2), Some(Datum::Decimal(1_234_567, 2)));
    check(
        std::slice::from_ref(&small),
        "0000000000000000 87d6120000000000",
    );
    let large = (decimal(38, 10), Some(Datum::Decimal(10_000_000_000, 10)));
    check(
        std::slice::from_ref(&large),
        "0000000000000000 0500000010000000 02540be400000000 0000000000000000",
    );
    check(
        &[(decimal(38, 10), Some(Datum::Decimal(-10_000_000_000, 10)))],
        "0000000000000000 0500000010000000 fdabf41c00000000 0000000000000000",
    );
    // TF-059: a null keeps its block.
    check(
        &[(decimal(38, 10), None)],
        "0001000000000000 0000000010000000 0000000000000000 0000000000000000",
    );
    let millis = 1_704_164_645_678;
    let compact = (
        TypeKind::Timestamp(3).nullable(),
        Some(Datum::Timestamp { millis, nanos: 0 }),
    );
    check(
        std::slice::from_ref(&compact),
        "0000000000000000 2edb20c88c010000",
    ); // TF-058
    let full = (
        TypeKind::Timestamp(6).nullable(),
        Some(Datum::Timestamp {
            millis,
            nanos: 901_000,
        }),
    );
    check(
        std::slice::from_ref(&full),
        "0000000000000000 88bf0d0010000000 2edb20c88c010000",
    );
    check(
        &[(TypeKind::LocalZonedTimestamp(9).nullable(), None)],
        "0001000000000000 0000000010000000 0000000000000000",
    );
    check(
        &[small, large, compact, full],
        "0000000000000000 87d6120000000000 0500000028000000 2edb20c88c010000 88bf0d0038000000
         02540be400000000 0000000000000000 2edb20c88c010000",
    );
}

#[test]
fn example_partition_of_section_4_4() {
    let partition = encode(&[(string(), text("20240514"))]);
    assert_eq!(
        to_hex(partition.as_serialized()),
        "00000001000000000000000008000000100000003230323430353134"
    );
}

#[test]
fn nested_fields_are_stepped_over_and_not_read() {
    // (e) of section 5.3 with an INT behind it.
    let nested = row(
        2,
        "0000000000000000 1800000018000000 0700000000000000
         0300000002000000 0100000000000000 0300000000000000",
    );
    let array = TypeKind::Array(Box::new(TypeKind::Int.nullable())).nullable();
    let int = TypeKind::Int.nullable();
    assert_eq!(nested.as_ref().datum(1, &int).unwrap(), Some(Datum::Int(7)));
    assert_eq!(
        nested.as_ref().datum(0, &array).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
    assert_eq!(
        encode(&[(array.clone(), None), (int, Some(Datum::Int(7)))])
            .as_ref()
            .datum(0, &array)
            .unwrap(),
        None
    );
}

#[test]
fn header_grows_at_57_fields() {
    // TF-055
    for (arity, header) in [(0, 8), (56, 8), (57, 16), (120, 16), (121, 24)] {
        assert_eq!(header_bytes(arity), Some(header), "{arity} fields");
    }
    let columns: Vec<_> = (0..57)
        .map(|index| {
            (
                TypeKind::Int.nullable(),
                (index != 56).then_some(Datum::Int(index)),
            )
        })
        .collect();
    let row = encode(&columns);
    assert_eq!(row.row_bytes().len(), 16 + 57 * 8);
    assert!(row.as_ref().is_null(56).unwrap());
    assert!(!row.as_ref().is_null(55).unwrap());
    assert_eq!(
        row.as_ref().datum(55, &TypeKind::Int.nullable()).unwrap(),
        Some(Datum::Int(55))
    );
}

#[test]
fn default_is_the_row_of_no_fields() {
    // TF-042
    let row = BinaryRow::default();
    assert_eq!(row, encode_row(&[], &[]).unwrap());
    assert_eq!((row.arity(), row.as_serialized().len()), (0, 12));
    assert_eq!(row.as_ref().kind().unwrap(), RowKind::Insert);
}

#[test]
fn keys_compare_by_value() {
    let int = TypeKind::Int.nullable();
    let key = |value: i32, rest: &str| {
        encode(&[
            (int.clone(), Some(Datum::Int(value))),
            (string(), text(rest)),
        ])
    };
    let types = [&int, &string()];
    let compare = |left: &BinaryRow, right: &BinaryRow| {
        left.as_ref().compare(right.as_ref(), &types).unwrap()
    };
    assert_eq!(compare(&key(-5, "a"), &key(0, "a")), Ordering::Less); // RP-511
    assert_eq!(compare(&key(1, "z"), &key(2, "a")), Ordering::Less); // RP-512
    assert_eq!(compare(&key(256, "a"), &key(1, "a")), Ordering::Greater); // RP-500
    assert_eq!(compare(&key(1, "a"), &key(1, "ab")), Ordering::Less); // RP-504
    assert_eq!(compare(&key(1, "~"), &key(1, "ä")), Ordering::Less); // RP-504
    assert_eq!(
        compare(&key(1, "same same same"), &key(1, "same same same")),
        Ordering::Equal
    );
    let null = encode(&[(int.clone(), None), (string(), text("z"))]);
    assert_eq!(compare(&null, &key(i32::MIN, "")), Ordering::Less); // RP-507
    assert_eq!(compare(&null, &null), Ordering::Equal);
    let wrong = null.as_ref().compare(null.as_ref(), &[&int]).unwrap_err();
    assert_eq!(wrong.kind(), ErrorKind::Corrupt); // RP-510
}

#[test]
fn damage_is_corrupt() {
    let types = [decimal(38, 0), TypeKind::Timestamp(9).nullable(), string()];
    let cases = [
        (
            0,
            "0000000000000000 1100000010000000 0000000000000000 0000000000000000",
            "17 byte decimal",
        ),
        (
            0,
            "0000000000000000 0000000010000000 0000000000000000 0000000000000000",
            "empty decimal",
        ),
        (
            0,
            "0000000000000000 1000000018000000 0000000000000000 0000000000000000",
            "decimal past the end",
        ),
        (
            1,
            "0000000000000000 40420f0010000000 0000000000000000",
            "a million nanoseconds",
        ),
        (
            1,
            "0000000000000000 ffffffff10000000 0000000000000000",
            "negative nanoseconds",
        ),
        (
            1,
            "0000000000000000 0000000011000000 0000000000000000",
            "timestamp past the end",
        ),
        (
            2,
            "0000000000000000 ffffffff10000000 0000000000000000",
            "negative length",
        ),
        (
            2,
            "0000000000000000 ffffff7fffffff7f 0000000000000000",
            "huge length and offset",
        ),
        (
            2,
            "0000000000000000 0000000000000088",
            "8 bytes inside a slot",
        ),
        (2, "0000000000000000 ff00000000000081", "not UTF-8"),
    ];
    for (index, hex, what) in cases {
        let error = row(1, hex).as_ref().datum(0, &types[index]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{what}");
    }
}

#[test]
fn bytes_too_short_for_their_arity_are_corrupt() {
    for hex in [
        "",
        "000000",
        "ffffffff0000000000000000",
        "00000001000000000000000000",
        "7fffffff0000000000000000",
    ] {
        let error = BinaryRow::from_serialized(from_hex(hex).unwrap()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{hex}");
    }
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let cases = [
        (TypeKind::Int.nullable(), Datum::BigInt(1)),
        (decimal(5, 2), Datum::Decimal(100_000, 2)),
        (decimal(5, 2), Datum::Decimal(1, 1)),
        (decimal(38, 0), Datum::Decimal(i128::MIN, 0)),
        (
            TypeKind::Timestamp(3).nullable(),
            Datum::Timestamp {
                millis: 0,
                nanos: 1,
            },
        ),
        (
            TypeKind::Timestamp(9).nullable(),
            Datum::Timestamp {
                millis: 0,
                nanos: -1,
            },
        ),
    ];
    for (data_type, value) in cases {
        let error = encode_row(&[&data_type], &[Some(value.clone())]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{value:?}");
    }
}

#[test]
fn json_holds_lower_case_hex() {
    let partition = encode(&[(string(), text("AZ"))]);
    let json = serde_json::to_string(&partition).unwrap();
    assert_eq!(json, "\"000000010000000000000000415a000000000082\"");
    assert_eq!(serde_json::from_str::<BinaryRow>(&json).unwrap(), partition);
    for bad in ["\"0\"", "\"zz\"", "\"00000001\"", "7"] {
        assert!(serde_json::from_str::<BinaryRow>(bad).is_err(), "{bad}");
    }
}

fn kind() -> impl Strategy<Value = TypeKind> {
    let fixed = [
        TypeKind::Boolean,
        TypeKind::TinyInt,
        TypeKind::SmallInt,
        TypeKind::Int,
        TypeKind::BigInt,
        TypeKind::Float,
        TypeKind::Double,
        TypeKind::Date,
        TypeKind::Time(3),
        TypeKind::Char(12),
        TypeKind::VarBinary(20),
    ];
    prop_oneof![
        11 => proptest::sample::select(fixed.to_vec()),
        2 => (1u8..=38).prop_map(|precision| TypeKind::Decimal { precision, scale: precision / 2 }),
        1 => (0u8..=9).prop_map(TypeKind::Timestamp),
        1 => (0u8..=9).prop_map(TypeKind::LocalZonedTimestamp),
    ]
}

fn value(kind: &TypeKind) -> BoxedStrategy<Datum> {
    match kind {
        TypeKind::Boolean => any::<bool>().prop_map(Datum::Boolean).boxed(),
        TypeKind::TinyInt => any::<i8>().prop_map(Datum::TinyInt).boxed(),
        TypeKind::SmallInt => any::<i16>().prop_map(Datum::SmallInt).boxed(),
        TypeKind::Int => any::<i32>().prop_map(Datum::Int).boxed(),
        TypeKind::Date => any::<i32>().prop_map(Datum::Date).boxed(),
        TypeKind::Time(_) => any::<i32>().prop_map(Datum::Time).boxed(),
        TypeKind::BigInt => any::<i64>().prop_map(Datum::BigInt).boxed(),
        TypeKind::Float => any::<f32>().prop_map(Datum::Float).boxed(),
        TypeKind::Double => any::<f64>().prop_map(Datum::Double).boxed(),
        TypeKind::Char(_) => ".{0,12}".prop_map(Datum::String).boxed(),
        TypeKind::Decimal { precision, scale } => {
            let (limit, scale) = (10i128.pow(u32::from(*precision)), *scale);
            any::<i128>()
                .prop_map(move |value| Datum::Decimal(value % limit, scale))
                .boxed()
        }
        TypeKind::Timestamp(precision) | TypeKind::LocalZonedTimestamp(precision) => {
            let nanos = if *precision > 3 { 0..1_000_000 } else { 0..1 };
            (any::<i64>(), nanos)
                .prop_map(|(millis, nanos)| Datum::Timestamp { millis, nanos })
                .boxed()
        }
        _ => vec(any::<u8>(), 0..20).prop_map(Datum::Binary).boxed(),
    }
}

type Column = (DataType, Option<Datum>);

fn column() -> impl Strategy<Value = Column> {
    kind().prop_flat_map(|kind| {
        (
            Just(kind.clone().nullable()),
            proptest::option::of(value(&kind)),
        )
    })
}

/// Two fields of one type.
fn pair() -> impl Strategy<Value = (Column, Column)> {
    kind().prop_flat_map(|kind| {
        let column = || {
            (
                Just(kind.clone().nullable()),
                proptest::option::of(value(&kind)),
            )
        };
        (column(), column())
    })
}

proptest! {
    #[test]
    fn what_is_written_reads_back(columns in vec(column(), 0..70)) {
        let row = encode(&columns);
        prop_assert_eq!(row.row_bytes().len() % 8, 0);
        for (index, (data_type, value)) in columns.iter().enumerate() {
            prop_assert_eq!(&row.as_ref().datum(index, data_type).unwrap(), value);
        }
    }

    #[test]
    fn rows_compare_like_their_values((left, right) in pair()) {
        let rows = (encode(std::slice::from_ref(&left)), encode(std::slice::from_ref(&right)));
        let order = rows.0.as_ref().compare(rows.1.as_ref(), &[&left.0]).unwrap();
        let expected = match (&left.1, &right.1) {
            (Some(left), Some(right)) => left.compare(right).unwrap(),
            (left, right) => left.is_some().cmp(&right.is_some()),
        };
        prop_assert_eq!(order, expected);
    }

    #[test]
    fn any_bytes_read_without_panic(bytes in vec(any::<u8>(), 0..80), arity in 0u8..8, columns in vec(column(), 8)) {
        let bytes = [&[0, 0, 0, arity], bytes.as_slice()].concat();
        if let Ok(row) = BinaryRowRef::from_serialized(&bytes) {
            let _ = row.kind();
            let types: Vec<&DataType> = columns.iter().map(|(data_type, _)| data_type).collect();
            for (index, data_type) in types.iter().enumerate() {
                let _ = row.datum(index, data_type);
            }
            let _ = row.compare(row, types.get(..row.arity()).unwrap_or_default());
        }
    }
}
