//! File indexes in reads, and what pruning leaves to decode.

use std::sync::Arc;

use paimon_io::Counter;
use paimon_meta::{DataFileMeta, Datum, ErrorKind, Frame, Predicate, TablePredicate};
use paimon_read::{ReadRequest, TableReader};
use paimon_testkit::{CountingStore, VectorWidth};

use super::table::{Layout, TestTable, over, rows};

/// A container with one bitmap index (version 1) of a column of distinct numbers: each value with its only row.
pub(crate) fn bitmap_index(column: &str, values: &[i32]) -> Vec<u8> {
    let int = |value: usize| i32::try_from(value).unwrap().to_be_bytes();
    let text = |text: &str| {
        let length = u16::try_from(text.len()).unwrap().to_be_bytes();
        [&length[..], text.as_bytes()].concat()
    };
    let mut body = vec![1];
    body.extend(int(values.len()));
    body.extend(int(values.len()));
    body.push(0); // no nulls
    for (row, value) in (0_i32..).zip(values) {
        body.extend(value.to_be_bytes());
        body.extend((-1 - row).to_be_bytes());
    }
    let entry = [text(column), int(1).to_vec(), text("bitmap")].concat();
    let head = 8 + 4 + 4 + 4 + entry.len() + 4 + 4 + 4;
    let mut bytes = 1_493_475_289_347_502_u64.to_be_bytes().to_vec();
    bytes.extend(int(1));
    bytes.extend(int(head));
    bytes.extend(int(1));
    bytes.extend(entry);
    bytes.extend(int(head));
    bytes.extend(int(body.len()));
    bytes.extend(int(0));
    assert_eq!(bytes.len(), head);
    [bytes, body].concat()
}

/// An append table of numbers, in an order that bounds know nothing of.
fn table() -> TestTable {
    TestTable::new(&[("v", "INT")], &[]).laid_out(Layout {
        group_rows: 500,
        page_rows: 100,
        ..Layout::default()
    })
}

/// 1,000 even numbers.
fn values() -> Vec<i32> {
    (0..1000).map(|row| row * 7919 % 1000 * 2).collect()
}

/// A file of them, with an index beside it.
fn indexed(table: &TestTable, name: &str) -> DataFileMeta {
    let lines: Vec<String> = (0..)
        .zip(values())
        .map(|(row, value): (i32, i32)| format!("+I {row} {value}"))
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let file = table.write(name, &lines);
    table.put(
        &format!("{name}.parquet.index"),
        bitmap_index("v", &values()),
    );
    DataFileMeta {
        extra_files: vec![format!("{name}.parquet.index")],
        ..file
    }
}

fn equals(table: &TestTable, column: &str, value: i32) -> TablePredicate {
    let field = table.field(column);
    Predicate::eq(field.id, field.data_type, Datum::Int(value))
}

fn where_v_is(table: &TestTable, value: i32) -> ReadRequest {
    ReadRequest {
        predicate: Some(equals(table, "v", value)),
        ..ReadRequest::default()
    }
}

fn count(reader: &TableReader, counter: Counter) -> u64 {
    reader.context().resources.metrics().get(counter)
}

#[test]
fn a_file_that_its_index_excludes_is_not_opened() {
    // RP-634
    let table = table();
    let file = indexed(&table, "a");
    let store = table.counting();
    let resources = over(Arc::<CountingStore>::clone(&store));
    let reader = table.reader_with(where_v_is(&table, 7), resources);
    assert!(rows(&reader, table.split(vec![file])).unwrap().is_empty());
    let paths: Vec<String> = store
        .take()
        .into_iter()
        .map(|request| request.path)
        .collect();
    assert_eq!(paths, ["t/bucket-0/a.parquet.index"]);
    assert_eq!(count(&reader, Counter::FilesSkipped), 1);
    assert_eq!(count(&reader, Counter::RowsSkipped), 1000);
}

#[test]
fn only_rows_near_those_that_the_index_finds_are_decoded() {
    // RP-261: positions are those of the file, which row groups before them do not shift.
    let table = table();
    let file = indexed(&table, "a");
    for embedded in [false, true] {
        let mut file = file.clone();
        if embedded {
            file.embedded_index = Some(bitmap_index("v", &values()));
            file.extra_files.clear();
        }
        let reader = table.reader(where_v_is(&table, 7919 * 903 % 1000 * 2));
        let found = rows(&reader, table.split(vec![file])).unwrap();
        assert_eq!(found, [(7919 * 903 % 1000 * 2).to_string()]);
        assert!(count(&reader, Counter::RowsDecoded) < 10);
        assert_eq!(count(&reader, Counter::FilesOpened), 1);
    }
}

#[test]
fn rows_of_an_index_meet_deletion_vectors_by_position() {
    // RP-260, RP-262
    let table = table();
    let file = indexed(&table, "a");
    let row_of = |value: i32| values().iter().position(|other| *other == value).unwrap() as u64;
    for width in [VectorWidth::Bits32, VectorWidth::Bits64] {
        let split = table.split(vec![file.clone()]);
        let split = table.with_vectors(split, &[&[row_of(200), row_of(900)]], width);
        let read = |value| {
            table
                .rows(split.clone(), where_v_is(&table, value))
                .unwrap()
        };
        assert!(read(200).is_empty());
        assert!(read(900).is_empty());
        assert_eq!(read(202), ["202"]);
    }
}

#[test]
fn an_index_lies_beside_its_file_wherever_that_is() {
    // RP-632
    let mut table = table();
    table.bucket_path = "elsewhere";
    let mut file = indexed(&table, "a");
    table.bucket_path = "bucket-0";
    file.external_path = Some("memory:///t/elsewhere/a.parquet".to_owned());
    let reader = table.reader(where_v_is(&table, 7));
    let split = table.split(vec![file]);
    assert!(rows(&reader, split).unwrap().is_empty());
    assert_eq!(count(&reader, Counter::FilesSkipped), 1);
}

#[test]
fn indexes_are_not_asked_where_an_option_says_so() {
    let table = table().option("file-index.read.enabled", "false");
    let mut file = indexed(&table, "a");
    file.extra_files.push("second.index".to_owned());
    let reader = table.reader(where_v_is(&table, 7));
    assert!(rows(&reader, table.split(vec![file])).unwrap().is_empty());
    assert_eq!(count(&reader, Counter::FilesSkipped), 0);
    assert_eq!(count(&reader, Counter::FilesOpened), 1);
}

#[test]
fn broken_indexes_are_errors_that_name_file_and_column() {
    // The reference fails too (RP-635).
    let table = table();
    let file = indexed(&table, "a");
    let fails = |file: &DataFileMeta| {
        let read = table.rows(table.split(vec![file.clone()]), where_v_is(&table, 2));
        read.unwrap_err()
    };
    let mut two = file.clone();
    two.extra_files.push("b.index".to_owned());
    let error = fails(&two);
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.message().contains("two index files"), "{error}");
    let mut cut = bitmap_index("v", &values());
    cut.truncate(cut.len() - 1);
    table.put("a.parquet.index", cut);
    let error = fails(&file);
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    for frame in [
        Frame::File("a.parquet".to_owned()),
        Frame::File("a.parquet.index".to_owned()),
    ] {
        assert!(error.frames().any(|found| *found == frame), "{error:?}");
    }
    table.put("a.parquet.index", bitmap_index("v", &values()[1..]));
    let error = fails(&file);
    assert!(
        error.message().contains("of 999 rows, the file has 1000"),
        "{error}"
    );
    assert!(
        error
            .frames()
            .any(|found| *found == Frame::Column("v".to_owned())),
        "{error:?}"
    );
    let mut gone = file;
    gone.extra_files = vec!["gone.index".to_owned()];
    assert_eq!(fails(&gone).kind(), ErrorKind::NotFound);
}

/// Two runs of 60 keys in row groups of five and pages of two; the second replaces every third key. Values grow with keys.
fn two_runs() -> (TestTable, Vec<DataFileMeta>) {
    let table = TestTable::new(
        &[("k", "INT NOT NULL"), ("v", "INT"), ("w", "STRING")],
        &["k"],
    );
    let table = table.laid_out(Layout::small());
    let write = |name: &str, step: usize, from: usize| {
        let keys = (0..60).step_by(step);
        let lines: Vec<String> = keys
            .map(|k| format!("+I {} {k} {} {name}", from + k, from + k * 10))
            .collect();
        table.write(name, &lines.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let files = vec![write("a", 1, 0), write("b", 3, 10_000)];
    (table, files)
}

#[test]
fn pages_whose_winners_cannot_match_are_not_decoded() {
    // RP-321, RP-624: a condition on values acts between the passes of a merge.
    let (table, files) = two_runs();
    let reader = table.reader(where_v_is(&table, 310));
    assert_eq!(
        rows(&reader, table.split(files.clone())).unwrap(),
        ["31 310 a"]
    );
    // The keys of both runs, then v of the only winner in the page that can match, and w of its row group.
    assert_eq!(count(&reader, Counter::RowsDecoded), 80 + 1 + 5);
    // Eleven row groups of the first run, and all four of the second.
    assert_eq!(count(&reader, Counter::RowGroupsSkipped), 15);
    assert_eq!(count(&reader, Counter::RowGroups), 16);
    assert!(count(&reader, Counter::PagesSkipped) > 0);
    assert_eq!(count(&reader, Counter::RowsSuperseded), 20);
    // Key 30 was replaced: what its old version had does not come back.
    assert!(
        table
            .rows(table.split(files), where_v_is(&table, 300))
            .unwrap()
            .is_empty()
    );
}

#[test]
fn keys_prune_pages_of_every_run() {
    // RP-054
    let (table, files) = two_runs();
    let request = ReadRequest {
        predicate: Some(equals(&table, "k", 33)),
        ..ReadRequest::default()
    };
    let reader = table.reader(request);
    assert_eq!(rows(&reader, table.split(files)).unwrap(), ["33 10330 b"]);
    // Keys of one page of each run, then values of the winner's row group.
    assert_eq!(count(&reader, Counter::RowsDecoded), 2 + 2 + 5);
}

#[test]
fn an_index_of_a_merged_file_prunes_its_winners_only() {
    // RP-324: the reference does not ask it there. An old version must not come back, whatever its index says.
    let (table, files) = two_runs();
    let indexed = |file: &DataFileMeta, values: Vec<i32>| DataFileMeta {
        embedded_index: Some(bitmap_index("v", &values)),
        ..file.clone()
    };
    let files = vec![
        indexed(&files[0], (0..60).map(|k| k * 10).collect()),
        indexed(
            &files[1],
            (0..60).step_by(3).map(|k| 10_000 + k * 10).collect(),
        ),
    ];
    let read = |value| {
        table
            .rows(table.split(files.clone()), where_v_is(&table, value))
            .unwrap()
    };
    assert_eq!(read(310), ["31 310 a"]);
    assert_eq!(read(10_300), ["30 10300 b"]);
    assert!(read(300).is_empty());
    assert!(read(7).is_empty());
}
