use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int32Array, RecordBatch};
use arrow_schema::{DataType as ArrowType, Field, Schema, TimeUnit};
use paimon_meta::{
    CompareOp, DataType, Datum, ErrorKind, FieldId, LikePattern, LikeToken, Predicate,
    StringLayout, Test, TypeKind, array_of,
};
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

const LAYOUTS: [StringLayout; 3] = [
    StringLayout::View,
    StringLayout::Offset32,
    StringLayout::Offset64,
];

/// A value of a type for a number; different numbers give different values, in order.
type Value = fn(i8) -> Datum;

const OF_NUMBERS: [(TypeKind, Value); 10] = [
    (TypeKind::TinyInt, Datum::TinyInt),
    (TypeKind::SmallInt, |n| Datum::SmallInt(n.into())),
    (TypeKind::Int, |n| Datum::Int(n.into())),
    (TypeKind::BigInt, |n| Datum::BigInt(n.into())),
    (
        TypeKind::Decimal {
            precision: 38,
            scale: 2,
        },
        |n| Datum::Decimal(i128::from(n) << 100, 2),
    ),
    (TypeKind::Binary(1), |n| {
        Datum::Binary(vec![n.cast_unsigned()])
    }),
    (TypeKind::Date, |n| Datum::Date(n.into())),
    (TypeKind::Time(0), |n| Datum::Time(n.into())),
    (TypeKind::Timestamp(6), |n| Datum::Timestamp {
        millis: n.into(),
        nanos: 5000,
    }),
    (TypeKind::LocalZonedTimestamp(9), |n| Datum::Timestamp {
        millis: n.into(),
        nanos: 5,
    }),
];

const FLOATS: [f32; 11] = [
    -1.5,
    -0.0,
    0.0,
    1.0,
    2.0,
    3.0,
    4.0,
    5.0,
    f32::INFINITY,
    f32::NAN,
    -f32::NAN,
];

const TEXTS: [&str; 12] = [
    "",
    "a",
    "ab",
    "abc",
    "b",
    "ba",
    "é",
    "a😀b",
    "a text longer than a view",
    "a%",
    "a\nb",
    "_",
];

/// A column of each type and the values it may have, more than are compared one by one.
fn columns() -> Vec<(DataType, Vec<Datum>)> {
    let numbers = || (-6_i8..6).chain([i8::MIN, i8::MAX]);
    let mut columns: Vec<(TypeKind, Vec<Datum>)> = OF_NUMBERS
        .into_iter()
        .map(|(kind, value)| (kind, numbers().map(value).collect()))
        .collect();
    columns.push((TypeKind::Boolean, [true, false].map(Datum::Boolean).into()));
    columns.push((TypeKind::Float, FLOATS.map(Datum::Float).into()));
    columns.push((
        TypeKind::Double,
        FLOATS.map(|value| Datum::Double(value.into())).into(),
    ));
    columns.push((
        TypeKind::VarChar(30),
        TEXTS.map(|text| Datum::String(text.into())).into(),
    ));
    columns
        .into_iter()
        .map(|(kind, values)| (kind.nullable(), values))
        .collect()
}

fn test((data_type, values): &(DataType, Vec<Datum>)) -> BoxedStrategy<Test> {
    use CompareOp::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    let value = select(values.clone());
    let other = prop_oneof![
        6 => (select(vec![Eq, NotEq, Lt, LtEq, Gt, GtEq]), value.clone())
            .prop_map(|(op, value)| Test::Compare(op, value)),
        3 => (prop::collection::vec(value, 0..20), prop::bool::weighted(0.2), any::<bool>())
            .prop_map(|(values, has_null, negated)| Test::In { values, has_null, negated }),
        1 => select(vec![Test::IsNull, Test::IsNotNull]),
    ];
    if !data_type.kind.is_text() {
        return other.boxed();
    }
    let literal = select(vec!["a", "b", "é", "ab", "_"]);
    let token = prop_oneof![
        literal.prop_map(|text| LikeToken::Literal(text.into())),
        Just(LikeToken::AnyOne),
        Just(LikeToken::AnyMany),
    ];
    let like = (prop::collection::vec(token, 0..4), any::<bool>()).prop_map(|(tokens, negated)| {
        Test::Like {
            pattern: LikePattern(tokens),
            negated,
        }
    });
    prop_oneof![other, like].boxed()
}

fn predicate() -> impl Strategy<Value = Predicate<usize>> {
    let leaf = (0..columns().len()).prop_flat_map(|column| {
        let of = columns().swap_remove(column);
        test(&of).prop_map(move |test| Predicate::leaf(column, of.0.clone(), test))
    });
    let constant = select(vec![Some(true), Some(false), None]);
    prop_oneof![12 => leaf, 1 => constant.prop_map(Predicate::Constant)].prop_recursive(
        3,
        10,
        4,
        |inner| {
            let parts = prop::collection::vec(inner, 0..4);
            prop_oneof![
                parts.clone().prop_map(Predicate::And),
                parts.prop_map(Predicate::Or)
            ]
        },
    )
}

/// Up to 70 rows, so that bitmaps have more than one word; nulls in some columns only.
fn rows() -> impl Strategy<Value = Vec<Vec<Option<Datum>>>> {
    let row: Vec<_> = columns()
        .into_iter()
        .enumerate()
        .map(|(index, (_, values))| {
            if index % 3 == 0 {
                select(values).prop_map(Some).boxed()
            } else {
                prop::option::weighted(0.7, select(values)).boxed()
            }
        })
        .collect();
    prop::collection::vec(row, 0..70)
}

fn arrays(rows: &[Vec<Option<Datum>>], layout: StringLayout) -> Vec<ArrayRef> {
    let column = |(index, (data_type, _)): (usize, (DataType, Vec<Datum>))| {
        let arrow = data_type.to_arrow(layout).unwrap();
        // A slice, so that values and validity do not begin at a byte.
        let padded = [None; 3]
            .into_iter()
            .chain(rows.iter().map(|row| row[index].as_ref()));
        array_of(padded, &arrow).unwrap().slice(3, rows.len())
    };
    columns().into_iter().enumerate().map(column).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn arrays_give_what_rows_give(
        predicate in predicate(), rows in rows(), layout in select(LAYOUTS.to_vec())
    ) {
        let arrays = arrays(&rows, layout);
        let result = evaluate(&predicate, rows.len(), &mut |column| Ok(Arc::clone(&arrays[*column])));
        let found: Vec<Option<bool>> = result.unwrap().iter().collect();
        let expected: Vec<Option<bool>> = rows
            .iter()
            .map(|row| predicate.evaluate_row(&mut |column| row[*column].clone()))
            .collect();
        prop_assert_eq!(found, expected);
    }
}

fn int() -> DataType {
    TypeKind::Int.nullable()
}

fn batch(columns: Vec<ArrayRef>) -> RecordBatch {
    let fields: Vec<Field> = columns
        .iter()
        .map(|array| Field::new("c", array.data_type().clone(), true))
        .collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

#[test]
fn a_filter_names_each_column_once_and_drops_unknown_rows() {
    let (a, b) = (FieldId(4), FieldId(2));
    let filter = PredicateFilter::new(&Predicate::or([
        Predicate::eq(a, int(), Datum::Int(1)),
        Predicate::and([
            Predicate::is_null(b, int()),
            Predicate::gt(a, int(), Datum::Int(5)),
        ]),
    ]))
    .unwrap();
    assert_eq!(filter.columns(), [a, b]);
    let batch = batch(vec![
        Arc::new(Int32Array::from(vec![Some(1), Some(6), None, Some(6)])),
        Arc::new(Int32Array::from(vec![Some(0), None, None, Some(0)])),
    ]);
    let passed: Vec<_> = filter.evaluate(&batch).unwrap().iter().collect();
    assert_eq!(passed, [Some(true), Some(true), Some(false), Some(false)]);
}

#[test]
fn literals_finer_than_the_array_compare_exactly() {
    let millis = ArrowType::Timestamp(TimeUnit::Millisecond, None);
    let at = |millis, nanos| Datum::Timestamp { millis, nanos };
    let array = array_of([Some(&at(0, 0)), Some(&at(1, 0))], &millis).unwrap();
    let timestamp = TypeKind::Timestamp(3).nullable();
    for (op, expected) in [
        (CompareOp::Lt, [true, false]),
        (CompareOp::LtEq, [true, false]),
        (CompareOp::Gt, [false, true]),
        (CompareOp::GtEq, [false, true]),
        (CompareOp::Eq, [false, false]),
        (CompareOp::NotEq, [true, true]),
    ] {
        let predicate = Predicate::compare((), timestamp.clone(), op, at(0, 1));
        let found = evaluate(&predicate, 2, &mut |()| Ok(Arc::clone(&array))).unwrap();
        assert_eq!(found.values().iter().collect::<Vec<_>>(), expected, "{op}");
    }
}

#[test]
fn what_is_decided_is_not_asked_for() {
    let predicate = Predicate::And(vec![
        Predicate::eq("a", int(), Datum::Int(9)),
        Predicate::is_null("b", int()),
    ]);
    let array: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    let result = evaluate(&predicate, 2, &mut |column| match *column {
        "a" => Ok(Arc::clone(&array)),
        other => Err(Error::internal(format!("asked for {other}"))),
    });
    assert_eq!(result.unwrap().true_count(), 0);
}

#[test]
fn arrays_of_another_type_or_length_are_refused() {
    let array: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    let text = TypeKind::VarChar(3).nullable();
    let long = (0..20).map(|value| Some(Datum::BigInt(value)));
    for (predicate, rows) in [
        (Predicate::eq((), int(), Datum::BigInt(1)), 2),
        (Predicate::starts_with((), text, "a"), 2),
        (Predicate::is_in((), TypeKind::BigInt.nullable(), long), 2),
        (Predicate::is_null((), int()), 3),
    ] {
        let error = evaluate(&predicate, rows, &mut |()| Ok(Arc::clone(&array))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal, "{predicate:?}");
    }
    let filter = PredicateFilter::new(&Predicate::is_null(FieldId(1), int())).unwrap();
    let none = RecordBatch::try_new_with_options(
        Arc::new(Schema::empty()),
        vec![],
        &arrow_array::RecordBatchOptions::new().with_row_count(Some(2)),
    );
    assert!(filter.evaluate(&none.unwrap()).is_err());
}
