//! Which rows of a file may match, by what the file says of its values.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, UInt32Array, UInt64Array};
use arrow_select::take::take;
use paimon_meta::{ArrayBounds, Error, FilePath, Predicate, Result, may_match_many};

use crate::reader::{Bounds, DataFile, Grain};
use crate::rows::RowRanges;
use crate::scan::FileColumn;

/// The rows that may match a predicate, by the bounds of row groups or pages; rows that are left out do not.
///
/// `columns` gives the column of the file for a path; a path without one, and a column without bounds, rule out
/// nothing. Pages may lack bounds where row groups have them: for the sharpest answer ask for both and intersect.
/// Reads page indexes for [`Grain::Page`].
///
/// # Errors
/// Of [`DataFile::bounds`].
pub async fn prune(
    file: &Arc<dyn DataFile>,
    predicate: &Predicate<FilePath>,
    columns: &(dyn Fn(&FilePath) -> Option<FileColumn> + Sync),
    grain: Grain,
) -> Result<RowRanges> {
    let rows = file.layout().row_count;
    if rows == 0 {
        return Ok(RowRanges::none());
    }
    let mut known: HashMap<&FilePath, Bounds> = HashMap::new();
    for path in predicate.columns() {
        if let Some(column) = columns(path)
            && let Some(bounds) = file.bounds(&column, grain).await?
        {
            known.insert(path, bounds);
        }
    }
    let edges = edges(known.values(), rows);
    let mut units = HashMap::with_capacity(known.len());
    for (path, bounds) in known {
        units.insert(path, on_edges(&bounds, &edges)?);
    }
    let count = edges.len().saturating_sub(1);
    let kept = may_match_many(predicate, count, &mut |path| units.get(path).cloned());
    let ranges = edges.windows(2).zip(&kept).filter(|(_, kept)| *kept);
    Ok(ranges
        .filter_map(|(edge, _)| Some(*edge.first()?..*edge.last()?))
        .collect())
}

/// The starts of all ranges of all columns, then the number of rows; each once.
fn edges<'a>(bounds: impl Iterator<Item = &'a Bounds>, rows: u64) -> Vec<u64> {
    let mut edges: Vec<u64> = bounds
        .flat_map(|bounds| &bounds.starts)
        .copied()
        .filter(|start| *start < rows)
        .collect();
    edges.extend([0, rows]);
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// The bounds as said of the finer ranges between `edges`.
fn on_edges(bounds: &Bounds, edges: &[u64]) -> Result<ArrayBounds> {
    let last = bounds.starts.len().saturating_sub(2);
    let mut sources = Vec::with_capacity(edges.len());
    let mut null_counts = Vec::with_capacity(edges.len());
    let mut row_counts = Vec::with_capacity(edges.len());
    for edge in edges.windows(2) {
        let [start, end] = edge else { continue };
        let source = bounds
            .starts
            .partition_point(|first| first <= start)
            .saturating_sub(1)
            .min(last);
        let rows = end - start;
        null_counts.push(nulls_of_part(bounds, source, rows));
        row_counts.push(rows);
        sources.push(
            u32::try_from(source).map_err(|_| Error::internal("file of more than 2^32 pages"))?,
        );
    }
    let sources = UInt32Array::from(sources);
    let spread = |array: &ArrayRef| {
        take(array, &sources, None)
            .map_err(|error| Error::internal("bounds are too short").with_source(error))
    };
    Ok(ArrayBounds {
        min: spread(&bounds.min)?,
        max: spread(&bounds.max)?,
        null_counts: null_counts.into_iter().collect(),
        row_counts: UInt64Array::from(row_counts),
    })
}

/// The nulls among `rows` rows of a range: known if all of its rows are meant, or none or all of them are null.
fn nulls_of_part(bounds: &Bounds, range: usize, rows: u64) -> Option<u64> {
    let (start, end) = bounds.starts.get(range).zip(bounds.starts.get(range + 1))?;
    let counts = &bounds.null_counts;
    let nulls = (range < counts.len() && counts.is_valid(range)).then(|| counts.value(range))?;
    match end.checked_sub(*start)? {
        whole if nulls > whole => None,
        whole if rows == whole => Some(nulls),
        whole if nulls == whole => Some(rows),
        _ => (nulls == 0).then_some(0),
    }
}
