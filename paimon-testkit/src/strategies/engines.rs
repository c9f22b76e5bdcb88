//! What merge engines take: their options, functions that suit the columns, and kinds of rows.

use std::collections::BTreeMap;

use paimon_meta::{MergeEngine, RowKind, TypeKind};

use super::functions::{Wanted, function};
use crate::history::ColumnDefinition;

/// What the engine and its options are made of.
#[derive(Clone, Debug)]
pub(super) struct EngineSeed {
    pub(super) engine: MergeEngine,
    /// Which of the engine's options.
    pub(super) mode: u8,
    /// Functions of the columns, over and over.
    pub(super) functions: Vec<u8>,
}

/// Kinds of rows that a table takes without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kinds {
    All,
    Adds,
    /// All but `-U`.
    Deletes,
}

impl Kinds {
    /// The kind of a number below ten; most are adds.
    pub(super) fn of(self, number: u8) -> RowKind {
        match (number, self) {
            (0..=5, _) => RowKind::Insert,
            (7, Self::All) => RowKind::UpdateBefore,
            (8.., Self::All | Self::Deletes) => RowKind::Delete,
            _ => RowKind::UpdateAfter,
        }
    }
}

/// A table while its engine is chosen.
pub(super) struct Choice<'a> {
    pub(super) seed: &'a EngineSeed,
    pub(super) columns: &'a mut Vec<ColumnDefinition>,
    pub(super) options: &'a mut BTreeMap<String, String>,
    /// Columns that options name: they must stay as they are.
    pub(super) fixed: &'a mut Vec<String>,
}

impl Choice<'_> {
    /// Chooses; the kinds of rows that go with it.
    pub(super) fn choose(&mut self) -> Kinds {
        let mode = self.seed.mode;
        match self.seed.engine {
            MergeEngine::Deduplicate => Kinds::All,
            MergeEngine::PartialUpdate => {
                self.set("merge-engine", "partial-update");
                self.partial_update(mode)
            }
            MergeEngine::Aggregation => {
                self.set("merge-engine", "aggregation");
                self.aggregation(mode)
            }
            MergeEngine::FirstRow => {
                self.set("merge-engine", "first-row");
                if mode.is_multiple_of(4) {
                    self.set("ignore-delete", "true");
                    return Kinds::All;
                }
                Kinds::Adds
            }
            _ => Kinds::All,
        }
    }

    fn set(&mut self, key: &str, value: &str) {
        self.options.insert(key.to_owned(), value.to_owned());
    }

    fn partial_update(&mut self, mode: u8) -> Kinds {
        match mode % 8 {
            0 | 1 => return Kinds::Adds,
            2 => {
                self.set("partial-update.remove-record-on-delete", "true");
                return Kinds::All;
            }
            3 => self.set("ignore-delete", "true"),
            mode => {
                let sequences = self.groups(mode >= 6);
                if mode == 5 || mode == 7 {
                    let option = "partial-update.remove-record-on-sequence-group";
                    self.set(option, &sequences);
                }
            }
        }
        Kinds::All
    }

    /// A group of one sequence column and, where there are value columns for it, one of two; the sequence column of the
    /// last one.
    fn groups(&mut self, functions: bool) -> String {
        let values = self.values();
        let groups: [&[&str]; 2] = [&["g0"], &["g1", "g2"]];
        let mut last = String::new();
        for (index, names) in groups.into_iter().enumerate() {
            let protected = values.iter().skip(index).step_by(3);
            let protected: Vec<&str> = protected.map(|column| column.name.as_str()).collect();
            if protected.is_empty() {
                continue;
            }
            for name in names {
                let number = self.seed.functions.get(index).copied().unwrap_or_default();
                let column = ColumnDefinition::new(*name, sequence_kind(number).nullable());
                // Before the columns that follow them, or behind.
                let at = if number.is_multiple_of(2) {
                    0
                } else {
                    self.columns.len()
                };
                self.columns.insert(at, column);
                self.fixed.push((*name).to_owned());
            }
            let key = format!("fields.{}.sequence-group", names.join(","));
            self.set(&key, &protected.join(","));
            last = (*names.first().unwrap_or(&"g0")).to_owned();
        }
        let wanted = Wanted {
            retracts: true,
            ignores_retracts: true,
        };
        let mut numbers = self.seed.functions.iter().cycle();
        for (index, column) in values.iter().enumerate().filter(|(index, _)| index % 3 < 2) {
            self.fixed.push(column.name.clone());
            let number = numbers.next().copied().unwrap_or_default();
            if functions && (index < 2 || number.is_multiple_of(3)) {
                self.aggregate(column, number, wanted);
            }
        }
        last
    }

    fn aggregation(&mut self, mode: u8) -> Kinds {
        let (option, kinds) = match mode % 8 {
            0..=2 => (None, Kinds::Adds),
            3 | 4 => (None, Kinds::All),
            5 => (Some("aggregation.remove-record-on-delete"), Kinds::All),
            6 => (Some("aggregation.remove-record-on-delete"), Kinds::Deletes),
            _ => (Some("ignore-delete"), Kinds::All),
        };
        if let Some(option) = option {
            self.set(option, "true");
        }
        let wanted = Wanted {
            retracts: kinds == Kinds::All && option != Some("ignore-delete"),
            ignores_retracts: option.is_none(),
        };
        if mode.is_multiple_of(5) {
            let first = if wanted.retracts {
                "last_value"
            } else {
                "first_non_null_value"
            };
            self.set("fields.default-aggregate-function", first);
        }
        let mut numbers = self.seed.functions.iter().cycle();
        for column in self.values() {
            let number = numbers.next().copied().unwrap_or_default();
            // Some columns are left to the default.
            if !number.is_multiple_of(7) {
                self.fixed.push(column.name.clone());
                self.aggregate(&column, number, wanted);
            }
        }
        kinds
    }

    fn values(&self) -> Vec<ColumnDefinition> {
        let values = self
            .columns
            .iter()
            .filter(|column| column.name.starts_with('v'));
        values.cloned().collect()
    }

    fn aggregate(&mut self, column: &ColumnDefinition, number: u8, wanted: Wanted) {
        // Columns that order versions have no function of their own (ME 2.3).
        if self.options.get("sequence.field") == Some(&column.name) {
            return;
        }
        for (option, value) in function(&column.data_type.kind, number, wanted) {
            self.set(&format!("fields.{}.{option}", column.name), &value);
        }
    }
}

fn sequence_kind(number: u8) -> TypeKind {
    match number % 4 {
        0 | 1 => TypeKind::Int,
        2 => TypeKind::VarChar(paimon_meta::MAX_LENGTH),
        _ => TypeKind::Timestamp(6),
    }
}
