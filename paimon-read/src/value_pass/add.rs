//! Adding picked rows of a piece to a batch.

use std::ops::Range;

use paimon_meta::{Error, Result};

use crate::output::BatchBuilder;
use crate::ungathered::Set;
use crate::window::{Decoded, Piece};

/// The first rows of a range that passed the filter.
pub(super) fn surviving(piece: &mut Piece, rows: Range<u32>) -> Option<Range<u32>> {
    let Some(survivors) = piece.values.survivors.as_mut() else {
        return Some(rows);
    };
    let found = survivors.next_from(rows.start)?;
    (found.start < rows.end).then(|| found.start..found.end.min(rows.end))
}

/// Adds up to `most` rows of a piece from `row` on; returns how many, or `None` if late columns must be decoded first.
#[inline]
pub(super) fn add(
    builder: &mut BatchBuilder,
    piece: &mut Piece,
    row: u32,
    most: u32,
) -> Result<Option<u32>> {
    let columns = &piece.columns;
    let mut length = most;
    if piece.file.late.is_some() {
        let late = piece.values.late.as_mut().ok_or_else(not_asked_for)?;
        let Some((decoded, index, following)) = late.find(row) else {
            return Ok(None);
        };
        length = length.min(following);
        builder.add_rows(columns, length)?;
        builder.push(Set::Late, decoded, index, length)?;
    } else {
        builder.add_rows(columns, length)?;
    }
    if !columns.ordered && !columns.early.is_empty() {
        push_held(builder, Set::Early, piece.early.iter_mut(), row, length)?;
    }
    if columns.filter_reads() {
        let filtered = piece.values.filtered.iter_mut();
        push_held(builder, Set::Filtered, filtered, row, length)?;
    }
    Ok(Some(length))
}

fn not_asked_for() -> Error {
    Error::internal("late columns were not asked for")
}

/// Adds rows of columns that are held in memory, possibly over several batches.
fn push_held<'a>(
    builder: &mut BatchBuilder,
    set: Set,
    held: impl Iterator<Item = &'a mut Decoded>,
    mut row: u32,
    length: u32,
) -> Result<()> {
    let end = row + length;
    for decoded in held {
        while row < end
            && let Some((index, following)) = decoded.find(row)
        {
            let taken = following.min(end - row);
            builder.push(set, decoded, index, taken)?;
            row += taken;
        }
        if row == end {
            return Ok(());
        }
    }
    Err(Error::internal(format!(
        "row {row} of a piece was picked but is not held"
    )))
}
