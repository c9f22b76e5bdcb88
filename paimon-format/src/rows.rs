//! Sets of row positions of a file.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A set of row positions of one file (0-based, physical), as ranges that are sorted, not empty and do not touch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RowRanges(Vec<Range<u64>>);

impl RowRanges {
    /// No row.
    pub fn none() -> Self {
        Self::default()
    }

    /// The rows of one range; none if it is empty.
    pub fn from_range(range: Range<u64>) -> Self {
        if range.is_empty() { Self::none() } else { Self(vec![range]) }
    }

    /// The ranges, sorted, not empty, not touching.
    pub fn ranges(&self) -> &[Range<u64>] {
        &self.0
    }

    /// Number of rows.
    pub fn row_count(&self) -> u64 {
        self.0.iter().map(|range| range.end - range.start).sum()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a range at the end; merges it with the last one if they touch.
    ///
    /// A range that starts before the last one ends is clipped to what is new.
    pub fn push(&mut self, range: Range<u64>) {
        let start = self.0.last().map_or(range.start, |last| range.start.max(last.end));
        if start >= range.end {
            return;
        }
        match self.0.last_mut() {
            Some(last) if last.end == start => last.end = range.end,
            _ => self.0.push(start..range.end),
        }
    }
}

impl FromIterator<Range<u64>> for RowRanges {
    /// From ranges in ascending order.
    fn from_iter<I: IntoIterator<Item = Range<u64>>>(ranges: I) -> Self {
        let mut rows = Self::none();
        for range in ranges {
            rows.push(range);
        }
        rows
    }
}
