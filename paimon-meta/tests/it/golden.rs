//! Every metadata file in JSON of the golden tables decodes, and writes back to the same members; bucket directories of
//! their plans are where the reference has them.

use std::fs;
use std::path::{Path, PathBuf};

use paimon_meta::{
    BranchPaths, Consumer, DataPaths, DataType, Datum, Options, ResolvedTable, Snapshot,
    Statistics, TableSchema, Tag, TypeKind, encode_row, numbered_name, unsupported_feature,
};
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
                if name.starts_with(prefix) && (!numbered || numbered_name(name, prefix).is_some())
                {
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

/// The latest schema of a case's main branch.
fn latest_schema(case: &Path) -> TableSchema {
    let directory = case
        .join("table")
        .join(BranchPaths::new("main").unwrap().schema_directory());
    let files = fs::read_dir(directory)
        .unwrap()
        .map(|file| file.unwrap().path());
    let id = |path: &PathBuf| numbered_name(path.file_name().unwrap().to_str().unwrap(), "schema-");
    let latest = files
        .filter(|path| id(path).is_some())
        .max_by_key(id)
        .unwrap();
    TableSchema::from_json(&fs::read(latest).unwrap()).unwrap()
}

fn cases() -> impl Iterator<Item = PathBuf> {
    fs::read_dir(GOLDEN)
        .unwrap()
        .map(|case| case.unwrap().path())
        .filter(|case| case.is_dir())
}

fn partition_value(value: &Value, data_type: &DataType) -> Option<Datum> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(Datum::parse(text, data_type).unwrap()),
        other => Some(Datum::parse(&other.to_string(), data_type).unwrap()),
    }
}

#[test]
fn bucket_directories_are_where_the_reference_has_them() {
    let mut checked = 0;
    for case in cases() {
        let schema = latest_schema(&case);
        let table = ResolvedTable {
            location: case.join("table").to_string_lossy().into_owned(),
            branch: "main".to_owned(),
            options: Options(schema.options.clone()),
            snapshot: None,
            schema: schema.clone(),
            schemas: [(schema.id, schema.clone())].into(),
            time_zone: "UTC".to_owned(),
            changes: None,
            fallback: None,
        };
        let paths = DataPaths::new(&table).unwrap();
        let types: Vec<&DataType> = schema
            .partition_fields()
            .unwrap()
            .into_iter()
            .map(|field| &field.data_type)
            .collect();
        let expected = json(&case.join("expected.json"));
        let plans = expected["reads"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|read| read["plan"].as_array());
        for split in plans
            .flatten()
            .filter(|split| split["bucket_path"].is_string())
        {
            let values = split["partition"].as_array().unwrap().iter().zip(&types);
            let values: Vec<_> = values
                .map(|(value, data_type)| partition_value(value, data_type))
                .collect();
            let row = encode_row(&types, &values).unwrap();
            let bucket = i32::try_from(split["bucket"].as_i64().unwrap()).unwrap();
            let path = paths.bucket_path(row.as_ref(), bucket).unwrap();
            assert_eq!(
                path,
                split["bucket_path"].as_str().unwrap(),
                "{}",
                case.display()
            );
            checked += 1;
        }
    }
    assert!(checked > 1000, "{checked} splits");
}

#[test]
fn no_table_is_refused() {
    // TF-100
    for path in files("schema", "schema-", true) {
        let schema = TableSchema::from_json(&fs::read(&path).unwrap()).unwrap();
        let refused = unsupported_feature(&Options(schema.options.clone()), &schema);
        assert!(refused.is_ok(), "{}: {refused:?}", path.display());
    }
}

#[test]
fn column_types_print_as_the_reference_prints_them() {
    // The texts of output columns that are columns of the table.
    let mut checked = 0;
    for case in cases() {
        let schema = latest_schema(&case);
        let expected = json(&case.join("expected.json"));
        let Some(columns) = expected["reads"][0]["columns"].as_array() else {
            continue;
        };
        for (field, column) in schema.fields.iter().zip(columns) {
            let nullable = DataType {
                kind: field.data_type.kind.clone(),
                nullable: true,
            };
            let text = column.as_str().unwrap().trim_end_matches(" NOT NULL");
            if columns.len() == schema.fields.len() && !matches!(nullable.kind, TypeKind::Variant) {
                assert_eq!(
                    format!("{} {nullable}", field.name),
                    text,
                    "{}",
                    case.display()
                );
                checked += 1;
            }
        }
    }
    assert!(checked > 200, "{checked} columns");
}
