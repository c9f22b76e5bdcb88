//! Decoding the blocks of one group, batch by batch.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, new_null_array};
use arrow_schema::{DataType as ArrowType, SchemaRef};
use bytes::Bytes;
use paimon_meta::{AvroCodec, Error, Frame, Result, ResultExt};

use super::column::{Row, Step};
use super::container::{Block, Header};
use super::cursor::Cursor;
use super::resolve;
use super::schema::Type;
use crate::output::{output_batch, output_schema, resolve_columns};
use crate::reader::GroupDecoder;
use crate::rows::RowRanges;
use crate::scan::ScanSpec;

/// What a scan asks of the records of a file.
#[derive(Debug)]
pub(super) struct Plan {
    /// Schema of the batches.
    schema: SchemaRef,
    /// For each column of the batches its number in `row`, or its type if the file does not have it.
    columns: Vec<Result<usize, ArrowType>>,
    row: Row,
    /// The type of the records, to step over them.
    record: Type,
    in_union: bool,
}

impl Plan {
    /// # Errors
    /// `Corrupt` and `Unsupported` name the column that cannot be read as asked, `InvalidInput` one asked twice.
    pub(super) fn new(header: &Header, scan: &ScanSpec) -> Result<Self> {
        let mut columns = Vec::new();
        let found = resolve_columns(scan, |asked, to| {
            let position = header
                .fields
                .iter()
                .position(|field| field.name == asked.name);
            let Some((position, field)) =
                position.and_then(|at| Some((at, header.fields.get(at)?)))
            else {
                return Ok(None);
            };
            columns.push(resolve::column(&field.data_type, &asked.data_type, to)?);
            Ok(Some((position, columns.len() - 1)))
        })?;
        let names = scan.columns.iter().zip(&found);
        let names = names.filter(|(_, (_, found))| found.is_some());
        let names = names.map(|(asked, _)| asked.name.clone()).collect();
        let step = |(position, field): (usize, &super::schema::Field)| {
            let mut present = found.iter().filter_map(|(_, found)| *found);
            match present.find(|(at, _)| *at == position) {
                Some((_, column)) => Step::Read(column),
                None => Step::Skip(field.data_type.clone()),
            }
        };
        let steps = header.fields.iter().enumerate().map(step).collect();
        Ok(Self {
            schema: output_schema(scan, &found),
            row: Row {
                steps,
                columns,
                names,
            },
            columns: found
                .into_iter()
                .map(|(to, found)| found.map(|(_, column)| column).ok_or(to))
                .collect(),
            record: Type::Record(header.fields.clone()),
            in_union: header.in_union,
        })
    }

    /// Whether the batches hold nothing of the file.
    pub(super) fn reads_nothing(&self) -> bool {
        self.row.columns.is_empty()
    }

    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        self.branch(cursor)?;
        self.row.read(cursor)
    }

    fn skip(&self, cursor: &mut Cursor<'_>) -> Result<()> {
        self.branch(cursor)?;
        self.record.skip(cursor)
    }

    fn branch(&self, cursor: &mut Cursor<'_>) -> Result<()> {
        if self.in_union {
            let branch = cursor.long()?;
            if branch != 1 {
                return Err(Error::corrupt(format!(
                    "record of branch {branch}, expected 1: a row is not null"
                )));
            }
        }
        Ok(())
    }

    fn batch(&mut self, rows: usize) -> Result<RecordBatch> {
        let read: Vec<ArrayRef> = self.row.finish()?;
        output_batch(&self.schema, rows, |index| match self.columns.get(index) {
            Some(Ok(column)) => {
                let array = read.get(*column).cloned();
                array.ok_or_else(|| Error::internal("scan has too few columns"))
            }
            Some(Err(absent)) => Ok(new_null_array(absent, rows)),
            None => Err(Error::internal("scan has too few columns")),
        })
    }
}

/// Blocks of which rows are selected, with their bytes.
pub(super) type FetchedBlocks = VecDeque<(u64, Block, Bytes)>;

/// The selected rows of one group.
pub(super) struct Batches {
    /// Where this is, for errors.
    pub(super) file: Arc<str>,
    pub(super) group: usize,
    pub(super) plan: Plan,
    pub(super) codec: AvroCodec,
    pub(super) batch_size: usize,
    /// Selected rows, as file positions.
    pub(super) rows: RowRanges,
    /// Blocks that are not open yet, each with the position of its first row.
    pub(super) blocks: FetchedBlocks,
    pub(super) open: Option<OpenBlock>,
    pub(super) failed: bool,
}

/// A block that is being decoded.
pub(super) struct OpenBlock {
    records: Vec<u8>,
    /// Bytes of it that have been decoded.
    decoded: usize,
    /// Position of the next record, and of the one behind the last.
    next: u64,
    end: u64,
}

impl Batches {
    fn step(&mut self) -> Result<Option<(RowRanges, RecordBatch)>> {
        let mut positions = RowRanges::none();
        let mut rows = 0;
        while rows < self.batch_size {
            let Some(mut block) = self.open.take() else {
                let Some((first, block, bytes)) = self.blocks.pop_front() else {
                    break;
                };
                self.open = Some(self.inflate(first, &block, &bytes)?);
                continue;
            };
            rows += self.decode(&mut block, self.batch_size - rows, &mut positions)?;
            if block.next < block.end {
                self.open = Some(block);
            } else if block.decoded < block.records.len() {
                let left = block.records.len() - block.decoded;
                return Err(Error::corrupt(format!(
                    "block has {left} bytes behind its last record"
                )));
            }
        }
        if rows == 0 {
            return Ok(None);
        }
        Ok(Some((positions, self.plan.batch(rows)?)))
    }

    fn inflate(&mut self, first: u64, block: &Block, bytes: &[u8]) -> Result<OpenBlock> {
        let mut records = Vec::new();
        self.codec.decompress(bytes, &mut records)?;
        let least = self.plan.record.least_bytes() as u64;
        if block.rows.saturating_mul(least) > records.len() as u64 {
            let (rows, bytes) = (block.rows, records.len());
            return Err(Error::corrupt(format!(
                "block of {rows} records has {bytes} bytes"
            )));
        }
        Ok(OpenBlock {
            records,
            decoded: 0,
            next: first,
            end: first + block.rows,
        })
    }

    /// Decodes up to `most` selected rows of a block; the number of them.
    fn decode(
        &mut self,
        block: &mut OpenBlock,
        most: usize,
        positions: &mut RowRanges,
    ) -> Result<usize> {
        let mut cursor = Cursor::new(block.records.get(block.decoded..).unwrap_or_default());
        let selected = self.rows.clip(block.next..block.end);
        let mut left = most as u64;
        for range in selected.ranges() {
            if left == 0 {
                break;
            }
            for row in block.next..range.start {
                self.plan.skip(&mut cursor).at(|| Frame::Entry(row))?;
            }
            let end = range.end.min(range.start + left);
            for row in range.start..end {
                self.plan.read(&mut cursor).at(|| Frame::Entry(row))?;
            }
            positions.push(range.start..end);
            left -= end - range.start;
            block.next = end;
        }
        block.decoded = block.records.len() - cursor.rest.len();
        if selected.span().end <= block.next && block.next < block.end {
            // Nothing more is asked of this block.
            block.next = block.end;
            block.decoded = block.records.len();
        }
        Ok(most - usize::try_from(left).unwrap_or(most))
    }
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
            next.at(|| Frame::RowGroup(self.group))
                .at(|| Frame::File(self.file.to_string())),
        )
    }
}

impl GroupDecoder for Batches {}

/// Batches of no column of the file: only the rows are counted.
pub(super) struct Counted {
    pub(super) plan: Plan,
    pub(super) rows: crate::rows::RowCursor,
    pub(super) batch_size: usize,
}

impl Iterator for Counted {
    type Item = Result<(RowRanges, RecordBatch)>;

    fn next(&mut self) -> Option<Self::Item> {
        let positions = self.rows.take(self.batch_size as u64);
        let rows = usize::try_from(positions.row_count()).ok()?;
        (rows > 0).then(|| Ok((positions, self.plan.batch(rows)?)))
    }
}

impl GroupDecoder for Counted {}
