//! Sets of row positions of a file.

use std::iter::Peekable;
use std::ops::Range;

use arrow_buffer::BooleanBuffer;
use serde::{Deserialize, Serialize};

/// A set of row positions of one file (0-based, physical), as ranges that are sorted, not empty and do not touch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Vec<Range<u64>>")]
pub struct RowRanges(Vec<Range<u64>>);

impl RowRanges {
    /// No row.
    pub fn none() -> Self {
        Self::default()
    }

    /// The rows of one range; none if it is empty.
    pub fn from_range(range: Range<u64>) -> Self {
        if range.is_empty() {
            Self::none()
        } else {
            Self(vec![range])
        }
    }

    /// The rows at `positions`, which ascend; a position that does not is left out.
    pub fn from_positions(positions: impl IntoIterator<Item = u64>) -> Self {
        positions
            .into_iter()
            .map(|position| position..position.saturating_add(1))
            .collect()
    }

    /// The rows whose bit is set, the first bit being row `first_row`.
    pub fn from_bits(bits: &BooleanBuffer, first_row: u64) -> Self {
        bits.set_slices()
            .map(|(start, end)| first_row + start as u64..first_row + end as u64)
            .collect()
    }

    /// The ranges, sorted, not empty, not touching.
    pub fn ranges(&self) -> &[Range<u64>] {
        &self.0
    }

    /// The rows, ascending.
    pub fn positions(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().cloned().flatten()
    }

    /// Number of rows.
    pub fn row_count(&self) -> u64 {
        self.0.iter().map(|range| range.end - range.start).sum()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// From the first row to behind the last one; `0..0` if there is none.
    pub fn span(&self) -> Range<u64> {
        match (self.0.first(), self.0.last()) {
            (Some(first), Some(last)) => first.start..last.end,
            _ => 0..0,
        }
    }

    /// Whether the row is in the set. Logarithmic in the number of ranges.
    pub fn contains(&self, row: u64) -> bool {
        let after = self.0.partition_point(|range| range.end <= row);
        self.0.get(after).is_some_and(|range| range.start <= row)
    }

    /// Whether some row lies inside `window`.
    pub fn intersects(&self, window: Range<u64>) -> bool {
        let first = self.0.partition_point(|range| range.end <= window.start);
        self.0
            .get(first)
            .is_some_and(|range| range.start < window.end && window.start < window.end)
    }

    /// Adds a range at the end; merges it with the last one if they touch.
    ///
    /// A range that starts before the last one ends is clipped to what is new.
    pub fn push(&mut self, range: Range<u64>) {
        let start = self
            .0
            .last()
            .map_or(range.start, |last| range.start.max(last.end));
        if start >= range.end {
            return;
        }
        match self.0.last_mut() {
            Some(last) if last.end == start => last.end = range.end,
            _ => self.0.push(start..range.end),
        }
    }

    /// The rows inside `window`. Logarithmic in the number of ranges, linear in what it returns.
    #[must_use]
    pub fn clip(&self, window: Range<u64>) -> Self {
        let first = self.0.partition_point(|range| range.end <= window.start);
        let inside = self
            .0
            .iter()
            .skip(first)
            .take_while(|range| range.start < window.end);
        inside
            .map(|range| range.start.max(window.start)..range.end.min(window.end))
            .collect()
    }

    /// The rows of both sets.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        let mut rows = Self::none();
        let (mut left, mut right) = (self.0.iter().peekable(), other.0.iter().peekable());
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            rows.push(a.start.max(b.start)..a.end.min(b.end));
            if a.end < b.end {
                left.next();
            } else {
                right.next();
            }
        }
        rows
    }

    /// The rows of either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut rows = Self::none();
        let (mut left, mut right) = (self.0.iter().peekable(), other.0.iter().peekable());
        while let Some(range) = next_by_start(&mut left, &mut right) {
            rows.push(range);
        }
        rows
    }

    /// The rows of this set that are not in `other`.
    #[must_use]
    pub fn subtract(&self, other: &Self) -> Self {
        self.subtract_ranges(other.0.iter().cloned())
    }

    /// The rows of this set that are not among `positions`, which ascend.
    #[must_use]
    pub fn subtract_positions(&self, positions: impl IntoIterator<Item = u64>) -> Self {
        let positions = positions.into_iter();
        self.subtract_ranges(positions.map(|position| position..position.saturating_add(1)))
    }

    /// The rows of this set outside `holes`, which ascend and may touch (the form of a deletion vector).
    #[must_use]
    pub fn subtract_ranges(&self, holes: impl IntoIterator<Item = Range<u64>>) -> Self {
        let mut rows = Self::none();
        let mut holes = holes.into_iter().peekable();
        for range in &self.0 {
            let mut start = range.start;
            while let Some(hole) = holes.peek().filter(|hole| hole.start < range.end) {
                rows.push(start..hole.start);
                start = start.max(hole.end);
                if hole.end > range.end {
                    break;
                }
                holes.next();
            }
            rows.push(start..range.end);
        }
        rows
    }

    /// The rows with `offset` added to each (`first_row` of a row group, say); rows that would leave the range of
    /// positions are left out.
    #[must_use]
    pub fn shifted_up(&self, offset: u64) -> Self {
        self.0
            .iter()
            .map(|range| range.start.saturating_add(offset)..range.end.saturating_add(offset))
            .collect()
    }

    /// The rows with `offset` taken from each; rows below `offset` are left out.
    #[must_use]
    pub fn shifted_down(&self, offset: u64) -> Self {
        self.0
            .iter()
            .map(|range| range.start.saturating_sub(offset)..range.end.saturating_sub(offset))
            .collect()
    }

    /// A set with fewer ranges that holds all these rows: ranges less than `gap` rows apart are joined.
    ///
    /// Skipping rows costs; where a gap is cheaper to read than to skip, read it and drop its rows later.
    #[must_use]
    pub fn coarsened(&self, gap: u64) -> Self {
        let mut rows = Self::none();
        for range in &self.0 {
            match rows.0.last_mut() {
                Some(last) if range.start - last.end < gap => last.end = range.end,
                _ => rows.0.push(range.clone()),
            }
        }
        rows
    }
}

/// The range that starts first among the heads of two ascending sequences.
fn next_by_start<'a, I: Iterator<Item = &'a Range<u64>>>(
    left: &mut Peekable<I>,
    right: &mut Peekable<I>,
) -> Option<Range<u64>> {
    let from_left = match (left.peek(), right.peek()) {
        (Some(a), Some(b)) => a.start <= b.start,
        (head, _) => head.is_some(),
    };
    if from_left {
        left.next().cloned()
    } else {
        right.next().cloned()
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

impl From<Vec<Range<u64>>> for RowRanges {
    /// From ranges in any order.
    fn from(mut ranges: Vec<Range<u64>>) -> Self {
        ranges.sort_unstable_by_key(|range| range.start);
        ranges.into_iter().collect()
    }
}

/// Hands out the rows of a set in order, piece by piece: the positions of batch after batch.
#[derive(Clone, Debug)]
pub struct RowCursor {
    rows: RowRanges,
    /// The range that is read next.
    index: usize,
    /// Rows of it already handed out.
    used: u64,
    remaining: u64,
}

impl RowCursor {
    /// Starts at the first row.
    pub fn new(rows: RowRanges) -> Self {
        let remaining = rows.row_count();
        Self {
            rows,
            index: 0,
            used: 0,
            remaining,
        }
    }

    /// Rows not handed out yet.
    pub fn remaining(&self) -> u64 {
        self.remaining
    }

    /// The row after the last one that [`take`](Self::take) would give; `None` if none is left.
    #[cfg(feature = "parquet")]
    pub(crate) fn end_of_next(&self, count: u64) -> Option<u64> {
        let mut wanted = count.min(self.remaining);
        let mut used = self.used;
        for range in self.rows.0.iter().skip(self.index) {
            let start = range.start + used;
            if wanted <= range.end - start {
                return (wanted > 0).then_some(start + wanted);
            }
            wanted -= range.end - start;
            used = 0;
        }
        None
    }

    /// The row after the last one.
    #[cfg(feature = "parquet")]
    pub(crate) fn end(&self) -> u64 {
        self.rows.span().end
    }

    /// The next `count` rows, or what is left.
    pub fn take(&mut self, count: u64) -> RowRanges {
        let mut wanted = count.min(self.remaining);
        self.remaining -= wanted;
        let mut taken = RowRanges::none();
        while wanted > 0
            && let Some(range) = self.rows.0.get(self.index)
        {
            let start = range.start + self.used;
            let step = wanted.min(range.end - start);
            taken.push(start..start + step);
            wanted -= step;
            self.used += step;
            if start + step == range.end {
                self.index += 1;
                self.used = 0;
            }
        }
        taken
    }
}

#[cfg(test)]
mod tests;
