use proptest::prelude::*;

use super::*;
use crate::predicate::testing::{by_id, evaluate, predicate, row};
use crate::types::{DataType, TypeKind};

const A: FieldId = FieldId(0);
const B: FieldId = FieldId(1);
const V: FieldId = FieldId(2);
const P: FieldId = FieldId(3);

fn int() -> DataType {
    TypeKind::Int.nullable()
}

fn eq(column: FieldId, value: i32) -> TablePredicate {
    Predicate::eq(column, int(), Datum::Int(value))
}

fn is_in(column: FieldId, values: impl IntoIterator<Item = i32>) -> TablePredicate {
    Predicate::is_in(
        column,
        int(),
        values.into_iter().map(|value| Some(Datum::Int(value))),
    )
}

/// The keys as numbers, in a partition where `P` is 1.
fn keys(predicate: &TablePredicate, columns: &[FieldId]) -> Option<Vec<Vec<i32>>> {
    let tuples = predicate.bucket_keys(columns, &mut |column| {
        (column == P).then_some(Some(Datum::Int(1)))
    })?;
    let number = |value: &Datum| match value {
        Datum::Int(value) => *value,
        other => panic!("{other:?}"),
    };
    Some(
        tuples
            .iter()
            .map(|tuple| tuple.iter().map(number).collect())
            .collect(),
    )
}

#[test]
fn every_key_column_needs_a_condition() {
    // RP-556
    assert_eq!(keys(&eq(A, 7), &[A, B]), None);
    assert_eq!(
        keys(&Predicate::and([eq(A, 7), eq(B, 1)]), &[A, B]),
        Some(vec![vec![7, 1]])
    );
    assert_eq!(keys(&eq(A, 7), &[]), None);
}

#[test]
fn lists_multiply_in_key_order_and_conditions_on_one_column_intersect() {
    let predicate = Predicate::and([is_in(B, [0, 1]), is_in(A, [7, 8, 9]), is_in(A, [8, 9, 30])]);
    let expected = vec![vec![8, 0], vec![8, 1], vec![9, 0], vec![9, 1]];
    assert_eq!(keys(&predicate, &[A, B]), Some(expected));
}

#[test]
fn an_empty_intersection_prunes_nothing() {
    // RP-555
    assert_eq!(keys(&Predicate::and([eq(A, 1), eq(A, 2)]), &[A]), None);
}

#[test]
fn more_than_a_thousand_keys_prune_nothing() {
    // RP-554
    assert_eq!(keys(&is_in(A, 0..1000), &[A]).unwrap().len(), 1000);
    assert_eq!(keys(&is_in(A, 0..1001), &[A]), None);
    let product = Predicate::and([is_in(A, 0..40), is_in(B, 0..26)]);
    assert_eq!(keys(&product, &[A, B]), None);
}

#[test]
fn an_or_counts_if_it_is_of_one_column_after_projection() {
    let one_column = Predicate::or([Predicate::and([eq(A, 7), eq(V, 1)]), is_in(A, [9, 10])]);
    assert_eq!(
        keys(&one_column, &[A]),
        Some(vec![vec![7], vec![9], vec![10]])
    );
    assert_eq!(keys(&Predicate::or([eq(A, 7), eq(V, 1)]), &[A]), None);
    let pairs = Predicate::or([
        Predicate::and([eq(A, 7), eq(B, 1)]),
        Predicate::and([eq(A, 9), eq(B, 0)]),
    ]);
    assert_eq!(keys(&pairs, &[A, B]), None);
    let range = Predicate::gt(A, int(), Datum::Int(3));
    assert_eq!(keys(&range, &[A]), None);
}

#[test]
fn partition_tests_are_decided_before() {
    // RP-060
    let predicate = Predicate::or([
        Predicate::and([eq(P, 1), eq(A, 7)]),
        Predicate::and([eq(P, 2), eq(A, 8)]),
    ]);
    assert_eq!(keys(&predicate, &[A]), Some(vec![vec![7]]));
    assert_eq!(keys(&Predicate::and([eq(P, 2), eq(A, 8)]), &[A]), None);
}

#[test]
fn only_null_literals_leave_no_key() {
    let predicate = Predicate::Leaf(crate::predicate::Leaf {
        column: A,
        data_type: int(),
        test: Test::In {
            values: vec![],
            has_null: true,
            negated: false,
        },
    });
    assert_eq!(keys(&predicate, &[A]), Some(vec![]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn keys_of_matching_rows_are_among_the_candidates(
        parts in prop::collection::vec(predicate(&[int(), int(), int()]), 1..5),
        row in row(&[int(), int(), int()]),
    ) {
        let by_index = Predicate::and(parts);
        let predicate = by_id(&by_index);
        let partition = row[2].clone();
        let tuples = predicate.bucket_keys(&[A, B], &mut |column| {
            (column == V).then_some(partition.clone())
        });
        if let (Some(tuples), Some(true)) = (tuples, evaluate(&by_index, &row)) {
            let key: Option<Vec<Datum>> = row[..2].iter().cloned().collect();
            prop_assert!(key.is_some_and(|key| tuples.contains(&key)), "{predicate} on {row:?}");
        }
    }
}
