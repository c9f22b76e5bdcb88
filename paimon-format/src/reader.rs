//! The seam between readers of tables and formats of files.
//!
//! Opening and scanning are two steps, so that two passes over a file, parts of it and caches share one opened file;
//! fetching a row group and decoding it are two steps, so that the next group's request flies while this one decodes.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use paimon_meta::{DataType, Datum, Result};

use crate::rows::RowRanges;
use crate::scan::{FileColumn, ScanSpec};
use crate::source::ByteSource;

/// Opens files of one format.
pub trait FormatReader: fmt::Debug + Send + Sync {
    /// Reads what is needed to know the file's layout (a footer) and no more.
    fn open(&self, source: Arc<dyn ByteSource>) -> BoxFuture<'static, Result<Arc<dyn DataFile>>>;
}

/// Decoded batches of one row group, each with the file positions of its rows, in file order. Decodes one batch per
/// step; does no I/O. Finished after an error.
pub type GroupBatches = Box<dyn GroupDecoder>;

/// What [`GroupBatches`] is made of. A large row group need not be in memory as a whole: its bytes come in windows.
pub trait GroupDecoder: Iterator<Item = Result<(RowRanges, RecordBatch)>> + Send {
    /// Whether the next batch can be decoded from the bytes that are here. If not, taking it is an error.
    fn is_ready(&self) -> bool {
        true
    }

    /// Brings the next window of bytes; `None` if there is none, if it is on its way, or if there are enough for now.
    /// Asked for before every batch, it flies while the bytes that are here are decoded, and no more than two windows are
    /// held.
    fn more(&mut self) -> Option<BoxFuture<'static, Result<()>>> {
        None
    }
}

/// The next batch, with the bytes that it needs; `None` at the end.
pub async fn next_batch(batches: &mut GroupBatches) -> Option<Result<(RowRanges, RecordBatch)>> {
    while !batches.is_ready()
        && let Some(window) = batches.more()
    {
        if let Err(error) = window.await {
            return Some(Err(error));
        }
    }
    batches.next()
}

/// An opened data file.
///
/// Contract, the same for every format:
/// - a column is found by the file's own name; one that is absent reads as null if its type is nullable and is
///   `Corrupt` if not; one whose physical type cannot hold the asked type is `Corrupt` naming the column;
/// - batches have exactly the asked columns in the asked order, in the Arrow form of the asked types and layout, at
///   most `batch_size` rows, never none; they never cross a row group;
/// - the positions that come with a batch are those of its rows, ascending; a format that cannot select rows may return
///   more rows than asked (of the same group), never fewer;
/// - no columns asked: batches of no columns with the right number of rows;
/// - a row group that is not there, or a column asked twice, is `InvalidInput`;
/// - a file that ends early or holds another number of rows than its footer says is `Corrupt`, never a short answer.
pub trait DataFile: fmt::Debug + Send + Sync {
    /// Rows and row groups.
    fn layout(&self) -> &Layout;

    /// Bytes of the asked columns of a group as they are in the file: what [`fetch`](Self::fetch) of all its rows asks
    /// for in one or more windows. 0 for a group that is not there.
    fn group_bytes(&self, group: usize, scan: &ScanSpec) -> u64;

    /// Bytes that the opened file keeps in memory, its weight in a cache.
    fn heap_bytes(&self) -> u64;

    /// What the file itself says of a column's values, per row group or page. `None` where it says nothing or where it
    /// is not safe to use; may read index pages.
    fn bounds(
        &self,
        column: &FileColumn,
        grain: Grain,
    ) -> BoxFuture<'static, Result<Option<Bounds>>>;

    /// Whether a row group may hold each of some values of a column, by the filters that the file has of them (Bloom
    /// filters): never false for a value that is there, all true where there is no such filter. May read filters.
    fn may_hold(
        &self,
        _group: usize,
        _column: &FileColumn,
        values: &[Datum],
    ) -> BoxFuture<'static, Result<Vec<bool>>> {
        ready(Ok(vec![true; values.len()])).boxed()
    }

    /// Brings the bytes of the asked rows of one group, or the first window of them, and gives a detached iterator that
    /// decodes them. `rows` are file positions; those outside the group are ignored.
    fn fetch(
        &self,
        group: usize,
        rows: &RowRanges,
        scan: &Arc<ScanSpec>,
    ) -> BoxFuture<'static, Result<GroupBatches>>;
}

/// Rows and row groups of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Physical rows.
    pub row_count: u64,
    /// Row groups (stripes, blocks), in file order, without gaps.
    pub groups: Vec<GroupLayout>,
    /// Whether [`DataFile::fetch`] returns exactly the asked rows.
    pub selects_rows: bool,
    /// Names of the top-level columns that are physically there.
    pub columns: Vec<String>,
}

impl Layout {
    /// Those of the rows that are in a row group; none if there is no such group.
    #[cfg(any(feature = "parquet", feature = "orc", feature = "avro"))]
    pub(crate) fn rows_in(&self, group: usize, rows: &RowRanges) -> RowRanges {
        let window = self.groups.get(group);
        window
            .map(|group| rows.clip(group.first_row..group.first_row + group.row_count))
            .unwrap_or_default()
    }
}

/// One row group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupLayout {
    /// File position of its first row.
    pub first_row: u64,
    /// Its rows.
    pub row_count: u64,
    /// Bytes of all its columns in the file.
    pub compressed_bytes: u64,
}

impl GroupLayout {
    /// File positions of its rows.
    pub fn rows(&self) -> Range<u64> {
        self.first_row..self.first_row + self.row_count
    }
}

/// How fine [`DataFile::bounds`] are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Grain {
    /// One entry per row group.
    Group,
    /// One entry per page (or row-index entry).
    Page,
}

/// Bounds of one column over consecutive ranges of rows.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Type of `min` and `max`.
    pub data_type: DataType,
    /// First row of each range, ascending, then the file's row count: one more than there are ranges.
    pub starts: Vec<u64>,
    /// No value of the range is smaller, in the order of [`Datum::compare`](paimon_meta::Datum::compare); null is
    /// unknown. In the Arrow form of `data_type`, text and bytes as views.
    pub min: ArrayRef,
    /// No value of the range is larger; null is unknown. NaN where a writer may have left NaN out.
    pub max: ArrayRef,
    /// Nulls in the range; null is unknown.
    pub null_counts: UInt64Array,
    /// Whether `min` and `max` are values that occur (not truncated), so that keys may be cut there.
    pub exact: bool,
}
