//! The value pass: from picks to batches.
//!
//! ```text
//! pick source ──▶ window of picks and pieces ──▶ row filter ──▶ late columns ──▶ output batches
//!  (files, or        (a pick is final)            (winners        (rows that
//!   a key pass)                                    only)           survive)
//! ```
//!
//! Before a piece is opened for values, the pick source is stepped until the piece is decided or the window's budget is
//! reached, because the row selection must be known when a row group starts: a restart inside a row group decodes
//! dictionaries and pages again. Beyond the budget the undecided rest of the piece is decoded whole.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use paimon_format::{GroupBatches, RowRanges};
use paimon_io::{Counter, Metrics, Reservation, Resources};
use paimon_meta::{Error, Frame, Result, ResultExt};

use crate::columns::Shape;
use crate::fetches::{Fetches, yield_now};
use crate::filter_pass::filter_piece;
use crate::merge::Stretch;
use crate::output::{BatchBuilder, Set};
use crate::piece_values::LateCursor;
use crate::window::{Decoded, PickSource, Piece, Window};

/// Gaps of fewer rows are decoded and left out by the gather: skipping costs more.
const SKIPPED_ROWS: u64 = 512;

/// Share of a row group (in percent) above which scattered rows are decoded with all rows between them.
const DENSE_PERCENT: u64 = 25;

/// Turns the picks of a source into batches.
pub(crate) struct ValuePass {
    source: Box<dyn PickSource>,
    window: Window,
    builder: BatchBuilder,
    fetches: Fetches<GroupBatches>,
    metrics: Metrics,
    reservation: Reservation,
    window_bytes: usize,
    batch_size: usize,
    /// The source has nothing more to pick.
    exhausted: bool,
}

impl ValuePass {
    pub(crate) fn new(
        source: Box<dyn PickSource>,
        shape: &Arc<Shape>,
        resources: &Resources,
        window_bytes: usize,
    ) -> Result<Self> {
        Ok(Self {
            source,
            window: Window::default(),
            builder: BatchBuilder::new(shape),
            fetches: Fetches::new(),
            metrics: resources.metrics().clone(),
            reservation: resources.try_reserve(0)?,
            window_bytes,
            batch_size: shape.batch_size,
            exhausted: false,
        })
    }

    /// The next batch; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            let Some(pick) = self.window.front() else {
                if self.exhausted {
                    return self.builder.finish();
                }
                self.step().await?;
                continue;
            };
            self.prepare(pick.piece).await?;
            if let Some(batch) = self.take(pick).await? {
                self.look_ahead(pick.piece).await?;
                return Ok(Some(batch));
            }
        }
    }

    /// One step of the pick source; then the executor has a turn.
    async fn step(&mut self) -> Result<()> {
        self.exhausted = !self.source.step(&mut self.window).await?;
        self.reservation.resize(self.window.bytes() as u64)?;
        self.fetches.poke().await;
        yield_now().await;
        Ok(())
    }

    /// Makes a piece ready for its rows to be taken.
    async fn prepare(&mut self, number: u32) -> Result<()> {
        if self.piece(number)?.values.prepared {
            return Ok(());
        }
        while !self.exhausted
            && !self.piece(number)?.is_decided()
            && self.window.bytes() < self.window_bytes
        {
            self.step().await?;
        }
        if self.piece(number)?.columns.filter.is_some() {
            let piece = self.window.piece_mut(number).ok_or_else(no_piece)?;
            filter_piece(piece, self.batch_size, &self.metrics).await?;
        }
        self.start_late(number)?;
        let piece = self.window.piece_mut(number).ok_or_else(no_piece)?;
        piece.values.prepared = true;
        if let Some(ticket) = piece.values.fetching.take() {
            let name = piece.file.name.clone();
            let batches = self.fetches.wait(ticket).await.at(|| Frame::File(name))?;
            self.window
                .piece_mut(number)
                .ok_or_else(no_piece)?
                .values
                .late = Some(LateCursor::new(batches));
        }
        Ok(())
    }

    /// Asks for the late columns of a piece whose rows are known, if that was not done before.
    fn start_late(&mut self, number: u32) -> Result<()> {
        let piece = self.window.piece_mut(number).ok_or_else(no_piece)?;
        let Some(scan) = piece.file.late.as_ref() else {
            return Ok(());
        };
        if piece.values.fetching.is_some() || piece.values.late.is_some() {
            return Ok(());
        }
        let wanted = match &piece.values.survivors {
            Some(survivors) => survivors.positions(piece.first_row),
            None => piece.wanted(),
        };
        if wanted.is_empty() {
            return Ok(());
        }
        let rows = selection(wanted, u64::from(piece.row_count));
        self.metrics.add(Counter::RowGroupsFetched, 1);
        let fetch = piece.file.data.fetch(piece.group, &rows, &scan.spec);
        piece.values.fetching = Some(self.fetches.start(fetch));
        Ok(())
    }

    /// While a piece is being decoded, the next one of its run is decided and asked for.
    async fn look_ahead(&mut self, number: u32) -> Result<()> {
        let next = self.window.piece(number).and_then(|piece| piece.next);
        let decided = next
            .and_then(|next| self.window.piece(next))
            .is_some_and(Piece::is_decided);
        if !decided
            && self.window.piece(number).is_some()
            && !self.exhausted
            && self.window.bytes() < self.window_bytes / 2
        {
            self.step().await?;
        }
        if let Some(next) = next
            && self
                .window
                .piece(next)
                .is_some_and(|piece| piece.is_decided() && piece.columns.filter.is_none())
        {
            self.start_late(next)?;
        }
        self.fetches.poke().await;
        Ok(())
    }

    /// Takes rows of a pick until the batch is full or the pick is used up.
    async fn take(&mut self, pick: Stretch) -> Result<Option<RecordBatch>> {
        let end = pick.row + pick.length;
        let mut row = pick.row;
        while row < end {
            let room = u32::try_from(self.builder.room()).unwrap_or(u32::MAX);
            let Some(rows) = self.surviving(pick.piece, row..end)? else {
                self.consume(pick.piece, end - row, end);
                break;
            };
            let available = self.late_rows(pick.piece, rows.start).await?;
            let length = (rows.end - rows.start).min(available).min(room);
            self.add(pick.piece, rows.start, length)?;
            self.consume(pick.piece, rows.start + length - row, rows.start + length);
            row = rows.start + length;
            if self.is_full(length) {
                return self.builder.finish();
            }
        }
        Ok(None)
    }

    /// A batch is handed out when it is full, or when it is one slice of at least half a batch: it then costs no copy.
    fn is_full(&self, last: u32) -> bool {
        let (rows, last) = (self.builder.rows(), last as usize);
        rows == self.batch_size || (rows == last && last * 2 >= self.batch_size)
    }

    fn consume(&mut self, piece: u32, rows: u32, next_row: u32) {
        self.window.consume(rows);
        self.window.release(piece, next_row);
    }

    /// The first rows of a range that passed the filter.
    fn surviving(&mut self, number: u32, rows: Range<u32>) -> Result<Option<Range<u32>>> {
        let piece = self.window.piece_mut(number).ok_or_else(no_piece)?;
        let Some(survivors) = piece.values.survivors.as_mut() else {
            return Ok(Some(rows));
        };
        let found = survivors
            .next_from(rows.start)
            .filter(|found| found.start < rows.end);
        Ok(found.map(|found| found.start..found.end.min(rows.end)))
    }

    /// How many rows from `row` on the late columns are decoded for, decoding until there is one.
    async fn late_rows(&mut self, number: u32, row: u32) -> Result<u32> {
        loop {
            let piece = self.window.piece_mut(number).ok_or_else(no_piece)?;
            let Some(scan) = piece.file.late.as_ref() else {
                return Ok(u32::MAX);
            };
            let late = piece
                .values
                .late
                .as_mut()
                .ok_or_else(|| Error::internal("late columns were not asked for"))?;
            if let Some((_, _, following)) = late.find(row) {
                return Ok(following);
            }
            let rows = late.advance(scan, piece.first_row, &piece.file.name)?;
            self.metrics.add(Counter::RowsDecoded, u64::from(rows));
            self.fetches.poke().await;
            yield_now().await;
        }
    }

    /// Adds rows of a piece to the batch; their late columns are decoded and stand in one batch.
    fn add(&mut self, number: u32, row: u32, length: u32) -> Result<()> {
        let piece = self.window.piece_mut(number).ok_or_else(no_piece)?;
        self.builder.add_rows(&piece.columns, length)?;
        if !piece.columns.early.is_empty() {
            push_held(
                &mut self.builder,
                Set::Early,
                piece.early.iter_mut(),
                row,
                length,
            )?;
        }
        if piece
            .columns
            .filter
            .as_ref()
            .is_some_and(|filter| !filter.read.is_empty())
        {
            push_held(
                &mut self.builder,
                Set::Filtered,
                piece.values.filtered.iter_mut(),
                row,
                length,
            )?;
        }
        if let Some(late) = piece.values.late.as_mut() {
            let (decoded, index, _) = late
                .find(row)
                .ok_or_else(|| Error::internal("late columns are not decoded"))?;
            self.builder.push(Set::Late, decoded, index, length)?;
        }
        Ok(())
    }

    fn piece(&self, number: u32) -> Result<&Piece> {
        self.window.piece(number).ok_or_else(no_piece)
    }
}

fn no_piece() -> Error {
    Error::internal("a pick points to a piece that is gone")
}

/// Adds rows of columns that are held in memory, possibly over several batches.
fn push_held<'a>(
    builder: &mut BatchBuilder,
    set: Set,
    held: impl Iterator<Item = &'a mut Decoded>,
    mut row: u32,
    length: u32,
) -> Result<()> {
    let end = row + length;
    for decoded in held {
        while row < end
            && let Some((index, following)) = decoded.find(row)
        {
            let taken = following.min(end - row);
            builder.push(set, decoded, index, taken)?;
            row += taken;
        }
        if row == end {
            return Ok(());
        }
    }
    Err(Error::internal(format!(
        "row {row} of a piece was picked but is not held"
    )))
}

/// The rows to decode so that the wanted ones are among them.
fn selection(wanted: RowRanges, group_rows: u64) -> RowRanges {
    if wanted.row_count() * 100 >= group_rows * DENSE_PERCENT {
        return wanted.coarsened(SKIPPED_ROWS);
    }
    wanted
}
