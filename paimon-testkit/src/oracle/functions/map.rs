//! `merge_map` (ME-122, ME-123) and `merge_map_with_keytime` (ME 4.6). Entries stand in the order of their keys' text, as
//! cells have them.

use std::collections::BTreeMap;

use paimon_meta::{Error, Result, TypeKind};
use serde_json::Value;

use super::list::elements;
use super::{Column, of_another_type};
use crate::cell::Cell;

/// Entries by the text of their keys.
type Entries = BTreeMap<String, (Value, Value)>;

pub(super) fn add(old: Cell, input: Cell) -> Result<Cell> {
    let mut entries = entries(&old)?;
    entries.extend(self::entries(&input)?);
    Ok(cell(entries))
}

/// Takes out the keys, whatever their values are.
pub(super) fn retract(old: Cell, input: Cell) -> Result<Cell> {
    if old == Cell::Null {
        return Ok(old);
    }
    let mut entries = entries(&old)?;
    for key in self::entries(&input)?.keys() {
        entries.remove(key);
    }
    Ok(cell(entries))
}

/// The field of the rows that holds the time.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyTime {
    position: usize,
}

impl KeyTime {
    pub(super) fn of(column: Column<'_>) -> Result<Self> {
        let fields = match &column.field.data_type.kind {
            TypeKind::Map(_, value) => match &value.kind {
                TypeKind::Row(fields) if fields.len() >= 2 => fields.as_slice(),
                _ => &[],
            },
            _ => &[],
        };
        column.takes("merge_map_with_keytime", !fields.is_empty())?;
        let named = column.positions("ts-field", fields)?;
        let last = fields.len().saturating_sub(1);
        Ok(Self {
            position: named.first().copied().unwrap_or(last),
        })
    }

    pub(super) fn add(self, old: Cell, input: Cell) -> Result<Cell> {
        let mut entries = entries(&old)?;
        for (key, (name, row)) in self::entries(&input)? {
            if row.is_null() {
                entries.remove(&key);
                continue;
            }
            let Some(time) = self.time(&row)? else {
                continue;
            };
            let before = match entries.get(&key) {
                Some((_, before)) => self.time(before)?,
                None => None,
            };
            if before.is_none_or(|before| before < time) {
                entries.insert(key, (name, row));
            }
        }
        Ok(cell(entries))
    }

    /// The time of a row in UTF-16, by which Java compares texts.
    fn time(self, row: &Value) -> Result<Option<Vec<u16>>> {
        match row.get(self.position) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(time)) => Ok(Some(time.encode_utf16().collect())),
            Some(other) => Err(Error::invalid_input(format!("time {other} is no text"))),
        }
    }
}

fn entries(cell: &Cell) -> Result<Entries> {
    let entry = |entry: &Value| match entry.as_array().map(Vec::as_slice) {
        Some([key, value]) => Ok((key.to_string(), (key.clone(), value.clone()))),
        _ => Err(of_another_type(cell)),
    };
    elements(cell)?.iter().map(entry).collect()
}

fn cell(entries: Entries) -> Cell {
    let entries = entries.into_values();
    Cell::Nested(
        entries
            .map(|(key, value)| Value::from(vec![key, value]))
            .collect(),
    )
}
