use paimon_meta::{TypeKind, array_of};
use proptest::prelude::*;

use super::*;

fn windows(types: &[DataType], rows: &[Vec<Option<Datum>>]) -> KeyWindow {
    let columns: Vec<ArrayRef> = types
        .iter()
        .enumerate()
        .map(|(column, data_type)| {
            let values = rows.iter().map(|row| row[column].as_ref());
            array_of(values, &data_type.to_arrow(StringLayout::View).unwrap()).unwrap()
        })
        .collect();
    KeyEncoder::new(types).unwrap().encode(&columns).unwrap()
}

fn datum(kind: &TypeKind) -> BoxedStrategy<Datum> {
    match kind {
        TypeKind::Boolean => any::<bool>().prop_map(Datum::Boolean).boxed(),
        TypeKind::TinyInt => any::<i8>().prop_map(Datum::TinyInt).boxed(),
        TypeKind::SmallInt => any::<i16>().prop_map(Datum::SmallInt).boxed(),
        TypeKind::Int => any::<i32>().prop_map(Datum::Int).boxed(),
        TypeKind::BigInt => any::<i64>().prop_map(Datum::BigInt).boxed(),
        TypeKind::Date => any::<i32>().prop_map(Datum::Date).boxed(),
        TypeKind::Float => prop_oneof![
            any::<f32>(),
            Just(f32::NAN),
            Just(-f32::NAN),
            Just(0.0),
            Just(-0.0)
        ]
        .prop_map(Datum::Float)
        .boxed(),
        TypeKind::Double => prop_oneof![
            any::<f64>(),
            Just(f64::NAN),
            Just(-f64::NAN),
            Just(0.0),
            Just(-0.0)
        ]
        .prop_map(Datum::Double)
        .boxed(),
        TypeKind::Decimal { scale, .. } => {
            let scale = *scale;
            (-99_999i128..99_999)
                .prop_map(move |value| Datum::Decimal(value, scale))
                .boxed()
        }
        TypeKind::VarChar(_) => "[a-cé]{0,14}".prop_map(Datum::String).boxed(),
        TypeKind::VarBinary(_) => prop::collection::vec(any::<u8>(), 0..14)
            .prop_map(Datum::Binary)
            .boxed(),
        TypeKind::Timestamp(3) => (-9_999_999i64..9_999_999)
            .prop_map(|millis| Datum::Timestamp { millis, nanos: 0 })
            .boxed(),
        other => unreachable!("{other:?}"),
    }
}

fn kinds() -> impl Strategy<Value = TypeKind> {
    prop::sample::select(vec![
        TypeKind::Boolean,
        TypeKind::TinyInt,
        TypeKind::SmallInt,
        TypeKind::Int,
        TypeKind::BigInt,
        TypeKind::Date,
        TypeKind::Float,
        TypeKind::Double,
        TypeKind::Decimal {
            precision: 5,
            scale: 2,
        },
        TypeKind::VarChar(100),
        TypeKind::VarBinary(100),
        TypeKind::Timestamp(3),
    ])
}

type Rows = Vec<Vec<Option<Datum>>>;

fn keys() -> impl Strategy<Value = (Vec<DataType>, Rows)> {
    prop::collection::vec((kinds(), any::<bool>()), 1..4).prop_flat_map(|types| {
        let types: Vec<DataType> = types
            .into_iter()
            .map(|(kind, nullable)| DataType { kind, nullable })
            .collect();
        let row: Vec<BoxedStrategy<Option<Datum>>> = types
            .iter()
            .map(|data_type| {
                let value = datum(&data_type.kind);
                if data_type.nullable {
                    prop::option::of(value).boxed()
                } else {
                    value.prop_map(Some).boxed()
                }
            })
            .collect();
        (Just(types), prop::collection::vec(row, 2..12))
    })
}

/// Column by column, nulls first (ME-003, ME-005).
fn expected(a: &[Option<Datum>], b: &[Option<Datum>]) -> Ordering {
    let columns = a.iter().zip(b).map(|(a, b)| match (a, b) {
        (Some(a), Some(b)) => a.compare(b).unwrap(),
        (a, b) => a.is_some().cmp(&b.is_some()),
    });
    columns.fold(Ordering::Equal, Ordering::then)
}

proptest! {
    #[test]
    fn every_form_orders_as_values_do((types, rows) in keys()) {
        let window = windows(&types, &rows);
        let encoder = KeyEncoder::new(&types).unwrap();
        for (i, a) in rows.iter().enumerate() {
            for (j, b) in rows.iter().enumerate() {
                prop_assert_eq!(window.compare(i, &window, j), expected(a, b), "{:?} {:?}", a, b);
            }
            let alone = encoder.encode_one(a).unwrap();
            prop_assert_eq!(alone.compare(0, &window, i), Ordering::Equal);
        }
    }

    #[test]
    fn disorder_is_found_where_it_is((types, mut rows) in keys(), swap: prop::sample::Index) {
        rows.sort_by(|a, b| expected(a, b));
        rows.dedup_by(|a, b| expected(a, b) == Ordering::Equal);
        prop_assert_eq!(windows(&types, &rows).disorder(), None);
        if rows.len() > 1 {
            let at = swap.index(rows.len() - 1);
            rows.swap(at, at + 1);
            prop_assert_eq!(windows(&types, &rows).disorder(), Some(if at == 0 { 1 } else { at + 1 }));
        }
    }
}

#[test]
fn null_in_a_key_that_is_not_nullable_is_corrupt() {
    let types = [TypeKind::BigInt.not_null()];
    let column = array_of([None], &types[0].to_arrow(StringLayout::View).unwrap()).unwrap();
    let error = KeyEncoder::new(&types)
        .unwrap()
        .encode(&[column])
        .unwrap_err();
    assert_eq!(error.kind(), paimon_meta::ErrorKind::Corrupt);
}

#[test]
fn small_composite_keys_are_packed_and_wide_ones_are_not() {
    let form = |kinds: &[TypeKind]| {
        let types: Vec<DataType> = kinds.iter().cloned().map(TypeKind::not_null).collect();
        format!("{:?}", form(&types).unwrap())
    };
    assert_eq!(form(&[TypeKind::BigInt]), "Long");
    assert_eq!(form(&[TypeKind::Date]), "Narrow");
    assert_eq!(
        form(&[TypeKind::Decimal {
            precision: 9,
            scale: 2
        }]),
        "Wide"
    );
    assert_eq!(
        form(&[TypeKind::BigInt, TypeKind::Int, TypeKind::Int]),
        "Packed([8, 4, 4])"
    );
    assert!(form(&[TypeKind::BigInt, TypeKind::BigInt, TypeKind::TinyInt]).starts_with("Rows"));
    assert_eq!(form(&[TypeKind::VarChar(9)]), "Text");
}
