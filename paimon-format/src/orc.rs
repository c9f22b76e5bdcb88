//! ORC files. Facts: table-format sections 7.5, 8.1 and 8.2, and the ORC specification (v1).
//!
//! ```text
//! "ORC" stripe… metadata footer postscript | length of the postscript, 1 byte
//! stripe:  index streams, data streams, footer (which streams there are and how values are encoded)
//! stream:  chunks of up to 256 KiB, each behind a head of 3 bytes, compressed or not
//! ```
//!
//! Everything is decoded here. Other readers come with lists of strings, calendars and time zones that are not those of
//! the reference, believe lengths, and know no views; what is left of ORC without unions and encryption is small.

mod batches;
mod bits;
mod chunk;
mod column;
mod file;
mod footer;
mod integer;
mod numbers;
mod proto;
mod resolve;
mod row_index;
mod statistics;
mod stream;
mod stripe;
mod text;
mod timestamp;
mod values;
mod zone;

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use paimon_meta::Result;

use self::file::OrcFile;
use self::zone::Zone;
use crate::reader::{DataFile, FormatReader};
use crate::source::ByteSource;

/// Opens ORC files.
///
/// A file below 1 MiB costs one request in all. A larger one costs one for its tail, another one if its footer is
/// larger than 64 KiB, one for the footers of all its stripes, and one for each stripe that is fetched.
#[derive(Clone, Debug, Default)]
pub struct OrcReader {
    /// Zone in which instants (TIMESTAMP WITH LOCAL TIME ZONE) are stored as wall clocks of UTC, by its IANA name or its
    /// offset: what the reference does unless `orc.timestamp-ltz.legacy.type` is false. `None` where true instants are
    /// stored, and for UTC, where both are the same.
    pub instant_zone: Option<String>,
}

impl OrcReader {
    /// [`FormatReader::open`] with the type of the file.
    pub(crate) async fn open_file(&self, source: Arc<dyn ByteSource>) -> Result<OrcFile> {
        let zone = Zone::named(self.instant_zone.as_deref().unwrap_or_default())?;
        OrcFile::open(source, zone).await
    }
}

impl FormatReader for OrcReader {
    fn open(&self, source: Arc<dyn ByteSource>) -> BoxFuture<'static, Result<Arc<dyn DataFile>>> {
        let reader = self.clone();
        async move {
            let file = reader.open_file(source).await?;
            Ok(Arc::new(file) as Arc<dyn DataFile>)
        }
        .boxed()
    }
}
