//! Early columns that come in the order of the picks, not by piece.

use arrow_array::{Array, ArrayRef};
use paimon_meta::{Error, Result};

use super::{Decoded, Window};
use crate::positions::Positions;

impl Window {
    /// Keeps the early column of the rows that were picked since the last call, in the order of the picks.
    ///
    /// # Errors
    /// `Internal` for 2^32 rows.
    pub(crate) fn keep_ordered(&mut self, column: ArrayRef) -> Result<()> {
        let length = u32::try_from(column.len())
            .map_err(|_| Error::internal("2^32 rows picked in a step"))?;
        if length > 0 {
            let decoded = Decoded::new(Positions::From { first: 0, length }, vec![column]);
            self.key_bytes += decoded.bytes();
            self.ordered.push_back(decoded);
        }
        Ok(())
    }

    /// Hands over the early columns of the next `rows` picked rows, in pieces of (columns, first row, rows).
    ///
    /// # Errors
    /// Those of `each`, and `Internal` if fewer rows are kept.
    pub(crate) fn take_ordered(
        &mut self,
        mut rows: u32,
        mut each: impl FnMut(&mut Decoded, u32, u32) -> Result<()>,
    ) -> Result<()> {
        while rows > 0 {
            let front = self.ordered.front_mut();
            let front = front.ok_or_else(|| Error::internal("picked rows without their keys"))?;
            let taken = rows.min(front.positions.len() - self.ordered_taken);
            each(front, self.ordered_taken, taken)?;
            rows -= taken;
            self.ordered_taken += taken;
            if self.ordered_taken == front.positions.len() {
                self.key_bytes = self.key_bytes.saturating_sub(front.bytes());
                self.ordered.pop_front();
                self.ordered_taken = 0;
            }
        }
        Ok(())
    }
}
