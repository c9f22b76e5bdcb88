#![doc = include_str!("../README.md")]

mod reader;
mod rows;
mod scan;
mod source;

pub use reader::{Bounds, DataFile, FormatReader, Grain, GroupBatches, GroupLayout, Layout};
pub use rows::RowRanges;
pub use scan::{FileColumn, ScanSpec};
pub use source::ByteSource;
