//! Index manifests: deletion vectors and other indexes of a snapshot. Facts: table-format section 6.1.

use arrow_array::{Int64Array, StringArray, StructArray};
use serde::{Deserialize, Serialize};

use crate::binary_row::BinaryRow;
use crate::error::Result;
use crate::manifest_format::ManifestFormat;

use super::EntryKind;
use super::columns::{Columns, kind_at, size_at, text_at};
use super::entries::{EntryBatch, EntryReader, Field, Want};
use super::lists::Lists;

const VERSION: i32 = 1;

/// Type of the index files that hold deletion vectors.
const DELETION_VECTORS: &str = "DELETION_VECTORS";

const RANGES: &str = "_DELETIONS_VECTORS_RANGES";

const FIELDS: &[Field] = &[
    ("_VERSION", Want::Int),
    ("_KIND", Want::Int),
    ("_PARTITION", Want::Bytes),
    ("_BUCKET", Want::Int),
    ("_INDEX_TYPE", Want::Text),
    ("_FILE_NAME", Want::Text),
    ("_FILE_SIZE", Want::Long),
    ("_ROW_COUNT", Want::Long),
    (RANGES, Want::List(&Want::Record(RANGE_FIELDS))),
    ("_EXTERNAL_PATH", Want::Text),
];

const RANGE_FIELDS: &[Field] = &[
    ("f0", Want::Text),
    ("f1", Want::Long),
    ("f2", Want::Long),
    ("_CARDINALITY", Want::Long),
];

/// What an index manifest says of one index file. The manifest is the full state of its snapshot (TF-073).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IndexManifestEntry {
    /// Always `Add` in what the reference writes.
    pub kind: EntryKind,
    /// Partition values, in partition order.
    pub partition: BinaryRow,
    /// Bucket.
    pub bucket: i32,
    /// `DELETION_VECTORS`, `HASH` or the name of an index that only speeds up reading; unknown ones are for callers to
    /// ignore (TF-072).
    pub index_type: String,
    /// Bare name.
    pub file_name: String,
    /// Size in bytes.
    pub file_size: u64,
    /// Vectors of a deletion vector file, hashes of a hash index.
    pub row_count: u64,
    /// The vectors of a deletion vector file, in the order of the manifest.
    pub deletion_vectors: Option<Vec<DeletionVectorRange>>,
    /// Full path of the file when it is not in the index directory.
    pub external_path: Option<String>,
}

/// Where the deletion vector of one data file is, in its index file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeletionVectorRange {
    /// Bare name of the data file, in the same partition and bucket.
    pub data_file: String,
    /// Offset of the vector's length field (TF-066).
    pub offset: u64,
    /// Length; what it covers depends on the vector's format (TF-065).
    pub length: u64,
    /// Deleted rows; `None` is unknown, not zero (TF-068).
    pub cardinality: Option<u64>,
}

/// Decodes an index manifest in Avro, in the order of the file.
///
/// # Errors
/// `Unsupported` for another file format than Avro or another version than 1, `Corrupt` if a required field is missing
/// or a value is out of its range, or an entry of deletion vectors names fewer than it has, with the entry and the field.
pub fn decode_index_manifest(file: &[u8]) -> Result<Vec<IndexManifestEntry>> {
    decode_index_manifest_with(file, None)
}

/// [`decode_index_manifest`] of Avro, or of what `format` knows.
///
/// # Errors
/// As [`decode_index_manifest`], and those of `format`.
pub fn decode_index_manifest_with(
    file: &[u8],
    format: Option<&dyn ManifestFormat>,
) -> Result<Vec<IndexManifestEntry>> {
    let mut entries = Vec::new();
    for batch in EntryReader::open(file, FIELDS, &[], format)? {
        decode_batch(&batch?, &mut entries)?;
    }
    Ok(entries)
}

fn decode_batch(batch: &EntryBatch, entries: &mut Vec<IndexManifestEntry>) -> Result<()> {
    let columns = Columns::of_entries(batch)?;
    columns.check_version(VERSION)?;
    let kinds = columns.code("_KIND")?;
    let partitions = columns.bytes("_PARTITION")?;
    let buckets = columns.int("_BUCKET")?;
    let index_types = columns.text("_INDEX_TYPE")?;
    let file_names = columns.text("_FILE_NAME")?;
    let file_sizes = columns.size("_FILE_SIZE")?;
    let row_counts = columns.size("_ROW_COUNT")?;
    let lists = columns.optional_records(RANGES)?;
    let ranges = match &lists {
        Some(lists) => decode_ranges(&columns.of_items(RANGES, lists))?,
        None => Vec::new(),
    };
    let external_paths = columns.optional_text("_EXTERNAL_PATH")?;
    check_ranges(&columns, index_types, row_counts, lists.as_ref())?;
    for row in 0..columns.len() {
        let range = lists.as_ref().and_then(|lists| lists.range(row));
        entries.push(IndexManifestEntry {
            kind: kind_at(kinds, row),
            partition: columns.binary_row("_PARTITION", row, partitions.value(row))?,
            bucket: buckets.value(row),
            index_type: index_types.value(row).to_owned(),
            file_name: file_names.value(row).to_owned(),
            file_size: file_sizes.value(row).unsigned_abs(),
            row_count: row_counts.value(row).unsigned_abs(),
            deletion_vectors: range.and_then(|range| ranges.get(range)).map(<[_]>::to_vec),
            external_path: text_at(external_paths, row).map(str::to_owned),
        });
    }
    Ok(())
}

/// A file of deletion vectors says how many it has, and where each is: fewer would bring deleted rows back.
fn check_ranges(
    columns: &Columns<'_>,
    index_types: &StringArray,
    row_counts: &Int64Array,
    lists: Option<&Lists<StructArray>>,
) -> Result<()> {
    for row in 0..columns.len() {
        if index_types.value(row) != DELETION_VECTORS {
            continue;
        }
        let Some(range) = lists.and_then(|lists| lists.range(row)) else {
            let message = "a file of deletion vectors does not say where they are";
            return Err(columns.error(row, Some(RANGES), message));
        };
        let expected = row_counts.value(row).unsigned_abs();
        if (range.len() as u64) < expected {
            let message = format!("{} deletion vectors, expected {expected}", range.len());
            return Err(columns.error(row, Some(RANGES), message));
        }
    }
    Ok(())
}

/// The ranges of all entries of a batch.
fn decode_ranges(ranges: &Columns<'_>) -> Result<Vec<DeletionVectorRange>> {
    let data_files = ranges.text("f0")?;
    let offsets = ranges.size("f1")?;
    let lengths = ranges.size("f2")?;
    let cardinalities = ranges.optional_size("_CARDINALITY")?;
    let range = |item| DeletionVectorRange {
        data_file: data_files.value(item).to_owned(),
        offset: offsets.value(item).unsigned_abs(),
        length: lengths.value(item).unsigned_abs(),
        cardinality: size_at(cardinalities, item),
    };
    Ok((0..ranges.len()).map(range).collect())
}
