//! Building output batches: rows are gathered once, per batch and column.
//!
//! A batch is put together from segments, each some consecutive rows of one decoded source. One segment is passed on as a
//! slice, without a copy; a few long ones are concatenated; many short ones go through arrow's interleave kernel, whose
//! indices are made once for all columns of a set. Columns that were decoded together form a set.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_select::concat::concat;
use arrow_select::interleave::interleave;
use paimon_meta::{Error, Result};

use crate::columns::{ColumnPlan, Origin, Shape, constant_column};
use crate::compact::Compactor;
use crate::window::Decoded;

/// Segments of at least this many rows on average are concatenated; below it, indices cost less.
const CONCAT_ROWS: usize = 64;

/// Where the batch being built knows some decoded columns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Registered {
    /// The batch, counted from 1.
    batch: u64,
    source: u32,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    source: u32,
    start: u32,
    length: u32,
}

/// Columns that were decoded together.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Set {
    Early,
    Filtered,
    Late,
}

#[derive(Debug, Default)]
struct SetBuilder {
    sources: Vec<Vec<ArrayRef>>,
    segments: Vec<Segment>,
}

impl SetBuilder {
    fn push(&mut self, batch: u64, decoded: &mut Decoded, start: u32, length: u32) -> Result<()> {
        let rows = start as usize..(start + length) as usize;
        decoded.faults.check(|row| rows.contains(&row))?;
        if decoded.registered.batch != batch {
            let source = u32::try_from(self.sources.len())
                .map_err(|_| Error::internal("more than 2^32 sources in a batch"))?;
            decoded.registered = Registered { batch, source };
            self.sources.push(decoded.arrays.clone());
        }
        let source = decoded.registered.source;
        if let Some(last) = self.segments.last_mut()
            && last.source == source
            && last.start + last.length == start
        {
            last.length += length;
            return Ok(());
        }
        self.segments.push(Segment {
            source,
            start,
            length,
        });
        Ok(())
    }

    /// The indices of arrow's interleave, where segments are short.
    fn indices(&self, rows: usize) -> Option<Vec<(usize, usize)>> {
        if self.segments.len() * CONCAT_ROWS <= rows {
            return None;
        }
        let mut indices = Vec::with_capacity(rows);
        for segment in &self.segments {
            let (source, start) = (segment.source as usize, segment.start as usize);
            indices.extend((start..start + segment.length as usize).map(|row| (source, row)));
        }
        Some(indices)
    }

    fn gather(&self, column: usize, indices: Option<&[(usize, usize)]>) -> Result<ArrayRef> {
        let array = |source: &Vec<ArrayRef>| {
            source
                .get(column)
                .map(Arc::clone)
                .ok_or_else(|| Error::internal(format!("no decoded column {column}")))
        };
        let slice = |segment: &Segment| -> Result<ArrayRef> {
            let source = self.sources.get(segment.source as usize);
            let source = source.ok_or_else(|| Error::internal("segment of no source"))?;
            Ok(array(source)?.slice(segment.start as usize, segment.length as usize))
        };
        if let [segment] = self.segments.as_slice() {
            return slice(segment);
        }
        let gathered = match indices {
            Some(indices) => {
                let arrays = self.sources.iter().map(array).collect::<Result<Vec<_>>>()?;
                interleave(
                    &arrays
                        .iter()
                        .map(AsRef::as_ref)
                        .collect::<Vec<&dyn Array>>(),
                    indices,
                )
            }
            None => {
                let slices = self
                    .segments
                    .iter()
                    .map(slice)
                    .collect::<Result<Vec<_>>>()?;
                concat(
                    &slices
                        .iter()
                        .map(AsRef::as_ref)
                        .collect::<Vec<&dyn Array>>(),
                )
            }
        };
        gathered.map_err(|error| Error::internal("cannot gather a column").with_source(error))
    }

    fn clear(&mut self) {
        self.sources.clear();
        self.segments.clear();
    }
}

/// Puts output batches together.
#[derive(Debug)]
pub(crate) struct BatchBuilder {
    shape: Arc<Shape>,
    /// Columns of the rows being added.
    columns: Option<Arc<ColumnPlan>>,
    batch: u64,
    /// Rows since the last seal.
    rows: usize,
    early: SetBuilder,
    filtered: SetBuilder,
    late: SetBuilder,
    /// Rows of other column plans that belong to the same batch.
    sealed: Vec<Vec<ArrayRef>>,
    sealed_rows: usize,
    /// Decoded batches that the rows come from.
    sources: usize,
    compactor: Compactor,
}

impl BatchBuilder {
    pub(crate) fn new(shape: &Arc<Shape>) -> Self {
        Self {
            shape: Arc::clone(shape),
            columns: None,
            batch: 1,
            rows: 0,
            early: SetBuilder::default(),
            filtered: SetBuilder::default(),
            late: SetBuilder::default(),
            sealed: Vec::new(),
            sealed_rows: 0,
            sources: 0,
            compactor: Compactor::default(),
        }
    }

    /// Rows of the batch so far.
    pub(crate) fn rows(&self) -> usize {
        self.rows + self.sealed_rows
    }

    /// Whether the rows being added have these columns.
    #[inline]
    pub(crate) fn has_columns(&self, columns: &Arc<ColumnPlan>) -> bool {
        let known = self.columns.as_ref();
        known.is_some_and(|known| Arc::ptr_eq(known, columns))
    }

    /// Says that the next `length` rows have these columns. Every set of the plan must then be given as many rows.
    ///
    /// # Errors
    /// As [`Self::finish`], for rows of an earlier plan.
    pub(crate) fn add_rows(&mut self, columns: &Arc<ColumnPlan>, length: u32) -> Result<()> {
        if !self.has_columns(columns) {
            self.seal()?;
            self.columns = Some(Arc::clone(columns));
        }
        self.rows += length as usize;
        Ok(())
    }

    /// Adds rows `start..start + length` of decoded columns to a set.
    ///
    /// # Errors
    /// A fault of one of the rows.
    pub(crate) fn push(
        &mut self,
        set: Set,
        decoded: &mut Decoded,
        start: u32,
        length: u32,
    ) -> Result<()> {
        let builder = match set {
            Set::Early => &mut self.early,
            Set::Filtered => &mut self.filtered,
            Set::Late => &mut self.late,
        };
        builder.push(self.batch, decoded, start, length)
    }

    /// The batch; `None` if it has no rows.
    ///
    /// # Errors
    /// `Internal` if arrays do not fit together.
    pub(crate) fn finish(&mut self) -> Result<Option<RecordBatch>> {
        self.seal()?;
        let rows = std::mem::take(&mut self.sealed_rows);
        let parts = std::mem::take(&mut self.sealed);
        if rows == 0 {
            return Ok(None);
        }
        let columns = join(parts)?;
        let columns = self
            .compactor
            .compact(columns, std::mem::take(&mut self.sources));
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(&self.shape.schema), columns, &options)
            .map(Some)
            .map_err(|error| Error::internal("columns do not form a batch").with_source(error))
    }

    /// Finishes the rows that were added under the current plan.
    fn seal(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.rows);
        let Some(plan) = self.columns.as_ref().filter(|_| rows > 0) else {
            return Ok(());
        };
        let (early, filtered, late) = (
            self.early.indices(rows),
            self.filtered.indices(rows),
            self.late.indices(rows),
        );
        let mut arrays = Vec::with_capacity(plan.output.len());
        for origin in &plan.output {
            arrays.push(match origin {
                Origin::Early(index) => self.early.gather(*index, early.as_deref())?,
                Origin::Filtered(index) => self.filtered.gather(*index, filtered.as_deref())?,
                Origin::Late(index) => self.late.gather(*index, late.as_deref())?,
                constant => constant_column(constant, self.shape.strings, rows)?
                    .ok_or_else(|| Error::internal("output column of no origin"))?,
            });
        }
        self.sources += [&self.early, &self.filtered, &self.late]
            .map(|set| set.sources.len())
            .into_iter()
            .max()
            .unwrap_or(0);
        self.sealed.push(arrays);
        self.sealed_rows += rows;
        self.batch += 1;
        self.early.clear();
        self.filtered.clear();
        self.late.clear();
        Ok(())
    }
}

fn join(mut parts: Vec<Vec<ArrayRef>>) -> Result<Vec<ArrayRef>> {
    if parts.len() == 1 {
        return Ok(parts.pop().unwrap_or_default());
    }
    let columns = parts.first().map_or(0, Vec::len);
    (0..columns)
        .map(|column| {
            let arrays: Vec<&dyn Array> = parts
                .iter()
                .filter_map(|part| part.get(column).map(AsRef::as_ref))
                .collect();
            concat(&arrays)
                .map_err(|error| Error::internal("cannot join columns").with_source(error))
        })
        .collect()
}
