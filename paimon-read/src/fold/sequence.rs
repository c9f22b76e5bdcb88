//! Which version of each key the columns of a sequence group come from. Facts: merge-engines sections 3.2 to 3.5.
//!
//! | version | sequence is newer or equal | older | all null |
//! |---|---|---|---|
//! | add | sequence and protected columns are its own, functions add | functions add it reversed | nothing |
//! | retract | sequence is its own, protected columns are null, functions retract | functions retract | nothing |

use std::cmp::Ordering;

use arrow_array::builder::UInt32Builder;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::BooleanBuffer;
use arrow_row::{RowConverter, Rows, SortField};
use paimon_meta::{DataField, DataType, Error, Frame, Result, ResultExt, RowKind, StringLayout};

use super::steps::{Action, Actions};
use super::versions::Chosen;
use crate::functions::Step;
use crate::merge::{Group, KeyEncoder, KeyGroups, KeyWindow, one_nan};

/// Compares the sequence columns of a group.
#[derive(Debug)]
pub(super) struct SequenceOrder {
    /// For values without nulls.
    dense: KeyEncoder,
    /// For all others; null is smallest.
    rows: RowConverter,
}

/// The sequences of merged versions.
#[derive(Debug)]
pub(super) struct Sequences {
    keys: SequenceKeys,
    /// Rows whose sequence columns are all null: the group does not count for them (ME-060).
    empty: Option<BooleanBuffer>,
}

#[derive(Debug)]
enum SequenceKeys {
    Dense(KeyWindow),
    Rows(Rows),
}

impl SequenceOrder {
    /// # Errors
    /// `Unsupported` for a type that has no order.
    pub(super) fn new(fields: &[&DataField]) -> Result<Self> {
        let types: Vec<DataType> = fields
            .iter()
            .map(|field| DataType {
                nullable: false,
                ..field.data_type.clone()
            })
            .collect();
        let sort = |field: &&DataField| {
            let arrow = field.data_type.to_arrow(StringLayout::View);
            arrow
                .map(SortField::new)
                .at(|| Frame::Column(field.name.clone()))
        };
        let sort = fields.iter().map(sort).collect::<Result<_>>()?;
        let rows = RowConverter::new(sort)
            .map_err(|error| Error::unsupported("type of a sequence column").with_source(error))?;
        Ok(Self {
            dense: KeyEncoder::new(&types)?,
            rows,
        })
    }

    /// The sequences of versions.
    pub(super) fn sequences(&self, columns: &[ArrayRef]) -> Result<Sequences> {
        if columns.iter().all(|column| column.null_count() == 0) {
            return Ok(Sequences {
                keys: SequenceKeys::Dense(self.dense.encode(columns)?),
                empty: None,
            });
        }
        let ordered: Vec<ArrayRef> = columns.iter().map(one_nan).collect();
        let rows = self.rows.convert_columns(&ordered);
        let rows =
            rows.map_err(|error| Error::internal("cannot order a sequence").with_source(error))?;
        Ok(Sequences {
            keys: SequenceKeys::Rows(rows),
            empty: all_null(columns),
        })
    }
}

/// The rows where every column is null; `None` if there are none.
fn all_null(columns: &[ArrayRef]) -> Option<BooleanBuffer> {
    let mut empty: Option<BooleanBuffer> = None;
    for column in columns {
        let nulls = !column.logical_nulls()?.inner();
        empty = Some(match empty {
            None => nulls,
            Some(others) => &others & &nulls,
        });
    }
    empty.filter(BooleanBuffer::has_true)
}

impl Sequences {
    #[inline]
    pub(super) fn is_empty(&self, row: u32) -> bool {
        let empty = self.empty.as_ref();
        empty.is_some_and(|empty| empty.value(row as usize))
    }

    /// Whether the sequence of a row is not below that of the row that the group has come to.
    #[inline]
    pub(super) fn is_newer(&self, row: u32, current: Option<u32>) -> bool {
        let Some(current) = current else { return true };
        let (row, current) = (row as usize, current as usize);
        let order = match &self.keys {
            SequenceKeys::Dense(keys) => keys.compare(row, keys, current),
            SequenceKeys::Rows(rows) => rows.row(row).cmp(&rows.row(current)),
        };
        order != Ordering::Less
    }
}

/// Lets deletes remove rows where a group says so: a delete whose sequence is newer or equal (ME-070 to ME-072).
pub(super) fn remove_by_groups(removing: &[&Sequences], groups: &KeyGroups, actions: &mut Actions) {
    let Some(actions) = &mut actions.0 else {
        return;
    };
    if removing.is_empty() {
        return;
    }
    let mut current: Vec<Option<u32>> = vec![None; removing.len()];
    for group in groups.merged_keys().filter(|group| !group.kinds.is_empty()) {
        current.fill(None);
        for (row, kind) in group.versions() {
            let Some(action) = actions.get_mut(row as usize) else {
                continue;
            };
            if action.replaces() {
                current.fill(Some(row));
            }
            if *action == Action::Skip || *action == Action::Base {
                continue;
            }
            let advanced = removing.iter().zip(&mut current);
            let advanced = advanced.filter(|(sequences, current)| {
                !sequences.is_empty(row) && sequences.is_newer(row, **current)
            });
            let mut removed = false;
            for (_, current) in advanced {
                *current = Some(row);
                removed |= kind == RowKind::Delete;
            }
            if removed {
                *action = Action::Remove;
                current.fill(Some(row));
            }
        }
    }
}

/// Which versions the columns of a group come from.
#[derive(Debug)]
pub(super) struct Choice {
    /// For each merged key the version of the sequence columns.
    pub(super) sequence: Chosen,
    /// For each merged key the version of the protected columns, none where they are null.
    pub(super) protected: Chosen,
    /// What each merged version does to columns with functions; empty if there are none.
    pub(super) steps: Vec<Step>,
}

/// Follows one group through all keys.
pub(super) fn choose(
    sequences: &Sequences,
    groups: &KeyGroups,
    actions: &Actions,
    functions: bool,
) -> Choice {
    let keys = groups.merged_keys().len();
    let versions = if functions { groups.merged_rows() } else { 0 };
    let mut choice = Choosing {
        sequence: Vec::with_capacity(keys),
        protected: UInt32Builder::with_capacity(keys),
        steps: vec![Step::Replace; versions as usize],
    };
    for group in groups.merged_keys() {
        choice.follow(group, sequences, actions);
    }
    Choice {
        sequence: Chosen::new(choice.sequence.into()),
        protected: Chosen::new(choice.protected.finish()),
        steps: choice.steps,
    }
}

struct Choosing {
    sequence: Vec<u32>,
    protected: UInt32Builder,
    steps: Vec<Step>,
}

impl Choosing {
    fn follow(&mut self, group: Group<'_>, sequences: &Sequences, actions: &Actions) {
        let mut current = None;
        let mut protected = None;
        for row in group.rows() {
            let action = actions.at(row);
            if action.replaces() {
                (current, protected) = (Some(row), Some(row));
            }
            let takes_part = matches!(action, Action::Add | Action::Retract | Action::BaseRetract);
            let newer = takes_part && !sequences.is_empty(row) && sequences.is_newer(row, current);
            if newer {
                current = Some(row);
                protected = (action == Action::Add).then_some(row);
            }
            if let Some(step) = self.steps.get_mut(row as usize) {
                *step = step_of(action, newer, sequences.is_empty(row));
            }
        }
        // Where no version took part all sequences are null, so any of them will do.
        self.sequence.push(current.unwrap_or(group.first));
        self.protected.append_option(protected);
    }
}

fn step_of(action: Action, newer: bool, empty: bool) -> Step {
    match action {
        Action::Skip => Step::Skip,
        Action::Base | Action::Remove => Step::Replace,
        Action::BaseRetract if empty => Step::Replace,
        Action::BaseRetract => Step::ReplaceThenRetract,
        Action::Add | Action::Retract if empty => Step::Skip,
        Action::Retract => Step::Retract,
        Action::Add if newer => Step::Add,
        Action::Add => Step::AddReversed,
    }
}
