//! Damaged data files and failing stores: each is an error that names the file, never fewer rows.

use std::fs;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Int8Array, Int32Array, Int64Array, RecordBatch, StringArray, UInt32Array,
};
use arrow_schema::{Field, Schema};
use arrow_select::take::take_record_batch;
use object_store::local::LocalFileSystem;
use paimon_io::{MemoryPool, ResourceParts, Resources, StoreRegistry};
use paimon_meta::{Error, ErrorKind, Frame};
use paimon_testkit::{Fault, FaultKind, FaultyStore};

use super::golden::Golden;
use super::table::TestTable;

/// Two runs of a hundred rows: `k` 1 to 100 and 51 to 150.
const MERGED: &str = "lab_r_overlap";
/// One file that is read raw.
const RAW: &str = "lab_r_one";

fn names(error: &Error, golden: &Golden, file: usize) {
    let name = &golden.splits[0].files[file].file_name;
    assert!(error.to_string().contains(name.as_str()), "{error}");
}

fn names_column(error: &Error, column: &str) {
    let frame = Frame::Column(column.to_owned());
    assert!(error.frames().any(|found| *found == frame), "{error}");
}

/// The batch with another column in place of one, or without it.
fn with_column(batch: &RecordBatch, name: &str, array: Option<ArrayRef>) -> RecordBatch {
    let schema = batch.schema();
    let mut columns: Vec<(Field, ArrayRef)> = Vec::new();
    for (field, column) in schema.fields().iter().zip(batch.columns()) {
        match &array {
            _ if field.name() != name => columns.push((field.as_ref().clone(), Arc::clone(column))),
            Some(array) => {
                let field = Field::new(name, array.data_type().clone(), true);
                columns.push((field, Arc::clone(array)));
            }
            None => {}
        }
    }
    let (fields, arrays): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
}

fn taken(batch: &RecordBatch, rows: impl IntoIterator<Item = u32>) -> RecordBatch {
    take_record_batch(batch, &UInt32Array::from_iter_values(rows)).unwrap()
}

#[test]
fn whole_tables_are_read() {
    assert_eq!(Golden::new(MERGED).read(&Resources::local()).0, 150);
    assert_eq!(Golden::new(RAW).read(&Resources::local()).0, 100);
}

#[test]
fn missing_data_file_is_not_found_by_its_name() {
    for case in [MERGED, RAW] {
        let golden = Golden::new(case);
        fs::remove_file(golden.path(0)).unwrap();
        let error = golden.error();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        names(&error, &golden, 0);
    }
}

#[test]
fn short_data_file_is_corrupt() {
    for case in [MERGED, RAW] {
        let golden = Golden::new(case);
        let whole = fs::read(golden.path(0)).unwrap();
        for kept in [0, 3, 12, whole.len() / 2, whole.len() - 1] {
            fs::write(golden.path(0), &whole[..kept]).unwrap();
            let error = golden.error();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{kept}: {error}");
            assert!(error.message().contains("is shorter than"), "{error}");
            names(&error, &golden, 0);
        }
    }
}

#[test]
fn data_file_of_another_format_is_corrupt() {
    for case in [MERGED, RAW] {
        let golden = Golden::new(case);
        let size = fs::read(golden.path(0)).unwrap().len();
        for content in [vec![0; size], b"Obj\x01".repeat(size), vec![b'P'; size]] {
            fs::write(golden.path(0), content).unwrap();
            let error = golden.error();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
            names(&error, &golden, 0);
        }
    }
}

#[test]
fn number_of_rows_that_differs_from_the_meta_is_corrupt() {
    for case in [MERGED, RAW] {
        let mut golden = Golden::new(case);
        golden.rewrite(0, |batch| batch.slice(0, 99));
        let (rows, error) = golden.read(&Resources::local());
        let error = error.unwrap();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert_eq!(
            error.message(),
            "the file holds 99 rows, its meta says 100",
            "after {rows} rows"
        );
        names(&error, &golden, 0);
    }
}

#[test]
fn column_of_another_type_is_corrupt() {
    for (case, column) in [(MERGED, "k"), (MERGED, "v"), (RAW, "k"), (RAW, "v")] {
        let mut golden = Golden::new(case);
        golden.rewrite(0, |batch| {
            let rows = 0..i32::try_from(batch.num_rows()).unwrap();
            let other: ArrayRef = if column == "k" {
                Arc::new(StringArray::from_iter_values(
                    rows.map(|row| row.to_string()),
                ))
            } else {
                Arc::new(Int32Array::from_iter_values(rows))
            };
            with_column(&batch, column, Some(other))
        });
        let error = golden.error();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        names(&error, &golden, 0);
        names_column(&error, column);
    }
}

#[test]
fn required_column_that_is_missing_is_corrupt() {
    // RP-256
    for case in [MERGED, RAW] {
        let mut golden = Golden::new(case);
        golden.rewrite(0, |batch| with_column(&batch, "k", None));
        let error = golden.error();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        names(&error, &golden, 0);
        names_column(&error, "k");
    }
    for column in ["_SEQUENCE_NUMBER", "_VALUE_KIND"] {
        let mut golden = Golden::new(MERGED);
        golden.rewrite(0, |batch| with_column(&batch, column, None));
        // Both are needed now.
        for file in &mut golden.splits[0].files {
            file.max_sequence_number = 500;
            file.delete_row_count = None;
        }
        let error = golden.error();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        names(&error, &golden, 0);
        names_column(&error, column);
    }
}

#[test]
fn keys_out_of_order_are_corrupt() {
    let orders: [Vec<u32>; 4] = [
        (0..100).rev().collect(),
        (0..50).chain(48..98).collect(),
        // A key twice, in one batch and on the border of two.
        (0..5).chain(4..99).collect(),
        (0..10).chain(9..99).collect(),
    ];
    for order in orders {
        let mut golden = Golden::new(MERGED);
        golden.rewrite(0, |batch| taken(&batch, order));
        let error = golden.error();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(
            error.message().contains("not in ascending order"),
            "{error}"
        );
        names(&error, &golden, 0);
    }
}

#[test]
fn keys_outside_the_bounds_of_the_meta_are_corrupt() {
    // Sections are made of those bounds: a key outside of them may meet its other versions in another section.
    for (from, to) in [(-5, 90), (51, 200)] {
        let mut golden = Golden::new(MERGED);
        golden.rewrite(0, |batch| {
            let keys = (0..100).map(|row| from + row * (to - from) / 100);
            let keys = Arc::new(Int64Array::from_iter_values(keys)) as ArrayRef;
            with_column(&batch, "k", Some(keys))
        });
        let error = golden.error();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(
            error.message().contains("est key in the file's meta"),
            "{error}"
        );
        names(&error, &golden, 0);
    }
}

#[test]
fn unknown_kind_byte_is_corrupt() {
    // ME-001
    for (kind, row) in [(9, 0), (-1, 99), (4, 60)] {
        let mut golden = Golden::new(MERGED);
        golden.rewrite(1, |batch| {
            let kinds = (0..100).map(|at| if at == row { kind } else { 0 });
            let kinds = Arc::new(Int8Array::from_iter_values(kinds)) as ArrayRef;
            with_column(&batch, "_VALUE_KIND", Some(kinds))
        });
        golden.splits[0].files[1].delete_row_count = Some(1);
        let error = golden.error();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(error.to_string().contains(&kind.to_string()), "{error}");
        let frame = Frame::Field("_VALUE_KIND".to_owned());
        assert!(error.frames().any(|found| *found == frame), "{error}");
        names(&error, &golden, 1);
    }
}

#[test]
fn null_in_a_column_that_is_not_null_is_corrupt() {
    let key = |row: i64, null: i64| (row != null).then_some(row + 1);
    for case in [MERGED, RAW] {
        let mut golden = Golden::new(case);
        golden.rewrite(0, |batch| {
            let keys: Int64Array = (0..100).map(|row| key(row, 42)).collect();
            with_column(&batch, "k", Some(Arc::new(keys)))
        });
        let error = golden.error();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        names(&error, &golden, 0);
        names_column(&error, "k");
    }
    let mut golden = Golden::new(MERGED);
    golden.rewrite(0, |batch| {
        let sequences: Int64Array = (0..100).map(|row| (row != 7).then_some(row)).collect();
        with_column(&batch, "_SEQUENCE_NUMBER", Some(Arc::new(sequences)))
    });
    golden.splits[0].files[1].min_sequence_number = 50;
    let error = golden.error();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    names_column(&error, "_SEQUENCE_NUMBER");
}

#[test]
fn path_that_leads_out_of_the_table_is_corrupt() {
    for case in [MERGED, RAW] {
        for name in ["../other.parquet", "a/b.parquet", "..", "/etc/x.parquet"] {
            let mut golden = Golden::new(case);
            golden.splits[0].files[0].file_name = name.to_owned();
            let error = golden.error();
            assert!(
                matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported),
                "{error}"
            );
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}

#[test]
fn external_path_leads_where_it_says() {
    // TF-020
    let mut golden = Golden::new(RAW);
    let elsewhere = tempfile::tempdir().unwrap();
    let target = elsewhere.path().join("moved.parquet");
    fs::rename(golden.path(0), &target).unwrap();
    golden.splits[0].files[0].external_path = Some(target.to_str().unwrap().to_owned());
    assert_eq!(golden.read(&Resources::local()).0, 100);
    golden.splits[0].files[0].external_path = Some("moved.parquet".to_owned());
    assert_eq!(golden.error().kind(), ErrorKind::Corrupt);
}

#[test]
fn damage_anywhere_is_an_error_or_rows_but_no_panic() {
    for (case, rows) in [(MERGED, 150), (RAW, 100)] {
        let golden = Golden::new(case);
        let whole = fs::read(golden.path(0)).unwrap();
        for position in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[position] ^= 0x15;
            fs::write(golden.path(0), damaged).unwrap();
            if let (found, None) = golden.read(&Resources::local()) {
                // Values may differ: Parquet files have no check sums here. Keys may too, and then keys are not merged.
                assert!(found >= rows, "byte {position}: {found} rows");
            }
        }
    }
}

#[test]
fn unknown_value_of_an_option_that_changes_the_merge_is_invalid_input() {
    let options = [
        "merge-engine",
        "ignore-delete",
        "force-lookup",
        "changelog-producer",
        "sequence.field.sort-order",
        "sequence.snapshot-ordering",
    ];
    for option in options {
        let mut golden = Golden::new(MERGED);
        let value = "sideways".to_owned();
        golden.table.options.0.insert(option.to_owned(), value);
        let (rows, error) = golden.read(&Resources::local());
        let error = error.expect(option);
        assert_eq!((rows, error.kind()), (0, ErrorKind::InvalidInput));
        let frame = Frame::Option(option.to_owned());
        assert!(error.frames().any(|found| *found == frame), "{error}");
    }
    let mut golden = Golden::new(MERGED);
    let value = "nothing".to_owned();
    golden
        .table
        .options
        .0
        .insert("sequence.field".to_owned(), value);
    let error = golden.error();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.message().contains("nothing"), "{error}");
}

#[test]
fn memory_that_the_budget_does_not_have_ends_the_read() {
    let golden = Golden::new(MERGED);
    let memory = Arc::new(MemoryPool::bounded(100));
    let resources = Resources::new(ResourceParts {
        memory: Arc::<MemoryPool>::clone(&memory),
        ..ResourceParts::default()
    });
    let error = golden.read(&resources).1.unwrap();
    assert_eq!(error.kind(), ErrorKind::ResourcesExhausted);
    // What the read had is given back.
    drop(resources.try_reserve(100).unwrap());
    assert_eq!(Golden::new(RAW).read(&resources).0, 100);
}

/// Local files behind a store that fails as it is told.
fn faulty() -> (Arc<FaultyStore>, Resources) {
    let store = Arc::new(FaultyStore::new(Arc::new(LocalFileSystem::new())));
    let registry = StoreRegistry::new();
    registry
        .register("file://", Arc::<FaultyStore>::clone(&store))
        .unwrap();
    let resources = Resources::new(ResourceParts {
        stores: Arc::new(registry),
        ..ResourceParts::default()
    });
    (store, resources)
}

#[test]
fn request_that_fails_fails_the_read() {
    for (case, requests) in [(MERGED, 2), (RAW, 1)] {
        for retryable in [true, false] {
            for number in 0..requests {
                let golden = Golden::new(case);
                let (store, resources) = faulty();
                store.add(Fault::nth(FaultKind::Failed { retryable }, number));
                let (_, error) = golden.read(&resources);
                let error = error.unwrap();
                assert_eq!(error.kind(), ErrorKind::Storage);
                assert_eq!(error.is_retryable(), retryable);
                assert!(error.to_string().contains("bucket-0/data-"), "{error}");
                // Nothing of the failure is remembered.
                assert!(golden.read(&resources).1.is_none());
            }
        }
    }
}

#[test]
fn answer_that_ends_early_fails_the_read() {
    for case in [MERGED, RAW] {
        let golden = Golden::new(case);
        let (store, resources) = faulty();
        store.add(Fault::nth(FaultKind::Short { bytes: 1 }, 0));
        let error = golden.read(&resources).1.unwrap();
        assert_eq!(error.kind(), ErrorKind::Storage);
        assert!(error.is_retryable(), "{error}");
        assert!(golden.read(&resources).1.is_none());
    }
}

#[test]
fn store_that_fails_in_the_middle_ends_the_read_with_an_error() {
    use super::big::{big_table, exact, records};
    use super::table::batches;
    use paimon_read::{ReadRequest, TableReader};
    use paimon_testkit::CountingStore;

    let table = big_table();
    let old = table.write_records("old", &records(0..12_000, 0, "old"));
    let new = table.write_records("new", &records(6000..18_000, 100_000, "new"));
    let reader = |store: Arc<FaultyStore>| -> TableReader {
        let counting = Arc::new(CountingStore::new(store));
        table.reader_with(ReadRequest::default(), exact(counting))
    };
    for split in [
        table.split(vec![old.clone(), new]),
        table.raw_split(vec![old]),
    ] {
        let kinds = [
            FaultKind::Failed { retryable: true },
            FaultKind::Missing,
            FaultKind::Short { bytes: 100 },
        ];
        for kind in kinds {
            let mut number = 0;
            loop {
                let store = table.faulty();
                store.add(Fault::nth(kind, number));
                let read = batches(&reader(store), split.clone());
                if let Ok(batches) = read {
                    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
                    assert_eq!(
                        rows,
                        if split.raw_convertible {
                            12_000
                        } else {
                            18_000
                        }
                    );
                    break;
                }
                number += 1;
            }
            assert!(number >= 5, "{number} requests failed one by one");
        }
    }
}

#[test]
fn file_that_vanishes_in_the_middle_is_not_found() {
    let table = TestTable::simple();
    let files = vec![
        table.write("a", &["+I 0 1 x"]),
        table.write("b", &["+I 1 5 x"]),
    ];
    let store = table.faulty();
    store.add(Fault::always(FaultKind::Missing).on("b.parquet"));
    let resources = super::table::over(store);
    for split in [table.split(files.clone()), table.raw_split(files)] {
        let reader = table.reader_with(paimon_read::ReadRequest::default(), resources.clone());
        let error = super::table::rows(&reader, split).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains("b.parquet"), "{error}");
    }
}
