//! Files of older schemas: columns are matched by id, partition columns come from the split.

use std::sync::Arc;

use paimon_meta::{
    CompareOp, DataField, DataFileMeta, DataSplit, Datum, ErrorKind, FieldId, Frame, Predicate,
    Split, TableSchema, TypeKind, encode_row, parse_type,
};
use paimon_read::{FineTimestamps, ReadRequest, ReadTask};
use paimon_testkit::CountingStore;
use proptest::prelude::*;

use super::table::{Layout, TestTable, over};

fn column(id: i32, name: &str, kind: TypeKind) -> DataField {
    DataField {
        id: FieldId(id),
        name: name.to_owned(),
        data_type: kind.nullable(),
        description: None,
        default_value: None,
    }
}

/// A table of `k, a, b` whose first file has old rows, and whose second one rows of the changed schema.
struct Evolved {
    table: TestTable,
    old: DataFileMeta,
    new: DataFileMeta,
}

fn evolved(change: impl FnOnce(&mut TableSchema), new: &[&str]) -> Evolved {
    let columns = [("k", "INT NOT NULL"), ("a", "STRING"), ("b", "INT")];
    let mut table = TestTable::new(&columns, &["k"]);
    let old = table.write("old", &["+I 0 1 x 10", "+I 1 2 y 20", "+I 2 3 - -"]);
    table.evolve(change);
    let new = table.write("new", new);
    Evolved { table, old, new }
}

impl Evolved {
    /// All rows, read raw: the old file, then the new one.
    fn raw(&self) -> Vec<String> {
        let split = self
            .table
            .raw_split(vec![self.old.clone(), self.new.clone()]);
        self.table.rows(split, ReadRequest::default()).unwrap()
    }

    fn merged(&self) -> Vec<String> {
        self.table.merged(vec![self.old.clone(), self.new.clone()])
    }

    /// Rows that satisfy a condition, raw and merged.
    fn matching(&self, predicate: Predicate<FieldId>) -> (Vec<String>, Vec<String>) {
        let request = ReadRequest {
            predicate: Some(predicate),
            ..ReadRequest::default()
        };
        let files = vec![self.old.clone(), self.new.clone()];
        let raw = self.table.raw_split(files.clone());
        let merged = self.table.split(files);
        let rows = |split: DataSplit| self.table.rows(split, request.clone()).unwrap();
        (rows(raw), rows(merged))
    }
}

#[test]
fn added_column_is_null_in_old_rows() {
    // RP-254
    let evolved = evolved(
        |schema| schema.fields.insert(1, column(3, "c", TypeKind::Date)),
        &["+I 5 2 2024-01-02 new 7"],
    );
    assert_eq!(
        evolved.raw(),
        ["1 - x 10", "2 - y 20", "3 - - -", "2 2024-01-02 new 7"]
    );
    assert_eq!(
        evolved.merged(),
        ["1 - x 10", "2 2024-01-02 new 7", "3 - - -"]
    );
    let c = column(3, "c", TypeKind::Date);
    let (raw, merged) = evolved.matching(Predicate::is_null(c.id, c.data_type.clone()));
    assert_eq!(raw, ["1 - x 10", "2 - y 20", "3 - - -"]);
    assert_eq!(merged, ["1 - x 10", "3 - - -"]);
    let (raw, merged) = evolved.matching(Predicate::is_not_null(c.id, c.data_type));
    assert_eq!((raw.len(), merged.len()), (1, 1));
}

#[test]
fn dropped_column_is_gone() {
    let evolved = evolved(|schema| drop(schema.fields.remove(1)), &["+I 5 2 7"]);
    assert_eq!(evolved.raw(), ["1 10", "2 20", "3 -", "2 7"]);
    assert_eq!(evolved.merged(), ["1 10", "2 7", "3 -"]);
}

#[test]
fn renamed_column_keeps_its_values() {
    let evolved = evolved(
        |schema| schema.fields[1].name = "renamed".to_owned(),
        &["+I 5 2 new 7"],
    );
    assert_eq!(evolved.raw(), ["1 x 10", "2 y 20", "3 - -", "2 new 7"]);
    assert_eq!(evolved.merged(), ["1 x 10", "2 new 7", "3 - -"]);
    let string = evolved.table.field("renamed").data_type;
    let x = Predicate::eq(FieldId(1), string, Datum::String("x".to_owned()));
    let (raw, merged) = evolved.matching(x);
    assert_eq!(
        (raw, merged),
        (vec!["1 x 10".to_owned()], vec!["1 x 10".to_owned()])
    );
}

#[test]
fn columns_that_exchanged_their_names_keep_their_values() {
    let evolved = evolved(
        |schema| {
            schema.fields[1].name = "b".to_owned();
            schema.fields[2].name = "a".to_owned();
        },
        &["+I 5 2 new 7"],
    );
    assert_eq!(evolved.merged(), ["1 x 10", "2 new 7", "3 - -"]);
    let int = evolved.table.field("a").data_type;
    let (raw, merged) = evolved.matching(Predicate::eq(FieldId(2), int, Datum::Int(10)));
    assert_eq!(
        (raw, merged),
        (vec!["1 x 10".to_owned()], vec!["1 x 10".to_owned()])
    );
}

#[test]
fn reordered_columns_come_in_the_new_order() {
    let evolved = evolved(|schema| schema.fields.reverse(), &["+I 5 7 new 2"]);
    assert_eq!(evolved.raw(), ["10 x 1", "20 y 2", "- - 3", "7 new 2"]);
    assert_eq!(evolved.merged(), ["10 x 1", "7 new 2", "- - 3"]);
}

#[test]
fn column_that_was_dropped_and_added_again_is_null_in_old_rows() {
    // TF-078: the same name and type, another id
    let evolved = evolved(
        |schema| {
            schema.fields.remove(2);
            schema.fields.push(column(3, "b", TypeKind::Int));
        },
        &["+I 5 2 new 7"],
    );
    assert_eq!(evolved.raw(), ["1 x -", "2 y -", "3 - -", "2 new 7"]);
    assert_eq!(evolved.merged(), ["1 x -", "2 new 7", "3 - -"]);
    // Bounds of the old column of that name must not decide.
    let int = || TypeKind::Int.nullable();
    let (raw, merged) = evolved.matching(Predicate::is_null(FieldId(3), int()));
    assert_eq!(raw, ["1 x -", "2 y -", "3 - -"]);
    assert_eq!(merged, ["1 x -", "3 - -"]);
    let ten = Predicate::eq(FieldId(3), int(), Datum::Int(10));
    assert_eq!(evolved.matching(ten), (Vec::new(), Vec::new()));
}

#[test]
fn column_of_another_type_is_cast_in_old_rows() {
    // TF-091, TF-094: text that was written before the column became a number
    let columns = [("k", "INT NOT NULL"), ("a", "STRING"), ("b", "INT")];
    let mut table = TestTable::new(&columns, &["k"]);
    let old = table.write("old", &["+I 0 1 9 10", "+I 1 2 bad 20", "+I 2 3 11 -"]);
    table.evolve(|schema| {
        schema.fields[1].data_type = TypeKind::BigInt.nullable();
        schema.fields[2].data_type = TypeKind::VarChar(1).nullable();
    });
    let new = table.write("new", &["+I 5 2 7 z"]);
    let evolved = Evolved { table, old, new };
    // The reference never looks at the version with the bad text, for it lost the merge.
    assert_eq!(evolved.merged(), ["1 9 1", "2 7 z", "3 11 -"]);
    let bigint = TypeKind::BigInt.nullable();
    let over = |least| Predicate::gt(FieldId(1), bigint.clone(), Datum::BigInt(least));
    let request = |predicate| ReadRequest {
        predicate: Some(predicate),
        ..ReadRequest::default()
    };
    let files = || vec![evolved.old.clone(), evolved.new.clone()];
    let merged = evolved
        .table
        .rows(evolved.table.split(files()), request(over(9)));
    assert_eq!(merged.unwrap(), ["3 11 -"]);
    // Read raw it is a row of the result.
    for predicate in [over(100), over(9)] {
        let error = evolved
            .table
            .rows(evolved.table.raw_split(files()), request(predicate));
        let error = error.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(
            error
                .frames()
                .any(|frame| *frame == Frame::Column("a".to_owned())),
            "{error}"
        );
    }
}

/// A table partitioned by `p`, with a split of the partition of that text.
fn partitioned(value: Option<&str>) -> (TestTable, DataSplit) {
    let columns = [("k", "INT NOT NULL"), ("p", "STRING"), ("v", "INT")];
    let table = TestTable::new(&columns, &["p", "k"]).partitioned_by(&["p"]);
    let files = vec![
        table.write("a", &["+I 0 1 other 10", "+I 1 2 - 20"]),
        table.write("b", &["+I 2 2 else 21", "+I 3 3 more 30"]),
    ];
    let string = table.field("p").data_type;
    let value = value.map(|text| Datum::String(text.to_owned()));
    let split = DataSplit {
        partition: encode_row(&[&string], &[value]).unwrap(),
        ..table.split(files)
    };
    (table, split)
}

#[test]
fn partition_columns_come_from_the_split_whatever_the_file_holds() {
    // RP-255
    let (table, split) = partitioned(Some("one"));
    let all = || ReadRequest::default();
    assert_eq!(
        table.rows(split.clone(), all()).unwrap(),
        ["1 one 10", "2 one 21", "3 one 30"]
    );
    let raw = DataSplit {
        files: split.files[..1].to_vec(),
        raw_convertible: true,
        ..split.clone()
    };
    assert_eq!(table.rows(raw, all()).unwrap(), ["1 one 10", "2 one 20"]);
    let only = table.rows(split, table.columns(&["p"])).unwrap();
    assert_eq!(only, ["one", "one", "one"]);
    let (table, split) = partitioned(None);
    assert_eq!(
        table.rows(split, all()).unwrap(),
        ["1 - 10", "2 - 21", "3 - 30"]
    );
}

#[test]
fn partition_columns_need_not_be_in_the_file() {
    // RP-311
    let mut without = TestTable::new(&[("k", "INT NOT NULL"), ("v", "INT")], &["k"]);
    let file = without.write("a", &["+I 0 1 10"]);
    without
        .table
        .schema
        .fields
        .insert(1, column(2, "p", TypeKind::Date));
    without.table.schema.primary_keys.insert(0, "p".to_owned());
    without.table.schema.fields[2].id = FieldId(1);
    let table = without.partitioned_by(&["p"]);
    let date = TypeKind::Date.nullable();
    let split = DataSplit {
        partition: encode_row(&[&date], &[Some(Datum::Date(1))]).unwrap(),
        ..table.split(vec![file])
    };
    let rows = table.rows(split, ReadRequest::default()).unwrap();
    assert_eq!(rows, ["1 1970-01-02 10"]);
}

#[test]
fn schema_of_a_data_file_that_is_missing_is_named_before_any_request() {
    // TF-099
    let evolved = evolved(|schema| drop(schema.fields.remove(1)), &["+I 5 2 7"]);
    let mut table = evolved.table.clone();
    table.table.schemas.remove(&0);
    for files in [
        vec![evolved.old.clone()],
        vec![evolved.old.clone(), evolved.new.clone()],
    ] {
        for split in [table.split(files.clone()), table.raw_split(files)] {
            let store = table.counting();
            let resources = over(Arc::<CountingStore>::clone(&store));
            let reader = table.reader_with(ReadRequest::default(), resources);
            let task = ReadTask::new(Split::Data(split));
            let error = reader.read(task).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound);
            assert!(error.message().contains("schema-0"), "{error}");
            assert_eq!(
                error.frames().last(),
                Some(&Frame::File("old.parquet".to_owned()))
            );
            assert_eq!(store.take(), []);
        }
    }
}

#[test]
fn column_of_the_schema_that_a_file_lacks_is_null_or_an_error() {
    // RP-256
    let short = TestTable::new(&[("k", "INT NOT NULL")], &["k"]);
    let files = vec![
        short.write("a", &["+I 0 1", "+I 1 2"]),
        short.write("b", &["+I 2 2"]),
    ];
    for (nullable, data_type) in [(true, "INT"), (false, "INT NOT NULL")] {
        let mut table = TestTable::new(&[("k", "INT NOT NULL"), ("v", data_type)], &["k"]);
        table.store = Arc::clone(&short.store);
        for split in [
            table.split(files.clone()),
            table.raw_split(files[..1].to_vec()),
        ] {
            let rows = table.rows(split, ReadRequest::default());
            if nullable {
                assert_eq!(rows.unwrap(), ["1 -", "2 -"]);
                continue;
            }
            let error = rows.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt);
            assert!(
                error
                    .frames()
                    .any(|frame| *frame == Frame::Column("v".to_owned()))
            );
            assert!(
                error.to_string().contains(".parquet"),
                "{error} names the file"
            );
        }
    }
}

#[test]
fn timestamps_beyond_nanoseconds_are_an_error_or_come_in_microseconds() {
    let mut table = TestTable::new(&[("k", "INT NOT NULL"), ("t", "TIMESTAMP(6)")], &["k"]);
    let file = table.write("a", &["+I 0 1 9999-12-31T23:59:59.000001", "+I 1 2 -"]);
    // What was written as microseconds is read by the unit that the file says (TF-084).
    table.table.schema.fields[1].data_type = TypeKind::Timestamp(9).nullable();
    let rows = |fine_timestamps, split: &DataSplit, predicate| {
        let request = ReadRequest {
            fine_timestamps,
            predicate,
            ..ReadRequest::default()
        };
        table.rows(split.clone(), request)
    };
    for split in [table.raw_split(vec![file.clone()]), table.split(vec![file])] {
        let error = rows(FineTimestamps::Nanoseconds, &split, None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.message().contains("outside the range"), "{error}");
        assert!(
            error
                .frames()
                .any(|frame| *frame == Frame::Column("t".to_owned()))
        );
        let all = rows(FineTimestamps::Microseconds, &split, None).unwrap();
        assert_eq!(all, ["1 9999-12-31T23:59:59.000001", "2 -"]);
        // Conditions compare nanoseconds.
        let null = Predicate::is_null(FieldId(1), TypeKind::Timestamp(9).nullable());
        rows(FineTimestamps::Microseconds, &split, Some(null)).unwrap_err();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// RP-086, RP-257: bounds of the old type never lose a row.
    #[test]
    fn conditions_on_columns_of_another_type_find_all_rows(
        values in proptest::collection::vec(proptest::option::of(-300_i64..300), 1..40),
        change in proptest::sample::select(vec![
            ("INT", "BIGINT"),
            ("BIGINT", "TINYINT"),
            ("STRING", "INT"),
            ("INT", "STRING"),
            ("DOUBLE", "INT"),
            ("INT", "DECIMAL(4, 1)"),
            ("SMALLINT", "BOOLEAN"),
        ]),
        op in proptest::sample::select(vec![
            CompareOp::Eq, CompareOp::NotEq, CompareOp::Lt, CompareOp::LtEq, CompareOp::Gt, CompareOp::GtEq,
        ]),
        literal in -300_i64..300,
        raw in any::<bool>(),
    ) {
        let mut table = TestTable::new(&[("k", "INT NOT NULL"), ("v", change.0)], &["k"]);
        table.layout = Layout::small();
        let text = |value: Option<i64>| value.map_or("-".to_owned(), |value| value.to_string());
        let rows: Vec<String> = (0..)
            .zip(&values)
            .map(|(k, value)| format!("+I {k} {k} {}", text(*value)))
            .collect();
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        let file = table.write("a", &rows);
        let to = parse_type(change.1).unwrap();
        table.evolve(|schema| schema.fields[1].data_type = to.clone());
        let split = if raw { table.raw_split(vec![file]) } else { table.split(vec![file]) };
        let literal = match change.1 {
            "BOOLEAN" => Datum::Boolean(literal > 0),
            "TINYINT" => Datum::TinyInt((literal / 3).try_into().unwrap()),
            _ => Datum::parse(&literal.to_string(), &to).unwrap(),
        };
        let predicate = Predicate::compare(FieldId(1), to.clone(), op, literal);
        let all = table.rows(split.clone(), ReadRequest::default()).unwrap();
        let passes = |row: &String| {
            let (_, value) = row.split_once(' ').unwrap();
            let value = (value != "-").then(|| Datum::parse(value, &to).unwrap());
            predicate.evaluate_row(&mut |_| value.clone()) == Some(true)
        };
        let expected: Vec<String> = all.iter().filter(|row| passes(row)).cloned().collect();
        let request = ReadRequest { predicate: Some(predicate.clone()), ..ReadRequest::default() };
        prop_assert_eq!(table.rows(split, request).unwrap(), expected);
    }
}

#[test]
fn nulls_of_a_newer_schema_are_read_with_an_older_one() {
    // RP-013: a stream from an older snapshot on keeps its schema, under which a column may not be null yet.
    let mut table = TestTable::new(&[("k", "INT NOT NULL"), ("v", "INT NOT NULL")], &["k"]);
    let old = table.write("old", &["+I 0 1 10"]);
    table.evolve(|schema| schema.fields[1].data_type.nullable = true);
    let new = table.write("new", &["+I 1 2 -"]);
    table.table.schema = table.table.schemas[&0].clone();
    let split = table.raw_split(vec![old.clone(), new.clone()]);
    let rows = table.rows(split, ReadRequest::default());
    assert_eq!(rows.unwrap(), ["1 10", "2 -"]);
    assert_eq!(table.merged(vec![old, new]), ["1 10", "2 -"]);
}
