//! Histories of seeds.

use std::collections::BTreeMap;

use paimon_meta::{MergeEngine, RowKind};
use serde_json::Value;

use super::HistoryShape;
use super::engines::Kinds;
use super::functions::BITMAPS;
use super::table::{BY_SNAPSHOT, ROW_KIND, SchemaSeed, VECTORS, definition};
use super::values::{bitmap_of, value_kind, value_of};
use crate::history::{
    Action, ColumnDefinition, ColumnPlace, Commit, Compaction, History, HistoryRow, RollbackTo,
    SchemaChange, Step,
};

/// What a step is made of.
#[derive(Clone, Debug)]
pub(super) enum OpSeed {
    Write {
        batches: Vec<Vec<RowSeed>>,
        compacted: bool,
    },
    Compact(u8),
    Alter {
        what: u8,
        which: u8,
    },
    Overwrite(Vec<RowSeed>),
    Version {
        what: u8,
        which: u8,
    },
}

/// What a row is made of.
#[derive(Clone, Debug)]
pub(super) struct RowSeed {
    pub(super) kind: u8,
    pub(super) key: u8,
    /// Of the value columns, over and over; 0 is null.
    pub(super) values: Vec<u8>,
}

/// A history while it is built.
struct Builder {
    shape: HistoryShape,
    columns: Vec<ColumnDefinition>,
    /// Columns of the key, in order; in an append table they are like the others.
    keys: Vec<String>,
    fixed: Vec<String>,
    append: bool,
    /// Rows of an append table are deleted by conditions.
    deletes: bool,
    kinds: Kinds,
    /// Columns that hold bitmaps.
    bitmaps: Vec<String>,
    /// Two rows of a key in one snapshot would have no order (ME 1.4).
    by_snapshot: bool,
    /// Deletes may be ignored from some time on.
    may_ignore: bool,
    /// Level 0 is hidden: compactions show what is there.
    hides_level_zero: bool,
    wrote: bool,
    tags: Vec<String>,
    names: usize,
    steps: Vec<Step>,
}

/// The history of seeds.
pub(super) fn build(schema: &SchemaSeed, ops: &[OpSeed], shape: HistoryShape) -> History {
    let append = schema.append && shape.append;
    let (table, fixed, kinds) = definition(schema, append, shape);
    let bitmaps = table.options.iter().filter(|(_, value)| *value == BITMAPS);
    let bitmaps = bitmaps.filter_map(|(key, _)| key.split('.').nth(1));
    let keys = (0..schema.keys.len()).map(|index| format!("k{index}"));
    let mut builder = Builder {
        shape,
        columns: table.columns.clone(),
        keys: keys.collect(),
        fixed,
        append,
        deletes: append && table.options.contains_key(VECTORS),
        kinds,
        bitmaps: bitmaps.map(str::to_owned).collect(),
        by_snapshot: table.options.contains_key(BY_SNAPSHOT),
        may_ignore: shape.option_changes
            && !append
            && !table
                .options
                .keys()
                .any(|key| key.contains("remove-record")),
        hides_level_zero: !append && schema.engine.engine == MergeEngine::FirstRow,
        wrote: false,
        tags: Vec::new(),
        names: 0,
        steps: Vec::new(),
    };
    for op in ops {
        builder.add(op);
    }
    History {
        table,
        steps: builder.steps,
    }
}

impl Builder {
    fn add(&mut self, op: &OpSeed) {
        match op {
            OpSeed::Write { batches, compacted } => {
                let mut files = batches
                    .iter()
                    .map(|rows| self.rows(rows))
                    .collect::<Vec<_>>();
                if self.by_snapshot {
                    files = vec![files.concat()];
                }
                let write = files.pop().unwrap_or_default();
                // Small levels above 0 are what makes sections of several runs cheap to reach.
                let often = batches.len() == 2 || self.hides_level_zero;
                let compact = *compacted && often && self.shape.compactions;
                self.wrote |= batches.iter().any(|rows| inserts(rows));
                self.commit(Commit {
                    files,
                    write,
                    compact: compact.then_some(Compaction::LevelZero),
                    ..Commit::default()
                });
            }
            OpSeed::Compact(seed) if self.deletes && seed % 3 > 0 => self.delete(*seed),
            OpSeed::Compact(seed) if self.shape.compactions => {
                let compaction = match seed % 8 {
                    0 | 1 => Compaction::Full,
                    2..=4 => Compaction::LevelZero,
                    level => Compaction::UpTo(i32::from(level) - 3),
                };
                self.steps.push(Step::compact(compaction));
            }
            OpSeed::Alter { what, which } if self.shape.evolution => self.alter(*what, *which),
            OpSeed::Overwrite(rows) if self.shape.versions => {
                let write = self.rows(rows);
                self.wrote |= inserts(rows);
                self.commit(Commit {
                    write,
                    overwrite: Some(BTreeMap::new()),
                    ..Commit::default()
                });
            }
            OpSeed::Version { what, which } if self.shape.versions && self.wrote => {
                self.version(*what, *which);
            }
            _ => {}
        }
    }

    /// Deletes the rows on one side of a key, or those of the key.
    fn delete(&mut self, seed: u8) {
        let key = self.keys.first();
        let mut columns = self.columns.iter();
        let Some(column) = columns.find(|column| key == Some(&column.name)) else {
            return;
        };
        let operator = match seed % 4 {
            0 => "<",
            1 => ">=",
            _ => "=",
        };
        let literal = value_of(&column.data_type, key_part(seed % 40, 0, self.keys.len()));
        let condition = Value::from(vec![
            Value::from(operator),
            Value::from(column.name.as_str()),
            literal,
        ]);
        self.steps.push(Step::new(Action::Delete(condition)));
    }

    fn commit(&mut self, commit: Commit) {
        self.steps.push(Step::new(Action::Commit(commit)));
    }

    fn rows(&self, seeds: &[RowSeed]) -> Vec<HistoryRow> {
        seeds.iter().map(|seed| self.row(seed)).collect()
    }

    fn row(&self, seed: &RowSeed) -> HistoryRow {
        let kind = if self.append {
            RowKind::Insert
        } else {
            self.kinds.of(seed.kind)
        };
        let named = self.columns.iter().any(|column| column.name == ROW_KIND);
        let mut seeds = seed.values.iter().cycle();
        let values = self.columns.iter().map(|column| {
            let key = self.keys.iter().position(|key| *key == column.name);
            if let Some(index) = key {
                return value_of(
                    &column.data_type,
                    key_part(seed.key, index, self.keys.len()),
                );
            }
            if column.name == ROW_KIND {
                return Value::from(kind.short());
            }
            match seeds.next() {
                None | Some(0) => Value::Null,
                Some(number) if self.bitmaps.contains(&column.name) => bitmap_of(*number),
                Some(number) => value_of(&column.data_type, *number),
            }
        });
        HistoryRow {
            kind: if named { RowKind::Insert } else { kind },
            values: values.collect(),
        }
    }

    fn alter(&mut self, what: u8, which: u8) {
        let free = self
            .columns
            .iter()
            .filter(|column| !self.fixed.contains(&column.name));
        let free: Vec<String> = free.map(|column| column.name.clone()).collect();
        let column = free.get(usize::from(which) % free.len().max(1)).cloned();
        if what >= 224 && self.may_ignore {
            let (key, value) = ("ignore-delete".to_owned(), "true".to_owned());
            let set = SchemaChange::Set { key, value };
            self.steps.push(Step::new(Action::Alter(vec![set])));
            return;
        }
        self.names += 1;
        let new = format!("n{}", self.names);
        let change = match (what % 4, column) {
            (1, Some(column)) if free.len() > 1 => {
                self.columns.retain(|other| other.name != column);
                SchemaChange::Drop { column }
            }
            (2, Some(column)) => {
                for other in self.columns.iter_mut().filter(|other| other.name == column) {
                    other.name.clone_from(&new);
                }
                SchemaChange::Rename { column, name: new }
            }
            (3, Some(column)) => {
                let at = self.columns.iter().position(|other| other.name == column);
                let moved = at.map(|at| self.columns.remove(at));
                self.columns.splice(0..0, moved);
                SchemaChange::Move {
                    column,
                    place: ColumnPlace::First,
                }
            }
            _ => {
                let data_type = value_kind(which).nullable();
                self.columns
                    .push(ColumnDefinition::new(&new, data_type.clone()));
                SchemaChange::Add {
                    column: new,
                    data_type,
                    place: None,
                }
            }
        };
        self.steps.push(Step::new(Action::Alter(vec![change])));
    }

    fn version(&mut self, what: u8, which: u8) {
        let action = match what % 8 {
            0..=3 => {
                let name = format!("t{}", self.tags.len());
                self.tags.push(name.clone());
                Action::Tag {
                    name,
                    snapshot: None,
                }
            }
            4 if !self.tags.is_empty() => {
                let at = usize::from(which) % self.tags.len();
                let tag = self.tags.get(at).cloned().unwrap_or_default();
                self.tags.truncate(at + 1);
                Action::Rollback(RollbackTo::Tag(tag))
            }
            5 => Action::ExpireRetain(u32::from(which % 3) + 1),
            6 => Action::Truncate,
            _ => Action::CompactManifests,
        };
        self.steps.push(Step::new(action));
    }
}

/// Whether rows make a snapshot, also where retracts are not even written.
fn inserts(rows: &[RowSeed]) -> bool {
    rows.iter()
        .any(|row| Kinds::Adds.of(row.kind) == RowKind::Insert)
}

/// The number of a key column in the number of a key.
fn key_part(key: u8, column: usize, columns: usize) -> u8 {
    match (columns, column) {
        (1, _) => key,
        (2, 0) => key % 3,
        (2, _) => key / 3,
        (_, 0) => key % 2,
        (_, 1) => key / 2 % 3,
        _ => key / 6,
    }
}
