//! From merged columns to output batches: retracts dropped or marked, the condition asked, columns laid out.

use std::sync::Arc;

use arrow_array::builder::BooleanBufferBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, BooleanArray, Int8Array, RecordBatch, RecordBatchOptions};
use arrow_buffer::BooleanBuffer;
use arrow_select::concat::concat_batches;
use arrow_select::filter::FilterBuilder;
use paimon_meta::{Error, FieldId, Result, RowKind};

use super::columns::Folded;
use super::plan::FoldPlan;
use crate::columns::Shape;
use crate::compact::{Compactor, copied};
use crate::evolve::Wanted;
use crate::filter::evaluate;
use crate::filter_pass::{is_true, row_filter_answer};
use crate::merge::{KeyGroups, relaid};

/// Output batches being put together.
pub(super) struct Rows {
    shape: Arc<Shape>,
    compactor: Compactor,
    /// Batches too small to be handed out alone.
    small: Vec<RecordBatch>,
    small_rows: usize,
}

impl Rows {
    pub(super) fn new(plan: &FoldPlan) -> Self {
        Self {
            shape: Arc::clone(&plan.output),
            compactor: Compactor::default(),
            small: Vec::new(),
            small_rows: 0,
        }
    }

    /// Adds the rows of some keys, which come from so many decoded batches; returns a batch when there is one. `kinds`
    /// are those of the newest versions, where they are part of the output.
    pub(super) fn add(
        &mut self,
        plan: &FoldPlan,
        kinds: Option<ArrayRef>,
        folded: Folded,
        (groups, sources): (&KeyGroups, usize),
    ) -> Result<Option<RecordBatch>> {
        let Folded {
            mut columns,
            retracted,
        } = folded;
        let mut rows = groups.key_count();
        if let Some(kinds) = kinds {
            columns.push(result_kinds(&kinds, &retracted, groups)?);
        }
        if !plan.keep_retracts && !retracted.is_empty() {
            columns = filtered(&columns, &all_but(rows, &retracted))?;
            rows -= retracted.len();
        }
        if let Some(passed) = self.passed(plan, &columns, rows)? {
            rows = passed.count_set_bits();
            columns = filtered(&columns, &passed)?;
        }
        if rows == 0 {
            return Ok(None);
        }
        let batch = self.batch(plan, &columns, (rows, sources))?;
        self.collect(batch)
    }

    /// What is left.
    pub(super) fn finish(&mut self) -> Result<Option<RecordBatch>> {
        self.small_rows = 0;
        match self.small.len() {
            0 => Ok(None),
            1 => Ok(self.small.pop()),
            _ => {
                let small = std::mem::take(&mut self.small);
                concat_batches(&self.shape.schema, &small)
                    .map(Some)
                    .map_err(|error| Error::internal("cannot join batches").with_source(error))
            }
        }
    }

    /// Batches of less than half the wanted size are joined.
    fn collect(&mut self, batch: RecordBatch) -> Result<Option<RecordBatch>> {
        let is_small = |rows: usize| rows * 2 < self.shape.batch_size;
        if self.small.is_empty() && !is_small(batch.num_rows()) {
            return Ok(Some(batch));
        }
        let full = self.small_rows + batch.num_rows() > self.shape.batch_size
            || !is_small(self.small_rows);
        let joined = if full { self.finish()? } else { None };
        self.small_rows += batch.num_rows();
        self.small.push(owned(batch)?);
        Ok(joined)
    }

    /// The rows that pass the condition; `None` if all do.
    fn passed(
        &self,
        plan: &FoldPlan,
        columns: &[ArrayRef],
        rows: usize,
    ) -> Result<Option<BooleanBuffer>> {
        let column = |id: FieldId| {
            let column = plan.position(id).and_then(|at| columns.get(at));
            column
                .map(Arc::clone)
                .ok_or_else(|| Error::internal(format!("filter column {id} is not read")))
        };
        let mut passed: Option<BooleanBuffer> = None;
        if let Some(condition) = &plan.condition {
            let answer = evaluate(condition, rows, &mut |id| column(*id))?;
            passed = Some(is_true(&answer));
        }
        if let Some(filter) = &self.shape.row_filter {
            let given = filter.columns().iter().map(|id| {
                let array = relaid(column(*id)?, self.shape.strings)?;
                Ok((plan.name(*id), array))
            });
            let given = given.collect::<Result<Vec<_>>>()?;
            let answer = row_filter_answer(&**filter, given, rows)?;
            passed = Some(match passed {
                Some(passed) => &passed & &answer,
                None => answer,
            });
        }
        Ok(passed.filter(BooleanBuffer::has_false))
    }

    fn batch(
        &mut self,
        plan: &FoldPlan,
        columns: &[ArrayRef],
        (rows, sources): (usize, usize),
    ) -> Result<RecordBatch> {
        let output = self.shape.output.iter().map(|wanted| {
            let at = match wanted {
                Wanted::Field(field) => plan.position(field.id),
                // The kinds stand behind the columns.
                _ => Some(plan.merged),
            };
            let column = at.and_then(|at| columns.get(at));
            let column = column.ok_or_else(|| Error::internal("an output column is not read"))?;
            relaid(Arc::clone(column), self.shape.strings)
        });
        let output = output.collect::<Result<Vec<_>>>()?;
        let output = self.compactor.compact(output, sources);
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(&self.shape.schema), output, &options).map_err(
            |error| Error::corrupt("merged values do not fit the columns").with_source(error),
        )
    }
}

/// A batch that keeps nothing alive but its values.
fn owned(batch: RecordBatch) -> Result<RecordBatch> {
    let columns = batch.columns().iter().map(copied).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(batch.schema(), columns, &options)
        .map_err(|error| Error::internal("cannot copy a batch").with_source(error))
}

/// Kinds of rows: a lone version's own; merged ones are inserts or deletes (ME 1.8).
fn result_kinds(kinds: &ArrayRef, retracted: &[usize], groups: &KeyGroups) -> Result<ArrayRef> {
    let kinds = kinds
        .as_primitive_opt::<Int8Type>()
        .ok_or_else(|| Error::internal("kinds of another type"))?;
    let mut result = kinds.values().to_vec();
    let mut set = |key: usize, kind: RowKind| {
        if let Some(slot) = result.get_mut(key) {
            *slot = kind as i8;
        }
    };
    for group in groups.merged_keys() {
        set(group.key, RowKind::Insert);
    }
    for key in retracted {
        set(*key, RowKind::Delete);
    }
    Ok(Arc::new(Int8Array::from(result)))
}

/// All of `rows` rows but some.
fn all_but(rows: usize, some: &[usize]) -> BooleanBuffer {
    let mut kept = BooleanBufferBuilder::new(rows);
    kept.append_n(rows, true);
    for row in some {
        kept.set_bit(*row, false);
    }
    kept.finish()
}

fn filtered(columns: &[ArrayRef], kept: &BooleanBuffer) -> Result<Vec<ArrayRef>> {
    let filter = FilterBuilder::new(&BooleanArray::new(kept.clone(), None))
        .optimize()
        .build();
    let columns = columns.iter().map(|column| filter.filter(column));
    columns
        .collect::<Result<_, _>>()
        .map_err(|error| Error::internal("cannot filter a column").with_source(error))
}
