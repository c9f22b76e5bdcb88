use paimon_meta::ErrorKind;

use super::*;
use crate::testing::{ROOT, resources, run};

/// A schema with the column `k` and a column more per id, and some options.
fn schema(id: i64, options: &str) -> (&'static str, String) {
    let name =
        ["schema/schema-0", "schema/schema-1", "schema/schema-2"][usize::try_from(id).unwrap()];
    let more: String = (1..=id)
        .map(|n| format!(r#",{{"id":{n},"name":"c{n}","type":"INT"}}"#))
        .collect();
    let text = format!(
        r#"{{"version":3,"id":{id},"fields":[{{"id":0,"name":"k","type":"INT NOT NULL"}}{more}],"highestFieldId":{id},
        "partitionKeys":[],"primaryKeys":["k"],"options":{{"bucket":"1"{options}}}}}"#
    );
    (name, text)
}

fn snapshot(name: &'static str, id: i64, schema_id: i64) -> (&'static str, String) {
    let text = format!(
        r#"{{"version":3,"id":{id},"schemaId":{schema_id},"baseManifestList":"b","deltaManifestList":"d",
        "commitUser":"u","commitIdentifier":1,"commitKind":"APPEND","timeMillis":{}}}"#,
        id * 1000
    );
    (name, text)
}

fn table() -> Vec<(&'static str, String)> {
    vec![
        schema(0, ""),
        schema(1, r#","read.batch-size":"7""#),
        schema(2, r#","read.batch-size":"7""#),
        snapshot("snapshot/snapshot-1", 1, 0),
        snapshot("snapshot/snapshot-2", 2, 1),
    ]
}

fn resolved(
    files: &[(&'static str, String)],
    options: &[(&str, Option<&str>)],
) -> Result<ResolvedTable> {
    let resources = resources(files.iter().map(|(name, text)| (*name, text.clone())));
    let options = options
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.map(str::to_owned)));
    let request = ResolveRequest {
        options: options.collect(),
        ..ResolveRequest::default()
    };
    run(Table::resolve(&resources, ROOT, &request))
}

#[test]
fn latest_schema_may_be_newer_than_the_snapshot() {
    // RP-533, TF-010
    let table = resolved(&table(), &[]).unwrap();
    assert_eq!(
        (table.schema.id, table.snapshot.map(|snapshot| snapshot.id)),
        (2, Some(2))
    );
    assert_eq!(table.schemas.keys().copied().collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn a_snapshot_is_not_read_with_an_older_schema_than_its_own() {
    // TF-010: a listing may lag behind.
    let files: Vec<_> = table()
        .into_iter()
        .filter(|(name, _)| *name != "schema/schema-2")
        .collect();
    assert_eq!(resolved(&files, &[]).unwrap().schema.id, 1);
    let files: Vec<_> = files
        .into_iter()
        .filter(|(name, _)| *name != "schema/schema-1")
        .collect();
    let error = resolved(&files, &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("[table"), "{error}");
    assert!(
        error.to_string().ends_with("snapshot 2 > schema 1]"),
        "{error}"
    );
}

#[test]
fn time_travel_takes_the_schema_of_its_snapshot_and_the_options_of_the_latest() {
    // RP-013, RP-532, TF-011
    for option in [
        ("scan.snapshot-id", "1"),
        ("scan.timestamp-millis", "1500"),
        ("scan.version", "1"),
    ] {
        let table = resolved(&table(), &[(option.0, Some(option.1))]).unwrap();
        assert_eq!(table.schema.id, 0, "{option:?}");
        assert_eq!(table.options.get("read.batch-size"), Some("7"));
    }
    let compacted = resolved(&table(), &[("scan.mode", Some("compacted-full"))]).unwrap();
    assert_eq!(compacted.schema.id, 2);
}

#[test]
fn options_of_the_read_lie_over_those_of_the_table() {
    // RP-012
    let table = resolved(
        &table(),
        &[("bucket", Some("4")), ("read.batch-size", None)],
    )
    .unwrap();
    assert_eq!(
        (
            table.options.get("bucket"),
            table.options.get("read.batch-size")
        ),
        (Some("4"), None)
    );
}

#[test]
fn start_after_a_commit_that_is_not_there_keeps_files_by_creation_time() {
    // RP-021
    let since = |millis| {
        let table = resolved(&table(), &[("scan.creation-time-millis", Some(millis))]).unwrap();
        (
            table.snapshot.unwrap().id,
            table
                .options
                .get("scan.file-creation-time-millis")
                .map(str::to_owned),
        )
    };
    assert_eq!(since("1001"), (2, None));
    assert_eq!(since("1000"), (2, Some("1000".to_owned())));
}

#[test]
fn what_is_no_table_is_not_found_and_says_so() {
    let nothing = resolved(&[], &[]).unwrap_err();
    assert_eq!(nothing.kind(), ErrorKind::NotFound);
    assert_eq!(nothing.message(), "there is nothing at memory://test/table");
    let other = resolved(&[("data/x.csv", String::new())], &[]).unwrap_err();
    assert_eq!(other.kind(), ErrorKind::NotFound);
    assert!(
        other
            .message()
            .starts_with("memory://test/table is no Paimon table"),
        "{other}"
    );
}

#[test]
fn missing_branches_are_not_found_and_named_with_those_there_are() {
    // RP-010
    let mut files = table();
    files.push(("branch/branch-dev/schema/schema-0", schema(0, "").1));
    files.push(("branch/branch-old/schema/schema-0", schema(0, "").1));
    let error = resolved(&files, &[("branch", Some("nope"))]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(
        error.message(),
        "branch \"nope\" does not exist, the table has branches dev, old"
    );
    let none = resolved(&table(), &[("branch", Some("nope"))]).unwrap_err();
    assert!(none.message().ends_with("the table has no branches"));
    assert!(resolved(&table(), &[("branch", Some(" main"))]).is_ok());
}

#[test]
fn branches_have_schemas_and_snapshots_of_their_own() {
    // RP-010, TF-009
    let mut files = table();
    files.push(("branch/branch-dev/schema/schema-0", schema(0, "").1));
    files.push((
        "branch/branch-dev/snapshot/snapshot-7",
        snapshot("", 7, 0).1,
    ));
    let table = resolved(&files, &[("branch", Some("dev"))]).unwrap();
    assert_eq!(
        (
            table.branch.as_str(),
            table.schema.id,
            table.snapshot.unwrap().id
        ),
        ("dev", 0, 7)
    );
    // The option of the table itself counts as well, unless the read has another.
    files[2] = schema(2, r#","branch":"dev""#);
    assert_eq!(resolved(&files, &[]).unwrap().branch, "dev");
    assert_eq!(
        resolved(&files, &[("branch", None)]).unwrap().branch,
        "main"
    );
}

#[test]
fn fallback_branch_is_resolved_at_the_time_of_the_table() {
    // RP-537
    let mut files = table();
    for id in [3, 4] {
        let name = [
            "branch/branch-old/snapshot/snapshot-3",
            "branch/branch-old/snapshot/snapshot-4",
        ];
        let (_, text) = snapshot("", id, 2);
        let time = format!("\"timeMillis\":{}", (id - 3) * 1500);
        let text = text.replace(&format!("\"timeMillis\":{}", id * 1000), &time);
        files.push((name[usize::try_from(id - 3).unwrap()], text));
    }
    files.push(("branch/branch-old/schema/schema-2", schema(2, "").1));
    let fallback = ("scan.fallback-branch", Some("old"));
    let at = |options: &[(&str, Option<&str>)]| {
        let table = resolved(&files, options).unwrap();
        table
            .fallback
            .map(|table| (table.branch, table.snapshot.unwrap().id))
    };
    assert_eq!(at(&[]), None);
    assert_eq!(at(&[fallback]), Some(("old".to_owned(), 4)));
    // Snapshot 1 of the table was committed at 1000, when the branch was at 3.
    let error = resolved(&files, &[fallback, ("scan.snapshot-id", Some("1"))]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
    let error = resolved(&files, &[("scan.fallback-branch", Some("none"))]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.message().contains(r#"branch "none""#), "{error}");
    // That of the table itself is passed over.
    let schema = schema(2, r#","scan.fallback-branch":"none""#).1;
    for file in files
        .iter_mut()
        .filter(|(name, _)| *name == "schema/schema-2")
    {
        file.1.clone_from(&schema);
    }
    assert!(resolved(&files, &[]).unwrap().fallback.is_none());
}

#[test]
fn incremental_reads_name_what_there_is() {
    // RP-152
    let range = |text| resolved(&table(), &[("incremental-between", Some(text))]);
    let changes = |text| range(text).unwrap().changes;
    assert_eq!(
        changes("0,2"),
        Some(paimon_meta::ChangeRange::Files {
            after: 0,
            files: paimon_meta::ChangeFiles::Delta
        })
    );
    assert_eq!(changes("2,2"), Some(paimon_meta::ChangeRange::Nothing));
    let gone = range("0,9").unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::NotFound);
    assert!(
        gone.message().ends_with("the table has snapshots 1 to 2"),
        "{gone}"
    );
    let tags = range("a,2").unwrap_err();
    let said = "the table has no tags and the table has snapshots 1 to 2";
    assert!(tags.message().ends_with(said), "{tags}");
    assert_eq!(range("2,1").unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[test]
fn faults_name_table_and_schema() {
    let mut files = table();
    files[1].1.truncate(30);
    let torn = resolved(&files, &[]).unwrap_err();
    assert_eq!(torn.kind(), ErrorKind::Corrupt);
    assert_eq!(
        torn.frames().take(2).collect::<Vec<_>>(),
        [&Frame::Table(ROOT.to_owned()), &Frame::Schema(1)]
    );

    files[1].1 = schema(2, "").1;
    assert!(
        resolved(&files, &[])
            .unwrap_err()
            .message()
            .contains("its file name says 1")
    );

    let without = [schema(2, ""), snapshot("snapshot/snapshot-1", 1, 0)];
    let missing = resolved(&without, &[("scan.snapshot-id", Some("1"))]).unwrap_err();
    assert_eq!(missing.message(), "schema 0 of the snapshot does not exist");
}
