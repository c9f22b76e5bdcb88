use paimon_meta::{CompareOp, Datum, ErrorKind, FieldId};

use super::*;
use crate::testing::schema;

fn table() -> TableSchema {
    let columns = [
        (0, "p", "INT NOT NULL"),
        (1, "k", "INT NOT NULL"),
        (2, "v", "INT"),
    ];
    schema(0, &columns, &["p", "k"], &["p"])
}

fn is(name: &str, value: i32) -> TablePredicate {
    let schema = table();
    let field = schema.field(name).unwrap();
    Predicate::compare(
        field.id,
        field.data_type.clone(),
        CompareOp::Eq,
        Datum::Int(value),
    )
}

fn divide(predicate: &TablePredicate, chosen: Option<TablePredicate>) -> Filters {
    Filters::divide(&table(), Some(predicate), chosen, true).unwrap()
}

#[test]
fn conjuncts_go_where_they_can_prune() {
    // RP-052, RP-053
    let mixed = Predicate::or([is("p", 1), is("k", 9)]);
    let filters = divide(
        &Predicate::and([is("p", 1), is("k", 7), is("v", 3), mixed.clone()]),
        None,
    );
    assert_eq!(filters.partition, Some(is("p", 1)));
    assert_eq!(filters.key, Some(is("k", 7)));
    assert_eq!(
        filters.value,
        Some(Predicate::and([is("k", 7), is("v", 3), mixed]))
    );
    assert!(filters.bucket.is_some());
    let uses: Vec<(bool, &[PruneStep])> = filters
        .uses
        .iter()
        .map(|u| (u.exact, u.prunes.as_slice()))
        .collect();
    let expected: [(bool, &[PruneStep]); 4] = [
        (true, &[PruneStep::Partition]),
        (
            false,
            &[PruneStep::Bucket, PruneStep::Key, PruneStep::Value],
        ),
        (false, &[PruneStep::Value]),
        (false, &[PruneStep::Value]),
    ];
    assert_eq!(uses, expected);
}

#[test]
fn disjunctions_are_projected_only_if_every_branch_is() {
    // RP-544
    assert_eq!(
        divide(&Predicate::or([is("k", 7), is("v", 1)]), None).key,
        None
    );
    let inside = Predicate::or([Predicate::and([is("k", 7), is("v", 1)]), is("k", 9)]);
    assert_eq!(
        divide(&inside, None).key,
        Some(Predicate::or([is("k", 7), is("k", 9)]))
    );
}

#[test]
fn chosen_partitions_replace_what_the_condition_says_of_them() {
    // RP-034: then the condition on partitions is left to be evaluated.
    let filters = divide(&is("p", 1), Some(is("p", 2)));
    assert_eq!(filters.partition, Some(is("p", 2)));
    assert_eq!(
        (filters.uses[0].exact, filters.uses[0].prunes.len()),
        (false, 0)
    );
}

#[test]
fn buckets_need_every_bucket_key() {
    // RP-060, RP-062
    assert!(divide(&is("v", 1), None).bucket.is_none());
    assert!(
        Filters::divide(&table(), Some(&is("k", 1)), None, false)
            .unwrap()
            .bucket
            .is_none()
    );
}

#[test]
fn condition_that_does_not_fit_is_invalid_input() {
    let unknown = Predicate::eq(
        FieldId(77),
        table().fields[2].data_type.clone(),
        Datum::Int(1),
    );
    assert_eq!(
        Filters::divide(&table(), Some(&unknown), None, true)
            .unwrap_err()
            .kind(),
        ErrorKind::InvalidInput
    );
}

#[test]
fn no_condition_prunes_nothing() {
    let filters = Filters::divide(&table(), None, None, true).unwrap();
    assert!(filters.partition.is_none() && filters.key.is_none() && filters.value.is_none());
    assert!(filters.uses.is_empty());
}
