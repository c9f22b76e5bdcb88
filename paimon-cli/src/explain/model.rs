//! What an explanation says, as data: made once, shown as text, JSON or a picture. Keys and conditions are text as SQL has
//! it, columns are names, splits and files are told by their place in the plan.

use paimon_meta::DeletionFile;
use paimon_plan::{Advice, FileTotals, Obstacle, PruneStep, Why};
use serde::Serialize;
use serde_json::Value;

use super::estimate::Estimated;
use super::measure::Measured;
use crate::part_report::PartReport;

#[derive(Debug, Serialize)]
pub(super) struct Explanation {
    pub(super) table: TableFacts,
    /// `None` for a table that nothing was committed to.
    pub(super) snapshot: Option<SnapshotFacts>,
    pub(super) pruning: PruningFacts,
    pub(super) totals: PlanTotals,
    /// Rows that the condition admits and the read does not show.
    pub(super) hidden: FileTotals,
    pub(super) buckets: Vec<Bucket>,
    pub(super) splits: Vec<SplitFacts>,
    pub(super) conditions: Vec<ConditionFacts>,
    pub(super) count: CountFacts,
    pub(super) advice: Vec<AdviceFacts>,
    /// What the read comes to at most, if files were looked into for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) estimated: Option<Estimated>,
    /// What the read took, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) measured: Option<Measured>,
}

#[derive(Debug, Serialize)]
pub(super) struct TableFacts {
    pub(super) location: String,
    /// Empty for append tables.
    pub(super) primary_key: Vec<String>,
    /// The primary key without partition columns, by which files are sorted.
    pub(super) key: Vec<String>,
    pub(super) partition_keys: Vec<String>,
    /// Columns that order rows of one key before their sequence number.
    pub(super) sequence_fields: Vec<String>,
    /// Number of buckets, as the option has it.
    pub(super) bucket: i32,
    /// `None` for append tables.
    pub(super) merge_engine: Option<String>,
    pub(super) deletion_vectors: bool,
}

impl TableFacts {
    /// What stands before a key: the name of its column, or a word for several.
    pub(super) fn key_label(&self) -> &str {
        match self.key.as_slice() {
            [one] => one,
            _ => "key",
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct SnapshotFacts {
    pub(super) id: i64,
    /// The newest there is.
    pub(super) latest: Option<i64>,
    /// The schema to read with.
    pub(super) schema: i64,
    pub(super) commit_kind: paimon_meta::CommitKind,
    pub(super) time_millis: i64,
}

#[derive(Debug, Serialize)]
pub(super) struct PruningFacts {
    pub(super) manifests: u64,
    pub(super) manifests_read: u64,
    pub(super) snapshot_files: u64,
    pub(super) steps: Vec<StepFacts>,
}

/// A step that dropped something.
#[derive(Debug, Serialize)]
pub(super) struct StepFacts {
    pub(super) step: PruneStep,
    pub(super) words: &'static str,
    pub(super) dropped: FileTotals,
}

/// Sums over the plan.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct PlanTotals {
    pub(super) splits: u64,
    /// Splits that are read raw.
    pub(super) raw: u64,
    /// Splits of changes: read as they were written, or two states that are compared.
    pub(super) changes: u64,
    pub(super) buckets: u64,
    #[serde(flatten)]
    pub(super) files: FileTotals,
}

/// The files of one bucket that are read.
#[derive(Debug, Serialize)]
pub(super) struct Bucket {
    pub(super) path: String,
    /// Values of the partition columns.
    pub(super) partition: Vec<(String, Value)>,
    /// First and last keys of its files, ascending, each once. Empty for append tables.
    pub(super) bounds: Vec<String>,
    /// By level, then by key.
    pub(super) files: Vec<FileFacts>,
    pub(super) sections: Vec<SectionSpan>,
}

#[derive(Debug, Serialize)]
pub(super) struct FileFacts {
    pub(super) name: String,
    pub(super) split: usize,
    pub(super) level: i32,
    pub(super) rows: u64,
    /// `None` is unknown.
    pub(super) delete_rows: Option<u64>,
    /// Where the vector of its deleted rows is, and how many they are.
    pub(super) deletion_vector: Option<DeletionFile>,
    pub(super) size: u64,
    pub(super) min_sequence_number: i64,
    pub(super) max_sequence_number: i64,
    /// Places of its first and last key in the bucket's bounds.
    pub(super) keys: Option<(usize, usize)>,
    /// Whether rows of it meet other versions of their keys.
    pub(super) merged: bool,
}

/// Files whose key ranges chain together.
#[derive(Debug, Serialize)]
pub(super) struct SectionSpan {
    pub(super) split: usize,
    /// Places of its first and last key in the bucket's bounds.
    pub(super) keys: (usize, usize),
    pub(super) merged: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct SplitFacts {
    pub(super) index: usize,
    pub(super) bucket_path: String,
    pub(super) raw_convertible: bool,
    pub(super) why: Why,
    /// Its rows are changes, as they were written or as two states differ.
    pub(super) changes: bool,
    /// The reason in words.
    pub(super) words: String,
    pub(super) obstacles: Vec<Obstacle>,
    /// Files that may hold the same keys, the first of them.
    pub(super) overlaps: Vec<OverlapFacts>,
    pub(super) files: u64,
    pub(super) rows: u64,
    pub(super) size: u64,
    /// Rows of the result before conditions, where metadata is sure of it.
    pub(super) exact_row_count: Option<u64>,
    pub(super) reader: Option<String>,
    /// What nobody can read.
    pub(super) not_supported: Option<String>,
    pub(super) sections: Vec<SectionFacts>,
    /// What it can be cut into, if that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) parts: Vec<PartReport>,
}

#[derive(Debug, Serialize)]
pub(super) struct OverlapFacts {
    pub(super) files: [String; 2],
    /// Keys that can be in both.
    pub(super) keys: String,
}

/// How the files of one section are read.
#[derive(Debug, Serialize)]
pub(super) struct SectionFacts {
    /// First to last key; `None` for append tables.
    pub(super) keys: Option<String>,
    pub(super) rows: u64,
    pub(super) runs: Vec<RunFacts>,
    /// `None` where every row is one of the result.
    pub(super) key_pass: Option<KeyPassFacts>,
    /// The engine that makes a row of several versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fold: Option<String>,
    /// What is asked of rows that the key pass picked.
    pub(super) condition: Option<String>,
    pub(super) condition_columns: Vec<String>,
    pub(super) value_columns: Vec<String>,
    /// The condition holds for no row: nothing is read.
    pub(super) nothing_passes: bool,
}

/// Files without a common key, in key order.
#[derive(Debug, Serialize)]
pub(super) struct RunFacts {
    pub(super) keys: Option<String>,
    pub(super) files: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct KeyPassFacts {
    pub(super) keys: Vec<String>,
    pub(super) sequence_fields: Vec<String>,
    /// Files whose sequence numbers are read.
    pub(super) sequence_number_of: Vec<String>,
    /// Files whose row kinds are read.
    pub(super) row_kind_of: Vec<String>,
    pub(super) condition: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct ConditionFacts {
    pub(super) condition: String,
    /// The plan answers it: no row is asked.
    pub(super) exact: bool,
    pub(super) prunes: Vec<PruneStep>,
    /// Where it acts, in words.
    pub(super) words: String,
}

#[derive(Debug, Serialize)]
pub(super) struct CountFacts {
    /// The number, if metadata is sure of it.
    pub(super) rows: Option<u64>,
    pub(super) words: String,
}

#[derive(Debug, Serialize)]
pub(super) struct AdviceFacts {
    pub(super) advice: Advice,
    pub(super) words: String,
}
