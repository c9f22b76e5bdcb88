//! Compactions: which files, to which level, and what comes of them.

use std::collections::{BTreeMap, BTreeSet};

use paimon_meta::{EntryKind, Error, FileSource, ManifestEntry, Options, Result};

use super::changes::Changes;
use super::flush::{Files, Session};
use super::state::Content;
use super::table::Table;
use crate::history::Compaction;
use crate::oracle::{Compacted, Key, MergeRules, Place, Record, Rewriting, Version, is_new};

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
    ) -> Result<Files> {
        if session.retyped {
            return Err(Error::unsupported(
                "compactions over a changed type in the test kit",
            ));
        }
        let files: Vec<ManifestEntry> = content.files(place).cloned().collect();
        if session.rules.key.is_empty() {
            return self.concatenate(session, content, (place, files));
        }
        let highest = files
            .iter()
            .map(|entry| entry.file.level)
            .max()
            .unwrap_or_default();
        let max_level = session.options.num_levels()? - 1;
        let Some(choice) = choose(files, compaction, max_level)? else {
            return Ok(Files::default());
        };
        let vectors = session.options.value(&Options::DELETION_VECTORS_ENABLED)?;
        let new = choice.inputs.iter().any(|entry| entry.file.level == 0);
        let drop_deletes = choice.output >= highest || vectors;
        let upgraded = upgradeable(&choice, max_level, vectors, &session.rules);
        let rewriting = match &upgraded {
            Some(_) => Rewriting::None,
            None if session.rules.looks_up && new => Rewriting::LookedUp { drop_deletes },
            None => Rewriting::Merged { drop_deletes },
        };
        let levels = choice.inputs.iter().map(|entry| entry.file.level);
        let done = Compacted {
            up_to: levels.max().unwrap_or_default(),
            output: choice.output,
            rewriting,
            deletes_higher: vectors && new,
        };
        content.oracle.compact(place, done, &session.rules)?;
        let inputs = self.inputs(session, content, &choice);
        let higher = self.look_up(session, content, (place, &choice), &inputs);
        for found in higher.values().flatten().filter(|_| done.deletes_higher) {
            let vector = content.vectors.entry(found.file.clone());
            vector.or_default().insert(found.position);
        }
        let changes = Changes::of(session, &choice, max_level)?;
        let (records, changed) = merged(inputs, &higher, (rewriting, &changes), &session.rules)?;
        let to = (FileSource::Compact, choice.output);
        let added = match upgraded {
            Some(entry) => vec![entry],
            None => self.write_files(session, place, &records, to)?,
        };
        let changelog = self.write_changelog(session, place, &changed, to)?;
        Ok(Files {
            data: deleted(choice.inputs).chain(added).collect(),
            changelog,
        })
    }

    /// The versions of the input files, by key.
    fn inputs(
        &self,
        session: &Session,
        content: &Content,
        choice: &Choice,
    ) -> BTreeMap<Key, Vec<Version>> {
        let mut keys: BTreeMap<Key, Vec<Version>> = BTreeMap::new();
        for entry in &choice.inputs {
            for (_, record) in self.live_rows(content, entry) {
                let key = Key::of(record, &session.rules.key);
                let version = (entry.file.level, record.clone());
                keys.entry(key).or_default().push(version);
            }
        }
        keys
    }

    /// What files that stay have of the keys that the input files have on level 0 only.
    fn look_up(
        &self,
        session: &Session,
        content: &Content,
        (place, choice): (&Place, &Choice),
        inputs: &BTreeMap<Key, Vec<Version>>,
    ) -> BTreeMap<Key, Vec<Found>> {
        let mut higher: BTreeMap<Key, Vec<Found>> = BTreeMap::new();
        if !session.rules.looks_up {
            return higher;
        }
        let stay = content.files(place);
        for entry in stay.filter(|entry| !choice.inputs.contains(entry)) {
            for (position, record) in self.live_rows(content, entry) {
                let key = Key::of(record, &session.rules.key);
                if inputs.get(&key).is_some_and(|versions| is_new(versions)) {
                    higher.entry(key).or_default().push(Found {
                        file: entry.file.file_name.clone(),
                        position,
                        version: (entry.file.level, record.clone()),
                    });
                }
            }
        }
        higher
    }

    /// The rows of a file that no deletion vector hides, with their positions.
    pub(super) fn live_rows<'a>(
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
        content: &Content,
        (place, files): (&Place, Vec<ManifestEntry>),
    ) -> Result<Files> {
        if files.len() < 2 {
            return Ok(Files::default());
        }
        let rows = files
            .iter()
            .flat_map(|entry| self.live_rows(content, entry));
        let records: Vec<Record> = rows.map(|(_, record)| record.clone()).collect();
        let added = self.write_files(session, place, &records, (FileSource::Compact, 0))?;
        Ok(Files {
            data: deleted(files).chain(added).collect(),
            ..Files::default()
        })
    }
}

/// The entries that delete files.
fn deleted(files: Vec<ManifestEntry>) -> impl Iterator<Item = ManifestEntry> {
    files.into_iter().map(|entry| ManifestEntry {
        kind: EntryKind::Delete,
        ..entry
    })
}

/// The rows that are written, and those that say what changed.
fn merged(
    inputs: BTreeMap<Key, Vec<Version>>,
    higher: &BTreeMap<Key, Vec<Found>>,
    (rewriting, changes): (Rewriting, &Changes),
    rules: &MergeRules,
) -> Result<(Vec<Record>, Vec<Record>)> {
    let mut records = Vec::new();
    let mut changed = Vec::new();
    for (key, versions) in inputs {
        let found = higher.get(&key).into_iter().flatten();
        let next = found.min_by_key(|found| found.version.0);
        let next = next.map(|found| &found.version);
        let before = changes.before(&versions, next);
        if let Some(merged) = rewriting.merge(versions, next, rules)? {
            let before = before.into_iter();
            changed.extend(before.flat_map(|before| changes.between(before, &merged)));
            records.extend(rewriting.keeps(&merged).then_some(merged));
        }
    }
    Ok((records, changed))
}

/// A version of a key in a file.
#[derive(Debug)]
struct Found {
    file: String,
    position: u64,
    version: Version,
}

/// A single file need not be written again: it goes to the level as it is, unless retracts would stay where none may be,
/// or what is looked up changes its rows.
fn upgradeable(
    choice: &Choice,
    max_level: i32,
    vectors: bool,
    rules: &MergeRules,
) -> Option<ManifestEntry> {
    let [only] = choice.inputs.as_slice() else {
        return None;
    };
    let retracts = only.file.delete_row_count != Some(0);
    let looked_up = rules.looks_up && only.file.level == 0;
    let changes = looked_up && choice.output != max_level && !rules.newest_wins();
    if changes || retracts && (choice.output == max_level || looked_up && vectors) {
        return None;
    }
    let mut entry = only.clone();
    entry.file.level = choice.output;
    Some(entry)
}
