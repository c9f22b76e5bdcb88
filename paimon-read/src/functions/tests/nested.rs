//! Functions on nested tables.

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ListArray, StringViewArray, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{Field, Fields};
use paimon_meta::ErrorKind;

use super::*;

const TABLE: &str = r#"{"type": "ARRAY", "element": {"type": "ROW", "fields": [
    {"id": 1, "name": "id", "type": "INT"},
    {"id": 2, "name": "n", "type": "STRING"},
    {"id": 3, "name": "q", "type": "INT"}]}}"#;

/// A nested row; `None` is a null row.
type Nested = Option<(Option<i32>, Option<&'static str>, Option<i32>)>;

fn row(id: i32, n: &'static str, q: i32) -> Nested {
    Some((Some(id), Some(n), Some(q)))
}

fn tables(tables: &[Option<Vec<Nested>>]) -> ArrayRef {
    let rows: Vec<_> = tables.iter().flatten().flatten().copied().collect();
    let ids = ints(
        &rows
            .iter()
            .map(|row| row.and_then(|row| row.0))
            .collect::<Vec<_>>(),
    );
    let names: Vec<_> = rows.iter().map(|row| row.and_then(|row| row.1)).collect();
    let numbers = ints(
        &rows
            .iter()
            .map(|row| row.and_then(|row| row.2))
            .collect::<Vec<_>>(),
    );
    let columns = vec![
        ids,
        Arc::new(StringViewArray::from(names)) as ArrayRef,
        numbers,
    ];
    let fields = ["id", "n", "q"].iter().zip(&columns);
    let fields = fields.map(|(name, column)| Field::new(*name, column.data_type().clone(), true));
    let nulls: NullBuffer = rows.iter().map(Option::is_some).collect();
    let rows = StructArray::new(fields.collect::<Fields>(), columns, Some(nulls));
    let field = Arc::new(Field::new("element", rows.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths(
        tables
            .iter()
            .map(|table| table.as_ref().map_or(0, Vec::len)),
    );
    let nulls: NullBuffer = tables.iter().map(Option::is_some).collect();
    Arc::new(ListArray::new(field, offsets, Arc::new(rows), Some(nulls)))
}

type Found = (Option<i32>, Option<String>, Option<i32>);

/// The rows of a result, in order; a row of nulls stands for a null row.
fn rows(merged: &ArrayRef) -> Option<Vec<Found>> {
    let merged = merged.as_list::<i32>();
    merged.is_valid(0).then(|| {
        let rows = merged.value(0);
        let rows = rows.as_struct();
        let ids = rows.column(0).as_primitive::<Int32Type>().iter();
        let names = rows.column(1).as_string_view().iter();
        let numbers = rows.column(2).as_primitive::<Int32Type>().iter();
        let rows = ids.zip(names).zip(numbers);
        rows.map(|((id, name), number)| (id, name.map(str::to_owned), number))
            .collect()
    })
}

fn merged(
    name: &str,
    options: &[(&str, &str)],
    versions: &[(Step, Option<Vec<Nested>>)],
) -> Result<Option<Vec<Found>>> {
    let (steps, values): (Vec<_>, Vec<_>) = versions.iter().cloned().unzip();
    merge(name, TABLE, options, &tables(&values), &[&steps]).map(|merged| rows(&merged))
}

fn is(found: Result<Option<Vec<Found>>>, wanted: &[Nested]) {
    let wanted = wanted.iter().flatten();
    let wanted: Vec<_> = wanted
        .map(|(id, n, q)| (*id, n.map(str::to_owned), *q))
        .collect();
    assert_eq!(found.unwrap().unwrap(), wanted);
}

const KEY: (&str, &str) = ("nested-key", "id");

#[test]
fn tables_without_key_are_appended_up_to_the_limit() {
    // ME-125
    let versions = [
        (Add, Some(vec![row(1, "a", 1), None, row(2, "b", 2)])),
        (Add, None),
        (Add, Some(vec![None, row(1, "a", 1), row(4, "d", 4)])),
    ];
    let all = [
        row(1, "a", 1),
        row(2, "b", 2),
        row(1, "a", 1),
        row(4, "d", 4),
    ];
    is(merged("nested_update", &[], &versions), &all);
    is(
        merged("nested_update", &[("count-limit", "3")], &versions),
        &all[..3],
    );
    is(
        merged("nested_update", &[("count-limit", "1")], &versions),
        &all[..1],
    );
    is(
        merged("nested_update", &[("count-limit", "0")], &versions),
        &[],
    );
    assert_eq!(merged("nested_update", &[], &[(Add, None)]).unwrap(), None);
}

#[test]
fn retraction_without_key_takes_all_equal_rows_out() {
    // ME-126
    let versions = [
        (
            Add,
            Some(vec![
                row(1, "a", 1),
                row(2, "b", 2),
                row(1, "a", 1),
                row(1, "a", 2),
            ]),
        ),
        (Retract, Some(vec![row(1, "a", 1), None])),
    ];
    is(
        merged("nested_update", &[], &versions),
        &[row(2, "b", 2), row(1, "a", 2)],
    );
    let nulls = [
        (
            Replace,
            Some(vec![Some((None, None, None)), None, row(1, "a", 1)]),
        ),
        (Retract, Some(vec![Some((None, None, None))])),
    ];
    is(merged("nested_update", &[], &nulls), &[row(1, "a", 1)]);
    let nothing = [(Retract, Some(vec![row(1, "a", 1)])), (Retract, None)];
    assert_eq!(merged("nested_update", &[], &nothing).unwrap(), None);
}

#[test]
fn newer_row_of_a_key_replaces_the_older_one() {
    // ME-127
    let versions = [
        (
            Add,
            Some(vec![row(1, "a", 1), row(2, "b", 2), row(1, "a2", 3)]),
        ),
        (Add, Some(vec![row(2, "b2", 1)])),
    ];
    is(
        merged("nested_update", &[KEY], &versions),
        &[row(1, "a2", 3), row(2, "b2", 1)],
    );
    let two = ("nested-key", "id , n,");
    let wanted = [
        row(1, "a", 1),
        row(2, "b", 2),
        row(1, "a2", 3),
        row(2, "b2", 1),
    ];
    is(merged("nested_update", &[two], &versions), &wanted);
}

#[test]
fn larger_nested_sequence_wins_and_ties_replace() {
    // ME-127
    let options = [KEY, ("nested-sequence-field", "q")];
    let versions = [
        (
            Add,
            Some(vec![
                row(1, "a", 5),
                row(2, "b", 5),
                Some((Some(3), Some("c"), None)),
            ]),
        ),
        (
            Add,
            Some(vec![row(1, "a2", 4), row(2, "b2", 5), row(3, "c2", -9)]),
        ),
        (Add, Some(vec![Some((Some(3), Some("c3"), None))])),
    ];
    let wanted = [row(1, "a", 5), row(2, "b2", 5), row(3, "c2", -9)];
    is(merged("nested_update", &options, &versions), &wanted);
}

#[test]
fn limit_keeps_new_keys_out_but_not_updates() {
    // ME-128; what is accumulated is never cut.
    let options = [KEY, ("count-limit", "2")];
    let versions = [
        (
            Add,
            Some(vec![row(1, "a", 1), row(2, "b", 2), row(3, "c", 3)]),
        ),
        (Add, Some(vec![row(3, "c", 3), row(1, "a2", 9)])),
    ];
    is(
        merged("nested_update", &options, &versions),
        &[row(1, "a2", 9), row(2, "b", 2)],
    );
    let replaced = [
        (
            Replace,
            Some(vec![row(1, "a", 1), row(2, "b", 2), row(3, "c", 3)]),
        ),
        (Add, Some(vec![row(4, "d", 4), row(3, "c2", 3)])),
    ];
    let wanted = [row(1, "a", 1), row(2, "b", 2), row(3, "c2", 3)];
    is(merged("nested_update", &options, &replaced), &wanted);
}

#[test]
fn retraction_with_key_takes_the_key_out() {
    // ME section 4.7: whatever else the row holds, and whatever its sequence.
    let options = [KEY, ("nested-sequence-field", "q")];
    let versions = [
        (
            Replace,
            Some(vec![row(1, "a", 1), row(2, "b", 9), row(2, "b2", 2)]),
        ),
        (Retract, Some(vec![row(1, "x", -5), row(7, "y", 7)])),
    ];
    is(
        merged("nested_update", &options, &versions),
        &[row(2, "b2", 2)],
    );
    let again = [
        (Add, Some(vec![row(1, "a", 9)])),
        (Retract, Some(vec![row(1, "a", 9)])),
        (Add, Some(vec![row(1, "b", 1)])),
    ];
    is(merged("nested_update", &options, &again), &[row(1, "b", 1)]);
}

#[test]
fn keys_with_nulls_follow_their_strategy() {
    // ME-129
    let null_key = |q| Some((None, Some("n"), Some(q)));
    let versions = [
        (Replace, Some(vec![null_key(1), row(1, "a", 1)])),
        (Add, Some(vec![null_key(2)])),
    ];
    for name in ["nested_update", "nested_partial_update"] {
        let strategy = |text| [KEY, ("nested-key-null-strategy", text)];
        is(
            merged(name, &[KEY], &versions),
            &[null_key(2), row(1, "a", 1)],
        );
        is(
            merged(name, &strategy("MERGE"), &versions),
            &[null_key(2), row(1, "a", 1)],
        );
        is(
            merged(name, &strategy("ignore"), &versions),
            &[row(1, "a", 1)],
        );
        let error = merged(name, &strategy("error"), &versions).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        // A lone version is not looked at (ME-020).
        is(
            merged(name, &strategy("error"), &versions[..1]),
            &[null_key(1), row(1, "a", 1)],
        );
        assert!(merged(name, &strategy("drop"), &versions).is_err());
    }
}

#[test]
fn rows_are_taken_back_whatever_the_strategy_for_nulls() {
    // ME-126, ME-129: the strategy is about rows that come.
    let strict = [KEY, ("nested-key-null-strategy", "error")];
    let null_key = |q| Some((None, Some("n"), Some(q)));
    let versions = [
        (Replace, Some(vec![null_key(1), row(1, "a", 1)])),
        (Retract, Some(vec![null_key(2)])),
    ];
    is(
        merged("nested_update", &strict, &versions),
        &[row(1, "a", 1)],
    );
}

#[test]
fn rows_are_completed_field_by_field() {
    // ME-130
    let versions = [
        (
            Add,
            Some(vec![row(1, "a", 1), None, Some((Some(2), None, Some(2)))]),
        ),
        (Add, None),
        (
            Add,
            Some(vec![
                Some((Some(1), None, Some(3))),
                Some((Some(2), Some("b"), None)),
            ]),
        ),
        (Add, Some(vec![Some((Some(1), Some("c"), None))])),
    ];
    let wanted = [row(1, "c", 3), row(2, "b", 2)];
    is(merged("nested_partial_update", &[KEY], &versions), &wanted);
    let older = [
        (Add, Some(vec![Some((Some(1), None, Some(3)))])),
        (AddReversed, Some(vec![row(1, "old", 1), row(2, "b", 2)])),
    ];
    is(
        merged("nested_partial_update", &[KEY], &older),
        &[row(1, "old", 3), row(2, "b", 2)],
    );
    // ME-135
    let retracted = [(Add, None), (Retract, None)];
    assert!(merged("nested_partial_update", &[KEY], &retracted).is_err());
}

#[test]
fn older_table_that_comes_late_loses() {
    // ME-077
    let versions = [
        (Add, Some(vec![row(1, "new", 1)])),
        (AddReversed, Some(vec![row(1, "old", 9), row(2, "b", 2)])),
    ];
    is(
        merged("nested_update", &[KEY], &versions),
        &[row(1, "new", 1), row(2, "b", 2)],
    );
    let wanted = [row(1, "old", 9), row(2, "b", 2), row(1, "new", 1)];
    is(merged("nested_update", &[], &versions), &wanted);
}

#[test]
fn untouched_tables_keep_null_rows() {
    // ME-020
    for (name, options) in [
        ("nested_update", &[][..]),
        ("nested_partial_update", &[KEY]),
    ] {
        let values = tables(&[Some(vec![None, row(1, "a", 1)]), None, Some(vec![])]);
        let groups: &[&[Step]] = &[&[Replace], &[Replace], &[Replace]];
        assert_eq!(
            &merge(name, TABLE, options, &values, groups).unwrap(),
            &values
        );
    }
}

#[test]
fn options_that_do_not_fit_are_refused() {
    // ME section 4.7
    let refused: [(&str, &[(&str, &str)]); 6] = [
        ("nested_update", &[("nested-sequence-field", "q")]),
        ("nested_update", &[("nested-key-null-strategy", "ignore")]),
        ("nested_update", &[("nested-key", "x")]),
        ("nested_update", &[KEY, ("nested-sequence-field", "q,,n")]),
        ("nested_update", &[("count-limit", "many")]),
        ("nested_partial_update", &[]),
    ];
    for (name, options) in refused {
        let error = function(name, TABLE, options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{options:?}");
    }
    for name in ["nested_update", "nested_partial_update"] {
        assert!(function(name, r#"{"type": "ARRAY", "element": "INT"}"#, &[KEY]).is_err());
    }
}
