//! `nested_update` and `nested_partial_update`: tables inside of rows (ME 4.7). The order of rows with keys is open; here
//! it is that in which their keys came first.

use std::cmp::Ordering;

use paimon_meta::{DataField, Error, Result, TypeKind};
use serde_json::Value;

use super::Column;
use super::list::{elements, same};
use crate::cell::Cell;
use crate::oracle::order;

/// Fields of the rows.
fn fields<'a>(name: &str, column: Column<'a>) -> Result<&'a [DataField]> {
    let fields = match &column.field.data_type.kind {
        TypeKind::Array(element) => match &element.kind {
            TypeKind::Row(fields) => Some(fields.as_slice()),
            _ => None,
        },
        _ => None,
    };
    column.takes(name, fields.is_some())?;
    Ok(fields.unwrap_or_default())
}

/// `nested-key` and what is done with nulls in it (ME-129).
#[derive(Clone, Debug)]
struct NestedKey {
    positions: Vec<usize>,
    null_keys: NullKeys,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum NullKeys {
    Merge,
    Ignore,
    Error,
}

impl NestedKey {
    /// `None` if the options name none.
    fn of(column: Column<'_>, fields: &[DataField]) -> Result<Option<Self>> {
        const STRATEGY: &str = "nested-key-null-strategy";
        let positions = column.positions("nested-key", fields)?;
        let strategy = column.text(STRATEGY);
        let null_keys = match strategy.unwrap_or("merge").to_ascii_lowercase().as_str() {
            "merge" => NullKeys::Merge,
            "ignore" => NullKeys::Ignore,
            "error" => NullKeys::Error,
            other => return Err(Error::invalid_input(format!("{STRATEGY} is {other}"))),
        };
        Ok((!positions.is_empty()).then_some(Self {
            positions,
            null_keys,
        }))
    }

    /// The text of a row's key where rows are taken back, whatever it holds; `None` for null.
    fn plain(&self, row: &Value) -> Option<String> {
        (!row.is_null()).then(|| Value::from(self.values(row)).to_string())
    }

    fn values(&self, row: &Value) -> Vec<Value> {
        let values = self.positions.iter().map(|at| row.get(*at));
        let values = values.map(|value| value.cloned().unwrap_or_default());
        values.collect()
    }

    /// The text of a row's key; `None` where the row does not count.
    fn text(&self, row: &Value) -> Result<Option<String>> {
        if row.is_null() {
            return Ok(None);
        }
        let values = self.values(row);
        match self.null_keys {
            NullKeys::Merge => {}
            _ if !values.contains(&Value::Null) => {}
            NullKeys::Ignore => return Ok(None),
            NullKeys::Error => return Err(Error::corrupt("null in the key of a nested row")),
        }
        Ok(Some(Value::from(values).to_string()))
    }
}

/// Rows by key, in the order in which the keys came.
type Rows = Vec<(String, Value)>;

fn row_mut<'a>(rows: &'a mut Rows, key: &str) -> Option<&'a mut Value> {
    let found = rows.iter_mut().find(|(other, _)| other == key);
    found.map(|(_, row)| row)
}

fn cell_of(rows: Rows) -> Cell {
    Cell::Nested(rows.into_iter().map(|(_, row)| row).collect())
}

/// Without a key rows are appended, with one they replace each other.
#[derive(Clone, Debug)]
pub(super) struct NestedUpdate {
    key: Option<NestedKey>,
    /// Fields that say which row of a key is newer.
    sequence: Vec<(usize, DataField)>,
    count_limit: usize,
}

impl NestedUpdate {
    pub(super) fn of(column: Column<'_>) -> Result<Self> {
        let fields = fields("nested_update", column)?;
        let key = NestedKey::of(column, fields)?;
        for option in ["nested-key-null-strategy", "nested-sequence-field"] {
            if key.is_none() && column.text(option).is_some() {
                return Err(Error::invalid_input(format!("{option} needs nested-key")));
            }
        }
        let sequence = column.positions("nested-sequence-field", fields)?;
        let sequence = sequence.into_iter();
        let limit = column.options.integer(&column.key("count-limit"))?;
        Ok(Self {
            key,
            sequence: sequence
                .filter_map(|at| Some((at, fields.get(at)?.clone())))
                .collect(),
            count_limit: limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(0)),
        })
    }

    pub(super) fn add(&self, old: Cell, input: Cell) -> Result<Cell> {
        if input == Cell::Null {
            return Ok(old);
        }
        let Some(key) = &self.key else {
            return self.append(old, &input);
        };
        let mut rows = Rows::new();
        // What was there already is not limited (ME-128).
        for (cell, limit) in [(&old, usize::MAX), (&input, self.count_limit)] {
            for row in elements(cell)? {
                let Some(key) = key.text(row)? else { continue };
                let count = rows.len();
                match row_mut(&mut rows, &key) {
                    None if count < limit => rows.push((key, row.clone())),
                    Some(known) if self.compare(row, known)?.is_ge() => *known = row.clone(),
                    _ => {}
                }
            }
        }
        Ok(cell_of(rows))
    }

    /// ME-125
    fn append(&self, old: Cell, input: &Cell) -> Result<Cell> {
        let count = elements(&old)?.len();
        if old != Cell::Null && count >= self.count_limit {
            return Ok(old);
        }
        let present = |row: &&Value| !row.is_null();
        let kept = elements(&old)?.iter().filter(present);
        let added = elements(input)?.iter().filter(present);
        let added = added.take(self.count_limit.saturating_sub(count));
        Ok(Cell::Nested(kept.chain(added).cloned().collect()))
    }

    /// ME-127
    fn compare(&self, a: &Value, b: &Value) -> Result<Ordering> {
        for (at, field) in &self.sequence {
            let value = |row: &Value| {
                let value = row.get(*at).unwrap_or(&Value::Null);
                Cell::from_json(value, &field.data_type)
            };
            let (a, b) = (value(a)?, value(b)?);
            let order = order(a.datum(), b.datum());
            if order.is_ne() {
                return Ok(order);
            }
        }
        Ok(Ordering::Equal)
    }

    pub(super) fn retract(&self, old: Cell, input: Cell) -> Result<Cell> {
        if old == Cell::Null || input == Cell::Null {
            return Ok(old);
        }
        let present = |row: &&Value| !row.is_null();
        let (rows, gone) = (elements(&old)?.iter(), elements(&input)?);
        let Some(key) = &self.key else {
            // ME-126
            let kept = rows.filter(present);
            let kept = kept.filter(|row| !gone.iter().any(|other| same(other, row)));
            return Ok(Cell::Nested(kept.cloned().collect()));
        };
        let mut kept = Rows::new();
        for row in rows {
            let Some(key) = key.plain(row) else { continue };
            match row_mut(&mut kept, &key) {
                Some(known) => *known = row.clone(),
                None => kept.push((key, row.clone())),
            }
        }
        for gone in gone.iter().filter_map(|row| key.plain(row)) {
            kept.retain(|(other, _)| *other != gone);
        }
        Ok(cell_of(kept))
    }
}

/// Rows of a key fill each other's fields (ME-130).
#[derive(Clone, Debug)]
pub(super) struct NestedPartialUpdate {
    key: NestedKey,
}

impl NestedPartialUpdate {
    pub(super) fn of(column: Column<'_>) -> Result<Self> {
        let fields = fields("nested_partial_update", column)?;
        let key = NestedKey::of(column, fields)?;
        let key = key.ok_or_else(|| Error::invalid_input("nested-key is not set"))?;
        Ok(Self { key })
    }

    pub(super) fn add(&self, old: Cell, input: Cell) -> Result<Cell> {
        if input == Cell::Null {
            return Ok(old);
        }
        let mut rows = Rows::new();
        for row in elements(&old)?.iter().chain(elements(&input)?) {
            let Some(key) = self.key.text(row)? else {
                continue;
            };
            match row_mut(&mut rows, &key).and_then(Value::as_array_mut) {
                None => rows.push((key, row.clone())),
                Some(known) => {
                    for (known, value) in known.iter_mut().zip(row.as_array().into_iter().flatten())
                    {
                        if !value.is_null() {
                            *known = value.clone();
                        }
                    }
                }
            }
        }
        Ok(cell_of(rows))
    }
}
