//! The columns of a table.

use serde::{Deserialize, Serialize};

use crate::binary_row::BinaryRow;
use crate::data_file::FileSource;

use super::KeepStats;
use super::column::{Column, Slices, StatsColumn, Store, TextLists, Texts};
use super::sparse::Sparse;
use super::view::FileRow;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Columns {
    pub(super) partitions: Vec<BinaryRow>,
    /// Indexes into `partitions`.
    pub(super) partition_ids: Vec<u32>,
    pub(super) buckets: Vec<i32>,
    pub(super) total_buckets: Vec<i32>,
    pub(super) file_names: Texts,
    pub(super) file_sizes: Vec<u64>,
    pub(super) row_counts: Vec<u64>,
    pub(super) min_keys: Slices<u8>,
    pub(super) max_keys: Slices<u8>,
    pub(super) min_sequence_numbers: Vec<i64>,
    pub(super) max_sequence_numbers: Vec<i64>,
    pub(super) schema_ids: Vec<i64>,
    pub(super) levels: Vec<i32>,
    pub(super) creation_times: Vec<i64>,
    pub(super) delete_row_counts: Vec<u64>,
    pub(super) flags: Vec<Flags>,
    pub(super) extra_files: Sparse<TextLists>,
    pub(super) embedded_indexes: Sparse<Slices<u8>>,
    pub(super) external_paths: Sparse<Texts>,
    pub(super) first_row_ids: Sparse<Vec<i64>>,
    pub(super) write_cols: Sparse<TextLists>,
    pub(super) write_cols_sequences: Sparse<Slices<i64>>,
    pub(super) key_stats: Sparse<StatsColumn>,
    pub(super) value_stats: Sparse<StatsColumn>,
    pub(super) value_stats_cols: Sparse<TextLists>,
}

impl Columns {
    pub(super) fn push(
        &mut self,
        row: u32,
        partition_id: u32,
        file: &FileRow<'_>,
        keep: KeepStats,
    ) {
        self.partition_ids.push(partition_id);
        self.buckets.push(file.bucket);
        self.total_buckets.push(file.total_buckets);
        self.file_names.push(file.file_name);
        self.file_sizes.push(file.file_size);
        self.row_counts.push(file.row_count);
        self.min_keys.push(file.min_key);
        self.max_keys.push(file.max_key);
        self.min_sequence_numbers.push(file.min_sequence_number);
        self.max_sequence_numbers.push(file.max_sequence_number);
        self.schema_ids.push(file.schema_id);
        self.levels.push(file.level);
        self.creation_times
            .push(file.creation_time_millis.unwrap_or_default());
        self.delete_row_counts
            .push(file.delete_row_count.unwrap_or_default());
        self.flags.push(Flags::of(file));
        let extra_files = Some(file.extra_files).filter(|files| !files.is_empty());
        self.extra_files.push(row, extra_files);
        self.embedded_indexes.push(row, file.embedded_index);
        self.external_paths.push(row, file.external_path);
        self.first_row_ids.push(row, file.first_row_id);
        self.write_cols.push(row, file.write_cols);
        self.write_cols_sequences
            .push(row, file.write_cols_sequences);
        if keep.key {
            self.key_stats.push(row, file.key_stats);
        }
        if keep.value && file.value_stats.is_some() {
            self.value_stats.push(row, file.value_stats);
            self.value_stats_cols.push(row, file.value_stats_cols);
        }
    }

    /// The rows of `order`, of the same partitions. Each column is freed when it is taken from, so that at no time there
    /// are two whole tables.
    pub(super) fn take(self, order: &[u32]) -> Self {
        Self {
            partitions: self.partitions,
            partition_ids: taken(self.partition_ids, order),
            buckets: taken(self.buckets, order),
            total_buckets: taken(self.total_buckets, order),
            file_names: taken(self.file_names, order),
            file_sizes: taken(self.file_sizes, order),
            row_counts: taken(self.row_counts, order),
            min_keys: taken(self.min_keys, order),
            max_keys: taken(self.max_keys, order),
            min_sequence_numbers: taken(self.min_sequence_numbers, order),
            max_sequence_numbers: taken(self.max_sequence_numbers, order),
            schema_ids: taken(self.schema_ids, order),
            levels: taken(self.levels, order),
            creation_times: taken(self.creation_times, order),
            delete_row_counts: taken(self.delete_row_counts, order),
            flags: taken(self.flags, order),
            extra_files: self.extra_files.take(order),
            embedded_indexes: self.embedded_indexes.take(order),
            external_paths: self.external_paths.take(order),
            first_row_ids: self.first_row_ids.take(order),
            write_cols: self.write_cols.take(order),
            write_cols_sequences: self.write_cols_sequences.take(order),
            key_stats: self.key_stats.take(order),
            value_stats: self.value_stats.take(order),
            value_stats_cols: self.value_stats_cols.take(order),
        }
    }

    /// Puts the rows of other columns behind these. Their partitions are indexes into those of these columns.
    pub(super) fn append(&mut self, more: Self) {
        if self.partition_ids.is_empty() {
            *self = Self {
                partitions: std::mem::take(&mut self.partitions),
                ..more
            };
            return;
        }
        // A table has no more rows than fit.
        let offset = u32::try_from(self.partition_ids.len()).unwrap_or(u32::MAX);
        self.partition_ids.extend(more.partition_ids);
        self.buckets.extend(more.buckets);
        self.total_buckets.extend(more.total_buckets);
        self.file_names.append(&more.file_names);
        self.file_sizes.extend(more.file_sizes);
        self.row_counts.extend(more.row_counts);
        self.min_keys.append(&more.min_keys);
        self.max_keys.append(&more.max_keys);
        self.min_sequence_numbers.extend(more.min_sequence_numbers);
        self.max_sequence_numbers.extend(more.max_sequence_numbers);
        self.schema_ids.extend(more.schema_ids);
        self.levels.extend(more.levels);
        self.creation_times.extend(more.creation_times);
        self.delete_row_counts.extend(more.delete_row_counts);
        self.flags.extend(more.flags);
        self.extra_files.append(&more.extra_files, offset);
        self.embedded_indexes.append(&more.embedded_indexes, offset);
        self.external_paths.append(&more.external_paths, offset);
        self.first_row_ids.append(&more.first_row_ids, offset);
        self.write_cols.append(&more.write_cols, offset);
        self.write_cols_sequences
            .append(&more.write_cols_sequences, offset);
        self.key_stats.append(&more.key_stats, offset);
        self.value_stats.append(&more.value_stats, offset);
        self.value_stats_cols.append(&more.value_stats_cols, offset);
    }

    /// All but the partitions.
    fn stores(&self) -> [&dyn Store; 24] {
        [
            &self.partition_ids,
            &self.buckets,
            &self.total_buckets,
            &self.file_names,
            &self.file_sizes,
            &self.row_counts,
            &self.min_keys,
            &self.max_keys,
            &self.min_sequence_numbers,
            &self.max_sequence_numbers,
            &self.schema_ids,
            &self.levels,
            &self.creation_times,
            &self.delete_row_counts,
            &self.flags,
            &self.extra_files,
            &self.embedded_indexes,
            &self.external_paths,
            &self.first_row_ids,
            &self.write_cols,
            &self.write_cols_sequences,
            &self.key_stats,
            &self.value_stats,
            &self.value_stats_cols,
        ]
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let of_rows: usize = self
            .partitions
            .iter()
            .map(|row| row.as_serialized().len())
            .sum();
        let partitions = self.partitions.capacity() * size_of::<BinaryRow>() + of_rows;
        partitions
            + self
                .stores()
                .iter()
                .map(|store| store.heap_bytes())
                .sum::<usize>()
    }

    /// Whether columns that came from outside can have been made by pushing.
    pub(super) fn are_sound(&self) -> bool {
        let length = self.partition_ids.len();
        let partition = |id: &u32| (*id as usize) < self.partitions.len();
        self.partition_ids.iter().all(partition)
            && self.flags.iter().all(|flags| flags.is_sound())
            && self.stores().iter().all(|store| store.is_sound(length))
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.partitions.shrink_to_fit();
        let stores: [&mut dyn Store; 24] = [
            &mut self.partition_ids,
            &mut self.buckets,
            &mut self.total_buckets,
            &mut self.file_names,
            &mut self.file_sizes,
            &mut self.row_counts,
            &mut self.min_keys,
            &mut self.max_keys,
            &mut self.min_sequence_numbers,
            &mut self.max_sequence_numbers,
            &mut self.schema_ids,
            &mut self.levels,
            &mut self.creation_times,
            &mut self.delete_row_counts,
            &mut self.flags,
            &mut self.extra_files,
            &mut self.embedded_indexes,
            &mut self.external_paths,
            &mut self.first_row_ids,
            &mut self.write_cols,
            &mut self.write_cols_sequences,
            &mut self.key_stats,
            &mut self.value_stats,
            &mut self.value_stats_cols,
        ];
        stores.into_iter().for_each(Store::shrink_to_fit);
    }
}

/// As [`Column::take`] of a column that nobody needs any more.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the column is freed before the next one is taken"
)]
fn taken<C: Column>(column: C, order: &[u32]) -> C {
    column.take(order)
}

/// What is known of a file, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Flags(u8);

impl Flags {
    const CREATION_TIME: u8 = 1;
    const DELETE_ROW_COUNT: u8 = 2;
    const APPEND: u8 = 4;
    const COMPACT: u8 = 8;

    fn of(file: &FileRow<'_>) -> Self {
        let source = match file.file_source {
            None => 0,
            Some(FileSource::Append) => Self::APPEND,
            Some(FileSource::Compact) => Self::COMPACT,
        };
        let bit = |known, bit| if known { bit } else { 0 };
        Self(
            source
                | bit(file.creation_time_millis.is_some(), Self::CREATION_TIME)
                | bit(file.delete_row_count.is_some(), Self::DELETE_ROW_COUNT),
        )
    }

    pub(super) fn has_creation_time(self) -> bool {
        self.0 & Self::CREATION_TIME != 0
    }

    pub(super) fn has_delete_row_count(self) -> bool {
        self.0 & Self::DELETE_ROW_COUNT != 0
    }

    pub(super) fn file_source(self) -> Option<FileSource> {
        match self.0 & (Self::APPEND | Self::COMPACT) {
            Self::APPEND => Some(FileSource::Append),
            Self::COMPACT => Some(FileSource::Compact),
            _ => None,
        }
    }

    fn is_sound(self) -> bool {
        self.0 < 12
    }
}
