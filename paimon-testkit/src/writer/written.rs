//! A table that was written: its files, and what its rows are.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path as StorePath;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use paimon_meta::{
    Error, Frame, MAIN_BRANCH, ManifestEntry, MergeEngine, Options, Result, RowKind, Snapshot,
    TableSchema,
};

use super::state::{Branch, State};
use crate::evolution::is_retyped;
use crate::json::JsonRow;
use crate::oracle::{MergeRules, Record};

/// A written table: every file of it in memory, and, without reading any of them, the right rows of each snapshot.
#[derive(Clone, Debug)]
pub struct WrittenTable {
    files: BTreeMap<String, Bytes>,
    /// The rows of data files, by name.
    rows: BTreeMap<String, Arc<[Record]>>,
    branches: BTreeMap<String, Branch>,
}

/// One branch of a written table.
#[derive(Clone, Copy, Debug)]
pub struct WrittenBranch<'a> {
    branch: &'a Branch,
    rows: &'a BTreeMap<String, Arc<[Record]>>,
}

/// A row of a data file.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRow {
    /// Its kind.
    pub kind: RowKind,
    /// Its sequence number.
    pub sequence_number: i64,
    /// The level of its file.
    pub level: i32,
    /// Its values.
    pub values: JsonRow,
}

impl WrittenTable {
    pub(super) fn new(
        files: BTreeMap<String, Bytes>,
        rows: BTreeMap<String, Arc<[Record]>>,
        branches: BTreeMap<String, Branch>,
    ) -> Self {
        Self {
            files,
            rows,
            branches,
        }
    }

    /// All files, by their path in the table's directory, in order.
    pub fn files(&self) -> impl Iterator<Item = (&str, &Bytes)> {
        self.files
            .iter()
            .map(|(path, bytes)| (path.as_str(), bytes))
    }

    /// Writes all files into a directory, which is made if it is not there.
    ///
    /// # Errors
    /// `Storage` with the file that could not be written.
    pub fn save(&self, directory: &Path) -> Result<()> {
        for (path, bytes) in &self.files {
            let path = directory.join(path);
            let folder = path.parent().unwrap_or(directory);
            fs::create_dir_all(folder)
                .and_then(|()| fs::write(&path, bytes))
                .map_err(|error| {
                    Error::storage("cannot write it", error, false)
                        .at(Frame::File(path.display().to_string()))
                })?;
        }
        Ok(())
    }

    /// Puts all files under a prefix of a store.
    ///
    /// # Errors
    /// `Storage` with the file that could not be written.
    pub async fn put(&self, store: &dyn ObjectStore, prefix: &str) -> Result<()> {
        for (path, bytes) in &self.files {
            let path = format!("{}/{path}", prefix.trim_end_matches('/'));
            let file = || Frame::File(path.clone());
            let to = StorePath::parse(path.trim_start_matches('/')).map_err(|error| {
                Error::invalid_input("it is no path of a store")
                    .with_source(error)
                    .at(file())
            })?;
            let payload = PutPayload::from(bytes.clone());
            store
                .put(&to, payload)
                .await
                .map_err(|error| Error::storage("cannot write it", error, false).at(file()))?;
        }
        Ok(())
    }

    /// A branch; `None` if there is none of that name.
    pub fn branch(&self, name: &str) -> Option<WrittenBranch<'_>> {
        let branch = self.branches.get(name)?;
        Some(WrittenBranch {
            branch,
            rows: &self.rows,
        })
    }

    /// The main branch.
    ///
    /// # Errors
    /// `Internal`, for there always is one.
    pub fn main(&self) -> Result<WrittenBranch<'_>> {
        let main = self.branch(MAIN_BRANCH);
        main.ok_or_else(|| Error::internal("no main branch"))
    }

    /// The rows that a read of the main branch gives, in no order.
    ///
    /// # Errors
    /// As [`WrittenBranch::rows`].
    pub fn rows(&self) -> Result<Vec<JsonRow>> {
        self.main()?.rows()
    }
}

impl<'a> WrittenBranch<'a> {
    /// Its snapshots, oldest first.
    pub fn snapshots(self) -> impl Iterator<Item = &'a Snapshot> {
        self.branch.snapshots.values().map(|state| &state.snapshot)
    }

    /// Names of its tags.
    pub fn tags(self) -> impl Iterator<Item = &'a str> {
        self.branch.tags.keys().map(String::as_str)
    }

    /// Its last schema.
    ///
    /// # Errors
    /// `Internal`, for there always is one.
    pub fn schema(self) -> Result<&'a TableSchema> {
        let schema = self.branch.schemas.values().next_back();
        schema.ok_or_else(|| Error::internal("a branch without schema"))
    }

    /// The live data files of the last snapshot, with partition and bucket.
    pub fn live_files(self) -> &'a [ManifestEntry] {
        let latest = self.branch.latest();
        latest.map_or(&[], |state| state.content.live.as_slice())
    }

    /// All rows that the live data files of the last snapshot hold, winners or not, in the columns of the last schema.
    ///
    /// # Errors
    /// `Internal` if a value has no JSON form.
    pub fn stored_rows(self) -> Result<Vec<StoredRow>> {
        let fields = &self.schema()?.fields;
        let mut stored = Vec::new();
        for entry in self.live_files() {
            let rows = self.rows.get(&entry.file.file_name);
            for record in rows.into_iter().flat_map(|rows| rows.iter()) {
                stored.push(StoredRow {
                    kind: record.kind,
                    sequence_number: record.sequence,
                    level: entry.file.level,
                    values: record.row(fields)?,
                });
            }
        }
        Ok(stored)
    }

    /// The rows of the last snapshot, in no order; none without a snapshot.
    ///
    /// # Errors
    /// `Unsupported` for a merge engine that the oracle does not have and for columns whose type changed, `Internal` if a value has no JSON form.
    pub fn rows(self) -> Result<Vec<JsonRow>> {
        match self.branch.latest() {
            None => Ok(Vec::new()),
            Some(state) => self.rows_in(state, self.schema()?),
        }
    }

    /// The rows as of a snapshot, with the columns of its schema and the options of the last one (RP-013).
    ///
    /// # Errors
    /// `NotFound` if there is no such snapshot, and those of [`Self::rows`].
    pub fn rows_at(self, snapshot: i64) -> Result<Vec<JsonRow>> {
        let state = self.branch.snapshots.get(&snapshot);
        let state = state.ok_or_else(|| Error::not_found(format!("no snapshot {snapshot}")))?;
        self.rows_of(state)
    }

    /// The rows as of a tag.
    ///
    /// # Errors
    /// `NotFound` if there is no such tag, and those of [`Self::rows`].
    pub fn rows_of_tag(self, tag: &str) -> Result<Vec<JsonRow>> {
        let state = self.branch.tags.get(tag);
        self.rows_of(state.ok_or_else(|| Error::not_found(format!("no tag {tag:?}")))?)
    }

    fn rows_of(self, state: &State) -> Result<Vec<JsonRow>> {
        let schema = self.branch.schemas.get(&state.snapshot.schema_id);
        let schema = schema.ok_or_else(|| Error::internal("a snapshot without schema"))?;
        self.rows_in(state, schema)
    }

    fn rows_in(self, state: &State, schema: &TableSchema) -> Result<Vec<JsonRow>> {
        let older = self.branch.schemas.range(..schema.id);
        if is_retyped(schema, older.map(|(_, schema)| schema)) {
            return Err(Error::unsupported("casts in the oracle of the test kit"));
        }
        let options = Options(self.schema()?.options.clone());
        let rules = MergeRules::new(schema, &options)?;
        let vectors = options.value(&Options::DELETION_VECTORS_ENABLED)?;
        let merges = options.value(&Options::DELETION_VECTORS_MERGE_ON_READ)?;
        let first_row = options.value(&Options::MERGE_ENGINE)? == MergeEngine::FirstRow;
        // With deletion vectors, level 0 is not seen before it is compacted (TF-071).
        let hidden = schema.has_primary_key() && (vectors && !merges || first_row);
        state.content.oracle.rows(schema, &rules, i32::from(hidden))
    }
}
