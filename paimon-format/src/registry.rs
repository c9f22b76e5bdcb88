//! Formats by the name that data file names end in (RP-252).

use std::sync::Arc;

use paimon_meta::{Error, Result};

use crate::reader::FormatReader;

/// The reader of a format: `parquet`.
///
/// # Errors
/// `Unsupported`, naming the format, for one that is unknown or not compiled in.
pub fn format_reader(name: &str) -> Result<Arc<dyn FormatReader>> {
    match name {
        #[cfg(feature = "parquet")]
        "parquet" => Ok(Arc::new(crate::parquet::ParquetReader)),
        _ => Err(Error::unsupported(format!("file format {name}"))),
    }
}
