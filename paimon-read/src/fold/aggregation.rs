//! `aggregation`: each column is what its function makes of the versions. Facts: RP-345, merge-engines section 2.3.
//!
//! | version | every column |
//! |---|---|
//! | add | adds its value |
//! | retract | takes its value back |
//! | `-D`, with `aggregation.remove-record-on-delete` | is the row as it is; the result is a delete if it comes last |

use paimon_meta::{DataField, Options, ResolvedTable, Result, RowKind};

use super::columns::{Column, Fault, Folded};
use super::options::function_name;
use super::partial_update::null_fault;
use super::plan::add_key;
use super::versions::VersionColumns;
use crate::functions::{AggregateFunction, Newest, Step, aggregate_function};
use crate::merge::KeyGroups;

/// Where the values of a column come from.
#[derive(Debug)]
enum Role {
    /// The same in all versions.
    Key,
    /// What a function makes of them.
    Function(Box<dyn AggregateFunction>),
}

/// The engine for the columns of a read.
#[derive(Debug)]
pub(super) struct Aggregation {
    /// A delete removes the row (ME-089).
    remove_on_delete: bool,
    columns: Vec<Column<Role>>,
    /// How many of them are merged; the others only name a key.
    merged: usize,
}

impl Aggregation {
    /// The engine for a read of `fields`, to which it adds what it reads beside them.
    ///
    /// # Errors
    /// `InvalidInput` for functions that do not fit the table.
    pub(super) fn new(table: &ResolvedTable, fields: &mut Vec<DataField>) -> Result<Self> {
        let merged = fields.len();
        if merged > 0 {
            add_key(&table.schema, fields)?;
        }
        let options = &table.options;
        let sequence = options.sequence_field();
        // Which function a column has: ME-086.
        let role = |field: &DataField| {
            let name = if sequence.contains(&field.name) {
                "last_value"
            } else if table.schema.primary_keys.contains(&field.name) {
                return Ok(Role::Key);
            } else {
                function_name(options, field).unwrap_or("last_non_null_value")
            };
            aggregate_function(name, field, options).map(Role::Function)
        };
        let columns = fields.iter().map(|field| {
            Ok(Column {
                role: role(field)?,
                field: field.clone(),
            })
        });
        Ok(Self {
            remove_on_delete: options.value(&Options::AGGREGATION_REMOVE_RECORD_ON_DELETE)?,
            columns: columns.collect::<Result<_>>()?,
            merged,
        })
    }

    /// Whether the newest version of a key is its row, wherever it is an add without null.
    pub(super) fn newest_decides(&self) -> bool {
        let mut merged = self.columns.iter().take(self.merged);
        merged.all(|column| match &column.role {
            Role::Key => true,
            Role::Function(function) => function.newest().is_some(),
        })
    }

    /// The rows of keys that have these versions.
    ///
    /// # Errors
    /// `Corrupt` for a null where none may be, and those of the functions; they name the column.
    pub(super) fn merge(&self, versions: &VersionColumns<'_>) -> Result<Folded, Fault> {
        let groups = versions.groups();
        let steps = self.steps(groups);
        self.check_nulls(versions)?;
        let merged = self.columns.iter().enumerate().take(self.merged);
        let merged = merged.map(|(at, column)| {
            let merged = match &column.role {
                Role::Key => versions.newest(at).map_err(Fault::from),
                Role::Function(function) => match function.newest().filter(|_| !groups.retract()) {
                    Some(Newest::Value) => versions.newest(at).map_err(Fault::from),
                    Some(Newest::NonNull) => versions.newest_non_null(at).map_err(Fault::from),
                    None => versions.apply(at, &**function, &steps),
                },
            };
            merged.map_err(|fault| fault.in_column(&column.field))
        });
        Ok(Folded {
            columns: merged.collect::<Result<_, Fault>>()?,
            retracted: self.retracted(groups),
        })
    }

    fn removes(&self, kind: RowKind) -> bool {
        self.remove_on_delete && kind == RowKind::Delete
    }

    fn steps(&self, groups: &KeyGroups) -> Vec<Step> {
        let mut steps = vec![Step::Add; groups.merged_rows() as usize];
        for group in groups.merged_keys().filter(|group| !group.kinds.is_empty()) {
            for (version, kind) in group.versions() {
                if let Some(step) = steps.get_mut(version as usize)
                    && !kind.is_add()
                {
                    *step = if self.removes(kind) {
                        Step::Replace
                    } else {
                        Step::Retract
                    };
                }
            }
        }
        steps
    }

    /// A version that removes the row is copied as it is.
    fn check_nulls(&self, versions: &VersionColumns<'_>) -> Result<(), Fault> {
        let groups = versions.groups();
        if !self.remove_on_delete || !groups.retract() {
            return Ok(());
        }
        for (at, column) in self.columns.iter().enumerate() {
            if column.field.data_type.nullable {
                continue;
            }
            let Some(valid) = versions.validity(at)? else {
                continue;
            };
            let mut versions = groups.merged_keys().flat_map(|group| {
                let kinds = group.kinds.iter().copied();
                group.rows().zip(kinds)
            });
            let null =
                versions.find(|(row, kind)| self.removes(*kind) && valid.is_null(*row as usize));
            if let Some((row, _)) = null {
                return Err(null_fault(row, &column.field));
            }
        }
        Ok(())
    }

    /// The merged keys whose last version removes the row.
    fn retracted(&self, groups: &KeyGroups) -> Vec<usize> {
        if !self.remove_on_delete || !groups.retract() {
            return Vec::new();
        }
        let removed = groups
            .merged_keys()
            .filter(|group| group.kinds.last().is_some_and(|kind| self.removes(*kind)));
        removed.map(|group| group.key).collect()
    }
}
