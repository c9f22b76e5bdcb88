//! Compactions: which files, to which level, and what comes of them.

use std::collections::{BTreeMap, BTreeSet};

use paimon_meta::{EntryKind, Error, FileSource, ManifestEntry, Options, Result};

use super::flush::Session;
use super::state::Content;
use super::table::Table;
use crate::history::Compaction;
use crate::oracle::{Compacted, Key, Place, Record};

/// The files of a bucket that are compacted, and the level they go to.
#[derive(Debug, PartialEq)]
pub(super) struct Choice {
    pub(super) inputs: Vec<ManifestEntry>,
    pub(super) output: i32,
}

/// What is compacted of a bucket; `None` if there is nothing to do.
pub(super) fn choose(
    files: Vec<ManifestEntry>,
    compaction: Compaction,
    max_level: i32,
) -> Result<Option<Choice>> {
    let level = |entry: &ManifestEntry| entry.file.level;
    let (up_to, output) = match compaction {
        Compaction::Full => (max_level, max_level),
        Compaction::Minor => return Err(Error::unsupported("minor compactions in the test kit")),
        Compaction::UpTo(output) if (1..=max_level).contains(&output) => (output, output),
        Compaction::UpTo(output) => {
            return Err(Error::invalid_input(format!(
                "compaction to level {output}, expected 1 to {max_level}"
            )));
        }
        Compaction::LevelZero if !files.iter().any(|file| level(file) == 0) => return Ok(None),
        Compaction::LevelZero => {
            let higher: BTreeSet<i32> =
                files.iter().map(level).filter(|level| *level > 0).collect();
            match higher.first() {
                None => (0, max_level),
                Some(1) if higher.len() == 1 => (1, max_level),
                Some(1) => (1, 1),
                Some(next) => (0, next - 1),
            }
        }
    };
    let inputs: Vec<_> = files
        .into_iter()
        .filter(|file| level(file) <= up_to)
        .collect();
    let settled = inputs.iter().all(|file| level(file) == output);
    Ok((!settled).then_some(Choice { inputs, output }))
}

impl Table {
    /// Compacts a bucket: changes its content, and gives the entries of the commit.
    pub(super) fn compact(
        &mut self,
        session: &mut Session,
        content: &mut Content,
        place: &Place,
        compaction: Compaction,
    ) -> Result<Vec<ManifestEntry>> {
        let files: Vec<ManifestEntry> = content.files(place).cloned().collect();
        if session.rules.key.is_empty() {
            return self.concatenate(session, place, files);
        }
        let highest = files
            .iter()
            .map(|entry| entry.file.level)
            .max()
            .unwrap_or_default();
        let max_level = session.options.num_levels()? - 1;
        let Some(choice) = choose(files, compaction, max_level)? else {
            return Ok(Vec::new());
        };
        let lookup = session.options.value(&Options::DELETION_VECTORS_ENABLED)?;
        let higher = if lookup {
            self.delete_higher(session, content, place, &choice)
        } else {
            BTreeMap::new()
        };
        let as_it_is = !lookup || higher.is_empty() || !session.rules.has_sequence_fields();
        let upgraded = upgradeable(&choice, max_level, lookup).filter(|_| as_it_is);
        let levels = choice.inputs.iter().map(|entry| entry.file.level);
        let done = Compacted {
            up_to: levels.max().unwrap_or_default(),
            output: choice.output,
            // What is not written again keeps its deletes.
            drop_deletes: upgraded.is_none() && (choice.output >= highest || lookup),
            lookup,
        };
        content.oracle.compact(place, done, &session.rules);
        let added = match upgraded {
            Some(entry) => vec![entry],
            None => {
                let records = self.merged(session, content, &choice, higher, done.drop_deletes);
                let to = (FileSource::Compact, choice.output);
                self.write_files(session, place, &records, to)?
            }
        };
        let deleted = choice.inputs.into_iter().map(|entry| ManifestEntry {
            kind: EntryKind::Delete,
            ..entry
        });
        Ok(deleted.chain(added).collect())
    }

    /// The rows of the input files, one for each key.
    fn merged(
        &self,
        session: &Session,
        content: &Content,
        choice: &Choice,
        higher: BTreeMap<Key, Vec<Record>>,
        drop_deletes: bool,
    ) -> Vec<Record> {
        let mut keys = higher;
        for entry in &choice.inputs {
            for (_, record) in self.live_rows(content, entry) {
                let key = Key::of(record, &session.rules.key);
                keys.entry(key).or_default().push(record.clone());
            }
        }
        let merged = keys
            .into_values()
            .filter_map(|versions| session.rules.merge(versions));
        merged
            .filter(|record| record.kind.is_add() || !drop_deletes)
            .collect()
    }

    /// With deletion vectors: marks the rows of files that stay, whose keys the input files have too, as deleted, and
    /// gives them.
    fn delete_higher(
        &self,
        session: &Session,
        content: &mut Content,
        place: &Place,
        choice: &Choice,
    ) -> BTreeMap<Key, Vec<Record>> {
        let mut keys = BTreeSet::new();
        for entry in &choice.inputs {
            let rows = self.live_rows(content, entry);
            keys.extend(rows.map(|(_, record)| Key::of(record, &session.rules.key)));
        }
        let stay: Vec<ManifestEntry> = content
            .files(place)
            .filter(|entry| !choice.inputs.contains(entry))
            .cloned()
            .collect();
        let mut found: BTreeMap<Key, Vec<Record>> = BTreeMap::new();
        for entry in stay {
            let mut deleted = Vec::new();
            for (position, record) in self.live_rows(content, &entry) {
                let key = Key::of(record, &session.rules.key);
                if keys.contains(&key) {
                    found.entry(key).or_default().push(record.clone());
                    deleted.push(position);
                }
            }
            if !deleted.is_empty() {
                let name = entry.file.file_name;
                content.vectors.entry(name).or_default().extend(deleted);
            }
        }
        found
    }

    /// The rows of a file that no deletion vector hides, with their positions.
    fn live_rows<'a>(
        &'a self,
        content: &'a Content,
        entry: &ManifestEntry,
    ) -> impl Iterator<Item = (u64, &'a Record)> {
        let name = &entry.file.file_name;
        let vector = content.vectors.get(name);
        let rows = self.rows.get(name).map(|rows| rows.as_ref());
        (0..)
            .zip(rows.unwrap_or_default())
            .filter(move |(position, _)| vector.is_none_or(|vector| !vector.contains(position)))
    }

    /// Append tables: the files of a bucket become one, in their order.
    fn concatenate(
        &mut self,
        session: &mut Session,
        place: &Place,
        files: Vec<ManifestEntry>,
    ) -> Result<Vec<ManifestEntry>> {
        if files.len() < 2 {
            return Ok(Vec::new());
        }
        let names = files.iter().map(|entry| &entry.file.file_name);
        let rows = names.filter_map(|name| self.rows.get(name));
        let records: Vec<Record> = rows.flat_map(|rows| rows.iter().cloned()).collect();
        let added = self.write_files(session, place, &records, (FileSource::Compact, 0))?;
        let deleted = files.into_iter().map(|entry| ManifestEntry {
            kind: EntryKind::Delete,
            ..entry
        });
        Ok(deleted.chain(added).collect())
    }
}

/// A single file need not be written again: it goes to the level as it is, unless retracts would stay where none may be.
fn upgradeable(choice: &Choice, max_level: i32, lookup: bool) -> Option<ManifestEntry> {
    let [only] = choice.inputs.as_slice() else {
        return None;
    };
    let no_retracts = only.file.delete_row_count == Some(0);
    if !no_retracts && (lookup || choice.output == max_level) {
        return None;
    }
    let mut entry = only.clone();
    entry.file.level = choice.output;
    Some(entry)
}
