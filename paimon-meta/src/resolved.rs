//! A table as one read sees it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::options::Options;
use crate::schema::TableSchema;
use crate::snapshot::Snapshot;

/// A table with its options, snapshot and schema chosen: data that any layer can work from, without further I/O.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResolvedTable {
    /// Root of the table: a path or URL, taken literally (no percent decoding).
    pub location: String,
    /// Branch, `main` by default.
    pub branch: String,
    /// Options of the table with the read's own laid over (RP-012).
    pub options: Options,
    /// The chosen snapshot; `None` for a table without any.
    pub snapshot: Option<Snapshot>,
    /// The schema to read with: the latest, or the snapshot's under time travel (RP-013).
    pub schema: TableSchema,
    /// Every schema of the branch by id, for files of older schemas.
    pub schemas: BTreeMap<i64, TableSchema>,
    /// Time zone of the reading process, for text that carries none (RP-024); an IANA name or an offset.
    pub time_zone: String,
    /// The changes up to [`Self::snapshot`] that are read in place of its state (RP-152, RP-153).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<ChangeRange>,
    /// The branch that has the partitions which this one does not have (RP-537).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Box<ResolvedTable>>,
}

/// Which changes an incremental read wants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ChangeRange {
    /// None: the range is empty.
    Nothing,
    /// Files of the snapshots after one, up to that of the table (RP-152).
    Files {
        /// The last snapshot whose changes are not wanted.
        after: i64,
        /// Which of their files.
        files: ChangeFiles,
    },
    /// The difference from this snapshot to that of the table (RP-153).
    Diff(Box<Snapshot>),
}

/// Files that record changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ChangeFiles {
    /// Those that commits of kind APPEND added.
    Delta,
    /// Changelog files, but for those of overwrites.
    Changelog,
}
