//! Tasks: what one worker reads.

use paimon_meta::Split;
use serde::{Deserialize, Serialize};

/// A split, or a part of one, to be read by one worker. Data: it can be sent to another process and read there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadTask {
    /// The split.
    pub split: Split,
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
        Self { split }
    }
}

impl From<Split> for ReadTask {
    fn from(split: Split) -> Self {
        Self::new(split)
    }
}
