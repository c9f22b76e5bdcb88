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
}
