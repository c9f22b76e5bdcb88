//! Which bytes a read asks for: only columns that it needs, only of rows that win.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use paimon_io::Counter;
use paimon_meta::{DataFileMeta, DataSplit, RowKind};
use paimon_read::{ReadRequest, RowKinds, TableReader};
use paimon_testkit::CountingStore;

use super::big::{asked, big_table, chunk_bytes, exact, records};
use super::table::{Layout, TestTable, batches};

/// A read through a counting store.
struct Read {
    table: TestTable,
    store: Arc<CountingStore>,
    reader: TableReader,
    rows: usize,
}

fn read(table: &TestTable, split: DataSplit, request: ReadRequest) -> Read {
    let store = table.counting();
    let reader = table.reader_with(request, exact(Arc::clone(&store)));
    let batches = batches(&reader, split).unwrap();
    Read {
        table: table.clone(),
        store,
        reader,
        rows: batches.iter().map(arrow_array::RecordBatch::num_rows).sum(),
    }
}

impl Read {
    fn asked(&self, file: &DataFileMeta) -> BTreeMap<(usize, String), u64> {
        asked(&self.table, &self.store, file)
    }

    /// Columns asked for of any row group.
    fn columns(&self, file: &DataFileMeta) -> BTreeSet<String> {
        self.asked(file)
            .into_keys()
            .map(|(_, column)| column)
            .collect()
    }

    /// Row groups of which a column was asked for.
    fn groups(&self, file: &DataFileMeta, column: &str) -> Vec<usize> {
        let asked = self.asked(file).into_keys();
        asked
            .filter(|(_, name)| name == column)
            .map(|(group, _)| group)
            .collect()
    }

    fn count(&self, counter: Counter) -> u64 {
        self.reader.context().resources.metrics().get(counter)
    }
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

const ROWS: i32 = 12_000;

/// Keys 0 to n and n/2 to 3n/2, four row groups each; the second run is the newer one.
fn two_runs() -> (TestTable, DataFileMeta, DataFileMeta) {
    let table = big_table();
    let old = table.write_records("old", &records(0..ROWS, 0, "old"));
    let new = table.write_records("new", &records(ROWS / 2..ROWS / 2 * 3, 100_000, "new"));
    (table, old, new)
}

#[test]
fn system_columns_are_not_read_where_the_metas_decide() {
    // ME 1.3, 1.4; RP-352: `_KEY_` columns are never read
    let (table, old, new) = two_runs();
    let split = table.split(vec![old.clone(), new.clone()]);
    let read = read(&table, split, ReadRequest::default());
    assert_eq!(read.rows, 18_000);
    for file in [&old, &new] {
        assert_eq!(read.columns(file), set(&["k", "a", "n", "b"]));
    }
}

#[test]
fn sequence_numbers_are_read_where_ranges_touch() {
    let table = big_table();
    let old = table.write_records("old", &records(0..ROWS, 0, "old"));
    let new = table.write_records("new", &records(0..ROWS, i64::from(ROWS) - 1, "new"));
    let apart = table.write_records("apart", &records(100..ROWS, 900_000, "apart"));
    let files = [&old, &new, &apart];
    let split = table.split(files.into_iter().cloned().collect());
    let read = read(&table, split, table.columns(&[]));
    assert_eq!(read.columns(&old), set(&["k", "_SEQUENCE_NUMBER"]));
    assert_eq!(read.columns(&new), set(&["k", "_SEQUENCE_NUMBER"]));
    assert_eq!(read.columns(&apart), set(&["k"]));
}

#[test]
fn kinds_are_read_only_of_files_that_may_hold_retracts() {
    // RP-211
    let (table, old, mut new) = two_runs();
    let mut with_retract = records(0..ROWS, 500_000, "retract");
    with_retract[7].kind = RowKind::Delete;
    let retract = table.write_records("retract", &with_retract);
    new.delete_row_count = None;
    let files = [&old, &new, &retract];
    let split = table.split(files.into_iter().cloned().collect());
    let dropped = read(&table, split.clone(), table.columns(&[]));
    assert_eq!(dropped.columns(&old), set(&["k"]));
    assert_eq!(dropped.columns(&new), set(&["k", "_VALUE_KIND"]));
    assert_eq!(dropped.columns(&retract), set(&["k", "_VALUE_KIND"]));
    let kept = ReadRequest {
        row_kinds: RowKinds::Keep,
        ..table.columns(&[])
    };
    let kept = read(&table, split, kept);
    assert_eq!(kept.columns(&old), set(&["k", "_VALUE_KIND"]));
}

#[test]
fn columns_that_are_not_wanted_are_not_asked_for() {
    let (table, old, new) = two_runs();
    for (columns, expected) in [
        (&["a"][..], &["k", "a"][..]),
        (&["n", "k"], &["k", "n"]),
        // Without value columns no value page is opened.
        (&["k"], &["k"]),
        (&[], &["k"]),
    ] {
        let split = table.split(vec![old.clone(), new.clone()]);
        let read = read(&table, split, table.columns(columns));
        assert_eq!(read.rows, 18_000);
        assert_eq!(read.columns(&old), set(expected), "{columns:?}");
        assert_eq!(read.columns(&new), set(expected), "{columns:?}");
    }
    let raw = read(
        &table,
        table.raw_split(vec![old.clone()]),
        table.columns(&["n"]),
    );
    assert_eq!(raw.columns(&old), set(&["n"]));
    let count = read(
        &table,
        table.raw_split(vec![old.clone()]),
        table.columns(&[]),
    );
    assert_eq!((count.rows, count.columns(&old)), (12_000, set(&[])));
}

#[test]
fn keys_are_read_once_though_they_are_shown() {
    let (table, old, new) = two_runs();
    let split = table.split(vec![old.clone(), new.clone()]);
    let read = read(&table, split, ReadRequest::default());
    for file in [&old, &new] {
        for ((group, column), bytes) in read.asked(file) {
            if column == "k" {
                assert_eq!(bytes, chunk_bytes(&table, file, group, "k"));
            }
        }
    }
}

#[test]
fn values_of_row_groups_that_lose_are_neither_fetched_nor_decoded() {
    let (table, old, new) = two_runs();
    let split = table.split(vec![old.clone(), new.clone()]);
    let read = read(&table, split, ReadRequest::default());
    assert_eq!(read.rows, 18_000);
    assert_eq!(read.groups(&old, "k"), [0, 1, 2, 3]);
    for column in ["a", "n", "b"] {
        assert_eq!(read.groups(&old, column), [0, 1], "{column}");
        assert_eq!(read.groups(&new, column), [0, 1, 2, 3], "{column}");
    }
    // Keys of all rows, values of those that win.
    assert_eq!(read.count(Counter::RowsDecoded), 24_000 + 18_000);
    assert_eq!(read.count(Counter::RowGroupsFetched), 8 + 6);
    assert_eq!(read.count(Counter::FilesOpened), 2);
}

#[test]
fn pages_of_rows_that_lose_are_neither_fetched_nor_decoded() {
    let rows = 20_000;
    let table = big_table().laid_out(Layout {
        group_rows: 1 << 20,
        page_rows: 500,
        ..Layout::default()
    });
    let old = table.write_records("old", &records(0..rows, 0, "old"));
    let new = table.write_records("new", &records(5000..rows, 100_000, "new"));
    let split = table.split(vec![old.clone(), new.clone()]);
    let read = read(&table, split, ReadRequest::default());
    assert_eq!(read.rows, 20_000);
    let bytes = read.asked(&old)[&(0, "a".to_owned())];
    let all = chunk_bytes(&table, &old, 0, "a");
    assert!(bytes * 3 < all, "{bytes} of {all} bytes");
    assert_eq!(read.count(Counter::RowsDecoded), 35_000 + 20_000);
}

#[test]
fn values_are_decoded_for_rows_alone_that_satisfy_the_condition() {
    let (table, old, new) = two_runs();
    let n = table.field("n");
    // One page of a row group of the old file, and a few rows of it.
    let predicate = paimon_meta::Predicate::between(
        n.id,
        n.data_type,
        paimon_meta::Datum::BigInt(7 * 100),
        paimon_meta::Datum::BigInt(7 * 109),
    );
    let request = ReadRequest {
        predicate: Some(predicate),
        ..table.columns(&["a"])
    };
    let split = table.split(vec![old.clone(), new.clone()]);
    let read = read(&table, split, request);
    assert_eq!(read.rows, 10);
    assert_eq!(read.groups(&old, "n"), [0]);
    assert_eq!(read.groups(&new, "n"), [0; 0]);
    assert_eq!(read.groups(&old, "a"), [0]);
    assert_eq!(read.count(Counter::RowsDecoded), 24_000 + 500 + 10);
    assert_eq!(read.columns(&new), set(&["k"]));
}
