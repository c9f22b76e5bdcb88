//! What would let more of a plan be read raw.

use serde::{Deserialize, Serialize};

use crate::generate::Why;
use crate::plan::Plan;
use crate::pruning::FileTotals;

/// Something the table's owner can do about a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Advice {
    /// A full compaction would make these splits raw, in fewer files.
    FullCompaction {
        /// Splits that are merged because files overlap or hold deletes.
        splits: u64,
        /// Their physical rows, all of which a merge looks at.
        rows: u64,
    },
    /// Deletion vectors would make these splits raw after each compaction, also of single levels.
    DeletionVectors {
        /// Splits that are merged because files overlap or hold deletes.
        splits: u64,
    },
    /// A smaller `source.split.target-size` would keep sections apart that need no merge. It helps only with more than one
    /// reader.
    TargetSize {
        /// The size in bytes.
        bytes: u64,
        /// Splits that are merged only because they share sections.
        splits: u64,
        /// Raw splits that they would become.
        raw_splits: u64,
    },
    /// Rows are hidden until the table is compacted.
    Compaction {
        /// What is hidden.
        hidden: FileTotals,
    },
    /// With `deletion-vectors.merge-on-read` hidden rows would be read, by merging.
    MergeOnRead {
        /// What is hidden.
        hidden: FileTotals,
    },
}

impl Plan {
    /// What would make this read cheaper or complete; nothing if all is raw and nothing is hidden.
    pub fn what_would_help(&self) -> Vec<Advice> {
        let settings = &self.table.settings;
        let mut advice = Vec::new();
        // Changes are what they are, however the table is compacted.
        if self.iter().any(|split| split.is_changes()) {
            return advice;
        }
        let merged = || {
            self.iter()
                .filter(|split| matches!(split.why(), Why::Overlap | Why::DeleteRows))
        };
        let splits = count(merged().count());
        if splits > 0 {
            let rows = merged()
                .map(|split| split.row_count())
                .fold(0, u64::saturating_add);
            advice.push(Advice::FullCompaction { splits, rows });
            if !settings.deletion_vectors {
                advice.push(Advice::DeletionVectors { splits });
            }
        }
        advice.extend(self.smaller_target());
        let hidden = self.hidden();
        if hidden.files > 0 {
            advice.push(Advice::Compaction { hidden });
            if settings.deletion_vectors && !self.table.merge_on_read {
                advice.push(Advice::MergeOnRead { hidden });
            }
        }
        advice
    }

    /// No section weighs less than the open-file cost, so with that as target each has a split of its own (RP-143).
    fn smaller_target(&self) -> Option<Advice> {
        let shared = || self.iter().filter(|split| split.why() == Why::SharedSplit);
        let raw = shared()
            .map(|split| split.section_row_counts().into_iter().flatten().count())
            .sum();
        let bytes = self.table.settings.open_file_cost;
        (raw > 0 && bytes > 0 && bytes < self.table.settings.target_size).then(|| {
            Advice::TargetSize {
                bytes,
                splits: count(shared().count()),
                raw_splits: count(raw),
            }
        })
    }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
