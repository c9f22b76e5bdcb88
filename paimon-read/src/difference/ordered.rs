//! Several streams in key order as one. No key is in two of them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use arrow_array::{Array, RecordBatch};
use arrow_row::{OwnedRow, RowConverter, Rows};
use arrow_schema::SchemaRef;
use arrow_select::interleave::interleave;
use futures_util::StreamExt;
use futures_util::stream::try_unfold;
use paimon_meta::{Error, Result};

use crate::changes::{encode_keys, key_converter};
use crate::stream::BatchStream;

/// The rows of all streams by the columns `keys`; `None` without a stream. Holds a batch of each.
///
/// # Errors
/// `Unsupported` for keys that do not compare.
pub(super) fn ordered(
    mut streams: Vec<BatchStream>,
    keys: &[usize],
    batch_size: usize,
) -> Result<Option<BatchStream>> {
    let (Some(last), others) = (streams.pop(), streams) else {
        return Ok(None);
    };
    if others.is_empty() {
        return Ok(Some(last));
    }
    let schema = last.schema();
    let merge = Merge {
        converter: key_converter(&schema, keys)?,
        keys: keys.to_vec(),
        schema: SchemaRef::clone(&schema),
        batch_size,
        runs: others.into_iter().chain([last]).map(Run::new).collect(),
        heads: BinaryHeap::new(),
        begun: false,
    };
    let rows = try_unfold(merge, |mut merge| async move {
        let batch = merge.next().await?;
        Ok(batch.map(|batch| (batch, merge)))
    });
    Ok(Some(BatchStream::new(schema, rows)))
}

/// One stream, its current batch walked up to a row.
struct Run {
    stream: BatchStream,
    batch: Option<(RecordBatch, Rows)>,
    row: usize,
}

struct Merge {
    converter: RowConverter,
    keys: Vec<usize>,
    schema: SchemaRef,
    batch_size: usize,
    runs: Vec<Run>,
    /// The next key of each run that has one.
    heads: BinaryHeap<Reverse<(OwnedRow, usize)>>,
    begun: bool,
}

impl Run {
    fn new(stream: BatchStream) -> Self {
        Self {
            stream,
            batch: None,
            row: 0,
        }
    }

    fn head(&self) -> Option<OwnedRow> {
        let (batch, keys) = self.batch.as_ref()?;
        (self.row < batch.num_rows()).then(|| keys.row(self.row).owned())
    }
}

impl Merge {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        if !std::mem::replace(&mut self.begun, true) {
            for run in 0..self.runs.len() {
                self.load(run).await?;
            }
        }
        let mut rows: Vec<(usize, usize)> = Vec::new();
        while rows.len() < self.batch_size {
            let Some(Reverse((_, number))) = self.heads.pop() else {
                break;
            };
            let Some(run) = self.runs.get_mut(number) else {
                break;
            };
            rows.push((number, run.row));
            run.row += 1;
            if let Some(head) = run.head() {
                self.heads.push(Reverse((head, number)));
                continue;
            }
            // Its batch is replaced, so what was taken of it goes out first.
            let batch = self.gather(&rows)?;
            self.load(number).await?;
            return Ok(Some(batch));
        }
        match rows.is_empty() {
            true => Ok(None),
            false => self.gather(&rows).map(Some),
        }
    }

    /// Takes the next batch of a run.
    async fn load(&mut self, number: usize) -> Result<()> {
        let Some(run) = self.runs.get_mut(number) else {
            return Ok(());
        };
        (run.batch, run.row) = (None, 0);
        if let Some(batch) = run.stream.next().await {
            let batch = batch?;
            let keys = encode_keys(&self.converter, &batch, &self.keys)?;
            run.batch = Some((batch, keys));
        }
        if let Some(head) = run.head() {
            self.heads.push(Reverse((head, number)));
        }
        Ok(())
    }

    fn gather(&self, rows: &[(usize, usize)]) -> Result<RecordBatch> {
        // Runs that have ended take no place among the arrays.
        let open = self.runs.iter().enumerate();
        let open: Vec<(usize, &RecordBatch)> = open
            .filter_map(|(number, run)| Some((number, &run.batch.as_ref()?.0)))
            .collect();
        let place = |number: usize| open.binary_search_by_key(&number, |(number, _)| *number);
        let indices = rows
            .iter()
            .filter_map(|(run, row)| Some((place(*run).ok()?, *row)));
        let indices: Vec<(usize, usize)> = indices.collect();
        let columns = (0..self.schema.fields().len()).map(|column| {
            let arrays = open
                .iter()
                .filter_map(|(_, batch)| batch.columns().get(column));
            let arrays: Vec<&dyn Array> = arrays.map(AsRef::as_ref).collect();
            interleave(&arrays, &indices)
                .map_err(|error| Error::internal("cannot gather a column").with_source(error))
        });
        RecordBatch::try_new(
            SchemaRef::clone(&self.schema),
            columns.collect::<Result<_>>()?,
        )
        .map_err(|error| Error::internal("columns do not form a batch").with_source(error))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::Int32Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int32Type;
    use arrow_schema::{DataType, Field, Schema};
    use futures_util::stream;

    use super::*;
    use crate::read_blocking;

    fn stream_of(batches: &[&[i32]]) -> BatchStream {
        let field = Field::new("k", DataType::Int32, false);
        let schema = Arc::new(Schema::new(vec![field]));
        let batch = |values: &&[i32]| {
            let column = Arc::new(Int32Array::from(values.to_vec()));
            RecordBatch::try_new(Arc::clone(&schema), vec![column])
                .map_err(|error| Error::internal("batch").with_source(error))
        };
        let batches: Vec<_> = batches.iter().map(batch).collect();
        BatchStream::new(schema, stream::iter(batches))
    }

    fn read(streams: Vec<BatchStream>, size: usize) -> Vec<Vec<i32>> {
        let mut batches = read_blocking(ordered(streams, &[0], size).unwrap().unwrap());
        let next = || Some(batches.next_batch()?.unwrap());
        let values = |batch: RecordBatch| {
            batch
                .column(0)
                .as_primitive::<Int32Type>()
                .values()
                .to_vec()
        };
        std::iter::from_fn(next).map(values).collect()
    }

    #[test]
    fn rows_of_several_streams_come_in_key_order() {
        for size in 1..7 {
            let streams = vec![
                stream_of(&[&[1, 5], &[9]]),
                stream_of(&[]),
                stream_of(&[&[2, 3], &[4, 6, 7]]),
                stream_of(&[&[8]]),
            ];
            let batches = read(streams, size);
            assert!(
                batches
                    .iter()
                    .all(|batch| (1..=size).contains(&batch.len()))
            );
            assert_eq!(batches.concat(), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
        }
    }

    #[test]
    fn one_stream_is_passed_on_and_none_is_none() {
        assert_eq!(read(vec![stream_of(&[&[3, 1]])], 1), [[3, 1]]);
        assert!(ordered(Vec::new(), &[0], 1).unwrap().is_none());
    }
}
