//! Reading without a merge: files in order. Facts: RP-200, RP-201, RP-211, section 4 of the read path.

use std::collections::VecDeque;
use std::sync::Arc;

use paimon_meta::{DataSplit, Result, Split};

use crate::columns::{ColumnPlan, PartitionValues, Shape};
use crate::context::ReadContext;
use crate::describe::SectionDescription;
use crate::files::FilePicks;
use crate::provider::{Claim, SplitReadProvider, not_mine};
use crate::request::{RowKinds, RowOrder};
use crate::split_read::{Leg, check, partition_values, stream};
use crate::stream::BatchStream;
use crate::task::ReadTask;

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
        if context.table.schema.has_primary_key() && !needs_no_merge(split, context) {
            return Claim::No;
        }
        let checked = context.shape();
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

    fn read(&self, task: ReadTask, context: &Arc<ReadContext>) -> Result<BatchStream> {
        let Split::Data(split) = task.split else {
            return Err(not_mine());
        };
        let partition = partition_values(&split, context)?;
        stream(split, context, move |opener, shape, split| {
            let columns = raw_columns(shape, opener.context(), &partition)?;
            let files = split.files.into_iter().map(Arc::new).collect();
            let picks = FilePicks::new(opener, Arc::new(columns), files);
            Ok(VecDeque::from([Leg {
                picks: Box::new(picks),
                fold: None,
            }]))
        })
    }
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
