//! Keys of a file at some of its rows.
//!
//! Rows are taken at even distances, at the starts of row groups where those are near. At the start of a row group the
//! statistics tell the key, where they are exact and the key is one column; else the key's pages are decoded there.

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
        let known = self.group_keys().await?;
        let mut keys = BTreeMap::new();
        let mut unknown: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        for row in places(layout, rows, count) {
            let Some(group) = group_of(layout, row) else {
                continue;
            };
            match self.key_at_start(known.as_ref(), group, row)? {
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

    /// The least keys of row groups, where statistics tell them.
    async fn group_keys(&self) -> Result<Option<Bounds>> {
        let ([field], [column]) = (self.span.fields(), self.scan.spec.columns.as_slice()) else {
            return Ok(None);
        };
        if column.data_type.kind != field.data_type.kind {
            return Ok(None);
        }
        let bounds = self.data.bounds(column, Grain::Group).await?;
        Ok(bounds.filter(|bounds| bounds.exact))
    }

    fn key_at_start(
        &self,
        known: Option<&Bounds>,
        group: usize,
        row: u64,
    ) -> Result<Option<BinaryRow>> {
        let is_start = |bounds: &&Bounds| bounds.starts.get(group) == Some(&row);
        let ([field], Some(known)) = (self.span.fields(), known.filter(is_start)) else {
            return Ok(None);
        };
        match datum_at(&known.min, group, &field.data_type)? {
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

/// Rows at even distances among `rows`, but for the first one.
fn places(layout: &Layout, rows: &RowRanges, count: u64) -> Vec<u64> {
    let total = rows.row_count();
    let step = (total / (count + 1)).max(1);
    let mut places = Vec::new();
    let mut before = 0;
    let mut next = step;
    for range in rows.ranges() {
        let length = range.end - range.start;
        while next < before + length {
            places.push(near_start(
                layout,
                rows,
                range.start + (next - before),
                step / 2,
            ));
            next += step;
        }
        before += length;
    }
    places.sort_unstable();
    places.dedup();
    places
}

/// The start of a row group that is at most so far away, else the row itself.
fn near_start(layout: &Layout, rows: &RowRanges, row: u64, most: u64) -> u64 {
    let Some(group) = group_of(layout, row).and_then(|group| layout.groups.get(group)) else {
        return row;
    };
    let starts = [group.first_row, group.first_row + group.row_count];
    let near = starts
        .into_iter()
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
