#![doc = include_str!("../README.md")]

#[cfg(feature = "parquet")]
mod parquet;
mod reader;
mod registry;
mod rows;
mod scan;
#[cfg(feature = "parquet")]
mod single_flight;
mod source;

#[cfg(feature = "parquet")]
pub use parquet::ParquetReader;

pub use reader::{Bounds, DataFile, FormatReader, Grain, GroupBatches, GroupLayout, Layout};
pub use registry::format_reader;
pub use rows::{RowCursor, RowRanges};
pub use scan::{FileColumn, ScanSpec};
pub use source::ByteSource;
