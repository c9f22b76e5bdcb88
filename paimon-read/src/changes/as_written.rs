//! Rows of key-value files as they were written: streaming splits, and rows that wait in the postpone bucket (RP-303).

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use paimon_meta::{Error, Frame, Result, RowKind, Split};

use crate::columns::Shape;
use crate::context::ReadContext;
use crate::describe::SectionDescription;
use crate::estimate::Estimate;
use crate::files::FilePicks;
use crate::parts::files_with_rows;
use crate::provider::{Claim, SplitReadProvider, not_mine};
use crate::raw::{estimate_raw, raw_columns};
use crate::request::{RowKinds, RowOrder};
use crate::split_read::{Leg, check, partition_values, stream};
use crate::stream::BatchStream;
use crate::task::ReadTask;

/// Reads splits of primary-key tables whose rows are changes: every row of every file, in the order of the split, with the
/// kind that was written. Nothing is merged, deletions are rows like any other, and a key may come several times
/// (RP-304).
#[derive(Clone, Copy, Debug, Default)]
pub struct AsWrittenProvider;

impl SplitReadProvider for AsWrittenProvider {
    fn name(&self) -> &'static str {
        "as written"
    }

    fn claim(&self, task: &ReadTask, context: &ReadContext) -> Claim {
        let Split::Data(split) = &task.split else {
            return Claim::No;
        };
        let changes = split.streaming || split.bucket < 0;
        // Rows that belong together, those of an update, must not get into two parts.
        let changes = changes && task.part.is_none();
        if !context.table.schema.has_primary_key() || !changes {
            return Claim::No;
        }
        if context.request.order == RowOrder::Key && split.files.len() > 1 {
            return Claim::Refuse(Error::unsupported("changes in key order"));
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
        let shape = stored_kinds(&*context.shape()?);
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
        // Kinds prune nothing.
        estimate_raw(task, most_files, Arc::clone(context)).boxed()
    }

    fn read(&self, task: ReadTask, context: &Arc<ReadContext>) -> Result<BatchStream> {
        let Split::Data(split) = task.split else {
            return Err(not_mine());
        };
        let partition = partition_values(&split, context)?;
        let rows = stream(split, context, move |opens, shape, split| {
            let columns = raw_columns(&stored_kinds(shape), opens.opener().context(), &partition)?;
            let files = files_with_rows(split, None)?;
            let picks = FilePicks::new(opens, Arc::new(columns), files);
            Ok(VecDeque::from([Leg {
                picks: Box::new(picks),
                fold: None,
            }]))
        })?;
        if context.request.row_kinds == RowKinds::Drop {
            return Ok(rows);
        }
        let schema = rows.schema();
        Ok(rows.map(schema, checked_kinds))
    }
}

/// The shape of a read that takes kinds from the files.
fn stored_kinds(shape: &Shape) -> Shape {
    Shape {
        stored_kinds: true,
        ..shape.clone()
    }
}

/// A batch, if its kinds are kinds.
fn checked_kinds(batch: RecordBatch) -> Result<RecordBatch> {
    let kinds = batch.columns().first();
    let kinds = kinds
        .and_then(|kinds| kinds.as_primitive_opt::<Int8Type>())
        .ok_or_else(|| Error::internal("rows without their kinds"))?;
    let known = 0..=RowKind::Delete as i8;
    match kinds.values().iter().find(|kind| !known.contains(kind)) {
        None => Ok(batch),
        Some(kind) => Err(RowKind::from_byte(*kind)
            .err()
            .unwrap_or_else(|| Error::corrupt(format!("row kind {kind}")))
            .at(Frame::Field("_VALUE_KIND".to_owned()))),
    }
}
