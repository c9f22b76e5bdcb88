//! Functions on lists, maps and nested tables against folds over values, one value at a time.

use std::collections::BTreeMap;

use arrow_array::builder::{Int32Builder, ListBuilder, MapBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ListArray, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{Field, Fields};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// A list of the fold: rows of two numbers, of which `collect` uses the first one alone.
type List = Vec<(i32, i32)>;

const INT_LIST: &str = r#"{"type": "ARRAY", "element": "INT"}"#;
const INT_MAP: &str = r#"{"type": "MAP", "key": "INT", "value": "INT"}"#;
const TABLE: &str = r#"{"type": "ARRAY", "element": {"type": "ROW", "fields": [
    {"id": 1, "name": "k", "type": "INT"}, {"id": 2, "name": "v", "type": "INT"}]}}"#;

fn int_lists(lists: &[Option<List>]) -> ArrayRef {
    let mut builder = ListBuilder::new(Int32Builder::new());
    for list in lists {
        let elements = list.as_ref().map(|list| list.iter().map(|row| Some(row.0)));
        builder.append_option(elements);
    }
    Arc::new(builder.finish())
}

fn int_maps(maps: &[Option<List>]) -> ArrayRef {
    let mut builder = MapBuilder::new(None, Int32Builder::new(), Int32Builder::new());
    for map in maps {
        for (key, value) in map.iter().flatten() {
            builder.keys().append_value(*key);
            builder.values().append_value(*value);
        }
        builder.append(map.is_some()).unwrap();
    }
    Arc::new(builder.finish())
}

fn tables(tables: &[Option<List>]) -> ArrayRef {
    let rows: List = tables.iter().flatten().flatten().copied().collect();
    let keys = ints(&rows.iter().map(|row| Some(row.0)).collect::<Vec<_>>());
    let values = ints(&rows.iter().map(|row| Some(row.1)).collect::<Vec<_>>());
    let field = |name| Field::new(name, arrow_schema::DataType::Int32, true);
    let fields = Fields::from(vec![field("k"), field("v")]);
    let rows = StructArray::new(fields, vec![keys, values], None);
    let field = Arc::new(Field::new("element", rows.data_type().clone(), true));
    let lengths = tables
        .iter()
        .map(|table| table.as_ref().map_or(0, Vec::len));
    let nulls: NullBuffer = tables.iter().map(Option::is_some).collect();
    let offsets = OffsetBuffer::from_lengths(lengths);
    Arc::new(ListArray::new(field, offsets, Arc::new(rows), Some(nulls)))
}

/// The list of a group, read back.
fn read_back(array: &ArrayRef, group: usize) -> Option<List> {
    if array.is_null(group) {
        return None;
    }
    let elements: ArrayRef = match array.as_map_opt() {
        Some(map) => Arc::new(map.value(group)),
        None => array.as_list::<i32>().value(group),
    };
    let number = |column: &ArrayRef| column.as_primitive::<Int32Type>().values().to_vec();
    Some(match elements.as_struct_opt() {
        Some(rows) => number(rows.column(0))
            .into_iter()
            .zip(number(rows.column(1)))
            .collect(),
        None => number(&elements)
            .into_iter()
            .map(|element| (element, 0))
            .collect(),
    })
}

/// A function of the reference on lists; a retraction that is refused does not occur.
struct Naive {
    add: fn(Option<List>, Option<List>) -> Option<List>,
    /// `collect` alone puts older lists behind.
    keeps_order: bool,
    retract: fn(Option<List>, Option<List>) -> Option<List>,
}

fn fold(function: &Naive, versions: &[(Step, Option<List>)]) -> Option<List> {
    versions
        .iter()
        .cloned()
        .fold(None, |accumulated, (step, input)| match step {
            Skip => accumulated,
            AddReversed if !function.keeps_order => (function.add)(input, accumulated),
            Add | AddReversed => (function.add)(accumulated, input),
            Retract => (function.retract)(accumulated, input),
            Replace => input,
            ReplaceThenRetract => (function.retract)(input.clone(), input),
        })
}

/// One or both: what rule N makes of nulls.
fn both(
    accumulated: Option<List>,
    input: Option<List>,
    join: impl FnOnce(List, List) -> List,
) -> Option<List> {
    match (accumulated, input) {
        (Some(a), Some(b)) => Some(join(a, b)),
        (a, b) => a.or(b),
    }
}

/// What is accumulated without `input`, if there is something on both sides.
fn less(
    accumulated: Option<List>,
    input: Option<List>,
    take: impl FnOnce(List, List) -> List,
) -> Option<List> {
    match (accumulated, input) {
        (Some(a), Some(b)) if !b.is_empty() => Some(take(a, b)),
        (a, _) => a,
    }
}

/// The last row of each key, ascending.
fn by_key(rows: impl IntoIterator<Item = (i32, i32)>) -> List {
    rows.into_iter()
        .collect::<BTreeMap<_, _>>()
        .into_iter()
        .collect()
}

fn without_keys(rows: List, gone: &[(i32, i32)]) -> List {
    let kept = rows
        .into_iter()
        .filter(|row| !gone.iter().any(|other| other.0 == row.0));
    by_key(kept)
}

fn naive(name: &str, distinct: bool) -> Naive {
    match (name, distinct) {
        ("collect", false) => Naive {
            add: |a, b| both(a, b, |a, b| [a, b].concat()),
            keeps_order: true,
            retract: |a, b| less(a, b, difference),
        },
        ("collect", true) => Naive {
            add: |a, b| {
                if a.is_none() && b.is_none() {
                    return None;
                }
                let all = [a.unwrap_or_default(), b.unwrap_or_default()].concat();
                let mut seen: List = Vec::new();
                all.into_iter().for_each(|row| {
                    if !seen.iter().any(|other| other.0 == row.0) {
                        seen.push(row);
                    }
                });
                Some(seen)
            },
            keeps_order: true,
            retract: |a, b| less(a, b, difference),
        },
        ("merge_map", _) => Naive {
            add: |a, b| both(a, b, |a, b| by_key([a, b].concat())),
            keeps_order: false,
            retract: |a, b| less(a, b, |a, b| without_keys(a, &b)),
        },
        ("nested_update", true) => Naive {
            add: |a, b| match b {
                None => a,
                Some(b) => Some(by_key([a.unwrap_or_default(), b].concat())),
            },
            keeps_order: false,
            retract: |a, b| match (a, b) {
                (Some(a), Some(b)) => Some(without_keys(a, &b)),
                (a, _) => a,
            },
        },
        ("nested_update", false) => Naive {
            add: |a, b| both(a, b, |a, b| [a, b].concat()),
            keeps_order: false,
            retract: |a, b| {
                less(a, b, |a, b| {
                    a.into_iter().filter(|row| !b.contains(row)).collect()
                })
            },
        },
        other => panic!("{other:?}"),
    }
}

/// Each element of `gone` takes one equal one out.
fn difference(rows: List, mut gone: List) -> List {
    let mut kept = Vec::new();
    for row in rows {
        match gone.iter().position(|other| other.0 == row.0) {
            Some(at) => drop(gone.remove(at)),
            None => kept.push(row),
        }
    }
    kept
}

fn versions(
    values: impl Strategy<Value = List> + 'static,
) -> impl Strategy<Value = Vec<(Step, Option<List>)>> {
    let steps = vec![
        Skip,
        Add,
        Add,
        AddReversed,
        Retract,
        Replace,
        ReplaceThenRetract,
    ];
    vec(
        (
            prop::sample::select(steps),
            proptest::option::weighted(0.8, values),
        ),
        0..7,
    )
}

type Groups = Vec<Vec<(Step, Option<List>)>>;

/// The lists of all groups as the function and as the fold make them.
fn check(
    name: &str,
    (kind, options): (&str, &[(&str, &str)]),
    array: fn(&[Option<List>]) -> ArrayRef,
    groups: &Groups,
    ordered: bool,
) -> Result<(), TestCaseError> {
    let steps: Vec<Vec<Step>> = groups
        .iter()
        .map(|group| group.iter().map(|version| version.0).collect())
        .collect();
    let steps: Vec<&[Step]> = steps.iter().map(Vec::as_slice).collect();
    let values: Vec<_> = groups
        .iter()
        .flatten()
        .map(|version| version.1.clone())
        .collect();
    let found = merge(name, kind, options, &array(&values), &steps).unwrap();
    let function = naive(name, !options.is_empty());
    for (position, group) in groups.iter().enumerate() {
        let (mut found, mut wanted) = (read_back(&found, position), fold(&function, group));
        if name == "collect" {
            wanted.iter_mut().flatten().for_each(|row| row.1 = 0);
        }
        if !ordered {
            found.iter_mut().for_each(|rows| rows.sort_unstable());
            wanted.iter_mut().for_each(|rows| rows.sort_unstable());
        }
        prop_assert_eq!(found, wanted, "{} {:?}", name, group);
    }
    Ok(())
}

fn rows() -> impl Strategy<Value = List> {
    vec((0..4_i32, 0..3_i32), 0..4)
}

/// Rows of which no two have the same key.
fn keyed_rows() -> impl Strategy<Value = List> {
    rows().prop_map(by_key)
}

proptest! {
    #[test]
    fn collect_agrees_with_a_fold_over_lists(groups in vec(versions(rows()), 0..5)) {
        check("collect", (INT_LIST, &[]), int_lists, &groups, true)?;
        check("collect", (INT_LIST, &[("distinct", "true")]), int_lists, &groups, false)?;
    }

    #[test]
    fn merge_map_agrees_with_a_fold_over_maps(groups in vec(versions(keyed_rows()), 0..5)) {
        check("merge_map", (INT_MAP, &[]), int_maps, &groups, false)?;
    }

    #[test]
    fn nested_update_agrees_with_a_fold_over_tables(groups in vec(versions(keyed_rows()), 0..5)) {
        check("nested_update", (TABLE, &[]), tables, &groups, true)?;
        check("nested_update", (TABLE, &[("nested-key", "k")]), tables, &groups, false)?;
    }
}
