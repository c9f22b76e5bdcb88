//! Statistics files that ANALYZE writes. Facts: table-format section 3.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::json;

/// One statistics file, named by [`Snapshot::statistics`](crate::Snapshot::statistics).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Statistics {
    /// The snapshot that was analysed.
    pub snapshot_id: i64,
    /// Its schema.
    pub schema_id: i64,
    /// Rows after merging.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_record_count: Option<i64>,
    /// Their size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_record_size: Option<i64>,
    /// Statistics by column name, in the order of the file.
    #[serde(default, with = "json::members")]
    pub col_stats: Vec<(String, ColumnStatistics)>,
}

/// Statistics of one column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ColumnStatistics {
    /// Id of the column.
    pub col_id: i32,
    /// Number of different values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distinct_count: Option<i64>,
    /// Smallest value, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<String>,
    /// Largest value, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<String>,
    /// Number of nulls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub null_count: Option<i64>,
    /// Average length in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avg_len: Option<i64>,
    /// Largest length in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_len: Option<i64>,
}

impl Statistics {
    /// Statistics from their file.
    ///
    /// # Errors
    /// `Corrupt`, naming the member at fault.
    pub fn from_json(bytes: &[u8]) -> Result<Self> {
        json::from_json(bytes)
    }
}
