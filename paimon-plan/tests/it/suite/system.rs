//! Metadata tables over golden tables; their rows are compared in the golden suite.

use std::fs;

use paimon_io::Resources;
use paimon_meta::{ErrorKind, FieldId, Frame, Result, StringLayout};
use paimon_plan::{MetadataRows, MetadataTable, ResolveRequest, metadata_rows};

use super::tables::{copy, golden, resolve, run};

fn rows(table: &std::path::Path, which: MetadataTable) -> Result<MetadataRows> {
    let table = resolve(table, &ResolveRequest::default())?;
    run(metadata_rows(&Resources::local(), &table, which))
}

const ALL: [MetadataTable; 13] = [
    MetadataTable::Snapshots,
    MetadataTable::Schemas,
    MetadataTable::Options,
    MetadataTable::Manifests,
    MetadataTable::Files,
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
fn branches_have_the_time_of_their_first_schema() {
    let rows = rows(&golden("plan_sys_pk_tables"), MetadataTable::Branches).unwrap();
    let batch = rows.batch(0..rows.len(), &[FieldId(1)], StringLayout::View);
    let batch = batch.unwrap();
    let times = batch.column(0).as_any();
    let times = times.downcast_ref::<arrow_array::TimestampMillisecondArray>();
    assert!(times.unwrap().iter().all(|time| time > Some(0)));
}
