//! Where picking ends before the rows of a piece do.

use super::Window;

impl Window {
    /// Takes no more than so many rows.
    pub(crate) fn limit(&mut self, rows: u64) {
        self.most_rows = Some(rows);
    }

    /// Whether there are as many picks as are wanted; then nothing more is picked of any piece.
    pub(crate) fn is_full(&mut self) -> bool {
        if self.most_rows.is_none_or(|most| self.picked_rows < most) {
            return false;
        }
        // What was not looked at is not superseded.
        self.candidates = self.picked_rows;
        for number in (self.first_piece..).take(self.pieces.len()) {
            self.close(number, 0);
        }
        true
    }

    /// Says that no row of the piece from `row` on will be picked.
    pub(crate) fn close(&mut self, number: u32, row: u32) {
        let Some(piece) = self.piece_mut(number) else {
            return;
        };
        piece.end = piece.end.min(row);
        self.drop_if_lost(number);
    }
}
