//! A file that is in memory, so that reading it measures nothing but the decoder.

use std::ops::Range;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use paimon_format::ByteSource;
use paimon_meta::Result;

/// A file that is in memory.
#[derive(Debug)]
pub struct Memory(pub Bytes);

impl ByteSource for Memory {
    fn name(&self) -> &str {
        "memory"
    }

    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn read(&self, ranges: Vec<Range<u64>>) -> BoxFuture<'static, Result<Vec<Bytes>>> {
        let position = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let slices = ranges
            .iter()
            .map(|range| self.0.slice(position(range.start)..position(range.end)));
        ready(Ok(slices.collect())).boxed()
    }
}
