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
//! dictionaries and pages again. Beyond the budget the undecided rest of the piece is decoded whole, unless a row filter
//! wants winners alone.

mod add;
mod fill;
mod look_ahead;
mod pieces;
mod trace;

use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, TryFutureExt};
use paimon_format::{GroupBatches, RowRanges};
use paimon_io::{Counter, Reservation, Resources};
use paimon_meta::{Error, Frame, Result, ResultExt};

use crate::columns::{FilterPlan, Shape};
use crate::fetches::{Fetches, Ticket, yield_now};
use crate::filter_pass::filter_piece;
use crate::merge::KeyGroups;
use crate::output::BatchBuilder;
use crate::piece_values::LateCursor;
use crate::ungathered::Ungathered;
use crate::window::{JOINED_ROWS, PickSource, Window};

use fill::{Filling, Need};
use pieces::no_piece;
use trace::Trace;

/// Share of a row group, in percent, below which rows are selected one by one even where gaps are short.
const SPARSE_PERCENT: u64 = 3;

/// Turns the picks of a source into batches.
pub(crate) struct ValuePass {
    source: Box<dyn PickSource>,
    window: Window,
    builder: BatchBuilder,
    fetches: Fetches<Fetched>,
    resources: Resources,
    reservation: Reservation,
    window_bytes: usize,
    batch_size: usize,
    /// Rows handed out.
    delivered: u64,
    /// The source has nothing more to pick.
    exhausted: bool,
    /// The batch being filled.
    filling: Filling,
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
            resources: resources.clone(),
            reservation: resources.try_reserve(0)?,
            window_bytes,
            batch_size: shape.batch_size,
            delivered: 0,
            exhausted: false,
            filling: Filling::default(),
        })
    }

    /// The next batch; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<RecordBatch>> {
        self.fill_batch().await?;
        let batch = self.builder.finish()?;
        self.hand_out(batch.as_ref().map_or(0, RecordBatch::num_rows) as u64);
        Ok(batch)
    }

    /// The next versions, with their groups; `None` at the end. Only where they are traced.
    pub(crate) async fn next_versions(&mut self) -> Result<Option<(Ungathered, KeyGroups)>> {
        if let Some(trace) = &mut self.filling.trace {
            trace.clear();
        }
        self.fill_batch().await?;
        let Some(versions) = self.builder.take_ungathered()? else {
            return Ok(None);
        };
        let (from, rows) = (self.delivered, versions.rows());
        self.hand_out(u64::from(rows));
        Ok(Some((versions, self.window.take_groups(from, rows))))
    }

    /// Adds rows until the batch is full or there are no more.
    async fn fill_batch(&mut self) -> Result<()> {
        loop {
            let start = self.resources.now_nanos();
            let need = self.fill()?;
            self.spent(Counter::OutputNanos, start);
            match need {
                Need::Batch(piece) => {
                    self.look_ahead(piece).await?;
                    break;
                }
                Need::Picks if self.exhausted => break,
                Need::Picks => self.step().await?,
                Need::Prepare(piece) => self.prepare(piece).await?,
                Need::Decode(piece) => self.decode(piece).await?,
            }
        }
        self.take_ordered()
    }

    /// One step of the pick source; then the executor has a turn.
    async fn step(&mut self) -> Result<()> {
        let start = self.resources.now_nanos();
        self.exhausted = !self.source.step(&mut self.window).await? || self.window.is_full();
        self.spent(Counter::PickNanos, start);
        if self.exhausted {
            let superseded = self.window.take_superseded();
            self.resources
                .metrics()
                .add(Counter::RowsSuperseded, superseded);
        }
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
        let filter = self.piece(number)?.columns.filter.as_ref();
        let wants_winners = filter.is_some_and(FilterPlan::wants_winners);
        while !self.exhausted
            && !self.piece(number)?.is_decided()
            && (wants_winners || self.window.bytes() < self.window_bytes)
        {
            self.step().await?;
        }
        if self.piece(number)?.columns.filter.is_some() {
            self.start_filter(number)?;
            let ticket = self.piece_mut(number)?.values.filtering.take();
            let batches = self.batches(number, ticket).await?;
            let start = self.resources.now_nanos();
            let piece = self.window.piece_mut(number).ok_or_else(no_piece)?;
            filter_piece(piece, batches, self.batch_size, self.resources.metrics()).await?;
            self.spent(Counter::FilterNanos, start);
        }
        self.start_late(number)?;
        let piece = self.piece_mut(number)?;
        piece.values.prepared = true;
        let ticket = piece.values.fetching.take();
        let batches = self.batches(number, ticket).await?;
        self.piece_mut(number)?.values.late = batches.map(LateCursor::new);
        Ok(())
    }

    /// Waits for columns of a piece that were asked for.
    async fn batches(
        &mut self,
        number: u32,
        ticket: Option<Ticket>,
    ) -> Result<Option<GroupBatches>> {
        let Some(ticket) = ticket else {
            return Ok(None);
        };
        let name = self.piece(number)?.file.name.clone();
        let start = self.resources.now_nanos();
        let fetched = self.fetches.wait(&ticket).await;
        self.spent(Counter::WaitNanos, start);
        match fetched.at(|| Frame::File(name))? {
            Fetched::Group(batches) => Ok(Some(batches)),
            Fetched::Window => Err(Error::internal("a window came in place of a row group")),
        }
    }

    /// Asks for the filter columns of a piece, if it has some and that was not done before.
    fn start_filter(&mut self, number: u32) -> Result<()> {
        let piece = self.window.piece_mut(number).ok_or_else(no_piece)?;
        let Some(scan) = piece.file.filter.as_ref() else {
            return Ok(());
        };
        let wanted = piece.wanted().intersect(&piece.file.may_match);
        if piece.values.filtering.is_some() || wanted.is_empty() {
            return Ok(());
        }
        self.resources.metrics().add(Counter::RowGroupsFetched, 1);
        let rows = wanted.coarsened(u64::from(JOINED_ROWS));
        let fetch = piece.file.data.fetch(piece.group, &rows, &scan.spec);
        piece.values.filtering = Some(self.fetches.start(of_group(fetch)));
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
            Some(survivors) => {
                let rows = survivors.positions(piece.first_row);
                let sparse = rows.row_count() * 100 < u64::from(piece.row_count) * SPARSE_PERCENT;
                if sparse {
                    rows
                } else {
                    rows.coarsened(u64::from(JOINED_ROWS))
                }
            }
            None => piece.wanted(),
        };
        if wanted.is_empty() {
            return Ok(());
        }
        let group = piece.first_row..piece.first_row + u64::from(piece.row_count);
        let rows = selection(wanted, group);
        self.resources.metrics().add(Counter::RowGroupsFetched, 1);
        let fetch = piece.file.data.fetch(piece.group, &rows, &scan.spec);
        piece.values.fetching = Some(self.fetches.start(of_group(fetch)));
        Ok(())
    }

    /// Asks for the next window of late columns of a piece, if there is one; waits until the next batch can be decoded.
    async fn bring(&mut self, number: u32) -> Result<()> {
        loop {
            let piece = self.window.piece_mut(number).ok_or_else(no_piece)?;
            let Some(late) = piece.values.late.as_mut() else {
                return Ok(());
            };
            let name = &piece.file.name;
            if let Some(brought) = late
                .window
                .as_ref()
                .and_then(|window| self.fetches.take_done(window))
            {
                late.window = None;
                brought.at(|| Frame::File(name.clone()))?;
            }
            if late.window.is_none() {
                let more = late.more();
                late.window = more.map(|more| self.fetches.start(of_window(more)));
            }
            let is_ready = late.is_ready();
            let Some(window) = late.window.as_ref().filter(|_| !is_ready) else {
                return Ok(());
            };
            let start = self.resources.now_nanos();
            let brought = self.fetches.wait(window).await;
            late.window = None;
            brought.at(|| Frame::File(name.clone()))?;
            self.spent(Counter::WaitNanos, start);
        }
    }

    /// Decodes the next batch of late columns of a piece; then the executor has a turn.
    async fn decode(&mut self, number: u32) -> Result<()> {
        self.bring(number).await?;
        let start = self.resources.now_nanos();
        let piece = self.window.piece_mut(number).ok_or_else(no_piece)?;
        if let (Some(scan), Some(late)) = (piece.file.late.as_ref(), piece.values.late.as_mut()) {
            let rows = late.advance(scan, piece.first_row, &piece.file.name)?;
            self.resources
                .metrics()
                .add(Counter::RowsDecoded, u64::from(rows));
        }
        self.spent(Counter::ValueNanos, start);
        self.fetches.poke().await;
        yield_now().await;
        Ok(())
    }

    /// Takes note of rows that are handed out; frees what only they needed.
    fn hand_out(&mut self, rows: u64) {
        self.delivered += rows;
        self.filling.batch += 1;
        for number in self.filling.touched.drain(..) {
            if let Some(piece) = self.window.piece(number) {
                let next_row = piece.values.next_row;
                self.window.release(number, next_row);
            }
        }
    }

    /// The same for rows that are versions, remembering where they come from.
    pub(crate) fn traced(mut self) -> Self {
        self.filling.trace = Some(Trace::default());
        self
    }

    /// Name of the file of a row of the last batch, if that is remembered.
    pub(crate) fn file_of(&self, row: usize) -> Option<&str> {
        self.filling.trace.as_ref()?.file_of(row)
    }
}

/// What came of a fetch.
enum Fetched {
    Group(GroupBatches),
    /// More bytes of a group.
    Window,
}

fn of_group(
    fetch: BoxFuture<'static, Result<GroupBatches>>,
) -> BoxFuture<'static, Result<Fetched>> {
    fetch.map_ok(Fetched::Group).boxed()
}

fn of_window(more: BoxFuture<'static, Result<()>>) -> BoxFuture<'static, Result<Fetched>> {
    more.map_ok(|()| Fetched::Window).boxed()
}

/// A group that is read but for a few rows is read whole: that needs no selection at all.
fn selection(wanted: RowRanges, group: Range<u64>) -> RowRanges {
    let left_out = (group.end - group.start) - wanted.row_count();
    match wanted.ranges() {
        [_] if left_out < u64::from(JOINED_ROWS) => RowRanges::from_range(group),
        _ => wanted,
    }
}
