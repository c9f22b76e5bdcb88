//! Avro object container files. Facts: table-format sections 4.1, 7.5, 8.1 and 8.2.
//!
//! ```text
//! "Obj" 1, metadata (schema, codec), sync marker | block: count, size, records, sync marker | block | …
//! ```
//!
//! There is no footer: the rows of a file are known when all blocks have been passed. Records are decoded here, column
//! by column into buffers, because a scan wants few columns and the others are cheaper to step over than to decode, and
//! because the reference writes timestamps under the opposite names and maps as arrays of entries.

mod batches;
mod column;
mod container;
mod cursor;
mod file;
mod resolve;
mod schema;
mod values;

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use paimon_meta::Result;

use self::file::AvroFile;
use crate::reader::{DataFile, FormatReader};
use crate::source::ByteSource;

/// Opens Avro files.
///
/// Opening reads the whole file, in requests of up to 8 MiB. A file of up to 8 MiB is kept, and decoded without
/// another request; of a larger one only the places of its blocks are kept.
#[derive(Clone, Copy, Debug, Default)]
pub struct AvroReader;

impl FormatReader for AvroReader {
    fn open(&self, source: Arc<dyn ByteSource>) -> BoxFuture<'static, Result<Arc<dyn DataFile>>> {
        AvroFile::open(source)
            .map(|file| file.map(|file| Arc::new(file) as Arc<dyn DataFile>))
            .boxed()
    }
}
