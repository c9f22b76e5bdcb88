//! `collect` (ME 4.5). The order of distinct elements is open; here it is that of their first appearance.

use paimon_meta::{Result, TypeKind};
use serde_json::Value;

use super::{Column, of_another_type};
use crate::cell::Cell;

#[derive(Clone, Copy, Debug)]
pub(super) struct Collect {
    distinct: bool,
    /// Whether what was collected loses its own duplicates when more comes: not for bytes and nested values, of which
    /// the reference keeps a list and no set.
    cleans: bool,
}

impl Collect {
    pub(super) fn of(column: Column<'_>) -> Result<Self> {
        let element = match &column.field.data_type.kind {
            TypeKind::Array(element) => Some(&element.kind),
            _ => None,
        };
        column.takes("collect", element.is_some())?;
        Ok(Self {
            distinct: column.flag("distinct")?,
            cleans: element.is_some_and(|kind| {
                *kind == TypeKind::Variant || kind.is_scalar() && !kind.is_bytes()
            }),
        })
    }

    pub(super) fn add(self, old: Cell, input: Cell) -> Result<Cell> {
        if old == Cell::Null && input == Cell::Null {
            return Ok(Cell::Null);
        }
        let known = elements(&old)?;
        let (mut collected, again) = match self.distinct && self.cleans {
            true => (Vec::new(), known),
            false => (known.to_vec(), Default::default()),
        };
        for element in again.iter().chain(elements(&input)?) {
            if !self.distinct || !contains(&collected, element) {
                collected.push(element.clone());
            }
        }
        Ok(Cell::Nested(Value::from(collected)))
    }
}

/// Each element takes out one that equals it, by content (ME-120).
pub(super) fn retract(old: Cell, input: Cell) -> Result<Cell> {
    if old == Cell::Null || input == Cell::Null {
        return Ok(old);
    }
    let mut gone = elements(&input)?.to_vec();
    let mut kept = Vec::new();
    for element in elements(&old)? {
        match gone.iter().position(|other| same(other, element)) {
            Some(position) => drop(gone.swap_remove(position)),
            None => kept.push(element.clone()),
        }
    }
    Ok(Cell::Nested(Value::from(kept)))
}

/// The elements of a list; none of null.
pub(super) fn elements(cell: &Cell) -> Result<&[Value]> {
    match cell {
        Cell::Null => Ok(&[]),
        Cell::Nested(Value::Array(elements)) => Ok(elements),
        other => Err(of_another_type(other)),
    }
}

fn contains(elements: &[Value], element: &Value) -> bool {
    elements.iter().any(|other| same(other, element))
}

/// Whether two values are the same, by their text: NaN is one, and -0.0 is not 0.0.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    let text = Value::to_string;
    text(a) == text(b)
}
