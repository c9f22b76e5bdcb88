//! What a request asks for besides columns and conditions, and the contract of streams.

use std::sync::Arc;

use arrow_schema::DataType as ArrowType;
use futures_util::StreamExt;
use paimon_io::Counter;
use paimon_meta::{CompareOp, Datum, ErrorKind, FieldId, Predicate, Split};
use paimon_read::{
    ROW_KIND_COLUMN, ReadRequest, ReadTask, RowKinds, RowOrder, TableReader, TaskOrdering, block_on,
};
use paimon_testkit::CountingStore;

use super::table::{Layout, TestTable, batches, collect, over, rows, text};

fn task(split: paimon_meta::DataSplit) -> ReadTask {
    ReadTask::new(Split::Data(split))
}

/// Two runs of 23 rows in row groups of five; the second replaces every third key.
fn two_runs() -> (TestTable, paimon_meta::DataSplit) {
    let table = TestTable::simple().laid_out(Layout::small());
    let lines = |name: &str, step: usize, from: usize| -> Vec<String> {
        let keys = (0..23).step_by(step);
        keys.map(|k| format!("+I {} {k} {name}{k}", from + k))
            .collect()
    };
    let write = |name: &str, lines: Vec<String>| {
        table.write(name, &lines.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let files = vec![write("a", lines("a", 1, 0)), write("b", lines("b", 3, 100))];
    let split = table.split(files);
    (table, split)
}

#[test]
fn kinds_are_a_leading_column_that_is_not_null() {
    // RP-003
    let table = TestTable::simple();
    let file = table.write("a", &["+I 0 1 a", "-U 1 2 b", "+U 2 3 c", "-D 3 4 d"]);
    let request = ReadRequest {
        row_kinds: RowKinds::Keep,
        ..table.columns(&["v"])
    };
    let reader = table.reader(request);
    let schema = reader.schema();
    let kind = schema.field(0);
    assert_eq!(
        (kind.name().as_str(), kind.data_type(), kind.is_nullable()),
        (ROW_KIND_COLUMN, &ArrowType::Int8, false)
    );
    assert_eq!(
        rows(&reader, table.raw_split(vec![file])).unwrap(),
        ["+I a", "-U b", "+U c", "-D d"]
    );
}

#[test]
fn rows_of_append_tables_are_inserts() {
    // RP-218
    let table = TestTable::new(&[("a", "INT")], &[]);
    let split = table.split(vec![table.write("f", &["+I 0 3", "+I 1 4"])]);
    let request = ReadRequest {
        row_kinds: RowKinds::Keep,
        ..ReadRequest::default()
    };
    assert_eq!(table.rows(split, request).unwrap(), ["+I 3", "+I 4"]);
}

#[test]
fn key_order_is_given_where_it_is_wanted() {
    let table = TestTable::simple();
    let files = vec![
        table.write("high", &["+I 0 7 a", "+I 1 9 b"]),
        table.write("low", &["+I 2 1 c", "+I 3 3 d"]),
    ];
    let ordered = |order| {
        let reader = table.reader(ReadRequest {
            order,
            ..ReadRequest::default()
        });
        let split = table.raw_split(files.clone());
        let ordering = reader.ordering(&task(split.clone()));
        (ordering, rows(&reader, split).unwrap())
    };
    assert_eq!(
        ordered(RowOrder::Any),
        (
            TaskOrdering::Unordered,
            ["7 a", "9 b", "1 c", "3 d"].map(str::to_owned).to_vec()
        )
    );
    assert_eq!(
        ordered(RowOrder::Key),
        (
            TaskOrdering::Key,
            ["1 c", "3 d", "7 a", "9 b"].map(str::to_owned).to_vec()
        )
    );
}

#[test]
fn ordering_promises_keys_where_they_come_in_order() {
    // RP-302
    let (table, merged) = two_runs();
    let one = table.raw_split(merged.files[..1].to_vec());
    let reader = table.reader(ReadRequest::default());
    assert_eq!(reader.ordering(&task(merged)), TaskOrdering::Key);
    assert_eq!(reader.ordering(&task(one)), TaskOrdering::Key);
    let append = TestTable::new(&[("a", "INT")], &[]);
    let split = append.split(vec![append.write("f", &["+I 0 3"])]);
    let reader = append.reader(ReadRequest::default());
    assert_eq!(reader.ordering(&task(split)), TaskOrdering::Unordered);
}

#[test]
fn limit_gives_exactly_that_many_rows() {
    // RP-214: the reference counts per split
    let (table, merged) = two_runs();
    let raw = table.raw_split(merged.files[..1].to_vec());
    for (limit, expected) in [(0, 0), (1, 1), (9, 9), (23, 23), (99, 23)] {
        let request = ReadRequest {
            limit: Some(limit),
            batch_size: 4,
            ..ReadRequest::default()
        };
        for split in [&merged, &raw] {
            let rows = table.rows(split.clone(), request.clone()).unwrap();
            assert_eq!(rows.len(), expected, "{limit}");
        }
    }
}

#[test]
fn limit_counts_over_all_tasks_of_a_stream() {
    let (table, split) = two_runs();
    let reader = table.reader(ReadRequest {
        limit: Some(30),
        batch_size: 7,
        ..ReadRequest::default()
    });
    let stream = reader.read_all(vec![task(split.clone()), task(split)]);
    let rows: usize = collect(stream.unwrap())
        .unwrap()
        .iter()
        .map(arrow_array::RecordBatch::num_rows)
        .sum();
    assert_eq!(rows, 30);
}

#[test]
fn rows_past_the_limit_are_not_decoded() {
    let (table, split) = two_runs();
    let split = table.raw_split(split.files[..1].to_vec());
    let reader = table.reader(ReadRequest {
        limit: Some(5),
        batch_size: 5,
        ..ReadRequest::default()
    });
    assert_eq!(rows(&reader, split).unwrap().len(), 5);
    let metrics = reader.context().resources.metrics();
    assert_eq!(metrics.get(Counter::RowsDecoded), 5);
}

#[test]
fn every_batch_size_gives_the_same_rows_in_batches_of_it() {
    let (table, split) = two_runs();
    let all = table.merged(split.files.clone());
    assert_eq!(all.len(), 23);
    for batch_size in 1..=24 {
        for split in [split.clone(), table.raw_split(split.files[..1].to_vec())] {
            let request = ReadRequest {
                batch_size,
                ..ReadRequest::default()
            };
            let reader = table.reader(request);
            // Sizes and schemas are checked where batches are collected.
            let batches = batches(&reader, split.clone()).unwrap();
            let rows: Vec<String> = batches
                .iter()
                .flat_map(|batch| text(&reader, batch))
                .collect();
            if split.raw_convertible {
                assert_eq!(rows.len(), 23);
            } else {
                assert_eq!(rows, all, "{batch_size}");
            }
        }
    }
}

#[test]
fn no_columns_still_count_rows() {
    // RP-314
    let (table, split) = two_runs();
    for (split, expected) in [
        (table.raw_split(split.files[..1].to_vec()), 23),
        (split, 23),
    ] {
        let reader = table.reader(ReadRequest {
            batch_size: 10,
            ..table.columns(&[])
        });
        let batches = batches(&reader, split).unwrap();
        assert_eq!(reader.schema().fields().len(), 0);
        let rows: usize = batches.iter().map(arrow_array::RecordBatch::num_rows).sum();
        assert_eq!(rows, expected);
    }
}

#[test]
fn split_without_files_gives_a_schema_and_no_batch() {
    let table = TestTable::simple();
    let reader = table.reader(ReadRequest::default());
    for split in [table.split(Vec::new()), table.raw_split(Vec::new())] {
        let stream = reader.read(task(split)).unwrap();
        assert_eq!(stream.schema().fields().len(), 2);
        assert_eq!(collect(stream).unwrap(), []);
    }
}

#[test]
fn wrong_requests_are_invalid_input() {
    let table = TestTable::simple();
    let kind = |request: ReadRequest| {
        let made = TableReader::new(Arc::new(table.table.clone()), request, table.resources());
        made.unwrap_err().kind()
    };
    assert_eq!(
        kind(ReadRequest {
            batch_size: 0,
            ..ReadRequest::default()
        }),
        ErrorKind::InvalidInput
    );
    assert_eq!(
        kind(ReadRequest {
            projection: Some(vec![FieldId(7)]),
            ..ReadRequest::default()
        }),
        ErrorKind::InvalidInput
    );
    let unknown = ReadRequest::default().with_columns(&table.table.schema, &["w"]);
    let error = unknown.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.message().contains("the table has k, v"), "{error}");
}

#[test]
fn stream_has_ended_after_an_error() {
    let (table, mut split) = two_runs();
    split.files[1].row_count = 99;
    let reader = table.reader(ReadRequest::default());
    for split in [split.clone(), table.raw_split(split.files[1..].to_vec())] {
        let mut stream = reader.read(task(split)).unwrap();
        let mut failed = false;
        while let Some(item) = block_on(stream.next()) {
            assert!(!failed, "nothing comes after an error");
            failed = item.is_err();
        }
        assert!(failed);
        assert!(block_on(stream.next()).is_none());
    }
}

#[test]
fn error_of_one_task_ends_the_stream_of_all() {
    let (table, split) = two_runs();
    let mut broken = split.clone();
    broken.files[0].file_name = "gone.parquet".to_owned();
    let reader = table.reader(ReadRequest::default());
    let tasks = vec![task(split.clone()), task(broken), task(split)];
    let mut stream = reader.read_all(tasks).unwrap();
    let mut seen = Vec::new();
    while let Some(item) = block_on(stream.next()) {
        seen.push(item.map(|batch| batch.num_rows()));
    }
    let (last, before) = seen.split_last().unwrap();
    assert_eq!(last.as_ref().unwrap_err().kind(), ErrorKind::NotFound);
    let rows: usize = before.iter().map(|rows| *rows.as_ref().unwrap()).sum();
    assert_eq!(rows, 23);
}

#[test]
fn tasks_requests_and_tables_are_data() {
    let columns = [("k", "DOUBLE NOT NULL"), ("v", "STRING"), ("b", "BYTES")];
    let table = TestTable::new(&columns, &["k"]);
    let split = table.split(vec![
        table.write("a", &["+I 0 -0.0 x 00ff", "+I 1 1.5 y -", "+I 2 NaN z 01"]),
        table.write("b", &["-D 3 1.5 y -"]),
    ]);
    let (k, b) = (table.field("k"), table.field("b"));
    let predicate = Predicate::or([
        Predicate::eq(k.id, k.data_type, Datum::Double(f64::NAN)),
        Predicate::compare(
            b.id,
            b.data_type,
            CompareOp::Lt,
            Datum::Binary(vec![0, 255, 0]),
        ),
    ]);
    let request = ReadRequest {
        predicate: Some(predicate),
        limit: Some(10),
        batch_size: 2,
        row_kinds: RowKinds::Keep,
        order: RowOrder::Key,
        ..table.columns(&["v", "k"])
    };
    let expected = table.rows(split.clone(), request.clone()).unwrap();
    assert_eq!(expected, ["+I x -0.0", "+I z NaN"]);
    let request: ReadRequest =
        serde_json::from_str(&serde_json::to_string(&request).unwrap()).unwrap();
    let task: ReadTask =
        serde_json::from_str(&serde_json::to_string(&task(split)).unwrap()).unwrap();
    let resolved = serde_json::from_str(&serde_json::to_string(&table.table).unwrap()).unwrap();
    let reader = TableReader::new(Arc::new(resolved), request, table.resources()).unwrap();
    let batches = collect(reader.read(task).unwrap()).unwrap();
    let rows: Vec<String> = batches
        .iter()
        .flat_map(|batch| text(&reader, batch))
        .collect();
    assert_eq!(rows, expected);
}

#[test]
fn making_streams_asks_for_nothing() {
    let (table, split) = two_runs();
    let store = table.counting();
    let resources = over(Arc::<CountingStore>::clone(&store));
    let reader = table.reader_with(ReadRequest::default(), resources);
    let raw = table.raw_split(split.files[..1].to_vec());
    let tasks = vec![task(split), task(raw)];
    for task in &tasks {
        reader.provider(task).unwrap();
        reader.ordering(task);
        drop(reader.read(task.clone()).unwrap());
    }
    drop(reader.read_all(tasks).unwrap());
    assert_eq!(store.take(), []);
}
