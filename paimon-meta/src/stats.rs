//! Minimum, maximum and null count of columns, as metadata stores them. Facts: table-format section 4.6.

use serde::{Deserialize, Serialize};

use crate::binary_row::BinaryRow;

/// Bounds and null counts of a list of columns; which columns is said elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SimpleStats {
    /// Smallest values; null where unknown.
    pub min_values: BinaryRow,
    /// Largest values; null where unknown. A truncated text is rounded up (TF-045).
    pub max_values: BinaryRow,
    /// Nulls per column; `None` where unknown. The whole list may be missing.
    pub null_counts: Option<Vec<Option<i64>>>,
}
