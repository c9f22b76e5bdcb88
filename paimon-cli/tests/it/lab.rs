//! `paimon lab` beside the tables that the reference wrote for the same histories.

use std::path::Path;

use paimon_testkit::{GoldenCase, GoldenDataSplit, GoldenFile, GoldenRead, GoldenSplit};
use serde_json::Value;

use crate::command::run;

const TABLES: [&str; 8] = [
    "r_one",
    "r_disjoint",
    "r_overlap",
    "r_compact",
    "r_delete",
    "dv_off",
    "dv_on",
    "dv_vis",
];

fn lab(directory: &Path) -> String {
    run(&["lab", directory.to_str().unwrap()]).ok()
}

fn golden(table: &str) -> GoldenCase {
    let folder: std::path::PathBuf = [paimon_testkit::GOLDEN, &format!("lab_{table}")]
        .iter()
        .collect();
    GoldenCase::load(&folder).unwrap()
}

/// The read of the whole table.
fn whole(case: &GoldenCase) -> &GoldenRead {
    let mut reads = case.reads.iter();
    reads
        .find(|read| read.request == Default::default())
        .unwrap()
}

fn data_splits(read: &GoldenRead) -> Vec<&GoldenDataSplit> {
    let splits = read.plans.as_ref().unwrap()[0].iter();
    let data = splits.map(|split| match split {
        GoldenSplit::Data(split) => split,
        other => panic!("{other:?}"),
    });
    data.collect()
}

/// The lines of a table's block.
fn block<'a>(text: &'a str, table: &str) -> &'a str {
    let start = text.find(&format!("\n{table} ")).unwrap() + 1;
    let end = text[start..].find("\n\n").unwrap();
    &text[start..start + end]
}

/// The columns of the last table.
fn summary<'a>(text: &'a str, table: &str) -> Vec<&'a str> {
    let mut lines = text.lines().rev();
    let line = lines
        .find(|line| line.starts_with(&format!("{table} ")))
        .unwrap();
    line.split_whitespace().collect()
}

#[test]
fn lab_shows_what_the_reference_shows() {
    let directory = tempfile::tempdir().unwrap();
    let text = lab(directory.path());
    for table in TABLES {
        let case = golden(table);
        let read = whole(&case);
        let splits = data_splits(read);
        if block(&text, table).contains("not supported") {
            continue;
        }
        let cells = summary(&text, table);
        let raw = splits.iter().filter(|split| split.raw_convertible).count();
        let files: Vec<&GoldenFile> = splits.iter().flat_map(|split| &split.files).collect();
        let counted = splits.iter().all(|split| split.merged_row_count.is_some());
        let mut levels: Vec<i32> = files.iter().map(|file| file.level).collect();
        levels.sort_unstable();
        levels.dedup();
        let mut expected = vec![table.to_owned(), files.len().to_string()];
        expected.extend(levels.iter().map(i32::to_string));
        expected.push(raw.to_string());
        expected.push((splits.len() - raw).to_string());
        expected.push(read.rows.as_ref().unwrap().len().to_string());
        expected.push(if counted { "yes" } else { "no" }.to_owned());
        assert_eq!(cells[..cells.len() - 1], expected, "{table}");
        let ours = cells.last().unwrap();
        assert!(
            *ours == "yes" || !counted && *ours == "no",
            "{table}: {ours}"
        );
    }
}

#[test]
fn written_tables_plan_and_read_like_the_golden_ones() {
    let directory = tempfile::tempdir().unwrap();
    let text = lab(directory.path());
    let read = |path: &str, command: &str| {
        let output = run(&[command, path, "--format", "json"]).ok();
        let lines = output
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        lines.collect::<Vec<Value>>()
    };
    let sorted = |mut rows: Vec<Value>| {
        rows.sort_by_key(Value::to_string);
        rows
    };
    for table in TABLES {
        if block(&text, table).contains("not supported") {
            continue;
        }
        let path = directory.path().join(table);
        let path = path.to_str().unwrap();
        let case = golden(table);
        let reference = case.table();
        let reference = reference.to_str().unwrap();
        assert_eq!(
            sorted(read(path, "scan")),
            sorted(read(reference, "scan")),
            "{table}"
        );
        let files = |path: &str| {
            let count = run(&["count", path]).ok();
            let explained: Value =
                serde_json::from_str(&run(&["explain", path, "--format", "json"]).ok()).unwrap();
            let buckets = explained["buckets"].as_array().unwrap();
            let files = buckets
                .iter()
                .flat_map(|bucket| bucket["files"].as_array().unwrap());
            let mut files: Vec<String> = files
                .map(|file| {
                    let facts = [
                        "level",
                        "rows",
                        "delete_rows",
                        "min_sequence_number",
                        "max_sequence_number",
                        "keys",
                        "merged",
                    ];
                    facts.map(|fact| file[fact].to_string()).join(" ")
                })
                .collect();
            files.sort_unstable();
            (count, files, explained["snapshot"]["id"].clone())
        };
        assert_eq!(files(path), files(reference), "{table}");
    }
}

#[test]
fn lab_answers_its_own_questions() {
    let directory = tempfile::tempdir().unwrap();
    let text = lab(directory.path());
    // An old version that matches must not come back.
    let overlap = block(&text, "r_overlap");
    assert!(overlap.contains("where       v = 'a' AND k BETWEEN 58 AND 62"));
    assert!(overlap.ends_with("rows        none"), "{overlap}");
    // One file a split makes both raw, whatever the spelling of the size.
    let disjoint = block(&text, "r_disjoint");
    for target in ["target 4 mb", "target 4mb"] {
        let from = disjoint.find(target).unwrap();
        let reads = &disjoint[from..];
        let reads = &reads[..reads.find("\nrows").unwrap()];
        assert_eq!(
            (reads.matches("RAW").count(), reads.matches("MERGE").count()),
            (2, 0),
            "{reads}"
        );
    }
    let large = &disjoint[disjoint.find("target 8 mb").unwrap()..];
    assert_eq!(
        (large.matches("RAW").count(), large.matches("MERGE").count()),
        (0, 1),
        "{large}"
    );
    assert_eq!(disjoint.matches("200 rows").count(), 4);
    // Written again, it is the same.
    assert_eq!(lab(directory.path()), text);
}

#[test]
fn tables_of_others_are_not_written_over() {
    let directory = tempfile::tempdir().unwrap();
    let schema = directory.path().join("r_compact/schema");
    std::fs::create_dir_all(&schema).unwrap();
    std::fs::write(schema.join("schema-0"), "{}").unwrap();
    let (code, error) = run(&["lab", directory.path().to_str().unwrap()]).failed();
    assert_eq!(code, 1);
    assert!(error.contains("none of the lab's"), "{error}");
    assert!(!directory.path().join("r_one").exists());
}
