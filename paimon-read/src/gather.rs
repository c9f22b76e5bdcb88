//! Gathering: rows of decoded sources become one column, with one copy.
//!
//! One run of rows is passed on as a slice, without a copy; a few long ones are concatenated; many short ones go through
//! arrow's interleave kernel, whose indices are made once for all columns that were decoded together.

mod replace;

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::ArrowError;
use arrow_select::concat::concat;
use arrow_select::interleave::interleave;
use paimon_meta::{Error, Result};

pub(crate) use replace::replaced;

/// Segments of at least this many rows on average are concatenated; below it, indices cost less.
const CONCAT_ROWS: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    source: u32,
    start: u32,
    length: u32,
}

/// Rows of sources, in an order of their own: consecutive rows of one source form a segment. Rows are added first, then
/// columns gathered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Segments {
    segments: Vec<Segment>,
    rows: usize,
    /// Source and row of each row, made when they are first needed.
    pairs: OnceLock<Vec<(usize, usize)>>,
}

impl Segments {
    /// Adds rows `start..start + length` of a source.
    #[inline]
    pub(crate) fn push(&mut self, source: u32, start: u32, length: u32) {
        self.rows += length as usize;
        if let Some(last) = self.segments.last_mut()
            && last.source == source
            && last.start + last.length == start
        {
            last.length += length;
            return;
        }
        self.segments.push(Segment {
            source,
            start,
            length,
        });
    }

    /// Reads them in ascending order.
    pub(crate) fn cursor(&self) -> SegmentCursor<'_> {
        SegmentCursor {
            segments: &self.segments,
            first: 0,
        }
    }

    /// Forgets all rows.
    pub(crate) fn clear(&mut self) {
        self.segments.clear();
        self.rows = 0;
        self.pairs.take();
    }

    /// The rows of a column of which these are the sources.
    ///
    /// # Errors
    /// `Internal` if a segment is of no source, or sources differ in type.
    pub(crate) fn gather(&self, sources: &[ArrayRef]) -> Result<ArrayRef> {
        let slice = |segment: &Segment| -> Result<ArrayRef> {
            let source = sources.get(segment.source as usize);
            let source = source.ok_or_else(|| Error::internal("segment of no source"))?;
            Ok(source.slice(segment.start as usize, segment.length as usize))
        };
        if let [segment] = self.segments.as_slice() {
            return slice(segment);
        }
        if self.segments.len() * CONCAT_ROWS > self.rows {
            return interleaved(sources, self.pairs());
        }
        let slices = self.segments.iter().map(slice);
        concat(&borrowed(&slices.collect::<Result<Vec<_>>>()?)).map_err(not_gathered)
    }

    /// Source and row of each row.
    pub(crate) fn pairs(&self) -> &[(usize, usize)] {
        self.pairs.get_or_init(|| {
            let mut pairs = Vec::with_capacity(self.rows);
            for segment in &self.segments {
                let (source, start) = (segment.source as usize, segment.start as usize);
                pairs.extend((start..start + segment.length as usize).map(|row| (source, row)));
            }
            pairs
        })
    }
}

/// Which values of some sources are null.
#[derive(Debug)]
pub(crate) struct SourceNulls(Vec<Option<NullBuffer>>);

impl SourceNulls {
    /// `None` if no value is.
    pub(crate) fn of(sources: &[ArrayRef]) -> Option<Self> {
        let nulls = |source: &ArrayRef| {
            let nulls = source.logical_nulls();
            nulls.filter(|nulls| nulls.null_count() > 0)
        };
        let nulls: Vec<_> = sources.iter().map(nulls).collect();
        nulls.iter().any(Option::is_some).then_some(Self(nulls))
    }

    /// Whether the value of that source and row is not null.
    #[inline]
    pub(crate) fn is_valid(&self, (source, row): (usize, usize)) -> bool {
        match self.0.get(source) {
            Some(Some(nulls)) => nulls.is_valid(row),
            _ => true,
        }
    }
}

/// Rows given by source and row, as one column.
///
/// # Errors
/// `Internal` if sources differ in type.
pub(crate) fn interleaved(sources: &[ArrayRef], pairs: &[(usize, usize)]) -> Result<ArrayRef> {
    interleave(&borrowed(sources), pairs).map_err(not_gathered)
}

fn not_gathered(error: ArrowError) -> Error {
    Error::internal("cannot gather a column").with_source(error)
}

/// A place among segments that only moves on.
#[derive(Debug)]
pub(crate) struct SegmentCursor<'a> {
    segments: &'a [Segment],
    /// Row at which the first of them starts.
    first: u32,
}

impl SegmentCursor<'_> {
    /// Copies rows that do not lie before those that were copied last.
    #[inline]
    pub(crate) fn copy(&mut self, rows: Range<u32>, to: &mut Segments) {
        self.each(rows, |source, start, length| to.push(source, start, length));
    }

    /// The same as (source, first row, rows) of each segment.
    #[inline]
    pub(crate) fn each(&mut self, rows: Range<u32>, mut to: impl FnMut(u32, u32, u32)) {
        let mut row = rows.start;
        while row < rows.end {
            let Some((segment, rest)) = self.segments.split_first() else {
                return;
            };
            let end = self.first + segment.length;
            if row < end {
                let length = rows.end.min(end) - row;
                to(segment.source, segment.start + (row - self.first), length);
                row += length;
            }
            if row < end {
                return;
            }
            self.segments = rest;
            self.first = end;
        }
    }
}

fn borrowed(arrays: &[ArrayRef]) -> Vec<&dyn Array> {
    arrays.iter().map(Arc::as_ref).collect()
}
