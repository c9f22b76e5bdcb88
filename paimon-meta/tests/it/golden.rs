//! Every metadata file in JSON of the golden tables decodes, and writes back to the same members.

use std::fs;
use std::path::{Path, PathBuf};

use paimon_meta::{Consumer, Snapshot, Statistics, TableSchema, Tag};
use serde_json::Value;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../paimon-testkit/golden");

/// Files below `folder` of every table and every branch whose name is the prefix and, if asked for, a number.
fn files(folder: &str, prefix: &str, numbered: bool) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let tables = fs::read_dir(GOLDEN)
        .unwrap()
        .map(|case| case.unwrap().path().join("table"));
    for table in tables.filter(|table| table.is_dir()) {
        let branches = fs::read_dir(table.join("branch"))
            .into_iter()
            .flatten()
            .map(|branch| branch.unwrap().path());
        for root in branches.chain([table.clone()]) {
            for file in fs::read_dir(root.join(folder)).into_iter().flatten() {
                let path = file.unwrap().path();
                let name = path.file_name().unwrap().to_str().unwrap();
                let wanted = |rest: &str| !numbered || rest.parse::<i64>().is_ok(); // TF-007
                if name.strip_prefix(prefix).is_some_and(wanted) {
                    files.push(path);
                }
            }
        }
    }
    files
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Members that are null count as missing.
fn without_nulls(mut value: Value) -> Value {
    if let Some(object) = value.as_object_mut() {
        object.retain(|_, member| !member.is_null());
    }
    value
}

#[test]
fn every_snapshot_reads_and_writes_back() {
    let files = files("snapshot", "snapshot-", true);
    assert!(files.len() > 200, "{} files", files.len());
    for path in files {
        let snapshot = Snapshot::from_json(&fs::read(&path).unwrap());
        let snapshot = snapshot.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(
            path.ends_with(format!("snapshot-{}", snapshot.id)),
            "{}",
            path.display()
        );
        let mut expected = without_nulls(json(&path));
        expected.as_object_mut().unwrap().remove("logOffsets");
        assert_eq!(
            serde_json::to_value(&snapshot).unwrap(),
            expected,
            "{}",
            path.display()
        );
    }
}

#[test]
fn every_schema_reads_and_writes_back() {
    let files = files("schema", "schema-", true);
    assert!(files.len() > 200, "{} files", files.len());
    for path in files {
        let schema = TableSchema::from_json(&fs::read(&path).unwrap());
        let schema = schema.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(
            path.ends_with(format!("schema-{}", schema.id)),
            "{}",
            path.display()
        );
        assert!(
            schema.key_fields().is_ok() && schema.bucket_fields().is_ok(),
            "{}",
            path.display()
        );
        let text = schema.to_json_pretty().unwrap();
        assert_eq!(
            TableSchema::from_json(text.as_bytes()).unwrap(),
            schema,
            "{}",
            path.display()
        );
        let expected = without_nulls(json(&path));
        if schema.version == 3 && !path.to_string_lossy().contains("_meta_") {
            assert_eq!(
                serde_json::to_value(&schema).unwrap(),
                expected,
                "{}",
                path.display()
            );
        }
    }
}

#[test]
fn every_tag_consumer_changelog_and_statistics_file_reads() {
    let tags = files("tag", "tag-", false);
    assert!(tags.len() > 20, "{} tags", tags.len());
    for path in tags {
        let tag = Tag::from_json(&fs::read(&path).unwrap());
        tag.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    let consumers = files("consumer", "consumer-", false);
    assert!(consumers.len() >= 2, "{} consumers", consumers.len());
    for path in consumers {
        let consumer = Consumer::from_json(&fs::read(&path).unwrap()).unwrap();
        assert_eq!(serde_json::to_value(consumer).unwrap(), json(&path));
    }
    for path in files("changelog", "changelog-", true) {
        Snapshot::from_json(&fs::read(&path).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    let statistics = files("statistics", "stat-", false);
    assert!(!statistics.is_empty());
    for path in statistics {
        let statistics = Statistics::from_json(&fs::read(&path).unwrap()).unwrap();
        assert_eq!(serde_json::to_value(&statistics).unwrap(), json(&path));
    }
}
