//! Building output batches: rows are gathered once, per batch and column.
//!
//! A batch is put together from segments, each some consecutive rows of one decoded source, see [`crate::gather`].
//! Columns that were decoded together form a set.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_select::concat::concat;
use paimon_meta::{Error, Result};

use crate::columns::{ColumnPlan, Origin, Shape, constant_column};
use crate::compact::Compactor;
use crate::gather::Segments;
use crate::ungathered::{Set, Ungathered};
use crate::window::Decoded;

/// Where the batch being built knows some decoded columns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Registered {
    /// The batch, counted from 1.
    batch: u64,
    source: u32,
}

#[derive(Debug, Default)]
struct SetBuilder {
    sources: Vec<Vec<ArrayRef>>,
    segments: Segments,
}

impl SetBuilder {
    #[inline]
    fn push(&mut self, batch: u64, decoded: &mut Decoded, start: u32, length: u32) -> Result<()> {
        if decoded.faults.len() > 0 {
            let rows = start as usize..(start + length) as usize;
            decoded.faults.check(|row| rows.contains(&row))?;
        }
        if decoded.registered.batch != batch {
            self.register(batch, decoded)?;
        }
        self.segments.push(decoded.registered.source, start, length);
        Ok(())
    }

    /// Makes decoded columns a source of the batch.
    fn register(&mut self, batch: u64, decoded: &mut Decoded) -> Result<()> {
        let source = u32::try_from(self.sources.len())
            .map_err(|_| Error::internal("more than 2^32 sources in a batch"))?;
        decoded.registered = Registered { batch, source };
        self.sources.push(decoded.arrays.clone());
        Ok(())
    }

    /// A column of every source.
    fn column(&self, column: usize) -> Result<Vec<ArrayRef>> {
        let of = |source: &Vec<ArrayRef>| {
            source
                .get(column)
                .map(Arc::clone)
                .ok_or_else(|| Error::internal(format!("no decoded column {column}")))
        };
        self.sources.iter().map(of).collect()
    }

    fn gather(&self, column: usize) -> Result<ArrayRef> {
        self.segments.gather(&self.column(column)?)
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
    #[inline]
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
    #[inline]
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
    /// A fault of one of the rows; `Internal` for constants.
    #[inline]
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
            Set::Constant => return Err(Error::internal("a constant is not decoded")),
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

    /// The rows that were added, all under one plan, with their columns not gathered yet; `None` if there are none.
    ///
    /// # Errors
    /// `Internal` if a column has no origin.
    pub(crate) fn take_ungathered(&mut self) -> Result<Option<Ungathered>> {
        let rows = std::mem::take(&mut self.rows);
        let Some(plan) = self.columns.as_ref().filter(|_| rows > 0) else {
            return Ok(None);
        };
        let rows = u32::try_from(rows).map_err(|_| Error::internal("2^32 rows in a batch"))?;
        let mut taken = Ungathered::new(rows);
        for origin in &plan.output {
            let (set, sources) = match origin {
                Origin::Early(index) => (Set::Early, self.early.column(*index)?),
                Origin::Filtered(index) => (Set::Filtered, self.filtered.column(*index)?),
                Origin::Late(index) => (Set::Late, self.late.column(*index)?),
                constant => {
                    let column = constant_column(constant, self.shape.strings, rows as usize)?;
                    let column =
                        column.ok_or_else(|| Error::internal("output column of no origin"))?;
                    taken.add_constant(column);
                    continue;
                }
            };
            taken.add_column(set, sources);
        }
        self.batch += 1;
        let sets = [
            (Set::Early, &mut self.early),
            (Set::Filtered, &mut self.filtered),
            (Set::Late, &mut self.late),
        ];
        for (set, builder) in sets {
            taken.add_segments(set, std::mem::take(&mut builder.segments));
            builder.clear();
        }
        Ok(Some(taken))
    }

    /// Finishes the rows that were added under the current plan.
    fn seal(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.rows);
        let Some(plan) = self.columns.as_ref().filter(|_| rows > 0) else {
            return Ok(());
        };
        let mut arrays = Vec::with_capacity(plan.output.len());
        for origin in &plan.output {
            arrays.push(match origin {
                Origin::Early(index) => self.early.gather(*index)?,
                Origin::Filtered(index) => self.filtered.gather(*index)?,
                Origin::Late(index) => self.late.gather(*index)?,
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
