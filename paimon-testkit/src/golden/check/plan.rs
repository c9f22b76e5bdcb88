//! Comparing plans split by split.

use serde_json::Value;

use super::{GoldenReader, Wrong, differs};
use crate::golden::{GoldenCase, GoldenDataSplit, GoldenRead, GoldenSplit};

/// Cases that the reference planned with a manifest cache: the order of their buckets is that of a hash map (RP-096).
const BUCKETS_IN_ANY_ORDER: [&str; 3] = [
    "merge_agg_default_sum_partition_key",
    "merge_dedup_partition_in_key",
    "merge_first_row_levels",
];

/// Plans are equal in every member of every split, in order. Not compared: plans of system tables, and those with
/// splits of other classes than data splits.
pub(super) fn check_plan(
    case: &GoldenCase,
    read: &GoldenRead,
    reader: &dyn GoldenReader,
) -> Result<(), Wrong> {
    let (Some(expected), None) = (&read.plans, &read.request.system_table) else {
        return Ok(());
    };
    let mut plans = Vec::new();
    for plan in expected {
        match plan.iter().map(data_split).collect::<Option<Vec<_>>>() {
            Some(splits) => plans.push(splits),
            None => return Ok(()),
        }
    }
    let Some(found) = reader.plan(case, &read.request)? else {
        return Ok(());
    };
    if found.len() != plans.len() {
        return Err(differs(format!(
            "{} plans, expected {}",
            found.len(),
            plans.len()
        )));
    }
    for (index, (found, expected)) in found.iter().zip(&plans).enumerate() {
        if found.len() != expected.len() {
            let (found, expected) = (found.len(), expected.len());
            return Err(differs(format!(
                "plan {index} has {found} splits, expected {expected}"
            )));
        }
        let (mut found, mut expected): (Vec<&GoldenDataSplit>, _) =
            (found.iter().collect(), expected.clone());
        if BUCKETS_IN_ANY_ORDER.contains(&case.case.as_str()) {
            found.sort_by_key(|split| bucket(split));
            expected.sort_by_key(|split| bucket(split));
        }
        for (split, (found, expected)) in found.into_iter().zip(expected).enumerate() {
            if found != expected {
                let place = format!("plan {index} split {split}");
                return Err(differs(format!(
                    "{place}: {}",
                    first_difference(found, expected)
                )));
            }
        }
    }
    Ok(())
}

/// What tells buckets apart; splits of one bucket keep their order.
fn bucket(split: &GoldenDataSplit) -> &str {
    &split.bucket_path
}

fn data_split(split: &GoldenSplit) -> Option<&GoldenDataSplit> {
    match split {
        GoldenSplit::Data(split) => Some(split),
        GoldenSplit::Other { .. } => None,
    }
}

/// The first member in which two splits differ.
fn first_difference(found: &GoldenDataSplit, expected: &GoldenDataSplit) -> String {
    let members = |split: &GoldenDataSplit| serde_json::to_value(split).unwrap_or_default();
    let (found, expected) = (members(found), members(expected));
    let mut place = String::new();
    let (mut found, mut expected) = (&found, &expected);
    while let Some((name, inner_found, inner_expected)) = first_member(found, expected) {
        place = format!("{place}/{name}");
        (found, expected) = (inner_found, inner_expected);
    }
    format!("{place} is {found}, expected {expected}")
}

fn first_member<'a>(
    found: &'a Value,
    expected: &'a Value,
) -> Option<(String, &'a Value, &'a Value)> {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            let differing = expected
                .iter()
                .find(|(name, value)| found.get(*name) != Some(*value))?;
            Some((differing.0.clone(), found.get(differing.0)?, differing.1))
        }
        (Value::Array(found), Value::Array(expected)) if found.len() == expected.len() => {
            let pairs = found.iter().zip(expected).enumerate();
            let (index, (found, expected)) = pairs
                .into_iter()
                .find(|(_, (found, expected))| found != expected)?;
            Some((index.to_string(), found, expected))
        }
        _ => None,
    }
}
