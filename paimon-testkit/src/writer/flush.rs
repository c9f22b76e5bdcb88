//! Rows to level-0 files, and records to files of any level.

use std::collections::BTreeMap;

use paimon_meta::{
    BinaryRow, ChangelogProducer, DataPaths, EntryKind, Error, FileSource, MAIN_BRANCH,
    ManifestEntry, Options, ResolvedTable, Result, TableSchema,
};

use super::data_file::FileWriter;
use super::format::Format;
use super::state::Branch;
use super::table::Table;
use crate::evolution::is_retyped;
use crate::oracle::{Key, MergeRules, Place, Record, Version};

/// The table as one step sees it.
pub(super) struct Session {
    pub(super) schema: TableSchema,
    pub(super) options: Options,
    /// Older files may have columns of another type.
    pub(super) retyped: bool,
    pub(super) rules: MergeRules,
    /// What entries say of the number of buckets.
    pub(super) total_buckets: i32,
    /// The snapshot that is written next.
    pub(super) snapshot: i64,
    paths: DataPaths,
    /// Names of files in each bucket: a UUID and the next number.
    counters: BTreeMap<Place, (String, u32)>,
}

/// What a flush or a compaction made.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) data: Vec<ManifestEntry>,
    pub(super) changelog: Vec<ManifestEntry>,
}

impl Session {
    /// The last schema of a branch, with options over its own.
    pub(super) fn new(branch: &Branch, dynamic: &BTreeMap<String, String>) -> Result<Self> {
        let schema = branch.schemas.values().next_back();
        let schema = schema.ok_or_else(|| Error::internal("a branch without schema"))?;
        let mut options = Options(schema.options.clone());
        options.0.extend(dynamic.clone());
        let resolved = ResolvedTable {
            location: String::new(),
            branch: MAIN_BRANCH.to_owned(),
            options: options.clone(),
            snapshot: None,
            schema: schema.clone(),
            schemas: BTreeMap::new(),
            time_zone: "UTC".to_owned(),
            changes: None,
            fallback: None,
        };
        let total_buckets = options.value(&Options::BUCKET)?;
        if total_buckets < -1 {
            return Err(Error::unsupported("the postpone bucket in the test kit"));
        }
        Ok(Self {
            snapshot: branch.latest().map_or(0, |state| state.snapshot.id) + 1,
            retyped: is_retyped(schema, branch.schemas.values()),
            rules: MergeRules::new(schema, &options)?,
            paths: DataPaths::new(&resolved)?,
            schema: schema.clone(),
            options,
            total_buckets,
            counters: BTreeMap::new(),
        })
    }

    /// Whether rows have no bucket of their own and sequence numbers begin anew in each commit (TF section 4.5).
    pub(super) fn is_unaware(&self) -> bool {
        self.total_buckets <= 0 && self.rules.key.is_empty()
    }

    pub(super) fn bucket_path(&self, place: &Place) -> Result<String> {
        self.paths.bucket_path(place.0.as_ref(), place.1)
    }

    fn file_name(
        &mut self,
        place: &Place,
        prefix: &str,
        format: Format,
        uuid: impl FnOnce() -> String,
    ) -> String {
        let (uuid, number) = self
            .counters
            .entry(place.clone())
            .or_insert_with(|| (uuid(), 0));
        let format = format.name();
        let name = format!("{prefix}{uuid}-{number}.{format}");
        *number += 1;
        name
    }
}

impl Table {
    /// Writes what a flush of these records of a bucket writes.
    pub(super) fn flush(
        &mut self,
        session: &mut Session,
        place: &Place,
        records: &[Record],
    ) -> Result<Files> {
        if session.rules.key.is_empty() {
            let data = self.write_files(session, place, records, (FileSource::Append, 0))?;
            return Ok(Files {
                data,
                ..Files::default()
            });
        }
        let mut keys: BTreeMap<Key, Vec<Version>> = BTreeMap::new();
        for record in records {
            let key = Key::of(record, &session.rules.key);
            keys.entry(key).or_default().push((0, record.clone()));
        }
        let producer = session.options.value(&Options::CHANGELOG_PRODUCER)?;
        let changed = match producer {
            ChangelogProducer::Input => keys
                .values()
                .flatten()
                .map(|(_, row)| row.clone())
                .collect(),
            _ => Vec::new(),
        };
        let to = (FileSource::Append, 0);
        let changelog = self.write_changelog(session, place, &changed, to)?;
        let mut merged: Vec<Record> = Vec::new();
        for versions in keys.into_values() {
            merged.extend(session.rules.merge(versions)?);
        }
        let mut data = self.write_files(session, place, &merged, to)?;
        if session.rules.by_snapshot {
            data.iter_mut()
                .for_each(|entry| self.number(session, entry));
        }
        Ok(Files { data, changelog })
    }

    /// A file's rows count by the number of the snapshot, whatever numbers are stored (TF-089).
    fn number(&mut self, session: &Session, entry: &mut ManifestEntry) {
        entry.file.min_sequence_number = session.snapshot;
        entry.file.max_sequence_number = session.snapshot;
        if let Some(rows) = self.rows.get_mut(&entry.file.file_name) {
            let numbered = rows.iter().cloned();
            *rows = numbered
                .map(|record| session.rules.numbered(record, session.snapshot))
                .collect();
        }
    }

    /// Writes records in their order, as many to a file as the layout says.
    pub(super) fn write_files(
        &mut self,
        session: &mut Session,
        place: &Place,
        records: &[Record],
        (source, level): (FileSource, i32),
    ) -> Result<Vec<ManifestEntry>> {
        let prefix = session.options.get("data-file.prefix").unwrap_or("data-");
        let prefix = prefix.to_owned();
        let chunks = records.chunks(self.layout.file_rows.max(1));
        let entries = chunks.map(|chunk| {
            let mut entry = self.write_file(session, place, chunk, (source, &prefix, level))?;
            entry.file.level = level;
            Ok(entry)
        });
        entries.collect()
    }

    /// Writes the rows of a changelog in one file, if there are any.
    pub(super) fn write_changelog(
        &mut self,
        session: &mut Session,
        place: &Place,
        records: &[Record],
        (source, level): (FileSource, i32),
    ) -> Result<Vec<ManifestEntry>> {
        if records.is_empty() {
            return Ok(Vec::new());
        }
        let prefix = session.options.get("changelog-file.prefix");
        let prefix = prefix.unwrap_or("changelog-").to_owned();
        let mut entry = self.write_file(session, place, records, (source, &prefix, level))?;
        entry.file.level = level;
        Ok(vec![entry])
    }

    fn write_file(
        &mut self,
        session: &mut Session,
        place: &Place,
        records: &[Record],
        (source, prefix, level): (FileSource, &str, i32),
    ) -> Result<ManifestEntry> {
        let format = Format::of_level(&session.options, level)?;
        let name = session.file_name(place, prefix, format, || self.names.uuid());
        let writer = FileWriter {
            schema: &session.schema,
            options: &session.options,
            layout: &self.layout,
            format,
            now: self.names.now(),
        };
        let (bytes, file) = writer.write(name.clone(), records, source)?;
        let path = format!("{}/{name}", session.bucket_path(place)?);
        self.files.insert(path, bytes.into());
        self.rows.insert(name, records.into());
        let (partition, bucket): (BinaryRow, i32) = place.clone();
        Ok(ManifestEntry {
            kind: EntryKind::Add,
            partition,
            bucket,
            total_buckets: session.total_buckets,
            file,
        })
    }
}
