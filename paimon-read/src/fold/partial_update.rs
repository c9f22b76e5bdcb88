//! `partial-update`: each column has its newest value that is not null, or follows its sequence group. Facts: RP-344,
//! merge-engines sections 2.2 and 3.
//!
//! | column | value |
//! |---|---|
//! | of the key | that of any version |
//! | in no group | the newest that is not null; from the last version on that replaced the row |
//! | in a group | see [`super::sequence`] |
//! | in a group, with a function | what the function makes of the versions |

use arrow_array::ArrayRef;
use arrow_buffer::NullBuffer;
use paimon_meta::{DataField, Error, FieldId, ResolvedTable, Result};

use super::columns::{Column, Fault, Folded};
use super::options::{PartialUpdateOptions, SequenceGroup, function_name};
use super::plan::add_key;
use super::sequence::{Choice, SequenceOrder, Sequences, choose, remove_by_groups};
use super::steps::{Action, Actions};
use super::versions::{Chosen, VersionColumns};
use crate::functions::{AggregateFunction, aggregate_function};

/// Where the values of a column come from.
#[derive(Debug)]
enum Role {
    /// The same in all versions.
    Key,
    /// In no group.
    Free,
    /// Says which version of a group is newer.
    Sequence(usize),
    /// Follows a group.
    Protected(usize),
    /// Follows a group through a function.
    Function(usize, Box<dyn AggregateFunction>),
}

/// A sequence group that is read.
#[derive(Debug)]
struct ReadGroup {
    /// Its sequence columns among those that are read.
    sequence: Vec<usize>,
    order: SequenceOrder,
    removes: bool,
    /// Whether a column that is read has a function.
    functions: bool,
}

/// The engine for the columns of a read.
#[derive(Debug)]
pub(super) struct PartialUpdate {
    options: PartialUpdateOptions,
    columns: Vec<Column<Role>>,
    /// How many of them are merged; the others only decide.
    merged: usize,
    groups: Vec<ReadGroup>,
}

/// What is known of a batch of versions.
struct Batch<'a> {
    versions: &'a VersionColumns<'a>,
    actions: Actions,
    choices: Vec<Choice>,
}

impl PartialUpdate {
    /// The engine for a read of `fields`, to which it adds what it reads beside them.
    ///
    /// # Errors
    /// `InvalidInput` for options and functions that do not fit the table.
    pub(super) fn new(table: &ResolvedTable, fields: &mut Vec<DataField>) -> Result<Self> {
        let merged = fields.len();
        let options = PartialUpdateOptions::of(table)?;
        let read = read_groups(&options, table, fields)?;
        for id in read.iter().flat_map(|group| &group.sequence) {
            if !fields.iter().any(|field| field.id == *id) {
                fields.extend(table.schema.field_by_id(*id).cloned());
            }
        }
        let columns = fields.iter().map(|field| {
            Ok(Column {
                role: role(field, &read, table)?,
                field: field.clone(),
            })
        });
        let columns: Vec<Column<Role>> = columns.collect::<Result<_>>()?;
        let groups = read.iter().enumerate();
        let groups = groups.map(|(at, group)| ReadGroup::new(at, group, &columns));
        Ok(Self {
            groups: groups.collect::<Result<_>>()?,
            options,
            columns,
            merged,
        })
    }

    /// Whether the newest version of a key is its row, wherever it is an add without null.
    pub(super) fn newest_decides(&self) -> bool {
        self.groups.is_empty()
    }

    /// The rows of keys that have these versions.
    ///
    /// # Errors
    /// `Corrupt` for a null where none may be, and those of the functions; they name the column.
    pub(super) fn merge(&self, versions: &VersionColumns<'_>) -> Result<Folded, Fault> {
        let groups = versions.groups();
        let mut actions = Actions::of(groups, &self.options);
        let sequences = self.sequences(versions)?;
        let removing = self.groups.iter().zip(&sequences);
        let removing: Vec<&Sequences> = removing
            .filter(|(group, _)| group.removes)
            .map(|(_, sequences)| sequences)
            .collect();
        remove_by_groups(&removing, groups, &mut actions);
        self.check_nulls(versions, &actions)?;
        let choices: Vec<Choice> = self
            .groups
            .iter()
            .zip(&sequences)
            .map(|(group, sequences)| choose(sequences, groups, &actions, group.functions))
            .collect();
        let batch = Batch {
            versions,
            actions,
            choices,
        };
        let merged = self.columns.iter().enumerate().take(self.merged);
        let merged = merged.map(|(at, column)| {
            batch
                .column(at, &column.role)
                .map_err(|fault| fault.in_column(&column.field))
        });
        Ok(Folded {
            columns: merged.collect::<Result<_, Fault>>()?,
            retracted: batch.actions.retracted(groups),
        })
    }

    fn sequences(&self, versions: &VersionColumns<'_>) -> Result<Vec<Sequences>> {
        let of = |group: &ReadGroup| {
            let columns = group.sequence.iter().map(|at| versions.merged(*at));
            group.order.sequences(&columns.collect::<Result<Vec<_>>>()?)
        };
        self.groups.iter().map(of).collect()
    }

    /// Null in a column that is not nullable: where a version is the base of the row, and in every add where no sequence
    /// group is read (ME-044, ME-056).
    fn check_nulls(&self, versions: &VersionColumns<'_>, actions: &Actions) -> Result<(), Fault> {
        let adds = self.groups.is_empty();
        for (at, column) in self.columns.iter().enumerate() {
            if column.field.data_type.nullable {
                continue;
            }
            let Some(valid) = versions.validity(at)? else {
                continue;
            };
            let checked = |row: &u32| match actions.at(*row) {
                Action::Add => adds,
                action => action.replaces(),
            };
            let groups = versions.groups().merged_keys();
            let rows = groups.flat_map(|group| group.rows());
            let mut nulls = rows.filter(|row| valid.is_null(*row as usize));
            if let Some(row) = nulls.find(checked) {
                return Err(null_fault(row, &column.field));
            }
        }
        Ok(())
    }
}

impl Batch<'_> {
    fn column(&self, at: usize, role: &Role) -> Result<ArrayRef, Fault> {
        let versions = self.versions;
        Ok(match role {
            Role::Key => versions.newest(at)?,
            Role::Free if self.actions.0.is_none() => versions.newest_non_null(at)?,
            Role::Free => versions.chosen(at, &self.newest(versions.validity(at)?.as_ref()))?,
            Role::Sequence(group) => versions.chosen(at, &self.choice(*group)?.sequence)?,
            Role::Protected(group) => versions.chosen(at, &self.choice(*group)?.protected)?,
            Role::Function(group, function) => {
                versions.apply(at, &**function, &self.choice(*group)?.steps)?
            }
        })
    }

    fn choice(&self, group: usize) -> Result<&Choice> {
        let choice = self.choices.get(group);
        choice.ok_or_else(|| Error::internal("a column of no sequence group"))
    }

    /// The version of each merged key that has its newest value that is not null, where retracts take part.
    fn newest(&self, valid: Option<&NullBuffer>) -> Chosen {
        let newest = self.versions.groups().merged_keys().map(|group| {
            let found = group.rows().rev().find(|row| match self.actions.at(*row) {
                Action::Add => valid.is_none_or(|valid| valid.is_valid(*row as usize)),
                Action::Skip | Action::Retract => false,
                Action::Base | Action::BaseRetract | Action::Remove => true,
            });
            // Where every version is null any of them will do.
            found.unwrap_or(group.first)
        });
        Chosen::new(newest.collect())
    }
}

/// The groups that a read of these columns must ask: those of its columns (ME-082, ME-083), and those that remove rows,
/// whatever is read (ME section 2.6).
fn read_groups(
    options: &PartialUpdateOptions,
    table: &ResolvedTable,
    fields: &mut Vec<DataField>,
) -> Result<Vec<SequenceGroup>> {
    let mut widened: Vec<FieldId> = fields.iter().map(|field| field.id).collect();
    for name in table.options.sequence_field() {
        widened.push(table.schema.field(&name)?.id);
    }
    let read = options.groups.iter();
    let read = read.filter(|group| group.removes || widened.iter().any(|id| group.has(*id)));
    let read: Vec<SequenceGroup> = read.cloned().collect();
    let mut protected = read.iter().flat_map(|group| {
        let fields = fields.iter();
        fields.filter(|field| group.protected.contains(&field.id))
    });
    if protected.any(|field| function_name(&table.options, field).is_some()) {
        add_key(&table.schema, fields)?;
    }
    Ok(read)
}

fn role(field: &DataField, read: &[SequenceGroup], table: &ResolvedTable) -> Result<Role> {
    if table.schema.primary_keys.contains(&field.name) {
        return Ok(Role::Key);
    }
    let mut groups = read.iter().enumerate();
    let Some((at, group)) = groups.find(|(_, group)| group.has(field.id)) else {
        return Ok(Role::Free);
    };
    Ok(if group.sequence.contains(&field.id) {
        // ME-081
        Role::Sequence(at)
    } else {
        match function_name(&table.options, field) {
            None => Role::Protected(at),
            Some(name) => Role::Function(at, aggregate_function(name, field, &table.options)?),
        }
    })
}

impl ReadGroup {
    fn new(at: usize, group: &SequenceGroup, columns: &[Column<Role>]) -> Result<Self> {
        let position = |id: &FieldId| {
            let found = columns.iter().position(|column| column.field.id == *id);
            found.ok_or_else(|| Error::internal("a sequence column is not read"))
        };
        let sequence = group.sequence.iter().map(position);
        let sequence = sequence.collect::<Result<Vec<_>>>()?;
        let fields = sequence.iter().filter_map(|at| columns.get(*at));
        let fields: Vec<&DataField> = fields.map(|column| &column.field).collect();
        let mut roles = columns.iter().map(|column| &column.role);
        Ok(Self {
            order: SequenceOrder::new(&fields)?,
            sequence,
            removes: group.removes,
            functions: roles.any(|role| matches!(role, Role::Function(of, _) if *of == at)),
        })
    }
}

/// A version without a value in a column that must have one.
pub(super) fn null_fault(row: u32, field: &DataField) -> Fault {
    let fault = Fault {
        row: Some(row as usize),
        error: Error::corrupt("a version holds null in a column that is not nullable"),
    };
    fault.in_column(field)
}
