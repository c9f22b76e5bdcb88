//! Sequence groups of merge engine `partial-update` (ME 3).

use std::cmp::Ordering;

use paimon_meta::{DataField, Error, FieldId, Options, Result, TableSchema};

use super::functions::Function;
use super::merge::Record;
use super::order;
use super::partial_update::Row;
use crate::cell::Cell;

/// Columns that follow the columns which say what is newer.
#[derive(Debug)]
pub(super) struct Group {
    sequence: Vec<FieldId>,
    protected: Vec<(FieldId, Option<Function>)>,
    /// A delete that is not older removes the row.
    pub(super) removes: bool,
}

impl Group {
    pub(super) fn has(&self, field: FieldId) -> bool {
        self.sequence.contains(&field) || self.protected.iter().any(|(other, _)| *other == field)
    }

    /// A version whose sequence columns are all null has no part in the group (ME-060).
    pub(super) fn is_empty(&self, version: &Record) -> bool {
        let mut cells = self.sequence.iter().map(|field| version.cell(*field));
        cells.all(|cell| *cell == Cell::Null)
    }

    /// How a version compares to a row: by the sequence columns in their order, null first (ME-061, ME-062).
    pub(super) fn compare(&self, row: &Row, version: &Record) -> Ordering {
        let orders = self.sequence.iter().map(|field| {
            let old = row.get(field).and_then(|value| value.cell.datum());
            order(version.cell(*field).datum(), old)
        });
        let mut orders = orders.filter(|order| order.is_ne());
        orders.next().unwrap_or(Ordering::Equal)
    }

    /// ME-058, ME-059; what is older goes to the functions all the same (ME-077).
    pub(super) fn add(&self, row: &mut Row, version: &Record) -> Result<()> {
        let is_newer = self.compare(row, version).is_ge();
        for (field, function) in &self.protected {
            let (value, cell) = (row.entry(*field).or_default(), version.cell(*field));
            match function {
                Some(function) if is_newer => function.add(value, cell)?,
                Some(function) => function.add_older(value, cell)?,
                None if is_newer => value.cell = cell.clone(),
                None => {}
            }
        }
        self.advance(row, version, is_newer);
        Ok(())
    }

    /// ME-065, ME-066, ME-078
    pub(super) fn retract(&self, row: &mut Row, version: &Record) -> Result<()> {
        let is_newer = self.compare(row, version).is_ge();
        for (field, function) in &self.protected {
            let (value, cell) = (row.entry(*field).or_default(), version.cell(*field));
            match function {
                Some(function) => function.retract(value, cell)?,
                None if is_newer => value.cell = Cell::Null,
                None => {}
            }
        }
        self.advance(row, version, is_newer);
        Ok(())
    }

    fn advance(&self, row: &mut Row, version: &Record, is_newer: bool) {
        for field in self.sequence.iter().filter(|_| is_newer) {
            row.entry(*field).or_default().cell = version.cell(*field).clone();
        }
    }
}

/// The groups of a table: `fields.<sequence columns>.sequence-group` names the protected ones.
///
/// # Errors
/// `InvalidInput` for names that are no columns, `Unsupported` for what the kit does not have: sequence columns of nested
/// values, and some functions.
pub(super) fn groups(schema: &TableSchema, options: &Options) -> Result<Vec<Group>> {
    let removing = options.value(&Options::PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP)?;
    let mut groups = Vec::new();
    for (key, protected) in &options.0 {
        let names = key.strip_prefix("fields.");
        let Some(names) = names.and_then(|rest| rest.strip_suffix(".sequence-group")) else {
            continue;
        };
        let (sequence, protected) = (fields(names, schema)?, fields(protected, schema)?);
        if sequence
            .iter()
            .any(|field| !field.data_type.kind.is_scalar())
        {
            return Err(Error::unsupported(
                "sequence columns of nested values in the test kit",
            ));
        }
        let protected = protected.into_iter();
        let protected = protected.map(|field| Ok((field.id, Function::of(field, options)?)));
        groups.push(Group {
            sequence: sequence.iter().map(|field| field.id).collect(),
            protected: protected.collect::<Result<_>>()?,
            removes: sequence.iter().any(|field| removing.contains(&field.name)),
        });
    }
    Ok(groups)
}

/// Names are not trimmed (ME-076).
fn fields<'a>(names: &str, schema: &'a TableSchema) -> Result<Vec<&'a DataField>> {
    names.split(',').map(|name| schema.field(name)).collect()
}
