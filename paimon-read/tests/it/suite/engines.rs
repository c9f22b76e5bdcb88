//! What `partial-update`, `aggregation` and `first-row` make of several versions of a key: the worked cases of
//! merge-engines sections 3.7 and 9.8. Every version is a file of its own on level 0 unless said otherwise.

use paimon_meta::{ErrorKind, Frame};
use paimon_read::{ReadRequest, RowKinds};

use super::table::TestTable;

/// Reads after each version; the rows are joined by commas, `error` is a read that fails.
fn states(table: &TestTable, request: &ReadRequest, steps: &[(&str, &str)]) {
    let mut files = Vec::new();
    for (number, (version, expected)) in steps.iter().enumerate() {
        files.push(table.write(&format!("f{number}"), &[version]));
        let rows = table.rows(table.split(files.clone()), request.clone());
        let rows = rows.map_or_else(|_| "error".to_owned(), |rows| rows.join(", "));
        assert_eq!(rows, *expected, "after {version}");
    }
}

fn read(table: &TestTable, steps: &[(&str, &str)]) {
    states(table, &ReadRequest::default(), steps);
}

/// The same with kinds, after all versions.
fn kept(table: &TestTable, versions: &[&str]) -> String {
    let request = ReadRequest {
        row_kinds: RowKinds::Keep,
        ..ReadRequest::default()
    };
    let files = versions.iter().enumerate();
    let files = files.map(|(number, version)| table.write(&format!("f{number}"), &[version]));
    let split = table.split(files.collect());
    table.rows(split, request).unwrap().join(", ")
}

fn partial_update(columns: &[(&str, &str)]) -> TestTable {
    TestTable::new(columns, &["k"]).option("merge-engine", "partial-update")
}

fn aggregation(columns: &[(&str, &str)]) -> TestTable {
    TestTable::new(columns, &["k"]).option("merge-engine", "aggregation")
}

const KPQ: [(&str, &str); 3] = [("k", "STRING NOT NULL"), ("p", "INT"), ("q", "STRING")];

/// Schema A of merge-engines section 3.7.
fn two_groups() -> TestTable {
    partial_update(&[
        ("k", "STRING NOT NULL"),
        ("a", "STRING"),
        ("g1", "INT"),
        ("b", "STRING"),
        ("g2", "INT"),
        ("u", "STRING"),
    ])
    .option("fields.g1.sequence-group", "a")
    .option("fields.g2.sequence-group", "b")
}

#[test]
fn newest_value_that_is_not_null_wins() {
    // C06, ME-043, ME-054
    let table = partial_update(&KPQ);
    let steps = [
        ("+I 1 a 10 -", "a 10 -"),
        ("+I 2 a - x", "a 10 x"),
        ("+U 3 a 11 -", "a 11 x"),
    ];
    read(&table, &steps);
    let versions = ["+I 1 a 10 -", "+U 3 a 11 -"];
    assert_eq!(kept(&table, &versions), "+I a 11 -");
}

#[test]
fn null_in_a_column_that_is_not_nullable_fails_only_when_merged() {
    // C07, ME-044, ME-045, and only if it is read
    let table = partial_update(&[("k", "STRING NOT NULL"), ("p", "INT"), ("q", "STRING")]);
    let files = vec![
        table.write("a", &["+I 1 a - x"]),
        table.write("b", &["+I 2 a 10 y"]),
    ];
    let mut table = table;
    table.evolve(|schema| schema.fields[1].data_type.nullable = false);
    let error = table
        .rows(table.split(files.clone()), ReadRequest::default())
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let frames: Vec<_> = error.frames().collect();
    assert!(frames.contains(&&Frame::Column("p".into())), "{frames:?}");
    assert!(
        frames.contains(&&Frame::File("a.parquet".into())),
        "{frames:?}"
    );
    let rows = table.rows(table.split(files), table.columns(&["q"]));
    assert_eq!(rows.unwrap(), ["y"]);
}

#[test]
fn an_ignored_retract_that_comes_first_leaves_its_values() {
    // C08, ME-047 to ME-049
    let table = partial_update(&KPQ).option("ignore-delete", "true");
    read(
        &table,
        &[("-D 1 a 10 old", ""), ("+I 2 a - new", "a 10 new")],
    );
    read(
        &table,
        &[("+I 1 b - new", "b - new"), ("-D 2 b 10 old", "b - new")],
    );
    assert_eq!(kept(&table, &["-D 1 a 1 x", "-U 2 a 2 y"]), "-D a 1 x");
}

#[test]
fn a_delete_that_removes_the_row_is_the_base_of_what_follows() {
    // C09, ME-050 to ME-053
    let table = partial_update(&KPQ).option("partial-update.remove-record-on-delete", "true");
    let steps = [
        ("+I 1 a 10 x", "a 10 x"),
        ("-U 2 a 10 x", "a 10 x"),
        ("+U 3 a 11 -", "a 11 x"),
        ("-D 4 a 11 x", ""),
        ("+I 5 a - y", "a 11 y"),
    ];
    read(&table, &steps);
    assert_eq!(kept(&table, &["+I 1 a 1 x", "-D 2 a 2 -"]), "-D a 2 -");
    read(
        &table,
        &[
            ("+I 1 b 1 x", "b 1 x"),
            ("-D 2 b 2 y", ""),
            ("-U 3 b 3 z", "b 2 y"),
        ],
    );
}

#[test]
fn a_retract_is_an_error_where_nothing_says_what_it_does() {
    // C10, ME-046
    let table = partial_update(&[("k", "STRING NOT NULL"), ("p", "INT")]);
    read(&table, &[("-D 1 a 10", ""), ("+I 2 a 11", "error")]);
    let files = vec![
        table.write("x", &["+I 3 a 1"]),
        table.write("y", &["-D 4 a 1"]),
    ];
    let error = table
        .rows(table.split(files), table.columns(&[]))
        .unwrap_err();
    assert!(
        error
            .frames()
            .any(|frame| *frame == Frame::File("y.parquet".into()))
    );
}

#[test]
fn groups_take_what_is_newer_or_equal_with_its_nulls() {
    // merge-engines section 3.7, examples 1 to 6; ME-058 to ME-069
    let table = two_groups();
    let first = ("+I 1 k a1 2 b1 1 u1", "k a1 2 b1 1 u1");
    read(&table, &[first, ("+I 2 k a2 1 b2 2 -", "k a1 2 b2 2 u1")]);
    read(&table, &[first, ("+I 2 k - 2 b2 - u2", "k - 2 b1 1 u2")]);
    let lone = ("+I 1 k a1 - b1 1 u1", "k a1 - b1 1 u1");
    read(&table, &[lone, ("+I 2 k a2 - b2 2 -", "k - - b2 2 u1")]);
    read(&table, &[first, ("-D 2 k a1 3 - - uX", "k - 3 b1 1 u1")]);
    read(&table, &[first, ("-D 2 k a1 1 - - uX", "k a1 2 b1 1 u1")]);
    let retract = ("-D 1 k a1 2 b0 - u0", "");
    read(&table, &[retract, ("+I 2 k a2 1 b2 5 -", "k - 2 b2 5 u0")]);
    assert_eq!(
        kept(&table, &["-D 1 k a1 2 b0 - u0", "-U 2 k a1 3 b0 - u0"]),
        "-D k - 3 b0 - u0"
    );
}

#[test]
fn a_group_removes_the_row_and_what_removed_it_is_the_base() {
    // merge-engines section 3.7, examples 7 and 8; ME-070 to ME-072
    let table = two_groups().option("partial-update.remove-record-on-sequence-group", "g1");
    let first = ("+I 1 k a1 2 b1 9 u1", "k a1 2 b1 9 u1");
    let removal = ("-D 2 k a1 3 bX 1 -", "");
    read(
        &table,
        &[first, removal, ("+I 3 k a3 4 b3 2 -", "k a3 4 b3 2 -")],
    );
    read(&table, &[first, ("-D 2 k - - bX 9 -", "k a1 2 - 9 u1")]);
    read(&table, &[first, ("-U 2 k a1 2 - - -", "k - 2 b1 9 u1")]);
}

#[test]
fn two_groups_of_three_columns() {
    // C11
    let table = partial_update(&[
        ("k", "STRING NOT NULL"),
        ("b", "INT"),
        ("s1", "INT"),
        ("c", "INT"),
        ("d", "INT"),
        ("s2", "INT"),
    ])
    .option("fields.s1.sequence-group", "b")
    .option("fields.s2.sequence-group", "c,d")
    .option("partial-update.remove-record-on-sequence-group", "s2");
    let steps = [
        ("+I 1 a 11 2 29 29 2", "a 11 2 29 29 2"),
        ("-U 2 a 11 2 29 29 2", "a - 2 - - 2"),
        ("+U 3 a 11 2 30 30 3", "a 11 2 30 30 3"),
        ("-D 4 a 12 3 30 30 2", "a - 3 30 30 3"),
        ("-D 5 a 12 2 30 31 5", ""),
        ("+I 6 a 11 2 30 31 6", "a 11 2 30 31 6"),
    ];
    read(&table, &steps);
}

#[test]
fn several_sequence_columns_compare_in_order_and_move_together() {
    // merge-engines section 3.7, examples 9 to 11; ME-061, ME-062
    let table = partial_update(&[
        ("k", "STRING NOT NULL"),
        ("v", "INT"),
        ("g1", "INT"),
        ("g2", "INT"),
    ])
    .option("fields.g1,g2.sequence-group", "v");
    read(
        &table,
        &[("+I 1 k 1 1 1", "k 1 1 1"), ("+I 2 k 2 1 -", "k 1 1 1")],
    );
    read(
        &table,
        &[("+I 1 k 1 1 1", "k 1 1 1"), ("+I 2 k 2 2 -", "k 2 2 -")],
    );
    let steps = [
        ("+I 1 k 1 - 5", "k 1 - 5"),
        ("+I 2 k 2 - 4", "k 1 - 5"),
        ("+I 3 k 3 - -", "k 1 - 5"),
    ];
    read(&table, &steps);
    // ME-082, ME-083: what decides is read silently.
    for (columns, row) in [(vec!["v"], "1"), (vec!["g2"], "5"), (vec!["v", "k"], "1 k")] {
        let files = steps.iter().enumerate();
        let files = files.map(|(at, (version, _))| table.write(&format!("p{at}"), &[version]));
        let split = table.split(files.collect());
        assert_eq!(table.rows(split, table.columns(&columns)).unwrap(), [row]);
    }
}

/// Schema C of merge-engines section 3.7 with a function for `f`.
fn functions(f: &str) -> TestTable {
    partial_update(&[
        ("k", "STRING NOT NULL"),
        ("s", "INT"),
        ("f", "STRING"),
        ("g", "INT"),
    ])
    .option("fields.g.sequence-group", "s,f")
    .option("fields.s.aggregate-function", "sum")
    .option("fields.f.aggregate-function", f)
}

#[test]
fn functions_of_a_group_see_older_versions_reversed() {
    // C13 and merge-engines section 3.7, examples 12 to 18; ME-077 to ME-079
    let newer = ("+I 1 k 1 x 2", "k 1 x 2");
    let older = "+I 2 k 10 y 1";
    read(&functions("first_value"), &[newer, (older, "k 11 y 2")]);
    let steps = [
        newer,
        (older, "k 11 y,x 2"),
        ("+I 3 k 5 z -", "k 11 y,x 2"),
        ("+I 4 k 7 w 2", "k 18 y,x,w 2"),
    ];
    read(&functions("listagg"), &steps);
    let null = ("+I 1 k 1 - 2", "k 1 - 2");
    read(
        &functions("last_non_null_value"),
        &[null, (older, "k 11 y 2")],
    );
    let table = functions("first_non_null_value");
    read(&table, &[newer, ("+I 2 k 10 - 1", "k 11 - 2")]);
    let steps = [
        ("+I 1 k 1 - 1", "k 1 - 1"),
        ("+I 2 k 10 y 0", "k 11 y 1"),
        ("+I 3 k 5 z 2", "k 16 z 2"),
    ];
    read(&table, &steps);
    let table = functions("last_value");
    read(
        &table,
        &[("+I 1 k 5 x 3", "k 5 x 3"), ("-D 2 k 2 y 1", "k 3 - 3")],
    );
    read(&table, &[("-U 1 k 5 x 1", ""), ("+I 2 k 7 y 1", "k 7 y 1")]);
    read(
        &table,
        &[("+I 1 k 5 x 1", "k 5 x 1"), ("+I 2 k 7 y -", "k 5 x 1")],
    );
}

#[test]
fn groups_that_remove_rows_are_asked_whatever_is_read() {
    // C14, ME 2.6; the reference shows the row to reads without g1 (docs/differences.md)
    let table = two_groups().option("partial-update.remove-record-on-sequence-group", "g1");
    let files = vec![
        table.write("a", &["+I 1 a a1 2 b1 1 u1"]),
        table.write("b", &["-D 2 a a1 2 b1 1 u1"]),
    ];
    for columns in [&["b"][..], &["k"], &["u", "a"], &[]] {
        let rows = table.rows(table.split(files.clone()), table.columns(columns));
        assert_eq!(rows.unwrap(), Vec::<String>::new(), "{columns:?}");
    }
}

#[test]
fn a_delete_that_removes_the_row_is_taken_back_from_no_column() {
    // ME-070; the reference fails on columns before the sequence column (docs/differences.md)
    let table = partial_update(&[("k", "INT NOT NULL"), ("m", "INT"), ("g", "INT")])
        .option("fields.g.sequence-group", "m")
        .option("fields.m.aggregate-function", "max")
        .option("partial-update.remove-record-on-sequence-group", "g");
    read(&table, &[("+I 1 1 5 1", "1 5 1"), ("-D 2 1 4 2", "")]);
}

#[test]
fn an_aggregate_goes_on_from_the_values_of_a_delete() {
    // C15, ME-089 to ME-091
    let table = aggregation(&[("k", "STRING NOT NULL"), ("s", "INT"), ("m", "INT")])
        .option("fields.s.aggregate-function", "sum")
        .option("fields.m.aggregate-function", "max")
        .option("aggregation.remove-record-on-delete", "true");
    let steps = [
        ("+I 1 a 5 5", "a 5 5"),
        ("-D 2 a 5 5", ""),
        ("+I 3 a 3 1", "a 8 5"),
    ];
    read(&table, &steps);
    assert_eq!(kept(&table, &["+I 1 a 5 5", "-D 2 a 6 7"]), "-D a 6 7");
}

#[test]
fn only_retracts_are_a_row_unless_one_stands_alone() {
    // C16, ME-087, ME-088
    let table = aggregation(&[("k", "STRING NOT NULL"), ("s", "INT")])
        .option("fields.s.aggregate-function", "sum");
    read(&table, &[("-U 1 a 1", ""), ("-D 2 a 2", "a -3")]);
    assert_eq!(kept(&table, &["-U 1 a 1", "-D 2 a 2"]), "+I a -3");
}

#[test]
fn each_column_retracts_in_its_way() {
    // C17, ME-086, ME-096
    let columns = [
        ("k", "STRING NOT NULL"),
        ("s", "INT"),
        ("m", "INT"),
        ("f", "STRING"),
        ("l", "STRING"),
        ("n", "STRING"),
    ];
    let table = aggregation(&columns)
        .option("fields.s.aggregate-function", "sum")
        .option("fields.m.aggregate-function", "max")
        .option("fields.f.aggregate-function", "first_value")
        .option("fields.f.ignore-retract", "true")
        .option("fields.l.aggregate-function", "last_value");
    let versions = ["+I 1 a 1 5 p x n1", "-U 2 a 1 5 p x n1"];
    let files = versions.iter().zip(["a", "b"]);
    let files: Vec<_> = files.map(|(row, name)| table.write(name, &[row])).collect();
    let error = table
        .rows(table.split(files.clone()), ReadRequest::default())
        .unwrap_err();
    assert!(error.to_string().contains('a'), "{error}");
    let frames: Vec<_> = error.frames().collect();
    assert!(frames.contains(&&Frame::Column("m".into())), "{frames:?}");
    assert!(
        frames.contains(&&Frame::File("b.parquet".into())),
        "{frames:?}"
    );
    // A column that is not read is not asked.
    let rows = table.rows(table.split(files), table.columns(&["s"]));
    assert_eq!(rows.unwrap(), ["0"]);

    let table = table.option("fields.m.ignore-retract", "true");
    let steps = [
        ("+I 1 a 1 5 p x n1", "a 1 5 p x n1"),
        ("+I 2 a 2 3 q - -", "a 3 5 p - n1"),
        ("-U 3 a 2 3 q - -", "a 1 5 p - n1"),
        ("-U 4 a 1 5 p x n1", "a 0 5 p - -"),
    ];
    read(&table, &steps);
}

#[test]
fn one_compacted_version_counts_in_a_lookup_table() {
    // C18, ME-025, ME-028
    for (producer, rows) in [("none", ["6", "7", "17"]), ("lookup", ["6", "6", "16"])] {
        let mut table = aggregation(&[("k", "STRING NOT NULL"), ("s", "INT")])
            .option("fields.s.aggregate-function", "sum")
            .option("changelog-producer", producer);
        table.level = 1;
        let upper = table.write("upper", &["+I 5 a 6"]);
        table.level = 3;
        let lower = table.write("lower", &["+I 1 a 1"]);
        table.level = 0;
        let young = table.write("young", &["+I 9 a 10"]);
        let states = [
            vec![upper.clone()],
            vec![upper.clone(), lower.clone()],
            vec![young, lower, upper],
        ];
        for (files, expected) in states.into_iter().zip(rows) {
            let rows = table.rows(table.split(files), table.columns(&["s"]));
            assert_eq!(rows.unwrap(), [expected], "{producer}");
        }
    }
}

#[test]
fn the_one_version_that_counts_goes_through_the_function() {
    // ME-028: two compacted versions, one counts, and it is merged: distinct elements, not a row as it is
    let mut table = partial_update(&[("k", "INT NOT NULL"), ("a", "INT"), ("g", "INT")])
        .option("fields.g.sequence-group", "a")
        .option("changelog-producer", "lookup");
    table.level = 1;
    let upper = table.write("upper", &["+I 5 1 7 -"]);
    assert_eq!(table.merged(vec![upper.clone()]), ["1 7 -"]);
    table.level = 2;
    let lower = table.write("lower", &["+I 1 1 8 3"]);
    assert_eq!(table.merged(vec![upper, lower]), ["1 - -"]);
}

#[test]
fn the_oldest_add_is_the_first_row() {
    // C19, ME-137, ME-138
    let first_row = || TestTable::simple().option("merge-engine", "first-row");
    let table = first_row();
    read(&table, &[("+I 1 1 a", "1 a"), ("+U 2 1 b", "1 a")]);
    read(&table, &[("-D 1 2 a", ""), ("+I 2 2 b", "error")]);
    let table = first_row().option("ignore-delete", "true");
    read(
        &table,
        &[("-D 1 2 a", ""), ("-U 2 2 c", ""), ("+I 3 2 b", "2 b")],
    );
    assert_eq!(
        kept(&table, &["-D 1 2 a", "+U 2 2 b", "+I 3 2 c"]),
        "+U 2 b"
    );
}

#[test]
fn user_sequence_orders_versions_of_every_engine() {
    // ME-013, ME-057, ME-095
    let columns = [("k", "INT NOT NULL"), ("a", "STRING"), ("s", "INT")];
    let table = partial_update(&columns).option("sequence.field", "s");
    read(
        &table,
        &[
            ("+I 1 1 x 5", "1 x 5"),
            ("+I 2 1 y 3", "1 x 5"),
            ("+I 3 1 - 7", "1 x 7"),
        ],
    );
    let table = aggregation(&columns)
        .option("sequence.field", "s")
        .option("fields.a.aggregate-function", "listagg")
        .option("fields.a.ignore-retract", "true");
    let steps = [
        ("+I 1 1 x 5", "1 x 5"),
        ("+I 2 1 y 3", "1 y,x 5"),
        ("-U 3 1 z 9", "1 y,x -"),
    ];
    read(&table, &steps);
}

#[test]
fn conditions_are_asked_of_merged_rows_alone() {
    // merge-engines section 8.5, B, C and F
    let columns = [("k", "INT NOT NULL"), ("a", "INT"), ("b", "INT")];
    let condition = |table: &TestTable, text: &[(&str, i32)]| {
        let parts = text.iter().map(|(name, value)| {
            let field = table.field(name);
            paimon_meta::Predicate::compare(
                field.id,
                field.data_type,
                paimon_meta::CompareOp::Eq,
                paimon_meta::Datum::Int(*value),
            )
        });
        ReadRequest {
            predicate: Some(paimon_meta::Predicate::and(parts)),
            ..ReadRequest::default()
        }
    };
    let table = partial_update(&columns);
    let files = vec![
        table.write("a", &["+I 1 1 1 -"]),
        table.write("b", &["+I 2 1 - 2"]),
    ];
    let both = condition(&table, &[("a", 1), ("b", 2)]);
    assert_eq!(table.rows(table.split(files), both).unwrap(), ["1 1 2"]);
    let table = aggregation(&columns).option("fields.default-aggregate-function", "sum");
    let files = vec![
        table.write("a", &["+I 1 1 2 9"]),
        table.write("b", &["+I 2 1 3 9"]),
    ];
    for (value, rows) in [(5, vec!["1 5 18"]), (2, vec![]), (3, vec![])] {
        let condition = condition(&table, &[("a", value)]);
        let read = table.rows(table.split(files.clone()), condition);
        assert_eq!(read.unwrap(), rows);
    }
}

#[test]
fn options_that_make_no_sense_are_refused_before_the_first_row() {
    // ME-055, ME-074 to ME-076, ME-080, ME-084, ME-085, ME-092, ME-136
    let columns = [
        ("k", "INT NOT NULL"),
        ("a", "INT"),
        ("g", "INT"),
        ("h", "INT"),
    ];
    let on_delete = "partial-update.remove-record-on-delete";
    let on_group = "partial-update.remove-record-on-sequence-group";
    let refused = |engine: &str, options: &[(&str, &str)]| {
        let mut table = TestTable::new(&columns, &["k"]).option("merge-engine", engine);
        for (key, value) in options {
            table = table.option(key, value);
        }
        let split = table.split(vec![table.write("a", &["+I 1 1 2 3 4"])]);
        let error = table.rows(split, ReadRequest::default()).unwrap_err();
        assert_eq!(
            error.kind(),
            ErrorKind::InvalidInput,
            "{options:?}: {error}"
        );
    };
    for options in [
        &[("ignore-delete", "true"), (on_delete, "true")][..],
        &[
            ("ignore-delete", "true"),
            ("fields.g.sequence-group", "a"),
            (on_group, "g"),
        ],
        &[(on_delete, "true"), ("fields.g.sequence-group", "a")],
        &[("fields.g.sequence-group", "a"), (on_group, "a")],
        &[
            ("fields.g.sequence-group", "a"),
            ("fields.h.sequence-group", "a"),
        ],
        &[
            ("fields.g.sequence-group", "a"),
            ("fields.g,h.sequence-group", "h"),
        ],
        &[("fields.g.sequence-group", "a,a")],
        &[("fields.g.sequence-group", "k")],
        &[("fields.k.sequence-group", "a")],
        &[("fields.g.sequence-group", "a, h")],
        &[("fields.sequence-group", "a")],
        &[("fields.a.aggregate-function", "sum")],
        &[("fields.default-aggregate-function", "sum")],
        &[
            ("fields.g.sequence-group", "a"),
            ("fields.a.aggregate-function", "median"),
        ],
    ] {
        refused("partial-update", options);
    }
    refused("aggregation", &[("fields.a.aggregate-function", "median")]);
    refused(
        "aggregation",
        &[
            ("fields.a.ignore-retract", "true"),
            ("aggregation.remove-record-on-delete", "true"),
        ],
    );
}

#[test]
fn kinds_that_are_shown_do_not_bring_removed_rows_back() {
    let tables = [
        aggregation(&[("k", "STRING NOT NULL"), ("p", "INT")])
            .option("fields.p.aggregate-function", "sum")
            .option("aggregation.remove-record-on-delete", "true"),
        partial_update(&[("k", "STRING NOT NULL"), ("p", "INT")])
            .option("partial-update.remove-record-on-delete", "true"),
    ];
    for table in tables {
        let rows = |row_kinds| {
            let files = vec![
                table.write("a", &["+I 0 k 1", "+I 1 l 2"]),
                table.write("b", &["-D 2 k 1"]),
            ];
            let request = ReadRequest {
                row_kinds,
                ..ReadRequest::default()
            };
            table.rows(table.split(files), request).unwrap().len()
        };
        assert_eq!(rows(RowKinds::Drop), 1);
        assert_eq!(rows(RowKinds::Show), 1);
        assert_eq!(rows(RowKinds::Keep), 2);
    }
}

#[test]
fn columns_of_two_groups_are_refused_whatever_the_order_of_the_options() {
    // ME 3.1: the reference finds some of them.
    let columns = [
        ("k", "STRING NOT NULL"),
        ("a", "INT"),
        ("b", "INT"),
        ("g", "INT"),
        ("h", "INT"),
    ];
    for options in [
        // A sequence column of two groups.
        [
            ("fields.g.sequence-group", "a"),
            ("fields.g,h.sequence-group", "b"),
        ],
        [
            ("fields.h.sequence-group", "a"),
            ("fields.g,h.sequence-group", "b"),
        ],
        // One that another group protects.
        [
            ("fields.g.sequence-group", "h"),
            ("fields.h.sequence-group", "a"),
        ],
        [
            ("fields.h.sequence-group", "g"),
            ("fields.g.sequence-group", "a"),
        ],
    ] {
        let mut table = partial_update(&columns);
        for (key, value) in options {
            table = table.option(key, value);
        }
        let split = table.split(vec![table.write("a", &["+I 1 k 1 2 3 4"])]);
        let error = table.rows(split, ReadRequest::default()).unwrap_err();
        assert_eq!(
            error.kind(),
            ErrorKind::InvalidInput,
            "{options:?}: {error}"
        );
    }
}

#[test]
fn a_group_removes_rows_wherever_what_it_cannot_take_back_stands() {
    // ME 4.1: in the reference the order of the columns decides whether the read fails.
    for columns in [["a", "g"], ["g", "a"]] {
        let columns = columns.map(|name| (name, "INT"));
        let table = partial_update(&[("k", "STRING NOT NULL"), columns[0], columns[1]])
            .option("fields.g.sequence-group", "a")
            .option("fields.a.aggregate-function", "max")
            .option("partial-update.remove-record-on-sequence-group", "g");
        read(&table, &[("+I 1 k 5 5", "k 5 5"), ("-D 2 k 6 6", "")]);
    }
}

#[test]
fn a_column_that_options_name_is_missed_only_where_rows_are_merged() {
    // RP-013: under time travel the schema is that of the snapshot, the options are those of today.
    let table = partial_update(&KPQ).option("sequence.field", "s");
    let file = table.write("a", &["+I 1 a 1 x"]);
    let raw = table.raw_split(vec![file.clone()]);
    let rows = table.rows(raw, ReadRequest::default());
    assert_eq!(rows.unwrap(), ["a 1 x"]);
    let newer = table.write("b", &["+I 2 a 2 y"]);
    let merged = table.split(vec![file, newer]);
    let error = table.rows(merged, ReadRequest::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
    assert_eq!(error.message(), "no column \"s\", the table has k, p, q");
}

#[test]
fn options_of_a_column_that_had_another_name_are_not_lost() {
    // RP-013: the reference refuses to open such a table at all.
    let columns = [("k", "STRING NOT NULL"), ("w", "INT")];
    let mut table = TestTable::new(&columns, &["k"])
        .option("merge-engine", "aggregation")
        .option("fields.w.aggregate-function", "sum")
        .option("fields.x.aggregate-function", "sum");
    let old = table.table.schema.clone();
    table.evolve(|schema| schema.fields[1].name = "v".to_owned());
    let earlier = table.table.schema.clone();
    table.table.schemas.insert(2, old);
    table.table.schema = earlier;
    let files = ["a", "b"].map(|name| table.write(name, &["+I 1 a 5"]));
    let raw = table.raw_split(vec![files[0].clone()]);
    let raw = table.rows(raw, ReadRequest::default());
    assert_eq!(raw.unwrap(), ["a 5"]);
    let merged = table.split(files.into());
    let error = table.rows(merged, ReadRequest::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
    let message = "column 'w' was called 'v' then";
    assert!(error.to_string().contains(message), "{error}");
    assert!(
        error.to_string().contains("fields.w.aggregate-function"),
        "{error}"
    );
}
