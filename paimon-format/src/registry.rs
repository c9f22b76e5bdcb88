//! Formats by the name that data file names end in (RP-252).

use std::sync::Arc;

use paimon_meta::{Error, Result};

use crate::reader::FormatReader;

/// The reader of a format: `avro`, `orc`, `parquet`.
///
/// # Errors
/// `Unsupported`, naming the format, for one that is unknown or not compiled in.
pub fn format_reader(name: &str) -> Result<Arc<dyn FormatReader>> {
    format_reader_with(name, &FormatOptions::default())
}

/// What the reader of a format has to be told that no file says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FormatOptions {
    /// `OrcReader::instant_zone`.
    pub orc_instant_zone: Option<String>,
}

/// [`format_reader`] with options.
///
/// # Errors
/// As [`format_reader`].
pub fn format_reader_with(name: &str, options: &FormatOptions) -> Result<Arc<dyn FormatReader>> {
    #[cfg(not(feature = "orc"))]
    let _ = options;
    match name {
        #[cfg(feature = "avro")]
        "avro" => Ok(Arc::new(crate::avro::AvroReader)),
        #[cfg(feature = "orc")]
        "orc" => Ok(Arc::new(crate::orc::OrcReader {
            instant_zone: options.orc_instant_zone.clone(),
        })),
        #[cfg(feature = "parquet")]
        "parquet" => Ok(Arc::new(crate::parquet::ParquetReader)),
        _ => Err(Error::unsupported(format!("file format {name}"))),
    }
}
