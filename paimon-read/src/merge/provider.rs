//! The provider of merge reads. Facts: RP-200, RP-300, RP-303.

use std::num::NonZeroUsize;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use paimon_meta::{DataSplit, Error, FieldId, Result, Split};

use super::describe::describe_sections;
use super::estimate::files_to_read;
use super::legs::merge_legs;
use super::section::divide;
use crate::context::ReadContext;
use crate::describe::SectionDescription;
use crate::estimate::{Estimate, estimate};
use crate::fold::FoldPlan;
use crate::open::FileOpener;
use crate::opens::Opens;
use crate::parts::{SpanOf, key_parts};
use crate::provider::{Claim, SplitReadProvider, not_mine};
use crate::split_read::{check, partition_values, stream};
use crate::stream::BatchStream;
use crate::task::{KeySpan, Part, ReadTask};

/// Reads splits of primary-key tables by merging the sorted runs of each section.
#[derive(Clone, Copy, Debug, Default)]
pub struct MergeProvider;

impl SplitReadProvider for MergeProvider {
    fn name(&self) -> &'static str {
        "merge"
    }

    fn claim(&self, task: &ReadTask, context: &ReadContext) -> Claim {
        let Split::Data(split) = &task.split else {
            return Claim::No;
        };
        // Not merged at all: files of a streaming split are read as they are (RP-303).
        let changes = split.streaming || split.bucket < 0;
        if !context.table.schema.has_primary_key() || changes {
            return Claim::No;
        }
        Claim::of(check_part(task, context).and_then(|()| check_merge(split, context)))
    }

    fn describe(
        &self,
        task: &ReadTask,
        context: &Arc<ReadContext>,
    ) -> Result<Vec<SectionDescription>> {
        let Split::Data(split) = &task.split else {
            return Err(not_mine());
        };
        let partition = partition_values(split, context)?;
        let opens = Opens::new(FileOpener::new(context, split)?);
        describe_sections(
            opens,
            &context.shape()?,
            split,
            partition,
            key_span(task.part.as_ref()),
        )
    }

    fn estimate(
        &self,
        task: ReadTask,
        most_files: usize,
        context: &Arc<ReadContext>,
    ) -> BoxFuture<'static, Result<Option<Estimate>>> {
        estimate_merge(task, most_files, Arc::clone(context)).boxed()
    }

    fn subdivide(
        &self,
        task: ReadTask,
        parts: NonZeroUsize,
        context: &Arc<ReadContext>,
    ) -> BoxFuture<'static, Result<Vec<ReadTask>>> {
        subdivide_keys(task, parts, Arc::clone(context)).boxed()
    }

    fn read(&self, task: ReadTask, context: &Arc<ReadContext>) -> Result<BatchStream> {
        let Split::Data(split) = task.split else {
            return Err(not_mine());
        };
        let partition = partition_values(&split, context)?;
        stream(split, context, move |opens, shape, split| {
            merge_legs(opens, shape, split, partition, key_span(task.part.as_ref()))
        })
    }
}

fn key_span(part: Option<&Part>) -> Option<&KeySpan> {
    match part {
        Some(Part::Keys(span)) => Some(span),
        _ => None,
    }
}

/// The range of keys that a task reads.
pub(crate) fn span_of(part: Option<&Part>, context: &ReadContext) -> Result<SpanOf> {
    let keys = context.table.schema.key_fields()?;
    SpanOf::new(key_span(part), keys.into_iter().cloned().collect())
}

fn check_part(task: &ReadTask, context: &ReadContext) -> Result<()> {
    match &task.part {
        Some(Part::Rows(_)) => Err(Error::invalid_input(
            "the task is a part of files that are read as they are, this request merges them",
        )),
        part => span_of(part.as_ref(), context).map(|_| ()),
    }
}

async fn estimate_merge(
    task: ReadTask,
    most_files: usize,
    context: Arc<ReadContext>,
) -> Result<Option<Estimate>> {
    let Split::Data(split) = task.split else {
        return Err(not_mine());
    };
    let opens = Opens::new(FileOpener::new(&context, &split)?);
    let partition = partition_values(&split, &context)?;
    let span = key_span(task.part.as_ref());
    let files = files_to_read(opens.clone(), &context.shape()?, split, partition, span)?;
    estimate(opens, files, most_files).await.map(Some)
}

async fn subdivide_keys(
    task: ReadTask,
    parts: NonZeroUsize,
    context: Arc<ReadContext>,
) -> Result<Vec<ReadTask>> {
    let Split::Data(split) = &task.split else {
        return Err(not_mine());
    };
    let found = parts_of_merge(split, task.part.as_ref(), parts, &context).await?;
    if found.len() < 2 {
        return Ok(vec![task]);
    }
    let part =
        |(split, span, bytes)| ReadTask::of_part(Split::Data(split), Part::Keys(span), bytes);
    Ok(found.into_iter().map(part).collect())
}

/// As [`key_parts`], of a part of the keys or of all.
///
/// # Errors
/// As [`key_parts`].
pub(crate) async fn parts_of_merge(
    split: &DataSplit,
    part: Option<&Part>,
    parts: NonZeroUsize,
    context: &Arc<ReadContext>,
) -> Result<Vec<(DataSplit, KeySpan, u64)>> {
    let span = span_of(part, context)?;
    let is_key = |id: &FieldId| span.fields().iter().any(|field| field.id == *id);
    let (condition, _) = divide(context.request.predicate.as_ref(), is_key);
    key_parts(split, &span, condition.as_ref(), parts, context).await
}

/// Checks what a merge reads beside the output, too.
fn check_merge(split: &DataSplit, context: &ReadContext) -> Result<()> {
    let shape = context.shape()?;
    let fold = FoldPlan::new(&context.table, &shape, context.request.row_kinds)?;
    check(
        split,
        context,
        fold.as_ref().map_or(&shape, |fold| &fold.versions),
    )
}
