//! A plan as data: splits, what each pruning step kept, and why each split is raw or not.
//!
//! ```text
//! files        a b c d e f g h           one table of columns, in the order of the plan
//! splits       └─ 0 ─┘ └── 1 ──┘         each ends where the next begins
//! runs             ┊   └┘ └┘ └─┘         where sections were looked at
//! sections         ┊   └──┘  └─┘
//! ```
//!
//! A split that leaves the plan is self-contained: it owns its file metas.

mod advice;
mod reasons;
mod statistics;
mod vectors;
mod view;

use paimon_meta::{DataType, DeletionFile, FieldId, FileTable, Result, Split, TablePredicate};
use serde::{Deserialize, Serialize};

use crate::conjunct::{ConjunctUse, residual};
use crate::generate::{SplitSettings, Why};
use crate::pruning::{FileTotals, PruneStep, Pruning};

pub use advice::Advice;
pub use reasons::{Obstacle, Overlap};
pub use statistics::{ColumnSummary, PlanStatistics, Precision};
pub(crate) use vectors::PlannedVectors;
pub use view::PlannedSplit;

/// Splits of one read, with the reasons. Made by [`plan`](crate::plan).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub(crate) snapshot_id: Option<i64>,
    /// In the order of the splits.
    pub(crate) files: FileTable,
    pub(crate) splits: Vec<SplitEntry>,
    /// Ends in `files`.
    pub(crate) run_ends: Vec<u32>,
    /// Ends in `run_ends`.
    pub(crate) section_ends: Vec<u32>,
    /// Directory that holds the buckets of each partition of `files`, with a `/` at its end, or empty.
    pub(crate) bucket_parents: Vec<String>,
    /// `None` where deletion vectors are off (RP-113).
    pub(crate) vectors: Option<PlannedVectors>,
    /// Rows are changes: splits carry the streaming flag, and every row of a file is a row of the result (RP-303).
    pub(crate) streaming: bool,
    /// Where the splits of the fallback branch begin, if there are any.
    pub(crate) fallback: Option<FallbackSplits>,
    /// Of splits of two states, where the files of the later state begin, in `files`; empty for all other plans.
    pub(crate) after_starts: Vec<u32>,
    pub(crate) table: PlannedTable,
    pub(crate) conjuncts: Vec<ConjunctUse>,
    pub(crate) pruning: Pruning,
}

/// What a plan remembers of its table, for reasons and advice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlannedTable {
    pub(crate) settings: SplitSettings,
    /// Trimmed key columns in key order; none for append tables.
    pub(crate) key: Vec<(FieldId, DataType)>,
    pub(crate) merge_on_read: bool,
}

/// Splits of the branch that a table falls back to (RP-537): they come last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FallbackSplits {
    pub(crate) first: usize,
    pub(crate) snapshot_id: i64,
}

/// One split: where what is its own ends; it begins where the split before ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SplitEntry {
    /// End in the order of files.
    pub(crate) files_end: u32,
    /// End in the ends of runs; runs and sections are empty where they were not looked at.
    pub(crate) runs_end: u32,
    /// End in the ends of sections.
    pub(crate) sections_end: u32,
    /// Number of buckets when the bucket's first file was written (RP-573).
    pub(crate) total_buckets: i32,
    /// The rule that made it raw or not.
    pub(crate) why: Why,
}

impl Plan {
    /// The planned snapshot; `None` for a table without any.
    pub fn snapshot_id(&self) -> Option<i64> {
        self.snapshot_id
    }

    /// Number of splits.
    pub fn len(&self) -> usize {
        self.splits.len()
    }

    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.splits.is_empty()
    }

    /// The files of all splits, in the order of the plan. Statistics of files are there only if the request kept them.
    pub fn files(&self) -> &FileTable {
        &self.files
    }

    /// A split of the plan, looked at in place; `None` past the last one.
    pub fn get(&self, index: usize) -> Option<PlannedSplit<'_>> {
        (index < self.splits.len()).then(|| PlannedSplit::new(self, index))
    }

    /// The splits of the plan in order, looked at in place.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = PlannedSplit<'_>> {
        (0..self.splits.len()).map(|index| PlannedSplit::new(self, index))
    }

    /// A split that stands alone, to hand to a reader or over a wire.
    ///
    /// # Errors
    /// `InvalidInput` past the last split, `Corrupt` if a plan from outside does not hold what it says.
    pub fn split(&self, index: usize) -> Result<Split> {
        let split = self.get(index).ok_or_else(|| {
            paimon_meta::Error::invalid_input(format!(
                "no split {index}, the plan has {}",
                self.len()
            ))
        })?;
        split.to_split()
    }

    /// Where the deletion vector of a file is, by the file's index in [`Self::files`]; `None` if it has none.
    pub fn deletion_file(&self, file: usize) -> Option<DeletionFile> {
        self.vectors.as_ref()?.get(file)
    }

    /// Rows of a file that its deletion vector takes away, 0 without one; `None` if that is unknown (TF-068).
    pub fn deleted_rows(&self, file: usize) -> Option<u64> {
        let vectors = self.vectors.as_ref();
        vectors.map_or(Some(0), |vectors| vectors.deleted_rows(file))
    }

    /// The request's condition, conjunct by conjunct: what each prunes, and whether the plan answers it.
    pub fn conjuncts(&self) -> &[ConjunctUse] {
        &self.conjuncts
    }

    /// What is left of the condition, to be evaluated on rows; `None` if every row of the splits satisfies it.
    pub fn residual(&self) -> Option<TablePredicate> {
        residual(&self.conjuncts)
    }

    /// What each pruning step kept.
    pub fn pruning(&self) -> &Pruning {
        &self.pruning
    }

    /// Live files that this read does not show although the condition admits them: level 0 of a table that hides it until
    /// it is compacted (RP-075).
    pub fn hidden(&self) -> FileTotals {
        self.pruning.dropped(PruneStep::HiddenLevel)
    }

    /// Rows that the splits hold before the residual condition, if metadata alone tells it for certain.
    pub fn exact_row_count(&self) -> Option<u64> {
        self.iter()
            .try_fold(0u64, |sum, split| sum.checked_add(split.exact_row_count()?))
    }

    /// Bytes of heap the plan takes, the pruning report and the condition aside.
    pub fn heap_bytes(&self) -> usize {
        let parents: usize = self
            .bucket_parents
            .iter()
            .map(|text| text.capacity() + size_of::<String>())
            .sum();
        self.files.heap_bytes()
            + self.splits.capacity() * size_of::<SplitEntry>()
            + (self.run_ends.capacity() + self.section_ends.capacity()) * size_of::<u32>()
            + parents
            + self.vectors.as_ref().map_or(0, PlannedVectors::heap_bytes)
    }
}

#[cfg(test)]
#[cfg(feature = "store")]
mod tests;
