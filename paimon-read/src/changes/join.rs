//! Two streams of rows in key order, side by side.
//!
//! Batches of both sides are walked at once. Rows with equal keys that follow each other on both sides are compared
//! as stretches, column by column: a stretch that is equal as a whole costs no look at single rows.

use std::cmp::Ordering;

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::ScalarBuffer;
use arrow_row::{RowConverter, Rows, SortField};
use futures_util::StreamExt;
use paimon_meta::{Error, Result, RowKind, TableSchema};

use crate::merge::one_nan;
use crate::stream::BatchStream;

/// Which of the two states a row is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Before,
    After,
}

/// A row that is not the same on both sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The later row, or the earlier one if there is no later one.
    pub(super) source: Source,
    /// Its index in the batch of its side.
    pub(super) index: usize,
    /// Its kind as it was read.
    pub(super) kind: i8,
}

/// What differs between two batches, in key order. Both begin with the column of kinds.
#[derive(Debug)]
pub(super) struct Changed {
    pub(super) before: RecordBatch,
    pub(super) after: RecordBatch,
    pub(super) rows: Vec<Row>,
}

/// One side, its current batch walked up to a row.
struct Side {
    stream: BatchStream,
    batch: RecordBatch,
    kinds: ScalarBuffer<i8>,
    keys: Rows,
    row: usize,
    ended: bool,
}

/// Two sides.
pub(super) struct Join {
    converter: RowConverter,
    /// Positions of the key columns in a batch.
    keys: Vec<usize>,
    sides: [Side; 2],
}

/// Rows that follow each other.
#[derive(Clone, Copy, Debug, Default)]
struct Stretch {
    before: usize,
    after: usize,
    length: usize,
}

impl Join {
    /// Joins the rows of two states of a table: kinds, then all columns.
    ///
    /// # Errors
    /// `Unsupported` for keys that do not compare.
    pub(super) fn new(schema: &TableSchema, streams: [BatchStream; 2]) -> Result<Self> {
        let keys = schema.key_fields()?;
        let position = |id| schema.fields.iter().position(|field| field.id == id);
        let positions = keys.iter().filter_map(|key| Some(position(key.id)? + 1));
        let keys: Vec<usize> = positions.collect();
        let [before, _] = &streams;
        let arrow = before.schema();
        let fields = keys.iter().filter_map(|key| arrow.fields().get(*key));
        let fields = fields.map(|field| SortField::new(field.data_type().clone()));
        let converter = RowConverter::new(fields.collect())
            .map_err(|error| Error::unsupported("keys of this type").with_source(error))?;
        let side = |stream: BatchStream| Side {
            batch: RecordBatch::new_empty(stream.schema()),
            stream,
            kinds: ScalarBuffer::from(Vec::new()),
            keys: converter.empty_rows(0, 0),
            row: 0,
            ended: false,
        };
        let sides = streams.map(side);
        Ok(Self {
            converter,
            keys,
            sides,
        })
    }

    /// What differs in the next rows; `None` at the end of both sides. May find nothing in a call.
    ///
    /// # Errors
    /// Those of the streams.
    pub(super) async fn next(&mut self) -> Result<Option<Changed>> {
        for side in &mut self.sides {
            side.fill(&self.converter, &self.keys).await?;
        }
        let [before, after] = &mut self.sides;
        if before.ended && after.ended {
            return Ok(None);
        }
        let mut rows = Vec::new();
        walk(before, after, &mut rows)?;
        Ok(Some(Changed {
            before: before.batch.clone(),
            after: after.batch.clone(),
            rows,
        }))
    }
}

impl Side {
    fn left(&self) -> usize {
        self.batch.num_rows().saturating_sub(self.row)
    }

    /// Takes the next batch if this one has been walked.
    async fn fill(&mut self, converter: &RowConverter, keys: &[usize]) -> Result<()> {
        while self.left() == 0 && !self.ended {
            let Some(batch) = self.stream.next().await else {
                self.ended = true;
                return Ok(());
            };
            let batch = batch?;
            let columns: Vec<ArrayRef> = keys
                .iter()
                .filter_map(|key| batch.columns().get(*key).map(one_nan))
                .collect();
            self.keys = converter
                .convert_columns(&columns)
                .map_err(|error| Error::internal("cannot encode keys").with_source(error))?;
            let kinds = batch.columns().first();
            let kinds = kinds.and_then(|kinds| kinds.as_primitive_opt::<Int8Type>());
            let kinds = kinds.ok_or_else(|| Error::internal("rows without their kinds"))?;
            self.kinds = kinds.values().clone();
            (self.batch, self.row) = (batch, 0);
        }
        Ok(())
    }

    fn kind(&self, row: usize) -> Result<i8> {
        let kind = self.kinds.get(row).copied();
        kind.ok_or_else(|| Error::internal("a row without its kind"))
    }

    fn is_add(&self, row: usize) -> Result<bool> {
        Ok(RowKind::from_byte(self.kind(row)?)?.is_add())
    }
}

/// Walks both batches until one of them is at its end; a side that has ended leaves all to the other.
fn walk(before: &mut Side, after: &mut Side, rows: &mut Vec<Row>) -> Result<()> {
    let mut same = Stretch::default();
    while (before.left() > 0 || before.ended) && (after.left() > 0 || after.ended) {
        let order = match (before.left(), after.left()) {
            (0, 0) => break,
            (0, _) => Ordering::Greater,
            (_, 0) => Ordering::Less,
            _ => before.keys.row(before.row).cmp(&after.keys.row(after.row)),
        };
        if order == Ordering::Equal {
            if same.length == 0 {
                (same.before, same.after) = (before.row, after.row);
            }
            same.length += 1;
            before.row += 1;
            after.row += 1;
            continue;
        }
        compare(before, after, std::mem::take(&mut same), rows)?;
        if order == Ordering::Less {
            if before.is_add(before.row)? {
                rows.push(Row {
                    source: Source::Before,
                    index: before.row,
                    kind: before.kind(before.row)?,
                });
            }
            before.row += 1;
        } else {
            rows.push(Row {
                source: Source::After,
                index: after.row,
                kind: after.kind(after.row)?,
            });
            after.row += 1;
        }
    }
    compare(before, after, same, rows)
}

/// Adds the later rows of a stretch of equal keys that differ from the earlier ones, in order.
fn compare(before: &Side, after: &Side, stretch: Stretch, rows: &mut Vec<Row>) -> Result<()> {
    let mut open = vec![stretch];
    while let Some(stretch) = open.pop() {
        if stretch.length == 0 || equal(before, after, stretch)? {
            continue;
        }
        if stretch.length == 1 {
            rows.push(Row {
                source: Source::After,
                index: stretch.after,
                kind: after.kind(stretch.after)?,
            });
            continue;
        }
        let half = stretch.length / 2;
        // The first half is looked at first.
        open.push(Stretch {
            before: stretch.before + half,
            after: stretch.after + half,
            length: stretch.length - half,
        });
        open.push(Stretch {
            length: half,
            ..stretch
        });
    }
    Ok(())
}

/// Whether rows have equal values, bit by bit, and both are there or both deleted.
fn equal(before: &Side, after: &Side, stretch: Stretch) -> Result<bool> {
    for offset in 0..stretch.length {
        if before.is_add(stretch.before + offset)? != after.is_add(stretch.after + offset)? {
            return Ok(false);
        }
    }
    let columns = before.batch.columns().iter().zip(after.batch.columns());
    let slices = columns.skip(1).map(|(a, b)| {
        (
            a.slice(stretch.before, stretch.length),
            b.slice(stretch.after, stretch.length),
        )
    });
    Ok(slices.into_iter().all(|(a, b)| a.to_data() == b.to_data()))
}
