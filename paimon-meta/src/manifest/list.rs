//! Manifest lists. Facts: table-format section 4.2.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::manifest_format::ManifestFormat;
use crate::stats::SimpleStats;

use super::columns::{Columns, STATS, int_at, long_at};
use super::entries::{EntryBatch, EntryReader, Field, Want};

const VERSION: i32 = 2;

const PARTITION_STATS: &str = "_PARTITION_STATS";

const FIELDS: &[Field] = &[
    ("_VERSION", Want::Int),
    ("_FILE_NAME", Want::Text),
    ("_FILE_SIZE", Want::Long),
    ("_NUM_ADDED_FILES", Want::Long),
    ("_NUM_DELETED_FILES", Want::Long),
    (PARTITION_STATS, Want::Record(STATS)),
    ("_SCHEMA_ID", Want::Long),
    ("_MIN_BUCKET", Want::Int),
    ("_MAX_BUCKET", Want::Int),
    ("_MIN_LEVEL", Want::Int),
    ("_MAX_LEVEL", Want::Int),
    ("_MIN_ROW_ID", Want::Long),
    ("_MAX_ROW_ID", Want::Long),
];

/// What a manifest list says of one manifest. Bounds are inclusive; one that is `None` must not prune (TF-040).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ManifestFileMeta {
    /// Bare name, in the directory `manifest`.
    pub file_name: String,
    /// Size in bytes.
    pub file_size: u64,
    /// Entries of kind [`Add`](super::EntryKind::Add).
    pub num_added_files: u64,
    /// Entries of kind [`Delete`](super::EntryKind::Delete).
    pub num_deleted_files: u64,
    /// Bounds of the partition columns over all entries, never truncated.
    pub partition_stats: SimpleStats,
    /// Largest schema id of the files inside. Not a schema to decode with.
    pub schema_id: i64,
    /// Smallest bucket, negative ones included.
    pub min_bucket: Option<i32>,
    /// Largest bucket.
    pub max_bucket: Option<i32>,
    /// Smallest level.
    pub min_level: Option<i32>,
    /// Largest level.
    pub max_level: Option<i32>,
    /// Smallest row id, if all files have row ids.
    pub min_row_id: Option<i64>,
    /// Largest row id, if all files have row ids.
    pub max_row_id: Option<i64>,
}

impl ManifestFileMeta {
    /// Entries in the manifest, of both kinds: the row count of [`Self::partition_stats`], and what its decoder must
    /// find, for a file cut between two blocks is still a valid container.
    pub fn entry_count(&self) -> u64 {
        self.num_added_files.saturating_add(self.num_deleted_files)
    }
}

/// Decodes a manifest list in Avro, in the order of the file.
///
/// # Errors
/// `Unsupported` for another file format than Avro or another version than 2, `Corrupt` if a required field is missing
/// or a value is out of its range, with the entry and the field.
pub fn decode_manifest_list(file: &[u8]) -> Result<Vec<ManifestFileMeta>> {
    decode_manifest_list_with(file, None)
}

/// [`decode_manifest_list`] of Avro, or of what `format` knows.
///
/// # Errors
/// As [`decode_manifest_list`], and those of `format`.
pub fn decode_manifest_list_with(
    file: &[u8],
    format: Option<&dyn ManifestFormat>,
) -> Result<Vec<ManifestFileMeta>> {
    let mut manifests = Vec::new();
    for batch in EntryReader::open(file, FIELDS, &[], format)? {
        decode_batch(&batch?, &mut manifests)?;
    }
    Ok(manifests)
}

fn decode_batch(batch: &EntryBatch, manifests: &mut Vec<ManifestFileMeta>) -> Result<()> {
    let columns = Columns::of_entries(batch)?;
    columns.check_version(VERSION)?;
    let file_names = columns.text("_FILE_NAME")?;
    let file_sizes = columns.size("_FILE_SIZE")?;
    let added = columns.size("_NUM_ADDED_FILES")?;
    let deleted = columns.size("_NUM_DELETED_FILES")?;
    let partition_stats = columns.stats(PARTITION_STATS)?;
    let schema_ids = columns.long("_SCHEMA_ID")?;
    let min_buckets = columns.optional_int("_MIN_BUCKET")?;
    let max_buckets = columns.optional_int("_MAX_BUCKET")?;
    let min_levels = columns.optional_int("_MIN_LEVEL")?;
    let max_levels = columns.optional_int("_MAX_LEVEL")?;
    let min_row_ids = columns.optional_long("_MIN_ROW_ID")?;
    let max_row_ids = columns.optional_long("_MAX_ROW_ID")?;
    for row in 0..columns.len() {
        manifests.push(ManifestFileMeta {
            file_name: file_names.value(row).to_owned(),
            file_size: file_sizes.value(row).unsigned_abs(),
            num_added_files: added.value(row).unsigned_abs(),
            num_deleted_files: deleted.value(row).unsigned_abs(),
            partition_stats: columns.simple_stats(
                PARTITION_STATS,
                row,
                partition_stats.get(row),
            )?,
            schema_id: schema_ids.value(row),
            min_bucket: int_at(min_buckets, row),
            max_bucket: int_at(max_buckets, row),
            min_level: int_at(min_levels, row),
            max_level: int_at(max_levels, row),
            min_row_id: long_at(min_row_ids, row),
            max_row_id: long_at(max_row_ids, row),
        });
    }
    Ok(())
}
