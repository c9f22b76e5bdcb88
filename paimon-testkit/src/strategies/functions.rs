//! Aggregate functions that suit a type, with their options.

use paimon_meta::{MAX_LENGTH, TypeKind};

/// What is asked of a function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// Rows take values back.
    pub(super) retracts: bool,
    /// It may be told not to.
    pub(super) ignores_retracts: bool,
}

type Choices = &'static [(&'static str, &'static [(&'static str, &'static str)])];

/// Functions that take values back.
const RETRACT: [&str; 6] = [
    "last_value",
    "last_non_null_value",
    "sum",
    "collect",
    "merge_map",
    "nested_update",
];

const ANY: Choices = &[
    ("last_value", &[]),
    ("last_non_null_value", &[]),
    ("first_value", &[]),
    ("first_non_null_value", &[]),
];

const ORDERED: Choices = &[
    ("max", &[]),
    ("min", &[]),
    ("max", &[]),
    ("min", &[]),
    ("last_value", &[]),
    ("last_non_null_value", &[]),
    ("first_value", &[]),
    ("first_not_null_value", &[]),
];

/// Neither `sum` of the smallest integers nor `product` of any: both soon overflow, which is an error (ME-099).
const INTEGERS: Choices = &[
    ("sum", &[]),
    ("sum", &[]),
    ("max", &[]),
    ("min", &[]),
    ("last_non_null_value", &[]),
    ("first_value", &[]),
];

const NUMBERS: Choices = &[
    ("sum", &[]),
    ("product", &[]),
    ("max", &[]),
    ("min", &[]),
    ("first_non_null_value", &[]),
];

const BOOLEANS: Choices = &[
    ("bool_and", &[]),
    ("bool_or", &[]),
    ("max", &[]),
    ("last_value", &[]),
];

const TEXTS: Choices = &[
    ("listagg", &[]),
    ("listagg", &[("list-agg-delimiter", "; ")]),
    ("listagg", &[("distinct", "true")]),
    ("max", &[]),
    ("min", &[]),
    ("last_value", &[]),
    ("last_non_null_value", &[]),
];

/// Columns of this function hold bitmaps.
pub(super) const BITMAPS: &str = "rbm32";

const BINARIES: Choices = &[
    (BITMAPS, &[]),
    ("max", &[]),
    ("min", &[]),
    ("last_non_null_value", &[]),
];

const ARRAYS: Choices = &[
    ("collect", &[]),
    ("collect", &[("distinct", "true")]),
    ("last_value", &[]),
    ("first_non_null_value", &[]),
];

const TABLES: Choices = &[
    ("nested_update", &[]),
    ("nested_update", &[("count-limit", "3")]),
    ("nested_update", &[("nested-key", "x")]),
    (
        "nested_update",
        &[("nested-key", "x"), ("nested-sequence-field", "y")],
    ),
    (
        "nested_update",
        &[
            ("nested-key", "x,y"),
            ("nested-key-null-strategy", "ignore"),
        ],
    ),
    ("nested_partial_update", &[("nested-key", "x")]),
    ("last_non_null_value", &[]),
];

const MAPS: Choices = &[("merge_map", &[]), ("merge_map", &[]), ("last_value", &[])];

const TIMED_MAPS: Choices = &[
    ("merge_map_with_keytime", &[]),
    ("merge_map_with_keytime", &[("ts-field", "y")]),
    ("merge_map", &[]),
];

fn choices(kind: &TypeKind) -> Choices {
    match kind {
        TypeKind::Int | TypeKind::BigInt => INTEGERS,
        TypeKind::Float | TypeKind::Double | TypeKind::Decimal { .. } => NUMBERS,
        TypeKind::Boolean => BOOLEANS,
        TypeKind::VarChar(MAX_LENGTH) => TEXTS,
        TypeKind::VarBinary(_) => BINARIES,
        TypeKind::Array(element) if matches!(element.kind, TypeKind::Row(_)) => TABLES,
        TypeKind::Array(_) => ARRAYS,
        TypeKind::Map(_, value) if matches!(value.kind, TypeKind::Row(_)) => TIMED_MAPS,
        TypeKind::Map(..) => MAPS,
        kind if kind.is_scalar() => ORDERED,
        _ => ANY,
    }
}

/// Options of a column, without `fields.` and its name: the number chooses among the functions that suit its type.
pub(super) fn function(kind: &TypeKind, number: u8, wanted: Wanted) -> Vec<(&'static str, String)> {
    let choices = choices(kind);
    let fits = |name: &str| !wanted.retracts || wanted.ignores_retracts || RETRACT.contains(&name);
    let suited: Vec<_> = choices.iter().filter(|(name, _)| fits(name)).collect();
    let number = usize::from(number);
    let Some((name, options)) = suited.get(number % suited.len().max(1)) else {
        return Vec::new();
    };
    let mut all = vec![("aggregate-function", (*name).to_owned())];
    all.extend(
        options
            .iter()
            .map(|(key, value)| (*key, (*value).to_owned())),
    );
    if wanted.retracts && !RETRACT.contains(name) {
        all.push(("ignore-retract", "true".to_owned()));
    }
    all
}
