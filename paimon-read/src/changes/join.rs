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
use arrow_schema::Schema;
use futures_util::StreamExt;
use paimon_meta::{Error, Result, RowKind};

use crate::merge::one_nan;
use crate::stream::BatchStream;

/// A row that is not the same on both sides, by its index in the batch of each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) before: Option<usize>,
    pub(crate) after: Option<usize>,
    /// The kind of the later row as it was read, or of the earlier one if there is no later one.
    pub(crate) kind: i8,
}

/// Which columns of a batch mean what.
#[derive(Clone, Debug)]
pub(crate) struct JoinColumns {
    /// The trimmed primary key.
    pub(crate) keys: Vec<usize>,
    /// What is compared where keys are equal.
    pub(crate) values: Vec<usize>,
    /// The first column holds row kinds; else all rows are inserts.
    pub(crate) kinds: bool,
}

/// What differs between two batches, in key order.
#[derive(Debug)]
pub(crate) struct Changed {
    pub(crate) before: RecordBatch,
    pub(crate) after: RecordBatch,
    pub(crate) rows: Vec<Row>,
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
pub(crate) struct Join {
    converter: RowConverter,
    columns: JoinColumns,
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
    /// Joins the rows of two states of a table, each in the order of its keys.
    ///
    /// # Errors
    /// `Unsupported` for keys that do not compare.
    pub(crate) fn new(columns: JoinColumns, streams: [BatchStream; 2]) -> Result<Self> {
        let [before, _] = &streams;
        let converter = key_converter(&before.schema(), &columns.keys)?;
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
            columns,
            sides,
        })
    }

    /// What differs in the next rows; `None` at the end of both sides. May find nothing in a call.
    ///
    /// # Errors
    /// Those of the streams.
    pub(crate) async fn next(&mut self) -> Result<Option<Changed>> {
        for side in &mut self.sides {
            side.fill(&self.converter, &self.columns).await?;
        }
        let [before, after] = &mut self.sides;
        if before.ended && after.ended {
            return Ok(None);
        }
        let mut rows = Vec::new();
        walk([before, after], &self.columns.values, &mut rows)?;
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
    async fn fill(&mut self, converter: &RowConverter, read: &JoinColumns) -> Result<()> {
        while self.left() == 0 && !self.ended {
            let Some(batch) = self.stream.next().await else {
                self.ended = true;
                return Ok(());
            };
            let batch = batch?;
            self.keys = encode_keys(converter, &batch, &read.keys)?;
            self.kinds = match read.kinds {
                true => kinds(&batch)?,
                false => vec![RowKind::Insert as i8; batch.num_rows()].into(),
            };
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

/// A converter of the keys of batches with a schema.
///
/// # Errors
/// `Unsupported` for keys that do not compare.
pub(crate) fn key_converter(schema: &Schema, keys: &[usize]) -> Result<RowConverter> {
    let fields = keys.iter().filter_map(|key| schema.fields().get(*key));
    let fields = fields.map(|field| SortField::new(field.data_type().clone()));
    RowConverter::new(fields.collect())
        .map_err(|error| Error::unsupported("keys of this type").with_source(error))
}

/// The keys of a batch, as they compare.
///
/// # Errors
/// `Internal` for a batch of another schema.
pub(crate) fn encode_keys(
    converter: &RowConverter,
    batch: &RecordBatch,
    keys: &[usize],
) -> Result<Rows> {
    let columns: Vec<ArrayRef> = keys
        .iter()
        .filter_map(|key| batch.columns().get(*key).map(one_nan))
        .collect();
    converter
        .convert_columns(&columns)
        .map_err(|error| Error::internal("cannot encode keys").with_source(error))
}

fn kinds(batch: &RecordBatch) -> Result<ScalarBuffer<i8>> {
    let kinds = batch.columns().first();
    let kinds = kinds.and_then(|kinds| kinds.as_primitive_opt::<Int8Type>());
    let kinds = kinds.ok_or_else(|| Error::internal("rows without their kinds"))?;
    Ok(kinds.values().clone())
}

/// Walks both batches until one of them is at its end; a side that has ended leaves all to the other.
fn walk([before, after]: [&mut Side; 2], values: &[usize], rows: &mut Vec<Row>) -> Result<()> {
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
        compare([before, after], values, std::mem::take(&mut same), rows)?;
        if order == Ordering::Less {
            if before.is_add(before.row)? {
                rows.push(Row {
                    before: Some(before.row),
                    after: None,
                    kind: before.kind(before.row)?,
                });
            }
            before.row += 1;
        } else {
            rows.push(Row {
                before: None,
                after: Some(after.row),
                kind: after.kind(after.row)?,
            });
            after.row += 1;
        }
    }
    compare([before, after], values, same, rows)
}

/// Adds the later rows of a stretch of equal keys that differ from the earlier ones, in order.
fn compare(
    [before, after]: [&Side; 2],
    values: &[usize],
    stretch: Stretch,
    rows: &mut Vec<Row>,
) -> Result<()> {
    let mut open = vec![stretch];
    while let Some(stretch) = open.pop() {
        if stretch.length == 0 || equal([before, after], values, stretch)? {
            continue;
        }
        if stretch.length == 1 {
            rows.push(Row {
                before: Some(stretch.before),
                after: Some(stretch.after),
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
fn equal([before, after]: [&Side; 2], values: &[usize], stretch: Stretch) -> Result<bool> {
    for offset in 0..stretch.length {
        if before.is_add(stretch.before + offset)? != after.is_add(stretch.after + offset)? {
            return Ok(false);
        }
    }
    let column = |side: &Side, column: &usize, row: usize| {
        let array = side.batch.columns().get(*column);
        array.map(|array| array.slice(row, stretch.length))
    };
    Ok(values.iter().all(|value| {
        let before = column(before, value, stretch.before);
        let after = column(after, value, stretch.after);
        before
            .zip(after)
            .is_some_and(|(before, after)| before.to_data() == after.to_data())
    }))
}
