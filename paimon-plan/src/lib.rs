#![doc = include_str!("../README.md")]

mod generate;
mod pack;
mod section;

pub use generate::{
    FileShape, SplitSettings, SplitShape, Why, append_splits, append_splits_for_streaming,
    bucket_is_raw, merge_tree_splits, merge_tree_splits_for_streaming,
};
pub use pack::pack;
pub use section::{KeyRange, Section, SortedRun, interval_partition};
