//! Keys of a file at some of its rows.
//!
//! Rows are taken at even distances, at the starts of pages where those are near. At the start of a page the page index
//! tells the key, where it is exact and the key is one column; without it, the statistics do at the start of a row group.
//! Elsewhere the key's pages are decoded.

use std::collections::BTreeMap;
use std::sync::Arc;

use paimon_format::{Bounds, DataFile, Grain, Layout, RowRanges};
use paimon_io::Counter;
use paimon_meta::{
    BinaryRow, DataFileMeta, Frame, Result, ResultExt, StringLayout, TablePredicate, datum_at,
    encode_row,
};

use super::span::SpanOf;
use crate::evolve::{FileScan, Wanted};
use crate::fetches::yield_now;
use crate::open::FileOpener;

/// Keys of a file.
#[derive(Debug, Default)]
pub(super) struct Samples {
    /// Rows that are looked at: those that may satisfy the condition.
    pub(super) row_count: u64,
    /// Keys, ascending, each with the number of these rows before it.
    pub(super) keys: Vec<(u64, BinaryRow)>,
}

/// About `count` keys of a file, at even distances among the rows that may satisfy a condition.
///
/// # Errors
/// Of the store and the file.
pub(super) async fn sample(
    opener: &FileOpener,
    meta: &Arc<DataFileMeta>,
    span: &SpanOf,
    condition: Option<&TablePredicate>,
    count: u64,
) -> Result<Samples> {
    let data = opener.open(meta).await?;
    let rows = opener.may_match(meta, &data, condition).await?.rows;
    let keys: Vec<Wanted> = span.fields().iter().cloned().map(Wanted::Field).collect();
    let scan = opener.scan(meta, &keys, 1024, StringLayout::View)?;
    let Some(scan) = scan else {
        return Ok(Samples::default());
    };
    let file = Sampled {
        opener,
        span,
        data,
        scan,
    };
    let read = file.read(&rows, count).await;
    read.at(|| Frame::File(meta.file_name.clone()))
}

/// A file that keys are taken of.
struct Sampled<'a> {
    opener: &'a FileOpener,
    span: &'a SpanOf,
    data: Arc<dyn DataFile>,
    scan: FileScan,
}

impl Sampled<'_> {
    async fn read(&self, rows: &RowRanges, count: u64) -> Result<Samples> {
        let layout = self.data.layout();
        let known = self.known_keys().await?;
        let starts: Vec<u64> = match &known {
            Some(bounds) => bounds.starts.clone(),
            None => layout.groups.iter().map(|group| group.first_row).collect(),
        };
        let mut keys = BTreeMap::new();
        let mut unknown: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        for row in places(&starts, rows, count) {
            let Some(group) = group_of(layout, row) else {
                continue;
            };
            match self.key_at_start(known.as_ref(), row)? {
                Some(key) => {
                    keys.insert(row, key);
                }
                None => unknown.entry(group).or_default().push(row),
            }
        }
        for (group, rows) in unknown {
            self.decode(group, RowRanges::from_positions(rows), &mut keys)
                .await?;
        }
        let keys = keys.into_iter();
        Ok(Samples {
            row_count: rows.row_count(),
            keys: keys
                .map(|(row, key)| (rows.clip(0..row).row_count(), key))
                .collect(),
        })
    }

    /// The least keys of pages, or else of row groups, where statistics tell them.
    async fn known_keys(&self) -> Result<Option<Bounds>> {
        let ([field], [column]) = (self.span.fields(), self.scan.spec.columns.as_slice()) else {
            return Ok(None);
        };
        if column.data_type.kind != field.data_type.kind {
            return Ok(None);
        }
        for grain in [Grain::Page, Grain::Group] {
            let bounds = self.data.bounds(column, grain).await?;
            if let Some(bounds) = bounds.filter(|bounds| bounds.exact) {
                return Ok(Some(bounds));
            }
        }
        Ok(None)
    }

    fn key_at_start(&self, known: Option<&Bounds>, row: u64) -> Result<Option<BinaryRow>> {
        let ([field], Some(known)) = (self.span.fields(), known) else {
            return Ok(None);
        };
        let start = known.starts.binary_search(&row);
        let Some(start) = start.ok().filter(|start| *start < known.min.len()) else {
            return Ok(None);
        };
        match datum_at(&known.min, start, &field.data_type)? {
            None => Ok(None),
            value => encode_row(&self.span.types(), &[value]).map(Some),
        }
    }

    /// Decodes the keys of rows of a group.
    async fn decode(
        &self,
        group: usize,
        rows: RowRanges,
        keys: &mut BTreeMap<u64, BinaryRow>,
    ) -> Result<()> {
        let metrics = self.opener.context().resources.metrics();
        metrics.add(Counter::RowGroupsFetched, 1);
        let batches = self.data.fetch(group, &rows, &self.scan.spec).await?;
        let types = self.span.types();
        for item in batches {
            let (positions, batch) = item?;
            metrics.add(Counter::RowsDecoded, positions.row_count());
            let (columns, faults) = self.scan.decode(&batch)?;
            for (index, row) in positions.positions().enumerate() {
                if !rows.contains(row) {
                    continue;
                }
                faults.check(|fault| fault == index)?;
                let values = columns.iter().zip(&types);
                let values = values.map(|(column, of)| datum_at(column, index, of));
                let values = values.collect::<Result<Vec<_>>>()?;
                keys.insert(row, encode_row(&types, &values)?);
            }
            yield_now().await;
        }
        Ok(())
    }
}

/// Rows at even distances among `rows`, but for the first one; at a start where one is near.
fn places(starts: &[u64], rows: &RowRanges, count: u64) -> Vec<u64> {
    let total = rows.row_count();
    let step = (total / (count + 1)).max(1);
    let mut places = Vec::new();
    let mut before = 0;
    let mut next = step;
    for range in rows.ranges() {
        let length = range.end - range.start;
        while next < before + length {
            let row = range.start + (next - before);
            places.push(near_start(starts, rows, row, step / 2));
            next += step;
        }
        before += length;
    }
    places.sort_unstable();
    places.dedup();
    places
}

/// The nearest of the ascending starts, if it is at most so far away, else the row itself.
fn near_start(starts: &[u64], rows: &RowRanges, row: u64, most: u64) -> u64 {
    let after = starts.partition_point(|start| *start <= row);
    let around = [after.checked_sub(1), Some(after)].into_iter().flatten();
    let near = around
        .filter_map(|start| starts.get(start).copied())
        .filter(|start| rows.contains(*start) && start.abs_diff(row) <= most);
    near.min_by_key(|start| start.abs_diff(row)).unwrap_or(row)
}

/// The row group of a row.
fn group_of(layout: &Layout, row: u64) -> Option<usize> {
    layout
        .groups
        .partition_point(|group| group.first_row <= row)
        .checked_sub(1)
}
