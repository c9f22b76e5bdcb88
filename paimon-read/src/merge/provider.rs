//! The provider of merge reads. Facts: RP-200, RP-300, RP-303.

use std::sync::Arc;

use paimon_meta::{DataSplit, Result, Split};

use super::describe::describe_sections;
use super::legs::merge_legs;
use crate::context::ReadContext;
use crate::describe::SectionDescription;
use crate::fold::FoldPlan;
use crate::open::FileOpener;
use crate::provider::{Claim, SplitReadProvider, not_mine};
use crate::split_read::{check, partition_values, stream};
use crate::stream::BatchStream;
use crate::task::ReadTask;

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
        Claim::of(check_merge(split, context))
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
        let opener = FileOpener::new(context, split);
        describe_sections(opener, &context.shape()?, split, partition)
    }

    fn read(&self, task: ReadTask, context: &Arc<ReadContext>) -> Result<BatchStream> {
        let Split::Data(split) = task.split else {
            return Err(not_mine());
        };
        let partition = partition_values(&split, context)?;
        stream(split, context, move |opener, shape, split| {
            merge_legs(opener, shape, split, partition)
        })
    }
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
