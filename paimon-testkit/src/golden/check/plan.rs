//! Comparing plans split by split.

use serde_json::Value;

use super::{Wrong, differs};
use crate::golden::{GoldenCase, GoldenRead, GoldenSplit};
use crate::reader::Reader;

/// Cases that the reference planned with a manifest cache: the order of their buckets is that of a hash map (RP-096).
const BUCKETS_IN_ANY_ORDER: [&str; 3] = [
    "merge_agg_default_sum_partition_key",
    "merge_dedup_partition_in_key",
    "merge_first_row_levels",
];

/// Plans are equal in every member of every split, in order. Not compared: plans of system tables, and those with
/// splits of classes that have no form here.
pub(super) fn check_plan(
    case: &GoldenCase,
    read: &GoldenRead,
    reader: &dyn Reader,
) -> Result<(), Wrong> {
    let (Some(expected), None) = (&read.plans, &read.request.system_table) else {
        return Ok(());
    };
    let known = |split: &GoldenSplit| !matches!(split, GoldenSplit::Other { .. });
    if !expected.iter().flatten().all(known) {
        return Ok(());
    }
    let Some(found) = reader.plan(&case.table(), &read.request)? else {
        return Ok(());
    };
    if found.len() != expected.len() {
        return Err(differs(format!(
            "{} plans, expected {}",
            found.len(),
            expected.len()
        )));
    }
    // Buckets of incremental plans, too, come in the order of a hash map (RP-152).
    let in_any_order = BUCKETS_IN_ANY_ORDER.contains(&case.case.as_str())
        || read
            .request
            .options
            .keys()
            .any(|key| key.starts_with("incremental-"));
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        check_splits(index, comparable(found), comparable(expected), in_any_order)?;
    }
    Ok(())
}

fn check_splits(
    plan: usize,
    mut found: Vec<GoldenSplit>,
    mut expected: Vec<GoldenSplit>,
    in_any_order: bool,
) -> Result<(), Wrong> {
    if found.len() != expected.len() {
        let (found, expected) = (found.len(), expected.len());
        return Err(differs(format!(
            "plan {plan} has {found} splits, expected {expected}"
        )));
    }
    if in_any_order {
        found.sort_by_key(bucket);
        expected.sort_by_key(bucket);
    }
    for (split, (found, expected)) in found.iter().zip(&expected).enumerate() {
        if found != expected {
            let place = format!("plan {plan} split {split}");
            return Err(differs(format!(
                "{place}: {}",
                first_difference(found, expected)
            )));
        }
    }
    Ok(())
}

/// Splits as they compare: those of the table's own branch are data splits, and two states without files are nothing.
fn comparable(splits: &[GoldenSplit]) -> Vec<GoldenSplit> {
    let splits = splits.iter().filter_map(|split| match split {
        GoldenSplit::Fallback(own) if !own.fallback => Some(GoldenSplit::Data(own.split.clone())),
        GoldenSplit::Incremental(split) if split.before.is_empty() && split.after.is_empty() => {
            None
        }
        split => Some(split.clone()),
    });
    splits.collect()
}

/// What tells buckets apart; splits of one bucket keep their order.
fn bucket(split: &GoldenSplit) -> String {
    match split {
        GoldenSplit::Data(split) => split.bucket_path.clone(),
        GoldenSplit::Fallback(split) => split.split.bucket_path.clone(),
        GoldenSplit::Incremental(split) => {
            let first = split.after.first().or(split.before.first());
            first.map_or_else(String::new, |file| file.name.clone())
        }
        GoldenSplit::Other { class } => class.clone(),
    }
}

/// The first member in which two splits differ.
fn first_difference(found: &GoldenSplit, expected: &GoldenSplit) -> String {
    let members = |split: &GoldenSplit| serde_json::to_value(split).unwrap_or_default();
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
