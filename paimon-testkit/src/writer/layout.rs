//! How a table is laid out in files, as far as no table option says it.

use serde::{Deserialize, Serialize};

/// Layout of a written table. Options of the table say the rest, as they do to the reference: `data-file.thin-mode`,
/// `metadata.stats-mode`, `fields.*.stats-mode`, `metadata.stats-dense-store`, `manifest.merge-min-count`,
/// `manifest.delete-file-drop-stats`, `file.compression`, `deletion-vectors.bitmap64`, `num-levels`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Layout {
    /// Rows of a row group at most.
    pub row_group_rows: usize,
    /// Rows of a page at most.
    pub page_rows: usize,
    /// Rows of a data file at most.
    pub file_rows: usize,
    /// Entries of a manifest at most.
    pub manifest_entries: usize,
    /// Which optional fields the metadata has.
    pub version: WriterVersion,
    /// Whether metadata counts the rows that retract; unknown otherwise.
    pub delete_row_counts: bool,
    /// Whether string and binary columns have dictionaries.
    pub dictionary: bool,
    /// What the names of files are made of.
    pub seed: u64,
    /// Time of the first commit, milliseconds since the epoch; each later one is a second after the one before.
    pub start_millis: i64,
}

impl Default for Layout {
    /// One row group, one file, fields of 1.4.
    fn default() -> Self {
        Self {
            row_group_rows: 1 << 20,
            page_rows: 20_000,
            file_rows: usize::MAX,
            manifest_entries: usize::MAX,
            version: WriterVersion::V1_4,
            delete_row_counts: true,
            dictionary: true,
            seed: 0,
            start_millis: 1_700_000_000_000,
        }
    }
}

/// A version of the reference whose optional metadata fields are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum WriterVersion {
    /// 0.8: no file source, no dense statistics, no sizes of manifest lists.
    #[serde(rename = "0.8")]
    V0_8,
    /// 1.0: with file source and dense statistics.
    #[serde(rename = "1.0")]
    V1_0,
    /// 1.4: with bounds of buckets and levels, external paths, row ids, sizes of manifest lists.
    #[serde(rename = "1.4")]
    V1_4,
    /// 2.1: with ids and versions in snapshots, bounds of binary columns.
    #[serde(rename = "2.1")]
    V2_1,
}
