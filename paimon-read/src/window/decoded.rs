//! Decoded columns that are held.

use std::collections::VecDeque;

use arrow_array::{Array, ArrayRef};

use crate::cast::Faults;
use crate::output::Registered;
use crate::positions::Positions;

/// Decoded columns of some rows of a piece.
#[derive(Debug)]
pub(crate) struct Decoded {
    /// Which rows.
    pub(crate) positions: Positions,
    /// The columns.
    pub(crate) arrays: Vec<ArrayRef>,
    /// Values of them that could not be cast: errors if their rows become part of the result.
    pub(crate) faults: Faults,
    /// Speeds up ascending look-ups in `positions`.
    pub(crate) hint: usize,
    /// Where the output batch being built knows these columns, see [`crate::output`].
    pub(crate) registered: Registered,
}

impl Decoded {
    pub(crate) fn new(positions: Positions, arrays: Vec<ArrayRef>) -> Self {
        Self {
            positions,
            arrays,
            faults: Faults::default(),
            hint: 0,
            registered: Registered::default(),
        }
    }

    /// With values that could not be cast.
    #[must_use]
    pub(crate) fn with_faults(mut self, faults: Faults) -> Self {
        self.faults = faults;
        self
    }

    /// Bytes of the columns.
    pub(crate) fn bytes(&self) -> usize {
        let arrays = self.arrays.iter();
        arrays.map(|array| array.get_buffer_memory_size()).sum()
    }

    /// As [`Positions::find`].
    #[inline]
    pub(crate) fn find(&mut self, row: u32) -> Option<(u32, u32)> {
        self.positions.find(row, &mut self.hint)
    }
}

/// Drops what holds only rows below `row`; returns its bytes.
pub(super) fn drop_below(held: &mut VecDeque<Decoded>, row: u32) -> usize {
    let mut freed = 0;
    while let Some(decoded) = held.front()
        && decoded.positions.end() <= row
    {
        freed += decoded.bytes();
        held.pop_front();
    }
    freed
}
