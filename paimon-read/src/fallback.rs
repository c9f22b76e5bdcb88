//! Splits of the branch that a table falls back to: read as a table of their own, in the columns of the table (RP-537).

use std::num::NonZeroUsize;
use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use paimon_meta::{
    DataSplit, Error, FieldId, Leaf, Predicate, ResolvedTable, Result, Split, TablePredicate,
    TableSchema,
};

use crate::columns::Shape;
use crate::context::ReadContext;
use crate::estimate::Estimate;
use crate::filter::RowFilter;
use crate::provider::{Claim, SplitReadProvider, not_mine, provider_of, read_task};
use crate::request::ReadRequest;
use crate::stream::BatchStream;
use crate::task::{Part, ReadTask};

/// Reads splits of the fallback branch: their files have schemas of that branch, whose columns are those of the table by
/// position.
#[derive(Clone, Copy, Debug, Default)]
pub struct FallbackProvider;

impl SplitReadProvider for FallbackProvider {
    fn name(&self) -> &'static str {
        "fallback"
    }

    fn claim(&self, task: &ReadTask, context: &ReadContext) -> Claim {
        let Split::Fallback(split) = &task.split else {
            return Claim::No;
        };
        let claimed = in_branch(context).and_then(|context| {
            let task = data_task(split.clone(), task.part.clone());
            provider_of(&task, &context).map(|_| ())
        });
        Claim::of(claimed)
    }

    fn estimate(
        &self,
        task: ReadTask,
        most_files: usize,
        context: &Arc<ReadContext>,
    ) -> BoxFuture<'static, Result<Option<Estimate>>> {
        let Split::Fallback(split) = task.split else {
            return ready(Err(not_mine())).boxed();
        };
        let task = data_task(split, task.part);
        let estimate = in_branch(context).and_then(|branch| {
            let provider = provider_of(&task, &branch)?;
            Ok(provider.estimate(task.clone(), most_files, &branch))
        });
        estimate.unwrap_or_else(|error| ready(Err(error)).boxed())
    }

    fn subdivide(
        &self,
        task: ReadTask,
        parts: NonZeroUsize,
        context: &Arc<ReadContext>,
    ) -> BoxFuture<'static, Result<Vec<ReadTask>>> {
        subdivide_in_branch(task, parts, Arc::clone(context)).boxed()
    }

    fn read(&self, task: ReadTask, context: &Arc<ReadContext>) -> Result<BatchStream> {
        let Split::Fallback(split) = task.split else {
            return Err(not_mine());
        };
        let schema = Shape::new(&context.table, &context.request, None)?.schema;
        let rows = read_task(data_task(split, task.part), &in_branch(context)?)?;
        let own = SchemaRef::clone(&schema);
        Ok(rows.map(schema, move |batch| renamed(&batch, &own)))
    }
}

fn data_task(split: DataSplit, part: Option<Part>) -> ReadTask {
    ReadTask {
        part,
        ..ReadTask::new(Split::Data(split))
    }
}

async fn subdivide_in_branch(
    task: ReadTask,
    parts: NonZeroUsize,
    context: Arc<ReadContext>,
) -> Result<Vec<ReadTask>> {
    let Split::Fallback(split) = task.split else {
        return Err(not_mine());
    };
    let branch = in_branch(&context)?;
    let task = data_task(split, task.part);
    let parts = provider_of(&task, &branch)?.subdivide(task, parts, &branch);
    let back = |task: ReadTask| ReadTask {
        split: match task.split {
            Split::Data(split) => Split::Fallback(split),
            split => split,
        },
        ..task
    };
    Ok(parts.await?.into_iter().map(back).collect())
}

/// The same read of the branch.
fn in_branch(context: &ReadContext) -> Result<Arc<ReadContext>> {
    let fallback = context.table.fallback.as_deref();
    let fallback = fallback.ok_or_else(|| {
        Error::invalid_input("a split of a fallback branch, but the table has none")
    })?;
    let columns = Columns {
        table: &context.table.schema,
        branch: &fallback.schema,
    };
    let request = &context.request;
    let projection = match &request.projection {
        None => fallback
            .schema
            .fields
            .iter()
            .map(|field| field.id)
            .collect(),
        Some(ids) => columns.ids(ids)?,
    };
    let predicate = request.predicate.as_ref();
    let filter = context.filter.as_ref().map(|filter| {
        Ok(Arc::new(BranchFilter {
            columns: columns.ids(filter.columns())?,
            filter: Arc::clone(filter),
        }) as Arc<dyn RowFilter>)
    });
    Ok(Arc::new(ReadContext {
        table: Arc::new(ResolvedTable::clone(fallback)),
        request: ReadRequest {
            projection: Some(projection),
            predicate: predicate
                .map(|predicate| columns.predicate(predicate))
                .transpose()?,
            ..request.clone()
        },
        filter: filter.transpose()?,
        resources: context.resources.clone(),
        providers: context.providers.clone(),
    }))
}

/// Columns of the table and of the branch, the same by position.
struct Columns<'a> {
    table: &'a TableSchema,
    branch: &'a TableSchema,
}

impl Columns<'_> {
    fn id(&self, id: FieldId) -> Result<FieldId> {
        let position = self.table.fields.iter().position(|field| field.id == id);
        let field = position.and_then(|position| self.branch.fields.get(position));
        field
            .map(|field| field.id)
            .ok_or_else(|| Error::invalid_input(format!("the table has no column of id {id}")))
    }

    fn ids(&self, ids: &[FieldId]) -> Result<Vec<FieldId>> {
        ids.iter().map(|id| self.id(*id)).collect()
    }

    fn predicate(&self, predicate: &TablePredicate) -> Result<TablePredicate> {
        let mapped = predicate.try_map(&mut |leaf: &Leaf<FieldId>| {
            let id = self.id(leaf.column).ok()?;
            Some(Predicate::leaf(
                id,
                leaf.data_type.clone(),
                leaf.test.clone(),
            ))
        });
        mapped.ok_or_else(|| Error::invalid_input("the condition names no column of the table"))
    }
}

/// A caller's filter, asked about rows of the branch.
#[derive(Debug)]
struct BranchFilter {
    columns: Vec<FieldId>,
    filter: Arc<dyn RowFilter>,
}

impl RowFilter for BranchFilter {
    fn columns(&self) -> &[FieldId] {
        &self.columns
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanArray> {
        self.filter.evaluate(batch)
    }
}

/// A batch under the names of the table.
fn renamed(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let columns = batch.columns().to_vec();
    RecordBatch::try_new_with_options(SchemaRef::clone(schema), columns, &options).map_err(
        |error| {
            Error::corrupt("rows of the fallback branch do not fit the columns of the table")
                .with_source(error)
        },
    )
}
