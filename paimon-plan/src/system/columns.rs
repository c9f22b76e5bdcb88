//! The columns of metadata tables.

use std::collections::BTreeMap;

use paimon_meta::{DataField, DataType, FieldId, MAX_LENGTH, TableSchema, TypeKind};

use crate::system_table::MetadataTable;

/// A column: name, sort, whether it may be null.
type Column = (&'static str, Sort, bool);

/// Types that the columns have.
#[derive(Clone, Copy)]
enum Sort {
    Text,
    Int,
    Long,
    Time,
    Flag,
    Texts,
    Vectors,
}

use Sort::{Flag, Int, Long, Text, Texts, Time, Vectors};

const NULL: bool = true;
const SET: bool = false;

pub(super) fn schema_of(table: MetadataTable) -> TableSchema {
    let columns = columns_of(table);
    let field =
        |(id, (name, sort, nullable)): (i32, &Column)| field(id, name, kind_of(*sort), *nullable);
    TableSchema {
        version: 3,
        id: 0,
        fields: (0..).zip(columns).map(field).collect(),
        highest_field_id: i32::try_from(columns.len()).unwrap_or(i32::MAX) - 1,
        partition_keys: Vec::new(),
        primary_keys: Vec::new(),
        options: BTreeMap::new(),
        comment: None,
        time_millis: 0,
    }
}

fn columns_of(table: MetadataTable) -> &'static [Column] {
    match table {
        MetadataTable::Snapshots => &SNAPSHOTS,
        MetadataTable::Schemas => &SCHEMAS,
        MetadataTable::Options => &OPTIONS,
        MetadataTable::Manifests => &MANIFESTS,
        MetadataTable::Files => &FILES,
        MetadataTable::FileKeyRanges => &FILE_KEY_RANGES,
        MetadataTable::Partitions => &PARTITIONS,
        MetadataTable::Buckets => &BUCKETS,
        MetadataTable::Tags => &TAGS,
        MetadataTable::Branches => &BRANCHES,
        MetadataTable::Consumers => &CONSUMERS,
        MetadataTable::AggregationFields => &AGGREGATION_FIELDS,
        MetadataTable::Statistics => &STATISTICS,
        MetadataTable::TableIndexes => &TABLE_INDEXES,
    }
}

const SNAPSHOTS: [Column; 16] = [
    ("snapshot_id", Long, SET),
    ("schema_id", Long, SET),
    ("commit_user", Text, SET),
    ("commit_identifier", Long, SET),
    ("commit_kind", Text, SET),
    ("commit_time", Time, SET),
    ("base_manifest_list", Text, SET),
    ("delta_manifest_list", Text, SET),
    ("changelog_manifest_list", Text, NULL),
    ("total_record_count", Long, NULL),
    ("delta_record_count", Long, NULL),
    ("changelog_record_count", Long, NULL),
    ("watermark", Long, NULL),
    ("next_row_id", Long, NULL),
    ("operation", Text, NULL),
    ("writer_version", Text, NULL),
];

const SCHEMAS: [Column; 7] = [
    ("schema_id", Long, SET),
    ("fields", Text, SET),
    ("partition_keys", Text, SET),
    ("primary_keys", Text, SET),
    ("options", Text, SET),
    ("comment", Text, NULL),
    ("update_time", Time, SET),
];

const OPTIONS: [Column; 2] = [("key", Text, SET), ("value", Text, SET)];

const MANIFESTS: [Column; 9] = [
    ("file_name", Text, SET),
    ("file_size", Long, SET),
    ("num_added_files", Long, SET),
    ("num_deleted_files", Long, SET),
    ("schema_id", Long, SET),
    ("min_partition_stats", Text, NULL),
    ("max_partition_stats", Text, NULL),
    ("min_row_id", Long, NULL),
    ("max_row_id", Long, NULL),
];

const FILES: [Column; 20] = [
    ("partition", Text, NULL),
    ("bucket", Int, SET),
    ("file_path", Text, SET),
    ("file_format", Text, SET),
    ("schema_id", Long, SET),
    ("level", Int, SET),
    ("record_count", Long, SET),
    ("file_size_in_bytes", Long, SET),
    ("min_key", Text, NULL),
    ("max_key", Text, NULL),
    ("null_value_counts", Text, SET),
    ("min_value_stats", Text, SET),
    ("max_value_stats", Text, SET),
    ("min_sequence_number", Long, NULL),
    ("max_sequence_number", Long, NULL),
    ("creation_time", Time, NULL),
    ("deleteRowCount", Long, NULL),
    ("file_source", Text, NULL),
    ("first_row_id", Long, NULL),
    ("write_cols", Texts, NULL),
];

const FILE_KEY_RANGES: [Column; 11] = [
    ("partition", Text, NULL),
    ("bucket", Int, SET),
    ("file_path", Text, SET),
    ("file_format", Text, SET),
    ("schema_id", Long, SET),
    ("level", Int, SET),
    ("record_count", Long, SET),
    ("file_size_in_bytes", Long, SET),
    ("min_key", Text, NULL),
    ("max_key", Text, NULL),
    ("first_row_id", Long, NULL),
];

const PARTITIONS: [Column; 12] = [
    ("partition", Text, NULL),
    ("record_count", Long, SET),
    ("file_size_in_bytes", Long, SET),
    ("file_count", Long, SET),
    ("last_update_time", Time, NULL),
    ("created_at", Time, NULL),
    ("created_by", Text, NULL),
    ("updated_by", Text, NULL),
    ("options", Text, NULL),
    ("total_buckets", Int, SET),
    ("done", Flag, SET),
    ("deleted_record_count", Long, NULL),
];

const BUCKETS: [Column; 6] = [
    ("partition", Text, NULL),
    ("bucket", Int, SET),
    ("record_count", Long, SET),
    ("file_size_in_bytes", Long, SET),
    ("file_count", Long, SET),
    ("last_update_time", Time, NULL),
];

const TAGS: [Column; 7] = [
    ("tag_name", Text, SET),
    ("snapshot_id", Long, SET),
    ("schema_id", Long, SET),
    ("commit_time", Time, SET),
    ("record_count", Long, NULL),
    ("create_time", Time, NULL),
    ("time_retained", Text, NULL),
];

const BRANCHES: [Column; 2] = [("branch_name", Text, SET), ("create_time", Time, SET)];

const CONSUMERS: [Column; 2] = [("consumer_id", Text, SET), ("next_snapshot_id", Long, SET)];

const AGGREGATION_FIELDS: [Column; 5] = [
    ("field_name", Text, SET),
    ("field_type", Text, SET),
    ("function", Text, NULL),
    ("function_options", Text, NULL),
    ("comment", Text, NULL),
];

const STATISTICS: [Column; 5] = [
    ("snapshot_id", Long, SET),
    ("schema_id", Long, SET),
    ("mergedRecordCount", Long, NULL),
    ("mergedRecordSize", Long, NULL),
    ("colstat", Text, NULL),
];

const TABLE_INDEXES: [Column; 11] = [
    ("partition", Text, NULL),
    ("bucket", Int, SET),
    ("index_type", Text, SET),
    ("file_name", Text, SET),
    ("file_size", Long, SET),
    ("row_count", Long, SET),
    ("dv_ranges", Vectors, NULL),
    ("row_range_start", Long, NULL),
    ("row_range_end", Long, NULL),
    ("index_field_id", Int, NULL),
    ("index_field_name", Text, NULL),
];

fn field(id: i32, name: &str, kind: TypeKind, nullable: bool) -> DataField {
    DataField {
        id: FieldId(id),
        name: name.to_owned(),
        data_type: DataType { kind, nullable },
        description: None,
        default_value: None,
    }
}

fn kind_of(sort: Sort) -> TypeKind {
    match sort {
        Text => TypeKind::VarChar(MAX_LENGTH),
        Int => TypeKind::Int,
        Long => TypeKind::BigInt,
        Time => TypeKind::Timestamp(3),
        Flag => TypeKind::Boolean,
        Texts => TypeKind::Array(Box::new(TypeKind::VarChar(MAX_LENGTH).nullable())),
        Vectors => TypeKind::Array(Box::new(vector_kind().nullable())),
    }
}

/// Where a deletion vector is: data file, offset, length, deleted rows.
fn vector_kind() -> TypeKind {
    TypeKind::Row(vec![
        field(0, "f0", TypeKind::VarChar(MAX_LENGTH), SET),
        field(1, "f1", TypeKind::Int, SET),
        field(2, "f2", TypeKind::Int, SET),
        field(3, "_CARDINALITY", TypeKind::BigInt, NULL),
    ])
}
