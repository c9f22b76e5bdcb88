//! A byte source in memory that logs what is asked of it.

use std::future::{Future, ready};
use std::ops::Range;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use paimon_format::{ByteSource, DataFile, FormatReader, RowRanges, ScanSpec, next_batch};
use paimon_meta::{Error, Frame, Result};

use arrow_array::RecordBatch;

#[derive(Debug)]
pub(crate) struct MemorySource {
    bytes: Bytes,
    /// What the manifest says, right or wrong.
    size: u64,
    /// Bytes that are not there.
    gap: Range<u64>,
    requests: Mutex<Vec<Vec<Range<u64>>>>,
}

impl MemorySource {
    pub(crate) fn new(bytes: impl Into<Bytes>) -> Arc<Self> {
        let bytes = bytes.into();
        let size = bytes.len() as u64;
        Self::with_size(bytes, size)
    }

    pub(crate) fn with_size(bytes: impl Into<Bytes>, size: u64) -> Arc<Self> {
        Arc::new(Self {
            bytes: bytes.into(),
            size,
            gap: 0..0,
            requests: Mutex::default(),
        })
    }

    /// An object that cannot be read at some place.
    pub(crate) fn with_gap(bytes: Bytes, gap: Range<u64>) -> Arc<Self> {
        Arc::new(Self {
            size: bytes.len() as u64,
            bytes,
            gap,
            requests: Mutex::default(),
        })
    }

    /// The requests so far; forgets them.
    pub(crate) fn take_requests(&self) -> Vec<Vec<Range<u64>>> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }
}

impl MemorySource {
    /// The only range of the only request so far; forgets it.
    pub(crate) fn take_request(&self) -> Range<u64> {
        let requests = self.take_requests();
        assert!(
            requests.len() == 1 && requests[0].len() == 1,
            "{requests:?}"
        );
        requests[0][0].clone()
    }
}

impl ByteSource for MemorySource {
    fn name(&self) -> &str {
        "memory.file"
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn read(&self, ranges: Vec<Range<u64>>) -> BoxFuture<'static, Result<Vec<Bytes>>> {
        self.requests.lock().unwrap().push(ranges.clone());
        let slice = |range: &Range<u64>| {
            let in_gap = range.start < self.gap.end && self.gap.start < range.end;
            if in_gap {
                return Err(Error::not_found("no answer").at(Frame::File("memory.file".into())));
            }
            let range: Range<usize> =
                range.start.try_into().unwrap()..range.end.try_into().unwrap();
            if range.end > self.bytes.len() {
                return Err(Error::corrupt("ends early").at(Frame::File("memory.file".into())));
            }
            Ok(self.bytes.slice(range))
        };
        ready(ranges.iter().map(slice).collect()).boxed()
    }
}

/// The output of a future that waits for nothing but memory.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("memory is never pending")
}

pub(crate) fn open(reader: &dyn FormatReader, bytes: Bytes) -> Result<Arc<dyn DataFile>> {
    now(reader.open(MemorySource::new(bytes)))
}

/// All batches of the rows of one group.
pub(crate) fn read_group(
    file: &dyn DataFile,
    group: usize,
    rows: &RowRanges,
    scan: &Arc<ScanSpec>,
) -> Result<Vec<(RowRanges, RecordBatch)>> {
    let mut batches = now(file.fetch(group, rows, scan))?;
    let next = || now(next_batch(&mut batches));
    std::iter::from_fn(next).collect()
}

/// All batches of a file.
pub(crate) fn read_all(
    file: &dyn DataFile,
    scan: &Arc<ScanSpec>,
) -> Result<Vec<(RowRanges, RecordBatch)>> {
    let rows = RowRanges::from_range(0..file.layout().row_count);
    let mut batches = Vec::new();
    for group in 0..file.layout().groups.len() {
        batches.extend(read_group(file, group, &rows, scan)?);
    }
    Ok(batches)
}
