//! Tasks to the partitions of a query.

use std::cmp::Reverse;
use std::num::NonZeroUsize;

use datafusion::error::Result;
use futures_util::{StreamExt, TryStreamExt, stream};
use paimon_meta::{DataFileMeta, Split};
use paimon_read::{ReadTask, TableReader, TaskOrdering};

use crate::error::external;

/// A task has a partition of its own up to this many times the wanted number of partitions: rows then keep the order of
/// the key, and a large task does not hold others up.
const TASKS_EACH: usize = 4;

/// Into what tasks are divided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Division {
    /// How many partitions are wanted.
    pub(crate) partitions: usize,
    /// Fewer bytes are not worth a part of their own.
    pub(crate) least_bytes: usize,
}

/// Tasks by partition.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "ballista", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Partitions {
    /// At least one partition; it may have no task.
    pub(crate) tasks: Vec<Vec<ReadTask>>,
    /// Whether the rows of each are in the order of the key.
    pub(crate) in_order: bool,
}

/// Subdivides tasks until their parts are about equal, and gives each part to a partition.
///
/// # Errors
/// `Unsupported` for what cannot be read; those of reading footers.
pub(crate) async fn divide(
    reader: &TableReader,
    tasks: Vec<ReadTask>,
    division: Division,
) -> Result<Partitions> {
    let partitions = division.partitions.max(1);
    let total = tasks.iter().map(bytes).fold(0, u64::saturating_add);
    let least = u64::try_from(division.least_bytes).unwrap_or(u64::MAX);
    let share = (total / partitions as u64).max(least).max(1);
    let parts = tasks.into_iter().map(|task| {
        let parts = usize::try_from(bytes(&task).div_ceil(share)).unwrap_or(partitions);
        let parts = NonZeroUsize::new(parts.min(partitions)).unwrap_or(NonZeroUsize::MIN);
        reader.subdivide(task, parts)
    });
    let at_once = reader.context().resources.io_concurrency();
    let parts = stream::iter(parts).buffered(at_once);
    let parts: Vec<Vec<ReadTask>> = parts.try_collect().await.map_err(external)?;
    let tasks: Vec<ReadTask> = parts.into_iter().flatten().collect();
    let by_key = |task: &ReadTask| reader.ordering(task) == TaskOrdering::Key;
    let in_order = tasks.iter().all(by_key);
    let tasks = distribute(tasks, partitions);
    let alone = tasks.iter().all(|tasks| tasks.len() <= 1);
    Ok(Partitions {
        tasks,
        in_order: in_order && alone,
    })
}

/// Each to the partition with the fewest bytes so far, large ones first.
fn distribute(mut tasks: Vec<ReadTask>, partitions: usize) -> Vec<Vec<ReadTask>> {
    if tasks.is_empty() {
        return vec![Vec::new()];
    }
    if tasks.len() <= partitions.saturating_mul(TASKS_EACH) {
        return tasks.into_iter().map(|task| vec![task]).collect();
    }
    tasks.sort_by_cached_key(|task| Reverse(bytes(task)));
    let mut shares: Vec<(u64, Vec<ReadTask>)> = vec![(0, Vec::new()); partitions];
    for task in tasks {
        if let Some((held, share)) = shares.iter_mut().min_by_key(|(held, _)| *held) {
            *held = held.saturating_add(bytes(&task));
            share.push(task);
        }
    }
    shares.into_iter().map(|(_, share)| share).collect()
}

/// Size of the task's files, at least 1.
fn bytes(task: &ReadTask) -> u64 {
    let sum = |files: &[DataFileMeta]| {
        let sizes = files.iter().map(|file| file.file_size);
        sizes.fold(0, u64::saturating_add)
    };
    let bytes = match &task.split {
        Split::Data(split) | Split::Fallback(split) => sum(&split.files),
        Split::Incremental(split) => sum(&split.before).saturating_add(sum(&split.after)),
        _ => 0,
    };
    bytes.max(1)
}
