//! Reading a whole file, or any of its rows, as one stream.

use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use arrow_array::RecordBatch;
use futures_util::future::BoxFuture;
use futures_util::stream::{BoxStream, Stream, StreamExt};
use paimon_meta::Result;

use crate::reader::{DataFile, GroupBatches, GroupLayout};
use crate::rows::RowRanges;
use crate::scan::ScanSpec;

/// The batches of the given rows, in file order, each with the positions of its rows.
///
/// Nothing happens before the stream is polled. While a row group decodes, the next one that has rows is fetched; so
/// memory holds the bytes of two row groups ([`DataFile::group_bytes`]). A poll decodes at most one batch.
/// The stream ends after an error.
pub fn scan_file(
    file: Arc<dyn DataFile>,
    rows: RowRanges,
    scan: Arc<ScanSpec>,
) -> BoxStream<'static, Result<(RowRanges, RecordBatch)>> {
    FileScan {
        groups: 0..file.layout().groups.len(),
        file,
        rows,
        scan,
        decoding: None,
        window: None,
        fetching: None,
    }
    .boxed()
}

struct FileScan {
    file: Arc<dyn DataFile>,
    rows: RowRanges,
    scan: Arc<ScanSpec>,
    /// Groups that are not asked for yet.
    groups: Range<usize>,
    decoding: Option<GroupBatches>,
    /// More bytes of the group being decoded, on their way.
    window: Option<BoxFuture<'static, Result<()>>>,
    fetching: Option<Fetch>,
}

enum Fetch {
    Running(BoxFuture<'static, Result<GroupBatches>>),
    Done(Result<GroupBatches>),
}

impl FileScan {
    /// Fetches the next group with rows, if none is on its way, and takes it further.
    fn read_ahead(&mut self, context: &mut Context<'_>) {
        if self.fetching.is_none() {
            let layout = self.file.layout();
            let has_rows = |group: &GroupLayout| {
                self.rows
                    .intersects(group.first_row..group.first_row + group.row_count)
            };
            let next = self
                .groups
                .find(|group| layout.groups.get(*group).is_some_and(has_rows));
            self.fetching =
                next.map(|group| Fetch::Running(self.file.fetch(group, &self.rows, &self.scan)));
        }
        if let Some(Fetch::Running(fetch)) = &mut self.fetching
            && let Poll::Ready(fetched) = fetch.as_mut().poll(context)
        {
            self.fetching = Some(Fetch::Done(fetched));
        }
    }

    /// Ready when the next batch can be decoded; the window after that one is asked for meanwhile.
    fn poll_window(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        loop {
            let Some(batches) = &mut self.decoding else {
                return Poll::Ready(Ok(()));
            };
            if self.window.is_none() {
                self.window = batches.more();
            }
            let is_ready = batches.is_ready();
            match self
                .window
                .as_mut()
                .map(|window| window.as_mut().poll(context))
            {
                Some(Poll::Ready(brought)) => {
                    self.window = None;
                    brought?;
                }
                Some(Poll::Pending) if !is_ready => return Poll::Pending,
                _ => return Poll::Ready(Ok(())),
            }
        }
    }

    fn stop(&mut self) {
        self.window = None;
        self.decoding = None;
        self.fetching = None;
        self.groups = 0..0;
    }
}

impl Stream for FileScan {
    type Item = Result<(RowRanges, RecordBatch)>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            self.read_ahead(context);
            if let Err(error) = ready!(self.poll_window(context)) {
                self.stop();
                return Poll::Ready(Some(Err(error)));
            }
            if let Some(batches) = &mut self.decoding {
                match batches.next() {
                    Some(Ok(batch)) => return Poll::Ready(Some(Ok(batch))),
                    Some(Err(error)) => {
                        self.stop();
                        return Poll::Ready(Some(Err(error)));
                    }
                    None => self.decoding = None,
                }
            }
            match self.fetching.take() {
                None => return Poll::Ready(None),
                Some(Fetch::Done(Ok(batches))) => self.decoding = Some(batches),
                Some(Fetch::Done(Err(error))) => {
                    self.stop();
                    return Poll::Ready(Some(Err(error)));
                }
                running => {
                    self.fetching = running;
                    return Poll::Pending;
                }
            }
        }
    }
}
