//! Functions on lists and maps.

use std::collections::BTreeMap;

use arrow_array::builder::{Int32Builder, MapBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, BinaryViewArray, Float64Array, ListArray, MapArray, StringViewArray, StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{Field, Fields};

use super::*;

const INT_LIST: &str = r#"{"type": "ARRAY", "element": "INT"}"#;
const DISTINCT: (&str, &str) = ("distinct", "true");

type IntList = Option<Vec<Option<i32>>>;

fn int_lists(lists: &[IntList]) -> ArrayRef {
    Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(
        lists.iter().cloned(),
    ))
}

fn list(elements: &[i32]) -> IntList {
    Some(elements.iter().copied().map(Some).collect())
}

/// What `collect` makes of one group.
fn collected(options: &[(&str, &str)], versions: &[(Step, IntList)]) -> IntList {
    let (steps, lists): (Vec<_>, Vec<_>) = versions.iter().cloned().unzip();
    let merged = merge("collect", INT_LIST, options, &int_lists(&lists), &[&steps]).unwrap();
    let merged = merged.as_list::<i32>();
    merged
        .is_valid(0)
        .then(|| merged.value(0).as_primitive::<Int32Type>().iter().collect())
}

#[test]
fn collect_appends_and_keeps_null_elements() {
    // ME-118
    let versions = [
        (Add, list(&[1, 1])),
        (Add, None),
        (Add, Some(vec![None, Some(2)])),
    ];
    assert_eq!(
        collected(&[], &versions),
        Some(vec![Some(1), Some(1), None, Some(2)])
    );
    assert_eq!(collected(&[], &[(Add, None), (Add, None)]), None);
    assert_eq!(collected(&[], &[(Add, None), (Add, list(&[]))]), list(&[]));
}

#[test]
fn collect_distinct_cleans_the_first_list_too() {
    // ME-119
    assert_eq!(
        collected(&[DISTINCT], &[(Add, list(&[1, 1, 2]))]),
        list(&[1, 2])
    );
    let replaced = [(Replace, list(&[1, 1])), (Add, list(&[1, 3]))];
    assert_eq!(collected(&[DISTINCT], &replaced), list(&[1, 3]));
    assert_eq!(
        collected(&[DISTINCT], &[(Replace, list(&[1, 1]))]),
        list(&[1, 1])
    );
    let nulls = [(Add, Some(vec![None, Some(1)])), (Add, Some(vec![None]))];
    assert_eq!(collected(&[DISTINCT], &nulls), Some(vec![None, Some(1)]));
    assert_eq!(collected(&[DISTINCT], &[(Add, None)]), None);
}

#[test]
fn collect_takes_one_element_out_for_each_that_is_taken_back() {
    // ME-120
    let versions = [(Add, list(&[1, 1, 2, 2, 3])), (Retract, list(&[1, 2, 3]))];
    assert_eq!(collected(&[], &versions), list(&[1, 2]));
    assert_eq!(collected(&[], &[(Retract, list(&[1]))]), None);
    assert_eq!(
        collected(&[], &[(ReplaceThenRetract, list(&[1]))]),
        list(&[])
    );
    let nulls = [
        (Add, Some(vec![None, None])),
        (Retract, Some(vec![None])),
        (Retract, None),
    ];
    assert_eq!(collected(&[], &nulls), Some(vec![None]));
    // Distinct elements come again after they were taken back.
    let again = [
        (Add, list(&[1, 2])),
        (Retract, list(&[1])),
        (Add, list(&[1, 2])),
    ];
    assert_eq!(collected(&[DISTINCT], &again), list(&[2, 1]));
}

#[test]
fn collect_puts_older_lists_behind_unless_it_ignores_retractions() {
    // ME section 4.1
    let versions = [(Add, list(&[1])), (AddReversed, list(&[2]))];
    assert_eq!(collected(&[], &versions), list(&[1, 2]));
    let options = [("ignore-retract", "true")];
    assert_eq!(collected(&options, &versions), list(&[2, 1]));
    let retracted = [(Add, list(&[1])), (Retract, list(&[1]))];
    assert_eq!(collected(&options, &retracted), list(&[1]));
}

fn lists_of(elements: ArrayRef, lengths: &[usize]) -> ArrayRef {
    let field = Arc::new(Field::new("element", elements.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths(lengths.iter().copied());
    Arc::new(ListArray::new(field, offsets, elements, None))
}

#[test]
fn collect_compares_bytes_by_content() {
    // ME-121; duplicates inside what was accumulated stay (ME section 4.5).
    let bytes: ArrayRef = Arc::new(BinaryViewArray::from_iter_values([
        "a", "a", "b", "a", "b", "c",
    ]));
    let values = lists_of(bytes, &[3, 3]);
    let kind = r#"{"type": "ARRAY", "element": "BYTES"}"#;
    let found = merge("collect", kind, &[DISTINCT], &values, &[&[Replace, Add]]).unwrap();
    let found = found.as_list::<i32>().value(0);
    let found: Vec<_> = found.as_binary_view().iter().flatten().collect();
    assert_eq!(found, [b"a", b"a", b"b", b"c"]);
    let found = merge("collect", kind, &[], &values, &[&[Add, Retract]]).unwrap();
    assert_eq!(
        found.as_list::<i32>().value(0).as_binary_view().value(0),
        b"a"
    );
    assert_eq!(found.as_list::<i32>().value_length(0), 1);
}

#[test]
fn collect_finds_lists_and_rows_with_nulls_equal() {
    // docs/differences.md, ME 4.5: other than in the reference.
    let inner = int_lists(&[
        Some(vec![None, Some(1)]),
        None,
        Some(vec![None, Some(1)]),
        None,
    ]);
    let kind = r#"{"type": "ARRAY", "element": {"type": "ARRAY", "element": "INT"}}"#;
    let found = merge(
        "collect",
        kind,
        &[DISTINCT],
        &lists_of(inner, &[2, 2]),
        &[&[Add, Add]],
    );
    assert_eq!(found.unwrap().as_list::<i32>().value_length(0), 2);
    let column = ints(&[Some(1), None, Some(1), None]);
    let fields = Fields::from(vec![Field::new("a", column.data_type().clone(), true)]);
    let nulls = NullBuffer::from(vec![true, false, true, false]);
    let rows: ArrayRef = Arc::new(StructArray::new(fields, vec![column], Some(nulls)));
    let kind = r#"{"type": "ARRAY", "element": {"type": "ROW", "fields": [
        {"id": 1, "name": "a", "type": "INT"}]}}"#;
    let found = merge(
        "collect",
        kind,
        &[DISTINCT],
        &lists_of(rows, &[2, 2]),
        &[&[Add, Add]],
    );
    assert_eq!(found.unwrap().as_list::<i32>().value_length(0), 2);
}

#[test]
fn collect_takes_every_nan_for_the_same_and_tells_zeros_apart() {
    // ME section 4.5
    let other_nan = f64::from_bits(f64::NAN.to_bits() | 1);
    let doubles: ArrayRef = Arc::new(Float64Array::from(vec![0.0, f64::NAN, -0.0, -other_nan]));
    let values = lists_of(doubles, &[2, 2]);
    let kind = r#"{"type": "ARRAY", "element": "DOUBLE"}"#;
    let found = merge("collect", kind, &[DISTINCT], &values, &[&[Add, Add]]).unwrap();
    assert_eq!(found.as_list::<i32>().value_length(0), 3);
}

#[test]
fn lists_of_many_groups_keep_their_places() {
    let values = [list(&[1]), None, list(&[2]), list(&[3, 4]), None, list(&[])];
    let groups: &[&[Step]] = &[&[Add, Add], &[], &[Add, Skip], &[Replace], &[Add]];
    let found = merge("collect", INT_LIST, &[], &int_lists(&values), groups).unwrap();
    let wanted = int_lists(&[list(&[1]), None, list(&[2]), None, list(&[])]);
    assert_eq!(&found, &wanted);
}

type IntMap = Option<Vec<(&'static str, Option<i32>)>>;

fn int_maps(maps: &[IntMap]) -> ArrayRef {
    let mut builder = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    for map in maps {
        for (key, value) in map.iter().flatten() {
            builder.keys().append_value(key);
            builder.values().append_option(*value);
        }
        builder.append(map.is_some()).unwrap();
    }
    Arc::new(builder.finish())
}

/// What `merge_map` makes of one group, by key.
fn merged_map(versions: &[(Step, IntMap)]) -> Option<BTreeMap<String, Option<i32>>> {
    let kind = r#"{"type": "MAP", "key": "STRING", "value": "INT"}"#;
    let (steps, maps): (Vec<_>, Vec<_>) = versions.iter().cloned().unzip();
    let merged = merge("merge_map", kind, &[], &int_maps(&maps), &[&steps]).unwrap();
    let merged = merged.as_map();
    merged.is_valid(0).then(|| {
        let entries = merged.value(0);
        let (keys, values) = (entries.column(0), entries.column(1));
        let keys = keys
            .as_string::<i32>()
            .iter()
            .map(|key| key.unwrap().to_owned());
        let map: Vec<_> = keys
            .zip(values.as_primitive::<Int32Type>().iter())
            .collect();
        assert_eq!(
            map.len(),
            map.iter().cloned().collect::<BTreeMap<_, _>>().len()
        );
        map.into_iter().collect()
    })
}

fn map(entries: &[(&str, Option<i32>)]) -> Option<BTreeMap<String, Option<i32>>> {
    Some(
        entries
            .iter()
            .map(|(key, value)| ((*key).to_owned(), *value))
            .collect(),
    )
}

#[test]
fn merge_map_takes_the_newer_entry_of_a_key() {
    // ME-122; a null value is a value.
    let versions = [
        (Add, Some(vec![("a", Some(1)), ("b", Some(2))])),
        (Add, None),
        (Add, Some(vec![("b", None), ("c", Some(3))])),
    ];
    assert_eq!(
        merged_map(&versions),
        map(&[("a", Some(1)), ("b", None), ("c", Some(3))])
    );
    assert_eq!(merged_map(&[(Add, None), (Add, None)]), None);
}

#[test]
fn merge_map_takes_keys_out_whatever_their_value() {
    // ME-122
    let versions = [
        (Add, Some(vec![("a", Some(1)), ("b", Some(2))])),
        (Retract, Some(vec![("b", Some(9)), ("x", None)])),
        (Retract, None),
    ];
    assert_eq!(merged_map(&versions), map(&[("a", Some(1))]));
    assert_eq!(merged_map(&[(Retract, Some(vec![("a", None)]))]), None);
    assert_eq!(
        merged_map(&[(ReplaceThenRetract, Some(vec![("a", None)]))]),
        map(&[])
    );
    let again = [
        (Add, Some(vec![("a", Some(1))])),
        (Retract, Some(vec![("a", Some(1))])),
        (Add, Some(vec![("a", Some(2))])),
    ];
    assert_eq!(merged_map(&again), map(&[("a", Some(2))]));
}

#[test]
fn merge_map_lets_the_newer_entry_win_over_an_older_one_that_comes_late() {
    // ME-077
    let versions = [
        (Add, Some(vec![("a", Some(1))])),
        (AddReversed, Some(vec![("a", Some(7)), ("b", Some(8))])),
    ];
    assert_eq!(
        merged_map(&versions),
        map(&[("a", Some(1)), ("b", Some(8))])
    );
}

/// Rows of a value and a time; an entry without row is null.
type Timed = (&'static str, Option<(&'static str, Option<&'static str>)>);

fn timed_maps(maps: &[Option<Vec<Timed>>]) -> ArrayRef {
    let entries: Vec<_> = maps.iter().flatten().flatten().copied().collect();
    let text = |texts: Vec<Option<&str>>| Arc::new(StringViewArray::from(texts)) as ArrayRef;
    let keys = text(entries.iter().map(|entry| Some(entry.0)).collect());
    let value = text(
        entries
            .iter()
            .map(|entry| entry.1.map(|row| row.0))
            .collect(),
    );
    let time = text(
        entries
            .iter()
            .map(|entry| entry.1.and_then(|row| row.1))
            .collect(),
    );
    let row_fields = Fields::from(vec![
        Field::new("v", value.data_type().clone(), true),
        Field::new("ts", time.data_type().clone(), true),
    ]);
    let nulls: NullBuffer = entries.iter().map(|entry| entry.1.is_some()).collect();
    let rows: ArrayRef = Arc::new(StructArray::new(row_fields, vec![value, time], Some(nulls)));
    let entry_fields = Fields::from(vec![
        Field::new("key", keys.data_type().clone(), false),
        Field::new("value", rows.data_type().clone(), true),
    ]);
    let entries = StructArray::new(entry_fields, vec![keys, rows], None);
    let field = Arc::new(Field::new("entries", entries.data_type().clone(), false));
    let offsets =
        OffsetBuffer::from_lengths(maps.iter().map(|map| map.as_ref().map_or(0, Vec::len)));
    let nulls: NullBuffer = maps.iter().map(Option::is_some).collect();
    Arc::new(MapArray::new(field, offsets, entries, Some(nulls), false))
}

const TIMED_MAP: &str = r#"{"type": "MAP", "key": "STRING", "value": {"type": "ROW", "fields": [
    {"id": 1, "name": "v", "type": "STRING"}, {"id": 2, "name": "ts", "type": "STRING"}]}}"#;

/// Keys and values of one group.
fn merged_times(
    versions: &[(Step, Option<Vec<Timed>>)],
) -> Result<BTreeMap<String, Option<String>>> {
    let (steps, maps): (Vec<_>, Vec<_>) = versions.iter().cloned().unzip();
    let merged = merge(
        "merge_map_with_keytime",
        TIMED_MAP,
        &[],
        &timed_maps(&maps),
        &[&steps],
    )?;
    let entries = merged.as_map().value(0);
    let text = |column: &ArrayRef| {
        let texts = column.as_string_view().iter();
        texts
            .map(|text| text.map(str::to_owned))
            .collect::<Vec<_>>()
    };
    let keys = text(entries.column(0)).into_iter().flatten();
    Ok(keys
        .zip(text(entries.column(1).as_struct().column(0)))
        .collect())
}

fn values(entries: &[(&str, Option<&str>)]) -> BTreeMap<String, Option<String>> {
    let owned = entries
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.map(str::to_owned)));
    owned.collect()
}

#[test]
fn later_time_wins_whatever_the_order() {
    // ME-124; the example of ME section 4.6
    let versions = [
        (
            Add,
            Some(vec![
                ("a", Some(("A", Some("100")))),
                ("b", Some(("B", Some("100")))),
            ]),
        ),
        (
            Add,
            Some(vec![
                ("a", Some(("A1", Some("200")))),
                ("c", Some(("C", Some("200")))),
            ]),
        ),
        (Add, Some(vec![("b", Some(("B2", Some("050"))))])),
        (Add, Some(vec![("c", Some(("C2", Some("200"))))])),
    ];
    let wanted = values(&[("a", Some("A1")), ("b", Some("B")), ("c", Some("C"))]);
    assert_eq!(merged_times(&versions).unwrap(), wanted);
}

#[test]
fn times_compare_as_text_of_utf16_units() {
    // ME-124: "9" is later than "10"; U+FF21 is later than U+1F600.
    let versions = [
        (
            Add,
            Some(vec![
                ("a", Some(("old", Some("9")))),
                ("b", Some(("old", Some("\u{1f600}")))),
            ]),
        ),
        (
            Add,
            Some(vec![
                ("a", Some(("new", Some("10")))),
                ("b", Some(("new", Some("\u{ff21}")))),
            ]),
        ),
    ];
    let wanted = values(&[("a", Some("old")), ("b", Some("new"))]);
    assert_eq!(merged_times(&versions).unwrap(), wanted);
}

#[test]
fn null_row_takes_the_key_out_and_null_time_is_passed_over() {
    // ME-124
    let versions = [
        (
            Add,
            Some(vec![
                ("a", Some(("A", Some("1")))),
                ("b", None),
                ("c", Some(("C", None))),
            ]),
        ),
        (
            Add,
            Some(vec![
                ("a", None),
                ("b", Some(("B", Some("0")))),
                ("c", Some(("C1", Some("0")))),
            ]),
        ),
        (
            Add,
            Some(vec![("b", Some(("B1", None))), ("d", Some(("D", None)))]),
        ),
    ];
    let wanted = values(&[("b", Some("B")), ("c", Some("C1"))]);
    assert_eq!(merged_times(&versions).unwrap(), wanted);
    // ME-135
    let retracted = [(Add, None), (Retract, None)];
    assert!(merged_times(&retracted).is_err());
}

#[test]
fn maps_need_rows_with_the_field_that_holds_the_time() {
    let name = "merge_map_with_keytime";
    assert!(function(name, TIMED_MAP, &[("ts-field", "v")]).is_ok());
    let error = function(name, TIMED_MAP, &[("ts-field", "at")]).unwrap_err();
    assert!(
        error.message().contains(r#"fields.c.ts-field names "at""#),
        "{error}"
    );
    for kind in [
        r#"{"type": "MAP", "key": "INT", "value": "INT"}"#,
        INT_LIST,
        "STRING",
    ] {
        assert!(function(name, kind, &[]).is_err());
    }
    assert!(function("merge_map", INT_LIST, &[]).is_err());
    assert!(function("collect", "INT", &[]).is_err());
}
