//! Which state of a table the command line names, as options, and which of its rows.

use std::collections::BTreeMap;

use paimon_meta::{Error, Options, Result, TablePredicate};
use paimon_plan::{PartitionSpec, PartitionValue, ScanRequest};

use crate::args::Selection;
use crate::failure::Failure;

/// Options that choose a position in a table's history; a flag that does so takes the place of them all.
const POSITIONS: [&str; 11] = [
    Options::SCAN_MODE.key,
    "log.scan",
    Options::SCAN_SNAPSHOT_ID.key,
    Options::SCAN_TAG_NAME.key,
    Options::SCAN_TIMESTAMP.key,
    Options::SCAN_TIMESTAMP_MILLIS.key,
    "log.scan.timestamp-millis",
    Options::SCAN_WATERMARK.key,
    Options::SCAN_VERSION.key,
    Options::SCAN_FILE_CREATION_TIME_MILLIS.key,
    Options::SCAN_CREATION_TIME_MILLIS.key,
];

/// Options over the table's own: those given, and the one that a flag stands for.
pub(crate) fn options(selection: &Selection) -> BTreeMap<String, Option<String>> {
    let position = position(selection);
    let cleared = position.iter().flat_map(|_| POSITIONS);
    let mut options: BTreeMap<_, _> = cleared.map(|key| (key.to_owned(), None)).collect();
    let given = selection
        .options
        .iter()
        .map(|(key, value)| (key.clone(), Some(value.clone())));
    options.extend(given);
    options.extend(position.map(|(key, value)| (key.to_owned(), Some(value))));
    options
}

fn position(selection: &Selection) -> Option<(&'static str, String)> {
    if let Some(id) = selection.snapshot {
        return Some((Options::SCAN_SNAPSHOT_ID.key, id.to_string()));
    }
    if let Some(tag) = &selection.tag {
        return Some((Options::SCAN_TAG_NAME.key, tag.clone()));
    }
    let time = selection.timestamp.as_ref()?;
    let key = if time.parse::<i64>().is_ok() {
        Options::SCAN_TIMESTAMP_MILLIS.key
    } else {
        Options::SCAN_TIMESTAMP.key
    };
    Some((key, time.clone()))
}

/// What the planner is asked for.
///
/// # Errors
/// Usage for a partition column that is named twice.
pub(crate) fn scan_request(
    selection: &Selection,
    predicate: Option<TablePredicate>,
    limit: Option<u64>,
) -> Result<ScanRequest, Failure> {
    let mut partition = PartitionSpec::new();
    for (name, value) in &selection.partitions {
        let value = PartitionValue::Text(value.clone());
        if partition.insert(name.clone(), value).is_some() {
            let message = format!("--partition names column {name} twice");
            return Err(Failure::Usage(Error::invalid_input(message)));
        }
    }
    Ok(ScanRequest {
        predicate,
        limit,
        partitions: if partition.is_empty() {
            Vec::new()
        } else {
            vec![partition]
        },
        bucket: selection.bucket,
        ..ScanRequest::default()
    })
}
