//! Decoding one stripe, batch by batch.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, new_null_array};
use arrow_schema::{DataType as ArrowType, SchemaRef};
use paimon_meta::{Error, Frame, Result, ResultExt};

use super::bits::Present;
use super::column::{Column, Streams};
use super::footer::OrcType;
use super::resolve::{Node, node};
use super::row_index::Places;
use crate::output::{output_batch, output_schema, resolve_columns};
use crate::reader::GroupDecoder;
use crate::rows::{RowCursor, RowRanges};
use crate::scan::ScanSpec;

/// What a scan asks of a file, whatever the stripe.
#[derive(Debug)]
pub(super) struct Plan {
    /// Schema of the batches.
    schema: SchemaRef,
    /// For each column of the batches where it is in the file, or its type if the file does not have it.
    columns: Vec<Result<Node, ArrowType>>,
}

impl Plan {
    /// # Errors
    /// `Corrupt` and `Unsupported` name the column that cannot be read as asked, `InvalidInput` one asked twice.
    pub(super) fn new(types: &[OrcType], scan: &ScanSpec) -> Result<Self> {
        let found = resolve_columns(scan, |asked, to| {
            let column = root_column(types, &asked.name);
            column
                .map(|column| node(types, column, &asked.data_type, to))
                .transpose()
        })?;
        let schema = output_schema(scan, &found);
        let columns = found.into_iter().map(|(to, found)| found.ok_or(to));
        Ok(Self {
            schema,
            columns: columns.collect(),
        })
    }

    /// The numbers of the columns to read, ascending.
    pub(super) fn columns(&self) -> Vec<usize> {
        let mut columns = Vec::new();
        for node in self.columns.iter().flatten() {
            node.columns(&mut columns);
        }
        columns.sort_unstable();
        columns
    }

    /// The columns to read, without those inside of them.
    pub(super) fn nodes(&self) -> Vec<&Node> {
        self.columns.iter().flatten().collect()
    }

    /// The columns of a stripe, in the order of the batches; those that the file does not have are left out.
    fn decoders(&self, streams: &Streams) -> Result<Vec<Column>> {
        let decoder = |(index, column): (usize, &Result<Node, ArrowType>)| {
            let node = column.as_ref().ok()?;
            Some(Column::new(node, streams).at(|| self.frame(index)))
        };
        self.columns
            .iter()
            .enumerate()
            .filter_map(decoder)
            .collect()
    }

    fn frame(&self, index: usize) -> Frame {
        let field = self.schema.fields().get(index);
        Frame::Column(field.map_or_else(String::new, |field| field.name().clone()))
    }

    /// The place among the batch's columns of the one that is decoded as number `decoder`.
    fn frame_of(&self, decoder: usize) -> Frame {
        let mut present = self.columns.iter().enumerate().filter(|(_, of)| of.is_ok());
        self.frame(present.nth(decoder).map_or(0, |(index, _)| index))
    }
}

/// The number of a top-level column, the first one of that name.
pub(super) fn root_column(types: &[OrcType], name: &str) -> Option<usize> {
    let root = types.first()?;
    let position = root.names.iter().position(|known| known == name)?;
    root.children.get(position).copied()
}

/// The selected rows of one stripe.
pub(super) struct Batches {
    /// Where this is, for errors.
    file: Arc<str>,
    stripe: usize,
    plan: Plan,
    decoders: Vec<Column>,
    batch_size: u64,
    /// Rows that are still to come.
    rows: RowCursor,
    /// Position of the next row of the decoders, and of the first one of the stripe.
    next: u64,
    first_row: u64,
    /// Where groups of rows begin, if not all of them are read.
    places: Option<Places>,
    failed: bool,
}

impl Batches {
    /// `rows` are those wanted of a stripe that begins with `first_row`.
    ///
    /// # Errors
    /// As [`Column::new`].
    pub(super) fn new(
        place: (&Arc<str>, usize),
        plan: Plan,
        streams: Streams,
        rows: RowRanges,
        first_row: u64,
        batch_size: usize,
    ) -> Result<Self> {
        Ok(Self {
            file: Arc::clone(place.0),
            stripe: place.1,
            decoders: plan.decoders(&streams)?,
            plan,
            batch_size: batch_size.max(1) as u64,
            rows: RowCursor::new(rows),
            next: first_row,
            first_row,
            places: streams.places,
            failed: false,
        })
    }

    fn step(&mut self) -> Result<Option<(RowRanges, RecordBatch)>> {
        let positions = self.rows.take(self.batch_size);
        if positions.is_empty() {
            return Ok(None);
        }
        for range in positions.ranges() {
            self.go_towards(range.start)?;
            let gap = count(range.start.saturating_sub(self.next))?;
            let rows = count(range.end - range.start)?;
            for (index, column) in self.decoders.iter_mut().enumerate() {
                let here = || self.plan.frame_of(index);
                if gap > 0 {
                    column.skip(&Present::All(gap)).at(here)?;
                }
                column.read(&Present::All(rows)).at(here)?;
            }
            self.next = range.end;
        }
        let rows = count(positions.row_count())?;
        Ok(Some((positions, self.batch(rows)?)))
    }

    /// Goes to the group of rows that has a row, if it is a later one than that of the next row.
    fn go_towards(&mut self, row: u64) -> Result<()> {
        let Some(places) = &self.places else {
            return Ok(());
        };
        let group = |row: u64| row.saturating_sub(self.first_row) / places.group_rows.max(1);
        let wanted = group(row);
        if wanted <= group(self.next) {
            return Ok(());
        }
        let number = usize::try_from(wanted).unwrap_or(usize::MAX);
        for (index, column) in self.decoders.iter_mut().enumerate() {
            let seek = column.seek(places, number);
            seek.at(|| self.plan.frame_of(index))?;
        }
        self.next = self.first_row + wanted * places.group_rows;
        Ok(())
    }

    fn batch(&mut self, rows: usize) -> Result<RecordBatch> {
        let mut decoders = self.decoders.iter_mut();
        let columns = &self.plan.columns;
        output_batch(&self.plan.schema, rows, |index| -> Result<ArrayRef> {
            match columns.get(index) {
                Some(Err(absent)) => Ok(new_null_array(absent, rows)),
                Some(Ok(_)) => {
                    let decoder = decoders.next();
                    decoder
                        .ok_or_else(|| Error::internal("scan has too few columns"))?
                        .finish()
                }
                None => Err(Error::internal("scan has too few columns")),
            }
        })
    }
}

fn count(rows: u64) -> Result<usize> {
    usize::try_from(rows).map_err(|_| Error::internal("batch of more rows than memory can hold"))
}

impl Iterator for Batches {
    type Item = Result<(RowRanges, RecordBatch)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.step().transpose()?;
        self.failed = next.is_err();
        Some(
            next.at(|| Frame::RowGroup(self.stripe))
                .at(|| Frame::File(self.file.to_string())),
        )
    }
}

impl GroupDecoder for Batches {}
