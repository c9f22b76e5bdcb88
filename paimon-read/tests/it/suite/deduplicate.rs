//! What `deduplicate` makes of several versions of a key.

use paimon_meta::{FileSource, TypeKind};
use paimon_read::{ReadRequest, RowKinds};

use super::table::{Layout, TestTable};

fn keep() -> ReadRequest {
    ReadRequest {
        row_kinds: RowKinds::Keep,
        ..ReadRequest::default()
    }
}

#[test]
fn newest_version_wins_by_sequence_number_not_by_level() {
    // RP-342, RP-335
    let mut table = TestTable::simple();
    let young = table.write("young", &["+I 5 1 old", "+I 6 2 old", "+I 90 4 only"]);
    table.level = 5;
    let compacted = table.write("compacted", &["+I 7 1 new", "+I 3 2 older", "+I 8 3 only"]);
    assert_eq!(
        table.merged(vec![young, compacted]),
        ["1 new", "2 old", "3 only", "4 only"]
    );
}

#[test]
fn retracts_win_and_are_dropped_after_the_merge() {
    // RP-342, RP-346
    let table = TestTable::simple();
    let rows = ["+I 0 1 a", "+I 1 2 b", "+I 2 3 c", "-D 3 4 d"];
    let (a, b) = (
        table.write("a", &rows),
        table.write(
            "b",
            &["-D 10 1 -", "-U 11 2 -", "+U 12 3 new", "+I 13 4 back"],
        ),
    );
    let files = vec![a, b];
    assert_eq!(table.merged(files.clone()), ["3 new", "4 back"]);
    assert_eq!(
        table.rows(table.split(files), keep()).unwrap(),
        ["-D 1 -", "-U 2 -", "+U 3 new", "+I 4 back"]
    );
}

#[test]
fn lone_version_is_the_result_with_its_own_kind() {
    // RP-340, RP-341: also a retract with ignore-delete
    let table = TestTable::simple().option("ignore-delete", "true");
    let a = table.write("a", &["-D 0 1 a", "+U 1 2 b", "-U 2 3 c"]);
    assert_eq!(table.merged(vec![a.clone()]), ["2 b"]);
    assert_eq!(
        table.rows(table.split(vec![a]), keep()).unwrap(),
        ["-D 1 a", "+U 2 b", "-U 3 c"]
    );
}

#[test]
fn ignored_retracts_let_the_newest_add_win() {
    // RP-342; any of the aliases acts (ME 2.2)
    let keys = [
        "ignore-delete",
        "first-row.ignore-delete",
        "deduplicate.ignore-delete",
        "partial-update.ignore-delete",
    ];
    for key in keys {
        let table = TestTable::simple().option(key, "true");
        let files = vec![
            table.write("a", &["+I 0 1 a", "-D 1 2 b"]),
            table.write("b", &["-D 2 1 x", "-U 3 2 y"]),
            table.write("c", &["-D 4 1 z"]),
        ];
        assert_eq!(table.merged(files.clone()), ["1 a"], "{key}");
        let rows = table.rows(table.split(files), keep()).unwrap();
        assert_eq!(rows, ["+I 1 a"], "{key}: a key of retracts alone is absent");
    }
}

/// `k, s, t, v`: two columns for a sequence.
fn with_sequence(fields: &str, order: Option<&str>) -> TestTable {
    let columns = [
        ("k", "INT NOT NULL"),
        ("s", "INT"),
        ("t", "STRING"),
        ("v", "STRING"),
    ];
    let table = TestTable::new(&columns, &["k"]).option("sequence.field", fields);
    match order {
        Some(order) => table.option("sequence.field.sort-order", order),
        None => table,
    }
}

#[test]
fn sequence_field_decides_before_the_sequence_number() {
    // RP-333, RP-334
    let table = with_sequence("s", None);
    let files = vec![
        table.write(
            "a",
            &[
                "+I 0 1 9 - a",
                "+I 1 2 1 - a",
                "+I 2 3 - - a",
                "+I 3 4 5 - a",
            ],
        ),
        table.write(
            "b",
            &[
                "+I 10 1 3 - b",
                "+I 11 2 2 - b",
                "+I 12 3 -7 - b",
                "+I 13 4 5 - b",
            ],
        ),
    ];
    assert_eq!(
        table.merged(files),
        ["1 9 - a", "2 2 - b", "3 -7 - b", "4 5 - b"],
        "larger, larger, null loses, a tie goes by sequence number"
    );
}

#[test]
fn descending_sequence_field_lets_the_smallest_win_and_null_still_loses() {
    // RP-334
    let table = with_sequence("s", Some("descending"));
    let files = vec![
        table.write(
            "a",
            &[
                "+I 0 1 9 - a",
                "+I 1 2 1 - a",
                "+I 2 3 - - a",
                "+I 3 4 8 - a",
            ],
        ),
        table.write(
            "b",
            &[
                "+I 10 1 3 - b",
                "+I 11 2 2 - b",
                "+I 12 3 7 - b",
                "+I 13 4 - - b",
            ],
        ),
    ];
    assert_eq!(
        table.merged(files),
        ["1 3 - b", "2 1 - a", "3 7 - b", "4 8 - a"]
    );
}

#[test]
fn several_sequence_fields_decide_in_the_order_of_the_option() {
    // RP-334; items of the list are trimmed (ME 1.3)
    let rows_a = [
        "+I 0 1 1 b a",
        "+I 1 2 - - a",
        "+I 2 3 2 b a",
        "+I 3 4 7 - a",
    ];
    let rows_b = [
        "+I 10 1 2 a b",
        "+I 11 2 - - b",
        "+I 12 3 2 a b",
        "+I 13 4 7 x b",
    ];
    let merged = |fields: &str, order: Option<&str>| {
        let table = with_sequence(fields, order);
        table.merged(vec![table.write("a", &rows_a), table.write("b", &rows_b)])
    };
    assert_eq!(
        merged("s, t", None),
        ["1 2 a b", "2 - - b", "3 2 b a", "4 7 x b"]
    );
    assert_eq!(
        merged("t,s", None),
        ["1 1 b a", "2 - - b", "3 2 b a", "4 7 x b"]
    );
    assert_eq!(
        merged("s,t", Some("descending")),
        ["1 1 b a", "2 - - b", "3 2 a b", "4 7 x b"]
    );
}

#[test]
fn sequence_field_is_read_for_the_merge_and_not_shown_unless_asked() {
    // RP-310, RP-312
    let table = with_sequence("s", None);
    let files = vec![
        table.write("a", &["+I 0 1 9 x a"]),
        table.write("b", &["+I 1 1 3 y b"]),
    ];
    for (columns, expected) in [
        (&["v"][..], "a"),
        (&["t", "k"], "x 1"),
        (&["s"], "9"),
        (&["v", "s", "k"], "a 9 1"),
    ] {
        let rows = table.rows(table.split(files.clone()), table.columns(columns));
        assert_eq!(rows.unwrap(), [expected]);
    }
}

#[test]
fn key_column_can_be_the_sequence_field_too() {
    let table = TestTable::simple().option("sequence.field", "k");
    let files = vec![
        table.write("a", &["+I 0 1 a", "+I 1 2 a"]),
        table.write("b", &["+I 2 1 b"]),
    ];
    assert_eq!(table.merged(files), ["1 b", "2 a"]);
}

#[test]
fn retracts_come_before_adds_where_sequences_are_equal() {
    // ME 1.3 item 3 (2.1)
    let table = TestTable::simple();
    let files = vec![
        table.write("z", &["-D 5 1 x", "+I 5 2 add"]),
        table.write("a", &["+I 5 1 add", "-D 5 2 x"]),
    ];
    assert_eq!(table.merged(files.clone()), ["1 add", "2 add"]);
    let reversed = files.into_iter().rev().collect();
    assert_eq!(table.merged(reversed), ["1 add", "2 add"]);
}

#[test]
fn ties_go_by_the_largest_sequence_of_the_file_then_by_its_name() {
    // RP-337, RP-704: ours to decide
    let table = TestTable::simple();
    let small = table.write("z", &["+I 5 1 z", "+I 5 2 z"]);
    let large = table.write("a", &["+I 5 1 a", "+I 9 3 a"]);
    assert_eq!(
        table.merged(vec![large.clone(), small.clone()]),
        ["1 a", "2 z", "3 a"]
    );
    let equal = table.write("b", &["+I 5 1 b", "+I 9 4 b"]);
    for files in [vec![equal.clone(), large.clone()], vec![large, equal]] {
        assert_eq!(table.merged(files), ["1 b", "3 a", "4 b"]);
    }
}

#[test]
fn lookup_table_takes_the_smallest_of_the_compacted_levels() {
    // RP-347: level 1 holds what level 3 was folded into, whatever its sequence number.
    for option in ["changelog-producer", "force-lookup"] {
        let value = if option == "force-lookup" {
            "true"
        } else {
            "lookup"
        };
        let merged = |with_option: bool| {
            let mut table = TestTable::simple();
            if with_option {
                table = table.option(option, value);
            }
            let mut files = vec![table.write("zero", &["+I 5 2 zero", "-D 100 4 zero"])];
            table.level = 1;
            files.push(table.write("one", &["+I 1 1 one", "+I 2 2 one", "+I 3 3 one"]));
            table.level = 3;
            files.push(table.write("three", &["+I 9 1 three", "+I 10 2 three", "-D 11 3 -"]));
            table.merged(files)
        };
        assert_eq!(merged(false), ["1 three", "2 three"]);
        assert_eq!(merged(true), ["1 one", "2 zero", "3 one"], "{option}");
    }
}

#[test]
fn snapshot_ordering_orders_written_files_by_their_smallest_number() {
    // RP-338
    let merged = |ordering: bool| {
        let mut table = TestTable::simple();
        if ordering {
            table = table.option("sequence.snapshot-ordering", "true");
        }
        let first = table.write("first", &["+I 1 0 a", "+I 90 1 a", "+I 4 2 a"]);
        let second = table.write("second", &["+I 2 1 b", "+I 3 2 b"]);
        let mut compacted = table.write("compacted", &["+I 95 1 c", "+I 0 2 c"]);
        compacted.file_source = Some(FileSource::Compact);
        table.merged(vec![first, second, compacted])
    };
    assert_eq!(merged(false), ["0 a", "1 c", "2 a"]);
    assert_eq!(merged(true), ["0 a", "1 c", "2 b"]);
}

#[test]
fn snapshot_ordering_without_a_file_source_is_an_error() {
    // RP-338
    let table = TestTable::simple().option("sequence.snapshot-ordering", "true");
    let mut file = table.write("first", &["+I 1 1 a"]);
    let other = table.write("second", &["+I 2 1 b"]);
    file.file_source = None;
    let rows = table.rows(table.split(vec![file, other]), ReadRequest::default());
    let error = rows.unwrap_err().to_string();
    assert!(
        error.contains("first.parquet > field _FILE_SOURCE"),
        "{error}"
    );
}

#[test]
fn key_columns_may_stand_anywhere() {
    let columns = [
        ("v", "STRING"),
        ("b", "INT NOT NULL"),
        ("w", "INT"),
        ("a", "STRING NOT NULL"),
    ];
    // The key's order is that of the primary key, not of the schema (RP-002).
    let table = TestTable::new(&columns, &["a", "b"]);
    let files = vec![
        table.write(
            "one",
            &["+I 0 old 1 1 a", "+I 1 old 2 2 a", "+I 2 old 1 3 b"],
        ),
        table.write("two", &["+I 3 new 2 4 a", "+I 4 new 0 5 b"]),
    ];
    assert_eq!(
        table.merged(files.clone()),
        ["old 1 1 a", "new 2 4 a", "new 0 5 b", "old 1 3 b"]
    );
    let rows = table.rows(table.split(files), table.columns(&["w", "b"]));
    assert_eq!(rows.unwrap(), ["1 1", "4 2", "5 0", "3 1"]);
}

#[test]
fn thin_and_full_files_merge() {
    // RP-351, RP-352
    let mut table = TestTable::simple();
    let full = table.write("full", &["+I 0 1 a", "+I 1 2 a"]);
    table.layout = Layout {
        thin: true,
        ..Layout::default()
    };
    let thin = table.write("thin", &["+I 2 2 b", "-D 3 3 -", "+I 4 4 b"]);
    assert_eq!(table.merged(vec![full, thin]), ["1 a", "2 b", "4 b"]);
}

#[test]
fn key_column_that_was_renamed_between_runs_merges() {
    let mut table = TestTable::simple();
    let old = table.write("old", &["+I 0 1 a", "+I 1 2 a"]);
    table.evolve(|schema| {
        schema.fields[0].name = "id".to_owned();
        schema.primary_keys = vec!["id".to_owned()];
    });
    let new = table.write("new", &["+I 2 2 b", "+I 3 3 b"]);
    assert_eq!(table.merged(vec![old, new]), ["1 a", "2 b", "3 b"]);
}

#[test]
fn null_keys_are_one_key_and_come_first() {
    // ME 1.2: primary-key.nullable
    let table = TestTable::new(&[("k", "INT"), ("v", "STRING")], &["k"]);
    let files = vec![
        table.write("a", &["+I 0 - a", "+I 1 -5 a", "+I 2 7 a"]),
        table.write("b", &["+I 3 - b", "+I 4 7 b"]),
    ];
    assert_eq!(table.merged(files), ["- b", "-5 a", "7 b"]);
}

#[test]
fn merged_column_of_a_dropped_type_is_null_in_old_rows() {
    let mut table = TestTable::simple();
    let old = table.write("old", &["+I 0 1 a", "+I 1 2 a"]);
    table.evolve(|schema| {
        schema.fields.push(paimon_meta::DataField {
            id: paimon_meta::FieldId(2),
            name: "n".to_owned(),
            data_type: TypeKind::Int.nullable(),
            description: None,
            default_value: None,
        });
    });
    let new = table.write("new", &["+I 2 2 b 7"]);
    assert_eq!(table.merged(vec![old, new]), ["1 a -", "2 b 7"]);
}
