//! Damaged tables: each is an error that names file and field, never fewer rows (issue section "bad input").

use std::fs;
use std::path::Path;

use paimon_meta::{Error, ErrorKind, Frame};
use paimon_plan::ScanRequest;

use super::tables::{copy, files, planned};

fn error(table: &Path) -> Error {
    planned(table, &[], |_| ScanRequest::default()).unwrap_err()
}

/// The frames of an error as text, from the table inwards.
fn frames(error: &Error) -> Vec<String> {
    let frames = error
        .frames()
        .skip_while(|frame| matches!(frame, Frame::Table(_)));
    frames.map(ToString::to_string).collect()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

fn truncate(path: &Path, keep: impl FnOnce(usize) -> usize) {
    let content = fs::read(path).unwrap();
    fs::write(path, &content[..keep(content.len())]).unwrap();
}

/// The only manifest that is no list.
fn manifest(table: &Path) -> std::path::PathBuf {
    let mut manifests = files(&table.join("manifest"), "manifest-");
    manifests.retain(|path| !name(path).contains("list"));
    manifests.remove(0)
}

#[test]
fn manifest_that_is_cut_short_is_corrupt() {
    let table = copy("lab_r_one");
    let manifest = manifest(table.path());
    for keep in [0, 3, 100, 400] {
        let whole = fs::read(&manifest).unwrap();
        truncate(&manifest, |length| length * keep / 500);
        let error = error(table.path());
        assert!(
            matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported),
            "{error}"
        );
        let frames = frames(&error);
        assert_eq!(frames[0], "snapshot 1");
        assert!(
            frames[1].starts_with("manifest list manifest-list-"),
            "{error}"
        );
        assert_eq!(frames[2], format!("manifest {}", name(&manifest)));
        fs::write(&manifest, whole).unwrap();
    }
}

#[test]
fn manifest_with_other_entries_than_its_list_says_is_corrupt() {
    // A manifest that lost whole blocks is a valid file with fewer entries.
    let (table, other) = (copy("lab_r_one"), copy("plan_many_partitions_buckets"));
    let target = manifest(table.path());
    fs::copy(manifest(other.path()), &target).unwrap();
    let error = error(table.path());
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.message().contains("its list says 1 and 0"), "{error}");
    assert_eq!(
        frames(&error).last().unwrap(),
        &format!("manifest {}", name(&target))
    );
}

#[test]
fn missing_metadata_files_are_not_found_by_their_path() {
    for prefix in ["manifest-list-", "manifest-"] {
        let table = copy("lab_r_one");
        for path in files(&table.path().join("manifest"), prefix) {
            fs::remove_file(path).unwrap();
        }
        let error = error(table.path());
        assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
        assert!(error.to_string().contains("/manifest/manifest-"), "{error}");
    }
}

#[test]
fn manifest_list_of_another_format_is_refused() {
    let table = copy("lab_r_one");
    for path in files(&table.path().join("manifest"), "manifest-list-") {
        fs::write(path, b"PAR1 something else PAR1").unwrap();
    }
    let error = error(table.path());
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(
        frames(&error)[1].starts_with("manifest list manifest-list-"),
        "{error}"
    );
}

#[test]
fn missing_schema_of_a_data_file_names_file_and_schema() {
    // TF-099
    let table = copy("plan_tt_schema_of_snapshot");
    fs::remove_file(table.path().join("schema/schema-0")).unwrap();
    let error = error(table.path());
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let frames = frames(&error);
    assert!(frames.contains(&"schema 0".to_owned()), "{error}");
    assert!(
        frames.iter().any(|frame| frame.starts_with("file data-")),
        "{error}"
    );
}

#[test]
fn names_that_lead_out_of_the_table_are_corrupt() {
    let table = copy("lab_r_one");
    let snapshot = table.path().join("snapshot/snapshot-1");
    let text = fs::read_to_string(&snapshot).unwrap();
    let list = text
        .split('"')
        .find(|part| part.ends_with("-1") && part.starts_with("manifest-list"))
        .unwrap();
    fs::write(&snapshot, text.replace(list, "../../etc/passwd")).unwrap();
    let error = error(table.path());
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.message().contains("../../etc/passwd"), "{error}");
}

#[test]
fn unreadable_hints_are_answered_by_listing() {
    let table = copy("lab_r_overlap");
    let splits = || {
        planned(table.path(), &[], |_| ScanRequest::default())
            .unwrap()
            .snapshot_id()
    };
    for content in ["", "x", "1"] {
        fs::write(table.path().join("snapshot/LATEST"), content).unwrap();
        assert_eq!(splits(), Some(2), "{content:?}");
    }
    fs::remove_file(table.path().join("snapshot/LATEST")).unwrap();
    assert_eq!(splits(), Some(2));
    fs::write(table.path().join("snapshot/LATEST"), "9").unwrap();
    assert_eq!(error(table.path()).kind(), ErrorKind::Corrupt);
}

#[test]
fn random_damage_is_an_error_or_the_whole_plan() {
    let table = copy("lab_r_overlap");
    let whole = planned(table.path(), &[], |_| ScanRequest::default()).unwrap();
    for path in files(&table.path().join("manifest"), "manifest-") {
        let content = fs::read(&path).unwrap();
        for position in (0..content.len()).step_by(7) {
            let mut damaged = content.clone();
            damaged[position] ^= 0x15;
            fs::write(&path, damaged).unwrap();
            if let Ok(plan) = planned(table.path(), &[], |_| ScanRequest::default()) {
                assert_eq!(
                    plan.files().len(),
                    whole.files().len(),
                    "{} byte {position}",
                    path.display()
                );
            }
        }
        fs::write(&path, content).unwrap();
    }
}
