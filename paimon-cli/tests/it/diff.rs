use crate::command::{golden, run};

#[test]
fn rows_that_changed_come_with_their_kinds() {
    let table = golden("plan_stream_and_incremental_none");
    let rows = run(&[
        "diff", &table, "--from", "1", "--to", "2", "--format", "csv",
    ]);
    assert_eq!(rows.ok(), "rowkind,k,v\n-U,1,a\n+U,1,a2\n-D,2,b\n");
    let back = run(&[
        "diff",
        &table,
        "--from",
        "2",
        "--to",
        "1",
        "--where",
        "k > 1",
        "--columns",
        "v",
        "--limit",
        "1",
    ]);
    assert_eq!(back.ok(), "{\"rowkind\":\"+I\",\"v\":\"b\"}\n");
}

#[test]
fn a_state_is_a_tag_an_id_or_a_time_and_the_latest_without() {
    let table = golden("plan_tt_choices");
    let rows = |from: &str, to: &[&str]| run(&[&["diff", &table, "--from", from], to].concat());
    assert_eq!(rows("1", &["--to", "1"]).ok(), "");
    let latest = rows("1", &[]).ok();
    assert!(!latest.is_empty());
    assert_eq!(rows("1", &["--to", "2999-01-01 00:00:00"]).ok(), latest);
    let (code, error) = rows("nothing", &[]).failed();
    assert_eq!(code, 1, "{error}");
    assert!(error.contains("version \"nothing\" is no tag"), "{error}");
}

#[test]
fn a_table_shows_how_many_rows_there_are() {
    let table = golden("plan_stream_and_incremental_none");
    let text = run(&[
        "diff", &table, "--from", "1", "--to", "2", "--format", "table",
    ])
    .ok();
    assert!(text.ends_with("-D       2  b\n3 rows\n"), "{text}");
    let (code, error) = run(&["diff", &format!("{table}$audit_log"), "--from", "1"]).failed();
    assert_eq!(code, 2, "{error}");
}
