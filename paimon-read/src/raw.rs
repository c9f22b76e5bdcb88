//! Reading without a merge: files in order. Facts: RP-200, RP-201, RP-211, section 4 of the read path.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use paimon_meta::{DataSplit, Result, Split};

use crate::columns::{ColumnPlan, PartitionValues, Shape};
use crate::context::ReadContext;
use crate::describe::SectionDescription;
use crate::estimate::{Estimate, FileToRead, FirstPass, estimate};
use crate::files::FilePicks;
use crate::open::FileOpener;
use crate::opens::Opens;
use crate::parts::{check_rows, files_with_rows, row_parts};
use crate::provider::{Claim, SplitReadProvider, not_mine};
use crate::request::{RowKinds, RowOrder};
use crate::split_read::{Leg, check, partition_values, stream};
use crate::stream::BatchStream;
use crate::task::{Part, ReadTask};

/// Reads splits of append tables, and splits of primary-key tables that need no merge.
///
/// A split of a primary-key table is claimed only if retracts are not kept, it is not a streaming split, its raw flag is
/// set, and every file is known to hold no retract rows: the planner counts a missing delete row count as none, a reader
/// must not (RP-211). Other levels, engines or deletion vectors are not looked at: the raw flag is the planner's word
/// (RP-212).
#[derive(Clone, Copy, Debug, Default)]
pub struct RawProvider;

impl SplitReadProvider for RawProvider {
    fn name(&self) -> &'static str {
        "raw"
    }

    fn claim(&self, task: &ReadTask, context: &ReadContext) -> Claim {
        let Split::Data(split) = &task.split else {
            return Claim::No;
        };
        let is_part_of_merge = matches!(task.part, Some(Part::Keys(_)));
        let has_key = context.table.schema.has_primary_key();
        if has_key && (is_part_of_merge || !needs_no_merge(split, context)) {
            return Claim::No;
        }
        let checked = check_rows(split, task.part.as_ref()).and_then(|()| context.shape());
        let checked = checked.and_then(|shape| check(split, context, &shape));
        Claim::of(checked)
    }

    fn describe(
        &self,
        task: &ReadTask,
        context: &Arc<ReadContext>,
    ) -> Result<Vec<SectionDescription>> {
        let Split::Data(split) = &task.split else {
            return Err(not_mine());
        };
        let shape = context.shape()?;
        let columns = raw_columns(&shape, context, &partition_values(split, context)?)?;
        let all = vec![(0..split.files.len()).collect()];
        Ok(vec![SectionDescription::new(all, &columns, None)])
    }

    fn estimate(
        &self,
        task: ReadTask,
        most_files: usize,
        context: &Arc<ReadContext>,
    ) -> BoxFuture<'static, Result<Option<Estimate>>> {
        estimate_raw(task, most_files, Arc::clone(context)).boxed()
    }

    fn subdivide(
        &self,
        task: ReadTask,
        parts: NonZeroUsize,
        context: &Arc<ReadContext>,
    ) -> BoxFuture<'static, Result<Vec<ReadTask>>> {
        subdivide_rows(task, parts, Arc::clone(context)).boxed()
    }

    fn read(&self, task: ReadTask, context: &Arc<ReadContext>) -> Result<BatchStream> {
        let Split::Data(split) = task.split else {
            return Err(not_mine());
        };
        let partition = partition_values(&split, context)?;
        stream(split, context, move |opens, shape, split| {
            let columns = raw_columns(shape, opens.opener().context(), &partition)?;
            let files = files_with_rows(split, task.part)?;
            let picks = FilePicks::new(opens, Arc::new(columns), files);
            Ok(VecDeque::from([Leg {
                picks: Box::new(picks),
                fold: None,
            }]))
        })
    }
}

/// Parts of files that are read as they are.
///
/// # Errors
/// As [`row_parts`].
async fn subdivide_rows(
    task: ReadTask,
    parts: NonZeroUsize,
    context: Arc<ReadContext>,
) -> Result<Vec<ReadTask>> {
    let Split::Data(split) = &task.split else {
        return Err(not_mine());
    };
    let found = row_parts(split, task.part.clone(), parts, &context).await?;
    if found.len() < 2 {
        return Ok(vec![task]);
    }
    let part = |(split, part, bytes)| ReadTask::of_part(Split::Data(split), part, bytes);
    Ok(found.into_iter().map(part).collect())
}

/// What is left of files that are read as they are.
///
/// # Errors
/// Those of the task, the store and the files.
pub(crate) async fn estimate_raw(
    task: ReadTask,
    most_files: usize,
    context: Arc<ReadContext>,
) -> Result<Option<Estimate>> {
    let Split::Data(split) = task.split else {
        return Err(not_mine());
    };
    let opens = Opens::new(FileOpener::new(&context, &split)?);
    let partition = partition_values(&split, &context)?;
    let columns = Arc::new(raw_columns(&*context.shape()?, &context, &partition)?);
    let files = files_with_rows(split, task.part)?.into_iter();
    let files = files.map(|file| FileToRead {
        meta: file.meta,
        columns: Arc::clone(&columns),
        first: FirstPass::Rows(file.rows),
    });
    let found = estimate(opens, files.collect(), most_files);
    found.await.map(Some)
}

/// Nothing is known of a row before it is read.
pub(crate) fn raw_columns(
    shape: &Shape,
    context: &ReadContext,
    partition: &PartitionValues,
) -> Result<ColumnPlan> {
    let condition = shape.predicate.clone();
    ColumnPlan::new(shape, &context.table.schema, &[], partition, condition)
}

fn needs_no_merge(split: &DataSplit, context: &ReadContext) -> bool {
    let in_order = context.request.order == RowOrder::Any || split.files.len() <= 1;
    context.request.row_kinds != RowKinds::Keep
        && !split.streaming
        && split.raw_convertible
        && split
            .files
            .iter()
            .all(|file| file.is_known_without_deletes())
        && in_order
}
