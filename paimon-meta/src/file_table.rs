//! The data files of a plan as columns: one compact copy of each, at most 250 bytes of heap a file without statistics.
//!
//! A file of a keyed table takes about 200 bytes, most of them its name and keys; as a [`DataFileMeta`] it takes three
//! times as many, in a dozen allocations. Names share one buffer, keys two, equal partitions are there once, and what
//! few files have (side files, external paths, embedded indexes, row ids, column lists) takes nothing where it is
//! absent.

mod builder;
mod column;
mod columns;
mod ends;
mod sparse;
mod view;

#[cfg(test)]
mod tests;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::binary_row::BinaryRow;
use crate::data_file::{DataFileMeta, FileSource};
use crate::error::Result;

use builder::check_length;
use column::Column;
use columns::Columns;

pub use builder::{FileTableBuilder, KeepStats};
pub use view::{FileIdentity, StatsRef, TextList};

pub(crate) use view::FileRow;
#[cfg(feature = "manifest")]
pub(crate) use view::NullCounts;

/// Data files with their partitions and buckets, in the order of their maker.
///
/// Files count from 0. As with a slice, an index that is not below [`Self::len`] is a fault of the caller and may panic.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct FileTable {
    columns: Columns,
}

impl FileTable {
    /// Number of files.
    pub fn len(&self) -> usize {
        self.columns.partition_ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.columns.partition_ids.is_empty()
    }

    /// The different partitions, in the order in which their first files were pushed.
    pub fn partitions(&self) -> &[BinaryRow] {
        &self.columns.partitions
    }

    /// Index of the file's partition in [`Self::partitions`].
    pub fn partition_id(&self, index: usize) -> u32 {
        at(&self.columns.partition_ids, index)
    }

    /// Partition values.
    pub fn partition(&self, index: usize) -> &BinaryRow {
        at_ref(&self.columns.partitions, self.partition_id(index) as usize)
    }

    /// Bucket; -2 is the postpone bucket.
    pub fn bucket(&self, index: usize) -> i32 {
        at(&self.columns.buckets, index)
    }

    /// Buckets of the partition when the file was written (TF-053).
    pub fn total_buckets(&self, index: usize) -> i32 {
        at(&self.columns.total_buckets, index)
    }

    /// Bare name.
    pub fn file_name(&self, index: usize) -> &str {
        self.columns.file_names.item(index).unwrap_or_default()
    }

    /// Size in bytes.
    pub fn file_size(&self, index: usize) -> u64 {
        at(&self.columns.file_sizes, index)
    }

    /// Physical rows, retract rows included.
    pub fn row_count(&self, index: usize) -> u64 {
        at(&self.columns.row_counts, index)
    }

    /// Serialized first key; of arity 0 for append tables.
    pub fn min_key(&self, index: usize) -> &[u8] {
        self.columns.min_keys.item(index).unwrap_or_default()
    }

    /// Serialized last key; of arity 0 for append tables.
    pub fn max_key(&self, index: usize) -> &[u8] {
        self.columns.max_keys.item(index).unwrap_or_default()
    }

    /// Statistics of the trimmed key columns, if kept.
    pub fn key_stats(&self, index: usize) -> Option<StatsRef<'_>> {
        self.columns.key_stats.get(index)
    }

    /// Statistics of the columns of [`Self::value_stats_cols`], if kept.
    pub fn value_stats(&self, index: usize) -> Option<StatsRef<'_>> {
        self.columns.value_stats.get(index)
    }

    /// Smallest sequence number.
    pub fn min_sequence_number(&self, index: usize) -> i64 {
        at(&self.columns.min_sequence_numbers, index)
    }

    /// Largest sequence number.
    pub fn max_sequence_number(&self, index: usize) -> i64 {
        at(&self.columns.max_sequence_numbers, index)
    }

    /// Schema the file was written with.
    pub fn schema_id(&self, index: usize) -> i64 {
        at(&self.columns.schema_ids, index)
    }

    /// Level; 0 is freshly written.
    pub fn level(&self, index: usize) -> i32 {
        at(&self.columns.levels, index)
    }

    /// Bare names of side files.
    pub fn extra_files(&self, index: usize) -> TextList<'_> {
        self.columns
            .extra_files
            .get(index)
            .unwrap_or(TextList::EMPTY)
    }

    /// Wall clock of the writer as milliseconds, as if it were UTC (TF-051).
    pub fn creation_time_millis(&self, index: usize) -> Option<i64> {
        let known = at(&self.columns.flags, index).has_creation_time();
        known.then(|| at(&self.columns.creation_times, index))
    }

    /// Retract rows in the file; `None` is unknown (RP-211).
    pub fn delete_row_count(&self, index: usize) -> Option<u64> {
        let known = at(&self.columns.flags, index).has_delete_row_count();
        known.then(|| at(&self.columns.delete_row_counts, index))
    }

    /// A whole file-index container.
    pub fn embedded_index(&self, index: usize) -> Option<&[u8]> {
        self.columns.embedded_indexes.get(index)
    }

    /// Where the file came from, if known.
    pub fn file_source(&self, index: usize) -> Option<FileSource> {
        at(&self.columns.flags, index).file_source()
    }

    /// Columns of [`Self::value_stats`], by file-schema name; `None` means all columns of the file schema (RP-089), or
    /// that there are no statistics.
    pub fn value_stats_cols(&self, index: usize) -> Option<TextList<'_>> {
        self.columns.value_stats_cols.get(index)
    }

    /// Full path of the file when it is not in its bucket directory.
    pub fn external_path(&self, index: usize) -> Option<&str> {
        self.columns.external_paths.get(index)
    }

    /// Row id of the first row, for row-tracking tables.
    pub fn first_row_id(&self, index: usize) -> Option<i64> {
        self.columns.first_row_ids.get(index)
    }

    /// Columns that are physically there; `None` means all of the file schema.
    pub fn write_cols(&self, index: usize) -> Option<TextList<'_>> {
        self.columns.write_cols.get(index)
    }

    /// Largest sequence number of each column in [`Self::write_cols`].
    pub fn write_cols_sequences(&self, index: usize) -> Option<&[i64]> {
        self.columns.write_cols_sequences.get(index)
    }

    /// What makes an addition and a deletion meet.
    pub fn identity(&self, index: usize) -> FileIdentity<'_> {
        FileIdentity {
            partition: self.partition(index).as_serialized(),
            bucket: self.bucket(index),
            level: self.level(index),
            file_name: self.file_name(index),
            extra_files: self.extra_files(index),
            embedded_index: self.embedded_index(index),
            external_path: self.external_path(index),
        }
    }

    /// The file as a model. Statistics that were not kept are empty ones, of no columns, as the reference drops them
    /// (RP-089, RP-090).
    ///
    /// # Errors
    /// `Corrupt` if a row in statistics, or in a table from outside, is too short for its arity.
    pub fn file(&self, index: usize) -> Result<DataFileMeta> {
        self.row(index).to_meta()
    }

    /// The files of `order`, in that order: some or all, each any number of times.
    ///
    /// # Errors
    /// As for [`FileTableBuilder::append`].
    pub fn permute(self, order: &[u32]) -> Result<Self> {
        check_length(order.len())?;
        let columns = self.columns.take(order);
        let mut builder = FileTableBuilder::new();
        builder.append(Self { columns })?; // numbers the partitions anew
        Ok(builder.finish())
    }

    /// Bytes of heap the table takes.
    pub fn heap_bytes(&self) -> usize {
        self.columns.heap_bytes()
    }

    fn row(&self, index: usize) -> FileRow<'_> {
        FileRow {
            partition: self.partition(index).as_serialized(),
            bucket: self.bucket(index),
            total_buckets: self.total_buckets(index),
            file_name: self.file_name(index),
            file_size: self.file_size(index),
            row_count: self.row_count(index),
            min_key: self.min_key(index),
            max_key: self.max_key(index),
            key_stats: self.key_stats(index),
            value_stats: self.value_stats(index),
            min_sequence_number: self.min_sequence_number(index),
            max_sequence_number: self.max_sequence_number(index),
            schema_id: self.schema_id(index),
            level: self.level(index),
            extra_files: self.extra_files(index),
            creation_time_millis: self.creation_time_millis(index),
            delete_row_count: self.delete_row_count(index),
            embedded_index: self.embedded_index(index),
            file_source: self.file_source(index),
            value_stats_cols: self.value_stats_cols(index),
            external_path: self.external_path(index),
            first_row_id: self.first_row_id(index),
            write_cols: self.write_cols(index),
            write_cols_sequences: self.write_cols_sequences(index),
        }
    }
}

impl<'de> Deserialize<'de> for FileTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let columns = Columns::deserialize(deserializer)?;
        if columns.are_sound() {
            Ok(Self { columns })
        } else {
            Err(D::Error::custom(
                "columns of a file table do not fit each other",
            ))
        }
    }
}

fn at<T: Copy>(column: &[T], index: usize) -> T {
    *at_ref(column, index)
}

#[expect(
    clippy::indexing_slicing,
    reason = "an index past the end is a fault of the caller"
)]
fn at_ref<T>(column: &[T], index: usize) -> &T {
    &column[index]
}
