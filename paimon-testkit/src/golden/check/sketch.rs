//! Comparing sketch columns by what is in them.

use paimon_meta::{Datum, MAX_LENGTH, TypeKind};
use serde_json::Value;

use super::{Wrong, differs};
use crate::golden::GoldenRead;
use crate::golden::rows::canonical;
use crate::json::JsonRow;
use crate::reader::Reader;

/// Estimates are equal within this part of the expected one (golden/README.md).
const ESTIMATE_TOLERANCE: f64 = 0.01;

/// Stands for the content of a sketch that the reader cannot look into.
const OPAQUE: Value = Value::Bool(true);

/// What a row shows: its plain cells as comparable text, and all cells with the content of sketches in their place.
type Shown = (Vec<String>, JsonRow);

/// Sketches are compared by content, in rows that are matched by their other columns.
pub(super) fn check_sketches(
    read: &GoldenRead,
    reader: &dyn Reader,
    found: &[JsonRow],
    expected: &[JsonRow],
) -> Result<(), Wrong> {
    let contents = found
        .iter()
        .map(|row| look_inside(read, reader, row))
        .collect::<Result<Vec<_>, _>>()?;
    let found = shown(read, found, &contents);
    let expected = shown(read, expected, read.decoded.as_deref().unwrap_or(expected));
    if found.len() != expected.len() {
        let (found, expected) = (found.len(), expected.len());
        return Err(differs(format!("{found} rows, expected {expected}")));
    }
    for ((found, found_cells), (expected, expected_cells)) in found.iter().zip(&expected) {
        if found != expected {
            return Err(differs(format!("row {found:?}, expected {expected:?}")));
        }
        for (index, name) in sketches(read) {
            let cells = (found_cells.get(index), expected_cells.get(index));
            if let (Some(found), Some(expected)) = cells
                && !same_content(found, expected)
            {
                return Err(differs(format!(
                    "sketch {name} is {found}, expected {expected}"
                )));
            }
        }
    }
    Ok(())
}

/// Positions in a row and names of the sketch columns.
fn sketches(read: &GoldenRead) -> impl Iterator<Item = (usize, &str)> {
    let columns = read.columns.iter().enumerate();
    let leading = usize::from(read.request.has_kinds());
    columns
        .filter(|(_, column)| read.request.decode.contains_key(&column.name))
        .map(move |(index, column)| (index + leading, column.name.as_str()))
}

fn look_inside(read: &GoldenRead, reader: &dyn Reader, row: &JsonRow) -> Result<JsonRow, Wrong> {
    let mut row = row.clone();
    for (index, name) in sketches(read) {
        if let (Some(kind), Some(cell)) = (read.request.decode.get(name), row.get_mut(index))
            && let Value::String(hex) = cell
        {
            let bytes = unhex(hex).ok_or_else(|| differs(format!("sketch {hex:?} is no hex")))?;
            *cell = reader.decode(kind, &bytes)?.unwrap_or(OPAQUE);
        }
    }
    Ok(row)
}

/// The rows in an order that depends on nothing else.
fn shown(read: &GoldenRead, rows: &[JsonRow], contents: &[JsonRow]) -> Vec<Shown> {
    let leading = usize::from(read.request.has_kinds());
    let plain = |row: &JsonRow| {
        let kind = row.iter().take(leading).map(Value::to_string);
        let cells = row.iter().skip(leading).zip(&read.columns);
        let cells = cells.filter(|(_, column)| !read.request.decode.contains_key(&column.name));
        kind.chain(cells.map(|(value, column)| canonical(value, &column.data_type)))
            .collect::<Vec<_>>()
    };
    let mut shown: Vec<Shown> = rows
        .iter()
        .map(plain)
        .zip(contents.iter().cloned())
        .collect();
    shown.sort_by_cached_key(|(plain, cells)| {
        (plain.clone(), Value::from(cells.clone()).to_string())
    });
    shown
}

fn same_content(found: &Value, expected: &Value) -> bool {
    match (found.as_f64(), expected.as_f64()) {
        _ if *found == OPAQUE => !expected.is_null(),
        (Some(found), Some(expected)) => {
            (found - expected).abs() <= ESTIMATE_TOLERANCE * expected.abs()
        }
        _ => found == expected,
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    match Datum::parse(text, &TypeKind::VarBinary(MAX_LENGTH).nullable()) {
        Ok(Datum::Binary(bytes)) => Some(bytes),
        _ => None,
    }
}
