//! The unit of reading that a plan hands to a reader. Facts: RP-112, RP-115.

use serde::{Deserialize, Serialize};

use crate::binary_row::BinaryRow;
use crate::data_file::DataFileMeta;

/// A unit of reading. Self-contained: it owns its file metas.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Split {
    /// Files of one bucket of one snapshot.
    Data(DataSplit),
    /// The same of the branch that a table falls back to (RP-537): file metas name schemas of that branch.
    Fallback(DataSplit),
    /// Two states of one bucket (RP-153).
    Incremental(IncrementalSplit),
}

/// Files of one bucket of one snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataSplit {
    /// Planned snapshot; 0 if there is none.
    pub snapshot_id: i64,
    /// Partition values, in partition order.
    pub partition: BinaryRow,
    /// Bucket; -2 is the postpone bucket.
    pub bucket: i32,
    /// Directory of the bucket, relative to the table or absolute, escapes as stored.
    pub bucket_path: String,
    /// Number of buckets when the bucket's first file was written (RP-573).
    pub total_buckets: Option<i32>,
    /// The files, in the order of the plan.
    pub files: Vec<DataFileMeta>,
    /// Deletion vectors, one slot a file; `None` where deletion vectors are off (RP-113).
    pub deletion_files: Option<Vec<Option<DeletionFile>>>,
    /// Made by a streaming or incremental plan.
    pub streaming: bool,
    /// The planner's word that no merge is needed (RP-120, RP-150).
    pub raw_convertible: bool,
}

/// Two states of one bucket, each as the files that the other does not have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IncrementalSplit {
    /// The later snapshot.
    pub snapshot_id: i64,
    /// Partition values, in partition order.
    pub partition: BinaryRow,
    /// Bucket; -2 is the postpone bucket.
    pub bucket: i32,
    /// Directory of the bucket, relative to the table or absolute, escapes as stored. Empty in a split from the reference's
    /// form, which does not have it (RP-115): readers make it of partition and bucket.
    pub bucket_path: String,
    /// Number of buckets when the bucket's first file was written (RP-573).
    pub total_buckets: Option<i32>,
    /// Files of the earlier state, in the order of the plan.
    pub before: Vec<DataFileMeta>,
    /// Their deletion vectors, as in [`DataSplit::deletion_files`].
    pub before_deletion_files: Option<Vec<Option<DeletionFile>>>,
    /// Files of the later state, in the order of the plan.
    pub after: Vec<DataFileMeta>,
    /// Their deletion vectors, as in [`DataSplit::deletion_files`].
    pub after_deletion_files: Option<Vec<Option<DeletionFile>>>,
    /// Made of one overwriting commit by a streaming plan: every row of the earlier state is deleted, every row of the
    /// later one inserted (RP-305). Else the states are compared row by row (RP-306).
    pub streaming: bool,
}

impl IncrementalSplit {
    /// Sum of physical rows of both states.
    pub fn row_count(&self) -> u64 {
        let files = self.before.iter().chain(&self.after);
        files
            .map(|file| file.row_count)
            .fold(0, u64::saturating_add)
    }
}

/// Where the deletion vector of one data file is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeletionFile {
    /// Path of the index file, relative to the table or absolute.
    pub path: String,
    /// Offset of the vector's length field.
    pub offset: u64,
    /// Length as the index manifest gives it; what it covers depends on the format (TF-065).
    pub length: u64,
    /// Deleted rows; `None` in old metadata is unknown, not zero (TF-068).
    pub cardinality: Option<u64>,
}

impl DataSplit {
    /// Sum of physical rows; counts duplicates and deletes (RP-183).
    pub fn row_count(&self) -> u64 {
        self.files
            .iter()
            .map(|file| file.row_count)
            .fold(0, u64::saturating_add)
    }

    /// The reference's merged row count (RP-180): known for raw splits whose vectors have a known cardinality.
    /// Trusts files with an unknown delete row count, as the reference does (RP-181); for a number that is never wrong
    /// see [`Self::exact_row_count`].
    pub fn merged_row_count(&self) -> Option<u64> {
        if !self.raw_convertible {
            return None;
        }
        self.rows_without_deleted()
    }

    /// Rows that a read returns, if the metas alone tell it for certain.
    pub fn exact_row_count(&self) -> Option<u64> {
        let certain = self.raw_convertible
            && self
                .files
                .iter()
                .all(DataFileMeta::is_known_without_deletes);
        if certain {
            self.rows_without_deleted()
        } else {
            None
        }
    }

    fn rows_without_deleted(&self) -> Option<u64> {
        let mut deleted = 0u64;
        for file in self.deletion_files.iter().flatten().flatten() {
            deleted = deleted.checked_add(file.cardinality?)?;
        }
        self.row_count().checked_sub(deleted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binary_row::encode_row;
    use crate::stats::SimpleStats;
    use crate::types::TypeKind;
    use crate::value::Datum;

    fn split(delete_row_counts: &[Option<u64>]) -> DataSplit {
        let row = encode_row(&[&TypeKind::Date.not_null()], &[Some(Datum::Date(19_724))]).unwrap();
        let files = delete_row_counts.iter().map(|count| DataFileMeta {
            file_name: "data-1.parquet".to_owned(),
            row_count: 10,
            min_key: row.clone(),
            value_stats: SimpleStats {
                min_values: row.clone(),
                max_values: row.clone(),
                null_counts: Some(vec![Some(0), None]),
            },
            delete_row_count: *count,
            embedded_index: Some(vec![0, 255]),
            value_stats_cols: Some(vec![]),
            first_row_id: Some(5),
            ..DataFileMeta::default()
        });
        DataSplit {
            snapshot_id: 7,
            partition: row.clone(),
            bucket: -2,
            bucket_path: "dt=19724/bucket-postpone".to_owned(),
            total_buckets: None,
            files: files.collect(),
            deletion_files: None,
            streaming: false,
            raw_convertible: true,
        }
    }

    fn deleted(cardinality: Option<u64>) -> Option<DeletionFile> {
        Some(DeletionFile {
            path: "index/i".to_owned(),
            offset: 1,
            length: 22,
            cardinality,
        })
    }

    #[test]
    fn split_travels_as_json() {
        let mut split = split(&[Some(0), None]);
        split.deletion_files = Some(vec![None, deleted(None)]);
        let split = Split::Data(split);
        let text = serde_json::to_string(&split).unwrap();
        assert!(text.contains("\"partition\":\"0000000100"), "{text}");
        assert_eq!(serde_json::from_str::<Split>(&text).unwrap(), split);
    }

    #[test]
    fn counts_subtract_deleted_rows_where_they_are_known() {
        // RP-180, RP-181, TF-068
        let mut split = split(&[Some(0), None]);
        assert_eq!(
            (
                split.row_count(),
                split.merged_row_count(),
                split.exact_row_count()
            ),
            (20, Some(20), None)
        );
        split.files[1].delete_row_count = Some(0);
        assert_eq!(split.exact_row_count(), Some(20));
        split.deletion_files = Some(vec![None, deleted(Some(3))]);
        assert_eq!(
            (split.merged_row_count(), split.exact_row_count()),
            (Some(17), Some(17))
        );
        split.deletion_files = Some(vec![deleted(Some(3)), deleted(None)]);
        assert_eq!(
            (split.merged_row_count(), split.exact_row_count()),
            (None, None)
        );
        split.deletion_files = Some(vec![deleted(Some(21)), None]);
        assert_eq!(split.exact_row_count(), None);
        split.raw_convertible = false;
        split.deletion_files = None;
        assert_eq!(
            (split.merged_row_count(), split.exact_row_count()),
            (None, None)
        );
    }
}
