//! Parts of files that are read as they are.

use std::cmp::Ordering;
use std::num::NonZeroUsize;
use std::sync::Arc;

use paimon_format::{GroupLayout, Layout, RowRanges};
use paimon_meta::{DataFileMeta, DataSplit, Error, Frame, Result};

use super::narrowed;
use crate::context::ReadContext;
use crate::files::FileRows;
use crate::open::FileOpener;
use crate::task::Part;

/// Files of a split with the rows of each that a part reads.
///
/// # Errors
/// `InvalidInput` for a part of another kind or another number of files, and for rows that a file does not have.
pub(crate) fn files_with_rows(split: DataSplit, part: Option<Part>) -> Result<Vec<FileRows>> {
    check_rows(&split, part.as_ref())?;
    let rows: Vec<Option<RowRanges>> = match part {
        Some(Part::Rows(rows)) => rows.into_iter().map(Some).collect(),
        _ => vec![None; split.files.len()],
    };
    let files = split.files.into_iter().zip(rows);
    let file = |(meta, rows)| FileRows {
        meta: Arc::new(meta),
        rows,
    };
    Ok(files.map(file).collect())
}

/// Whether the part is one of the rows of these files.
///
/// # Errors
/// As [`files_with_rows`].
pub(crate) fn check_rows(split: &DataSplit, part: Option<&Part>) -> Result<()> {
    let rows = match part {
        None => return Ok(()),
        Some(Part::Rows(rows)) => rows,
        Some(Part::Keys(_)) => {
            return Err(Error::invalid_input(
                "the task is a part of a merge, but these files are read without one",
            ));
        }
    };
    if rows.len() != split.files.len() {
        return Err(Error::invalid_input(format!(
            "the part has rows of {} files, its split {} files",
            rows.len(),
            split.files.len()
        )));
    }
    for (rows, file) in rows.iter().zip(&split.files) {
        if rows.span().end > file.row_count {
            let message = format!(
                "the part ends with row {}, the file has {} rows",
                rows.span().end,
                file.row_count
            );
            return Err(Error::invalid_input(message).at(Frame::File(file.file_name.clone())));
        }
    }
    Ok(())
}

/// A place to cut at: before a row of a file.
type Place = (usize, u64);

/// The parts of files, in order, each with its files and the bytes that it is estimated to be; fewer than asked for where the files give no place to cut at.
///
/// # Errors
/// Of the store and of the files that must be opened.
pub(crate) async fn row_parts(
    split: &DataSplit,
    part: Option<Part>,
    parts: NonZeroUsize,
    context: &Arc<ReadContext>,
) -> Result<Vec<(DataSplit, Part, u64)>> {
    let files = Files::new(split, part, context)?;
    let mut places = vec![(0, 0)];
    for place in files.places(parts).await? {
        if places.last().is_some_and(|last| *last < place) {
            places.push(place);
        }
    }
    places.push((split.files.len(), 0));
    let mut found = Vec::new();
    for ends in places.windows(2) {
        let [from, to] = ends else { continue };
        let (split, rows) = narrowed(split, |file| files.between(file, *from, *to));
        if !rows.is_empty() {
            let bytes = split.files.iter().zip(&rows);
            let bytes = bytes.map(|(file, rows)| share(file, rows));
            let bytes = u64::try_from(bytes.sum::<u128>()).unwrap_or(u64::MAX);
            found.push((split, Part::Rows(rows), bytes));
        }
    }
    Ok(found)
}

/// The bytes of a file that some of its rows are, if all are alike.
fn share(file: &DataFileMeta, rows: &RowRanges) -> u128 {
    let bytes = u128::from(file.file_size) * u128::from(rows.row_count());
    let bytes = bytes.checked_div(u128::from(file.row_count));
    bytes.unwrap_or_default()
}

/// Files with the rows that are to be divided.
struct Files {
    opener: FileOpener,
    files: Vec<FileRows>,
    /// Bytes of these rows.
    weights: Vec<u128>,
}

impl Files {
    fn new(split: &DataSplit, part: Option<Part>, context: &Arc<ReadContext>) -> Result<Self> {
        let files = files_with_rows(split.clone(), part)?;
        let weights = files.iter().map(|file| share(&file.meta, &all_rows(file)));
        Ok(Self {
            opener: FileOpener::new(context, split)?,
            weights: weights.collect(),
            files,
        })
    }

    /// Places that divide the bytes evenly, ascending.
    async fn places(&self, parts: NonZeroUsize) -> Result<Vec<Place>> {
        let total: u128 = self.weights.iter().sum();
        let parts = parts.get() as u128;
        // What parts may differ by without a look into files.
        let slack = total / (8 * parts);
        let mut places = Vec::new();
        for part in 1..parts {
            let mut above = total * part / parts;
            for (index, weight) in self.weights.iter().enumerate() {
                if above > *weight {
                    above -= weight;
                    continue;
                }
                places.push(if above <= slack {
                    (index, 0)
                } else if weight - above <= slack {
                    (index + 1, 0)
                } else {
                    (index, self.row_at(index, above, slack).await?)
                });
                break;
            }
        }
        Ok(places)
    }

    /// The row of a file below which about `above` of its bytes are.
    async fn row_at(&self, index: usize, above: u128, slack: u128) -> Result<u64> {
        let (Some(file), Some(weight)) = (self.files.get(index), self.weights.get(index)) else {
            return Ok(0);
        };
        let data = self.opener.open(&file.meta).await?;
        let has_pages = file.meta.format() == Some("parquet");
        Ok(row_in(
            data.layout(),
            &all_rows(file),
            Share {
                above,
                slack,
                of: *weight,
            },
            has_pages,
        ))
    }

    /// The rows of a file between two places; `None` if there are none.
    fn between(&self, index: usize, from: Place, to: Place) -> Option<RowRanges> {
        let file = self.files.get(index)?;
        let end = file.meta.row_count;
        let start = match index.cmp(&from.0) {
            Ordering::Less => end,
            Ordering::Equal => from.1,
            Ordering::Greater => 0,
        };
        let end = match index.cmp(&to.0) {
            Ordering::Less => end,
            Ordering::Equal => to.1,
            Ordering::Greater => 0,
        };
        let rows = all_rows(file).clip(start..end);
        (!rows.is_empty()).then_some(rows)
    }
}

fn all_rows(file: &FileRows) -> RowRanges {
    let all = || RowRanges::from_range(0..file.meta.row_count);
    file.rows.clone().unwrap_or_else(all)
}

/// So much of the bytes of a file, give or take.
#[derive(Clone, Copy)]
struct Share {
    above: u128,
    slack: u128,
    of: u128,
}

/// The start of a row group near the share, or a row in a group whose ends are far from it, if its pages can be skipped.
fn row_in(layout: &Layout, rows: &RowRanges, share: Share, has_pages: bool) -> u64 {
    let bytes = |group: &GroupLayout| {
        let wanted = rows.clip(group.first_row..group.first_row + group.row_count);
        let bytes = u128::from(group.compressed_bytes) * u128::from(wanted.row_count());
        bytes
            .checked_div(u128::from(group.row_count))
            .unwrap_or_default()
    };
    let total: u128 = layout.groups.iter().map(bytes).sum();
    let scaled = |part: u128| (part * total).checked_div(share.of).unwrap_or_default();
    let (mut above, slack) = (scaled(share.above), scaled(share.slack));
    for group in &layout.groups {
        let weight = bytes(group);
        let end = group.first_row + group.row_count;
        if above > weight {
            above -= weight;
            continue;
        }
        let below = weight - above;
        if !has_pages || above.min(below) <= slack {
            return if above <= below { group.first_row } else { end };
        }
        let wanted = rows.clip(group.first_row..end);
        let rank = (u128::from(wanted.row_count()) * above + weight / 2) / weight.max(1);
        let rank = u64::try_from(rank).unwrap_or_default();
        return nth(&wanted, rank).unwrap_or(end);
    }
    layout.row_count
}

/// The row with so many before it.
fn nth(rows: &RowRanges, mut rank: u64) -> Option<u64> {
    for range in rows.ranges() {
        let length = range.end - range.start;
        if rank < length {
            return Some(range.start + rank);
        }
        rank -= length;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(groups: &[u64]) -> Layout {
        let mut layout = Layout::default();
        for rows in groups {
            layout.groups.push(GroupLayout {
                first_row: layout.row_count,
                row_count: *rows,
                compressed_bytes: rows * 10,
            });
            layout.row_count += rows;
        }
        layout
    }

    fn cut(groups: &[u64], percent: u128, has_pages: bool) -> u64 {
        let layout = layout(groups);
        let rows = RowRanges::from_range(0..layout.row_count);
        let share = Share {
            above: percent,
            slack: 6,
            of: 100,
        };
        row_in(&layout, &rows, share, has_pages)
    }

    #[test]
    fn files_are_cut_at_row_groups_that_are_near() {
        assert_eq!(cut(&[50, 50], 50, true), 50);
        assert_eq!(cut(&[48, 52], 50, true), 48);
        assert_eq!(cut(&[52, 48], 50, true), 52);
    }

    #[test]
    fn a_large_row_group_is_cut_inside_where_it_has_pages() {
        assert_eq!(cut(&[100], 50, true), 50);
        assert_eq!(cut(&[20, 80], 60, true), 60);
        assert_eq!(cut(&[20, 80], 50, false), 20);
        assert_eq!(cut(&[20, 80], 70, false), 100);
    }

    #[test]
    fn only_the_rows_of_the_part_weigh() {
        let layout = layout(&[50, 50]);
        let rows = [10..20, 60..90].into_iter().collect();
        let share = Share {
            above: 50,
            slack: 0,
            of: 100,
        };
        assert_eq!(row_in(&layout, &rows, share, true), 70);
    }
}
