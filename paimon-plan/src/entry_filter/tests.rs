use paimon_meta::{ErrorKind, Predicate, TypeKind};

use super::*;
use crate::testing::{ints, schema};

fn table() -> TableSchema {
    schema(
        0,
        &[(0, "p", "INT"), (1, "k", "INT NOT NULL")],
        &["k"],
        &["p"],
    )
}

fn int() -> DataType {
    TypeKind::Int.nullable()
}

fn in_partition(value: i32) -> EntryFilter {
    EntryFilter::new(
        &table(),
        Some(Predicate::eq(FieldId(0), int(), Datum::Int(value))),
    )
    .unwrap()
}

fn any_partition() -> EntryFilter {
    EntryFilter::new(&table(), None).unwrap()
}

fn stats(min: Option<i32>, max: Option<i32>, nulls: Option<i64>) -> SimpleStats {
    SimpleStats {
        min_values: ints(&[min]),
        max_values: ints(&[max]),
        null_counts: Some(vec![nulls]),
    }
}

fn may_pass(
    filter: &EntryFilter,
    partition: &SimpleStats,
    buckets: (Option<i32>, Option<i32>),
) -> bool {
    filter
        .may_pass(&EntryBounds {
            partition,
            entries: 4,
            buckets,
        })
        .unwrap()
}

#[test]
fn manifests_are_skipped_by_partition_bounds() {
    // RP-031
    assert!(may_pass(
        &in_partition(5),
        &stats(Some(1), Some(9), Some(0)),
        (None, None)
    ));
    assert!(!may_pass(
        &in_partition(5),
        &stats(Some(6), Some(9), Some(0)),
        (None, None)
    ));
    assert!(!may_pass(
        &in_partition(5),
        &stats(None, None, Some(4)),
        (None, None)
    ));
    // RP-558
    let null = EntryFilter::new(&table(), Some(Predicate::is_null(FieldId(0), int()))).unwrap();
    assert!(may_pass(
        &null,
        &stats(Some(1), Some(9), Some(1)),
        (None, None)
    ));
    assert!(!may_pass(
        &null,
        &stats(Some(1), Some(9), Some(0)),
        (None, None)
    ));
}

#[test]
fn manifests_are_skipped_by_bucket_bounds_where_there_are_some() {
    // RP-031, RP-526, TF-040
    let one = any_partition().with_buckets(Some(3), false, None);
    let all = stats(Some(1), Some(9), Some(0));
    assert!(may_pass(&one, &all, (Some(0), Some(3))));
    assert!(!may_pass(&one, &all, (Some(0), Some(2))));
    assert!(!may_pass(&one, &all, (Some(4), None)));
    assert!(may_pass(&one, &all, (None, None)));
    let real = any_partition().with_buckets(None, true, None);
    assert!(!may_pass(&real, &all, (Some(-2), Some(-2))));
    assert!(may_pass(&real, &all, (Some(-2), Some(0))));
}

#[test]
fn broken_partition_bounds_are_corrupt() {
    let bounds = EntryBounds {
        partition: &SimpleStats::default(),
        entries: 1,
        buckets: (None, None),
    };
    assert_eq!(
        in_partition(5).may_pass(&bounds).unwrap_err().kind(),
        ErrorKind::Corrupt
    );
}

fn test_added(
    filter: &EntryFilter,
    partition: Option<i32>,
    bucket: i32,
    total: i32,
) -> EntryVerdict {
    filter
        .entries()
        .test_added(ints(&[partition]).as_serialized(), bucket, total)
        .unwrap()
}

#[test]
fn entries_are_tested_by_partition_then_bucket() {
    // RP-050, RP-051, RP-170
    let filter = in_partition(5).with_buckets(Some(1), true, None);
    assert_eq!(test_added(&filter, Some(5), 1, 2), EntryVerdict::Pass);
    assert_eq!(test_added(&filter, Some(5), 0, 2), EntryVerdict::Bucket);
    assert_eq!(test_added(&filter, Some(6), 0, 2), EntryVerdict::Partition);
    assert_eq!(test_added(&filter, None, 1, 2), EntryVerdict::Partition);
    let real = any_partition().with_buckets(None, true, None);
    assert_eq!(test_added(&real, None, -2, -2), EntryVerdict::Bucket);
}

#[test]
fn buckets_of_keys_go_by_the_number_of_buckets_of_the_entry() {
    // RP-060, RP-557; check values of table-format section 1.4: INT 1 is in bucket 2 of 4.
    let by_key = BucketKeys {
        predicate: Predicate::eq(FieldId(1), int(), Datum::Int(1)),
        keys: vec![(FieldId(1), int())],
        function: BucketFunction::Default,
    };
    let filter = any_partition().with_buckets(None, false, Some(by_key));
    let mut tests = filter.entries();
    let partition = ints(&[Some(1)]);
    let mut pass = |bucket, total| {
        tests
            .test_added(partition.as_serialized(), bucket, total)
            .unwrap()
            == EntryVerdict::Pass
    };
    let passing = |pass: &mut dyn FnMut(i32, i32) -> bool, total| -> Vec<i32> {
        (0..total).filter(|bucket| pass(*bucket, total)).collect()
    };
    assert_eq!(passing(&mut pass, 4), [2]);
    assert_eq!(passing(&mut pass, 2), [0]);
    // Postponed rows have no bucket of their key yet.
    assert!(pass(-2, -2));
    // RP-706: the deletion may have been written with another number of buckets.
    assert_eq!(
        tests.test_deleted(partition.as_serialized(), 0).unwrap(),
        EntryVerdict::Pass
    );
}

#[test]
fn partitions_are_remembered_whatever_their_order() {
    let filter = in_partition(5);
    let mut tests = filter.entries();
    for value in [5, 6, 5, 5, 6, 7] {
        let expected = if value == 5 {
            EntryVerdict::Pass
        } else {
            EntryVerdict::Partition
        };
        assert_eq!(
            tests
                .test_added(ints(&[Some(value)]).as_serialized(), 0, 1)
                .unwrap(),
            expected
        );
    }
}

#[test]
fn broken_partition_is_corrupt() {
    let filter = in_partition(5);
    let error = filter
        .entries()
        .test_added(&[0, 0, 0, 9], 0, 1)
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}
