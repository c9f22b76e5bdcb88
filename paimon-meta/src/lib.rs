#![doc = include_str!("../README.md")]

#[cfg(feature = "avro-codec")]
mod avro_codec;
mod binary_row;
mod bucket;
mod calendar;
mod consumer;
mod data_file;
mod deletion_vector;
mod error;
mod file_index;
mod file_table;
mod hash_index;
mod hints;
mod java_split;
mod json;
#[cfg(feature = "manifest")]
mod manifest;
mod manifest_format;
mod options;
mod partition;
mod paths;
mod predicate;
mod resolved;
mod row_kind;
mod schema;
mod snapshot;
mod split;
mod statistics;
mod stats;
mod tag;
mod types;
mod value;
mod value_arrow;

#[cfg(feature = "avro-codec")]
pub use avro_codec::AvroCodec;
pub use binary_row::{BinaryRow, BinaryRowRef, encode_row};
pub use bucket::{BucketFunction, BucketHash, murmur_hash};
pub use calendar::{date_of, days_of};
pub use consumer::Consumer;
pub use data_file::{DataFileMeta, FileSource};
pub use deletion_vector::DeletionVector;
pub use error::{Error, ErrorKind, Frame, Result, ResultExt};
pub use file_index::{FileIndex, FileIndexDirectory, IndexPlace};
pub use file_table::{FileIdentity, FileTable, FileTableBuilder, KeepStats, StatsRef, TextList};
pub use hash_index::decode_hash_index;
pub use hints::{
    earliest_from_hint, latest_from_hint, latest_from_listing, numbered_name, parse_hint,
};
pub use java_split::{
    JavaVersion, data_split_from_java, data_split_to_java, split_from_java_object,
    split_to_java_object, with_absolute_paths,
};
#[cfg(feature = "manifest")]
pub use manifest::{
    DeletionVectorRange, EntryKind, IndexManifestEntry, ManifestBatch, ManifestColumns,
    ManifestEntry, ManifestFileMeta, ManifestReader, decode_index_manifest,
    decode_index_manifest_with, decode_manifest, decode_manifest_list, decode_manifest_list_with,
};
pub use manifest_format::{EntryBatches, ManifestFormat};
pub use options::{
    BatchScanMode, ChangelogProducer, FromOption, IncrementalScanMode, MemorySize, MergeEngine,
    Options, SortOrder, StartupMode, TableOption, unsupported_feature,
};
pub use partition::{DataPaths, escape_path_name, parse_partition_value, unescape_path_name};
pub use paths::{
    BRANCH_DIRECTORY, BranchPaths, MAIN_BRANCH, bucket_directory, index_path, is_absolute_path,
    manifest_path, statistics_path,
};
pub use predicate::{
    ArrayBounds, ColumnBounds, CompareOp, FilePath, Leaf, LikePattern, LikeToken, Predicate,
    TablePredicate, Test, may_match, may_match_many,
};
pub use resolved::{ChangeFiles, ChangeRange, ResolvedTable};
pub use row_kind::RowKind;
pub use schema::{DataField, FieldId, TableSchema};
pub use snapshot::{CommitKind, Snapshot};
pub use split::{DataSplit, DeletionFile, IncrementalSplit, Split};
pub use statistics::{ColumnStatistics, Statistics};
pub use stats::SimpleStats;
pub use tag::Tag;
pub use types::{
    DataType, MAX_LENGTH, StringLayout, TypeKind, arrow_field, arrow_schema, parse_type,
};
pub use value::{Datum, double_text, float_order, float_text, java_text, sql_text};
pub use value_arrow::{array_of, datum_at};
