//! A table that is large enough to be read in parts.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use paimon_testkit::{History, Layout, write_table};
use serde_json::{Value, json};

use crate::command::{command, run};

/// 12 MB in each of two overlapping files: parts have 4 MiB at least.
const KEYS: usize = 24_000;

fn table(directory: &Path) -> String {
    let rows = |first: usize, text: &str| -> Vec<Value> {
        let value = |key: usize| format!("{text}{key:0>500}");
        let keys = (first..first + KEYS).rev();
        keys.map(|key| json!(["+I", key, value(key)])).collect()
    };
    let history = json!({
        "columns": [["k", "INT NOT NULL"], ["v", "STRING"]], "primary_key": ["k"],
        "options": {"bucket": "1", "write-only": "true", "file.compression": "none"},
        "steps": [{"write": rows(0, "a")}, {"write": rows(KEYS / 2, "b")}],
    });
    let history = History::from_json(history.to_string().as_bytes()).unwrap();
    let layout = Layout {
        row_group_rows: 4_000,
        page_rows: 500,
        dictionary: false,
        ..Layout::default()
    };
    write_table(&history, &layout)
        .unwrap()
        .save(directory)
        .unwrap();
    directory.to_str().unwrap().to_owned()
}

#[test]
fn a_large_bucket_is_read_in_parts_in_the_order_of_its_keys() {
    let directory = tempfile::tempdir().unwrap();
    let table = table(directory.path());
    let plan = run(&["plan", &table, "--parts", "4", "--format", "text"]).ok();
    assert_eq!(plan.matches("  part ").count(), 4, "{plan}");

    let scan = |jobs: &str, more: &[&str]| {
        run(&[&["scan", &table, "--columns", "k", "-j", jobs], more].concat()).ok()
    };
    let expected: String = (0..KEYS / 2 * 3)
        .map(|key| format!("{{\"k\":{key}}}\n"))
        .collect();
    assert_eq!(scan("1", &[]), expected);
    assert_eq!(scan("4", &[]), expected);
    // Rows of the newer file win on both sides of every cut.
    let old = ["--where", "v LIKE 'a%'"];
    assert_eq!(scan("4", &old).lines().count(), KEYS / 2);

    let limited: String = expected.split_inclusive('\n').take(5).collect();
    assert_eq!(scan("4", &["--limit", "5"]), limited);

    let counted = run(&["count", &table, "-j", "4"]).ok();
    assert_eq!(
        counted,
        format!(
            "{0}\n  0 from metadata, 36,000 from reading\n",
            KEYS / 2 * 3
        )
    );

    // Whoever goes half-way ends the read.
    let mut child = command(&["scan", &table, "-j", "4"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert!(line.starts_with("{\"k\":0,"));
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
