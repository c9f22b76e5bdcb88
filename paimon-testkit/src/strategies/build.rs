//! Histories of seeds.

use std::collections::BTreeMap;

use paimon_meta::RowKind;
use serde_json::Value;

use super::HistoryShape;
use super::values::{key_kind, partition_kind, value_kind, value_of};
use crate::history::{
    Action, ColumnDefinition, ColumnPlace, Commit, Compaction, History, HistoryRow, RollbackTo,
    SchemaChange, Step, TableDefinition,
};

/// What a table is made of.
#[derive(Clone, Debug)]
pub(super) struct SchemaSeed {
    pub(super) keys: Vec<u8>,
    pub(super) values: Vec<u8>,
    pub(super) partitioned: bool,
    pub(super) sequence_field: bool,
    pub(super) append: bool,
    pub(super) deletion_vectors: bool,
    pub(super) ignore_delete: bool,
    pub(super) buckets: i32,
    pub(super) options: u8,
}

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
    wrote: bool,
    tags: Vec<String>,
    names: usize,
    steps: Vec<Step>,
}

/// The history of seeds.
pub(super) fn build(schema: &SchemaSeed, ops: &[OpSeed], shape: HistoryShape) -> History {
    let append = schema.append && shape.append;
    let (table, fixed) = definition(schema, append, shape);
    let keys = (0..schema.keys.len()).map(|index| format!("k{index}"));
    let mut builder = Builder {
        shape,
        columns: table.columns.clone(),
        keys: keys.collect(),
        fixed,
        append,
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

/// The table, and its columns that must stay.
fn definition(
    seed: &SchemaSeed,
    append: bool,
    shape: HistoryShape,
) -> (TableDefinition, Vec<String>) {
    let partitioned = seed.partitioned && seed.keys.len() > 1;
    let mut columns = Vec::new();
    for (index, key) in seed.keys.iter().enumerate() {
        let kind = if partitioned && index == 0 {
            partition_kind(*key)
        } else {
            key_kind(*key)
        };
        columns.push(ColumnDefinition::new(format!("k{index}"), kind.not_null()));
    }
    for (index, value) in seed.values.iter().enumerate() {
        let kind = value_kind(*value);
        columns.push(ColumnDefinition::new(format!("v{index}"), kind.nullable()));
    }
    let mut fixed: Vec<String> = (0..seed.keys.len())
        .map(|index| format!("k{index}"))
        .collect();
    let mut options = layout_options(seed);
    if append {
        options.insert("bucket".to_owned(), "-1".to_owned());
    } else {
        let sequence = merge_options(seed, &columns, shape, &mut options);
        fixed.extend(sequence);
    }
    let names = fixed.iter().take(seed.keys.len()).cloned();
    let table = TableDefinition {
        columns,
        primary_key: if append {
            Vec::new()
        } else {
            names.clone().collect()
        },
        partition_by: names.take(usize::from(partitioned)).collect(),
        options,
    };
    (table, fixed)
}

/// Options that change how rows are stored, and not which rows there are.
fn layout_options(seed: &SchemaSeed) -> BTreeMap<String, String> {
    let mut options = BTreeMap::new();
    let mut set = |key: &str, value: &str| options.insert(key.to_owned(), value.to_owned());
    set("write-only", "true");
    match seed.options >> 2 & 7 {
        0 => set("metadata.stats-mode", "none"),
        1 => set("metadata.stats-mode", "counts"),
        2 => set("metadata.stats-mode", "truncate(3)"),
        3 => set("fields.v0.stats-mode", "none"),
        _ => set("metadata.stats-mode", "full"),
    };
    match seed.options >> 6 & 3 {
        0 => set("file.format", "avro"),
        1 => set("file.format.per.level", "0:avro"),
        _ => None,
    };
    if seed.options >> 5 & 1 == 1 {
        set("manifest.merge-min-count", "3");
    }
    options
}

/// Options of tables with a key; the column that orders versions, if there is one.
fn merge_options(
    seed: &SchemaSeed,
    columns: &[ColumnDefinition],
    shape: HistoryShape,
    options: &mut BTreeMap<String, String>,
) -> Option<String> {
    let mut set = |key: &str, value: &str| options.insert(key.to_owned(), value.to_owned());
    set("bucket", &seed.buckets.to_string());
    if seed.options & 1 == 1 {
        set("data-file.thin-mode", "true");
    }
    if seed.ignore_delete {
        set("ignore-delete", "true");
    }
    if seed.deletion_vectors && shape.deletion_vectors {
        set("deletion-vectors.enabled", "true");
    }
    let mut scalars = columns
        .iter()
        .filter(|column| column.name.starts_with('v') && column.data_type.kind.is_scalar());
    let column = scalars.next();
    let column = column.filter(|_| seed.sequence_field && shape.sequence_fields)?;
    set("sequence.field", &column.name);
    if seed.options & 2 == 2 {
        set("sequence.field.sort-order", "descending");
    }
    Some(column.name.clone())
}

impl Builder {
    fn add(&mut self, op: &OpSeed) {
        match op {
            OpSeed::Write { batches, compacted } => {
                let mut files = batches
                    .iter()
                    .map(|rows| self.rows(rows))
                    .collect::<Vec<_>>();
                let write = files.pop().unwrap_or_default();
                // Small levels above 0 are what makes sections of several runs cheap to reach.
                let compact = *compacted && batches.len() == 2 && self.shape.compactions;
                self.wrote |= !write.is_empty();
                self.commit(Commit {
                    files,
                    write,
                    compact: compact.then_some(Compaction::LevelZero),
                    ..Commit::default()
                });
            }
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
                self.wrote |= !write.is_empty();
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

    fn commit(&mut self, commit: Commit) {
        self.steps.push(Step::new(Action::Commit(commit)));
    }

    fn rows(&self, seeds: &[RowSeed]) -> Vec<HistoryRow> {
        seeds.iter().map(|seed| self.row(seed)).collect()
    }

    fn row(&self, seed: &RowSeed) -> HistoryRow {
        let kind = match seed.kind {
            _ if self.append => RowKind::Insert,
            0..=5 => RowKind::Insert,
            6 => RowKind::UpdateAfter,
            7 => RowKind::UpdateBefore,
            _ => RowKind::Delete,
        };
        let mut seeds = seed.values.iter().cycle();
        let values = self.columns.iter().map(|column| {
            let key = self.keys.iter().position(|key| *key == column.name);
            if let Some(index) = key {
                return value_of(
                    &column.data_type,
                    key_part(seed.key, index, self.keys.len()),
                );
            }
            match seeds.next() {
                None | Some(0) => Value::Null,
                Some(number) => value_of(&column.data_type, *number),
            }
        });
        HistoryRow {
            kind,
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
