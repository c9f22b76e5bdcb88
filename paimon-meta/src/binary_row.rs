//! The row format of partitions, keys and statistics in metadata. Facts: table-format section 5.

use serde::{Deserialize, Serialize};

/// A row in serialized form: 4 bytes big-endian arity, then the row's bytes (TF-041). Owned.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BinaryRow(Vec<u8>);

impl Default for BinaryRow {
    /// The row of arity 0 (TF-042).
    fn default() -> Self {
        Self(vec![0; 12])
    }
}
