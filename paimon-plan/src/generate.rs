//! Files of one bucket to splits, exactly as the reference makes them (RP-110 to RP-129, RP-150, RP-160 to RP-162).
//!
//! The generators work on positions in a list of files, so that they serve any way of keeping file metas.

mod append;
mod merge_tree;

use paimon_meta::DataFileMeta;
use serde::{Deserialize, Serialize};

pub use append::{append_splits, append_splits_for_streaming};
pub use merge_tree::{bucket_is_raw, merge_tree_splits, merge_tree_splits_for_streaming};

/// What split generation looks at in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileShape {
    /// Size in bytes.
    pub file_size: u64,
    /// Level in the LSM tree; 0 for append tables.
    pub level: i32,
    /// Retract rows; `None` is unknown and counts as none here (RP-004).
    pub delete_row_count: Option<u64>,
    /// Smallest sequence number, by which append files are ordered (RP-160).
    pub min_sequence_number: i64,
}

impl FileShape {
    fn may_be_raw(&self) -> bool {
        self.delete_row_count.is_none_or(|count| count == 0)
    }
}

impl From<&DataFileMeta> for FileShape {
    fn from(file: &DataFileMeta) -> Self {
        Self {
            file_size: file.file_size,
            level: file.level,
            delete_row_count: file.delete_row_count,
            min_sequence_number: file.min_sequence_number,
        }
    }
}

/// Options that shape splits (RP-008).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitSettings {
    /// `source.split.target-size` in bytes.
    pub target_size: u64,
    /// `source.split.open-file-cost` in bytes: the least weight of a packed item.
    pub open_file_cost: u64,
    /// `deletion-vectors.enabled`.
    pub deletion_vectors: bool,
    /// Whether the merge engine is first-row.
    pub first_row: bool,
}

impl Default for SplitSettings {
    fn default() -> Self {
        Self {
            target_size: 128 << 20,
            open_file_cost: 4 << 20,
            deletion_vectors: false,
            first_row: false,
        }
    }
}

/// The rule that made a split raw or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Why {
    /// Raw: append tables never merge (RP-162).
    AppendTable,
    /// Raw flag of a streaming split, which says nothing of deletes or duplicates (RP-150).
    Streaming,
    /// Raw: the bucket's files are all on one level above 0, none with delete rows.
    OneLevel,
    /// Raw: deletion vectors mark every replaced row; no file on level 0, none with delete rows.
    DeletionVectors,
    /// Raw: first-row never replaces a row; no file on level 0, none with delete rows.
    FirstRow,
    /// Raw: one file alone in its split, without delete rows, whatever its level (RP-122).
    LoneFile,
    /// Merge: key ranges of files overlap, so a key can be in several of them.
    Overlap,
    /// Merge: several sections share the split although no key is in two files (RP-121).
    SharedSplit,
    /// Merge: one file alone, but with delete rows.
    DeleteRows,
    /// Two states of a bucket, which are merged and then compared (RP-306), or all deleted and inserted (RP-305).
    TwoStates,
}

impl Why {
    /// Whether the rule makes a split raw.
    pub fn is_raw(self) -> bool {
        !matches!(
            self,
            Self::Overlap | Self::SharedSplit | Self::DeleteRows | Self::TwoStates
        )
    }
}

/// One split, its files as positions in the bucket's list of files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitShape {
    /// The files in the order of the split.
    pub files: Vec<u32>,
    /// The number of files in each run of each section; runs and sections follow each other in [`Self::files`]. Empty
    /// where a raw split was made without looking at key ranges.
    pub sections: Vec<Vec<u32>>,
    /// The rule that decided.
    pub why: Why,
}

/// The positions of a bucket's files.
fn positions(files: &[FileShape]) -> impl Iterator<Item = (u32, &FileShape)> {
    (0u32..).zip(files)
}
