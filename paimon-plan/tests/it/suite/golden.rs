//! Plans of tables that the reference wrote, against the plans that it made.

use std::collections::BTreeMap;

use paimon_io::Resources;
use paimon_meta::{ErrorKind, ResolvedTable, Result};
use paimon_plan::{PartitionValue, Plan, ResolveRequest, ScanRequest, Table, plan};
use paimon_testkit::{GoldenCase, GoldenRequest, GoldenSplit};

use super::tables::run;

/// Cases that the reference planned with a manifest cache: the order of their buckets is that of a hash map (RP-096).
const BUCKETS_IN_ANY_ORDER: [&str; 3] = [
    "merge_agg_default_sum_partition_key",
    "merge_dedup_partition_in_key",
    "merge_first_row_levels",
];

/// Features that a plan may be refused for, and how many golden reads are.
const REFUSED: [(&str, usize); 1] = [("manifest format orc", 1)];

/// Whether a read is a batch read of the table itself.
fn is_batch(request: &GoldenRequest) -> bool {
    !request.all_levels && request.stream.is_none() && request.system_table.is_none()
}

fn planned(
    resources: &Resources,
    case: &GoldenCase,
    request: &GoldenRequest,
) -> Result<(ResolvedTable, Plan)> {
    let options = request
        .options
        .iter()
        .map(|(key, value)| (key.clone(), Some(value.clone())));
    let raw = request
        .raw_options
        .iter()
        .map(|(key, value)| (key.clone(), value.clone()));
    let resolve = ResolveRequest {
        options: options.chain(raw).collect(),
        branch: request.branch.clone(),
        time_zone: request.zone.clone().unwrap_or_else(|| "UTC".to_owned()),
        ..ResolveRequest::default()
    };
    let partition = request.partition.iter();
    let partition: BTreeMap<_, _> = partition
        .map(|(name, text)| (name.clone(), PartitionValue::Text(text.clone())))
        .collect();
    run(async {
        let table = Table::resolve(resources, case.table().to_str().unwrap(), &resolve).await?;
        let scan = ScanRequest {
            predicate: request.predicate(&table.schema.fields)?,
            limit: request.limit,
            partitions: Some(partition)
                .filter(|spec| !spec.is_empty())
                .into_iter()
                .collect(),
            bucket: request.bucket,
            ..ScanRequest::default()
        };
        let plan = plan(resources, &table, &scan).await?;
        Ok((table, plan))
    })
}

fn splits(plan: &Plan, table: &ResolvedTable) -> Vec<GoldenSplit> {
    let fields = table.schema.partition_fields().unwrap();
    let split = |index| GoldenSplit::of(&plan.split(index).unwrap(), &fields).unwrap();
    (0..plan.len()).map(split).collect()
}

fn expected(plan: &[GoldenSplit]) -> Vec<GoldenSplit> {
    let own = |split: &GoldenSplit| match split {
        GoldenSplit::Fallback(own) if !own.fallback => Some(GoldenSplit::Data(own.split.clone())),
        GoldenSplit::Incremental(split) if split.before.is_empty() && split.after.is_empty() => {
            None
        }
        split => Some(split.clone()),
    };
    plan.iter().filter_map(own).collect()
}

/// What tells buckets apart; splits of one bucket keep their order.
fn bucket(split: &GoldenSplit) -> String {
    match split {
        GoldenSplit::Data(split) => split.bucket_path.clone(),
        GoldenSplit::Incremental(split) => {
            let first = split.after.first().or(split.before.first());
            first.map_or_else(String::new, |file| file.name.clone())
        }
        other => format!("{other:?}"),
    }
}

#[derive(Default)]
struct Outcome {
    same: usize,
    refused: BTreeMap<String, usize>,
    faults: Vec<String>,
}

impl Outcome {
    fn check(&mut self, resources: &Resources, case: &GoldenCase, index: usize) {
        let read = &case.reads[index];
        let name = format!("{} read {index}", case.case);
        match (planned(resources, case, &read.request), &read.plans) {
            (Err(error), _) if error.kind() == ErrorKind::Unsupported => {
                *self
                    .refused
                    .entry(error.feature().unwrap().to_owned())
                    .or_default() += 1;
            }
            (Err(error), Some(_)) => self.faults.push(format!("{name}: {error}")),
            (Ok((table, plan)), Some(plans)) => {
                let (mut ours, mut theirs) = (splits(&plan, &table), expected(&plans[0]));
                // Buckets of incremental plans come in no defined order either (RP-152).
                let options = &mut read.request.options.keys();
                if BUCKETS_IN_ANY_ORDER.contains(&case.case.as_str())
                    || options.any(|key| key.starts_with("incremental-"))
                {
                    ours.sort_by_key(bucket);
                    theirs.sort_by_key(bucket);
                }
                if ours == theirs {
                    self.same += 1;
                } else {
                    self.faults.push(format!(
                        "{name}\n  found    {ours:?}\n  expected {theirs:?}"
                    ));
                }
            }
            // Other areas have errors of reading, which come after the plan.
            (Ok(_), None) if name.starts_with("plan_") => {
                self.faults.push(format!("{name}: no error"));
            }
            (_, None) => {}
        }
    }
}

#[test]
fn plans_are_those_of_the_reference() {
    let resources = Resources::local();
    let mut outcome = Outcome::default();
    for case in GoldenCase::load_all().unwrap() {
        for index in (0..case.reads.len()).filter(|index| is_batch(&case.reads[*index].request)) {
            outcome.check(&resources, &case, index);
        }
    }
    let Outcome {
        same,
        refused,
        faults,
    } = outcome;
    assert!(
        faults.is_empty(),
        "{} of {} differ\n{}",
        faults.len(),
        same + faults.len(),
        faults.join("\n")
    );
    let expected = REFUSED.map(|(feature, count)| (feature.to_owned(), count));
    assert_eq!(refused, BTreeMap::from(expected));
    assert!(same > 1200, "only {same} plans were compared");
}
