//! Manifest entries as columns, for planning. Facts: table-format sections 4.3 to 4.6.

use arrow_array::{BinaryArray, Int32Array, Int64Array, StringArray};

use crate::binary_row::BinaryRow;
use crate::data_file::FileSource;
use crate::error::{Error, Frame, Result, ResultExt};
use crate::file_table::{FileIdentity, FileRow, StatsRef, TextList};

use super::columns::{Columns, bytes_at, int_at, kind_at, long_at, size_at, text_at};
use super::entries::EntryBatch;
use super::entry::{EntryKind, ManifestEntry};
use super::lists::{Lists, StatsColumns};
use super::reader::{KEY_STATS, VALUE_STATS, VALUE_STATS_COLS, VERSION};

/// The row of arity 0, serialized (TF-042).
const EMPTY_ROW: &[u8] = &[0; 12];

/// Some entries of a manifest, as columns that are checked: reading a value neither fails nor allocates.
///
/// Rows count from 0. As with a slice, a row that is not below [`Self::len`] is a fault of the caller and panics. A
/// column that the file does not have has its documented default in every row (section 4.3).
#[derive(Clone, Debug)]
pub struct ManifestBatch {
    first: u64,
    kinds: Int32Array,
    partitions: BinaryArray,
    buckets: Int32Array,
    total_buckets: Int32Array,
    file_names: StringArray,
    file_sizes: Int64Array,
    row_counts: Int64Array,
    min_keys: Option<BinaryArray>,
    max_keys: Option<BinaryArray>,
    key_stats: Option<StatsColumns>,
    value_stats: Option<StatsColumns>,
    min_sequence_numbers: Int64Array,
    max_sequence_numbers: Int64Array,
    schema_ids: Int64Array,
    levels: Int32Array,
    extra_files: Option<Lists<StringArray>>,
    creation_times: Option<Int64Array>,
    delete_row_counts: Option<Int64Array>,
    embedded_indexes: Option<BinaryArray>,
    file_sources: Option<Int32Array>,
    value_stats_cols: Option<Lists<StringArray>>,
    external_paths: Option<StringArray>,
    first_row_ids: Option<Int64Array>,
    write_cols: Option<Lists<StringArray>>,
    write_cols_sequences: Option<Lists<Int64Array>>,
}

impl ManifestBatch {
    pub(super) fn new(batch: &EntryBatch) -> Result<Self> {
        let entry = Columns::of_entries(batch)?;
        entry.check_version(VERSION)?;
        let file = entry.record("_FILE")?;
        Ok(Self {
            first: batch.first,
            kinds: entry.code("_KIND")?.clone(),
            partitions: entry.bytes("_PARTITION")?.clone(),
            buckets: entry.int("_BUCKET")?.clone(),
            total_buckets: entry.int("_TOTAL_BUCKETS")?.clone(),
            file_names: file.text("_FILE_NAME")?.clone(),
            file_sizes: file.size("_FILE_SIZE")?.clone(),
            row_counts: file.size("_ROW_COUNT")?.clone(),
            min_keys: file.optional_bytes("_MIN_KEY")?.cloned(),
            max_keys: file.optional_bytes("_MAX_KEY")?.cloned(),
            key_stats: file.optional_stats(KEY_STATS)?,
            value_stats: file.optional_stats(VALUE_STATS)?,
            min_sequence_numbers: file.long("_MIN_SEQUENCE_NUMBER")?.clone(),
            max_sequence_numbers: file.long("_MAX_SEQUENCE_NUMBER")?.clone(),
            schema_ids: file.long("_SCHEMA_ID")?.clone(),
            levels: file.int("_LEVEL")?.clone(),
            extra_files: file.optional_texts("_EXTRA_FILES")?,
            creation_times: file.optional_millis("_CREATION_TIME")?,
            delete_row_counts: file.optional_size("_DELETE_ROW_COUNT")?.cloned(),
            embedded_indexes: file.optional_bytes("_EMBEDDED_FILE_INDEX")?.cloned(),
            file_sources: file.optional_code("_FILE_SOURCE")?.cloned(),
            value_stats_cols: file.optional_texts(VALUE_STATS_COLS)?,
            external_paths: file.optional_text("_EXTERNAL_PATH")?.cloned(),
            first_row_ids: file.optional_long("_FIRST_ROW_ID")?.cloned(),
            write_cols: file.optional_texts("_WRITE_COLS")?,
            write_cols_sequences: file.optional_longs("_WRITE_COLS_SEQUENCES")?,
        })
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there are none; batches of a reader always have some.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Entries of the manifest before this batch: where in the file row 0 is.
    pub fn first_entry(&self) -> u64 {
        self.first
    }

    /// Adds or deletes.
    pub fn kind(&self, row: usize) -> EntryKind {
        kind_at(&self.kinds, row)
    }

    /// Serialized row of the partition values.
    pub fn partition(&self, row: usize) -> &[u8] {
        self.partitions.value(row)
    }

    /// Bucket; -2 is the postpone bucket.
    pub fn bucket(&self, row: usize) -> i32 {
        self.buckets.value(row)
    }

    /// Buckets of the partition when the file was written (TF-053).
    pub fn total_buckets(&self, row: usize) -> i32 {
        self.total_buckets.value(row)
    }

    /// Bare name.
    pub fn file_name(&self, row: usize) -> &str {
        self.file_names.value(row)
    }

    /// Size in bytes.
    pub fn file_size(&self, row: usize) -> u64 {
        self.file_sizes.value(row).unsigned_abs()
    }

    /// Physical rows, retract rows included.
    pub fn row_count(&self, row: usize) -> u64 {
        self.row_counts.value(row).unsigned_abs()
    }

    /// Serialized first key; of arity 0 for append tables.
    pub fn min_key(&self, row: usize) -> &[u8] {
        bytes_at(self.min_keys.as_ref(), row).unwrap_or(EMPTY_ROW)
    }

    /// Serialized last key; of arity 0 for append tables.
    pub fn max_key(&self, row: usize) -> &[u8] {
        bytes_at(self.max_keys.as_ref(), row).unwrap_or(EMPTY_ROW)
    }

    /// Statistics of the trimmed key columns, if there and decoded.
    pub fn key_stats(&self, row: usize) -> Option<StatsRef<'_>> {
        self.key_stats.as_ref()?.get(row)
    }

    /// Statistics of the columns of [`Self::value_stats_cols`], if there and decoded.
    pub fn value_stats(&self, row: usize) -> Option<StatsRef<'_>> {
        self.value_stats.as_ref()?.get(row)
    }

    /// Smallest sequence number.
    pub fn min_sequence_number(&self, row: usize) -> i64 {
        self.min_sequence_numbers.value(row)
    }

    /// Largest sequence number.
    pub fn max_sequence_number(&self, row: usize) -> i64 {
        self.max_sequence_numbers.value(row)
    }

    /// Schema the file was written with.
    pub fn schema_id(&self, row: usize) -> i64 {
        self.schema_ids.value(row)
    }

    /// Level; 0 is freshly written.
    pub fn level(&self, row: usize) -> i32 {
        self.levels.value(row)
    }

    /// Bare names of side files.
    pub fn extra_files(&self, row: usize) -> TextList<'_> {
        texts_at(self.extra_files.as_ref(), row).unwrap_or(TextList::EMPTY)
    }

    /// Wall clock of the writer as milliseconds, as if it were UTC (TF-051).
    pub fn creation_time_millis(&self, row: usize) -> Option<i64> {
        long_at(self.creation_times.as_ref(), row)
    }

    /// Retract rows in the file; `None` is unknown (RP-211).
    pub fn delete_row_count(&self, row: usize) -> Option<u64> {
        size_at(self.delete_row_counts.as_ref(), row)
    }

    /// A whole file-index container.
    pub fn embedded_index(&self, row: usize) -> Option<&[u8]> {
        bytes_at(self.embedded_indexes.as_ref(), row)
    }

    /// Where the file came from, if known.
    pub fn file_source(&self, row: usize) -> Option<FileSource> {
        int_at(self.file_sources.as_ref(), row).map(|code| match code {
            0 => FileSource::Append,
            _ => FileSource::Compact,
        })
    }

    /// Columns of [`Self::value_stats`], by file-schema name; `None` means all columns of the file schema (RP-089), or
    /// that they were not decoded.
    pub fn value_stats_cols(&self, row: usize) -> Option<TextList<'_>> {
        texts_at(self.value_stats_cols.as_ref(), row)
    }

    /// Full path of the file when it is not in its bucket directory.
    pub fn external_path(&self, row: usize) -> Option<&str> {
        text_at(self.external_paths.as_ref(), row)
    }

    /// Row id of the first row, for row-tracking tables.
    pub fn first_row_id(&self, row: usize) -> Option<i64> {
        long_at(self.first_row_ids.as_ref(), row)
    }

    /// Columns that are physically there; `None` means all of the file schema.
    pub fn write_cols(&self, row: usize) -> Option<TextList<'_>> {
        texts_at(self.write_cols.as_ref(), row)
    }

    /// Largest sequence number of each column in [`Self::write_cols`].
    pub fn write_cols_sequences(&self, row: usize) -> Option<&[i64]> {
        self.write_cols_sequences.as_ref()?.longs(row)
    }

    /// What makes an addition and a deletion meet.
    pub fn identity(&self, row: usize) -> FileIdentity<'_> {
        FileIdentity {
            partition: self.partition(row),
            bucket: self.bucket(row),
            level: self.level(row),
            file_name: self.file_name(row),
            extra_files: self.extra_files(row),
            embedded_index: self.embedded_index(row),
            external_path: self.external_path(row),
        }
    }

    /// The entry as a model. Statistics that were not decoded are empty ones, of no columns.
    ///
    /// # Errors
    /// `Corrupt` if a serialized row is too short for its arity.
    pub fn entry(&self, row: usize) -> Result<ManifestEntry> {
        let file_row = self.row(row);
        let entry = || {
            Ok(ManifestEntry {
                kind: self.kind(row),
                partition: BinaryRow::from_serialized(file_row.partition.to_vec())
                    .at(|| Frame::Field("_PARTITION".to_owned()))?,
                bucket: file_row.bucket,
                total_buckets: file_row.total_buckets,
                file: file_row.to_meta().at(|| Frame::Field("_FILE".to_owned()))?,
            })
        };
        entry().map_err(|error| self.locate(error, row))
    }

    /// Adds the frame of the entry in `row`.
    pub(crate) fn locate(&self, error: Error, row: usize) -> Error {
        error.at(Frame::Entry(
            self.first + u64::try_from(row).unwrap_or_default(),
        ))
    }

    pub(crate) fn row(&self, row: usize) -> FileRow<'_> {
        FileRow {
            partition: self.partition(row),
            bucket: self.bucket(row),
            total_buckets: self.total_buckets(row),
            file_name: self.file_name(row),
            file_size: self.file_size(row),
            row_count: self.row_count(row),
            min_key: self.min_key(row),
            max_key: self.max_key(row),
            key_stats: self.key_stats(row),
            value_stats: self.value_stats(row),
            min_sequence_number: self.min_sequence_number(row),
            max_sequence_number: self.max_sequence_number(row),
            schema_id: self.schema_id(row),
            level: self.level(row),
            extra_files: self.extra_files(row),
            creation_time_millis: self.creation_time_millis(row),
            delete_row_count: self.delete_row_count(row),
            embedded_index: self.embedded_index(row),
            file_source: self.file_source(row),
            value_stats_cols: self.value_stats_cols(row),
            external_path: self.external_path(row),
            first_row_id: self.first_row_id(row),
            write_cols: self.write_cols(row),
            write_cols_sequences: self.write_cols_sequences(row),
        }
    }
}

fn texts_at(lists: Option<&Lists<StringArray>>, row: usize) -> Option<TextList<'_>> {
    lists.and_then(|lists| lists.texts(row))
}
