//! Two states of rows without keys: how often each row is there.
//!
//! Rows of the later state's own files are counted first. Each row of the earlier state's own files takes one away, or has
//! gone; what is left has come.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_row::{RowConverter, SortField};
use arrow_schema::SchemaRef;
use arrow_select::filter::filter_record_batch;
use futures_util::StreamExt;
use futures_util::stream::try_unfold;
use paimon_io::Reservation;
use paimon_meta::{Error, FieldId, Result, RowKind};
use paimon_plan::DifferenceSplit;

use super::{batch_of, streams, with_kind};
use crate::context::ReadContext;
use crate::request::{ReadRequest, RowKinds, RowOrder};
use crate::stream::BatchStream;

/// Bytes that a distinct row takes beside its own: its place in the map, its counts, its box.
const OVERHEAD: u64 = 64;

/// The difference of the rows of a split.
///
/// # Errors
/// What is not supported, by name.
pub(super) fn read(
    split: DifferenceSplit,
    context: &Arc<ReadContext>,
    schema: &SchemaRef,
) -> Result<BatchStream> {
    let fields = &context.table.schema.fields;
    let position = |id: &FieldId| fields.iter().position(|field| field.id == *id);
    let outputs = match &context.request.projection {
        None => (0..fields.len()).collect(),
        Some(columns) => columns.iter().filter_map(position).collect(),
    };
    let states = Arc::new(ReadContext {
        request: ReadRequest {
            projection: None,
            limit: None,
            row_kinds: RowKinds::Drop,
            order: RowOrder::Any,
            ..context.request.clone()
        },
        ..context.as_ref().clone()
    });
    let rows_schema = SchemaRef::clone(&states.shape()?.schema);
    let types = rows_schema.fields().iter();
    let types = types.map(|field| SortField::new(field.data_type().clone()));
    let converter = RowConverter::new(types.collect())
        .map_err(|error| Error::unsupported("comparing rows of these types").with_source(error))?;
    let bag = Bag {
        schema: SchemaRef::clone(schema),
        outputs,
        converter,
        // Without an earlier state nothing is held.
        counting: !split.before.is_empty(),
        before: streams(split.before, &states)?.into(),
        after: streams(split.after, &states)?.into(),
        counts: HashMap::new(),
        came: None,
        memory: context.resources.try_reserve(0)?,
        batch_size: context.request.batch_size,
    };
    let rows = try_unfold(bag, |mut bag| async move {
        let batch = bag.next().await?;
        Ok(batch.map(|batch| (batch, bag)))
    });
    Ok(BatchStream::new(SchemaRef::clone(schema), rows))
}

/// How often a row of the later state is there, and when it was first seen.
struct Count {
    first: usize,
    times: u64,
}

/// Rows that came, each with how often.
type Came = VecDeque<(Box<[u8]>, u64)>;

struct Bag {
    schema: SchemaRef,
    /// Positions of the output columns in a row.
    outputs: Vec<usize>,
    converter: RowConverter,
    counting: bool,
    before: VecDeque<BatchStream>,
    after: VecDeque<BatchStream>,
    counts: HashMap<Box<[u8]>, Count>,
    came: Option<Came>,
    memory: Reservation,
    batch_size: usize,
}

/// The next batch of several streams.
async fn next_of(streams: &mut VecDeque<BatchStream>) -> Result<Option<RecordBatch>> {
    while let Some(stream) = streams.front_mut() {
        match stream.next().await {
            Some(batch) => return batch.map(Some),
            None => streams.pop_front(),
        };
    }
    Ok(None)
}

impl Bag {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        while let Some(batch) = next_of(&mut self.after).await? {
            if !self.counting {
                return self.output(RowKind::Insert, &batch).map(Some);
            }
            self.count(&batch)?;
        }
        while let Some(batch) = next_of(&mut self.before).await? {
            let gone = self.gone(&batch)?;
            if gone.num_rows() > 0 {
                return self.output(RowKind::Delete, &gone).map(Some);
            }
        }
        self.next_came()
    }

    fn output(&self, kind: RowKind, batch: &RecordBatch) -> Result<RecordBatch> {
        with_kind(&self.schema, kind, batch, &self.outputs)
    }

    fn count(&mut self, batch: &RecordBatch) -> Result<()> {
        let rows = encode(&self.converter, batch)?;
        for row in &rows {
            if let Some(count) = self.counts.get_mut(row.as_ref()) {
                count.times += 1;
                continue;
            }
            let row: Box<[u8]> = row.as_ref().into();
            self.memory.grow(row.len() as u64 + OVERHEAD)?;
            let first = self.counts.len();
            self.counts.insert(row, Count { first, times: 1 });
        }
        Ok(())
    }

    /// The rows of the earlier state that the later one no longer has.
    fn gone(&mut self, batch: &RecordBatch) -> Result<RecordBatch> {
        let rows = encode(&self.converter, batch)?;
        let gone = rows
            .iter()
            .map(|row| match self.counts.get_mut(row.as_ref()) {
                Some(count) if count.times > 0 => {
                    count.times -= 1;
                    false
                }
                _ => true,
            });
        let gone = BooleanArray::from(gone.collect::<Vec<_>>());
        filter_record_batch(batch, &gone)
            .map_err(|error| Error::internal("cannot filter rows").with_source(error))
    }

    /// Rows that came, in the order in which they were first seen.
    fn next_came(&mut self) -> Result<Option<RecordBatch>> {
        let counts = &mut self.counts;
        let came = self.came.get_or_insert_with(|| {
            let left = counts.drain().filter(|(_, count)| count.times > 0);
            let mut left: Vec<(Box<[u8]>, Count)> = left.collect();
            left.sort_unstable_by_key(|(_, count)| count.first);
            left.into_iter()
                .map(|(row, count)| (row, count.times))
                .collect()
        });
        let mut rows: Vec<Box<[u8]>> = Vec::new();
        while rows.len() < self.batch_size {
            let Some((row, times)) = came.front_mut() else {
                break;
            };
            rows.push(row.clone());
            *times -= 1;
            if *times == 0 {
                came.pop_front();
            }
        }
        if rows.is_empty() {
            return Ok(None);
        }
        let parser = self.converter.parser();
        let columns = self
            .converter
            .convert_rows(rows.iter().map(|row| parser.parse(row)))
            .map_err(|error| Error::internal("cannot decode rows").with_source(error))?;
        let wanted = self.outputs.iter();
        let columns = wanted.filter_map(|column| columns.get(*column).cloned());
        batch_of(
            &self.schema,
            vec![RowKind::Insert as i8; rows.len()],
            columns,
        )
        .map(Some)
    }
}

fn encode(converter: &RowConverter, batch: &RecordBatch) -> Result<arrow_row::Rows> {
    converter
        .convert_columns(batch.columns())
        .map_err(|error| Error::internal("cannot encode rows").with_source(error))
}
