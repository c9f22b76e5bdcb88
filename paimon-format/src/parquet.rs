//! Parquet files, decoded by the `parquet` crate. Facts: table-format sections 7.5, 8.1 and 8.2.
//!
//! The crate's push decoder asks for bytes and is given them, so that all requests go through [`ByteSource`] and one
//! row group can be fetched while another decodes.

mod batches;
mod bloom;
mod bounds;
mod column;
mod convert;
mod error;
mod file;
mod footer;
mod nested;
mod page_index;
mod pages;
mod part;
mod plan;
mod schema;
mod stored;
mod thrift;
mod windows;

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use paimon_meta::Result;

pub(crate) use self::file::ParquetFile;
use crate::reader::{DataFile, FormatReader};
use crate::source::ByteSource;

/// Opens Parquet files.
///
/// A file below 1 MiB costs one request in all. A larger one costs one for its tail, another one if its footer is
/// larger than 64 KiB, one for each row group that is fetched, and at most one for page indexes, if they are of use. A
/// large row group costs one for each window of it ([`ScanSpec::window_bytes`](crate::ScanSpec::window_bytes)) in place
/// of one.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParquetReader;

impl FormatReader for ParquetReader {
    fn open(&self, source: Arc<dyn ByteSource>) -> BoxFuture<'static, Result<Arc<dyn DataFile>>> {
        ParquetFile::open(source)
            .map(|file| file.map(|file| Arc::new(file) as Arc<dyn DataFile>))
            .boxed()
    }
}
