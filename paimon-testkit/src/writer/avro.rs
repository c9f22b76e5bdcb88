//! Avro files of the metadata: manifests, manifest lists, index manifests, with the fields that a version of the reference
//! has (TF sections 4 and 6.1).

mod container;

use apache_avro::types::Value;
use paimon_meta::{
    BinaryRow, DataFileMeta, EntryKind, FileSource, IndexManifestEntry, ManifestEntry,
    ManifestFileMeta, Result, SimpleStats,
};

use container::Container;

use super::layout::WriterVersion::{self, V0_8, V1_0, V1_4, V2_1};

/// A field: its name, its type, and the first version that has it.
type Field = (&'static str, &'static str, WriterVersion);

const STATS: &str = r#"[{"name":"_MIN_VALUES","type":"bytes"},{"name":"_MAX_VALUES","type":"bytes"},
 {"name":"_NULL_COUNTS","type":["null",{"type":"array","items":["null","long"]}],"default":null}]"#;

const LIST: &[Field] = &[
    ("_VERSION", r#""int""#, V0_8),
    ("_FILE_NAME", r#""string""#, V0_8),
    ("_FILE_SIZE", r#""long""#, V0_8),
    ("_NUM_ADDED_FILES", r#""long""#, V0_8),
    ("_NUM_DELETED_FILES", r#""long""#, V0_8),
    (
        "_PARTITION_STATS",
        r#"{"type":"record","name":"record__PARTITION_STATS","fields":STATS}"#,
        V0_8,
    ),
    ("_SCHEMA_ID", r#""long""#, V0_8),
    ("_MIN_BUCKET", OPTIONAL_INT, V1_4),
    ("_MAX_BUCKET", OPTIONAL_INT, V1_4),
    ("_MIN_LEVEL", OPTIONAL_INT, V1_4),
    ("_MAX_LEVEL", OPTIONAL_INT, V1_4),
    ("_MIN_ROW_ID", OPTIONAL_LONG, V1_4),
    ("_MAX_ROW_ID", OPTIONAL_LONG, V1_4),
];

const FILE: &[Field] = &[
    ("_FILE_NAME", r#""string""#, V0_8),
    ("_FILE_SIZE", r#""long""#, V0_8),
    ("_ROW_COUNT", r#""long""#, V0_8),
    ("_MIN_KEY", r#""bytes""#, V0_8),
    ("_MAX_KEY", r#""bytes""#, V0_8),
    (
        "_KEY_STATS",
        r#"{"type":"record","name":"record__FILE__KEY_STATS","fields":STATS}"#,
        V0_8,
    ),
    (
        "_VALUE_STATS",
        r#"{"type":"record","name":"record__FILE__VALUE_STATS","fields":STATS}"#,
        V0_8,
    ),
    ("_MIN_SEQUENCE_NUMBER", r#""long""#, V0_8),
    ("_MAX_SEQUENCE_NUMBER", r#""long""#, V0_8),
    ("_SCHEMA_ID", r#""long""#, V0_8),
    ("_LEVEL", r#""int""#, V0_8),
    ("_EXTRA_FILES", r#"{"type":"array","items":"string"}"#, V0_8),
    (
        "_CREATION_TIME",
        r#"["null",{"type":"long","logicalType":"timestamp-millis"}]"#,
        V0_8,
    ),
    ("_DELETE_ROW_COUNT", OPTIONAL_LONG, V0_8),
    ("_EMBEDDED_FILE_INDEX", r#"["null","bytes"]"#, V0_8),
    ("_FILE_SOURCE", OPTIONAL_INT, V1_0),
    (
        "_VALUE_STATS_COLS",
        r#"["null",{"type":"array","items":"string"}]"#,
        V1_0,
    ),
    ("_EXTERNAL_PATH", r#"["null","string"]"#, V1_4),
    ("_FIRST_ROW_ID", OPTIONAL_LONG, V1_4),
    (
        "_WRITE_COLS",
        r#"["null",{"type":"array","items":"string"}]"#,
        V1_4,
    ),
    (
        "_WRITE_COLS_SEQUENCES",
        r#"["null",{"type":"array","items":"long"}]"#,
        V2_1,
    ),
];

const INDEX: &[Field] = &[
    ("_VERSION", r#""int""#, V0_8),
    ("_KIND", r#""int""#, V0_8),
    ("_PARTITION", r#""bytes""#, V0_8),
    ("_BUCKET", r#""int""#, V0_8),
    ("_INDEX_TYPE", r#""string""#, V0_8),
    ("_FILE_NAME", r#""string""#, V0_8),
    ("_FILE_SIZE", r#""long""#, V0_8),
    ("_ROW_COUNT", r#""long""#, V0_8),
    (
        "_DELETIONS_VECTORS_RANGES",
        r#"["null",{"type":"array","items":["null",{"type":"record","name":"record__DELETIONS_VECTORS_RANGES","fields":#RANGE#}]}]"#,
        V0_8,
    ),
    ("_EXTERNAL_PATH", r#"["null","string"]"#, V1_4),
];

const RANGE: &[Field] = &[
    ("f0", r#""string""#, V0_8),
    ("f1", r#""int""#, V0_8),
    ("f2", r#""int""#, V0_8),
    ("_CARDINALITY", OPTIONAL_LONG, V1_0),
];

const OPTIONAL_INT: &str = r#"["null","int"]"#;
const OPTIONAL_LONG: &str = r#"["null","long"]"#;

/// What writes the Avro files of one version.
#[derive(Debug)]
pub(super) struct AvroFiles {
    version: WriterVersion,
    list: Container,
    manifest: Container,
    index: Container,
}

impl AvroFiles {
    pub(super) fn new(version: WriterVersion) -> Result<Self> {
        let manifest = format!(
            r#"[{{"name":"_VERSION","type":"int"}},{{"name":"_KIND","type":"int"}},{{"name":"_PARTITION","type":"bytes"}},
 {{"name":"_BUCKET","type":"int"}},{{"name":"_TOTAL_BUCKETS","type":"int"}},
 {{"name":"_FILE","type":{{"type":"record","name":"record__FILE","fields":{}}}}}]"#,
            fields(FILE, version)
        );
        let index = fields(INDEX, version).replace("#RANGE#", &fields(RANGE, version));
        Ok(Self {
            version,
            list: Container::new(&fields(LIST, version))?,
            manifest: Container::new(&manifest)?,
            index: Container::new(&index)?,
        })
    }

    /// A manifest list.
    pub(super) fn list(&self, manifests: &[ManifestFileMeta], marker: [u8; 16]) -> Result<Vec<u8>> {
        let values = manifests.iter().map(|manifest| self.listed(manifest));
        self.list.file(values, marker)
    }

    /// A manifest.
    pub(super) fn manifest(&self, entries: &[ManifestEntry], marker: [u8; 16]) -> Result<Vec<u8>> {
        self.manifest
            .file(entries.iter().map(|entry| self.entry(entry)), marker)
    }

    /// An index manifest.
    pub(super) fn index(
        &self,
        entries: &[IndexManifestEntry],
        marker: [u8; 16],
    ) -> Result<Vec<u8>> {
        self.index
            .file(entries.iter().map(|entry| self.indexed(entry)), marker)
    }

    /// The values of the fields that the version has.
    fn record<const N: usize>(&self, known: &[Field], values: [(&str, Value); N]) -> Value {
        let has = |name: &str| {
            let field = known.iter().find(|field| field.0 == name);
            field.is_none_or(|field| field.2 <= self.version)
        };
        let values = values.into_iter().filter(|(name, _)| has(name));
        Value::Record(
            values
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        )
    }

    fn listed(&self, manifest: &ManifestFileMeta) -> Value {
        self.record(
            LIST,
            [
                ("_VERSION", Value::Int(2)),
                ("_FILE_NAME", text(&manifest.file_name)),
                ("_FILE_SIZE", size(manifest.file_size)),
                ("_NUM_ADDED_FILES", size(manifest.num_added_files)),
                ("_NUM_DELETED_FILES", size(manifest.num_deleted_files)),
                ("_PARTITION_STATS", stats(&manifest.partition_stats)),
                ("_SCHEMA_ID", Value::Long(manifest.schema_id)),
                ("_MIN_BUCKET", optional(manifest.min_bucket.map(Value::Int))),
                ("_MAX_BUCKET", optional(manifest.max_bucket.map(Value::Int))),
                ("_MIN_LEVEL", optional(manifest.min_level.map(Value::Int))),
                ("_MAX_LEVEL", optional(manifest.max_level.map(Value::Int))),
                (
                    "_MIN_ROW_ID",
                    optional(manifest.min_row_id.map(Value::Long)),
                ),
                (
                    "_MAX_ROW_ID",
                    optional(manifest.max_row_id.map(Value::Long)),
                ),
            ],
        )
    }

    fn entry(&self, entry: &ManifestEntry) -> Value {
        self.record(
            &[],
            [
                ("_VERSION", Value::Int(2)),
                ("_KIND", kind(entry.kind)),
                ("_PARTITION", row(&entry.partition)),
                ("_BUCKET", Value::Int(entry.bucket)),
                ("_TOTAL_BUCKETS", Value::Int(entry.total_buckets)),
                ("_FILE", self.data_file(&entry.file)),
            ],
        )
    }

    fn data_file(&self, file: &DataFileMeta) -> Value {
        self.record(
            FILE,
            [
                ("_FILE_NAME", text(&file.file_name)),
                ("_FILE_SIZE", size(file.file_size)),
                ("_ROW_COUNT", size(file.row_count)),
                ("_MIN_KEY", row(&file.min_key)),
                ("_MAX_KEY", row(&file.max_key)),
                ("_KEY_STATS", stats(&file.key_stats)),
                ("_VALUE_STATS", stats(&file.value_stats)),
                (
                    "_MIN_SEQUENCE_NUMBER",
                    Value::Long(file.min_sequence_number),
                ),
                (
                    "_MAX_SEQUENCE_NUMBER",
                    Value::Long(file.max_sequence_number),
                ),
                ("_SCHEMA_ID", Value::Long(file.schema_id)),
                ("_LEVEL", Value::Int(file.level)),
                ("_EXTRA_FILES", texts(&file.extra_files)),
                (
                    "_CREATION_TIME",
                    optional(file.creation_time_millis.map(Value::TimestampMillis)),
                ),
                (
                    "_DELETE_ROW_COUNT",
                    optional(file.delete_row_count.map(size)),
                ),
                (
                    "_EMBEDDED_FILE_INDEX",
                    optional(file.embedded_index.clone().map(Value::Bytes)),
                ),
                ("_FILE_SOURCE", optional(file.file_source.map(source))),
                (
                    "_VALUE_STATS_COLS",
                    optional(file.value_stats_cols.as_deref().map(texts)),
                ),
                (
                    "_EXTERNAL_PATH",
                    optional(file.external_path.as_deref().map(text)),
                ),
                (
                    "_FIRST_ROW_ID",
                    optional(file.first_row_id.map(Value::Long)),
                ),
                (
                    "_WRITE_COLS",
                    optional(file.write_cols.as_deref().map(texts)),
                ),
                (
                    "_WRITE_COLS_SEQUENCES",
                    optional(file.write_cols_sequences.as_deref().map(longs)),
                ),
            ],
        )
    }

    fn indexed(&self, entry: &IndexManifestEntry) -> Value {
        let int = |value: u64| Value::Int(i32::try_from(value).unwrap_or(i32::MAX));
        let ranges = entry.deletion_vectors.as_ref().map(|ranges| {
            let ranges = ranges.iter().map(|range| {
                optional(Some(self.record(
                    RANGE,
                    [
                        ("f0", text(&range.data_file)),
                        ("f1", int(range.offset)),
                        ("f2", int(range.length)),
                        ("_CARDINALITY", optional(range.cardinality.map(size))),
                    ],
                )))
            });
            Value::Array(ranges.collect())
        });
        self.record(
            INDEX,
            [
                ("_VERSION", Value::Int(1)),
                ("_KIND", kind(entry.kind)),
                ("_PARTITION", row(&entry.partition)),
                ("_BUCKET", Value::Int(entry.bucket)),
                ("_INDEX_TYPE", text(&entry.index_type)),
                ("_FILE_NAME", text(&entry.file_name)),
                ("_FILE_SIZE", size(entry.file_size)),
                ("_ROW_COUNT", size(entry.row_count)),
                ("_DELETIONS_VECTORS_RANGES", optional(ranges)),
                (
                    "_EXTERNAL_PATH",
                    optional(entry.external_path.as_deref().map(text)),
                ),
            ],
        )
    }
}

/// The fields that a version has, as the JSON of an Avro schema.
fn fields(known: &[Field], version: WriterVersion) -> String {
    let fields = known.iter().filter(|field| field.2 <= version);
    let fields = fields.map(|(name, data_type, _)| {
        let default = if data_type.starts_with(r#"["null""#) {
            r#","default":null"#
        } else {
            ""
        };
        let data_type = data_type.replace(":STATS", &format!(":{STATS}"));
        format!(r#"{{"name":"{name}","type":{data_type}{default}}}"#)
    });
    format!("[{}]", fields.collect::<Vec<_>>().join(",\n "))
}

fn text(value: &str) -> Value {
    Value::String(value.to_owned())
}

fn size(value: u64) -> Value {
    Value::Long(i64::try_from(value).unwrap_or(i64::MAX))
}

fn row(row: &BinaryRow) -> Value {
    Value::Bytes(row.as_serialized().to_vec())
}

fn kind(kind: EntryKind) -> Value {
    Value::Int(match kind {
        EntryKind::Add => 0,
        EntryKind::Delete => 1,
    })
}

fn texts(names: &[String]) -> Value {
    Value::Array(names.iter().map(|name| text(name)).collect())
}

fn longs(values: &[i64]) -> Value {
    Value::Array(values.iter().copied().map(Value::Long).collect())
}

fn source(source: FileSource) -> Value {
    Value::Int(match source {
        FileSource::Append => 0,
        FileSource::Compact => 1,
    })
}

/// A value of a union with null in front.
fn optional(value: Option<Value>) -> Value {
    match value {
        None => Value::Union(0, Box::new(Value::Null)),
        Some(value) => Value::Union(1, Box::new(value)),
    }
}

fn stats(stats: &SimpleStats) -> Value {
    let counts = stats.null_counts.as_ref().map(|counts| {
        Value::Array(
            counts
                .iter()
                .map(|count| optional(count.map(Value::Long)))
                .collect(),
        )
    });
    Value::Record(vec![
        ("_MIN_VALUES".to_owned(), row(&stats.min_values)),
        ("_MAX_VALUES".to_owned(), row(&stats.max_values)),
        ("_NULL_COUNTS".to_owned(), optional(counts)),
    ])
}
