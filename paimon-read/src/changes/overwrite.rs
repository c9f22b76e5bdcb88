//! What an overwriting commit changed: rows of the earlier state deleted, rows of the later state inserted (RP-305).

use std::sync::Arc;

use arrow_array::{ArrayRef, Int8Array, RecordBatch};
use futures_util::{StreamExt, TryStreamExt};
use paimon_meta::{Error, IncrementalSplit, Result, RowKind, Split};

use super::{claim_parts, states};
use crate::context::ReadContext;
use crate::provider::{Claim, SplitReadProvider, not_mine, read_task};
use crate::request::{ReadRequest, RowKinds};
use crate::stream::BatchStream;
use crate::task::ReadTask;

/// Reads splits of two states that a streaming plan makes of an overwriting commit. Each state is merged and its deletions
/// dropped, whatever kinds are asked for; then all of the earlier one is deleted, and after that the later one is there.
#[derive(Clone, Copy, Debug, Default)]
pub struct OverwriteProvider;

impl OverwriteProvider {
    /// The same read, of the rows of one state.
    fn of_states(context: &ReadContext) -> Arc<ReadContext> {
        let kinds = match context.request.row_kinds {
            RowKinds::Drop => RowKinds::Drop,
            RowKinds::Show | RowKinds::Keep => RowKinds::Show,
        };
        Arc::new(ReadContext {
            request: ReadRequest {
                row_kinds: kinds,
                ..context.request.clone()
            },
            ..context.clone()
        })
    }
}

impl SplitReadProvider for OverwriteProvider {
    fn name(&self) -> &'static str {
        "overwrite"
    }

    fn claim(&self, task: &ReadTask, context: &ReadContext) -> Claim {
        match &task.split {
            Split::Incremental(split)
                if task.part.is_none()
                    && split.streaming
                    && context.table.schema.has_primary_key() =>
            {
                claim_parts(tasks(split), &Self::of_states(context))
            }
            _ => Claim::No,
        }
    }

    fn read(&self, task: ReadTask, context: &Arc<ReadContext>) -> Result<BatchStream> {
        let Split::Incremental(split) = task.split else {
            return Err(not_mine());
        };
        let of_states = Self::of_states(context);
        let [before, after] = tasks(&split);
        let before = read_task(before, &of_states)?;
        let after = read_task(after, &of_states)?;
        let schema = before.schema();
        let has_kinds = of_states.request.row_kinds != RowKinds::Drop;
        let deleted = before.and_then(move |batch| {
            std::future::ready(match has_kinds {
                true => deleted(&batch),
                false => Ok(batch),
            })
        });
        let rows = deleted.chain(after);
        Ok(BatchStream::new(schema, rows).limited(context.request.limit))
    }
}

/// Each state as a task.
fn tasks(split: &IncrementalSplit) -> [ReadTask; 2] {
    states(split).map(|state| ReadTask::new(Split::Data(state)))
}

/// The rows as deletions.
fn deleted(batch: &RecordBatch) -> Result<RecordBatch> {
    let kinds = Int8Array::from(vec![RowKind::Delete as i8; batch.num_rows()]);
    let mut columns: Vec<ArrayRef> = vec![Arc::new(kinds)];
    columns.extend(batch.columns().iter().skip(1).cloned());
    RecordBatch::try_new(batch.schema(), columns)
        .map_err(|error| Error::internal("columns do not form a batch").with_source(error))
}
