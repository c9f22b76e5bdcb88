#![doc = include_str!("../README.md")]

#[cfg(any(feature = "avro", feature = "orc"))]
mod assemble;
#[cfg(feature = "avro")]
mod avro;
#[cfg(any(feature = "avro", feature = "orc", feature = "parquet"))]
mod decimal;
#[cfg(any(feature = "orc", feature = "parquet"))]
mod manifest_formats;
#[cfg(feature = "orc")]
mod orc;
#[cfg(any(feature = "avro", feature = "orc", feature = "parquet"))]
mod output;
#[cfg(feature = "parquet")]
mod parquet;
mod prune;
mod reader;
mod registry;
mod rows;
mod scan;
mod scan_file;
#[cfg(feature = "parquet")]
mod single_flight;
mod source;

#[cfg(feature = "avro")]
pub use avro::AvroReader;
#[cfg(feature = "orc")]
pub use orc::OrcReader;
#[cfg(feature = "parquet")]
pub use parquet::ParquetReader;

#[cfg(any(feature = "orc", feature = "parquet"))]
pub use manifest_formats::ManifestFormats;
pub use prune::{ColumnOf, Pruned, prune, prune_file};
pub use reader::{
    Bounds, DataFile, FormatReader, Grain, GroupBatches, GroupDecoder, GroupLayout, Layout,
    next_batch,
};
pub use registry::{FormatOptions, format_reader, format_reader_with};
pub use rows::{RowCursor, RowRanges};
pub use scan::{FileColumn, ScanSpec};
pub use scan_file::scan_file;
pub use source::ByteSource;
