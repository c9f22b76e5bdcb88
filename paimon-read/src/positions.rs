//! Which rows of a piece a batch holds.

use std::ops::Range;

use paimon_format::RowRanges;
use paimon_meta::{Error, Result};

/// Rows of a piece, counted from its start, that consecutive rows of a batch stand for: ascending, no row twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Positions {
    /// Rows that follow each other.
    From {
        /// The first one.
        first: u32,
        /// How many.
        length: u32,
    },
    /// Ranges of rows, each with the number of rows before it.
    Ranges {
        /// Ascending, not empty.
        ranges: Vec<Range<u32>>,
        /// Index in the batch at which each range starts.
        starts: Vec<u32>,
        /// Rows in all.
        length: u32,
    },
}

impl Positions {
    /// From file positions of a piece that starts at `first_row`.
    ///
    /// # Errors
    /// `Internal` if a position lies outside a piece of at most `u32::MAX` rows.
    pub(crate) fn new(rows: &RowRanges, first_row: u64) -> Result<Self> {
        let relative = |position: u64| {
            position
                .checked_sub(first_row)
                .and_then(|row| u32::try_from(row).ok())
                .ok_or_else(|| {
                    Error::internal(format!("row {position} is not in the piece at {first_row}"))
                })
        };
        if let [range] = rows.ranges() {
            let first = relative(range.start)?;
            return Ok(Self::From {
                first,
                length: relative(range.end)? - first,
            });
        }
        let mut ranges = Vec::with_capacity(rows.ranges().len());
        for range in rows.ranges() {
            ranges.push(relative(range.start)?..relative(range.end)?);
        }
        Ok(Self::from_ranges(ranges))
    }

    /// From ascending ranges.
    pub(crate) fn from_ranges(ranges: Vec<Range<u32>>) -> Self {
        let mut length = 0;
        let starts = ranges
            .iter()
            .map(|range| {
                let start = length;
                length += range.end - range.start;
                start
            })
            .collect();
        Self::Ranges {
            ranges,
            starts,
            length,
        }
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> u32 {
        match self {
            Self::From { length, .. } | Self::Ranges { length, .. } => *length,
        }
    }

    /// The row after the last one; 0 if there is none.
    pub(crate) fn end(&self) -> u32 {
        match self {
            Self::From { first, length } => first + length,
            Self::Ranges { ranges, .. } => ranges.last().map_or(0, |range| range.end),
        }
    }

    /// Calls `each` with the rows (first, count) that `length` batch rows from `index` stand for.
    #[inline]
    pub(crate) fn rows(&self, index: u32, length: u32, mut each: impl FnMut(u32, u32)) {
        match self {
            Self::From { first, .. } => each(first + index, length),
            Self::Ranges { ranges, starts, .. } => {
                let from = starts
                    .partition_point(|start| *start <= index)
                    .saturating_sub(1);
                let end = index + length;
                for (range, start) in ranges.iter().zip(starts).skip(from) {
                    if *start >= end {
                        break;
                    }
                    let skipped = index.saturating_sub(*start);
                    let taken = (range.end - range.start).min(end - start) - skipped;
                    each(range.start + skipped, taken);
                }
            }
        }
    }

    /// Where a row is in the batch and how many rows follow it there without a gap, the row itself included; `None` if
    /// the batch does not hold it. `hint` speeds up ascending look-ups.
    #[inline]
    pub(crate) fn find(&self, row: u32, hint: &mut usize) -> Option<(u32, u32)> {
        match self {
            Self::From { first, length } => {
                let index = row.checked_sub(*first)?;
                (index < *length).then(|| (index, length - index))
            }
            Self::Ranges { ranges, starts, .. } => {
                let holds = |at: usize| ranges.get(at).is_some_and(|range| range.contains(&row));
                if !holds(*hint) {
                    let next = *hint + 1;
                    *hint = if holds(next) {
                        next
                    } else {
                        ranges.partition_point(|range| range.end <= row)
                    };
                }
                let (range, start) = (ranges.get(*hint)?, starts.get(*hint)?);
                range
                    .contains(&row)
                    .then(|| (start + (row - range.start), range.end - row))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges() -> Positions {
        Positions::new(&[10..12u64, 15..16, 20..25].into_iter().collect(), 10).unwrap()
    }

    #[test]
    fn batch_rows_become_ranges_of_piece_rows() {
        let mut seen = Vec::new();
        ranges().rows(1, 4, |row, count| seen.push((row, count)));
        assert_eq!(seen, [(1, 1), (5, 1), (10, 2)]);
        seen.clear();
        Positions::From {
            first: 7,
            length: 9,
        }
        .rows(2, 3, |row, count| seen.push((row, count)));
        assert_eq!(seen, [(9, 3)]);
    }

    #[test]
    fn piece_rows_are_found_in_any_order() {
        let positions = ranges();
        let mut hint = 0;
        let found: Vec<_> = [0, 5, 11, 1, 14, 2, 15]
            .map(|row| positions.find(row, &mut hint))
            .into();
        assert_eq!(
            found,
            [
                Some((0, 2)),
                Some((2, 1)),
                Some((4, 4)),
                Some((1, 1)),
                Some((7, 1)),
                None,
                None
            ]
        );
        assert_eq!((positions.len(), positions.end()), (8, 15));
    }

    #[test]
    fn one_range_counts_from_its_first_row() {
        let positions = Positions::new(&RowRanges::from_range(105..110), 100).unwrap();
        assert_eq!(
            positions,
            Positions::From {
                first: 5,
                length: 5
            }
        );
        assert_eq!(positions.find(7, &mut 0), Some((2, 3)));
        assert_eq!(positions.find(10, &mut 0), None);
    }
}
