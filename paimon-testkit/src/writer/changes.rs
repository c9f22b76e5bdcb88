//! What compactions write to changelog files (ME 6.1).

use paimon_meta::{ChangelogProducer, MergeEngine, Options, Result, RowKind};

use super::compact::Choice;
use super::flush::Session;
use crate::oracle::{Record, Version};

/// Where a compaction finds the row that a key had before.
pub(super) struct Changes {
    producer: ChangelogProducer,
    /// Only a key without a row has a change.
    first_row: bool,
    /// The highest level, where it is what is written.
    full: Option<i32>,
}

impl Changes {
    /// # Errors
    /// `Corrupt` for an option's value that is none.
    pub(super) fn of(session: &Session, choice: &Choice, max_level: i32) -> Result<Self> {
        let options = &session.options;
        Ok(Self {
            producer: options.value(&Options::CHANGELOG_PRODUCER)?,
            first_row: options.value(&Options::MERGE_ENGINE)? == MergeEngine::FirstRow,
            full: (choice.output == max_level).then_some(max_level),
        })
    }

    /// The version that a key had before, if any; `None` where the compaction says nothing of the key.
    pub(super) fn before(
        &self,
        versions: &[Version],
        higher: Option<&Version>,
    ) -> Option<Option<Record>> {
        let of_level = |wanted: &dyn Fn(i32) -> bool| {
            let found = versions.iter().filter(|(level, _)| wanted(*level));
            found.min_by_key(|(level, _)| *level)
        };
        let before = match self.producer {
            ChangelogProducer::Lookup if of_level(&|level| level == 0).is_some() => {
                of_level(&|level| level > 0).or(higher)
            }
            ChangelogProducer::FullCompaction => {
                let full = self.full?;
                let highest = of_level(&|level| level == full);
                if highest.is_some() && versions.len() == 1 {
                    return None;
                }
                highest
            }
            _ => return None,
        };
        Some(before.map(|(_, record)| record.clone()))
    }

    /// The rows that say how a key's row became another.
    pub(super) fn between(&self, before: Option<Record>, after: &Record) -> Vec<Record> {
        let as_kind = |record: &Record, kind| Record {
            kind,
            ..record.clone()
        };
        let adds = after.kind.is_add();
        match before.filter(|before| before.kind.is_add()) {
            Some(_) if self.first_row => Vec::new(),
            None if self.first_row => vec![after.clone()],
            None if adds => vec![as_kind(after, RowKind::Insert)],
            None => Vec::new(),
            Some(before) if adds => vec![
                as_kind(&before, RowKind::UpdateBefore),
                as_kind(after, RowKind::UpdateAfter),
            ],
            Some(before) => vec![as_kind(&before, RowKind::Delete)],
        }
    }
}
