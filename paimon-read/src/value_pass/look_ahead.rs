//! What is asked for before it is needed, so that requests fly while earlier rows are decoded.
//!
//! Pieces are opened in the order in which their first keys come, so the first ones that nothing was asked of are the
//! next to be needed, in a raw read and in a merge.

use paimon_meta::Result;

use super::ValuePass;
use crate::window::Piece;

impl ValuePass {
    /// The same for so many rows alone: what only later ones need is not asked for.
    pub(crate) fn limited(mut self, rows: u64) -> Self {
        self.window.limit(rows);
        self
    }

    /// While a piece is being decoded, those that follow are decided and asked for. One step a batch is enough as long as
    /// batches of the piece follow; before its last one another piece must be on its way.
    pub(super) async fn look_ahead(&mut self, number: u32) -> Result<()> {
        let piece = self.piece(number)?;
        let ends = piece.rows_left() as usize <= self.batch_size;
        if piece.reads_values() {
            self.request_ahead()?;
            let mut first = true;
            while (first || ends && self.ahead().0 == 0) && self.may_step_ahead() {
                self.step().await?;
                self.request_ahead()?;
                first = false;
            }
        }
        self.fetches.poke().await;
        Ok(())
    }

    fn may_step_ahead(&self) -> bool {
        let (ahead, most) = self.ahead();
        !self.exhausted && self.window.bytes() < self.window_bytes / 2 && ahead < most
    }

    /// How many pieces were asked for before they are needed, and how many may be: as many as are being decoded.
    fn ahead(&self) -> (usize, usize) {
        let count = |what: fn(&Piece) -> bool| {
            let pieces = self.window.pieces();
            pieces.filter(|(_, piece)| what(piece)).count()
        };
        let decoding = count(|piece| piece.values.prepared);
        (count(|piece| piece.values.is_ahead()), decoding.max(1))
    }

    /// Asks for what decided pieces are read of first, in the order in which they were opened.
    fn request_ahead(&mut self) -> Result<()> {
        let (ahead, most) = self.ahead();
        let pieces = self.window.pieces();
        let next = pieces.filter(|(_, piece)| piece.may_be_requested());
        let next = next.map(|(number, _)| number);
        let next: Vec<u32> = next.take(most.saturating_sub(ahead)).collect();
        for number in next {
            if self.piece(number)?.columns.filter.is_some() {
                self.start_filter(number)?;
            } else {
                self.start_late(number)?;
            }
        }
        Ok(())
    }
}
