//! Merge engine `aggregation`: each column is what its function makes of the versions (ME 2.3).

use paimon_meta::{DataField, Error, Frame, Options, Result, RowKind, TableSchema};

use super::functions::{Accumulated, Function};
use super::merge::{Engine, Record};
use crate::cell::Cell;

#[derive(Debug)]
pub(super) struct Aggregation {
    columns: Vec<(DataField, Function)>,
    remove_on_delete: bool,
}

impl Aggregation {
    /// # Errors
    /// Those of [`Function::named`].
    pub(super) fn new(schema: &TableSchema, options: &Options) -> Result<Self> {
        let sequence = options.sequence_field();
        // ME-086
        let function = |field: &DataField| {
            let named = |name| Function::named(name, field, options);
            if sequence.contains(&field.name) {
                return named("last_value");
            }
            if schema.primary_keys.contains(&field.name) {
                return named("primary-key");
            }
            match Function::of(field, options)? {
                Some(function) => Ok(function),
                None => named("last_non_null_value"),
            }
        };
        let columns = schema.fields.iter();
        let columns = columns.map(|field| Ok((field.clone(), function(field)?)));
        Ok(Self {
            columns: columns.collect::<Result<_>>()?,
            remove_on_delete: options.value(&Options::AGGREGATION_REMOVE_RECORD_ON_DELETE)?,
        })
    }

    fn removes(&self, version: &Record) -> bool {
        self.remove_on_delete && version.kind == RowKind::Delete
    }

    fn apply(&self, version: &Record, accumulated: &mut [Accumulated]) -> Result<()> {
        for ((field, function), column) in self.columns.iter().zip(accumulated) {
            let cell = version.cell(field.id);
            if self.removes(version) {
                if *cell == Cell::Null && !field.data_type.nullable {
                    let error = Error::corrupt("null in a column that is NOT NULL");
                    return Err(error.at(Frame::Column(field.name.clone())));
                }
                // What comes behind it goes on from its values (ME-090).
                column.cell = cell.clone();
            } else if version.kind.is_add() {
                function.add(column, cell)?;
            } else {
                function.retract(column, cell)?;
            }
        }
        Ok(())
    }
}

impl Engine for Aggregation {
    fn merge(&self, versions: &[Record]) -> Result<Option<Record>> {
        let mut accumulated = vec![Accumulated::default(); self.columns.len()];
        for version in versions {
            self.apply(version, &mut accumulated)?;
        }
        let cells = self.columns.iter().zip(accumulated);
        let cells = cells.map(|((field, _), column)| (field.id, column.cell));
        let cells = cells.collect();
        // ME-087, ME-089, ME-094
        Ok(versions.last().map(|last| Record {
            kind: if self.removes(last) {
                RowKind::Delete
            } else {
                RowKind::Insert
            },
            sequence: last.sequence,
            cells,
        }))
    }
}
