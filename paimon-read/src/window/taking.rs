//! Taking picks off the front.

use paimon_meta::Result;

use super::{Piece, Window};
use crate::merge::Stretch;

impl Window {
    /// The next pick, if there is one.
    pub(crate) fn front(&self) -> Option<Stretch> {
        self.picks.front().copied()
    }

    /// Hands over the next picks, each with its piece, for as long as all of their rows are taken; `take` says how many
    /// it took.
    ///
    /// # Errors
    /// Those of `take`.
    pub(crate) fn take_picks(
        &mut self,
        mut take: impl FnMut(&mut Piece, Stretch) -> Result<u32>,
    ) -> Result<()> {
        let mut gone = 0;
        for pick in &mut self.picks {
            let index = pick.piece.checked_sub(self.first_piece);
            let piece = index.and_then(|index| self.pieces.get_mut(index as usize)?.as_mut());
            let Some(piece) = piece else { break };
            let taken = take(piece, *pick)?;
            if taken < pick.length {
                pick.row += taken;
                pick.length -= taken;
                break;
            }
            gone += 1;
        }
        self.picks.drain(..gone);
        Ok(())
    }

    /// Takes rows off the front of the next pick.
    #[inline]
    pub(crate) fn consume(&mut self, rows: u32) {
        let Some(front) = self.picks.front_mut() else {
            return;
        };
        if rows < front.length {
            front.row += rows;
            front.length -= rows;
            return;
        }
        self.picks.pop_front();
    }
}
