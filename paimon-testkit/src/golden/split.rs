//! Splits as `expected.json` shows them.

use paimon_meta::{
    DataField, DataFileMeta, DataSplit, DeletionFile, Error, IncrementalSplit, Result, Split,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::json::datum_to_json;

/// A split of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum GoldenSplit {
    /// A data split.
    Data(GoldenDataSplit),
    /// Two states of a bucket.
    Incremental(GoldenIncrementalSplit),
    /// A data split of a table with a fallback branch.
    Fallback(GoldenFallbackSplit),
    /// A split of another class of the reference. Plans that hold one are not compared.
    Other {
        /// The class.
        class: String,
    },
}

/// Two states of a bucket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldenIncrementalSplit {
    /// `IncrementalSplit`.
    pub class: String,
    /// Physical rows of both states.
    pub row_count: u64,
    /// Files of the earlier state, in order.
    pub before: Vec<GoldenFile>,
    /// Files of the later state, in order.
    pub after: Vec<GoldenFile>,
}

/// A data split of a table with a fallback branch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoldenFallbackSplit {
    /// `FallbackDataSplit`.
    pub class: String,
    /// Whether it is of the branch.
    pub fallback: bool,
    /// The split.
    #[serde(flatten)]
    pub split: GoldenDataSplit,
}

impl GoldenSplit {
    /// A planned split in the form of the golden tables. `partition_fields` are the table's partition columns, in order.
    ///
    /// # Errors
    /// Those of decoding the partition; `Internal` for a sort of split that has no form.
    pub fn of(split: &Split, partition_fields: &[&DataField]) -> Result<Self> {
        Ok(match split {
            Split::Data(split) => Self::Data(GoldenDataSplit::of(split, partition_fields)?),
            Split::Fallback(split) => Self::Fallback(GoldenFallbackSplit {
                class: "FallbackDataSplit".to_owned(),
                fallback: true,
                split: GoldenDataSplit::of(split, partition_fields)?,
            }),
            Split::Incremental(split) => Self::Incremental(GoldenIncrementalSplit::of(split)),
            other => return Err(Error::internal(format!("no form for the split {other:?}"))),
        })
    }
}

impl GoldenIncrementalSplit {
    fn of(split: &IncrementalSplit) -> Self {
        Self {
            class: "IncrementalSplit".to_owned(),
            row_count: split.row_count(),
            before: golden_files(&split.before, &split.before_deletion_files),
            after: golden_files(&split.after, &split.after_deletion_files),
        }
    }
}

fn golden_files(
    files: &[DataFileMeta],
    vectors: &Option<Vec<Option<DeletionFile>>>,
) -> Vec<GoldenFile> {
    let vectors = vectors.iter().flatten();
    let mut vectors = vectors.map(|vector| vector.as_ref().map(GoldenDeletionVector::of));
    let files = files.iter().map(|file| GoldenFile {
        name: file.file_name.clone(),
        level: file.level,
        rows: file.row_count,
        delete_rows: file.delete_row_count,
        size: file.file_size,
        min_seq: file.min_sequence_number,
        max_seq: file.max_sequence_number,
        schema: file.schema_id,
        deletion_vector: vectors.next().flatten(),
    });
    files.collect()
}

/// A data split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldenDataSplit {
    /// Partition values in JSON form.
    pub partition: Vec<Value>,
    /// Bucket.
    pub bucket: i32,
    /// Directory of the bucket, relative to the table.
    pub bucket_path: String,
    /// Number of buckets.
    pub total_buckets: Option<i32>,
    /// Snapshot id.
    pub snapshot: i64,
    /// No merge is needed.
    pub raw_convertible: bool,
    /// Made by a streaming or incremental plan.
    pub streaming: bool,
    /// Physical rows.
    pub row_count: u64,
    /// Rows after the merge; `None` is unknown.
    pub merged_row_count: Option<u64>,
    /// The files, in order.
    pub files: Vec<GoldenFile>,
}

/// A data file of a split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldenFile {
    /// Bare name.
    pub name: String,
    /// Level.
    pub level: i32,
    /// Physical rows.
    pub rows: u64,
    /// Retract rows; `None` is unknown.
    pub delete_rows: Option<u64>,
    /// Size in bytes.
    pub size: u64,
    /// Smallest sequence number.
    pub min_seq: i64,
    /// Largest sequence number.
    pub max_seq: i64,
    /// Schema id.
    pub schema: i64,
    /// Where its deletion vector is.
    pub deletion_vector: Option<GoldenDeletionVector>,
}

/// Where a deletion vector is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldenDeletionVector {
    /// Bare name of the index file.
    pub file: String,
    /// Offset in it.
    pub offset: u64,
    /// Length in it.
    pub length: u64,
    /// Deleted rows; `None` is unknown.
    pub cardinality: Option<u64>,
}

impl GoldenDataSplit {
    /// A planned split in the form of the golden tables. `partition_fields` are the table's partition columns, in order.
    ///
    /// # Errors
    /// Those of decoding the partition.
    pub fn of(split: &DataSplit, partition_fields: &[&DataField]) -> Result<Self> {
        let types: Vec<_> = partition_fields
            .iter()
            .map(|field| &field.data_type)
            .collect();
        let values = split.partition.as_ref().datums(&types)?;
        let partition = values.iter().zip(&types);
        Ok(Self {
            files: golden_files(&split.files, &split.deletion_files),
            partition: partition
                .map(|(value, data_type)| datum_to_json(value.as_ref(), data_type))
                .collect::<Result<_>>()?,
            bucket: split.bucket,
            bucket_path: split.bucket_path.clone(),
            total_buckets: split.total_buckets,
            snapshot: split.snapshot_id,
            raw_convertible: split.raw_convertible,
            streaming: split.streaming,
            row_count: split.row_count(),
            merged_row_count: split.merged_row_count(),
        })
    }
}

impl GoldenDeletionVector {
    fn of(file: &DeletionFile) -> Self {
        Self {
            file: file
                .path
                .rsplit('/')
                .next()
                .unwrap_or(&file.path)
                .to_owned(),
            offset: file.offset,
            length: file.length,
            cardinality: file.cardinality,
        }
    }
}
