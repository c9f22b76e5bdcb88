#![doc = include_str!("../README.md")]

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

#[cfg(feature = "parquet")]
pub use parquet::ParquetReader;

pub use prune::prune;
pub use reader::{Bounds, DataFile, FormatReader, Grain, GroupBatches, GroupLayout, Layout};
pub use registry::format_reader;
pub use rows::{RowCursor, RowRanges};
pub use scan::{FileColumn, ScanSpec};
pub use scan_file::scan_file;
pub use source::ByteSource;
