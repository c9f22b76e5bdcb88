//! Live files to the files that a plan reads, by bucket, with counts per step (RP-050, RP-054 to RP-063, RP-075, RP-186).
//!
//! Partition, bucket and statistics were tested while the manifests were decoded. What the statistics say counts here,
//! where it is known which files are live:
//!
//! ```text
//! added ─ deleted ─ hidden level 0 ─ created too early ─ other shards ─ key ─ value, file by file
//!                                                ─▶ by bucket ─ value, bucket by bucket ─ limit ─▶ files to read
//! ```

use std::collections::HashMap;

use paimon_meta::FileTable;

use crate::bucket_pass::{RowOrigin, prune_bucket};
use crate::limit::{LimitFile, append_files_for_limit, bucket_files_for_limit};
use crate::live_files::live_files;
use crate::pruning::{FileTotals, PruneStep, StepResult};
use crate::shard::ShardPruning;
use crate::zone::Zone;

/// Added entries that passed the tests of partition and bucket, in the order of the manifests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Added {
    pub(crate) files: FileTable,
    /// What the statistics of each file say; empty where no statistics were tested.
    pub(crate) verdicts: Vec<StatsVerdict>,
}

/// Whether rows of a file may match, by its statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StatsVerdict {
    /// By those of the key columns.
    pub(crate) key: bool,
    /// By those of all columns.
    pub(crate) value: bool,
}

/// How value statistics drop files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ValuePruning {
    /// No condition asks for it.
    #[default]
    Off,
    /// File by file: append tables (RP-063), and tables that hide level 0 (RP-055, RP-075).
    PerFile,
    /// Bucket by bucket (RP-056).
    PerBucket(RowOrigin),
}

/// How a row limit drops files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LimitPruning {
    /// Not at all.
    #[default]
    Off,
    /// File by file (RP-188).
    PerFile(u64),
    /// Bucket by bucket (RP-186).
    PerBucket(u64),
}

/// Which levels are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LevelRule {
    /// All.
    #[default]
    All,
    /// Level 0 is not shown before it is compacted (RP-075).
    AboveZero,
    /// The level of full compactions alone (RP-078).
    Only(i32),
}

impl LevelRule {
    fn shows(self, level: i32) -> bool {
        match self {
            Self::All => true,
            Self::AboveZero => level > 0,
            Self::Only(only) => level == only,
        }
    }
}

/// What to drop beside deleted files.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PruneRules {
    pub(crate) levels: LevelRule,
    /// The only level to read.
    pub(crate) only_level: Option<i32>,
    /// Drop files created before this instant in milliseconds; the writers' clocks had this zone.
    pub(crate) created_since: Option<(i64, Zone)>,
    /// Keep one share.
    pub(crate) shard: Option<ShardPruning>,
    /// Whether there is a condition on keys.
    pub(crate) by_key: bool,
    pub(crate) value: ValuePruning,
    pub(crate) limit: LimitPruning,
}

/// Files to read.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Pruned {
    /// Their indexes by bucket; buckets in the order of their first files, files in the order of the manifests.
    pub(crate) buckets: Vec<Vec<u32>>,
    /// What each step did.
    pub(crate) steps: Vec<StepResult>,
}

/// Drops files step by step.
pub(crate) fn prune(added: &Added, deleted: &FileTable, rules: &PruneRules) -> Pruned {
    let mut pruning = Pruning {
        added,
        steps: Vec::new(),
    };
    let mut kept = pruning.file_by_file(deleted, rules);
    if let LimitPruning::PerFile(limit) = rules.limit {
        let rows = kept
            .iter()
            .map(|index| added.files.row_count(*index as usize));
        let enough = append_files_for_limit(rows, limit);
        pruning.record(PruneStep::Limit, &kept, kept.iter().take(enough));
        kept.truncate(enough);
    }
    let mut buckets = by_bucket(&added.files, &kept);
    if let ValuePruning::PerBucket(origin) = rules.value {
        pruning.value_by_bucket(&mut buckets, origin);
    }
    if let LimitPruning::PerBucket(limit) = rules.limit {
        pruning.limit_by_bucket(&mut buckets, limit);
    }
    buckets.retain(|bucket| !bucket.is_empty());
    Pruned {
        buckets,
        steps: pruning.steps,
    }
}

struct Pruning<'a> {
    added: &'a Added,
    steps: Vec<StepResult>,
}

impl Pruning<'_> {
    /// The tests that look at one file alone.
    fn file_by_file(&mut self, deleted: &FileTable, rules: &PruneRules) -> Vec<u32> {
        let (added, files) = (self.added, &self.added.files);
        let mut kept: Vec<u32> = (0u32..).take(files.len()).collect();
        if !deleted.is_empty() {
            let live = live_files(files, deleted);
            self.record(PruneStep::Deleted, &kept, &live);
            kept = live;
        }
        if rules.levels != LevelRule::All {
            self.retain(PruneStep::HiddenLevel, &mut kept, |index| {
                rules.levels.shows(files.level(index))
            });
        }
        if let Some(only) = rules.only_level {
            self.retain(PruneStep::LowerLevel, &mut kept, |index| {
                files.level(index) == only
            });
        }
        if let Some((since, zone)) = rules.created_since {
            // A file without a time stays: rows must not be lost for want of metadata.
            let wall = |index| files.creation_time_millis(index);
            self.retain(PruneStep::CreationTime, &mut kept, |index| {
                wall(index).is_none_or(|wall| zone.instant_of(wall) >= since)
            });
        }
        if let Some(shard) = rules.shard {
            self.retain(PruneStep::Shard, &mut kept, |index| {
                shard.takes(files.file_name(index), files.bucket(index))
            });
        }
        if rules.by_key {
            self.retain(PruneStep::Key, &mut kept, |index| added.verdict(index).key);
        }
        if rules.value == ValuePruning::PerFile {
            self.retain(PruneStep::Value, &mut kept, |index| {
                added.verdict(index).value
            });
        }
        kept
    }

    fn value_by_bucket(&mut self, buckets: &mut [Vec<u32>], origin: RowOrigin) {
        let added = self.added;
        let before = buckets.concat();
        for bucket in buckets.iter_mut() {
            let tested = |index: &u32| {
                let index = *index as usize;
                (added.files.level(index), added.verdict(index).value)
            };
            let tested: Vec<_> = bucket.iter().map(tested).collect();
            let mut stays = prune_bucket(&tested, origin).into_iter();
            bucket.retain(|_| stays.next().unwrap_or(true));
        }
        self.record(PruneStep::Value, &before, buckets.iter().flatten());
    }

    fn limit_by_bucket(&mut self, buckets: &mut [Vec<u32>], limit: u64) {
        let files = &self.added.files;
        let before = buckets.concat();
        let facts = |index: &u32| {
            let index = *index as usize;
            LimitFile {
                level: files.level(index),
                row_count: files.row_count(index),
                delete_row_count: files.delete_row_count(index),
            }
        };
        let facts: Vec<Vec<_>> = buckets
            .iter()
            .map(|bucket| bucket.iter().map(facts).collect())
            .collect();
        let counts = bucket_files_for_limit(facts.iter().map(Vec::as_slice), limit);
        for (bucket, count) in buckets.iter_mut().zip(counts) {
            bucket.truncate(count);
        }
        self.record(PruneStep::Limit, &before, buckets.iter().flatten());
    }

    fn retain(&mut self, step: PruneStep, files: &mut Vec<u32>, keep: impl Fn(usize) -> bool) {
        let before = FileTotals::of(&self.added.files, files.iter());
        files.retain(|index| keep(*index as usize));
        self.steps.push(StepResult {
            step,
            before,
            after: FileTotals::of(&self.added.files, files.iter()),
        });
    }

    fn record<'a>(
        &mut self,
        step: PruneStep,
        before: &[u32],
        after: impl IntoIterator<Item = &'a u32>,
    ) {
        let before = FileTotals::of(&self.added.files, before);
        self.steps.push(StepResult {
            step,
            before,
            after: FileTotals::of(&self.added.files, after),
        });
    }
}

impl Added {
    fn verdict(&self, index: usize) -> StatsVerdict {
        self.verdicts.get(index).copied().unwrap_or(StatsVerdict {
            key: true,
            value: true,
        })
    }
}

/// Files by partition and bucket, both in the order of their first files (RP-056).
fn by_bucket(files: &FileTable, kept: &[u32]) -> Vec<Vec<u32>> {
    let mut positions: HashMap<(u32, i32), usize> = HashMap::new();
    let mut buckets: Vec<Vec<u32>> = Vec::new();
    for index in kept {
        let at = *index as usize;
        let position = *positions
            .entry((files.partition_id(at), files.bucket(at)))
            .or_insert(buckets.len());
        match buckets.get_mut(position) {
            Some(bucket) => bucket.push(*index),
            None => buckets.push(vec![*index]),
        }
    }
    buckets
}

#[cfg(test)]
mod tests;
