//! Values that could not be converted.

use arrow_buffer::BooleanBuffer;
use paimon_meta::{Error, Frame, Result};

/// Values of a batch that could not be converted, by row.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<(usize, Error)>);

impl Faults {
    /// How many there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds a fault.
    pub(crate) fn add(&mut self, row: usize, error: Error) {
        self.0.push((row, error));
    }

    /// The value of a row, or nothing with a fault.
    pub(crate) fn keep<T>(&mut self, row: usize, value: Result<T>) -> Option<T> {
        value.map_err(|error| self.add(row, error)).ok()
    }

    /// Says where the faults from number `first` on are.
    pub(crate) fn at(&mut self, first: usize, frame: impl Fn() -> Frame) {
        for (_, error) in self.0.iter_mut().skip(first) {
            *error = error.clone().at(frame());
        }
    }

    /// Moves the faults from number `first` on to other rows; those without a row are dropped.
    pub(crate) fn move_rows(&mut self, first: usize, row: impl Fn(usize) -> Option<usize>) {
        let moved = self.0.split_off(first.min(self.0.len()));
        let moved = moved
            .into_iter()
            .filter_map(|(old, error)| Some((row(old)?, error)));
        self.0.extend(moved);
    }

    /// The rows of a mask, and those with a fault.
    pub(crate) fn and_rows(&self, mask: BooleanBuffer) -> BooleanBuffer {
        if self.0.is_empty() {
            return mask;
        }
        let mut rows: Vec<bool> = mask.iter().collect();
        for (row, _) in &self.0 {
            if let Some(bit) = rows.get_mut(*row) {
                *bit = true;
            }
        }
        BooleanBuffer::from(rows)
    }

    /// Fails if a row among those that `concerns` has a fault.
    ///
    /// # Errors
    /// The first fault.
    pub(crate) fn check(&self, concerns: impl Fn(usize) -> bool) -> Result<()> {
        let mut faults = self.0.iter();
        match faults.find(|(row, _)| concerns(*row)) {
            Some((_, error)) => Err(error.clone()),
            None => Ok(()),
        }
    }
}
