//! Filling a batch with picked rows, for as long as nothing must be waited for or decoded.

use paimon_meta::Result;

use super::ValuePass;
use super::add::{add, surviving};
use super::pieces::no_piece;
use super::trace::Trace;
use crate::merge::Stretch;
use crate::ungathered::Set;
use crate::window::Piece;

/// What is known of the batch being filled.
#[derive(Debug)]
pub(super) struct Filling {
    /// Its number.
    pub(super) batch: u64,
    /// Pieces with rows in it.
    pub(super) touched: Vec<u32>,
    /// Rows added whose early columns come in the order of the picks and are not added yet.
    ordered_rows: u32,
    /// Where its rows come from, where they are versions.
    pub(super) trace: Option<Trace>,
}

impl Default for Filling {
    fn default() -> Self {
        Self {
            batch: 1,
            touched: Vec::new(),
            ordered_rows: 0,
            trace: None,
        }
    }
}

impl Filling {
    /// Takes note of rows of a piece that were added.
    #[inline]
    fn note(&mut self, number: u32, piece: &mut Piece, row: u32, length: u32) {
        if piece.values.batch != self.batch {
            piece.values.batch = self.batch;
            self.touched.push(number);
            if let Some(trace) = &mut self.trace {
                trace.know(number, &piece.file);
            }
        }
        piece.values.next_row = row + length;
        if let Some(trace) = &mut self.trace {
            trace.add(number, length);
        }
        if piece.columns.ordered {
            self.ordered_rows += length;
        }
    }
}

/// Why filling a batch stopped.
pub(super) enum Need {
    /// The pick source must be stepped.
    Picks,
    /// The piece of the next pick must be prepared.
    Prepare(u32),
    /// Late columns of the piece must be decoded.
    Decode(u32),
    /// The batch is full; its last rows are of that piece.
    Batch(u32),
}

impl ValuePass {
    /// Adds picked rows to the batch.
    pub(super) fn fill(&mut self) -> Result<Need> {
        let mut filtered = false;
        loop {
            if !filtered {
                self.fill_ready()?;
            }
            let Some(pick) = self.window.front() else {
                return Ok(Need::Picks);
            };
            let end = pick.row + pick.length;
            let room = self.room();
            let piece = self.window.piece_mut(pick.piece).ok_or_else(no_piece)?;
            if !piece.values.prepared {
                return Ok(Need::Prepare(pick.piece));
            }
            filtered = piece.values.survivors.is_some();
            let Some(rows) = surviving(piece, pick.row..end) else {
                if piece.columns.ordered {
                    self.skip_ordered(pick.length)?;
                }
                self.window.consume(pick.length);
                self.window.release(pick.piece, end);
                continue;
            };
            if self.filling.ordered_rows > 0 && !self.builder.has_columns(&piece.columns) {
                self.take_ordered()?;
                continue;
            }
            if self.filling.trace.is_some()
                && let Some(last) = self.filling.touched.last()
                && !self.builder.has_columns(&piece.columns)
            {
                // Versions are handed out under one plan.
                return Ok(Need::Batch(*last));
            }
            let skipped = rows.start - pick.row;
            if skipped > 0 && piece.columns.ordered {
                self.skip_ordered(skipped)?;
                self.window.consume(skipped);
                continue;
            }
            let most = room.min(rows.end - rows.start);
            let Some(length) = add(&mut self.builder, piece, rows.start, most)? else {
                return Ok(Need::Decode(pick.piece));
            };
            self.filling.note(pick.piece, piece, rows.start, length);
            self.window.consume(skipped + length);
            if self.is_full(length) {
                return Ok(Need::Batch(pick.piece));
            }
        }
    }

    /// Adds picks that need no decision, which most do where runs interleave: their rows are decoded and have the columns of
    /// those before them, all of them passed, and more follow in the batch.
    fn fill_ready(&mut self) -> Result<()> {
        let Self {
            window,
            builder,
            filling,
            batch_size,
            ..
        } = self;
        window.take_picks(|piece, pick: Stretch| {
            let (rows, length) = (builder.rows(), pick.length as usize);
            let ready = rows + length < *batch_size
                && length * 2 < *batch_size
                && piece.values.prepared
                && piece.values.survivors.is_none()
                && builder.has_columns(&piece.columns);
            if !ready {
                return Ok(0);
            }
            let Some(length) = add(builder, piece, pick.row, pick.length)? else {
                return Ok(0);
            };
            filling.note(pick.piece, piece, pick.row, length);
            Ok(length)
        })
    }

    /// A batch is handed out when it is full, or when it is one slice of at least half a batch: it then costs no copy.
    fn is_full(&self, last: u32) -> bool {
        let (rows, last) = (self.builder.rows(), last as usize);
        (rows >= self.batch_size || (rows == last && last * 2 >= self.batch_size))
            && self.rest_of_group() == 0
    }

    /// How many rows the batch can still take, at least 1: a group of versions is never cut.
    fn room(&self) -> u32 {
        match self.batch_size.saturating_sub(self.builder.rows()) {
            0 => self.rest_of_group().max(1),
            room => u32::try_from(room).unwrap_or(u32::MAX),
        }
    }

    /// How many rows after those added are versions of the same key as the last of them.
    fn rest_of_group(&self) -> u32 {
        let added = self.delivered + self.builder.rows() as u64;
        self.window.rest_of_group(added)
    }

    /// Adds the early columns of the rows that were added since the last call, where they come in the order of picks.
    pub(super) fn take_ordered(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.filling.ordered_rows);
        let builder = &mut self.builder;
        self.window.take_ordered(rows, |decoded, start, length| {
            builder.push(Set::Early, decoded, start, length)
        })
    }

    /// Leaves the early columns of picked rows out that did not pass the filter.
    fn skip_ordered(&mut self, rows: u32) -> Result<()> {
        self.take_ordered()?;
        self.window.take_ordered(rows, |_, _, _| Ok(()))
    }
}
