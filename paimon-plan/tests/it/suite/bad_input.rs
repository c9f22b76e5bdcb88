//! What is missing, torn, unknown or does not fit: an error that names it, never another plan.

use std::fs;

use paimon_io::Resources;
use paimon_meta::{Datum, Error, ErrorKind, FieldId, Frame, Predicate, TypeKind};
use paimon_plan::{ResolveRequest, ScanRequest, Table, plan};

use super::tables::{copy, files, golden, planned, resolve, run};

const TABLE: &str = "lab_r_overlap";

fn all(_: &paimon_meta::ResolvedTable) -> ScanRequest {
    ScanRequest::default()
}

fn has(error: &Error, frame: &Frame) -> bool {
    error.frames().any(|found| found == frame)
}

#[test]
fn missing_table_is_not_found_by_its_path() {
    let directory = tempfile::tempdir().unwrap();
    for path in [
        directory.path().to_owned(),
        directory.path().join("nothing"),
    ] {
        let location = path.to_str().unwrap().to_owned();
        let error = resolve(&path, &ResolveRequest::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.message().contains(&location), "{error}");
        assert!(has(&error, &Frame::Table(location)), "{error}");
    }
}

#[test]
fn missing_snapshots_are_told_by_their_number() {
    // TF-003: the hint names a snapshot that is not there, and nothing newer is.
    let table = copy(TABLE);
    fs::remove_file(table.path().join("snapshot/snapshot-2")).unwrap();
    let error = planned(table.path(), &[], all).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert_eq!(
        error.message(),
        "file LATEST names snapshot-2, the latest there is 1"
    );
    let asked = planned(table.path(), &[("scan.snapshot-id", "2")], all).unwrap_err();
    assert_eq!(asked.kind(), ErrorKind::NotFound);
    assert!(asked.message().contains('2'), "{asked}");
    let other = planned(table.path(), &[("scan.snapshot-id", "1")], all).unwrap();
    assert_eq!(other.snapshot_id(), Some(1));
}

#[test]
fn torn_snapshot_is_corrupt_at_any_length() {
    // TF-008
    let table = copy(TABLE);
    let path = table.path().join("snapshot/snapshot-2");
    let whole = fs::read(&path).unwrap();
    for kept in 0..whole.trim_ascii_end().len() {
        fs::write(&path, &whole[..kept]).unwrap();
        let error = planned(table.path(), &[], all).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{kept}: {error}");
        assert!(has(&error, &Frame::Snapshot(2)), "{error}");
    }
}

#[test]
fn snapshot_of_another_number_is_corrupt() {
    let table = copy(TABLE);
    let directory = table.path().join("snapshot");
    fs::copy(directory.join("snapshot-1"), directory.join("snapshot-2")).unwrap();
    let error = planned(table.path(), &[], all).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert_eq!(error.message(), "snapshot has id 1, its file name says 2");
    assert!(has(&error, &Frame::Snapshot(2)), "{error}");
}

#[test]
fn torn_schema_is_corrupt_at_any_length() {
    let table = copy(TABLE);
    let path = table.path().join("schema/schema-0");
    let whole = fs::read(&path).unwrap();
    for kept in (0..whole.trim_ascii_end().len()).step_by(5) {
        fs::write(&path, &whole[..kept]).unwrap();
        let error = planned(table.path(), &[], all).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{kept}: {error}");
        assert!(has(&error, &Frame::Schema(0)), "{error}");
    }
}

#[test]
fn manifest_of_another_format_is_refused_by_name() {
    for content in [&b"ORC\x0a\x03 something else ORC"[..], b"PAR1 else PAR1"] {
        let table = copy("lab_r_one");
        let mut manifests = files(&table.path().join("manifest"), "manifest-");
        manifests.retain(|path| !path.to_str().unwrap().contains("manifest-list"));
        let name = manifests[0].file_name().unwrap().to_str().unwrap();
        fs::write(&manifests[0], content).unwrap();
        let error = planned(table.path(), &[], all).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert!(has(&error, &Frame::Manifest(name.to_owned())), "{error}");
    }
}

#[test]
fn unknown_value_of_an_option_that_changes_rows_is_invalid_input() {
    let options = [
        "merge-engine",
        "changelog-producer",
        "deletion-vectors.enabled",
        "deletion-vectors.merge-on-read",
        "bucket",
        "bucket-function.type",
        "scan.mode",
        "scan.snapshot-id",
        "scan.timestamp-millis",
        "scan.bucket",
        "source.split.target-size",
        "source.split.open-file-cost",
    ];
    for option in options {
        // A condition on the whole key, so that buckets are pruned too.
        let request = |table: &paimon_meta::ResolvedTable| {
            let key = table.schema.field("k").unwrap();
            ScanRequest {
                predicate: Some(Predicate::eq(
                    key.id,
                    key.data_type.clone(),
                    Datum::BigInt(1),
                )),
                ..ScanRequest::default()
            }
        };
        let read = planned(&golden(TABLE), &[(option, "sideways")], request);
        let error = read.map(drop).expect_err(option);
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
        assert!(error.message().contains("sideways"), "{error}");
        assert!(has(&error, &Frame::Option(option.to_owned())), "{error}");
    }
}

#[test]
fn condition_that_does_not_fit_the_table_is_invalid_input() {
    let table = resolve(&golden(TABLE), &ResolveRequest::default()).unwrap();
    let key = table.schema.field("k").unwrap();
    let conditions = [
        // No such column.
        Predicate::is_null(FieldId(77), TypeKind::Int.nullable()),
        // A literal of another type than the column says.
        Predicate::eq(key.id, key.data_type.clone(), Datum::Int(1)),
        // Another type than the column has.
        Predicate::eq(
            key.id,
            TypeKind::VarChar(9).not_null(),
            Datum::String("1".to_owned()),
        ),
    ];
    for condition in conditions {
        let request = ScanRequest {
            predicate: Some(condition.clone()),
            ..ScanRequest::default()
        };
        let error = run(plan(&Resources::local(), &table, &request)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{condition:?}");
    }
}

#[test]
fn file_is_no_table() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "no table").unwrap();
    let location = file.to_str().unwrap();
    let request = ResolveRequest::default();
    let error = run(Table::resolve(&Resources::local(), location, &request)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[test]
fn list_that_was_cut_between_blocks_is_corrupt() {
    // TF-3: an Avro file without its last block is whole; the snapshot knows how long it was.
    let table = copy(TABLE);
    let text = fs::read_to_string(table.path().join("snapshot/snapshot-2")).unwrap();
    let snapshot: serde_json::Value = serde_json::from_str(&text).unwrap();
    for list in ["baseManifestList", "deltaManifestList"] {
        let name = snapshot[list].as_str().unwrap();
        let path = table.path().join("manifest").join(name);
        let whole = fs::read(&path).unwrap();
        assert_eq!(snapshot[format!("{list}Size")], whole.len());
        // Magic and metadata end with the first sync marker, which also ends the file.
        let marker = &whole[whole.len() - 16..];
        let header = whole.windows(16).position(|bytes| bytes == marker).unwrap() + 16;
        fs::write(&path, &whole[..header]).unwrap();
        let error = planned(table.path(), &[], all).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(
            has(&error, &Frame::ManifestList(name.to_owned())),
            "{error}"
        );
        fs::write(&path, whole).unwrap();
    }
}
