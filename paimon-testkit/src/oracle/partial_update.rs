//! Merge engine `partial-update`: a null changes nothing, and groups of columns follow their sequence columns (ME 2.2, 3).

use std::collections::BTreeMap;

use paimon_meta::{DataField, Error, FieldId, Options, Result, RowKind, TableSchema};

use super::functions::Accumulated;
use super::merge::{Engine, Record};
use super::sequence_group::{Group, groups};
use crate::cell::Cell;

/// The columns of a row.
pub(super) type Row = BTreeMap<FieldId, Accumulated>;

#[derive(Debug)]
pub(super) struct PartialUpdate {
    fields: Vec<DataField>,
    groups: Vec<Group>,
    ignore_delete: bool,
    remove_on_delete: bool,
}

/// A row while versions are added to it.
#[derive(Debug, Default)]
struct State {
    row: Row,
    sequence: i64,
    met_add: bool,
    filled: bool,
    deleted: bool,
}

impl PartialUpdate {
    /// # Errors
    /// `InvalidInput` for options that exclude each other, and names that are none.
    pub(super) fn new(schema: &TableSchema, options: &Options) -> Result<Self> {
        let groups = groups(schema, options)?;
        let ignore_delete = options.value(&Options::IGNORE_DELETE)?;
        let remove_on_delete = options.value(&Options::PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE)?;
        let removes = groups.iter().any(|group| group.removes);
        // ME-055, ME-084
        if ignore_delete && (remove_on_delete || removes) || remove_on_delete && !groups.is_empty()
        {
            return Err(Error::invalid_input(
                "what deletes do to merge engine partial-update is said twice",
            ));
        }
        let partial = Self {
            fields: schema.fields.clone(),
            groups,
            ignore_delete,
            remove_on_delete,
        };
        let free = partial
            .free()
            .filter(|field| !schema.primary_keys.contains(&field.name));
        for field in free {
            // ME-080
            let own = options.get(&format!("fields.{}.aggregate-function", field.name));
            let name = own.or_else(|| options.get(Options::FIELDS_DEFAULT_AGGREGATE_FUNCTION.key));
            if name.is_some_and(|name| name != "last_non_null_value") {
                let message = format!("a function of {:?}, which is in no group", field.name);
                return Err(Error::invalid_input(message));
            }
        }
        Ok(partial)
    }

    /// Fields of no group.
    fn free(&self) -> impl Iterator<Item = &DataField> {
        let grouped = |field: &DataField| self.groups.iter().any(|group| group.has(field.id));
        self.fields.iter().filter(move |field| !grouped(field))
    }

    fn add(&self, state: &mut State, version: &Record) -> Result<()> {
        state.sequence = version.sequence;
        for field in self.free() {
            let cell = version.cell(field.id);
            if *cell != Cell::Null {
                state.row.entry(field.id).or_default().cell = cell.clone();
            } else if self.groups.is_empty() && !field.data_type.nullable {
                return Err(null_in(field)); // ME-044
            }
        }
        for group in self.groups.iter().filter(|group| !group.is_empty(version)) {
            group.add(&mut state.row, version)?;
        }
        state.met_add = true;
        state.filled = true;
        Ok(())
    }

    fn retract(&self, state: &mut State, version: &Record) -> Result<()> {
        if !state.filled {
            // Also of a retract that is ignored (ME-048).
            self.copy(&mut state.row, version)?;
            state.filled = true;
        }
        if self.ignore_delete {
            return Ok(());
        }
        state.sequence = version.sequence;
        let deletes = version.kind == RowKind::Delete;
        if self.remove_on_delete && deletes {
            state.deleted = true;
            self.copy(&mut state.row, version)?;
        } else if self.groups.is_empty() && !self.remove_on_delete {
            // ME-046
            return Err(Error::invalid_input(
                "a retract of merge engine partial-update",
            ));
        }
        for group in self.groups.iter().filter(|group| !group.is_empty(version)) {
            if group.removes && deletes && group.compare(&state.row, version).is_ge() {
                // Groups behind it are not looked at (ME-070).
                state.deleted = true;
                self.copy(&mut state.row, version)?;
                return Ok(());
            }
            group.retract(&mut state.row, version)?;
        }
        Ok(())
    }

    /// The row of a version becomes the base (ME-056).
    fn copy(&self, row: &mut Row, version: &Record) -> Result<()> {
        for field in &self.fields {
            let cell = version.cell(field.id);
            if !field.data_type.nullable && *cell == Cell::Null {
                return Err(null_in(field));
            }
            row.entry(field.id).or_default().cell = cell.clone();
        }
        Ok(())
    }
}

impl Engine for PartialUpdate {
    fn merge(&self, versions: &[Record]) -> Result<Option<Record>> {
        let mut state = State::default();
        for version in versions {
            state.deleted = false;
            if version.kind.is_add() {
                self.add(&mut state, version)?;
            } else {
                self.retract(&mut state, version)?;
            }
        }
        let cells = state.row.into_iter();
        let gone = state.deleted || !state.met_add;
        Ok(Some(Record {
            kind: if gone {
                RowKind::Delete
            } else {
                RowKind::Insert
            },
            sequence: state.sequence,
            cells: cells.map(|(field, value)| (field, value.cell)).collect(),
        }))
    }
}

fn null_in(field: &DataField) -> Error {
    Error::invalid_input(format!(
        "null in column {:?}, which is NOT NULL",
        field.name
    ))
}
