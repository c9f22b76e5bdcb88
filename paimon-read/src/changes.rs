//! Changes in place of a state: splits of streaming and incremental plans. Facts: RP-200, RP-201, RP-303 to RP-306.
//!
//! | file | reads |
//! |---|---|
//! | `as_written` | rows of key-value files as they were written, with their kinds |
//! | `overwrite` | two states of a bucket as deletions and insertions |
//! | `diff` | two states of a bucket as what differs |
//! | `join` | two streams of rows in key order, side by side |
//! | `append` | two states of a bucket without keys: rows of the later one |

mod append;
mod as_written;
mod diff;
mod join;
mod overwrite;

use std::sync::Arc;

use paimon_meta::{DataFileMeta, DataSplit, DeletionFile, IncrementalSplit};

use crate::context::ReadContext;
use crate::provider::{Claim, provider_of};
use crate::request::ReadRequest;
use crate::task::ReadTask;

pub(crate) use join::{Changed, Join, JoinColumns, encode_keys, key_converter};

pub use append::AppendChangesProvider;
pub use as_written::AsWrittenProvider;
pub use diff::DiffProvider;
pub use overwrite::OverwriteProvider;

/// One state of a split of two, as a split of its own that must be merged.
fn state(
    split: &IncrementalSplit,
    files: &[DataFileMeta],
    deletion_files: &Option<Vec<Option<DeletionFile>>>,
) -> DataSplit {
    DataSplit {
        snapshot_id: split.snapshot_id,
        partition: split.partition.clone(),
        bucket: split.bucket,
        bucket_path: split.bucket_path.clone(),
        total_buckets: split.total_buckets,
        files: files.to_vec(),
        deletion_files: deletion_files.clone(),
        streaming: false,
        raw_convertible: false,
    }
}

/// The earlier and the later state.
fn states(split: &IncrementalSplit) -> [DataSplit; 2] {
    [
        state(split, &split.before, &split.before_deletion_files),
        state(split, &split.after, &split.after_deletion_files),
    ]
}

/// The same read with another request, and without the caller's own filter.
fn inner(context: &ReadContext, request: ReadRequest) -> Arc<ReadContext> {
    Arc::new(ReadContext {
        request,
        filter: None,
        ..context.clone()
    })
}

/// Claims a split whose parts somebody reads.
fn claim_parts(parts: impl IntoIterator<Item = ReadTask>, context: &ReadContext) -> Claim {
    let mut parts = parts.into_iter();
    let refusal = parts.find_map(|part| provider_of(&part, context).err());
    refusal.map_or(Claim::Read, Claim::Refuse)
}
