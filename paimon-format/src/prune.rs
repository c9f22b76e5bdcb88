//! Which rows of a file may match, by what the file says of its values.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, UInt32Array, UInt64Array};
use arrow_select::take::take;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use paimon_meta::{
    ArrayBounds, CompareOp, Error, FilePath, Predicate, Result, Test, may_match_many,
};

use crate::reader::{Bounds, DataFile, Grain};
use crate::rows::RowRanges;
use crate::scan::FileColumn;

/// Gives the column of the file for a path; a path without one rules out nothing.
pub type ColumnOf<'a> = &'a (dyn Fn(&FilePath) -> Option<FileColumn> + Sync);

/// What a predicate leaves of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Rows that may match.
    pub rows: RowRanges,
    /// Row groups without any.
    pub groups: u64,
    /// Pages without any in the other row groups: stretches of rows between the ends of pages of the predicate's columns.
    pub pages: u64,
    /// Pages of these row groups that may match.
    pub pages_kept: u64,
}

/// The rows that may match a predicate, by everything that the file says of its values, the cheapest first: bounds of row
/// groups, Bloom filters where a column must equal values, bounds of pages. Rows that are left out do not match.
///
/// # Errors
/// Of [`DataFile::bounds`] and [`DataFile::may_hold`].
pub async fn prune_file(
    file: &Arc<dyn DataFile>,
    predicate: &Predicate<FilePath>,
    columns: ColumnOf<'_>,
) -> Result<Pruned> {
    let mut rows = prune(file, predicate, columns, Grain::Group).await?;
    if !rows.is_empty() && !matches!(predicate, Predicate::Constant(_)) {
        rows = held(file, predicate, columns, rows).await?;
    }
    let groups = file.layout().groups.iter();
    let groups = groups.filter(|group| !rows.intersects(group.rows()));
    let groups = groups.count() as u64;
    let (mut pages, mut pages_kept) = (0, 0);
    if !rows.is_empty() {
        let by_page = prune_units(file, predicate, columns, Grain::Page).await?;
        let count = |units: &[Range<u64>]| {
            let units = units.iter().filter(|unit| rows.intersects((*unit).clone()));
            units.count() as u64
        };
        if by_page.told {
            (pages, pages_kept) = (count(&by_page.dropped), count(&by_page.kept));
        }
        rows = rows.intersect(&by_page.rows());
    }
    Ok(Pruned {
        rows,
        groups,
        pages,
        pages_kept,
    })
}

/// The rows that may match a predicate, by the bounds of row groups or pages; rows that are left out do not.
///
/// A column without bounds rules out nothing. Pages may lack bounds where row groups have them: for the sharpest answer
/// ask for both and intersect, as [`prune_file`] does. Reads page indexes for [`Grain::Page`].
///
/// # Errors
/// Of [`DataFile::bounds`].
pub async fn prune(
    file: &Arc<dyn DataFile>,
    predicate: &Predicate<FilePath>,
    columns: ColumnOf<'_>,
    grain: Grain,
) -> Result<RowRanges> {
    let units = prune_units(file, predicate, columns, grain).await?;
    Ok(units.rows())
}

/// Stretches of rows that bounds tell apart.
#[derive(Default)]
struct Units {
    /// Those that may match, ascending.
    kept: Vec<Range<u64>>,
    /// Those that do not.
    dropped: Vec<Range<u64>>,
    /// Some column has bounds.
    told: bool,
}

impl Units {
    /// Rows that may match.
    fn rows(&self) -> RowRanges {
        let mut rows = RowRanges::none();
        self.kept.iter().for_each(|unit| rows.push(unit.clone()));
        rows
    }
}

/// The stretches that may match, and those that do not.
async fn prune_units(
    file: &Arc<dyn DataFile>,
    predicate: &Predicate<FilePath>,
    columns: ColumnOf<'_>,
    grain: Grain,
) -> Result<Units> {
    let rows = file.layout().row_count;
    if rows == 0 {
        return Ok(Units::default());
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
    let told = !known.is_empty();
    let mut units = HashMap::with_capacity(known.len());
    for (path, bounds) in known {
        units.insert(path, on_edges(&bounds, &edges)?);
    }
    let count = edges.len().saturating_sub(1);
    let kept = may_match_many(predicate, count, &mut |path| units.get(path).cloned());
    let (mut rows, mut dropped) = (Vec::new(), Vec::new());
    for (edge, kept) in edges.windows(2).zip(&kept) {
        let [start, end] = edge else { continue };
        if kept {
            rows.push(*start..*end);
        } else {
            dropped.push(*start..*end);
        }
    }
    Ok(Units {
        kept: rows,
        dropped,
        told,
    })
}

/// Those of the rows whose row groups may hold the values that the predicate asks for.
async fn held(
    file: &Arc<dyn DataFile>,
    predicate: &Predicate<FilePath>,
    columns: ColumnOf<'_>,
    rows: RowRanges,
) -> Result<RowRanges> {
    let mut kept = RowRanges::none();
    for (number, group) in file.layout().groups.iter().enumerate() {
        let inside = rows.clip(group.rows());
        if inside.is_empty() || !group_may_match(file, number, predicate, columns).await? {
            continue;
        }
        inside
            .ranges()
            .iter()
            .for_each(|range| kept.push(range.clone()));
    }
    Ok(kept)
}

/// Whether a row group may match as far as filters of values know.
fn group_may_match<'a>(
    file: &'a Arc<dyn DataFile>,
    group: usize,
    predicate: &'a Predicate<FilePath>,
    columns: ColumnOf<'a>,
) -> BoxFuture<'a, Result<bool>> {
    async move {
        match predicate {
            Predicate::Leaf(leaf) => {
                let values = match &leaf.test {
                    Test::Compare(CompareOp::Eq, value) => std::slice::from_ref(value),
                    Test::In {
                        values,
                        negated: false,
                        ..
                    } => values,
                    _ => return Ok(true),
                };
                let Some(column) = columns(&leaf.column) else {
                    return Ok(true);
                };
                let held = file.may_hold(group, &column, values).await?;
                Ok(held.into_iter().any(|held| held))
            }
            Predicate::And(parts) => {
                for part in parts {
                    if !group_may_match(file, group, part, columns).await? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Predicate::Or(parts) => {
                for part in parts {
                    if group_may_match(file, group, part, columns).await? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            _ => Ok(true),
        }
    }
    .boxed()
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
