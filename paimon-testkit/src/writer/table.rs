//! The table while it is written: runs one step after the other.

mod references;
mod versions;

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use paimon_meta::{
    BinaryRow, BranchPaths, CommitKind, EntryKind, Error, MAIN_BRANCH, ManifestEntry, Options,
    Result, TableSchema, parse_partition_value,
};

use super::avro::AvroFiles;
use super::batch::Batcher;
use super::commit::{Author, Change};
use super::flush::{Files, Session};
use super::layout::{Layout, WriterVersion};
use super::names::Names;
use super::state::{Branch, Content};
use super::written::WrittenTable;
use crate::evolution::{altered, schema_of};
use crate::history::{Action, Commit, HistoryRow, Step, TableDefinition};
use crate::oracle::{Place, Record};

/// The commit identifier of batch commits.
const BATCH_IDENTIFIER: i64 = i64::MAX;

/// A table in memory.
pub(super) struct Table {
    pub(super) layout: Layout,
    pub(super) names: Names,
    pub(super) avro: AvroFiles,
    /// All files by their path in the table.
    pub(super) files: BTreeMap<String, Bytes>,
    /// The rows of data files, by name.
    pub(super) rows: BTreeMap<String, Arc<[Record]>>,
    branches: BTreeMap<String, Branch>,
}

impl Table {
    /// A table without snapshot.
    pub(super) fn create(definition: &TableDefinition, layout: &Layout) -> Result<Self> {
        let mut definition = definition.clone();
        let version = if layout.version == WriterVersion::V0_8 {
            // Without the option, files would be ORC (TF-024).
            let format = definition.options.entry("file.format".to_owned());
            format.or_insert_with(|| "parquet".to_owned());
            2
        } else {
            3
        };
        let schema = schema_of(&definition, version, layout.start_millis)?;
        let mut layout = layout.clone();
        if Options(definition.options).value(&Options::SEQUENCE_SNAPSHOT_ORDERING)? {
            // The option is unreadable without sources of files (ME-024).
            layout.version = layout.version.max(WriterVersion::V1_0);
        }
        let mut table = Self {
            layout: layout.clone(),
            names: Names::new(layout.seed, layout.start_millis),
            avro: AvroFiles::new(layout.version)?,
            files: BTreeMap::new(),
            rows: BTreeMap::new(),
            branches: BTreeMap::from([(MAIN_BRANCH.to_owned(), Branch::default())]),
        };
        table.put_schema(MAIN_BRANCH, schema)?;
        // What is refused is refused before the first step.
        Session::new(table.branch(MAIN_BRANCH)?, &BTreeMap::new())?;
        Ok(table)
    }

    /// Runs a step, the `number`th from 1.
    pub(super) fn run(&mut self, step: &Step, number: i64) -> Result<()> {
        let branch = step.branch.as_deref().unwrap_or(MAIN_BRANCH);
        let mut session = Session::new(self.branch(branch)?, &step.options)?;
        match &step.action {
            Action::Commit(commit) => self.run_commit(branch, &mut session, commit, number),
            Action::Parallel(writers) => self.run_parallel(branch, step, writers, number),
            Action::Alter(changes) => {
                let schema = altered(&session.schema, changes, self.names.now())?;
                self.put_schema(branch, schema)
            }
            Action::Tag { name, snapshot } => self.tag(branch, name, *snapshot),
            Action::DeleteTag(name) => self.delete_tag(branch, name),
            Action::CreateBranch { name, from_tag } => {
                self.create_branch(branch, name, from_tag.as_deref())
            }
            Action::FastForward(name) => self.fast_forward(name),
            Action::Rollback(to) => self.rollback(branch, to),
            Action::ExpireRetain(count) => self.expire(branch, *count),
            Action::Truncate => self.drop_all(branch, &session, |_| Ok(true)),
            Action::DropPartitions(specs) => self.drop_all(branch, &session, |partition| {
                any(specs, |spec| matches(&session, partition, spec))
            }),
            Action::Delete(condition) => self.delete(branch, &session, condition, number),
            Action::CompactManifests => self.compact_manifests(branch, &session, &batch_author()),
        }
    }

    /// All files, and the rows of all snapshots.
    pub(super) fn finish(self) -> WrittenTable {
        WrittenTable::new(self.files, self.rows, self.branches)
    }

    pub(super) fn branch(&self, name: &str) -> Result<&Branch> {
        let branch = self.branches.get(name);
        branch.ok_or_else(|| Error::invalid_input(format!("no branch {name:?}")))
    }

    pub(super) fn branch_mut(&mut self, name: &str) -> Result<&mut Branch> {
        let branch = self.branches.get_mut(name);
        branch.ok_or_else(|| Error::invalid_input(format!("no branch {name:?}")))
    }

    /// What the last snapshot of a branch has in it.
    pub(super) fn content(&self, branch: &str) -> Result<Content> {
        let latest = self.branch(branch)?.latest();
        Ok(latest
            .map(|state| state.content.clone())
            .unwrap_or_default())
    }

    fn put_schema(&mut self, branch: &str, schema: TableSchema) -> Result<()> {
        let path = BranchPaths::new(branch)?.schema(schema.id);
        self.files.insert(path, schema.to_json_pretty()?.into());
        self.branch_mut(branch)?.schemas.insert(schema.id, schema);
        Ok(())
    }

    fn run_commit(
        &mut self,
        branch: &str,
        session: &mut Session,
        commit: &Commit,
        number: i64,
    ) -> Result<()> {
        let author = Author {
            user: commit.user.clone().unwrap_or_else(|| "testkit".to_owned()),
            identifier: commit.commit_identifier.unwrap_or(number),
            watermark: commit.watermark,
        };
        let mut last = commit.write.clone();
        last.extend(commit.range.iter().flat_map(|range| range.rows()));
        let batches = commit.files.iter().chain([&last]).map(Vec::as_slice);
        let batches: Vec<_> = batches.filter(|batch| !batch.is_empty()).collect();
        self.write_batches(branch, session, (commit, &batches), &author)?;
        let Some(compaction) = commit.compact else {
            return Ok(());
        };
        let mut content = self.content(branch)?;
        let mut all = Files::default();
        for place in content.places() {
            if commit.only_bucket.is_none_or(|bucket| bucket == place.1) {
                let files = self.compact(session, &mut content, &place, compaction)?;
                all.data.extend(files.data);
                all.changelog.extend(files.changelog);
            }
        }
        if all.data.is_empty() {
            return Ok(());
        }
        let change = Change {
            kind: CommitKind::Compact,
            delta: all.data,
            changelog: all.changelog,
            content,
        };
        self.commit(branch, session, change, &author)
    }

    /// Several writers on the same content: each flushes before the first commits.
    fn run_parallel(
        &mut self,
        branch: &str,
        step: &Step,
        writers: &[Vec<HistoryRow>],
        number: i64,
    ) -> Result<()> {
        let before = self.content(branch)?;
        for (writer, rows) in (0..).zip(writers) {
            let mut session = Session::new(self.branch(branch)?, &step.options)?;
            let author = Author {
                user: format!("par{number}_{writer}"),
                identifier: number,
                watermark: None,
            };
            let mut content = self.content(branch)?;
            let files = self.flush_batches(&mut session, None, &[rows], &before, &mut content)?;
            let change = Change {
                kind: CommitKind::Append,
                delta: files.data,
                changelog: files.changelog,
                content,
            };
            self.commit(branch, &session, change, &author)?;
        }
        Ok(())
    }

    fn write_batches(
        &mut self,
        branch: &str,
        session: &mut Session,
        (commit, batches): (&Commit, &[&[HistoryRow]]),
        author: &Author,
    ) -> Result<()> {
        let mut content = self.content(branch)?;
        let before = content.clone();
        let Some(spec) = &commit.overwrite else {
            let files =
                self.flush_batches(session, commit.bucket, batches, &before, &mut content)?;
            if files.data.is_empty() {
                return Ok(());
            }
            let change = Change {
                kind: CommitKind::Append,
                delta: files.data,
                changelog: files.changelog,
                content,
            };
            return self.commit(branch, session, change, author);
        };
        // What is overwritten is as if it never was, for sequence numbers too.
        let none = Content::default();
        let mut written = Content::default();
        let files = self.flush_batches(session, commit.bucket, batches, &none, &mut written)?;
        let dynamic = session
            .options
            .boolean("dynamic-partition-overwrite", true)?;
        let dynamic = dynamic && !session.schema.partition_keys.is_empty();
        if dynamic && files.data.is_empty() {
            return Ok(());
        }
        let replaced = |partition: &BinaryRow| {
            if dynamic {
                Ok(files.data.iter().any(|entry| entry.partition == *partition))
            } else {
                matches(session, partition, spec)
            }
        };
        let mut delta = clear(&mut content, replaced)?;
        delta.extend(files.data);
        content.oracle.absorb(written.oracle);
        let change = Change {
            kind: CommitKind::Overwrite,
            delta,
            changelog: files.changelog,
            content,
        };
        self.commit(branch, session, change, author)
    }

    /// Flushes batches one after the other. Sequence numbers go on from `before`.
    fn flush_batches(
        &mut self,
        session: &mut Session,
        bucket: Option<i32>,
        batches: &[&[HistoryRow]],
        before: &Content,
        content: &mut Content,
    ) -> Result<Files> {
        let unaware = session.is_unaware();
        let first = |place: &Place| {
            let files = before.files(place).filter(|_| !unaware);
            let last = files.map(|entry| entry.file.max_sequence_number).max();
            last.map_or(0, |last| last + 1)
        };
        let mut next_sequence = BTreeMap::new();
        let mut all = Files::default();
        for batch in batches {
            let mut batcher = Batcher {
                schema: &session.schema,
                options: &session.options,
                rules: &session.rules,
                bucket,
                total_buckets: session.total_buckets,
                next_sequence: std::mem::take(&mut next_sequence),
            };
            let records = batcher.records(batch, &first)?;
            next_sequence = batcher.next_sequence;
            for (place, records) in records {
                let written = (records.as_slice(), session.snapshot);
                content.oracle.write(&place, written, &session.rules)?;
                let files = self.flush(session, &place, &records)?;
                all.data.extend(files.data);
                all.changelog.extend(files.changelog);
            }
        }
        Ok(all)
    }

    /// A commit that drops all rows of some partitions.
    fn drop_all(
        &mut self,
        branch: &str,
        session: &Session,
        dropped: impl Fn(&BinaryRow) -> Result<bool>,
    ) -> Result<()> {
        let mut content = self.content(branch)?;
        let delta = clear(&mut content, dropped)?;
        let change = Change {
            kind: CommitKind::Overwrite,
            delta,
            changelog: Vec::new(),
            content,
        };
        self.commit(branch, session, change, &batch_author())
    }
}

fn batch_author() -> Author {
    Author {
        user: "testkit".to_owned(),
        identifier: BATCH_IDENTIFIER,
        watermark: None,
    }
}

/// The entries that delete all files of some partitions; their rows are gone from the oracle.
fn clear(
    content: &mut Content,
    dropped: impl Fn(&BinaryRow) -> Result<bool>,
) -> Result<Vec<ManifestEntry>> {
    let mut delta = Vec::new();
    for partition in content.partitions() {
        if dropped(&partition)? {
            let files = content
                .live
                .iter()
                .filter(|entry| entry.partition == partition);
            delta.extend(files.map(|entry| ManifestEntry {
                kind: EntryKind::Delete,
                ..entry.clone()
            }));
            content.oracle.clear(&partition);
        }
    }
    Ok(delta)
}

/// Whether a partition has the values of a specification, which may name only some columns.
fn matches(
    session: &Session,
    partition: &BinaryRow,
    spec: &BTreeMap<String, String>,
) -> Result<bool> {
    let fields = session.schema.partition_fields()?;
    let types: Vec<_> = fields.iter().map(|field| &field.data_type).collect();
    let values = partition.as_ref().datums(&types)?;
    let default_name = session.options.value(&Options::PARTITION_DEFAULT_NAME)?;
    for (name, text) in spec {
        let mut pairs = fields.iter().zip(&values);
        let Some((field, value)) = pairs.find(|(field, _)| field.name == *name) else {
            return Err(Error::invalid_input(format!(
                "no partition column {name:?}"
            )));
        };
        if parse_partition_value(text, field, &default_name)? != *value {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a test holds for one of the items.
fn any<T>(items: &[T], test: impl Fn(&T) -> Result<bool>) -> Result<bool> {
    for item in items {
        if test(item)? {
            return Ok(true);
        }
    }
    Ok(false)
}
