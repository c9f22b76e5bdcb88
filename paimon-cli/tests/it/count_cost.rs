//! What counting reads: files that it must not open are taken away, columns that it must not decode are damaged.

use std::path::{Path, PathBuf};

use paimon_testkit::{History, Layout, write_table};
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command::run;

struct Table(TempDir);

impl Table {
    fn new(options: &Value, partition_by: &Value, steps: &Value) -> Self {
        let mut all = json!({"bucket": "1", "write-only": "true"});
        all.as_object_mut()
            .unwrap()
            .extend(options.as_object().unwrap().clone());
        let keys: &[&str] = if partition_by == &json!([]) {
            &["k"]
        } else {
            &["k", "p"]
        };
        let history = json!({
            "columns": [["k", "INT NOT NULL"], ["p", "STRING NOT NULL"], ["v", "STRING"], ["w", "INT"]],
            "primary_key": keys, "partition_by": partition_by, "options": all, "steps": steps,
        });
        let history = History::from_json(history.to_string().as_bytes()).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let written = write_table(&history, &Layout::default()).unwrap();
        written.save(directory.path()).unwrap();
        Self(directory)
    }

    fn count(&self, arguments: &[&str]) -> String {
        run(&[&["count", self.0.path().to_str().unwrap()], arguments].concat()).ok()
    }

    /// Data files by name.
    fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        walk(self.0.path(), &mut files);
        files.sort();
        files
    }

    fn remove_all(&self) {
        self.files()
            .iter()
            .for_each(|file| std::fs::remove_file(file).unwrap());
    }

    /// Overwrites a column of every data file.
    fn damage(&self, column: &str) {
        for file in self.files() {
            let mut bytes = std::fs::read(&file).unwrap();
            let reader = SerializedFileReader::new(std::fs::File::open(&file).unwrap()).unwrap();
            for group in reader.metadata().row_groups() {
                let columns = group.columns().iter();
                let chunk = columns.filter(|chunk| chunk.column_path().string() == column);
                for chunk in chunk {
                    let (start, length) = chunk.byte_range();
                    let range =
                        usize::try_from(start).unwrap()..usize::try_from(start + length).unwrap();
                    bytes[range].fill(0xFF);
                }
            }
            std::fs::write(&file, bytes).unwrap();
        }
    }
}

fn walk(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, files);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "parquet")
        {
            files.push(path);
        }
    }
}

fn rows(kind: &str, keys: std::ops::Range<i32>, partition: &str) -> Vec<Value> {
    let row = |key: i32| json!([kind, key, partition, format!("v{key}"), key % 3]);
    keys.map(row).collect()
}

#[test]
fn no_data_file_of_a_compacted_table_is_opened() {
    let steps = json!([{"write": rows("+I", 0..50, "a")}, {"write": rows("-D", 10..20, "a")}, {"compact": "full"}]);
    let table = Table::new(&json!({}), &json!([]), &steps);
    table.remove_all();
    assert_eq!(table.count(&[]), "40\n  40 from metadata, 0 from reading\n");
}

#[test]
fn rows_of_vectors_are_taken_off_without_a_data_file() {
    let steps = json!([
        {"write": rows("+I", 0..50, "a")}, {"compact": "full"},
        {"write": rows("-D", 10..20, "a")}, {"compact": "level0"},
    ]);
    let table = Table::new(
        &json!({"deletion-vectors.enabled": "true"}),
        &json!([]),
        &steps,
    );
    table.remove_all();
    assert_eq!(table.count(&[]), "40\n  40 from metadata, 0 from reading\n");
}

#[test]
fn partitions_are_told_apart_without_a_data_file() {
    let both = [rows("+I", 0..30, "a"), rows("+I", 0..12, "b")].concat();
    let steps = json!([{"write": both}, {"compact": "full"}]);
    let table = Table::new(&json!({}), &json!(["p"]), &steps);
    table.remove_all();
    let filtered = table.count(&["--where", "p = 'b'"]);
    assert_eq!(filtered, "12\n  12 from metadata, 0 from reading\n");
    let groups = table.count(&["--by", "p"]);
    assert!(
        groups.starts_with("42\n  42 from metadata, 0 from reading\n"),
        "{groups}"
    );
    assert!(groups.contains("known without reading"), "{groups}");
    assert!(groups.contains("p = \"b\""), "{groups}");
}

#[test]
fn sections_of_one_run_are_counted_inside_a_merge_split() {
    // Keys 0 to 29 stand alone; 100 to 119 are in two files, which are small and so share the split.
    let steps = json!([
        {"write": rows("+I", 0..30, "a")}, {"write": rows("+I", 100..120, "a")}, {"write": rows("+I", 110..130, "a")},
    ]);
    let table = Table::new(&json!({}), &json!([]), &steps);
    let alone = table.files().into_iter().find(|file| {
        let reader = SerializedFileReader::new(std::fs::File::open(file).unwrap()).unwrap();
        reader.metadata().file_metadata().num_rows() == 30
    });
    std::fs::remove_file(alone.unwrap()).unwrap();
    assert_eq!(
        table.count(&[]),
        "60\n  30 from metadata, 30 from reading\n"
    );
}

#[test]
fn a_key_pass_decodes_no_value() {
    let steps = json!([{"write": rows("+I", 0..50, "a")}, {"write": rows("-D", 40..60, "a")}]);
    let table = Table::new(&json!({}), &json!([]), &steps);
    for column in ["p", "v", "w"] {
        table.damage(column);
    }
    assert_eq!(table.count(&[]), "40\n  0 from metadata, 40 from reading\n");
    let keys = table.count(&["--where", "k BETWEEN 10 AND 45"]);
    assert_eq!(keys, "30\n  0 from metadata, 30 from reading\n");
    let scanned = run(&["scan", table.0.path().to_str().unwrap()]);
    assert_eq!(scanned.code, 1, "the damage is met where values are read");
}

#[test]
fn groups_by_another_column_read_it_alone() {
    let steps = json!([{"write": rows("+I", 0..30, "a")}, {"compact": "full"}]);
    let table = Table::new(&json!({}), &json!([]), &steps);
    table.damage("v");
    let groups = table.count(&["--by", "w"]);
    assert!(
        groups.starts_with("30\n  0 from metadata, 30 from reading\n"),
        "{groups}"
    );
    assert!(groups.contains("so it was read"), "{groups}");
    assert!(groups.contains("w = 0"), "{groups}");
}
