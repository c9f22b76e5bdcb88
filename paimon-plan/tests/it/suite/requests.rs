//! What requests ask for, and what it costs.

use std::collections::BTreeMap;

use paimon_io::{Counter, ResourceParts, Resources, Spawn};
use paimon_meta::{Datum, ErrorKind, Predicate, ResolvedTable};
use paimon_plan::{
    PartitionSpec, PartitionValue, PruneStep, ResolveRequest, ScanRequest, Shard, Table, plan,
};

use super::tables::{golden, planned, resolve, run};

/// Two manifests: one with partitions a, b and null, one with b alone.
const PARTITIONED: &str = "plan_many_partitions_buckets";

fn spec(name: &str, value: PartitionValue) -> PartitionSpec {
    BTreeMap::from([(name.to_owned(), value)])
}

fn text(name: &str, value: &str) -> PartitionSpec {
    spec(name, PartitionValue::Text(value.to_owned()))
}

fn equals(table: &ResolvedTable, column: &str, value: Datum) -> ScanRequest {
    let field = table.schema.field(column).unwrap();
    let predicate = Predicate::eq(field.id, field.data_type.clone(), value);
    ScanRequest {
        predicate: Some(predicate),
        ..ScanRequest::default()
    }
}

/// Requests that planning made, and manifests that it opened.
fn cost(request: impl FnOnce(&ResolvedTable) -> ScanRequest) -> (u64, u64) {
    let resources = Resources::local();
    let table = resolve(&golden(PARTITIONED), &ResolveRequest::default()).unwrap();
    let planned = run(plan(&resources, &table, &request(&table))).unwrap();
    (
        resources.metrics().get(Counter::Requests),
        planned.pruning().manifests_read,
    )
}

#[test]
fn only_manifests_whose_partitions_may_match_are_opened() {
    // RP-031; two more requests are the manifest lists.
    assert_eq!(cost(|_| ScanRequest::default()), (4, 2));
    assert_eq!(
        cost(|table| equals(table, "p", Datum::String("a".to_owned()))),
        (3, 1)
    );
    assert_eq!(
        cost(|table| equals(table, "p", Datum::String("b".to_owned()))),
        (4, 2)
    );
    assert_eq!(
        cost(|table| equals(table, "p", Datum::String("z".to_owned()))),
        (2, 0)
    );
}

#[test]
fn cached_manifests_are_not_requested_again() {
    let resources = Resources::local();
    let table = resolve(&golden(PARTITIONED), &ResolveRequest::default()).unwrap();
    let first = run(plan(&resources, &table, &ScanRequest::default())).unwrap();
    let requests = resources.metrics().get(Counter::Requests);
    let second = run(plan(&resources, &table, &ScanRequest::default())).unwrap();
    assert_eq!(first, second);
    assert_eq!(resources.metrics().get(Counter::Requests), requests);
}

#[derive(Debug)]
struct Threads;

impl Spawn for Threads {
    fn spawn(&self, work: futures::future::BoxFuture<'static, ()>) {
        std::thread::spawn(|| run(work));
    }
}

#[test]
fn threads_do_not_change_a_plan() {
    // RP-095
    let parts = ResourceParts {
        spawn: Some(std::sync::Arc::new(Threads)),
        ..ResourceParts::default()
    };
    for case in [PARTITIONED, "plan_manifest_merging", "plan_bins_17_files"] {
        let table = resolve(&golden(case), &ResolveRequest::default()).unwrap();
        let inline = run(plan(&Resources::local(), &table, &ScanRequest::default())).unwrap();
        let spawned = run(plan(
            &Resources::new(parts.clone()),
            &table,
            &ScanRequest::default(),
        ))
        .unwrap();
        assert_eq!(inline, spawned, "{case}");
    }
}

#[test]
fn report_counts_what_each_step_kept() {
    let plan = planned(&golden(PARTITIONED), &[], |table| {
        let b = equals(table, "p", Datum::String("b".to_owned()));
        ScanRequest {
            bucket: Some(0),
            ..b
        }
    })
    .unwrap();
    let report = plan.pruning();
    assert_eq!(
        (
            report.manifests,
            report.manifests_read,
            report.snapshot_files
        ),
        (2, 2, 8)
    );
    let steps: Vec<_> = report
        .steps
        .iter()
        .map(|step| (step.step, step.before.files, step.after.files))
        .collect();
    assert_eq!(
        steps,
        [(PruneStep::Partition, 8, 4), (PruneStep::Bucket, 4, 2)]
    );
    assert_eq!(plan.residual(), None);
    assert!(plan.conjuncts()[0].exact);
}

#[test]
fn partitions_are_chosen_by_text_or_value() {
    let count = |partitions: Vec<PartitionSpec>| {
        let request = |_: &ResolvedTable| ScanRequest {
            partitions,
            ..ScanRequest::default()
        };
        planned(&golden(PARTITIONED), &[], request).unwrap().len()
    };
    let all = count(vec![]); // RP-033
    let value = |text: &str| {
        spec(
            "p",
            PartitionValue::Value(Some(Datum::String(text.to_owned()))),
        )
    };
    assert_eq!(count(vec![text("p", "a")]), count(vec![value("a")]));
    let null = count(vec![spec("p", PartitionValue::Value(None))]);
    assert_eq!(count(vec![text("p", "__DEFAULT_PARTITION__")]), null);
    assert_eq!(count(vec![text("p", "a"), text("p", "b")]) + null, all);
    assert_eq!(count(vec![text("p", "z")]), 0);
}

#[test]
fn wrong_partitions_are_invalid_input() {
    let error = |spec| {
        let request = |_: &ResolvedTable| ScanRequest {
            partitions: vec![spec],
            ..ScanRequest::default()
        };
        planned(&golden(PARTITIONED), &[], request).unwrap_err()
    };
    let unknown = error(text("q", "a"));
    assert_eq!(unknown.kind(), ErrorKind::InvalidInput);
    assert_eq!(
        unknown.message(),
        "no partition column \"q\", the table has p"
    );
    assert_eq!(
        error(spec("p", PartitionValue::Value(Some(Datum::Int(1))))).kind(),
        ErrorKind::InvalidInput
    );
}

#[test]
fn shards_are_a_plan_together() {
    // RP-163, RP-711
    let files = |shard| {
        let request = |_: &ResolvedTable| ScanRequest {
            shard,
            ..ScanRequest::default()
        };
        let plan = planned(&golden("plan_pk_partitions_buckets"), &[], request).unwrap();
        let files = plan.files();
        let mut names: Vec<_> = (0..files.len())
            .map(|file| files.file_name(file).to_owned())
            .collect();
        names.sort();
        names
    };
    let mut shared: Vec<String> = (0..3)
        .flat_map(|index| files(Some(Shard { index, count: 3 })))
        .collect();
    shared.sort();
    assert_eq!(shared, files(None));
}

#[test]
fn kept_statistics_tell_of_the_rows() {
    let table = resolve(
        &golden("plan_append_unaware_order"),
        &ResolveRequest::default(),
    )
    .unwrap();
    let request = ScanRequest {
        keep_statistics: true,
        ..ScanRequest::default()
    };
    let plan = run(plan(&Resources::local(), &table, &request)).unwrap();
    let statistics = plan.statistics(&table).unwrap();
    assert_eq!(statistics.rows, paimon_plan::Precision::Exact(45));
    assert_eq!(
        statistics.columns[0].min,
        paimon_plan::Precision::Exact(Datum::Int(1))
    );
    assert_eq!(
        statistics.columns[0].max,
        paimon_plan::Precision::Exact(Datum::Int(45))
    );
    assert_eq!(
        statistics.columns[0].nulls,
        paimon_plan::Precision::Exact(0)
    );
}

#[test]
fn condition_on_an_unknown_column_is_invalid_input() {
    let table = resolve(&golden(PARTITIONED), &ResolveRequest::default()).unwrap();
    let mut request = equals(&table, "v", Datum::String("x".to_owned()));
    let other = resolve(&golden("lab_r_one"), &ResolveRequest::default()).unwrap();
    assert!(run(plan(&Resources::local(), &other, &request)).is_err());
    request.predicate = None;
    assert!(run(plan(&Resources::local(), &other, &request)).is_ok());
}

#[test]
fn nothing_is_requested_before_a_plan_is_polled() {
    let resources = Resources::local();
    let table = resolve(&golden(PARTITIONED), &ResolveRequest::default()).unwrap();
    let (request, resolve) = (ScanRequest::default(), ResolveRequest::default());
    drop(plan(&resources, &table, &request));
    drop(Table::resolve(&resources, &table.location, &resolve));
    assert_eq!(resources.metrics().get(Counter::Requests), 0);
}
