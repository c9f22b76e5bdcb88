use paimon_meta::ErrorKind;

use super::*;
use crate::testing::{ROOT, resources, run};

/// A snapshot file: commit time 1000 times the id, with the watermark if there is one.
fn snapshot(id: i64, kind: &str, watermark: Option<i64>) -> (String, String) {
    let watermark = watermark.map_or_else(String::new, |mark| format!(r#","watermark":{mark}"#));
    let text = format!(
        r#"{{"version":3,"id":{id},"schemaId":0,"baseManifestList":"b","deltaManifestList":"d","commitUser":"u",
        "commitIdentifier":{id},"commitKind":"{kind}","timeMillis":{}{watermark}}}"#,
        id * 1000
    );
    (format!("snapshot/snapshot-{id}"), text)
}

fn appends(ids: &[i64]) -> Vec<(String, String)> {
    ids.iter().map(|id| snapshot(*id, "APPEND", None)).collect()
}

fn hint(name: &str, text: &str) -> (String, String) {
    (format!("snapshot/{name}"), text.to_owned())
}

fn find(files: &[(String, String)], travel: &Travel) -> Result<Option<i64>> {
    let resources = resources(
        files
            .iter()
            .map(|(name, text)| (name.as_str(), text.clone())),
    );
    let found =
        run(History::new(&resources, ROOT, &BranchPaths::new("main").unwrap()).find(travel))?;
    Ok(found.snapshot.map(|snapshot| snapshot.id))
}

fn latest(files: &[(String, String)], extra: &[(String, String)]) -> Result<Option<i64>> {
    find(&[files, extra].concat(), &Travel::Latest)
}

#[test]
fn latest_is_the_hint_or_else_the_largest_listed() {
    let files = appends(&[1, 2, 3]);
    assert_eq!(latest(&files, &[]).unwrap(), Some(3)); // TF-001
    assert_eq!(latest(&files, &[hint("LATEST", "3")]).unwrap(), Some(3));
    assert_eq!(latest(&files, &[hint("LATEST", "2")]).unwrap(), Some(3)); // TF-002
    for unusable in ["", "x", "0", "-4", "3 ", "99999999999999999999"] {
        assert_eq!(
            latest(&files, &[hint("LATEST", unusable)]).unwrap(),
            Some(3),
            "{unusable:?}"
        ); // TF-004
    }
    assert_eq!(latest(&files, &[hint("LATEST", "3\r\n")]).unwrap(), Some(3)); // TF-006
    assert_eq!(latest(&[], &[]).unwrap(), None); // RP-026
}

#[test]
fn latest_hint_is_believed_without_listing() {
    // RP-022: snapshot 9 exists, but the hint and the missing snapshot 3 say that 2 is the latest.
    assert_eq!(
        latest(&appends(&[1, 2, 9]), &[hint("LATEST", "2")]).unwrap(),
        Some(2)
    );
}

#[test]
fn hint_far_behind_expired_snapshots_is_answered_by_listing() {
    // TF-003
    assert_eq!(
        latest(&appends(&[8, 9]), &[hint("LATEST", "2")]).unwrap(),
        Some(9)
    );
}

#[test]
fn hint_above_every_snapshot_is_an_error_that_names_both() {
    // TF-003
    let error = latest(&appends(&[1, 2]), &[hint("LATEST", "9")]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert_eq!(
        error.message(),
        "file LATEST names snapshot-9, the latest there is 2"
    );
    assert_eq!(
        latest(&[], &[hint("LATEST", "1")]).unwrap_err().kind(),
        ErrorKind::Corrupt
    );
}

#[test]
fn names_that_are_no_snapshot_are_ignored() {
    // TF-007
    let strange = [
        "snapshot-1f3c.tmp",
        ".snapshot-7.x.tmp",
        "snapshot-",
        "snapshot-+8",
        "other-9",
    ];
    let extra: Vec<_> = strange.iter().map(|name| hint(name, "{}")).collect();
    assert_eq!(latest(&appends(&[1, 2]), &extra).unwrap(), Some(2));
}

#[test]
fn torn_snapshot_is_corrupt_and_names_its_file() {
    // TF-008
    let (name, text) = snapshot(1, "APPEND", None);
    let error = find(&[(name, text[..40].to_owned())], &Travel::Latest).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let frames: Vec<String> = error.frames().map(ToString::to_string).collect();
    assert_eq!(
        frames,
        ["snapshot 1", "file memory://test/table/snapshot/snapshot-1"]
    );
}

#[test]
fn missing_id_is_not_found_and_lists_what_there_is() {
    let error = find(&appends(&[1, 2, 3, 7]), &Travel::SnapshotId(5)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(
        error.message(),
        "snapshot 5 does not exist, the table has snapshots 1 to 3, 7"
    ); // RP-536
    assert_eq!(
        find(&appends(&[1, 2, 3, 7]), &Travel::SnapshotId(7)).unwrap(),
        Some(7)
    );
}

fn tagged(ids: &[i64], tags: &[(&str, i64)]) -> Vec<(String, String)> {
    let tag =
        |(name, id): &(&str, i64)| (format!("tag/tag-{name}"), snapshot(*id, "APPEND", None).1);
    appends(ids)
        .into_iter()
        .chain(tags.iter().map(tag))
        .collect()
}

#[test]
fn tag_outlives_its_snapshot() {
    // RP-528
    let files = tagged(&[4], &[("old", 1), ("7", 4)]);
    assert_eq!(
        find(&files, &Travel::Tag("old".to_owned())).unwrap(),
        Some(1)
    );
    let error = find(&files, &Travel::Tag("nope".to_owned())).unwrap_err();
    assert_eq!(
        error.message(),
        r#"tag "nope" does not exist, the table has tags 7, old"#
    );
    let error = find(&files, &Travel::Tag("../tag/tag-old".to_owned())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[test]
fn version_is_a_tag_before_it_is_an_id() {
    // RP-014. The reference reads the latest snapshot where no number follows `watermark-`: a mistake that nobody sees.
    let mut files = tagged(&[1, 2, 3], &[("2", 3)]);
    files[1] = snapshot(2, "APPEND", Some(1500));
    let version = |name: &str| find(&files, &Travel::Version(name.to_owned()));
    assert_eq!(version("2").unwrap(), Some(3));
    assert_eq!(version("1").unwrap(), Some(1));
    assert_eq!(version("watermark-1500").unwrap(), Some(2));
    for unknown in ["nothing", "", "watermark-x", "-1"] {
        assert_eq!(
            version(unknown).unwrap_err().kind(),
            ErrorKind::NotFound,
            "{unknown:?}"
        );
    }
}

#[test]
fn timestamp_picks_the_last_commit_up_to_it() {
    // RP-530, RP-531
    let at = |millis| find(&appends(&[1, 2, 3]), &Travel::Timestamp(millis));
    assert_eq!(at(2000).unwrap(), Some(2));
    assert_eq!(at(1999).unwrap(), Some(1));
    assert_eq!(at(99_000).unwrap(), Some(3));
    assert_eq!(
        at(999).unwrap_err().message(),
        "no snapshot at 1970-01-01 00:00:00.999Z (999), the earliest is 1, committed at 1970-01-01 00:00:01Z (1000)"
    );
    assert_eq!(
        find(&[], &Travel::Timestamp(1)).unwrap_err().kind(),
        ErrorKind::NotFound
    );
}

#[test]
fn earliest_hint_that_exists_hides_older_snapshots_from_times_but_not_from_ids() {
    // TF-005, RP-022
    let files = [appends(&[1, 2, 3]), vec![hint("EARLIEST", "2")]].concat();
    assert_eq!(
        find(&files, &Travel::Timestamp(1500)).unwrap_err().kind(),
        ErrorKind::NotFound
    );
    assert_eq!(find(&files, &Travel::SnapshotId(1)).unwrap(), Some(1));
    let stale = [appends(&[2, 3]), vec![hint("EARLIEST", "1")]].concat();
    assert_eq!(find(&stale, &Travel::Timestamp(2500)).unwrap(), Some(2));
}

#[test]
fn snapshot_without_watermark_takes_the_place_of_the_one_before() {
    // RP-025, TF-034
    let marks = [None, Some(1000), Some(i64::MIN), Some(5000), None];
    let files: Vec<_> = (1..)
        .zip(marks)
        .map(|(id, mark)| snapshot(id, "APPEND", mark))
        .collect();
    let at = |mark| find(&files, &Travel::Watermark(mark));
    assert_eq!(at(-5).unwrap(), Some(2));
    assert_eq!(at(1000).unwrap(), Some(2));
    assert_eq!(at(1001).unwrap(), Some(4));
    assert!(
        at(5001)
            .unwrap_err()
            .message()
            .ends_with("the latest watermark is 5000")
    );
    let none = find(&appends(&[1]), &Travel::Watermark(1)).unwrap_err();
    assert!(none.message().ends_with("there are no watermarks"));
}

#[test]
fn compacted_is_the_newest_compaction_else_the_latest() {
    // RP-021
    let kinds = ["APPEND", "COMPACT", "APPEND", "COMPACT", "APPEND"];
    let files: Vec<_> = (1..)
        .zip(kinds)
        .map(|(id, kind)| snapshot(id, kind, None))
        .collect();
    assert_eq!(find(&files, &Travel::Compacted(None)).unwrap(), Some(4));
    assert_eq!(find(&files, &Travel::Compacted(Some(4))).unwrap(), Some(4));
    assert_eq!(find(&files, &Travel::Compacted(Some(3))).unwrap(), Some(5));
    assert_eq!(find(&[], &Travel::Compacted(None)).unwrap(), None);
}

#[test]
fn creation_time_starts_after_what_was_committed_before() {
    // RP-021
    let resources = resources([]);
    let nothing = run(
        History::new(&resources, ROOT, &BranchPaths::new("main").unwrap())
            .find(&Travel::Creation(5)),
    )
    .unwrap();
    assert_eq!(
        nothing,
        Found {
            snapshot: None,
            created_since: Some(5),
            changes: None,
        }
    );

    let files = appends(&[1, 2, 3]);
    assert_eq!(find(&files, &Travel::Creation(1001)).unwrap(), Some(2));
    assert_eq!(find(&files, &Travel::Creation(1000)).unwrap(), Some(3)); // none before: files by creation time
    assert_eq!(find(&files, &Travel::Creation(3001)).unwrap(), Some(3)); // none after: likewise
}
