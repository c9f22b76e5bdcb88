//! What the value pass has of one piece: rows that passed the filter, its filter columns, and a cursor over its late
//! columns.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;

use futures_util::future::BoxFuture;
use paimon_format::{GroupBatches, RowRanges};
use paimon_meta::{Error, Frame, Result, ResultExt};

use crate::evolve::FileScan;
use crate::fetches::Ticket;
use crate::positions::Positions;
use crate::window::Decoded;

/// State of a piece in the value pass.
#[derive(Debug, Default)]
pub(crate) struct PieceValues {
    /// Whether the piece was prepared: filtered, and its late columns asked for.
    pub(crate) prepared: bool,
    /// Rows that passed the filter; `None` if there is no filter.
    pub(crate) survivors: Option<Survivors>,
    /// Filter columns of the survivors, ascending.
    pub(crate) filtered: VecDeque<Decoded>,
    /// A request for filter columns in flight.
    pub(crate) filtering: Option<Ticket>,
    /// A request for late columns in flight.
    pub(crate) fetching: Option<Ticket>,
    /// Late columns being decoded.
    pub(crate) late: Option<LateCursor>,
    /// The last batch that rows were added to.
    pub(crate) batch: u64,
    /// The row after the last one that was added.
    pub(crate) next_row: u32,
}

impl PieceValues {
    /// Whether columns were asked for before they are needed.
    pub(crate) fn is_ahead(&self) -> bool {
        !self.prepared && (self.filtering.is_some() || self.fetching.is_some())
    }
}

/// Rows of a piece that passed the filter, ascending.
#[derive(Debug, Default)]
pub(crate) struct Survivors {
    ranges: Vec<Range<u32>>,
    next: usize,
}

impl Survivors {
    /// Adds the next rows; joins ranges that touch.
    pub(crate) fn push(&mut self, row: u32, count: u32) {
        match self.ranges.last_mut() {
            Some(last) if last.end == row => last.end += count,
            _ => self.ranges.push(row..row + count),
        }
    }

    /// The first surviving rows at or after `row`; rows are asked for in ascending order.
    pub(crate) fn next_from(&mut self, row: u32) -> Option<Range<u32>> {
        while self
            .ranges
            .get(self.next)
            .is_some_and(|range| range.end <= row)
        {
            self.next += 1;
        }
        self.ranges
            .get(self.next)
            .map(|range| range.start.max(row)..range.end)
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> u64 {
        let lengths = self.ranges.iter().map(|range| range.end - range.start);
        lengths.map(u64::from).sum()
    }

    /// As file positions of a piece that starts at `first_row`.
    pub(crate) fn positions(&self, first_row: u64) -> RowRanges {
        let absolute = |range: &Range<u32>| {
            first_row + u64::from(range.start)..first_row + u64::from(range.end)
        };
        self.ranges.iter().map(absolute).collect()
    }
}

/// Decodes late columns in file order, one batch at a time.
pub(crate) struct LateCursor {
    batches: GroupBatches,
    current: Option<Decoded>,
    /// More bytes of them, on their way.
    pub(crate) window: Option<Ticket>,
}

impl fmt::Debug for LateCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LateCursor")
            .field("current", &self.current)
            .finish_non_exhaustive()
    }
}

impl LateCursor {
    pub(crate) fn new(batches: GroupBatches) -> Self {
        Self {
            batches,
            current: None,
            window: None,
        }
    }

    /// Whether the next batch can be decoded.
    pub(crate) fn is_ready(&self) -> bool {
        self.batches.is_ready()
    }

    /// Brings more bytes, if it is time to ask for them.
    pub(crate) fn more(&mut self) -> Option<BoxFuture<'static, Result<()>>> {
        self.batches.more()
    }

    /// The current batch if it holds `row`, with the index there and the rows that follow without a gap.
    #[inline]
    pub(crate) fn find(&mut self, row: u32) -> Option<(&mut Decoded, u32, u32)> {
        let decoded = self.current.as_mut()?;
        let (index, following) = decoded.find(row)?;
        Some((decoded, index, following))
    }

    /// Decodes the next batch; returns its rows.
    ///
    /// # Errors
    /// `Corrupt` of the file, also if it ends before all asked rows came.
    pub(crate) fn advance(&mut self, scan: &FileScan, first_row: u64, file: &str) -> Result<u32> {
        let (rows, batch) = self
            .batches
            .next()
            .unwrap_or_else(|| {
                Err(Error::corrupt(
                    "the row group ended before all of its rows came",
                ))
            })
            .map_err(|error| error.at(Frame::File(file.to_owned())))?;
        let positions = Positions::new(&rows, first_row)?;
        if positions.len() as usize != batch.num_rows() {
            return Err(Error::internal("a batch came with positions of other rows"));
        }
        let length = positions.len();
        let (columns, mut faults) = scan.decode(&batch).at(|| Frame::File(file.to_owned()))?;
        faults.at(0, || Frame::File(file.to_owned()));
        self.current = Some(Decoded::new(positions, columns).with_faults(faults));
        Ok(length)
    }
}
