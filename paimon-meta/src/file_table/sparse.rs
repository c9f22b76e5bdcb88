//! Columns of values that few files have.

use serde::{Deserialize, Serialize};

use super::column::{Column, Store};

/// Values of some rows only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Sparse<C> {
    /// The rows that have a value, ascending.
    rows: Vec<u32>,
    values: C,
}

impl<C: Column> Sparse<C> {
    pub(super) fn push(&mut self, row: u32, item: Option<C::Item<'_>>) {
        if let Some(item) = item {
            self.rows.push(row);
            self.values.push(item);
        }
    }

    pub(super) fn get(&self, row: usize) -> Option<C::Item<'_>> {
        self.values.item(self.place(u32::try_from(row).ok()?)?)
    }

    /// Where the value of a row is.
    fn place(&self, row: u32) -> Option<usize> {
        if self.rows.is_empty() {
            return None;
        }
        // Where all rows have a value, a row is its own place.
        if self.rows.get(row as usize) == Some(&row) {
            Some(row as usize)
        } else {
            self.rows.binary_search(&row).ok()
        }
    }

    /// The values of the rows of `order`, which are those of rows 0 and on then.
    pub(super) fn take(self, order: &[u32]) -> Self {
        if self.rows.is_empty() {
            return Self::default();
        }
        let place = |row: u32| u32::try_from(self.place(row)?).ok();
        let (rows, places): (_, Vec<u32>) = (0u32..)
            .zip(order)
            .filter_map(|(row, from)| Some((row, place(*from)?)))
            .unzip();
        Self {
            rows,
            values: self.values.take(&places),
        }
    }

    /// Puts the rows of another column behind the first `offset` ones, which are all of this one's.
    pub(super) fn append(&mut self, more: &Self, offset: u32) {
        self.rows.extend(more.rows.iter().map(|row| row + offset));
        self.values.append(&more.values);
    }
}

impl<C: Column> Store for Sparse<C> {
    fn shrink_to_fit(&mut self) {
        self.rows.shrink_to_fit();
        self.values.shrink_to_fit();
    }

    fn heap_bytes(&self) -> usize {
        self.rows.heap_bytes() + self.values.heap_bytes()
    }

    fn is_sound(&self, length: usize) -> bool {
        let ascending = self.rows.is_sorted_by(|a, b| a < b);
        let inside = self
            .rows
            .last()
            .is_none_or(|last| (*last as usize) < length);
        ascending && inside && self.values.is_sound(self.rows.len())
    }
}
