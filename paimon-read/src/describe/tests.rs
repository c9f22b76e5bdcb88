use paimon_io::Resources;
use paimon_meta::{
    DataFileMeta, DataSplit, DataType, Datum, Options, Predicate, ResolvedTable, Split,
    TableSchema, encode_row,
};

use super::*;
use crate::reader::TableReader;
use crate::request::{ReadRequest, RowKinds};

/// `(p, k) -> v, w`, partitioned by `p`.
fn table(options: &[(&str, &str)]) -> Arc<ResolvedTable> {
    let schema = TableSchema::from_json(
        br#"{"version": 3, "id": 0, "highestFieldId": 3, "fields": [
            {"id": 0, "name": "p", "type": "INT NOT NULL"}, {"id": 1, "name": "k", "type": "BIGINT NOT NULL"},
            {"id": 2, "name": "v", "type": "STRING"}, {"id": 3, "name": "w", "type": "INT"}],
            "partitionKeys": ["p"], "primaryKeys": ["p", "k"], "options": {"bucket": "1"}}"#,
    )
    .unwrap();
    let options = options
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    Arc::new(ResolvedTable {
        location: "/t".to_owned(),
        branch: "main".to_owned(),
        options: Options(options.collect()),
        snapshot: None,
        schemas: [(0, schema.clone())].into(),
        schema,
        time_zone: "UTC".to_owned(),
        changes: None,
        fallback: None,
    })
}

fn row(data_type: &str, value: Datum) -> paimon_meta::BinaryRow {
    let data_type: DataType = paimon_meta::parse_type(data_type).unwrap();
    encode_row(&[&data_type], &[Some(value)]).unwrap()
}

/// A file of keys with sequence numbers.
fn file(name: &str, keys: (i64, i64), sequence: (i64, i64), deletes: u64) -> DataFileMeta {
    DataFileMeta {
        file_name: format!("{name}.parquet"),
        row_count: 10,
        min_key: row("BIGINT NOT NULL", Datum::BigInt(keys.0)),
        max_key: row("BIGINT NOT NULL", Datum::BigInt(keys.1)),
        min_sequence_number: sequence.0,
        max_sequence_number: sequence.1,
        delete_row_count: Some(deletes),
        ..DataFileMeta::default()
    }
}

fn task(files: Vec<DataFileMeta>, raw_convertible: bool) -> ReadTask {
    ReadTask::new(Split::Data(DataSplit {
        snapshot_id: 1,
        partition: row("INT NOT NULL", Datum::Int(7)),
        bucket: 0,
        bucket_path: "p=7/bucket-0".to_owned(),
        total_buckets: Some(1),
        files,
        deletion_files: None,
        streaming: false,
        raw_convertible,
    }))
}

fn described(options: &[(&str, &str)], request: ReadRequest, task: &ReadTask) -> ReadDescription {
    let reader = TableReader::new(table(options), request, Resources::local()).unwrap();
    describe(task, reader.context()).unwrap()
}

fn ids(ids: &[i32]) -> Vec<FieldId> {
    ids.iter().map(|id| FieldId(*id)).collect()
}

#[test]
fn a_raw_read_is_one_run_without_a_key_pass() {
    let task = task(
        vec![file("a", (1, 5), (0, 9), 0), file("b", (6, 9), (10, 19), 0)],
        true,
    );
    let description = described(&[], ReadRequest::default(), &task);
    assert_eq!(description.provider, "raw");
    let [section] = description.sections.as_slice() else {
        panic!("{description:?}");
    };
    assert_eq!(section.runs, [[0, 1]]);
    assert_eq!(section.key_pass, None);
    // The partition column comes from no file.
    assert_eq!(section.value_columns, ids(&[1, 2, 3]));
}

#[test]
fn sections_are_told_apart_and_a_lone_run_needs_no_keys_first() {
    let files = vec![
        file("a", (1, 5), (0, 9), 0),
        file("b", (3, 8), (10, 19), 1),
        file("c", (20, 30), (20, 29), 0),
    ];
    let description = described(&[], ReadRequest::default(), &task(files, false));
    assert_eq!(description.provider, "merge");
    let [first, second] = description.sections.as_slice() else {
        panic!("{description:?}");
    };
    assert_eq!(
        (&first.runs, &second.runs),
        (&vec![vec![0], vec![1]], &vec![vec![2]])
    );
    assert_eq!(second.key_pass, None);
    let key_pass = first.key_pass.as_ref().unwrap();
    assert_eq!(key_pass.keys, ids(&[1]));
    let read: Vec<_> = key_pass
        .files
        .iter()
        .map(|file| (file.file, file.sequence_number, file.row_kind))
        .collect();
    // Ranges of sequence numbers are disjoint; only the file with a delete row has its kinds read.
    assert_eq!(read, [(0, false, false), (1, false, true)]);
    assert_eq!(first.value_columns, ids(&[2, 3]));
}

#[test]
fn conditions_on_keys_act_in_the_key_pass_and_others_on_winners() {
    // RP-323
    let int = |id, value| {
        Predicate::gt(
            FieldId(id),
            paimon_meta::parse_type("INT").unwrap(),
            Datum::Int(value),
        )
    };
    let key = Predicate::gt(
        FieldId(1),
        paimon_meta::parse_type("BIGINT NOT NULL").unwrap(),
        Datum::BigInt(4),
    );
    let request = ReadRequest {
        predicate: Some(Predicate::and([key.clone(), int(3, 5)])),
        projection: Some(ids(&[2])),
        ..ReadRequest::default()
    };
    let files = || vec![file("a", (1, 5), (0, 9), 0), file("b", (3, 8), (5, 19), 0)];
    let description = described(&[("sequence.field", "w")], request, &task(files(), false));
    let section = &description.sections[0];
    let key_pass = section.key_pass.as_ref().unwrap();
    assert_eq!(key_pass.condition, Some(key));
    assert_eq!(key_pass.sequence_fields, ids(&[3]));
    assert!(key_pass.files.iter().all(|file| file.sequence_number));
    assert_eq!(section.condition, Some(int(3, 5)));
    // Known from the key pass already.
    assert_eq!(section.condition_columns, ids(&[]));
    assert_eq!(section.value_columns, ids(&[2]));

    let partition = ReadRequest {
        predicate: Some(Predicate::is_null(
            FieldId(0),
            paimon_meta::parse_type("INT NOT NULL").unwrap(),
        )),
        ..ReadRequest::default()
    };
    let description = described(&[], partition, &task(files(), false));
    assert!(description.sections[0].nothing_passes);
}

#[test]
fn kinds_that_are_asked_for_are_read_of_every_file() {
    let request = ReadRequest {
        row_kinds: RowKinds::Keep,
        ..ReadRequest::default()
    };
    let task = task(vec![file("a", (1, 5), (0, 9), 0)], true);
    let description = described(&[], request, &task);
    assert_eq!(description.provider, "merge");
    let key_pass = description.sections[0].key_pass.as_ref().unwrap();
    assert!(key_pass.files.iter().all(|file| file.row_kind));
}

#[test]
fn what_nobody_reads_is_refused() {
    let mut lance = file("a", (1, 5), (0, 9), 0);
    lance.file_name = "a.lance".to_owned();
    let reader = TableReader::new(table(&[]), ReadRequest::default(), Resources::local()).unwrap();
    let error = describe(&task(vec![lance], true), reader.context()).unwrap_err();
    assert_eq!(error.feature(), Some("file format lance"));
}

#[test]
fn a_fold_reads_all_versions_and_asks_their_results() {
    // ME-082, ME-143, ME-144: the sequence column is read silently; a section of one run is not folded
    let options = [
        ("merge-engine", "partial-update"),
        ("fields.w.sequence-group", "v"),
    ];
    let files = vec![
        file("a", (1, 5), (0, 9), 0),
        file("b", (3, 8), (10, 19), 0),
        file("c", (20, 30), (20, 29), 0),
    ];
    let text: DataType = paimon_meta::parse_type("STRING").unwrap();
    let condition = Predicate::is_null(FieldId(2), text);
    let request = ReadRequest {
        projection: Some(ids(&[2])),
        predicate: Some(condition.clone()),
        ..ReadRequest::default()
    };
    let description = described(&options, request, &task(files, false));
    let [folded, lone] = description.sections.as_slice() else {
        panic!("{description:?}");
    };
    assert_eq!(folded.fold.as_deref(), Some("partial-update"));
    assert_eq!(folded.value_columns, ids(&[2, 3]));
    assert_eq!(folded.condition.as_ref(), Some(&condition));
    assert_eq!(folded.condition_columns, []);
    assert_eq!((&lone.fold, &lone.key_pass), (&None, &None));
    assert_eq!(lone.condition_columns, ids(&[2]));
}
