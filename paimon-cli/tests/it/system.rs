use std::fs;
use std::path::Path;

use crate::command::{golden, run};
use crate::damage::copy;

fn system(case: &str, name: &str) -> String {
    format!("{}${name}", golden(case))
}

#[test]
fn metadata_tables_are_read_like_tables() {
    // RP-656
    let files = system("plan_sys_pk_tables", "files");
    let columns = ["--columns", "partition,level,min_key,max_value_stats"];
    let asked = |more: &[&str]| {
        let arguments = ["scan", &files].into_iter().chain(columns);
        run(&arguments.chain(more.iter().copied()).collect::<Vec<_>>()).ok()
    };
    let compacted = "{\"partition\":\"{a}\",\"level\":5,\"min_key\":\"[1]\",\"max_value_stats\":\"{k=2, n=9, p=a, v=y}\"}\n";
    assert_eq!(asked(&["--where", "level = 5"]), compacted);
    assert_eq!(asked(&[]).lines().count(), 2);
    assert_eq!(asked(&["--limit", "1"]).lines().count(), 1);
    let csv = asked(&["--format", "csv", "--where", "bucket = 7"]);
    assert_eq!(csv, "partition,level,min_key,max_value_stats\n");
    let table = asked(&["--format", "table"]);
    assert!(table.ends_with("2 rows\n"), "{table}");
    assert_eq!(
        run(&["count", &files, "--where", "level = 5"])
            .ok()
            .lines()
            .next(),
        Some("1")
    );
    let kinds = run(&["scan", &files, "--rowkind", "--columns", "level"]).ok();
    assert!(
        kinds
            .lines()
            .all(|line| line.starts_with("{\"rowkind\":\"+I\",")),
        "{kinds}"
    );
}

#[test]
fn state_flags_choose_the_snapshot_of_metadata_tables() {
    let manifests = system("plan_sys_pk_tables", "manifests");
    let now = run(&["count", &manifests]).ok();
    let then = run(&["count", &manifests, "--snapshot", "1"]).ok();
    assert_eq!(
        (now.lines().next(), then.lines().next()),
        (Some("4"), Some("1"))
    );
}

#[test]
fn read_optimized_shows_the_top_level_alone() {
    // RP-652
    let rows = run(&[
        "scan",
        &system("plan_sys_pk_tables", "ro"),
        "--columns",
        "k",
    ])
    .ok();
    assert_eq!(rows, "{\"k\":1}\n{\"k\":2}\n");
}

#[test]
fn audit_log_shows_deletes_and_takes_conditions_on_kinds() {
    // RP-650, RP-651
    let audit = system("lab_r_delete", "audit_log");
    let deleted = run(&[
        "scan",
        &audit,
        "--where",
        "rowkind = '-D' AND k < 9",
        "--columns",
        "k,rowkind",
    ]);
    assert_eq!(deleted.ok(), "{\"k\":5,\"rowkind\":\"-D\"}\n");
    let counted = |condition| run(&["count", &audit, "--where", condition]).ok();
    assert!(counted("rowkind = '-D'").starts_with("1\n"));
    let binlog = run(&[
        "scan",
        &system("lab_r_delete", "binlog"),
        "--where",
        "rowkind = '-D'",
    ]);
    assert_eq!(
        binlog.ok(),
        "{\"rowkind\":\"-D\",\"k\":[5],\"v\":[\"a\"]}\n"
    );
}

#[test]
fn audit_log_of_a_stream_names_the_kind_once() {
    // RP-650
    let audit = system("plan_stream_and_incremental_none", "audit_log");
    let rows = run(&["scan", &audit, "--stream"]).ok();
    assert!(!rows.is_empty());
    for row in rows.lines() {
        assert_eq!(row.matches("\"rowkind\"").count(), 1, "{row}");
    }
    let files = system("plan_stream_and_incremental_none", "files");
    let (code, text) = run(&["scan", &files, "--stream"]).failed();
    assert_eq!(code, 2, "{text}");
    assert!(text.starts_with("error: $files is no stream"), "{text}");
}

#[test]
fn binlog_of_a_diff_is_read() {
    // RP-653: the reference fails.
    let binlog = system("plan_stream_and_incremental_none", "binlog");
    let rows = run(&["scan", &binlog, "--option", "incremental-between=t1,t2"]).ok();
    assert!(rows.starts_with("{\"rowkind\":\"+"), "{rows}");
    let audit = system("plan_stream_and_incremental_none", "audit_log");
    let audited = run(&["scan", &audit, "--option", "incremental-between=t1,t2"]).ok();
    assert_eq!(rows.lines().count(), audited.lines().count());
}

#[test]
fn metadata_does_not_ask_what_a_fallback_branch_has() {
    // RP-537: the branch has no such snapshot.
    let copied = copy("plan_fallback_branch");
    let branch = copied.path().join("branch/branch-old/snapshot");
    fs::remove_dir_all(branch).unwrap();
    let table = copied.path().to_str().unwrap();
    let shown = run(&["scan", &format!("{table}$manifests"), "--snapshot", "1"]);
    assert!(!shown.ok().is_empty());
    let (code, text) = run(&["scan", table, "--snapshot", "1"]).failed();
    assert_eq!(code, 1, "{text}");
}

#[test]
fn unknown_system_tables_list_those_there_are() {
    let (code, text) = run(&["scan", &system("lab_r_one", "nonsense")]).failed();
    assert_eq!(code, 1, "{text}");
    assert!(
        text.contains("no system table $nonsense, there are $snapshots, $schemas,"),
        "{text}"
    );
    let (code, text) = run(&["plan", &system("lab_r_one", "files")]).failed();
    assert_eq!(code, 3, "{text}");
    let files = system("lab_r_one", "files");
    for wrong in [&["scan", &files, "--bucket", "1"][..], &["info", &files]] {
        let (code, text) = run(wrong).failed();
        assert_eq!(code, 2, "{wrong:?}: {text}");
    }
}

#[test]
fn a_warehouse_lists_databases_and_tables() {
    let warehouse = tempfile::tempdir().unwrap();
    let make = |path: &str| {
        let path = warehouse.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "{}").unwrap();
    };
    make("b.db/t/schema/schema-0");
    make("b.db/a/schema/schema-0");
    make("c.db/notes/readme");
    let list = |path: &Path, format| run(&["ls", path.to_str().unwrap(), "--format", format]);
    assert_eq!(
        list(warehouse.path(), "text").ok(),
        "b.a\nb.t\nc (no tables)\n"
    );
    let database = warehouse.path().join("b.db");
    let json = "{\"database\":\"b\",\"tables\":[\"a\",\"t\"]}\n";
    assert_eq!(list(&database, "json").ok(), json);
    for missing in [
        warehouse.path().join("nowhere"),
        database.join("t"),
        warehouse.path().join("z.db"),
    ] {
        let (code, text) = list(&missing, "text").failed();
        assert_eq!(code, 1, "{text}");
    }
}
