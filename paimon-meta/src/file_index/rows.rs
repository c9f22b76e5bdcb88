//! What indexes know of the rows that satisfy a condition.

use std::ops::Range;

use roaring::RoaringBitmap;

use crate::error::{Error, Result};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Rows {
    /// Any row may.
    Any,
    /// No row does.
    None,
    /// None but these.
    Of(RoaringBitmap),
}

impl Rows {
    pub(super) fn of(rows: RoaringBitmap) -> Self {
        if rows.is_empty() {
            Self::None
        } else {
            Self::Of(rows)
        }
    }

    pub(super) fn may_be(&self) -> bool {
        !matches!(self, Self::None)
    }

    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, _) | (_, Self::None) => Self::None,
            (Self::Any, rows) | (rows, Self::Any) => rows,
            (Self::Of(a), Self::Of(b)) => Self::of(a & b),
        }
    }

    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Any, _) | (_, Self::Any) => Self::Any,
            (Self::None, rows) | (rows, Self::None) => rows,
            (Self::Of(a), Self::Of(b)) => Self::Of(a | b),
        }
    }

    /// As ascending ranges, those with fewer than `gap` rows between them joined; `None` for any.
    pub(super) fn ranges(self, gap: u32) -> Option<Vec<Range<u64>>> {
        let rows = match self {
            Self::Any => return None,
            Self::None => return Some(Vec::new()),
            Self::Of(rows) => rows,
        };
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for row in rows.into_iter().map(u64::from) {
            match ranges.last_mut() {
                Some(last) if row - last.end < u64::from(gap.max(1)) => last.end = row + 1,
                _ => ranges.push(row..row + 1),
            }
        }
        Some(ranges)
    }
}

/// Positions mean nothing if an index is of another number of rows than the file.
///
/// # Errors
/// `Corrupt` then.
pub(super) fn check_count(indexed: u32, row_count: u64) -> Result<()> {
    if u64::from(indexed) == row_count {
        return Ok(());
    }
    Err(Error::corrupt(format!(
        "the file index is of {indexed} rows, the file has {row_count}"
    )))
}
