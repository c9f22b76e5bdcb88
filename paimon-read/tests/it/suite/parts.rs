//! Parts of tasks: where they are cut, what that reads, and what each of them reads.

use std::num::NonZeroUsize;
use std::sync::Arc;

use paimon_io::{Counter, Resources};
use paimon_meta::{
    BinaryRow, CompareOp, DataFileMeta, DataSplit, Datum, ErrorKind, Predicate, Split, encode_row,
    parse_type,
};
use paimon_read::RowRanges;
use paimon_read::{KeySpan, Part, ReadRequest, ReadTask, RowKinds, TableReader, block_on};
use paimon_testkit::CountingStore;

use super::big::{GROUP, big_table, records};
use super::table::{Layout, TestTable, collect, over, text};

fn parts_of(reader: &TableReader, task: ReadTask, parts: usize) -> Vec<ReadTask> {
    block_on(reader.subdivide(task, NonZeroUsize::new(parts).unwrap())).unwrap()
}

fn task(split: DataSplit) -> ReadTask {
    ReadTask::new(Split::Data(split))
}

fn files_of(task: &ReadTask) -> Vec<String> {
    let Split::Data(split) = &task.split else {
        panic!("no data split")
    };
    split
        .files
        .iter()
        .map(|file| file.file_name.clone())
        .collect()
}

fn rows_of(reader: &TableReader, task: &ReadTask) -> Vec<String> {
    let batches = collect(reader.read(task.clone()).unwrap()).unwrap();
    batches
        .iter()
        .flat_map(|batch| text(reader, batch))
        .collect()
}

fn key(value: i32) -> BinaryRow {
    let data_type = parse_type("INT NOT NULL").unwrap();
    encode_row(&[&data_type], &[Some(Datum::Int(value))]).unwrap()
}

/// Reads each part with resources of its own that count; returns rows and rows decoded.
fn work(table: &TestTable, request: &ReadRequest, parts: &[ReadTask]) -> Vec<(usize, u64)> {
    let read = |part: &ReadTask| {
        let resources = table.resources();
        let reader = table.reader_with(request.clone(), resources.clone());
        let rows = rows_of(&reader, part).len();
        (rows, resources.metrics().get(Counter::RowsDecoded))
    };
    parts.iter().map(read).collect()
}

const ROWS: i32 = 12_000;

#[test]
fn files_beside_each_other_are_cut_by_metadata_alone() {
    let table = TestTable::simple();
    let file = |name: &str, from: i32| {
        let rows: Vec<String> = (from..from + 10).map(|k| format!("+I {k} {k} x")).collect();
        table.write(name, &rows.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let files: Vec<DataFileMeta> = (0..8).map(|n| file(&format!("f{n}"), n * 10)).collect();
    for split in [table.split(files.clone()), table.raw_split(files)] {
        let store = table.counting();
        let resources = over(Arc::<CountingStore>::clone(&store));
        let reader = table.reader_with(ReadRequest::default(), resources);
        let parts = parts_of(&reader, task(split), 4);
        assert_eq!(store.take(), []);
        let names: Vec<Vec<String>> = parts.iter().map(files_of).collect();
        let expected =
            [0, 2, 4, 6].map(|n| vec![format!("f{n}.parquet"), format!("f{}.parquet", n + 1)]);
        assert_eq!(names, expected);
    }
}

#[test]
fn a_large_file_is_cut_at_its_row_groups() {
    // Architecture 4.2: at row groups where they are near, without a look at any page.
    let table = big_table();
    let file = table.write_records("a", &records(0..ROWS, 0, "a"));
    let store = table.counting();
    let resources = over(Arc::<CountingStore>::clone(&store));
    let reader = table.reader_with(ReadRequest::default(), resources);
    let raw = parts_of(&reader, task(table.raw_split(vec![file.clone()])), 2);
    let half = u64::try_from(GROUP * 2).unwrap();
    let expected =
        [0..half, half..half * 2].map(|rows| Some(Part::Rows(vec![RowRanges::from_range(rows)])));
    assert_eq!([raw[0].part.clone(), raw[1].part.clone()], expected);
    assert_eq!(store.take().len(), 1, "the footer");
    let merged = parts_of(&reader, task(table.split(vec![file])), 4);
    let cuts: Vec<_> = merged[1..].iter().map(|part| part.part.clone()).collect();
    let cut = |n: i32| n * i32::try_from(GROUP).unwrap();
    let span = |from: i32, to: Option<i32>| {
        Some(Part::Keys(KeySpan {
            from: Some(key(from)),
            to: to.map(key),
        }))
    };
    assert_eq!(cuts[2], span(cut(3), None));
    assert_eq!(cuts[0], span(cut(1), Some(cut(2))));
}

#[test]
fn overlapping_files_of_one_row_group_are_cut_by_their_page_indexes() {
    // Architecture 4.2: where statistics tell the keys of pages, no page is decoded to find where to cut.
    let rows = usize::try_from(ROWS).unwrap();
    let table = big_table().laid_out(Layout {
        group_rows: rows,
        page_rows: 1000,
        ..Layout::default()
    });
    let old = table.write_records("old", &records(0..ROWS, 0, "old"));
    let new = table.write_records("new", &records(1..ROWS + 1, 100_000, "new"));
    let resources = table.resources();
    let reader = table.reader_with(ReadRequest::default(), resources.clone());
    let parts = parts_of(&reader, task(table.split(vec![old, new])), 2);
    assert_eq!(resources.metrics().get(Counter::RowsDecoded), 0);
    let read = work(&table, &ReadRequest::default(), &parts);
    let [(first, _), (second, _)] = read.as_slice() else {
        panic!("{} parts", read.len())
    };
    assert_eq!(first + second, rows + 1);
    assert!(first.abs_diff(*second) <= 2000, "{read:?}");
}

#[test]
fn parts_of_a_merge_share_its_work() {
    let table = big_table();
    let old = table.write_records("old", &records(0..ROWS, 0, "old"));
    let new = table.write_records("new", &records(ROWS / 2..ROWS / 2 * 3, 100_000, "new"));
    let request = ReadRequest::default();
    let reader = table.reader(request.clone());
    let all = task(table.split(vec![old, new]));
    let (_, whole) = work(&table, &request, std::slice::from_ref(&all))[0];
    for number in [2u64, 4] {
        let parts = parts_of(&reader, all.clone(), usize::try_from(number).unwrap());
        assert_eq!(parts.len() as u64, number);
        let work = work(&table, &request, &parts);
        let rows: usize = work.iter().map(|(rows, _)| rows).sum();
        assert_eq!(rows, usize::try_from(ROWS / 2 * 3).unwrap());
        for (_, decoded) in &work {
            assert!(decoded * number <= whole * 3 / 2, "{work:?} of {whole}");
        }
    }
}

#[test]
fn parts_open_each_file_once_between_them() {
    let table = big_table();
    let old = table.write_records("old", &records(0..ROWS, 0, "old"));
    let new = table.write_records("new", &records(ROWS / 2..ROWS / 2 * 3, 100_000, "new"));
    let resources: Resources = table.resources();
    let reader = table.reader_with(ReadRequest::default(), resources.clone());
    for part in parts_of(&reader, task(table.split(vec![old, new])), 8) {
        rows_of(&reader, &part);
    }
    assert_eq!(resources.metrics().get(Counter::FilesOpened), 2);
}

#[test]
fn rows_at_a_cut_are_in_one_part() {
    // Half-open: the key that a part ends at is the first of the next one, all its versions with it.
    let table = TestTable::simple().laid_out(Layout::small());
    let rows = |sequence: i32, value: &str| -> Vec<String> {
        (0..20)
            .map(|k| format!("+I {} {k} {value}", sequence + k))
            .collect()
    };
    let write = |name: &str, rows: Vec<String>| {
        table.write(name, &rows.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let files = vec![write("a", rows(0, "a")), write("b", rows(100, "b"))];
    let reader = table.reader(ReadRequest::default());
    for cut in 1..20 {
        let ends = [None, Some(key(cut)), None];
        let mut found = Vec::new();
        for part in ends.windows(2) {
            let part = ReadTask {
                split: Split::Data(table.split(files.clone())),
                part: Some(Part::Keys(KeySpan {
                    from: part[0].clone(),
                    to: part[1].clone(),
                })),
                estimated_bytes: None,
            };
            found.push(rows_of(&reader, &part));
        }
        let expected: Vec<String> = (0..20).map(|k| format!("{k} b")).collect();
        let (below, above) = expected.split_at(usize::try_from(cut).unwrap());
        assert_eq!(found, [below, above]);
    }
}

#[test]
fn a_condition_on_keys_is_where_the_work_is() {
    let table = big_table();
    let file = table.write_records("a", &records(0..ROWS, 0, "a"));
    let k = table.field("k");
    let from = Datum::Int(ROWS * 3 / 4);
    let request = ReadRequest {
        predicate: Some(Predicate::compare(k.id, k.data_type, CompareOp::GtEq, from)),
        ..ReadRequest::default()
    };
    let reader = table.reader(request.clone());
    let parts = parts_of(&reader, task(table.split(vec![file])), 2);
    let rows: Vec<usize> = work(&table, &request, &parts)
        .iter()
        .map(|(rows, _)| *rows)
        .collect();
    assert_eq!(rows.iter().sum::<usize>(), GROUP);
    assert!(rows.iter().all(|rows| *rows * 3 >= GROUP), "{rows:?}");
}

#[test]
fn a_task_of_one_row_stays_whole() {
    let table = TestTable::simple();
    let file = table.write("a", &["+I 0 1 x"]);
    let reader = table.reader(ReadRequest::default());
    for split in [table.split(vec![file.clone()]), table.raw_split(vec![file])] {
        let parts = parts_of(&reader, task(split.clone()), 8);
        assert_eq!(parts, [task(split)]);
    }
}

#[test]
fn a_part_goes_through_text() {
    let table = TestTable::simple().laid_out(Layout::small());
    let rows: Vec<String> = (0..20).map(|k| format!("+I {k} {k} x")).collect();
    let file = table.write("a", &rows.iter().map(String::as_str).collect::<Vec<_>>());
    let reader = table.reader(ReadRequest::default());
    for split in [table.split(vec![file.clone()]), table.raw_split(vec![file])] {
        let parts = parts_of(&reader, task(split.clone()), 3);
        let text = serde_json::to_string(&parts).unwrap();
        let read: Vec<ReadTask> = serde_json::from_str(&text).unwrap();
        assert_eq!(read, parts);
        // A task without a part is written as it was before there were parts.
        let whole = serde_json::to_value(task(split)).unwrap();
        assert_eq!(whole.as_object().unwrap().len(), 1);
    }
}

#[test]
fn parts_that_do_not_fit_are_refused_before_a_request() {
    let table = TestTable::simple();
    let file = table.write("a", &["+I 0 1 x", "+I 1 2 x"]);
    let two = parse_type("STRING NOT NULL").unwrap();
    let text = encode_row(
        &[&two],
        &[Some(Datum::String("a rather long one".to_owned()))],
    );
    let rows = |rows: Vec<RowRanges>| Part::Rows(rows);
    let keys = |from: Option<BinaryRow>, to: Option<BinaryRow>| Part::Keys(KeySpan { from, to });
    let two_of_three = RowRanges::from_range(0..3);
    let cases = [
        (true, rows(Vec::new())),
        (true, rows(vec![two_of_three])),
        (false, rows(vec![RowRanges::from_range(0..1)])),
        (false, keys(Some(key(2)), Some(key(2)))),
        (false, keys(Some(key(3)), Some(key(2)))),
        (false, keys(Some(BinaryRow::default()), None)),
        (
            false,
            keys(
                None,
                Some(encode_row(&[&two, &two], &[None, None]).unwrap()),
            ),
        ),
    ];
    assert!(text.is_ok());
    let store = table.counting();
    let resources = over(Arc::<CountingStore>::clone(&store));
    let reader = table.reader_with(ReadRequest::default(), resources);
    for (raw, part) in cases {
        let split = if raw {
            table.raw_split(vec![file.clone()])
        } else {
            table.split(vec![file.clone()])
        };
        let task = ReadTask {
            split: Split::Data(split),
            part: Some(part),
            estimated_bytes: None,
        };
        let error = reader.read(task.clone()).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Corrupt),
            "{error:?} of {task:?}"
        );
    }
    assert_eq!(store.take(), []);
}

#[test]
fn a_part_of_rows_is_refused_where_the_request_merges() {
    let table = TestTable::simple();
    let file = table.write("a", &["+I 0 1 x", "+I 1 2 x"]);
    let reader = table.reader(ReadRequest {
        row_kinds: RowKinds::Keep,
        ..ReadRequest::default()
    });
    let task = ReadTask {
        split: Split::Data(table.raw_split(vec![file])),
        part: Some(Part::Rows(vec![RowRanges::from_range(0..1)])),
        estimated_bytes: None,
    };
    assert_eq!(
        reader.read(task).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
}

#[test]
fn keys_outside_of_the_bounds_of_a_file_are_damage_in_parts_too() {
    let table = TestTable::simple().laid_out(Layout::small());
    let rows: Vec<String> = (0..20).map(|k| format!("+I {k} {k} x")).collect();
    let file = table.write("a", &rows.iter().map(String::as_str).collect::<Vec<_>>());
    let reader = table.reader(ReadRequest {
        row_kinds: RowKinds::Keep,
        ..ReadRequest::default()
    });
    let read = |file: DataFileMeta, from: Option<i32>, to: Option<i32>| {
        let task = ReadTask {
            split: Split::Data(table.split(vec![file])),
            part: Some(Part::Keys(KeySpan {
                from: from.map(key),
                to: to.map(key),
            })),
            estimated_bytes: None,
        };
        collect(reader.read(task).unwrap())
            .map(|_| ())
            .map_err(|error| error.kind())
    };
    let short = DataFileMeta {
        max_key: key(8),
        ..file.clone()
    };
    let late = DataFileMeta {
        min_key: key(11),
        ..file.clone()
    };
    assert_eq!(read(file, Some(5), Some(12)), Ok(()));
    assert_eq!(read(short, Some(5), Some(12)), Err(ErrorKind::Corrupt));
    assert_eq!(read(late, Some(5), Some(12)), Err(ErrorKind::Corrupt));
}
