//! Borrowed views of what metadata says of a file, the same over decoded columns, models and [`FileTable`]s.
//!
//! [`FileTable`]: super::FileTable

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Range;

#[cfg(feature = "manifest")]
use arrow_array::StringArray;
use arrow_buffer::NullBuffer;

use crate::binary_row::BinaryRow;
use crate::data_file::{DataFileMeta, FileSource};
use crate::error::{Frame, Result, ResultExt};
use crate::stats::SimpleStats;

use super::column::{Column, Texts};

/// Identity of a file entry (RP-040): a deletion removes every addition with the same identity, whatever their order.
///
/// The level is part of it (RP-041); size, row count, statistics and schema are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileIdentity<'a> {
    /// Serialized partition.
    pub partition: &'a [u8],
    /// Bucket.
    pub bucket: i32,
    /// Level.
    pub level: i32,
    /// Bare name.
    pub file_name: &'a str,
    /// Names of side files, in order.
    pub extra_files: TextList<'a>,
    /// Embedded index.
    pub embedded_index: Option<&'a [u8]>,
    /// External path.
    pub external_path: Option<&'a str>,
}

/// A list of texts. Lists are equal if their texts are.
#[derive(Clone, Copy)]
pub struct TextList<'a> {
    source: Source<'a>,
    start: usize,
    end: usize,
}

/// Where the texts of a list, and of others, are.
#[derive(Clone, Copy)]
enum Source<'a> {
    Strings(&'a [String]),
    Column(&'a Texts),
    #[cfg(feature = "manifest")]
    Array(&'a StringArray),
}

impl<'a> TextList<'a> {
    pub(crate) const EMPTY: Self = Self {
        source: Source::Strings(&[]),
        start: 0,
        end: 0,
    };

    /// The list of `strings`.
    pub fn of_strings(strings: &'a [String]) -> Self {
        Self {
            source: Source::Strings(strings),
            start: 0,
            end: strings.len(),
        }
    }

    pub(super) fn of_column(column: &'a Texts, range: Range<usize>) -> Self {
        Self {
            source: Source::Column(column),
            start: range.start,
            end: range.end,
        }
    }

    /// A range of an array without nulls.
    #[cfg(feature = "manifest")]
    pub(crate) fn of_array(array: &'a StringArray, range: Range<usize>) -> Self {
        Self {
            source: Source::Array(array),
            start: range.start,
            end: range.end,
        }
    }

    /// Number of texts.
    pub fn len(self) -> usize {
        self.end - self.start
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The text at an index; `None` past the end.
    pub fn get(self, index: usize) -> Option<&'a str> {
        let place = self
            .start
            .checked_add(index)
            .filter(|place| *place < self.end)?;
        match self.source {
            Source::Strings(strings) => strings.get(place).map(String::as_str),
            Source::Column(column) => column.item(place),
            #[cfg(feature = "manifest")]
            Source::Array(array) => Some(array.value(place)),
        }
    }

    /// The texts in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = &'a str> {
        (0..self.len()).map(move |index| self.get(index).unwrap_or_default())
    }

    fn to_strings(self) -> Vec<String> {
        self.iter().map(str::to_owned).collect()
    }
}

impl PartialEq for TextList<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Eq for TextList<'_> {}

impl Hash for TextList<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.len());
        self.iter().for_each(|text| text.hash(state));
    }
}

impl fmt::Debug for TextList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Statistics of a list of columns: serialized rows of bounds, and null counts.
#[derive(Clone, Copy, Debug)]
pub struct StatsRef<'a> {
    /// Serialized row of the smallest values; null where unknown.
    pub min: &'a [u8],
    /// Serialized row of the largest values; null where unknown. A truncated text is rounded up (TF-045).
    pub max: &'a [u8],
    pub(crate) null_counts: NullCounts<'a>,
}

/// Null counts, as their three sources have them. A negative one is unknown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum NullCounts<'a> {
    #[default]
    Absent,
    Options(&'a [Option<i64>]),
    /// Where `valid` is given, it is for a longer list that has `counts` at the index beside it.
    Longs {
        counts: &'a [i64],
        valid: Option<(&'a NullBuffer, usize)>,
    },
}

impl<'a> StatsRef<'a> {
    pub(crate) fn of(stats: &'a SimpleStats) -> Self {
        let null_counts = stats.null_counts.as_deref();
        Self {
            min: stats.min_values.as_serialized(),
            max: stats.max_values.as_serialized(),
            null_counts: null_counts.map_or(NullCounts::Absent, NullCounts::Options),
        }
    }

    /// Null count of the column at an index; `None` if unknown.
    pub fn null_count(self, index: usize) -> Option<u64> {
        let count = match self.null_counts {
            NullCounts::Absent => None,
            NullCounts::Options(counts) => counts.get(index).copied().flatten(),
            NullCounts::Longs { counts, valid } => counts
                .get(index)
                .filter(|_| valid.is_none_or(|(valid, start)| valid.is_valid(start + index)))
                .copied(),
        };
        count.and_then(|count| u64::try_from(count).ok())
    }

    /// Number of null counts; `None` if there are none at all.
    pub fn null_counts_len(self) -> Option<usize> {
        match self.null_counts {
            NullCounts::Absent => None,
            NullCounts::Options(counts) => Some(counts.len()),
            NullCounts::Longs { counts, .. } => Some(counts.len()),
        }
    }

    /// The statistics as a model.
    ///
    /// # Errors
    /// `Corrupt` if a row is too short for its arity.
    pub fn to_stats(self) -> Result<SimpleStats> {
        let count = |index| {
            self.null_count(index)
                .and_then(|count| i64::try_from(count).ok())
        };
        Ok(SimpleStats {
            min_values: row("_MIN_VALUES", self.min)?,
            max_values: row("_MAX_VALUES", self.max)?,
            null_counts: self
                .null_counts_len()
                .map(|length| (0..length).map(count).collect()),
        })
    }
}

fn row(name: &str, serialized: &[u8]) -> Result<BinaryRow> {
    BinaryRow::from_serialized(serialized.to_vec()).at(|| Frame::Field(name.to_owned()))
}

/// All that metadata says of one file. Fields are those of [`DataFileMeta`]; statistics are `None` if they were not
/// decoded or not kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileRow<'a> {
    pub(crate) partition: &'a [u8],
    pub(crate) bucket: i32,
    pub(crate) total_buckets: i32,
    pub(crate) file_name: &'a str,
    pub(crate) file_size: u64,
    pub(crate) row_count: u64,
    pub(crate) min_key: &'a [u8],
    pub(crate) max_key: &'a [u8],
    pub(crate) key_stats: Option<StatsRef<'a>>,
    pub(crate) value_stats: Option<StatsRef<'a>>,
    pub(crate) min_sequence_number: i64,
    pub(crate) max_sequence_number: i64,
    pub(crate) schema_id: i64,
    pub(crate) level: i32,
    pub(crate) extra_files: TextList<'a>,
    pub(crate) creation_time_millis: Option<i64>,
    pub(crate) delete_row_count: Option<u64>,
    pub(crate) embedded_index: Option<&'a [u8]>,
    pub(crate) file_source: Option<FileSource>,
    pub(crate) value_stats_cols: Option<TextList<'a>>,
    pub(crate) external_path: Option<&'a str>,
    pub(crate) first_row_id: Option<i64>,
    pub(crate) write_cols: Option<TextList<'a>>,
    pub(crate) write_cols_sequences: Option<&'a [i64]>,
}

impl<'a> FileRow<'a> {
    pub(crate) fn of(
        partition: &'a BinaryRow,
        bucket: i32,
        total_buckets: i32,
        file: &'a DataFileMeta,
    ) -> Self {
        Self {
            partition: partition.as_serialized(),
            bucket,
            total_buckets,
            file_name: &file.file_name,
            file_size: file.file_size,
            row_count: file.row_count,
            min_key: file.min_key.as_serialized(),
            max_key: file.max_key.as_serialized(),
            key_stats: Some(StatsRef::of(&file.key_stats)),
            value_stats: Some(StatsRef::of(&file.value_stats)),
            min_sequence_number: file.min_sequence_number,
            max_sequence_number: file.max_sequence_number,
            schema_id: file.schema_id,
            level: file.level,
            extra_files: TextList::of_strings(&file.extra_files),
            creation_time_millis: file.creation_time_millis,
            delete_row_count: file.delete_row_count,
            embedded_index: file.embedded_index.as_deref(),
            file_source: file.file_source,
            value_stats_cols: file.value_stats_cols.as_deref().map(TextList::of_strings),
            external_path: file.external_path.as_deref(),
            first_row_id: file.first_row_id,
            write_cols: file.write_cols.as_deref().map(TextList::of_strings),
            write_cols_sequences: file.write_cols_sequences.as_deref(),
        }
    }

    /// The file as a model. Without key statistics it has empty ones; without value statistics it has empty ones of
    /// no columns, which is how the reference drops them (RP-089, RP-090).
    pub(crate) fn to_meta(self) -> Result<DataFileMeta> {
        let stats = |name: &str, stats: Option<StatsRef<'_>>| {
            stats
                .map_or_else(|| Ok(SimpleStats::default()), StatsRef::to_stats)
                .at(|| Frame::Field(name.to_owned()))
        };
        let value_stats_cols = match self.value_stats {
            Some(_) => self.value_stats_cols.map(TextList::to_strings),
            None => Some(Vec::new()),
        };
        Ok(DataFileMeta {
            file_name: self.file_name.to_owned(),
            file_size: self.file_size,
            row_count: self.row_count,
            min_key: row("_MIN_KEY", self.min_key)?,
            max_key: row("_MAX_KEY", self.max_key)?,
            key_stats: stats("_KEY_STATS", self.key_stats)?,
            value_stats: stats("_VALUE_STATS", self.value_stats)?,
            min_sequence_number: self.min_sequence_number,
            max_sequence_number: self.max_sequence_number,
            schema_id: self.schema_id,
            level: self.level,
            extra_files: self.extra_files.to_strings(),
            creation_time_millis: self.creation_time_millis,
            delete_row_count: self.delete_row_count,
            embedded_index: self.embedded_index.map(<[u8]>::to_vec),
            file_source: self.file_source,
            value_stats_cols,
            external_path: self.external_path.map(str::to_owned),
            first_row_id: self.first_row_id,
            write_cols: self.write_cols.map(TextList::to_strings),
            write_cols_sequences: self.write_cols_sequences.map(<[i64]>::to_vec),
        })
    }
}
