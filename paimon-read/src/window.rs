//! What stands between deciding which rows make the result and decoding them.
//!
//! A *pick source* (files in order, or the key pass of a merge) opens pieces and picks rows of them, in the order of the
//! result; the value pass consumes the picks. A pick is final once it is here. A piece is *decided* once the source is
//! past its last row: only then is it known which of its rows are never needed.

mod decoded;
mod ends;
mod ordered;
mod taking;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use paimon_format::RowRanges;
use paimon_meta::{Error, Result, RowKind};

use crate::columns::{ColumnPlan, FilterPlan};
use crate::merge::{GroupMarks, KeyGroups, Stretch};
use crate::open::OpenFile;
use crate::piece_values::PieceValues;
use crate::positions::Positions;

pub(crate) use decoded::Decoded;

/// Picked rows with gaps of fewer rows between them are decoded together and the gaps left out by the gather: skipping
/// within a page pays from about here on (`cargo bench -p benches --bench format`).
pub(crate) const JOINED_ROWS: u32 = 128;

/// Opens pieces and picks rows, step by step.
pub(crate) trait PickSource: Send {
    /// Does a bounded amount of work (at most one batch is decoded). False when there is nothing more to pick.
    fn step<'a>(&'a mut self, window: &'a mut Window) -> BoxFuture<'a, Result<bool>>;
}

/// One opened row group of one run.
#[derive(Debug)]
pub(crate) struct Piece {
    /// Where its rows are.
    pub(crate) file: Arc<OpenFile>,
    /// Row group in the file.
    pub(crate) group: usize,
    /// File position of its first row.
    pub(crate) first_row: u64,
    /// Rows.
    pub(crate) row_count: u32,
    /// Bytes of its row group in the file.
    pub(crate) compressed_bytes: u64,
    /// Which columns come from where.
    pub(crate) columns: Arc<ColumnPlan>,
    /// Early columns (kept from the key pass), in ascending row order.
    pub(crate) early: VecDeque<Decoded>,
    /// Rows picked so far, ascending; ranges with gaps of fewer than `joined_rows` are joined.
    picked: Vec<Range<u32>>,
    joined_rows: u32,
    /// Rows below this one are decided.
    passed: u32,
    /// Rows from this one on are never picked.
    end: u32,
    /// What the value pass has of it.
    pub(crate) values: PieceValues,
}

impl Piece {
    /// Whether every row is decided.
    pub(crate) fn is_decided(&self) -> bool {
        self.passed >= self.end
    }

    /// Whether columns are read of it beside those of the key pass.
    pub(crate) fn reads_values(&self) -> bool {
        self.file.late.is_some() || self.file.filter.is_some()
    }

    /// Whether it is known what to read of it, and nothing was asked for.
    pub(crate) fn may_be_requested(&self) -> bool {
        let values = &self.values;
        self.is_decided() && self.reads_values() && !values.prepared && !values.is_ahead()
    }

    /// Rows from the first one that is not handed out to the last one that was picked.
    pub(crate) fn rows_left(&self) -> u32 {
        let end = self.picked.last().map_or(0, |range| range.end);
        end.saturating_sub(self.values.next_row)
    }

    /// File positions of the rows that are picked or may still be, with those in short gaps between them unless a filter
    /// wants winners alone.
    pub(crate) fn wanted(&self) -> RowRanges {
        let absolute = |range: Range<u32>| {
            self.first_row + u64::from(range.start)..self.first_row + u64::from(range.end)
        };
        let open = (self.passed < self.end).then_some(self.passed..self.end);
        self.picked
            .iter()
            .cloned()
            .chain(open)
            .map(absolute)
            .collect()
    }

    #[inline]
    fn pick(&mut self, row: u32, count: u32) {
        match self.picked.last_mut() {
            Some(last) if row - last.end < self.joined_rows => last.end = row + count,
            _ => self.picked.push(row..row + count),
        }
    }
}

/// Picks and the pieces they point into.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// Pieces from number `first_piece` on; dropped ones leave a hole until all before them are dropped too.
    pieces: VecDeque<Option<Piece>>,
    first_piece: u32,
    picks: VecDeque<Stretch>,
    /// Rows picked in all.
    picked_rows: u64,
    /// Rows whose keys were decoded to decide whether they are picked, and those that were picked for being there.
    candidates: u64,
    /// Most rows that are picked, where so many are enough.
    most_rows: Option<u64>,
    /// Which of them are versions of one key, where that matters.
    groups: GroupMarks,
    /// Early columns of picked rows in the order of the picks, where they come so.
    ordered: VecDeque<Decoded>,
    /// Rows of the first of them that were taken.
    ordered_taken: u32,
    /// Bytes of early columns that are held.
    key_bytes: usize,
}

impl Window {
    /// Takes in a piece that was opened; pieces are numbered in the order in which they are opened.
    pub(crate) fn open(
        &mut self,
        file: Arc<OpenFile>,
        group: usize,
        columns: Arc<ColumnPlan>,
    ) -> Result<u32> {
        let layout = file.group(group)?;
        let number = u32::try_from(self.pieces.len())
            .ok()
            .and_then(|open| self.first_piece.checked_add(open))
            .ok_or_else(|| Error::internal("more than 2^32 row groups in a section"))?;
        let exact = columns
            .filter
            .as_ref()
            .is_some_and(FilterPlan::wants_winners);
        let piece = Piece {
            group,
            first_row: layout.first_row,
            row_count: layout.row_count,
            compressed_bytes: layout.compressed_bytes,
            file,
            columns,
            early: VecDeque::new(),
            picked: Vec::new(),
            joined_rows: if exact { 1 } else { JOINED_ROWS },
            passed: 0,
            end: layout.row_count,
            values: PieceValues::default(),
        };
        self.pieces.push_back(Some(piece));
        Ok(number)
    }

    /// The pieces by number, in the order in which they were opened.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (u32, &Piece)> {
        let numbered = (self.first_piece..).zip(&self.pieces);
        numbered.filter_map(|(number, piece)| Some((number, piece.as_ref()?)))
    }

    /// The piece of that number, unless it was dropped.
    pub(crate) fn piece(&self, number: u32) -> Option<&Piece> {
        self.pieces.get(self.index(number)?)?.as_ref()
    }

    /// As [`Self::piece`].
    pub(crate) fn piece_mut(&mut self, number: u32) -> Option<&mut Piece> {
        let index = self.index(number)?;
        self.pieces.get_mut(index)?.as_mut()
    }

    #[inline]
    fn index(&self, number: u32) -> Option<usize> {
        usize::try_from(number.checked_sub(self.first_piece)?).ok()
    }

    /// Picks rows: they follow all rows picked before. Those that can be one pick are one.
    pub(crate) fn pick_all(&mut self, picks: &[Stretch]) {
        // The first one may go on where the last one ended; where rows are counted, any may be cut.
        let one_by_one = if self.most_rows.is_some() {
            picks.len()
        } else {
            1
        };
        let (first, picks) = picks.split_at(one_by_one.min(picks.len()));
        for pick in first {
            self.pick(pick.piece, pick.row, pick.length);
        }
        for pick in picks {
            self.picked_rows += u64::from(pick.length);
            if let Some(piece) = self.piece_mut(pick.piece) {
                piece.pick(pick.row, pick.length);
            }
        }
        self.picks.extend(picks);
    }

    /// As [`Self::pick_all`].
    #[inline]
    fn pick(&mut self, number: u32, row: u32, mut count: u32) {
        if let Some(most) = self.most_rows {
            let left = most.saturating_sub(self.picked_rows);
            count = count.min(u32::try_from(left).unwrap_or(u32::MAX));
        }
        if count == 0 {
            return;
        }
        self.picked_rows += u64::from(count);
        if let Some(piece) = self.piece_mut(number) {
            piece.pick(row, count);
        }
        if let Some(last) = self.picks.back_mut()
            && last.piece == number
            && last.row + last.length == row
        {
            last.length += count;
            return;
        }
        self.picks.push_back(Stretch {
            piece: number,
            row,
            length: count,
        });
    }

    /// Says that the `length` rows before the `end`th are versions of one key, oldest first; kinds where they are known.
    ///
    /// # Errors
    /// Those of the kinds.
    #[inline]
    pub(crate) fn group(
        &mut self,
        end: u64,
        length: usize,
        kinds: impl Iterator<Item = Result<RowKind>>,
    ) -> Result<()> {
        self.groups.push(end, length, kinds)
    }

    /// Rows picked so far.
    pub(crate) fn picked_rows(&self) -> u64 {
        self.picked_rows
    }

    /// How many rows from the `row`th pick on are versions of the same key as the one before it.
    pub(crate) fn rest_of_group(&self, row: u64) -> u32 {
        self.groups.rest(row)
    }

    /// The groups of picked rows `from..from + rows`, which do not end inside of one.
    pub(crate) fn take_groups(&mut self, from: u64, rows: u32) -> KeyGroups {
        self.groups.take(from, rows)
    }

    /// Picks rows by their file positions.
    ///
    /// # Errors
    /// `Internal` if one is not in the piece.
    pub(crate) fn pick_rows(&mut self, number: u32, rows: &RowRanges) -> Result<()> {
        let Some(piece) = self.piece(number) else {
            return Ok(());
        };
        let positions = Positions::new(rows, piece.first_row)?;
        self.candidates += u64::from(positions.len());
        positions.rows(0, positions.len(), |row, count| {
            self.pick(number, row, count);
        });
        Ok(())
    }

    /// Counts rows that may be picked.
    pub(crate) fn may_pick(&mut self, rows: u32) {
        self.candidates += u64::from(rows);
    }

    /// Rows that were not picked since the last call, once everything was decided.
    pub(crate) fn take_superseded(&mut self) -> u64 {
        let superseded = self.candidates.saturating_sub(self.picked_rows);
        self.candidates = self.picked_rows;
        superseded
    }

    /// Says that no row of the piece below `row` will be picked any more.
    pub(crate) fn pass(&mut self, number: u32, row: u32) {
        let Some(piece) = self.piece_mut(number) else {
            return;
        };
        piece.passed = piece.passed.max(row);
        self.drop_if_lost(number);
    }

    fn drop_if_lost(&mut self, number: u32) {
        // A piece whose rows all lost is never decoded.
        let lost = |piece: &Piece| piece.is_decided() && piece.picked.is_empty();
        if self.piece(number).is_some_and(lost) {
            self.remove(number);
        }
    }

    /// Keeps columns of a piece that are already decoded.
    pub(crate) fn keep_early(&mut self, number: u32, decoded: Decoded) {
        let bytes = decoded.bytes();
        if let Some(piece) = self.piece_mut(number) {
            piece.early.push_back(decoded);
            self.key_bytes += bytes;
        }
    }

    /// Frees early columns of the piece below `row`, and the piece itself when nothing of it is left.
    pub(crate) fn release(&mut self, number: u32, row: u32) {
        let Some(piece) = self.piece_mut(number) else {
            return;
        };
        let freed = decoded::drop_below(&mut piece.early, row);
        decoded::drop_below(&mut piece.values.filtered, row);
        let last = piece.picked.last().map_or(0, |range| range.end);
        let done = piece.is_decided() && row >= last;
        self.key_bytes = self.key_bytes.saturating_sub(freed);
        if done {
            self.remove(number);
        }
    }

    fn remove(&mut self, number: u32) {
        let Some(slot) = self
            .index(number)
            .and_then(|index| self.pieces.get_mut(index))
        else {
            return;
        };
        if let Some(piece) = slot.take() {
            let bytes: usize = piece.early.iter().map(Decoded::bytes).sum();
            self.key_bytes = self.key_bytes.saturating_sub(bytes);
        }
        while self.pieces.front().is_some_and(Option::is_none) {
            self.pieces.pop_front();
            self.first_piece += 1;
        }
    }

    /// Bytes that the window holds: early columns and picks.
    pub(crate) fn bytes(&self) -> usize {
        // A pick is counted twice: here and in its piece.
        self.key_bytes
            + self.groups.bytes()
            + self.picks.len() * (size_of::<Stretch>() + size_of::<Range<u32>>())
    }
}
