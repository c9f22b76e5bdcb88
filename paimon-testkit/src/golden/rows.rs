//! Comparing rows whose order is free.

use std::collections::BTreeMap;
use std::fmt;

use paimon_meta::{DataType, TypeKind};
use serde_json::Value;

use crate::json::JsonRow;

/// How many rows of each sort a difference shows.
const SHOWN: usize = 5;

/// What one set of rows has and the other has not. Rows that occur several times count as often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowDiff {
    /// Number of rows expected.
    pub expected: usize,
    /// Number of rows found.
    pub found: usize,
    /// Rows expected and not found, as JSON.
    pub missing: Vec<String>,
    /// Rows found and not expected, as JSON.
    pub extra: Vec<String>,
}

impl fmt::Display for RowDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rows found, {} expected", self.found, self.expected)?;
        for (what, rows) in [("missing", &self.missing), ("extra", &self.extra)] {
            for row in rows.iter().take(SHOWN) {
                write!(f, "\n  {what}  {row}")?;
            }
            if rows.len() > SHOWN {
                write!(f, "\n  {what}  and {} more", rows.len() - SHOWN)?;
            }
        }
        Ok(())
    }
}

/// The difference of two multisets of rows, `None` if they are equal. Floats are compared by their bits (and so -0.0 is
/// not 0.0), maps without their order, all else as JSON.
///
/// `types` are those of the last columns; columns in front of them, such as a row kind, are taken as they are.
pub fn diff_rows(types: &[&DataType], expected: &[JsonRow], found: &[JsonRow]) -> Option<RowDiff> {
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    for row in expected {
        *counts.entry(canonical_row(row, types)).or_default() += 1;
    }
    for row in found {
        *counts.entry(canonical_row(row, types)).or_default() -= 1;
    }
    counts.retain(|_, count| *count != 0);
    if counts.is_empty() {
        return None;
    }
    let times = |count: i64| usize::try_from(count).unwrap_or_default();
    let repeat = |sign: i64| {
        let rows = counts.iter();
        rows.flat_map(move |(row, count)| std::iter::repeat_n(row.clone(), times(count * sign)))
    };
    Some(RowDiff {
        expected: expected.len(),
        found: found.len(),
        missing: repeat(1).collect(),
        extra: repeat(-1).collect(),
    })
}

/// A row as text that is equal for equal rows.
pub(super) fn canonical_row(row: &[Value], types: &[&DataType]) -> String {
    let leading = row.len().saturating_sub(types.len());
    let types = std::iter::repeat_n(None, leading).chain(types.iter().copied().map(Some));
    let cells = row
        .iter()
        .zip(types)
        .map(|(value, data_type)| match data_type {
            Some(data_type) => canonical(value, data_type),
            None => value.to_string(),
        });
    list(cells)
}

/// A value as text that is equal for equal values.
pub(super) fn canonical(value: &Value, data_type: &DataType) -> String {
    match (&data_type.kind, value) {
        (TypeKind::Float, Value::Number(number)) => {
            number.as_f64().map_or_else(String::new, |number| {
                ryu::Buffer::new().format(narrow(number)).to_owned()
            })
        }
        (TypeKind::Double, Value::Number(number)) => {
            let number = number.as_f64().unwrap_or(f64::NAN);
            ryu::Buffer::new().format(number).to_owned()
        }
        (TypeKind::Array(element) | TypeKind::Vector { element, .. }, Value::Array(values)) => {
            list(values.iter().map(|value| canonical(value, element)))
        }
        (TypeKind::Map(key, item), Value::Array(entries)) => map(entries, key, item),
        (TypeKind::Multiset(key), Value::Array(entries)) => {
            map(entries, key, &TypeKind::Int.not_null())
        }
        (TypeKind::Row(fields), Value::Array(values)) if fields.len() == values.len() => {
            let fields = values.iter().zip(fields);
            list(fields.map(|(value, field)| canonical(value, &field.data_type)))
        }
        _ => value.to_string(),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the text of a float names the float closest to it"
)]
fn narrow(number: f64) -> f32 {
    number as f32
}

fn map(entries: &[Value], key: &DataType, value: &DataType) -> String {
    let mut entries: Vec<String> = entries
        .iter()
        .map(|entry| match entry.as_array().map(Vec::as_slice) {
            Some([k, v]) => list([canonical(k, key), canonical(v, value)].into_iter()),
            _ => entry.to_string(),
        })
        .collect();
    entries.sort_unstable();
    list(entries.into_iter())
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}
