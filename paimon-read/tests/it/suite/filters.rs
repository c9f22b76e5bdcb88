//! Conditions: on winners only, on columns that are not shown, beyond the window, and in the caller's own language.

use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{BooleanArray, RecordBatch};
use paimon_io::Counter;
use paimon_meta::{
    CompareOp, DataSplit, Datum, Error, ErrorKind, FieldId, Predicate, Result, Split,
    TablePredicate, TypeKind, encode_row,
};
use paimon_read::{
    PredicateFilter, ReadContext, ReadRequest, ReadTask, RowFilter, TableReader, default_providers,
};
use paimon_testkit::CountingStore;

use super::table::{Layout, TestTable, collect, over, rows};

fn compare(table: &TestTable, column: &str, op: CompareOp, value: &str) -> TablePredicate {
    let field = table.field(column);
    let literal = Datum::parse(value, &field.data_type).unwrap();
    Predicate::compare(field.id, field.data_type, op, literal)
}

fn asking(predicate: TablePredicate) -> ReadRequest {
    ReadRequest {
        predicate: Some(predicate),
        ..ReadRequest::default()
    }
}

#[test]
fn condition_on_values_sees_winners_only() {
    // RP-216, RP-321, ME 8: the version that matches has lost.
    let table = TestTable::simple();
    let files = vec![
        table.write("a", &["+I 0 1 old", "+I 1 2 old", "+I 2 3 old"]),
        table.write("b", &["+I 3 1 new", "-D 4 2 old", "+I 5 4 old"]),
    ];
    let ask = |op, value| {
        let request = asking(compare(&table, "v", op, value));
        table.rows(table.split(files.clone()), request).unwrap()
    };
    assert_eq!(ask(CompareOp::Eq, "old"), ["3 old", "4 old"]);
    assert_eq!(ask(CompareOp::Eq, "new"), ["1 new"]);
    assert_eq!(ask(CompareOp::NotEq, "old"), ["1 new"]);
    assert_eq!(ask(CompareOp::Gt, "x"), [""; 0]);
}

#[test]
fn condition_holds_on_a_column_that_is_not_shown() {
    // RP-217: the reference drops the condition; ours reads the column for it.
    let columns = [("k", "INT NOT NULL"), ("v", "STRING"), ("n", "INT")];
    let table = TestTable::new(&columns, &["k"]);
    let files = vec![
        table.write("a", &["+I 0 1 x 1", "+I 1 2 y 2", "+I 2 3 z -"]),
        table.write("b", &["+I 3 2 new 5"]),
    ];
    let request = ReadRequest {
        predicate: Some(compare(&table, "n", CompareOp::GtEq, "1")),
        ..table.columns(&["v"])
    };
    let merged = table.rows(table.split(files.clone()), request.clone());
    assert_eq!(merged.unwrap(), ["x", "new"]);
    let raw = table.rows(table.raw_split(files[..1].to_vec()), request);
    assert_eq!(raw.unwrap(), ["x", "y"]);
}

#[test]
fn condition_on_a_sequence_field_holds_beyond_the_window() {
    // The filter needs columns that the key pass has not reached when the budget is used up.
    let columns = [("k", "INT NOT NULL"), ("s", "INT"), ("v", "STRING")];
    let table = TestTable::new(&columns, &["k"])
        .option("sequence.field", "s")
        .laid_out(Layout::small());
    let run = |name: &str, first: i64, s: i64| {
        let lines: Vec<String> = (0..40)
            .map(|k| format!("+I {} {k} {} {name}", first + k, (k * 7 + s) % 10))
            .collect();
        table.write(name, &lines.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let files = vec![run("a", 0, 0), run("b", 100, 4)];
    let all = table.merged(files.clone());
    let expected: Vec<String> = all
        .into_iter()
        .filter(|row| row.split(' ').nth(1).unwrap().parse::<i32>().unwrap() >= 8)
        .collect();
    assert!(expected.len() > 10);
    for window_bytes in [0, 100, 1000, 1 << 20] {
        let request = ReadRequest {
            window_bytes,
            ..asking(compare(&table, "s", CompareOp::GtEq, "8"))
        };
        let rows = table.rows(table.split(files.clone()), request);
        assert_eq!(rows.unwrap(), expected, "{window_bytes}");
    }
}

#[test]
fn row_groups_that_cannot_match_are_not_decoded() {
    let columns = [("k", "INT NOT NULL"), ("n", "INT")];
    let table = TestTable::new(&columns, &["k"]).laid_out(Layout::small());
    let lines: Vec<String> = (0..50).map(|k| format!("+I {k} {k} {}", k / 5)).collect();
    let file = table.write("a", &lines.iter().map(String::as_str).collect::<Vec<_>>());
    let other = table.write("b", &["+I 100 7 1"]);
    // One group for the condition, then its key column; in a merge all keys, then the group for the condition.
    for (files, decoded) in [(vec![file.clone()], 5 + 5), (vec![file, other], 51 + 5)] {
        let reader = table.reader(asking(compare(&table, "n", CompareOp::Eq, "3")));
        let found = rows(&reader, table.split(files)).unwrap();
        assert_eq!(found, ["15 3", "16 3", "17 3", "18 3", "19 3"]);
        let metrics = reader.context().resources.metrics();
        assert_eq!(metrics.get(Counter::RowsDecoded), decoded);
    }
}

#[test]
fn condition_that_no_row_can_satisfy_reads_nothing() {
    let table = TestTable::simple();
    let file = table.write("a", &["+I 0 1 x"]);
    for split in [table.split(vec![file.clone()]), table.raw_split(vec![file])] {
        for constant in [Some(false), None] {
            let store = table.counting();
            let resources = over(Arc::<CountingStore>::clone(&store));
            let reader = table.reader_with(asking(Predicate::Constant(constant)), resources);
            assert_eq!(rows(&reader, split.clone()).unwrap(), [""; 0]);
            assert_eq!(store.take(), []);
        }
    }
}

/// A partitioned table, and a split of its partition 2024-01-02.
fn partitioned() -> (TestTable, DataSplit) {
    let columns = [("d", "DATE NOT NULL"), ("k", "INT NOT NULL"), ("n", "INT")];
    let mut table = TestTable::new(&columns, &["d", "k"]).partitioned_by(&["d"]);
    table.layout = Layout::small();
    let lines: Vec<String> = (0..30)
        .map(|k| format!("+I {k} 1999-09-09 {k} {k}"))
        .collect();
    let a = table.write("a", &lines.iter().map(String::as_str).collect::<Vec<_>>());
    let b = table.write("b", &["+I 100 1999-09-09 3 -3", "+I 101 1999-09-09 7 -7"]);
    let day = Datum::parse("2024-01-02", &TypeKind::Date.not_null()).unwrap();
    let split = DataSplit {
        partition: encode_row(&[&TypeKind::Date.not_null()], &[Some(day)]).unwrap(),
        ..table.split(vec![a, b])
    };
    (table, split)
}

#[test]
fn condition_on_a_partition_column_is_decided_by_the_split() {
    // RP-255: not by what the file holds
    let (table, split) = partitioned();
    let day = |value| compare(&table, "d", CompareOp::Eq, value);
    let k = || compare(&table, "k", CompareOp::Lt, "4");
    let rows = |predicate| table.rows(split.clone(), asking(predicate)).unwrap();
    assert_eq!(
        rows(Predicate::and([day("2024-01-02"), k()])),
        [
            "2024-01-02 0 0",
            "2024-01-02 1 1",
            "2024-01-02 2 2",
            "2024-01-02 3 -3"
        ]
    );
    assert_eq!(rows(Predicate::and([day("1999-09-09"), k()])), [""; 0]);
    assert_eq!(rows(Predicate::or([day("1999-09-09"), k()])).len(), 4);
}

/// A filter of the test's own.
#[derive(Debug)]
struct Own {
    columns: Vec<FieldId>,
    answer: fn(&RecordBatch) -> Result<BooleanArray>,
    seen: Arc<Mutex<Vec<RecordBatch>>>,
}

impl RowFilter for Own {
    fn columns(&self) -> &[FieldId] {
        &self.columns
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanArray> {
        self.seen.lock().unwrap().push(batch.clone());
        (self.answer)(batch)
    }
}

struct Filtered {
    reader: TableReader,
    seen: Arc<Mutex<Vec<RecordBatch>>>,
}

fn filtered(
    table: &TestTable,
    request: ReadRequest,
    columns: &[&str],
    answer: fn(&RecordBatch) -> Result<BooleanArray>,
) -> Filtered {
    let seen = Arc::default();
    let own = Own {
        columns: columns.iter().map(|name| table.field(name).id).collect(),
        answer,
        seen: Arc::clone(&seen),
    };
    let reader = TableReader::from_context(ReadContext {
        table: Arc::new(table.table.clone()),
        request,
        filter: Some(Arc::new(own)),
        resources: table.resources(),
        providers: default_providers(),
    });
    Filtered {
        reader: reader.unwrap(),
        seen,
    }
}

/// True for odd numbers of the first column, null for null.
fn is_odd(batch: &RecordBatch) -> Result<BooleanArray> {
    let numbers = batch.column(0).as_primitive::<Int32Type>();
    Ok(numbers.iter().map(|n| n.map(|n| n % 2 != 0)).collect())
}

fn numbers() -> (TestTable, DataSplit) {
    let columns = [("k", "INT NOT NULL"), ("v", "STRING"), ("n", "INT")];
    let table = TestTable::new(&columns, &["k"]);
    let files = vec![
        table.write(
            "a",
            &["+I 0 1 x 1", "+I 1 2 y 3", "+I 2 3 z -", "+I 3 4 w 8"],
        ),
        table.write("b", &["+I 4 2 new 4", "+I 5 4 new 9"]),
    ];
    let split = table.split(files);
    (table, split)
}

#[test]
fn own_filter_gets_its_columns_of_winners_and_null_drops_the_row() {
    let (table, split) = numbers();
    let own = filtered(&table, table.columns(&["k"]), &["n", "k"], is_odd);
    assert_eq!(rows(&own.reader, split).unwrap(), ["1", "4"]);
    let mut seen = Vec::new();
    for batch in own.seen.lock().unwrap().iter() {
        let schema = batch.schema();
        let names: Vec<&str> = schema
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .collect();
        assert_eq!(names, ["n", "k"]);
        let numbers = batch.column(0).as_primitive::<Int32Type>();
        seen.extend(numbers.iter());
    }
    seen.sort_unstable();
    assert_eq!(
        seen,
        [None, Some(1), Some(4), Some(9)],
        "never 3 and 8, which lost"
    );
}

#[test]
fn own_filter_and_condition_must_both_hold() {
    let (table, split) = numbers();
    let request = ReadRequest {
        predicate: Some(compare(&table, "v", CompareOp::Eq, "new")),
        ..ReadRequest::default()
    };
    let own = filtered(&table, request, &["n"], is_odd);
    assert_eq!(rows(&own.reader, split).unwrap(), ["4 new 9"]);
}

#[test]
fn own_filter_works_on_raw_reads_too() {
    let (table, split) = numbers();
    let own = filtered(&table, ReadRequest::default(), &["n"], is_odd);
    let raw = table.raw_split(split.files[..1].to_vec());
    assert_eq!(rows(&own.reader, raw).unwrap(), ["1 x 1", "2 y 3"]);
}

#[test]
fn own_filter_on_partition_columns_alone_holds_beyond_the_window() {
    // Nothing is decoded for it, so rows must not be taken for passed where keys are not loaded.
    let (table, split) = partitioned();
    let all = |batch: &RecordBatch| Ok(BooleanArray::from(vec![true; batch.num_rows()]));
    for window_bytes in [0, 100, 1 << 20] {
        let request = ReadRequest {
            window_bytes,
            ..ReadRequest::default()
        };
        let own = filtered(&table, request, &["d"], all);
        let found = rows(&own.reader, split.clone()).unwrap();
        assert_eq!(found.len(), 30, "{window_bytes}");
        let seen = own.seen.lock().unwrap();
        let day = seen[0]
            .column(0)
            .as_primitive::<arrow_array::types::Date32Type>();
        assert_eq!(day.value(0), 19_724, "the partition's day");
    }
}

#[test]
fn predicate_as_the_own_filter_gives_the_same_rows() {
    let (table, split) = numbers();
    let predicate = Predicate::or([
        compare(&table, "n", CompareOp::Gt, "8"),
        compare(&table, "v", CompareOp::Lt, "y"),
    ]);
    let by_request = table
        .rows(split.clone(), asking(predicate.clone()))
        .unwrap();
    assert_eq!(by_request, ["1 x 1", "2 new 4", "4 new 9"]);
    let reader = TableReader::from_context(ReadContext {
        table: Arc::new(table.table.clone()),
        request: ReadRequest::default(),
        filter: Some(Arc::new(PredicateFilter::new(&predicate).unwrap())),
        resources: table.resources(),
        providers: default_providers(),
    });
    assert_eq!(rows(&reader.unwrap(), split).unwrap(), by_request);
}

#[test]
fn wrong_number_of_answers_is_an_error() {
    let (table, split) = numbers();
    let short = |batch: &RecordBatch| Ok(BooleanArray::from(vec![true; batch.num_rows() - 1]));
    let own = filtered(&table, ReadRequest::default(), &["n"], short);
    let error = rows(&own.reader, split).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.message().contains("answers for"), "{error}");
}

#[test]
fn error_of_the_own_filter_ends_the_read() {
    let (table, split) = numbers();
    let fails = |_: &RecordBatch| Err(Error::invalid_input("the engine says no"));
    let own = filtered(&table, ReadRequest::default(), &["n"], fails);
    let stream = own.reader.read(ReadTask::new(Split::Data(split))).unwrap();
    assert_eq!(collect(stream).unwrap_err().message(), "the engine says no");
}

#[test]
fn filter_on_an_unknown_column_is_invalid_input() {
    let (table, _) = numbers();
    let own = Own {
        columns: vec![FieldId(99)],
        answer: is_odd,
        seen: Arc::default(),
    };
    let context = ReadContext {
        table: Arc::new(table.table.clone()),
        request: ReadRequest::default(),
        filter: Some(Arc::new(own)),
        resources: table.resources(),
        providers: default_providers(),
    };
    let error = TableReader::from_context(context).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    let int = TypeKind::Int.nullable();
    let request = asking(Predicate::is_null(FieldId(99), int));
    let error = TableReader::new(Arc::new(table.table.clone()), request, table.resources());
    assert_eq!(error.unwrap_err().kind(), ErrorKind::InvalidInput);
}
