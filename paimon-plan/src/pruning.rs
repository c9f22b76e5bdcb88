//! What each pruning step kept, as data.

#[cfg(feature = "store")]
use paimon_meta::FileTable;
use serde::{Deserialize, Serialize};

/// A step that drops files from a plan, in the order in which they are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub enum PruneStep {
    /// By the values of the partition columns.
    Partition,
    /// By bucket: a chosen bucket, buckets of the condition's keys, or the postpone bucket (RP-051, RP-170).
    Bucket,
    /// Added and deleted again: not files of the snapshot (RP-042).
    Deleted,
    /// Level 0 of tables that hide it until it is compacted (RP-075); levels whose rows a stream will see as changes
    /// (RP-078).
    HiddenLevel,
    /// Below the top level, which alone is read (RP-652).
    LowerLevel,
    /// Created too early for the read (RP-021).
    CreationTime,
    /// Another task's share of a divided plan (RP-163).
    Shard,
    /// By statistics of the key columns (RP-054).
    Key,
    /// By statistics of any column, file by file or bucket by bucket (RP-055 to RP-063).
    Value,
    /// Files that are not needed to reach the row limit (RP-186, RP-188).
    Limit,
    /// Splits that are not needed to reach the row limit (RP-187).
    SplitLimit,
}

/// How a plan came from all files of its snapshot to those it reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pruning {
    /// Manifests of the snapshot.
    pub manifests: u64,
    /// Manifests that were opened; the others hold no partition or bucket that is asked for.
    pub manifests_read: u64,
    /// Files of the snapshot, going by the counts in its manifest lists.
    pub snapshot_files: u64,
    /// What each step did, in order. Steps that had nothing to test are left out. Before [`PruneStep::Deleted`] files are
    /// counted that were deleted again.
    pub steps: Vec<StepResult>,
}

impl Pruning {
    /// Adds what another plan did, step by step.
    #[cfg(feature = "store")]
    pub(crate) fn append(&mut self, other: Self) {
        self.manifests += other.manifests;
        self.manifests_read += other.manifests_read;
        self.snapshot_files = self.snapshot_files.saturating_add(other.snapshot_files);
        for result in other.steps {
            match self.steps.iter_mut().find(|own| own.step == result.step) {
                None => self.steps.push(result),
                Some(own) => {
                    own.before.merge(result.before);
                    own.after.merge(result.after);
                }
            }
        }
    }

    /// What a step dropped.
    pub fn dropped(&self, step: PruneStep) -> FileTotals {
        let steps = self.steps.iter().filter(|result| result.step == step);
        steps.fold(FileTotals::default(), |sum, result| FileTotals {
            files: sum.files + result.before.files.saturating_sub(result.after.files),
            rows: sum.rows + result.before.rows.saturating_sub(result.after.rows),
            bytes: sum.bytes + result.before.bytes.saturating_sub(result.after.bytes),
        })
    }
}

/// What one step did to the files before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepResult {
    /// The step.
    pub step: PruneStep,
    /// Files that came to it.
    pub before: FileTotals,
    /// Files that it left.
    pub after: FileTotals,
}

/// Sums over files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileTotals {
    /// Number of files.
    pub files: u64,
    /// Physical rows, duplicates and deletes included.
    pub rows: u64,
    /// Size in bytes.
    pub bytes: u64,
}

#[cfg(feature = "store")]
impl FileTotals {
    /// Sums over some files of a table.
    pub(crate) fn of<'a>(table: &FileTable, files: impl IntoIterator<Item = &'a u32>) -> Self {
        let mut totals = Self::default();
        for file in files {
            totals.add(
                table.row_count(*file as usize),
                table.file_size(*file as usize),
            );
        }
        totals
    }

    /// Adds one file.
    pub(crate) fn add(&mut self, rows: u64, bytes: u64) {
        self.files += 1;
        self.rows = self.rows.saturating_add(rows);
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Adds other sums.
    pub(crate) fn merge(&mut self, other: Self) {
        self.files += other.files;
        self.rows = self.rows.saturating_add(other.rows);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}
