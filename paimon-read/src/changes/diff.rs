//! Two states of a bucket as what differs (RP-306).

use std::num::NonZeroUsize;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Int8Array, RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use arrow_select::filter::filter_record_batch;
use arrow_select::interleave::interleave;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt, TryStreamExt, try_unfold};
use paimon_meta::{
    DataSplit, Error, FieldId, IncrementalSplit, Result, RowKind, Split, TableSchema,
};

use super::join::{Changed, Join, JoinColumns, Row};
use super::{claim_parts, inner, states};
use crate::columns::Shape;
use crate::context::ReadContext;
use crate::filter::{PredicateFilter, RowFilter};
use crate::merge::{parts_of_merge, span_of};
use crate::parts::narrowed;
use crate::provider::{Claim, SplitReadProvider, not_mine, read_task};
use crate::request::{ReadRequest, RowKinds, RowOrder};
use crate::stream::BatchStream;
use crate::task::{Part, ReadTask};

/// Reads splits of two states row by row: both are merged, then joined by key.
///
/// | the key is in | result |
/// |---|---|
/// | the earlier state | nothing; with kept deletions the earlier row as `-D` |
/// | the later state | the later row, with its kind |
/// | both, with equal values | nothing |
/// | both | the later row, with its kind; no `-U` is made |
#[derive(Clone, Copy, Debug, Default)]
pub struct DiffProvider;

impl DiffProvider {
    /// The read of one state: whole rows, for all of their columns count when they are compared.
    fn of_states(context: &ReadContext) -> Result<Arc<ReadContext>> {
        let keys = context.table.schema.key_fields()?;
        let keys: Vec<FieldId> = keys.into_iter().map(|field| field.id).collect();
        let predicate = context.request.predicate.as_ref();
        let request = ReadRequest {
            projection: None,
            // The rows of a key pass it together; any other condition would make a row of one state look alone.
            predicate: predicate
                .and_then(|predicate| predicate.project(&mut |column| keys.contains(column))),
            limit: None,
            row_kinds: match context.request.row_kinds {
                RowKinds::Keep => RowKinds::Keep,
                RowKinds::Show | RowKinds::Drop => RowKinds::Show,
            },
            order: RowOrder::Key,
            ..context.request.clone()
        };
        Ok(inner(context, request))
    }
}

impl SplitReadProvider for DiffProvider {
    fn name(&self) -> &'static str {
        "diff"
    }

    fn claim(&self, task: &ReadTask, context: &ReadContext) -> Claim {
        match &task.split {
            Split::Incremental(split)
                if !split.streaming && context.table.schema.has_primary_key() =>
            {
                let tasks = tasks(split, task.part.as_ref());
                match Self::of_states(context) {
                    Ok(of_states) => claim_parts(tasks, &of_states),
                    Err(error) => Claim::Refuse(error),
                }
            }
            _ => Claim::No,
        }
    }

    fn subdivide(
        &self,
        task: ReadTask,
        parts: NonZeroUsize,
        context: &Arc<ReadContext>,
    ) -> BoxFuture<'static, Result<Vec<ReadTask>>> {
        subdivide_states(task, parts, Arc::clone(context)).boxed()
    }

    fn read(&self, task: ReadTask, context: &Arc<ReadContext>) -> Result<BatchStream> {
        let Split::Incremental(split) = task.split else {
            return Err(not_mine());
        };
        let of_states = Self::of_states(context)?;
        let [before, after] = tasks(&split, task.part.as_ref());
        let sides = [
            read_task(before, &of_states)?,
            read_task(after, &of_states)?,
        ];
        let output = Output::new(context)?;
        let schema = SchemaRef::clone(&output.schema);
        let schema_of_table = &context.table.schema;
        let columns = JoinColumns {
            keys: key_positions(schema_of_table)?,
            values: (1..=schema_of_table.fields.len()).collect(),
            kinds: true,
        };
        let join = Join::new(columns, sides)?;
        let changes = try_unfold((join, output), |(mut join, output)| async move {
            let Some(changed) = join.next().await? else {
                return Ok(None);
            };
            let batches = output.batches(&changed)?;
            Ok(Some((batches, (join, output))))
        });
        let rows = changes
            .map_ok(|batches| stream::iter(batches.into_iter().map(Ok)))
            .try_flatten();
        let rows = rows.filter(|batch| {
            let shown = batch.as_ref().is_ok_and(|batch| batch.num_rows() == 0);
            std::future::ready(!shown)
        });
        Ok(BatchStream::new(schema, rows).limited(context.request.limit))
    }
}

/// Each state as a task, of a part the same keys of both.
fn tasks(split: &IncrementalSplit, part: Option<&Part>) -> [ReadTask; 2] {
    states(split).map(|state| ReadTask {
        part: part.cloned(),
        ..ReadTask::new(Split::Data(state))
    })
}

/// Cuts both states at the same keys: rows come in key order, and a key is in one part.
async fn subdivide_states(
    task: ReadTask,
    parts: NonZeroUsize,
    context: Arc<ReadContext>,
) -> Result<Vec<ReadTask>> {
    let Split::Incremental(split) = &task.split else {
        return Err(not_mine());
    };
    let of_states = DiffProvider::of_states(&context)?;
    let [before, after] = states(split);
    let mut both = DataSplit {
        deletion_files: None,
        ..before.clone()
    };
    both.files.extend(after.files.iter().cloned());
    let found = parts_of_merge(&both, task.part.as_ref(), parts, &of_states).await?;
    if found.len() < 2 {
        return Ok(vec![task]);
    }
    let part = |(_, keys, bytes)| {
        let part = Part::Keys(keys);
        let range = span_of(Some(&part), &of_states)?;
        let meets = |state: &DataSplit| {
            let met = state.files.iter().map(|file| range.meets(file));
            let met = met.collect::<Result<Vec<_>>>()?;
            Ok(narrowed(state, |file| met.get(file)?.then_some(())).0)
        };
        let (before, after): (DataSplit, DataSplit) = (meets(&before)?, meets(&after)?);
        let split = IncrementalSplit {
            before: before.files,
            before_deletion_files: before.deletion_files,
            after: after.files,
            after_deletion_files: after.deletion_files,
            partition: split.partition.clone(),
            bucket_path: split.bucket_path.clone(),
            ..*split
        };
        Ok(ReadTask::of_part(Split::Incremental(split), part, bytes))
    };
    found.into_iter().map(part).collect()
}

/// From joined rows to batches of the request.
struct Output {
    schema: SchemaRef,
    /// Positions of the output columns among the columns of a state, kinds left out.
    columns: Vec<usize>,
    /// Of each filter its columns, in the same way.
    filters: Vec<(Arc<dyn RowFilter>, Vec<usize>)>,
    kinds: RowKinds,
    batch_size: usize,
}

impl Output {
    fn new(context: &ReadContext) -> Result<Self> {
        let (schema, request) = (&context.table.schema, &context.request);
        let shape = Shape::new(&context.table, request, context.filter.as_ref())?;
        let position = |id: &FieldId| {
            let found = schema.fields.iter().position(|field| field.id == *id);
            found.ok_or_else(|| Error::invalid_input(format!("the table has no column of id {id}")))
        };
        let columns = match &request.projection {
            None => (0..schema.fields.len()).collect(),
            Some(ids) => ids.iter().map(position).collect::<Result<_>>()?,
        };
        let own = match &request.predicate {
            None => None,
            Some(predicate) => Some(Arc::new(PredicateFilter::new(predicate)?) as _),
        };
        let filters: Vec<Arc<dyn RowFilter>> =
            own.into_iter().chain(context.filter.clone()).collect();
        let filters = filters.into_iter().map(|filter| {
            let columns = filter
                .columns()
                .iter()
                .map(position)
                .collect::<Result<_>>()?;
            Ok((filter, columns))
        });
        Ok(Self {
            schema: shape.schema,
            columns,
            filters: filters.collect::<Result<_>>()?,
            kinds: request.row_kinds,
            batch_size: request.batch_size,
        })
    }

    /// The changed rows that pass, in key order, at most as many in a batch as wanted.
    fn batches(&self, changed: &Changed) -> Result<Vec<RecordBatch>> {
        let mut rows = changed.rows.clone();
        if self.kinds != RowKinds::Keep {
            rows.retain(|row| row.after.is_some());
        }
        let chunks = rows.chunks(self.batch_size);
        chunks.map(|rows| self.batch(changed, rows)).collect()
    }

    fn batch(&self, changed: &Changed, rows: &[Row]) -> Result<RecordBatch> {
        let indices: Vec<(usize, usize)> = rows
            .iter()
            .map(|row| match (row.before, row.after) {
                (_, Some(after)) => (1, after),
                (before, None) => (0, before.unwrap_or_default()),
            })
            .collect();
        let gathered = |columns: &[usize]| {
            let column = |column: &usize| gather(changed, *column, &indices);
            columns.iter().map(column).collect::<Result<Vec<_>>>()
        };
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.columns.len() + 1);
        if self.kinds != RowKinds::Drop {
            let kind = |row: &Row| match row.after {
                None => RowKind::Delete as i8,
                Some(_) => row.kind,
            };
            columns.push(Arc::new(Int8Array::from_iter_values(rows.iter().map(kind))));
        }
        columns.extend(gathered(&self.columns)?);
        let batch = new_batch(&self.schema, columns, rows.len())?;
        if self.filters.is_empty() {
            return Ok(batch);
        }
        let mut passes = vec![true; rows.len()];
        for (filter, needed) in &self.filters {
            let own = evaluate(
                filter.as_ref(),
                changed,
                needed,
                gathered(needed)?,
                rows.len(),
            )?;
            for (row, passes) in passes.iter_mut().enumerate() {
                *passes &= own.is_valid(row) && own.value(row);
            }
        }
        filter_record_batch(&batch, &BooleanArray::from(passes))
            .map_err(|error| Error::internal("cannot filter rows").with_source(error))
    }
}

/// Where the key columns are in a batch of kinds and all columns.
fn key_positions(schema: &TableSchema) -> Result<Vec<usize>> {
    let position = |id| schema.fields.iter().position(|field| field.id == id);
    let keys = schema.key_fields()?.into_iter();
    Ok(keys.filter_map(|key| Some(position(key.id)? + 1)).collect())
}

fn gather(changed: &Changed, column: usize, indices: &[(usize, usize)]) -> Result<ArrayRef> {
    let sides = [&changed.before, &changed.after].map(|batch| batch.columns().get(column + 1));
    let [Some(before), Some(after)] = sides else {
        return Err(Error::internal(format!("a state has no column {column}")));
    };
    interleave(&[before.as_ref(), after.as_ref()], indices)
        .map_err(|error| Error::internal("cannot gather a column").with_source(error))
}

fn evaluate(
    filter: &dyn RowFilter,
    changed: &Changed,
    needed: &[usize],
    arrays: Vec<ArrayRef>,
    rows: usize,
) -> Result<BooleanArray> {
    let fields: Vec<usize> = needed.iter().map(|column| column + 1).collect();
    let schema = changed
        .after
        .schema()
        .project(&fields)
        .map_err(|error| Error::internal("a state without its columns").with_source(error))?;
    filter.evaluate(&new_batch(&Arc::new(schema), arrays, rows)?)
}

fn new_batch(schema: &SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
        .map_err(|error| Error::internal("columns do not form a batch").with_source(error))
}
