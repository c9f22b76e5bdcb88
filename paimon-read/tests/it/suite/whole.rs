//! Engines that make a row of several versions decode no older versions where the newest one is known to be the row.

use paimon_io::Counter;
use paimon_meta::{DataFileMeta, ErrorKind};
use paimon_read::{ReadRequest, RowKinds};

use super::table::{Layout, TestTable, rows};

const KEYS: i32 = 50;

fn table(options: &[(&str, &str)]) -> TestTable {
    let columns = [("k", "INT NOT NULL"), ("a", "INT"), ("g", "INT")];
    let table = TestTable::new(&columns, &["k"]).laid_out(Layout::small());
    let options = options.iter();
    options.fold(table, |table, (key, value)| table.option(key, value))
}

/// All keys once; `a` is null for that key.
fn run(table: &TestTable, name: &str, sequence: i32, a: i32, null: Option<i32>) -> DataFileMeta {
    let line = |key: i32| {
        let sequence = sequence + key;
        match null {
            Some(null) if null == key => format!("+I {sequence} {key} - {key}"),
            _ => format!("+I {sequence} {key} {a} {key}"),
        }
    };
    let lines: Vec<String> = (0..KEYS).map(line).collect();
    table.write(name, &lines.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Reads two runs whose newer one is null in `a` for that key; returns the rows and how many were decoded in all.
fn read(options: &[(&str, &str)], null: Option<i32>, request: ReadRequest) -> (Vec<String>, u64) {
    let table = table(options);
    let old = run(&table, "old", 0, 1, None);
    let new = run(&table, "new", 1000, 2, null);
    let reader = table.reader(request);
    let found = rows(&reader, table.split(vec![old, new])).unwrap();
    let decoded = reader
        .context()
        .resources
        .metrics()
        .get(Counter::RowsDecoded);
    (found, decoded)
}

const PARTIAL_UPDATE: (&str, &str) = ("merge-engine", "partial-update");
const AGGREGATION: (&str, &str) = ("merge-engine", "aggregation");

/// Keys of both runs, values of the newer one.
const NEWER: u64 = 50 + 50 + 50;
const BOTH: u64 = NEWER + 50;

#[test]
fn older_versions_of_whole_rows_are_not_decoded() {
    // RP-344, ME-109: the newest value that is not null
    for engine in [PARTIAL_UPDATE, AGGREGATION] {
        let (found, decoded) = read(&[engine], None, ReadRequest::default());
        assert_eq!(found.len(), 50);
        assert_eq!(found[7], "7 2 7");
        assert_eq!(decoded, NEWER);
    }
}

#[test]
fn older_versions_are_decoded_for_row_groups_with_nulls() {
    for engine in [PARTIAL_UPDATE, AGGREGATION] {
        let (found, decoded) = read(&[engine], Some(7), ReadRequest::default());
        assert_eq!(found[6..9], ["6 2 6", "7 1 7", "8 2 8"]);
        // One row group of five rows.
        assert_eq!(decoded, NEWER + 5);
    }
}

#[test]
fn older_versions_are_decoded_where_a_function_or_group_asks_for_them() {
    let sum = [AGGREGATION, ("fields.a.aggregate-function", "sum")];
    let (found, decoded) = read(&sum, None, ReadRequest::default());
    assert_eq!((found[7].as_str(), decoded), ("7 3 7", BOTH));
    let group = [PARTIAL_UPDATE, ("fields.g.sequence-group", "a")];
    let (found, decoded) = read(&group, None, ReadRequest::default());
    assert_eq!((found[7].as_str(), decoded), ("7 2 7", BOTH));
}

#[test]
fn functions_of_columns_that_are_not_read_do_not_count() {
    let sum = [AGGREGATION, ("fields.g.aggregate-function", "sum")];
    let request = table(&sum).columns(&["a"]);
    let (found, decoded) = read(&sum, None, request);
    assert_eq!((found[7].as_str(), decoded), ("2", NEWER));
}

#[test]
fn kinds_of_merged_rows_are_those_of_no_version() {
    // ME 1.8
    let table = table(&[PARTIAL_UPDATE]);
    let old = table.write("old", &["+I 0 1 1 1"]);
    let new = table.write("new", &["+U 1 1 2 2"]);
    let request = ReadRequest {
        row_kinds: RowKinds::Show,
        ..ReadRequest::default()
    };
    let found = table.rows(table.split(vec![old, new]), request);
    assert_eq!(found.unwrap(), ["+I 1 2 2"]);
}

#[test]
fn null_in_an_older_version_is_an_error_where_none_may_be() {
    // ME-044: the file is older than the constraint
    let mut table = table(&[PARTIAL_UPDATE]);
    let old = table.write("old", &["+I 0 1 - 1"]);
    table.evolve(|schema| schema.fields[1].data_type.nullable = false);
    let new = table.write("new", &["+I 1 1 2 2"]);
    let found = table.rows(table.split(vec![old, new]), ReadRequest::default());
    assert_eq!(found.unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn column_that_the_newest_file_does_not_have_is_that_of_older_versions() {
    let mut table = table(&[PARTIAL_UPDATE]);
    let old = table.write("old", &["+I 0 1 5 1"]);
    let column = table.table.schema.fields[1].clone();
    table.evolve(|schema| {
        schema.fields.remove(1);
    });
    let new = table.write("new", &["+I 1 1 2"]);
    table.evolve(|schema| schema.fields.insert(1, column));
    let found = table.rows(table.split(vec![old, new]), ReadRequest::default());
    assert_eq!(found.unwrap(), ["1 5 2"]);
}
