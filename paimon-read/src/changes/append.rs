//! Two states of a bucket without keys: the rows of the later one that the earlier one does not have (RP-201).

use std::num::NonZeroUsize;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use paimon_meta::{DataSplit, IncrementalSplit, Result, Split};

use super::claim_parts;
use crate::context::ReadContext;
use crate::estimate::Estimate;
use crate::provider::{Claim, SplitReadProvider, not_mine, provider_of, read_task};
use crate::stream::BatchStream;
use crate::task::ReadTask;

/// Reads splits of two states of append tables: the files of the later one. Files that are gone do not show.
#[derive(Clone, Copy, Debug, Default)]
pub struct AppendChangesProvider;

fn later(split: IncrementalSplit) -> ReadTask {
    ReadTask::new(Split::Data(DataSplit {
        snapshot_id: split.snapshot_id,
        partition: split.partition,
        bucket: split.bucket,
        bucket_path: split.bucket_path,
        total_buckets: split.total_buckets,
        files: split.after,
        deletion_files: split.after_deletion_files,
        streaming: split.streaming,
        raw_convertible: true,
    }))
}

impl SplitReadProvider for AppendChangesProvider {
    fn name(&self) -> &'static str {
        "later files"
    }

    fn claim(&self, task: &ReadTask, context: &ReadContext) -> Claim {
        match &task.split {
            Split::Incremental(split)
                if task.part.is_none() && !context.table.schema.has_primary_key() =>
            {
                claim_parts([later(split.clone())], context)
            }
            _ => Claim::No,
        }
    }

    fn estimate(
        &self,
        task: ReadTask,
        most_files: usize,
        context: &Arc<ReadContext>,
    ) -> BoxFuture<'static, Result<Option<Estimate>>> {
        let Split::Incremental(split) = task.split else {
            return ready(Err(not_mine())).boxed();
        };
        let later = later(split);
        match provider_of(&later, context) {
            Ok(provider) => provider.estimate(later, most_files, context),
            Err(error) => ready(Err(error)).boxed(),
        }
    }

    /// The files of the later state are cut as those of any other read; a part is one of that state.
    fn subdivide(
        &self,
        task: ReadTask,
        parts: NonZeroUsize,
        context: &Arc<ReadContext>,
    ) -> BoxFuture<'static, Result<Vec<ReadTask>>> {
        let Split::Incremental(split) = task.split else {
            return ready(Err(not_mine())).boxed();
        };
        let later = later(split);
        match provider_of(&later, context) {
            Ok(provider) => provider.subdivide(later, parts, context),
            Err(error) => ready(Err(error)).boxed(),
        }
    }

    fn read(&self, task: ReadTask, context: &Arc<ReadContext>) -> Result<BatchStream> {
        match task.split {
            Split::Incremental(split) => read_task(later(split), context),
            _ => Err(not_mine()),
        }
    }
}
