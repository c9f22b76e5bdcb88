//! The pieces of a value pass by number, and the time that is spent on them.

use paimon_io::Counter;
use paimon_meta::{Error, Result};

use super::ValuePass;
use crate::window::Piece;

impl ValuePass {
    pub(super) fn piece(&self, number: u32) -> Result<&Piece> {
        self.window.piece(number).ok_or_else(no_piece)
    }

    pub(super) fn piece_mut(&mut self, number: u32) -> Result<&mut Piece> {
        self.window.piece_mut(number).ok_or_else(no_piece)
    }

    /// Counts the time since `start`.
    pub(super) fn spent(&self, on: Counter, start: u64) {
        let nanos = self.resources.now_nanos().saturating_sub(start);
        self.resources.metrics().add(on, nanos);
    }
}

pub(super) fn no_piece() -> Error {
    Error::internal("a pick points to a piece that is gone")
}
