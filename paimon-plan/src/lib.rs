#![cfg_attr(feature = "store", doc = include_str!("../README.md"))]
#![cfg_attr(
    not(feature = "store"),
    doc = "Files of an Apache Paimon table to splits: the rules, without I/O."
)]

#[cfg(feature = "store")]
mod branches;
mod bucket_pass;
mod conjunct;
mod difference;
#[cfg(feature = "store")]
mod engine;
#[cfg(feature = "store")]
mod entry_filter;
#[cfg(feature = "store")]
mod fallback;
#[cfg(feature = "store")]
mod file_stats;
#[cfg(feature = "store")]
mod filters;
mod generate;
#[cfg(feature = "store")]
mod incremental;
#[cfg(feature = "store")]
mod layout;
#[cfg(feature = "store")]
mod limit;
#[cfg(feature = "store")]
mod list_file;
mod live_files;
#[cfg(feature = "store")]
mod manifests;
#[cfg(feature = "store")]
mod origins;
mod pack;
#[cfg(feature = "store")]
mod partitions;
mod plan;
#[cfg(feature = "store")]
mod prune;
mod pruning;
#[cfg(feature = "store")]
mod resolve;
#[cfg(feature = "store")]
mod scan;
mod section;
#[cfg(feature = "store")]
mod shard;
#[cfg(feature = "store")]
mod snapshots;
#[cfg(feature = "store")]
mod stream_scan;
#[cfg(feature = "store")]
mod system;
mod system_table;
#[cfg(feature = "store")]
mod travel;
#[cfg(feature = "store")]
mod vectors;
#[cfg(feature = "store")]
mod view;
#[cfg(feature = "store")]
mod warehouse;
#[cfg(feature = "store")]
mod zone;

#[cfg(test)]
#[cfg(feature = "store")]
mod testing;

pub use bucket_pass::{RowOrigin, prune_bucket};
pub use conjunct::ConjunctUse;
#[cfg(feature = "store")]
pub use difference::exact_diff;
pub use difference::{Difference, DifferenceSplit};
pub use generate::{
    FileShape, SplitSettings, SplitShape, Why, append_splits, append_splits_for_streaming,
    bucket_is_raw, merge_tree_splits, merge_tree_splits_for_streaming,
};
pub use live_files::live_files;
pub use pack::pack;
#[cfg(feature = "store")]
pub use partitions::{PartitionSpec, PartitionValue};
pub use plan::{
    Advice, ColumnSummary, Obstacle, Overlap, Plan, PlanStatistics, PlannedSplit, Precision,
};
pub use pruning::{FileTotals, PruneStep, Pruning, StepResult};
#[cfg(feature = "store")]
pub use resolve::{ResolveRequest, Table};
#[cfg(feature = "store")]
pub use scan::{ScanRequest, plan};
pub use section::{KeyRange, Section, SortedRun, interval_partition};
#[cfg(feature = "store")]
pub use shard::Shard;
#[cfg(feature = "store")]
pub use stream_scan::{StreamPosition, StreamScan, StreamStep};
#[cfg(feature = "store")]
pub use system::{MetadataRows, metadata_rows};
pub use system_table::{MetadataTable, SystemTable, TableLocation};
#[cfg(feature = "store")]
pub use warehouse::Warehouse;
