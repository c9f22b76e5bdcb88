//! A row group whose bytes come window by window, so that a large one is never in memory as a whole.
//!
//! ```text
//! column a  ▕████████▕████████▕████████▕████████▏      each window brings the same share of each column chunk;
//! column b  ▕██▕██▕██▕██▏                              the decoder takes pages as it comes to them,
//! column c  ▕██████▕██████▕██████▕██████▏              and those before them are freed
//!    window    1        2        3        4
//! ```
//!
//! Where pages begin is only known from the headers before them. They are read, and checked, when a window arrives, and
//! tell how many rows are here. A chunk of a nested column comes as a whole: its headers do not tell rows.

mod source;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use paimon_meta::{Error, Frame, Result};
use parquet::arrow::arrow_reader::RowGroups;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};

use self::source::Source;
use super::pages::{self, Page, Seen};
use crate::source::{ByteSource, read_all};

/// A row group of fewer windows comes in one piece: requests for its parts would lie close together.
const LEAST_WINDOWS: u64 = 4;
/// A chunk of at most so many bytes comes with the first window, for the same reason.
const SMALL_CHUNK: u64 = 1 << 20;

/// The windows of one row group.
pub(super) struct Windows {
    shared: Arc<Shared>,
    source: Arc<dyn ByteSource>,
    /// Windows in all.
    count: u64,
    /// Those that were asked for.
    asked: u64,
}

/// What the windows, those on their way and the decoder share.
struct Shared {
    metadata: Arc<ParquetMetaData>,
    group: usize,
    chunks: Vec<Arc<Chunk>>,
    /// Windows that are here.
    arrived: AtomicU64,
    /// Rows that were here before the last of them came.
    rows_before: AtomicI64,
}

/// The bytes of one column chunk.
struct Chunk {
    leaf: usize,
    range: Range<u64>,
    /// Bytes of a window.
    step: u64,
    held: Mutex<Held>,
    /// Room for a page that two windows share; that of all chunks, which are decoded in one thread.
    across: Arc<Mutex<BytesMut>>,
}

/// What is here of a chunk.
#[derive(Default)]
struct Held {
    /// Offset in the file and bytes, ascending, without gaps.
    segments: VecDeque<(u64, Bytes)>,
    /// Whole pages before this offset were checked.
    checked: u64,
    seen: Seen,
}

impl Windows {
    /// The windows of some leaves of a row group; `None` if it is so small that it comes in one piece.
    pub(super) fn new(
        source: &Arc<dyn ByteSource>,
        metadata: &Arc<ParquetMetaData>,
        group: usize,
        leaves: &[usize],
        window_bytes: u64,
    ) -> Option<Self> {
        let row_group = metadata.row_groups().get(group)?;
        let columns: Vec<_> = leaves
            .iter()
            .filter_map(|leaf| Some((*leaf, row_group.columns().get(*leaf)?)))
            .collect();
        let bytes: u64 = columns
            .iter()
            .map(|(_, column)| column.byte_range().1)
            .sum();
        let count = bytes.div_ceil(window_bytes.max(1));
        if count < LEAST_WINDOWS {
            return None;
        }
        let across = Arc::default();
        let chunks: Vec<Arc<Chunk>> = columns
            .into_iter()
            .map(|(leaf, column)| Chunk::new(leaf, column, count, window_bytes, &across))
            .map(Arc::new)
            .collect();
        let count = chunks.iter().map(|chunk| chunk.windows()).max()?;
        if count < 2 {
            return None;
        }
        Some(Self {
            shared: Arc::new(Shared {
                metadata: Arc::clone(metadata),
                group,
                chunks,
                arrived: AtomicU64::new(0),
                rows_before: AtomicI64::new(0),
            }),
            source: Arc::clone(source),
            count,
            asked: 0,
        })
    }

    /// Brings the next window, where the next batch comes out of the first so many `rows`, and all before the row `end`;
    /// `None` if there is none, if it is on its way, if it is not needed, or not yet: no more than two are held.
    pub(super) fn more(&mut self, rows: u64, end: u64) -> Option<BoxFuture<'static, Result<()>>> {
        let arrived = self.shared.arrived.load(Ordering::Acquire);
        let rows_before = self.shared.rows_before.load(Ordering::Acquire);
        let before_last = i64::try_from(rows).is_ok_and(|rows| rows <= rows_before);
        let is_enough = before_last && self.hold(rows) || self.hold(end);
        if self.asked > arrived || self.asked == self.count || is_enough {
            return None;
        }
        let number = self.asked;
        self.asked += 1;
        let (shared, source) = (Arc::clone(&self.shared), Arc::clone(&self.source));
        Some(async move { shared.bring(source.as_ref(), number).await }.boxed())
    }

    /// Whether the first so many rows of the group are here.
    pub(super) fn hold(&self, rows: u64) -> bool {
        let all_rows = self
            .shared
            .row_group()
            .map_or(0, RowGroupMetaData::num_rows);
        let rows = i64::try_from(rows).unwrap_or(i64::MAX);
        let arrived = self.shared.arrived.load(Ordering::Acquire);
        arrived == self.count
            || rows < all_rows && self.shared.chunks.iter().all(|chunk| chunk.rows() >= rows)
    }

    /// What the decoder reads.
    pub(super) fn row_group(&self) -> impl RowGroups {
        Source(Arc::clone(&self.shared))
    }
}

impl Shared {
    fn row_group(&self) -> Option<&RowGroupMetaData> {
        self.metadata.row_groups().get(self.group)
    }

    /// Reads a window and checks its pages.
    async fn bring(&self, source: &dyn ByteSource, number: u64) -> Result<()> {
        let windows: Vec<(&Arc<Chunk>, Range<u64>)> = self
            .chunks
            .iter()
            .map(|chunk| (chunk, chunk.window(number)))
            .filter(|(_, range)| !range.is_empty())
            .collect();
        let held = self.chunks.iter().map(|chunk| chunk.rows());
        let rows_before = held.min().unwrap_or(0);
        let ranges = windows.iter().map(|(_, range)| range.clone()).collect();
        let buffers = read_all(source, ranges).await?;
        for ((chunk, range), bytes) in windows.into_iter().zip(buffers) {
            self.take_in(chunk, range.start, bytes).map_err(|error| {
                error
                    .at(Frame::RowGroup(self.group))
                    .at(Frame::File(source.name().to_owned()))
            })?;
        }
        self.rows_before.store(rows_before, Ordering::Release);
        self.arrived.store(number + 1, Ordering::Release);
        Ok(())
    }

    fn take_in(&self, chunk: &Chunk, start: u64, bytes: Bytes) -> Result<()> {
        let column = self
            .row_group()
            .and_then(|group| Some((group.columns().get(chunk.leaf)?, group.num_rows())));
        let (column, rows) =
            column.ok_or_else(|| Error::internal("a window of a column that is not there"))?;
        let mut held = chunk.held();
        held.segments.push_back((start, bytes));
        held.check(&pages::Chunk { column, rows }, chunk.range.end)
            .map_err(|what| pages::damaged(column, &what))
    }
}

impl Chunk {
    fn new(
        leaf: usize,
        column: &ColumnChunkMetaData,
        count: u64,
        window_bytes: u64,
        across: &Arc<Mutex<BytesMut>>,
    ) -> Self {
        let (start, length) = column.byte_range();
        let is_small = length <= SMALL_CHUNK.min(window_bytes);
        let whole = is_small || column.column_descr().max_rep_level() > 0;
        Self {
            leaf,
            range: start..start.saturating_add(length),
            step: if whole {
                length
            } else {
                length.div_ceil(count)
            },
            held: Mutex::new(Held {
                checked: start,
                ..Held::default()
            }),
            across: Arc::clone(across),
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Windows that it is in.
    fn windows(&self) -> u64 {
        (self.range.end - self.range.start).div_ceil(self.step.max(1))
    }

    /// Its bytes in a window; none after the last one.
    fn window(&self, number: u64) -> Range<u64> {
        let at = |number: u64| {
            let offset = self.step.saturating_mul(number);
            self.range.start.saturating_add(offset).min(self.range.end)
        };
        at(number)..at(number.saturating_add(1))
    }

    /// A page that is all here.
    fn page(&self, start: u64, length: usize) -> Option<Bytes> {
        let parts = self.held().from(start);
        let first = parts.front()?;
        if length <= first.len() {
            return Some(first.slice(..length));
        }
        // It begins in one window and ends in another. As a rule nobody holds the last such page any more.
        let mut page = self.across.lock().unwrap_or_else(PoisonError::into_inner);
        page.reserve(length.min(parts.iter().map(Bytes::len).sum()));
        for part in &parts {
            let missing = length - page.len();
            page.extend_from_slice(part.get(..missing).unwrap_or(part));
        }
        let page = page.split().freeze();
        (page.len() == length).then_some(page)
    }

    /// Rows whose pages are here.
    fn rows(&self) -> i64 {
        let held = self.held();
        if held.checked == self.range.end {
            i64::MAX
        } else {
            held.seen.values
        }
    }
}

impl Held {
    /// Checks the pages that are whole by now; `end` is that of the chunk.
    fn check(&mut self, chunk: &pages::Chunk<'_>, end: u64) -> Result<(), String> {
        loop {
            let rest = self.from(self.checked);
            let Some(first) = rest.front() else {
                break;
            };
            let available = rest.iter().map(Bytes::len).sum();
            let mut page = self.seen.check_page(chunk, first, available)?;
            if matches!(page, Page::CutHeader) && rest.len() > 1 {
                // The header itself goes on in the next window.
                page = self.seen.check_page(chunk, &joined(&rest), available)?;
            }
            let more_follow = self.checked + (available as u64) < end;
            match page {
                Page::Whole(length) => self.checked += length as u64,
                Page::Cut(_) | Page::CutHeader if more_follow => return Ok(()),
                Page::Cut(what) => return Err(what),
                Page::CutHeader => return Err(pages::NO_HEADER.to_owned()),
            }
        }
        if self.checked == end {
            self.seen.check_end(chunk)?;
        }
        Ok(())
    }

    /// The bytes from an offset on.
    fn from(&self, offset: u64) -> VecDeque<Bytes> {
        let rest = self.segments.iter().filter_map(|(start, bytes)| {
            let skipped = usize::try_from(offset.saturating_sub(*start)).ok()?;
            (skipped < bytes.len()).then(|| bytes.slice(skipped..))
        });
        rest.collect()
    }

    /// Frees what lies before an offset.
    fn free(&mut self, offset: u64) {
        while self
            .segments
            .front()
            .is_some_and(|(start, bytes)| start + bytes.len() as u64 <= offset)
        {
            self.segments.pop_front();
        }
    }
}

fn joined(parts: &VecDeque<Bytes>) -> Bytes {
    let mut whole = BytesMut::with_capacity(parts.iter().map(Bytes::len).sum());
    for part in parts {
        whole.extend_from_slice(part);
    }
    whole.freeze()
}
