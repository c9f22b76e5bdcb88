//! Where a data file's bytes come from.

#[cfg(any(feature = "avro", feature = "orc", feature = "parquet"))]
mod checked;

use std::fmt;
use std::ops::Range;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use paimon_meta::Result;

/// The bytes of one object. Cheap to share; knows its size without asking (the manifest says it).
///
/// Contract: `read` returns one buffer per range, in the order asked, each exactly as long as its range; a range past
/// the end, a short object or a failed request is an error that names the object. Implementations coalesce ranges that
/// lie close to each other and may hand out slices of larger buffers. No work is done before the future is polled;
/// dropping it cancels.
pub trait ByteSource: fmt::Debug + Send + Sync {
    /// Name for error messages: the file's path or name.
    fn name(&self) -> &str;

    /// Size of the object in bytes.
    fn size(&self) -> u64;

    /// The bytes of each range.
    fn read(&self, ranges: Vec<Range<u64>>) -> BoxFuture<'static, Result<Vec<Bytes>>>;
}

#[cfg(any(feature = "avro", feature = "orc", feature = "parquet"))]
pub(crate) use checked::{read_all, read_one};
