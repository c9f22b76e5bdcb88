//! The exact difference of two states as rows.
//!
//! | file | reads |
//! |---|---|
//! | `keyed` | tables with a primary key: both states merged, in key order, side by side |
//! | `ordered` | several buckets of one state as one stream in key order |
//! | `bag` | tables without keys: rows counted |
//! | `maps` | maps whose entries have an order |

mod bag;
mod keyed;
mod maps;
mod ordered;

use std::sync::Arc;

use arrow_array::{ArrayRef, Int8Array, RecordBatch};
use arrow_schema::SchemaRef;
use futures_util::stream::{self, TryStreamExt};
use paimon_io::Resources;
use paimon_meta::{DataSplit, Error, ResolvedTable, Result, RowKind, Split};
use paimon_plan::DifferenceSplit;

use crate::columns::Shape;
use crate::context::ReadContext;
use crate::provider::read_task;
use crate::request::{ReadRequest, RowKinds};
use crate::stream::BatchStream;
use crate::task::ReadTask;

/// Reads the exact difference of two states of a table: what takes one state's rows to those of the other, and nothing that
/// did not change.
///
/// The first column is `_ROW_KIND` (Int8, RP-003), the others are those of the request, under the schema of the later
/// state. Of a table with a primary key, each key once and ascending within a split, nulls first:
///
/// | the key has a row | result |
/// |---|---|
/// | before alone | it, as `-D` |
/// | after alone | it, as `+I` |
/// | before and after, and a requested column differs, bit by bit | the earlier row as `-U`, then the later one as `+U` |
///
/// Of a table without keys, as often as it is there more often: a row as `-D` for each time that it went, and after those as
/// `+I` for each time that it came. There whole rows are compared, whatever columns are requested, and what is held in memory
/// are the rows that only the later state's files have, reserved from the budget of the resources.
///
/// The entries of maps come in the order of their keys, which makes no difference. Rows are those of batch reads with the request's condition: a row that came to satisfy it is `+I`. A partition is part of
/// a row's identity. The request's limit counts over one stream; its row kinds and its order have no meaning here.
#[derive(Clone, Debug)]
pub struct DifferenceReader {
    context: Arc<ReadContext>,
    shape: Arc<Shape>,
}

impl DifferenceReader {
    /// A reader of the table that the difference leads to, with the providers of this crate.
    ///
    /// # Errors
    /// As [`TableReader::new`](crate::TableReader::new).
    pub fn new(
        table: Arc<ResolvedTable>,
        request: ReadRequest,
        resources: Resources,
    ) -> Result<Self> {
        Self::from_context(ReadContext::new(table, request, resources))
    }

    /// A reader with a filter or providers of the caller's own: they see the rows of both states.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn from_context(mut context: ReadContext) -> Result<Self> {
        context.request.row_kinds = RowKinds::Show;
        let shape = context.shape()?;
        Ok(Self {
            context: Arc::new(context),
            shape,
        })
    }

    /// Schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.shape.schema)
    }

    /// The difference in one split. Nothing runs before the stream is polled.
    ///
    /// # Errors
    /// What is not supported, by name, before any data file is touched.
    pub fn read(&self, split: DifferenceSplit) -> Result<BatchStream> {
        let rows = match self.context.table.schema.has_primary_key() {
            true => keyed::read(split, &self.context, &self.schema())?,
            false => bag::read(split, &self.context, &self.schema())?,
        };
        Ok(rows.limited(self.context.request.limit))
    }

    /// The difference in several splits, one after the other; the request's limit counts over all of them.
    ///
    /// # Errors
    /// As [`Self::read`], for any of the splits.
    pub fn read_all(&self, splits: Vec<DifferenceSplit>) -> Result<BatchStream> {
        let streams = splits
            .into_iter()
            .map(|split| self.read(split))
            .collect::<Result<Vec<_>>>()?;
        let rows = stream::iter(streams.into_iter().map(Ok)).try_flatten();
        Ok(BatchStream::new(self.schema(), rows).limited(self.context.request.limit))
    }
}

/// The rows of one state, a stream a bucket.
fn streams(splits: Vec<DataSplit>, context: &Arc<ReadContext>) -> Result<Vec<BatchStream>> {
    let tasks = splits.into_iter().map(Split::Data).map(ReadTask::new);
    let rows = tasks.map(|task| read_task(task, context));
    rows.map(|rows| rows.map(maps::ordered_maps)).collect()
}

/// Rows of one kind as a batch of the result.
fn batch_of(
    schema: &SchemaRef,
    kinds: Vec<i8>,
    columns: impl IntoIterator<Item = ArrayRef>,
) -> Result<RecordBatch> {
    let kinds: ArrayRef = Arc::new(Int8Array::from(kinds));
    let columns = std::iter::once(kinds).chain(columns).collect();
    RecordBatch::try_new(SchemaRef::clone(schema), columns)
        .map_err(|error| Error::internal("columns do not form a batch").with_source(error))
}

/// The batch's columns at some positions, all of one kind.
fn with_kind(
    schema: &SchemaRef,
    kind: RowKind,
    batch: &RecordBatch,
    columns: &[usize],
) -> Result<RecordBatch> {
    let kinds = vec![kind as i8; batch.num_rows()];
    let columns = columns.iter().map(|column| {
        let array = batch.columns().get(*column).cloned();
        array.ok_or_else(|| Error::internal(format!("a state has no column {column}")))
    });
    batch_of(schema, kinds, columns.collect::<Result<Vec<_>>>()?)
}
