//! Two states of some keys, merged and joined.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use arrow_select::interleave::interleave;
use futures_util::stream::{self, StreamExt, TryStreamExt, empty, try_unfold};
use paimon_meta::{
    BinaryRow, DataField, DataSplit, Error, FieldId, Predicate, Result, RowKind, TablePredicate,
    TypeKind,
};
use paimon_plan::DifferenceSplit;

use super::ordered::ordered;
use super::{batch_of, streams, with_kind};
use crate::changes::{Changed, Join, JoinColumns};
use crate::context::ReadContext;
use crate::request::{FineTimestamps, ReadRequest, RowKinds, RowOrder};
use crate::stream::BatchStream;

/// A row of the result: its kind, the side it is of, its index in the batch of that side.
type Output = (RowKind, usize, usize);

/// The difference in the keys of a split.
///
/// # Errors
/// What is not supported, by name.
pub(super) fn read(
    split: DifferenceSplit,
    context: &Arc<ReadContext>,
    schema: &SchemaRef,
) -> Result<BatchStream> {
    let keys = context.table.schema.key_fields()?;
    check_timestamps(&keys, &context.request)?;
    let wanted = output_columns(context);
    let outputs = wanted.len();
    let (columns, keys) = with_keys(wanted, &keys);
    let states = of_states(context, columns, split.keys.as_ref())?;
    let side = |splits: Vec<DataSplit>| -> Result<Option<BatchStream>> {
        let streams = streams(splits, &states)?;
        ordered(streams, &keys, context.request.batch_size)
    };
    let outputs: Vec<usize> = (0..outputs).collect();
    let joined = match (side(split.before)?, side(split.after)?) {
        (None, None) => BatchStream::new(SchemaRef::clone(schema), empty()),
        (Some(rows), None) => alone(rows, RowKind::Delete, schema, outputs),
        (None, Some(rows)) => alone(rows, RowKind::Insert, schema, outputs),
        (Some(before), Some(after)) => {
            let columns = JoinColumns {
                keys,
                values: outputs,
                kinds: false,
            };
            let size = context.request.batch_size;
            joined(Join::new(columns, [before, after])?, schema, size)
        }
    };
    Ok(joined)
}

/// Keys that were cut to microseconds would no longer be keys.
fn check_timestamps(keys: &[&DataField], request: &ReadRequest) -> Result<()> {
    let fine = |key: &&&DataField| {
        use TypeKind::{LocalZonedTimestamp, Timestamp};
        matches!(
            key.data_type.kind,
            Timestamp(7..) | LocalZonedTimestamp(7..)
        )
    };
    match keys.iter().find(fine) {
        Some(key) if request.fine_timestamps == FineTimestamps::Microseconds => Err(
            Error::unsupported(format!("difference by column {} in microseconds", key.name)),
        ),
        _ => Ok(()),
    }
}

fn output_columns(context: &ReadContext) -> Vec<FieldId> {
    let fields = &context.table.schema.fields;
    let all = || fields.iter().map(|field| field.id).collect();
    context.request.projection.clone().unwrap_or_else(all)
}

/// The columns with those of the key that are not among them, and where the key columns are.
fn with_keys(mut columns: Vec<FieldId>, keys: &[&DataField]) -> (Vec<FieldId>, Vec<usize>) {
    let place = |key: &&DataField| {
        let known = columns.iter().position(|column| *column == key.id);
        known.unwrap_or_else(|| {
            columns.push(key.id);
            columns.len() - 1
        })
    };
    let places = keys.iter().map(place).collect();
    (columns, places)
}

/// The read of one state: its rows as a batch read gives them, of the keys that may have changed.
fn of_states(
    context: &ReadContext,
    columns: Vec<FieldId>,
    keys: Option<&(BinaryRow, BinaryRow)>,
) -> Result<Arc<ReadContext>> {
    let range = match (keys, context.table.schema.key_fields()?.first()) {
        (Some(keys), Some(first)) => first_column_between(keys, first)?,
        _ => None,
    };
    let condition = context.request.predicate.iter().cloned().chain(range);
    let condition: Vec<TablePredicate> = condition.collect();
    Ok(Arc::new(ReadContext {
        request: ReadRequest {
            projection: Some(columns),
            predicate: (!condition.is_empty()).then(|| Predicate::and(condition)),
            limit: None,
            row_kinds: RowKinds::Drop,
            order: RowOrder::Key,
            ..context.request.clone()
        },
        ..context.clone()
    }))
}

/// The condition that the first key column is in the range of keys. Rows outside have not changed, so that it may let some
/// of them through, but the same ones of both states.
fn first_column_between(
    (min, max): &(BinaryRow, BinaryRow),
    field: &DataField,
) -> Result<Option<TablePredicate>> {
    // Zeros of both signs and NaN have an order of their own in keys.
    if matches!(field.data_type.kind, TypeKind::Float | TypeKind::Double) {
        return Ok(None);
    }
    let low = min.as_ref().datum(0, &field.data_type)?;
    let high = max.as_ref().datum(0, &field.data_type)?;
    Ok(low
        .zip(high)
        .map(|(low, high)| Predicate::between(field.id, field.data_type.clone(), low, high)))
}

/// Rows that only one state has.
fn alone(rows: BatchStream, kind: RowKind, schema: &SchemaRef, outputs: Vec<usize>) -> BatchStream {
    let result = SchemaRef::clone(schema);
    let rows =
        rows.and_then(move |batch| std::future::ready(with_kind(&result, kind, &batch, &outputs)));
    BatchStream::new(SchemaRef::clone(schema), rows)
}

fn joined(join: Join, schema: &SchemaRef, batch_size: usize) -> BatchStream {
    let result = SchemaRef::clone(schema);
    let batches = try_unfold(join, move |mut join| {
        let schema = SchemaRef::clone(&result);
        async move {
            let Some(changed) = join.next().await? else {
                return Ok::<_, Error>(None);
            };
            Ok(Some((batches(&changed, &schema, batch_size)?, join)))
        }
    });
    let rows = batches
        .map_ok(|batches| stream::iter(batches).map(Ok))
        .try_flatten();
    BatchStream::new(SchemaRef::clone(schema), rows)
}

/// What changed, in key order, at most as many rows in a batch as wanted.
fn batches(changed: &Changed, schema: &SchemaRef, batch_size: usize) -> Result<Vec<RecordBatch>> {
    let rows = changed.rows.iter().flat_map(|row| {
        let both = row.before.is_some() && row.after.is_some();
        let (gone, new) = match both {
            true => (RowKind::UpdateBefore, RowKind::UpdateAfter),
            false => (RowKind::Delete, RowKind::Insert),
        };
        let before = row.before.map(|index| (gone, 0, index));
        before
            .into_iter()
            .chain(row.after.map(|index| (new, 1, index)))
    });
    let rows: Vec<Output> = rows.collect();
    rows.chunks(batch_size)
        .map(|rows| batch(changed, schema, rows))
        .collect()
}

fn batch(changed: &Changed, schema: &SchemaRef, rows: &[Output]) -> Result<RecordBatch> {
    let indices: Vec<(usize, usize)> = rows.iter().map(|(_, side, row)| (*side, *row)).collect();
    let kinds = rows.iter().map(|(kind, _, _)| *kind as i8).collect();
    let outputs = schema.fields().len().saturating_sub(1);
    let sides = changed.before.columns().iter().zip(changed.after.columns());
    let columns = sides.take(outputs).map(|(before, after)| {
        interleave(&[before.as_ref(), after.as_ref()], &indices)
            .map_err(|error| Error::internal("cannot gather a column").with_source(error))
    });
    batch_of(schema, kinds, columns.collect::<Result<Vec<ArrayRef>>>()?)
}
