//! An opened Avro file.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use paimon_meta::{AvroCodec, Error, Frame, Result, ResultExt};

use super::batches::{Batches, Counted, FetchedBlocks, Plan};
use super::container::{self, Block, Header};
use crate::reader::{Bounds, DataFile, Grain, GroupBatches, GroupLayout, Layout};
use crate::rows::{RowCursor, RowRanges};
use crate::scan::{FileColumn, ScanSpec};
use crate::source::{ByteSource, read_all};

/// Blocks are taken together until they have this many bytes: one block has 64 KiB of records, too few to ask a store for.
const GROUP_BYTES: u64 = 4 << 20;

/// An opened Avro file. Cheap to clone, so that futures need not borrow it.
#[derive(Clone)]
pub(super) struct AvroFile(Arc<Inner>);

struct Inner {
    name: Arc<str>,
    source: Arc<dyn ByteSource>,
    header: Header,
    layout: Layout,
    /// The blocks of each group.
    groups: Vec<Vec<Block>>,
    /// The whole file, if it is small.
    bytes: Option<Bytes>,
}

impl AvroFile {
    pub(super) async fn open(source: Arc<dyn ByteSource>) -> Result<Self> {
        let name: Arc<str> = source.name().into();
        let container = container::open(source.as_ref())
            .await
            .at(|| Frame::File(name.to_string()))?;
        let groups = grouped(container.blocks);
        Ok(Self(Arc::new(Inner {
            name,
            source,
            layout: layout(&container.header, &groups),
            header: container.header,
            groups,
            bytes: container.bytes,
        })))
    }

    /// `rows` are those inside the group.
    async fn fetch(
        self,
        group: usize,
        rows: RowRanges,
        scan: Arc<ScanSpec>,
    ) -> Result<GroupBatches> {
        let here = |error: Error| self.here(group, error);
        if group >= self.0.groups.len() {
            let groups = self.0.groups.len();
            let message = format!("row group {group} of a file with {groups}");
            return Err(here(Error::invalid_input(message)));
        }
        let plan = Plan::new(&self.0.header, &scan).map_err(here)?;
        let batch_size = scan.batch_size.max(1);
        if plan.reads_nothing() {
            return Ok(Box::new(Counted {
                plan,
                rows: RowCursor::new(rows),
                batch_size,
            }));
        }
        Ok(Box::new(Batches {
            file: Arc::clone(&self.0.name),
            group,
            plan,
            codec: AvroCodec::from_name(&self.0.header.codec).map_err(here)?,
            batch_size,
            blocks: self.blocks(group, &rows).await?,
            rows,
            open: None,
            failed: false,
        }))
    }

    /// The blocks of a group that hold some of the rows.
    async fn blocks(&self, group: usize, rows: &RowRanges) -> Result<FetchedBlocks> {
        let layout = self.0.layout.groups.get(group);
        let mut first = layout.map_or(0, |layout| layout.first_row);
        let mut wanted = Vec::new();
        for block in self.0.groups.get(group).into_iter().flatten() {
            if rows.intersects(first..first + block.rows) {
                wanted.push((first, block.clone()));
            }
            first += block.rows;
        }
        let ranges: Vec<Range<u64>> = wanted
            .iter()
            .map(|(_, block)| block.bytes.clone())
            .collect();
        let buffers = match &self.0.bytes {
            Some(file) => ranges.iter().map(|range| slice(file, range)).collect(),
            None if ranges.is_empty() => Vec::new(),
            None => read_all(self.0.source.as_ref(), ranges).await?,
        };
        let blocks = wanted.into_iter().zip(buffers);
        Ok(blocks
            .map(|((first, block), bytes)| (first, block, bytes))
            .collect::<VecDeque<_>>())
    }

    fn here(&self, group: usize, error: Error) -> Error {
        error
            .at(Frame::RowGroup(group))
            .at(Frame::File(self.0.name.to_string()))
    }
}

impl DataFile for AvroFile {
    fn layout(&self) -> &Layout {
        &self.0.layout
    }

    fn group_bytes(&self, group: usize, scan: &ScanSpec) -> u64 {
        let asked = |column: &FileColumn| self.0.layout.columns.contains(&column.name);
        let group = self.0.layout.groups.get(group);
        group
            .filter(|_| scan.columns.iter().any(asked))
            .map_or(0, |group| group.compressed_bytes)
    }

    fn heap_bytes(&self) -> u64 {
        let blocks: usize = self.0.groups.iter().map(Vec::len).sum();
        let bytes = self.0.bytes.as_ref().map_or(0, Bytes::len);
        (blocks * size_of::<Block>() + bytes) as u64
    }

    /// An Avro file says nothing of its values.
    fn bounds(&self, _: &FileColumn, _: Grain) -> BoxFuture<'static, Result<Option<Bounds>>> {
        ready(Ok(None)).boxed()
    }

    fn fetch(
        &self,
        group: usize,
        rows: &RowRanges,
        scan: &Arc<ScanSpec>,
    ) -> BoxFuture<'static, Result<GroupBatches>> {
        let rows = self.0.layout.rows_in(group, rows);
        self.clone().fetch(group, rows, Arc::clone(scan)).boxed()
    }
}

impl fmt::Debug for AvroFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AvroFile")
            .field("name", &self.0.name)
            .finish_non_exhaustive()
    }
}

fn slice(file: &Bytes, range: &Range<u64>) -> Bytes {
    let place = |at: u64| usize::try_from(at).map_or(file.len(), |at| at.min(file.len()));
    file.slice(place(range.start)..place(range.end))
}

fn grouped(blocks: Vec<Block>) -> Vec<Vec<Block>> {
    let mut groups: Vec<Vec<Block>> = Vec::new();
    let mut bytes = GROUP_BYTES;
    for block in blocks {
        if bytes >= GROUP_BYTES {
            groups.push(Vec::new());
            bytes = 0;
        }
        bytes += block.bytes.end - block.bytes.start;
        if let Some(group) = groups.last_mut() {
            group.push(block);
        }
    }
    groups
}

fn layout(header: &Header, groups: &[Vec<Block>]) -> Layout {
    let columns = header.fields.iter().map(|field| field.name.clone());
    let mut layout = Layout {
        selects_rows: true,
        columns: columns.collect(),
        ..Layout::default()
    };
    for group in groups {
        let row_count = group.iter().map(|block| block.rows).sum();
        let bytes = group
            .iter()
            .map(|block| block.bytes.end - block.bytes.start);
        layout.groups.push(GroupLayout {
            first_row: layout.row_count,
            row_count,
            compressed_bytes: bytes.sum(),
        });
        layout.row_count += row_count;
    }
    layout
}
