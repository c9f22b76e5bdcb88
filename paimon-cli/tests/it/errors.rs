use crate::command::{golden, run};
use crate::damage::{copy, last_file};

fn failed(arguments: &[&str]) -> (i32, String) {
    run(arguments).failed()
}

#[test]
fn wrong_usage_exits_with_2() {
    let table = golden("lab_r_one");
    let cases: [&[&str]; 14] = [
        &[],
        &["scan"],
        &["shred", &table],
        &["scan", &table, "--limit", "many"],
        &["scan", &table, "--limit", "-1"],
        &["scan", &table, "--format", "xml"],
        &["scan", &table, "--option", "no-value"],
        &["scan", &table, "--columns", "k,,v"],
        &["scan", &table, "--snapshot", "1", "--tag", "a"],
        &["scan", &table, "-j", "0"],
        &["plan", &table, "--parts", "0"],
        &["scan", "/nowhere", "--where", "k = = 1"],
        &["count", &table, "--stream"],
        &["scan", &table, "--stream", "--format", "table"],
    ];
    for arguments in cases {
        let (code, text) = failed(arguments);
        assert_eq!(code, 2, "{arguments:?}: {text}");
        assert!(!text.is_empty(), "{arguments:?}");
    }
}

#[test]
fn no_task_at_once_is_named_as_too_few() {
    let (_, text) = failed(&["scan", &golden("lab_r_one"), "--jobs", "0"]);
    assert!(
        text.starts_with("error: invalid value '0' for '--jobs <TASKS>': expected at least 1"),
        "{text}"
    );
}

#[test]
fn help_and_version_are_answers() {
    assert!(run(&["--help"]).ok().contains("Usage: paimon"));
    assert!(run(&["scan", "--help"]).ok().contains("--where"));
    assert!(run(&["--version"]).ok().starts_with("paimon "));
}

#[test]
fn what_is_not_built_exits_with_3_and_its_name() {
    let table = golden("lab_r_one");
    let cases: [(&[&str], &str); 2] = [
        (
            &["scan", &format!("{table}$row_tracking")],
            "system table $row_tracking",
        ),
        (
            &["scan", &table, "--where", "upper(v) = 'A'"],
            "function upper in a condition",
        ),
    ];
    for (arguments, feature) in cases {
        let (code, text) = failed(arguments);
        assert_eq!(code, 3, "{arguments:?}: {text}");
        let first = text.lines().next().unwrap();
        assert_eq!(first, format!("error: not supported: {feature}"));
    }
}

#[test]
fn a_missing_table_is_named() {
    assert_eq!(
        failed(&["scan", "/nowhere/orders"]),
        (
            1,
            "error: cannot read orders: there is nothing at /nowhere/orders\n  \
             at     table /nowhere/orders\n"
                .to_owned()
        )
    );
}

#[test]
fn unknown_columns_name_those_that_there_are() {
    let table = golden("lab_r_one");
    for arguments in [["--columns", "k,nope"], ["--where", "nope = 1"]] {
        let (code, text) = failed(&[&["scan", &table], arguments.as_slice()].concat());
        assert_eq!(code, 1);
        assert_eq!(
            text,
            "error: no column \"nope\", the table has k, v\n  at     column nope\n"
        );
    }
}

#[test]
fn a_torn_manifest_is_named_and_an_older_snapshot_offered() {
    let table = copy("lab_r_overlap");
    let location = table.path().to_str().unwrap();
    let snapshot = std::fs::read(table.path().join("snapshot/snapshot-2")).unwrap();
    let snapshot: serde_json::Value = serde_json::from_slice(&snapshot).unwrap();
    let list = snapshot["deltaManifestList"].as_str().unwrap();
    let path = table.path().join("manifest").join(list);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 20]).unwrap();
    let (code, text) = failed(&["scan", location]);
    assert_eq!(code, 1);
    for part in ["snapshot 2", &format!("manifest list {list}")] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(
        text.ends_with("  try    an older snapshot: --snapshot 1\n"),
        "{text}"
    );
    assert!(
        run(&["count", location, "--snapshot", "1"])
            .ok()
            .starts_with("100\n")
    );
}

#[test]
fn a_data_file_that_is_gone_is_named_and_no_row_is_printed() {
    let table = copy("lab_r_one");
    let file = last_file(&table.path().join("bucket-0"), "data-");
    std::fs::remove_file(&file).unwrap();
    let (code, text) = failed(&["scan", table.path().to_str().unwrap()]);
    assert_eq!(code, 1);
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(
        text.contains(name) && text.contains("snapshot 1 › split 0"),
        "{text}"
    );
}

#[test]
fn an_error_after_the_first_rows_is_an_error() {
    let table = copy("merge_dedup_partition_in_key");
    let location = table.path().to_str().unwrap();
    let all = run(&["scan", location, "-j", "1"]).ok();
    let plan = run(&["plan", location, "--format", "json"]).ok();
    let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    let last = plan["splits"].as_array().unwrap().last().unwrap();
    let directory = table.path().join(last["bucket_path"].as_str().unwrap());
    std::fs::remove_file(directory.join(last["files"][0]["name"].as_str().unwrap())).unwrap();
    let broken = run(&["scan", location, "-j", "1"]);
    assert_eq!(broken.code, 1);
    let rows = String::from_utf8(broken.stdout).unwrap();
    assert!(!rows.is_empty() && all.starts_with(&rows), "{rows}");
}

#[test]
fn a_wrong_time_zone_is_named() {
    let table = golden("lab_r_one");
    let output = crate::command::command(&["scan", &table])
        .env("TZ", "Mars/Olympus")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("time zone is \"Mars/Olympus\""));
}

#[test]
fn a_file_is_no_table_and_no_warehouse() {
    let file = format!("{}/schema/schema-0", golden("lab_r_one"));
    for (command, expected) in [
        ("scan", "a table"),
        ("info", "a table"),
        ("ls", "a warehouse"),
    ] {
        let (code, text) = failed(&[command, &file]);
        assert_eq!(code, 1, "{text}");
        let said = format!("is a file, expected the directory of {expected}");
        assert!(text.contains(&said), "{text}");
    }
}

#[test]
fn times_are_named_as_text_beside_their_number() {
    let (_, text) = failed(&["scan", &golden("lab_r_one"), "--timestamp", "1000"]);
    let said = "no snapshot at 1970-01-01 00:00:01Z (1000), the earliest is 1, committed at 2";
    assert!(text.contains(said), "{text}");
    let (code, text) = failed(&["info", &golden("lab_r_one"), "--stream"]);
    assert_eq!(code, 2);
    assert!(text.contains("plan --stream"), "{text}");
}
