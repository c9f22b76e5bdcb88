//! What is asked for before it is needed, so that requests fly while earlier rows are decoded.
//!
//! Pieces are opened in the order in which their first keys come, so the first ones that nothing was asked of are the
//! next to be needed, in a raw read and in a merge.

use paimon_meta::Result;

use super::ValuePass;
use crate::window::Piece;

/// What was asked for before it is needed.
struct Ahead {
    pieces: usize,
    /// Bytes of their row groups.
    bytes: u64,
    /// How many there may be: as many as are being decoded.
    most: usize,
}

impl Ahead {
    /// Whether one more may be asked for, which it then is. One always may; more only where their row groups are small: each
    /// run of a merge has one.
    fn takes(&mut self, piece: &Piece, most_bytes: u64) -> bool {
        let bytes = self.bytes + piece.compressed_bytes;
        if self.pieces >= self.most || self.pieces > 0 && bytes > most_bytes {
            return false;
        }
        self.pieces += 1;
        self.bytes = bytes;
        true
    }
}

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
            while (first || ends && self.ahead().pieces == 0) && self.may_step_ahead() {
                self.step().await?;
                self.request_ahead()?;
                first = false;
            }
        }
        self.fetches.poke().await;
        Ok(())
    }

    fn may_step_ahead(&self) -> bool {
        let ahead = self.ahead();
        !self.exhausted
            && self.window.bytes() < self.window_bytes / 2
            && ahead.pieces < ahead.most
            && (ahead.pieces == 0 || ahead.bytes < self.window_bytes as u64)
    }

    fn ahead(&self) -> Ahead {
        let pieces = || self.window.pieces().map(|(_, piece)| piece);
        let ahead = || pieces().filter(|piece| piece.values.is_ahead());
        Ahead {
            pieces: ahead().count(),
            bytes: ahead().map(|piece| piece.compressed_bytes).sum(),
            most: pieces()
                .filter(|piece| piece.values.prepared)
                .count()
                .max(1),
        }
    }

    /// Asks for what decided pieces are read of first, in the order in which they were opened.
    fn request_ahead(&mut self) -> Result<()> {
        let mut ahead = self.ahead();
        let pieces = self.window.pieces();
        let next = pieces.filter(|(_, piece)| piece.may_be_requested());
        let room = next.take_while(|(_, piece)| ahead.takes(piece, self.window_bytes as u64));
        let next: Vec<u32> = room.map(|(number, _)| number).collect();
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
