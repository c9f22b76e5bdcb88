//! Random columns, rows and predicates for the laws of this module.

use proptest::prelude::*;

use crate::predicate::{CompareOp, LikePattern, LikeToken, Predicate, TablePredicate, Test};
use crate::schema::FieldId;
use crate::types::{DataType, MAX_LENGTH, TypeKind};
use crate::value::Datum;

/// One column of each type that compares in its own way, by index.
pub(crate) fn types() -> Vec<DataType> {
    [
        TypeKind::Boolean,
        TypeKind::TinyInt,
        TypeKind::BigInt,
        TypeKind::Float,
        TypeKind::Double,
        TypeKind::Decimal {
            precision: 38,
            scale: 2,
        },
        TypeKind::VarChar(MAX_LENGTH),
        TypeKind::VarBinary(MAX_LENGTH),
        TypeKind::Date,
        TypeKind::Time(3),
        TypeKind::Timestamp(9),
    ]
    .map(TypeKind::nullable)
    .to_vec()
}

/// A few values each, so that they often meet.
pub(crate) fn value(kind: &TypeKind) -> BoxedStrategy<Datum> {
    let floats = prop::sample::select(vec![
        -1.5,
        -0.0,
        0.0,
        2.0,
        f32::INFINITY,
        f32::NAN,
        -f32::NAN,
    ]);
    let numbers = prop_oneof![-3_i8..4, Just(i8::MIN), Just(i8::MAX)];
    match kind {
        TypeKind::Boolean => any::<bool>().prop_map(Datum::Boolean).boxed(),
        TypeKind::TinyInt => numbers.prop_map(Datum::TinyInt).boxed(),
        TypeKind::SmallInt => numbers
            .prop_map(|value| Datum::SmallInt(value.into()))
            .boxed(),
        TypeKind::Int => numbers.prop_map(|value| Datum::Int(value.into())).boxed(),
        TypeKind::BigInt => prop_oneof![
            numbers.prop_map(i64::from),
            Just(i64::MIN),
            Just(i64::MAX),
            Just(300)
        ]
        .prop_map(Datum::BigInt)
        .boxed(),
        TypeKind::Float => floats.prop_map(Datum::Float).boxed(),
        TypeKind::Double => floats.prop_map(|value| Datum::Double(value.into())).boxed(),
        TypeKind::Decimal { scale, .. } => {
            let scale = *scale;
            prop_oneof![numbers.prop_map(i128::from), Just(10_i128.pow(37))]
                .prop_map(move |value| Datum::Decimal(value, scale))
                .boxed()
        }
        TypeKind::VarChar(_) => text().prop_map(Datum::String).boxed(),
        TypeKind::VarBinary(_) => {
            prop::collection::vec(prop::sample::select(vec![0_u8, 1, 0x7f, 0x80, 0xff]), 0..3)
                .prop_map(Datum::Binary)
                .boxed()
        }
        TypeKind::Date => numbers.prop_map(|value| Datum::Date(value.into())).boxed(),
        TypeKind::Time(_) => (0_i32..4).prop_map(Datum::Time).boxed(),
        TypeKind::Timestamp(_) => (-2_i64..3, prop::sample::select(vec![0, 1, 999_999]))
            .prop_map(|(millis, nanos)| Datum::Timestamp { millis, nanos })
            .boxed(),
        other => panic!("no values of {other:?}"),
    }
}

pub(crate) fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop::sample::select(vec!['a', 'b', 'é', '😀', '%', '_', '\n']),
        0..5,
    )
    .prop_map(String::from_iter)
}

pub(crate) fn like_pattern() -> impl Strategy<Value = LikePattern> {
    let token = prop_oneof![
        text().prop_map(LikeToken::Literal),
        Just(LikeToken::AnyOne),
        Just(LikeToken::AnyMany),
        Just(LikeToken::AnyMany),
    ];
    prop::collection::vec(token, 0..5).prop_map(LikePattern)
}

pub(crate) fn op() -> impl Strategy<Value = CompareOp> {
    use CompareOp::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    prop::sample::select(vec![Eq, NotEq, Lt, LtEq, Gt, GtEq])
}

/// A test of a column of the type.
pub(crate) fn test(kind: &TypeKind) -> BoxedStrategy<Test> {
    let values = prop::collection::vec(value(kind), 0..4);
    let nulls = prop::sample::select(vec![Test::IsNull, Test::IsNotNull]);
    let other = prop_oneof![
        6 => (op(), value(kind)).prop_map(|(op, value)| Test::Compare(op, value)),
        2 => (values, prop::bool::weighted(0.2), any::<bool>())
            .prop_map(|(values, has_null, negated)| Test::In { values, has_null, negated }),
        1 => nulls,
    ];
    if kind.is_text() {
        let like = (like_pattern(), any::<bool>())
            .prop_map(|(pattern, negated)| Test::Like { pattern, negated });
        prop_oneof![other, like].boxed()
    } else {
        other.boxed()
    }
}

/// A row: a value of each of [`types`], often null.
pub(crate) fn row(types: &[DataType]) -> impl Strategy<Value = Vec<Option<Datum>>> + use<> {
    types
        .iter()
        .map(|data_type| prop::option::weighted(0.8, value(&data_type.kind)))
        .collect::<Vec<_>>()
}

/// A predicate over columns given by index into `types`, raw nodes as well as built ones.
pub(crate) fn predicate(types: &[DataType]) -> BoxedStrategy<Predicate<usize>> {
    let types = types.to_vec();
    let leaf = (0..types.len()).prop_flat_map(move |column| {
        let data_type = types[column].clone();
        test(&data_type.kind).prop_map(move |test| Predicate::leaf(column, data_type.clone(), test))
    });
    let constant = prop::sample::select(vec![Some(true), Some(false), None]);
    prop_oneof![12 => leaf, 1 => constant.prop_map(Predicate::Constant)]
        .prop_recursive(3, 12, 4, |inner| {
            let parts = prop::collection::vec(inner, 0..4);
            prop_oneof![
                parts.clone().prop_map(Predicate::And),
                parts.clone().prop_map(Predicate::Or),
                parts.clone().prop_map(Predicate::and),
                parts.prop_map(Predicate::or),
            ]
        })
        .boxed()
}

pub(crate) fn evaluate(predicate: &Predicate<usize>, row: &[Option<Datum>]) -> Option<bool> {
    predicate.evaluate_row(&mut |column| row[*column].clone())
}

/// The predicate with the column at index `i` named by the field id `i`.
pub(crate) fn by_id(predicate: &Predicate<usize>) -> TablePredicate {
    predicate
        .try_map(&mut |leaf| {
            let id = FieldId(leaf.column.try_into().unwrap());
            Some(Predicate::leaf(
                id,
                leaf.data_type.clone(),
                leaf.test.clone(),
            ))
        })
        .unwrap()
}

pub(crate) fn value_of(row: &[Option<Datum>], id: FieldId) -> Option<Datum> {
    row[usize::try_from(id.0).unwrap()].clone()
}
