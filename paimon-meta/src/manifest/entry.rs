//! Manifest entries as models, for tools and for reads of what one snapshot changed.

use serde::{Deserialize, Serialize};

use crate::binary_row::BinaryRow;
use crate::data_file::DataFileMeta;
use crate::error::Result;

use super::reader::{ManifestColumns, ManifestReader};

/// Whether an entry adds its file or deletes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EntryKind {
    /// The file is added.
    Add,
    /// The file is deleted, wherever in the snapshot's manifests it is added (TF-037).
    Delete,
}

/// One entry of a manifest: what happened to one data file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ManifestEntry {
    /// What happened.
    pub kind: EntryKind,
    /// Partition values, in partition order.
    pub partition: BinaryRow,
    /// Bucket; -2 is the postpone bucket.
    pub bucket: i32,
    /// Buckets of the partition when the file was written (TF-053).
    pub total_buckets: i32,
    /// The data file.
    pub file: DataFileMeta,
}

/// Decodes a manifest whole, in the order of the file. For many entries use [`ManifestReader`].
///
/// # Errors
/// As for [`ManifestReader`].
pub fn decode_manifest(file: &[u8]) -> Result<Vec<ManifestEntry>> {
    let mut entries = Vec::new();
    for batch in ManifestReader::new(file, ManifestColumns::ALL)? {
        let batch = batch?;
        for row in 0..batch.len() {
            entries.push(batch.entry(row)?);
        }
    }
    Ok(entries)
}
