//! Rows that deletion vectors take away: the same rows on every route, never shifted, and damage told by name.

use std::collections::BTreeSet;
use std::sync::Arc;

use object_store::ObjectStoreExt;
use object_store::path::Path;
use paimon_meta::{
    CompareOp, DataField, DataFileMeta, DataSplit, Datum, DeletionFile, ErrorKind, Frame,
    Predicate, RowKind, TablePredicate,
};
use paimon_read::{ReadRequest, RowKinds, block_on};
use paimon_testkit::{CountingStore, VectorFile, VectorWidth};
use proptest::prelude::*;

use super::indexes::bitmap_index;
use super::table::{Layout, Record, TestTable, over, rows};

const WIDTHS: [VectorWidth; 2] = [VectorWidth::Bits32, VectorWidth::Bits64];

impl TestTable {
    /// The split with a vector for each of its files that has positions; they share one index file.
    pub(crate) fn with_vectors(
        &self,
        split: DataSplit,
        positions: &[&[u64]],
        width: VectorWidth,
    ) -> DataSplit {
        let mut index = VectorFile::new("index/i");
        let mut vectors: Vec<Option<DeletionFile>> = positions
            .iter()
            .map(|positions| {
                (!positions.is_empty()).then(|| index.push(positions.iter().copied(), width))
            })
            .collect();
        vectors.resize(split.files.len(), None);
        self.put_index(index.into_bytes());
        DataSplit {
            deletion_files: Some(vectors),
            ..split
        }
    }

    fn put_index(&self, bytes: Vec<u8>) {
        block_on(self.store.put(&Path::from("t/index/i"), bytes.into())).unwrap();
    }
}

fn ten(table: &TestTable, name: &str) -> DataFileMeta {
    let rows: Vec<String> = (0..10)
        .map(|row| format!("+I {row} {row} v{row}"))
        .collect();
    table.write(name, &rows.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn deleted_rows_are_left_out_by_their_position() {
    // RP-262, RP-614: row groups of five rows, pages of two.
    let table = TestTable::simple().laid_out(Layout::small());
    let file = ten(&table, "a");
    for width in WIDTHS {
        let split =
            table.with_vectors(table.raw_split(vec![file.clone()]), &[&[0, 4, 5, 8]], width);
        let expected = ["1 v1", "2 v2", "3 v3", "6 v6", "7 v7", "9 v9"];
        assert_eq!(
            table.rows(split.clone(), ReadRequest::default()).unwrap(),
            expected
        );
        let merged = DataSplit {
            raw_convertible: false,
            ..split
        };
        assert_eq!(
            table.rows(merged, ReadRequest::default()).unwrap(),
            expected
        );
    }
}

#[test]
fn a_vector_acts_before_the_merge() {
    // ME-035, RP-435: the newer version of key 2 is deleted, so the older one is the row.
    let table = TestTable::simple();
    let old = table.write("a", &["+I 0 1 a", "+I 1 2 a", "+I 2 3 a"]);
    let new = table.write("b", &["+I 3 2 b", "+I 4 3 b"]);
    let split = table.with_vectors(
        table.split(vec![old, new]),
        &[&[2], &[0]],
        VectorWidth::Bits32,
    );
    let found = table.rows(split.clone(), ReadRequest::default()).unwrap();
    assert_eq!(found, ["1 a", "2 a", "3 b"]);
    let keep = ReadRequest {
        row_kinds: RowKinds::Keep,
        ..ReadRequest::default()
    };
    assert_eq!(
        table.rows(split, keep).unwrap(),
        ["+I 1 a", "+I 2 a", "+I 3 b"]
    );
}

#[test]
fn files_without_a_vector_are_read_in_full() {
    // RP-617
    let table = TestTable::simple();
    let files = vec![
        table.write("a", &["+I 0 1 a", "+I 1 2 a"]),
        table.write("b", &["+I 2 3 b", "+I 3 4 b"]),
    ];
    let split = table.with_vectors(table.raw_split(files), &[&[], &[1]], VectorWidth::Bits32);
    let found = table.rows(split, ReadRequest::default()).unwrap();
    assert_eq!(found, ["1 a", "2 a", "3 b"]);
}

#[test]
fn all_rows_deleted_is_no_row() {
    // RP-615
    let table = TestTable::simple().laid_out(Layout::small());
    let all: Vec<u64> = (0..10).collect();
    for raw_convertible in [true, false] {
        let split = DataSplit {
            raw_convertible,
            ..table.split(vec![ten(&table, "a")])
        };
        let split = table.with_vectors(split, &[&all], VectorWidth::Bits64);
        assert!(
            table
                .rows(split, ReadRequest::default())
                .unwrap()
                .is_empty()
        );
    }
}

#[test]
fn append_files_have_vectors_too() {
    // RP-162
    let table = TestTable::new(&[("v", "INT")], &[]);
    let file = table.write("a", &["+I 0 1", "+I 0 1", "+I 0 2"]);
    let split = table.with_vectors(table.raw_split(vec![file]), &[&[1]], VectorWidth::Bits32);
    assert_eq!(
        table.rows(split, ReadRequest::default()).unwrap(),
        ["1", "2"]
    );
}

/// The error of reading a split whose one file of ten rows has a vector.
fn error_of(change: impl FnOnce(&TestTable, &mut DeletionFile)) -> paimon_meta::Error {
    let table = TestTable::simple();
    let split = table.raw_split(vec![ten(&table, "a")]);
    let mut split = table.with_vectors(split, &[&[3, 4]], VectorWidth::Bits32);
    let vectors = split.deletion_files.as_mut().unwrap();
    change(&table, vectors[0].as_mut().unwrap());
    let error = table.rows(split, ReadRequest::default()).unwrap_err();
    let frames: Vec<_> = error.frames().cloned().collect();
    for name in ["a.parquet", "index/i"] {
        assert!(frames.contains(&Frame::File(name.to_owned())), "{error}");
    }
    error
}

#[test]
fn damage_names_data_file_and_index_file() {
    let wrong = error_of(|_, vector| vector.cardinality = Some(3));
    assert_eq!(wrong.kind(), ErrorKind::Corrupt);
    let elsewhere = error_of(|_, vector| vector.offset = 1 << 40);
    assert_eq!(elsewhere.kind(), ErrorKind::Corrupt);
    let gone = error_of(|_, vector| {
        vector.path = "index/i".to_owned();
        vector.offset = u64::MAX;
    });
    assert_eq!(gone.kind(), ErrorKind::Corrupt);
    let behind = error_of(|table, vector| {
        let mut index = VectorFile::new("index/i");
        *vector = index.push([3, 10], VectorWidth::Bits32);
        table.put_index(index.into_bytes());
    });
    assert_eq!(
        behind.message(),
        "the deletion vector marks row 10, the file has 10 rows"
    );
    let missing = error_of(|table, _| {
        block_on(table.store.delete(&Path::from("t/index/i"))).unwrap();
    });
    assert_eq!(missing.kind(), ErrorKind::NotFound);
}

#[test]
fn every_file_of_a_split_has_a_place_for_its_vector() {
    let table = TestTable::simple();
    let split = DataSplit {
        deletion_files: Some(Vec::new()),
        ..table.raw_split(vec![ten(&table, "a")])
    };
    let error = table.rows(split, ReadRequest::default()).unwrap_err();
    assert_eq!(
        error.message(),
        "the split has 0 places for deletion vectors and 1 files"
    );
}

#[test]
fn a_vector_is_requested_once_by_its_range_and_deleted_row_groups_never() {
    let table = TestTable::simple().laid_out(Layout::small());
    let first: Vec<u64> = (0..5).collect();
    let split = table.raw_split(vec![ten(&table, "a"), ten(&table, "b")]);
    let split = table.with_vectors(split, &[&first, &[7]], VectorWidth::Bits32);
    let counting = table.counting();
    let resources = over(Arc::<CountingStore>::clone(&counting));
    let groups = |reader: &paimon_read::TableReader| {
        let metrics = reader.context().resources.metrics();
        metrics.get(paimon_io::Counter::RowGroupsFetched)
    };
    for _ in 0..2 {
        let reader = table.reader_with(ReadRequest::default(), resources.measured());
        assert_eq!(rows(&reader, split.clone()).unwrap().len(), 5 + 9);
        assert_eq!(groups(&reader), 3);
    }
    let requests = counting.requests();
    let asked: Vec<_> = requests
        .iter()
        .filter(|request| request.path == "t/index/i")
        .map(|request| request.ranges.clone())
        .collect();
    let vectors = split.deletion_files.as_ref().unwrap().iter().flatten();
    let expected: Vec<_> = vectors
        .map(|vector| vec![vector.byte_range().unwrap()])
        .collect();
    assert_eq!(asked, expected);
}

/// Keys in order, with values out of a few; key 0 is the first row of the first file.
#[derive(Clone, Debug)]
struct Case {
    /// Per run: keys, with value, kind, and whether the row is deleted.
    runs: Vec<Vec<(i32, u8, bool, bool)>>,
    layout: Layout,
    wide: bool,
    batch_size: usize,
    window_bytes: usize,
    limit: Option<u64>,
    condition: Option<TablePredicate>,
    projection: Vec<&'static str>,
    /// Whether the keys have a file index.
    indexed: bool,
}

fn run() -> impl Strategy<Value = Vec<(i32, u8, bool, bool)>> {
    let row = (
        0u8..5,
        prop::bool::weighted(0.15),
        prop::bool::weighted(0.4),
    );
    prop::collection::btree_map(0i32..60, row, 1..60).prop_map(|rows| {
        let rows = rows.into_iter();
        rows.map(|(key, (value, retract, deleted))| (key, value, retract, deleted))
            .collect()
    })
}

fn condition(table: &TestTable) -> impl Strategy<Value = TablePredicate> + use<> {
    let (k, v) = (table.field("k"), table.field("v"));
    let compare = |field: &DataField, op, value| {
        Predicate::compare(field.id, field.data_type.clone(), op, value)
    };
    let key = (
        0i32..60,
        prop_oneof![
            Just(CompareOp::Lt),
            Just(CompareOp::GtEq),
            Just(CompareOp::Eq)
        ],
    )
        .prop_map(move |(key, op)| compare(&k, op, Datum::Int(key)));
    let value = (
        0i32..5,
        prop_oneof![Just(CompareOp::Lt), Just(CompareOp::NotEq)],
    )
        .prop_map(move |(value, op)| compare(&v, op, Datum::Int(value)));
    prop_oneof![
        key.clone(),
        value.clone(),
        (key, value).prop_map(|(key, value)| Predicate::and([key, value]))
    ]
}

fn values() -> TestTable {
    TestTable::new(
        &[("k", "INT NOT NULL"), ("v", "INT"), ("w", "STRING")],
        &["k"],
    )
}

fn case() -> impl Strategy<Value = Case> {
    let layout =
        (1usize..40, 1usize..8, any::<bool>()).prop_map(|(group_rows, page_rows, page_bounds)| {
            Layout {
                group_rows,
                page_rows,
                page_bounds,
                ..Layout::default()
            }
        });
    let limit = prop_oneof![Just(None), (0u64..40).prop_map(Some)];
    let projection = prop_oneof![
        Just(vec!["k", "v", "w"]),
        Just(vec!["w"]),
        Just(vec!["k"]),
        Just(Vec::new())
    ];
    (
        (prop::collection::vec(run(), 1..4), layout, any::<bool>()),
        (1usize..50, 1usize..4000, limit),
        (prop::option::of(condition(&values())), projection),
        any::<bool>(),
    )
        .prop_map(
            |(files, (batch_size, window_bytes, limit), (condition, projection), indexed)| {
                let (runs, layout, wide) = files;
                Case {
                    runs,
                    layout,
                    wide,
                    batch_size,
                    window_bytes,
                    limit,
                    condition,
                    projection,
                    indexed,
                }
            },
        )
}

impl Case {
    fn request(&self, table: &TestTable) -> ReadRequest {
        ReadRequest {
            predicate: self.condition.clone(),
            batch_size: self.batch_size,
            window_bytes: self.window_bytes,
            limit: self.limit,
            ..table.columns(&self.projection)
        }
    }

    fn records(&self, run: usize) -> Vec<Record> {
        let table = values();
        let rows = self.runs[run].iter();
        let text: Vec<String> = rows
            .map(|(key, value, retract, _)| {
                let kind = if *retract { "-D" } else { "+I" };
                let sequence = run * 1000 + usize::try_from(*key).unwrap();
                let value = if *value == 4 {
                    "-".to_owned()
                } else {
                    value.to_string()
                };
                format!("{kind} {sequence} {key} {value} w{key}-{run}")
            })
            .collect();
        table.records(&text.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// The files of all runs: once whole with vectors, once without the rows that the vectors delete.
    fn splits(&self, table: &TestTable) -> (DataSplit, DataSplit) {
        let (mut whole, mut rest, mut positions) = (Vec::new(), Vec::new(), Vec::new());
        for run in 0..self.runs.len() {
            let records = self.records(run);
            let deleted: BTreeSet<usize> = (0..records.len())
                .filter(|row| self.runs[run][*row].3)
                .collect();
            let left: Vec<Record> = (0..records.len())
                .filter(|row| !deleted.contains(row))
                .map(|row| records[row].clone())
                .collect();
            let mut file = table.write_records(&format!("whole{run}"), &records);
            if self.indexed {
                let keys: Vec<i32> = self.runs[run].iter().map(|row| row.0).collect();
                let name = format!("whole{run}.parquet.index");
                table.put(&name, bitmap_index("k", &keys));
                file.extra_files = vec![name];
            }
            whole.push(file);
            if !left.is_empty() {
                rest.push(table.write_records(&format!("rest{run}"), &left));
            }
            positions.push(
                deleted
                    .into_iter()
                    .map(|row| row as u64)
                    .collect::<Vec<_>>(),
            );
        }
        let positions: Vec<&[u64]> = positions.iter().map(Vec::as_slice).collect();
        let width = WIDTHS[usize::from(self.wide)];
        let whole = table.with_vectors(table.split(whole), &positions, width);
        (whole, table.split(rest))
    }
}

proptest! {
    #[test]
    fn merging_with_vectors_is_merging_files_without_the_deleted_rows(case in case()) {
        let table = values().laid_out(case.layout);
        let (whole, rest) = case.splits(&table);
        let expected = match rest.files.is_empty() {
            true => Vec::new(),
            false => table.rows(rest, case.request(&table)).unwrap(),
        };
        prop_assert_eq!(table.rows(whole, case.request(&table)).unwrap(), expected);
    }

    #[test]
    fn reading_with_a_vector_is_reading_without_and_dropping_its_positions(mut case in case()) {
        case.runs.truncate(1);
        for row in &mut case.runs[0] {
            row.2 = false;
        }
        let table = values().laid_out(case.layout);
        let (whole, _) = case.splits(&table);
        let deleted: BTreeSet<i32> = case.runs[0].iter().filter(|row| row.3).map(|row| row.0).collect();
        let without = DataSplit { raw_convertible: true, deletion_files: None, ..whole.clone() };
        let keys = ReadRequest { projection: table.columns(&["k"]).projection, limit: None, ..case.request(&table) };
        let left = table.rows(without, keys.clone()).unwrap().into_iter();
        let mut expected: Vec<String> = left.filter(|key| !deleted.contains(&key.parse().unwrap())).collect();
        expected.truncate(case.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap()));
        for raw_convertible in [true, false] {
            let split = DataSplit { raw_convertible, ..whole.clone() };
            let request = ReadRequest { limit: case.limit, ..keys.clone() };
            prop_assert_eq!(&table.rows(split, request).unwrap(), &expected);
        }
    }
}

#[test]
fn a_vector_of_a_million_rows_acts_by_position_in_many_row_groups() {
    // RP-614: positions count rows of the file, whatever row groups and pages are skipped before them.
    const ROWS: i32 = 1_200_000;
    let table = TestTable::new(&[("k", "INT NOT NULL"), ("n", "INT")], &["k"]).laid_out(Layout {
        group_rows: 20_000,
        page_rows: 2_000,
        ..Layout::default()
    });
    let records: Vec<Record> = (0..ROWS)
        .map(|row| Record {
            kind: RowKind::Insert,
            sequence: i64::from(row),
            values: vec![Some(Datum::Int(row * 2)), Some(Datum::Int(row % 1000))],
        })
        .collect();
    let file = table.write_records("a", &records);
    // Stretches and single rows, whole row groups too.
    let is_deleted = |row: u64| {
        let mixed = row.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        (!mixed.is_multiple_of(6) || row / 20_000 == 7) && row / 20_000 != 9
    };
    let deleted: Vec<u64> = (0..u64::try_from(ROWS).unwrap())
        .filter(|row| is_deleted(*row))
        .collect();
    assert!(deleted.len() > 950_000);
    let left = |keys: std::ops::Range<i32>, n: i32| -> Vec<String> {
        let rows = (0..ROWS).filter(|row| !is_deleted(u64::try_from(*row).unwrap()));
        let rows = rows.filter(|row| keys.contains(&(row * 2)) && row % 1000 < n);
        rows.map(|row| format!("{} {}", row * 2, row % 1000))
            .collect()
    };
    let (k, n) = (table.field("k"), table.field("n"));
    let between = |keys: &std::ops::Range<i32>| {
        let ends = [keys.start, keys.end - 1].map(Datum::Int);
        let [low, high] = ends;
        Predicate::between(k.id, k.data_type.clone(), low, high)
    };
    let below = Predicate::lt(n.id, n.data_type.clone(), Datum::Int(3));
    for (raw_convertible, width) in [true, false].into_iter().zip(WIDTHS) {
        let split = DataSplit {
            raw_convertible,
            ..table.split(vec![file.clone()])
        };
        let split = table.with_vectors(split, &[&deleted], width);
        // From the middle of a row group to the middle of another one, across the ones that are gone and whole.
        let keys = 250_001..430_123;
        let request = ReadRequest {
            predicate: Some(Predicate::and([between(&keys), below.clone()])),
            ..ReadRequest::default()
        };
        assert_eq!(table.rows(split.clone(), request).unwrap(), left(keys, 3));
        let count = ReadRequest {
            projection: Some(Vec::new()),
            ..ReadRequest::default()
        };
        let all = table.rows(split, count).unwrap().len();
        assert_eq!(all, records.len() - deleted.len());
    }
}
