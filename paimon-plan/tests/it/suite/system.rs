//! Metadata tables over golden tables; their rows are compared in the golden suite.

use std::fs;
use std::path::Path;

use paimon_io::Resources;
use paimon_meta::{ErrorKind, FieldId, Frame, Result, StringLayout};
use paimon_plan::{MetadataRows, MetadataTable, ResolveRequest, metadata_rows};

use super::tables::{copy, golden, resolve, run};

fn rows(table: &Path, which: MetadataTable) -> Result<MetadataRows> {
    rows_at(table, which, None)
}

fn rows_at(table: &Path, which: MetadataTable, snapshot: Option<&str>) -> Result<MetadataRows> {
    let option = |id: &str| ("scan.snapshot-id".to_owned(), Some(id.to_owned()));
    let request = ResolveRequest {
        options: snapshot.map(option).into_iter().collect(),
        ..ResolveRequest::default()
    };
    let table = resolve(table, &request)?;
    run(metadata_rows(&Resources::local(), &table, which))
}

/// The texts of a column, sorted; null is empty.
fn texts(rows: &MetadataRows, column: &str) -> Vec<String> {
    let id = rows.schema().field(column).unwrap().id;
    let batch = rows
        .batch(0..rows.len(), &[id], StringLayout::View)
        .unwrap();
    let texts = batch.column(0).as_any();
    let texts = texts
        .downcast_ref::<arrow_array::StringViewArray>()
        .unwrap();
    let mut texts: Vec<String> = texts
        .iter()
        .map(|text| text.unwrap_or("").to_owned())
        .collect();
    texts.sort_unstable();
    texts
}

const ALL: [MetadataTable; 14] = [
    MetadataTable::Snapshots,
    MetadataTable::Schemas,
    MetadataTable::Options,
    MetadataTable::Manifests,
    MetadataTable::Files,
    MetadataTable::FileKeyRanges,
    MetadataTable::Partitions,
    MetadataTable::Buckets,
    MetadataTable::Tags,
    MetadataTable::Branches,
    MetadataTable::Consumers,
    MetadataTable::AggregationFields,
    MetadataTable::Statistics,
    MetadataTable::TableIndexes,
];

#[test]
fn every_column_of_every_table_has_its_type() {
    // RP-655
    for which in ALL {
        for case in [
            "plan_sys_pk_tables",
            "plan_sys_append_tables",
            "plan_empty_tables",
        ] {
            let rows = rows(&golden(case), which).unwrap();
            let columns: Vec<FieldId> = rows.schema().fields.iter().map(|field| field.id).collect();
            for strings in [
                StringLayout::View,
                StringLayout::Offset32,
                StringLayout::Offset64,
            ] {
                let batch = rows.batch(0..rows.len(), &columns, strings).unwrap();
                assert_eq!(batch.num_columns(), columns.len(), "{which:?} of {case}");
            }
        }
    }
}

#[test]
fn a_tag_that_does_not_parse_is_corrupt_and_named() {
    let table = copy("plan_sys_pk_tables");
    fs::write(table.path().join("tag/tag-t1"), "{").unwrap();
    let error = rows(table.path(), MetadataTable::Tags).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(
        error
            .frames()
            .any(|frame| *frame == Frame::Tag("t1".to_owned())),
        "{error}"
    );
}

#[test]
fn a_file_of_an_unknown_schema_is_corrupt_only_where_that_shows() {
    let table = copy("plan_tt_schema_of_snapshot");
    fs::remove_file(table.path().join("schema/schema-0")).unwrap();
    let files = rows(table.path(), MetadataTable::Files).unwrap();
    let column = |name: &str| {
        let id = files.schema().field(name).unwrap().id;
        files.batch(0..files.len(), &[id], StringLayout::View)
    };
    column("record_count").unwrap();
    let error = column("min_value_stats").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(
        error.frames().any(|frame| *frame == Frame::Schema(0)),
        "{error}"
    );
}

#[test]
fn files_of_partitions_that_are_gone_now_are_shown_under_time_travel() {
    // RP-657; the reference shows none of them, and buckets of the latest snapshot.
    let table = golden("plan_overwrite_static_dynamic");
    let then = |which| rows_at(&table, which, Some("1")).unwrap();
    let partitions = ["{a}", "{b}", "{c}", "{null}"];
    assert_eq!(texts(&then(MetadataTable::Files), "partition"), partitions);
    assert!(then(MetadataTable::Buckets).is_empty());
    assert!(rows(&table, MetadataTable::Files).unwrap().is_empty());
}

#[test]
fn timestamp_partitions_are_shown_as_text() {
    // RP-660; the reference fails for them, as these directories have legacy names.
    let table = golden("fmt_part_timestamp");
    let partitions = texts(
        &rows(&table, MetadataTable::Partitions).unwrap(),
        "partition",
    );
    assert_eq!(partitions.len(), 5);
    assert!(
        partitions.contains(&"p=2024-01-02 03:04:00.000000".to_owned()),
        "{partitions:?}"
    );
    let files = rows(&table, MetadataTable::Files).unwrap();
    assert!(
        texts(&files, "min_value_stats")
            .iter()
            .any(|text| text.contains("p=2024-01-02T03:04}"))
    );
}

#[test]
fn branches_have_the_time_of_their_first_schema() {
    let rows = rows(&golden("plan_sys_pk_tables"), MetadataTable::Branches).unwrap();
    let batch = rows.batch(0..rows.len(), &[FieldId(1)], StringLayout::View);
    let batch = batch.unwrap();
    let times = batch.column(0).as_any();
    let times = times.downcast_ref::<arrow_array::TimestampMillisecondArray>();
    assert!(times.unwrap().iter().all(|time| time > Some(0)));
}

#[test]
fn partitions_are_those_of_the_fallback_branch_too() {
    // RP-537: partition a is in both branches, b in the fallback branch alone, c in the main one alone.
    let table = golden("plan_fallback_branch");
    let partitions = rows(&table, MetadataTable::Partitions).unwrap();
    assert_eq!(texts(&partitions, "partition"), ["p=a", "p=b", "p=c"]);
    let buckets = rows(&table, MetadataTable::Buckets).unwrap();
    assert_eq!(texts(&buckets, "partition"), ["{a}", "{c}"]);
}

#[test]
fn ranges_of_keys_are_those_of_the_files() {
    let table = golden("plan_sys_pk_tables");
    let columns = ["partition", "file_path", "min_key", "max_key"];
    let of = |which| columns.map(|column| texts(&rows(&table, which).unwrap(), column));
    assert_eq!(of(MetadataTable::FileKeyRanges), of(MetadataTable::Files));
}
