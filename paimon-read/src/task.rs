//! Tasks: what one worker reads.

use paimon_format::RowRanges;
use paimon_meta::{BinaryRow, Split};
use serde::{Deserialize, Serialize};

/// A split, or a part of one, to be read by one worker. Data: it can be sent to another process and read there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadTask {
    /// The split; of a part only the files that it reads.
    pub split: Split,
    /// Which of its rows are read; `None` is all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
    /// Bytes of its files that a part was estimated to be when it was cut, for schedulers and explanations; `None` is those
    /// of its split.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_bytes: Option<u64>,
}

/// Which rows of a split a task reads. Made by [`TableReader::subdivide`](crate::TableReader::subdivide): the parts of a
/// task have all of its rows between them, and none twice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Part {
    /// Of a merge: the rows of keys in a range. All versions of a key are in one part.
    Keys(KeySpan),
    /// Of files that are read as they are: the rows by file position, one set for each file of the split, in their order.
    Rows(Vec<RowRanges>),
}

/// A range of trimmed primary keys, in the order of keys (nulls first), from a key on and up to another, which is not in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeySpan {
    /// The least key; `None` has no bound.
    pub from: Option<BinaryRow>,
    /// The first key above the range; `None` has no bound.
    pub to: Option<BinaryRow>,
}

/// Order of the rows of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TaskOrdering {
    /// None that is promised.
    Unordered,
    /// Ascending by trimmed primary key, nulls first.
    Key,
}

impl ReadTask {
    /// The whole of a split.
    pub fn new(split: Split) -> Self {
        Self {
            split,
            part: None,
            estimated_bytes: None,
        }
    }

    /// A part of a split, estimated to be so many bytes.
    pub(crate) fn of_part(split: Split, part: Part, bytes: u64) -> Self {
        Self {
            split,
            part: Some(part),
            estimated_bytes: Some(bytes),
        }
    }
}

impl From<Split> for ReadTask {
    fn from(split: Split) -> Self {
        Self::new(split)
    }
}
