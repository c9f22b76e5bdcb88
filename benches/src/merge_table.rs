//! A minimal writer: one snapshot of one bucket, one level-0 file a run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use apache_avro::types::Value;
use paimon_meta::{BinaryRow, DataFileMeta, FileSource, SimpleStats};

use crate::columns::paimon_fields;
use crate::files::{FileFormat, write_run};
use crate::key::Key;
use crate::manifest::{SCHEMA, long, none, record, some};
use crate::runs::Run;
use crate::table::LIST_SCHEMA;

/// How data files are laid out.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// What its keys are made of.
    pub key: Key,
    /// Uncompressed bytes of a row group, about.
    pub row_group_bytes: usize,
    /// A third of the values is null, in each value column by itself.
    pub nulls: bool,
    /// Format of the files.
    pub format: FileFormat,
}

/// A table on disk.
#[derive(Clone, Debug)]
pub struct MergeTable {
    /// Directory of the table.
    pub path: PathBuf,
    /// Data files in the order of the runs.
    pub files: Vec<PathBuf>,
    /// What the manifest says of them.
    pub metas: Vec<DataFileMeta>,
}

/// Writes a table, unless a complete one is there already.
///
/// # Errors
/// Of the file system and the writers of formats.
pub fn create(path: &Path, runs: &[Run], layout: Layout) -> io::Result<MergeTable> {
    let bucket = path.join("bucket-0");
    let files: Vec<PathBuf> = (0..runs.len())
        .map(|run| bucket.join(file_name(run, layout.format)))
        .collect();
    let complete = path.join("snapshot/LATEST").exists();
    for directory in ["schema", "snapshot", "manifest", "bucket-0"] {
        fs::create_dir_all(path.join(directory))?;
    }
    let mut metas = Vec::new();
    let mut sequence = 0;
    for (number, (run, file)) in runs.iter().zip(&files).enumerate() {
        if !complete {
            write_run(file, run, (sequence, number), layout)?;
        }
        let size = fs::metadata(file)?.len();
        let name = file_name(number, layout.format);
        metas.push(meta(layout.key, name, run, sequence, size));
        sequence += i64::try_from(run.len()).unwrap_or_default();
    }
    if !complete {
        write_metadata(path, layout.key, &metas, sequence)?;
    }
    Ok(MergeTable {
        path: path.to_owned(),
        files,
        metas,
    })
}

fn file_name(run: usize, format: FileFormat) -> String {
    let format = format.name();
    format!("data-00000000-0000-0000-0000-00000000000{run}-0.{format}")
}

fn meta(key: Key, file_name: String, run: &Run, sequence: i64, size: u64) -> DataFileMeta {
    let (first, last) = match run {
        Run::Range(range) => (range.start, range.end - 1),
        Run::Keys(keys) => (
            keys.first().copied().unwrap_or(0),
            keys.last().copied().unwrap_or(0),
        ),
    };
    let rows = run.len() as u64;
    DataFileMeta {
        file_name,
        file_size: size,
        row_count: rows,
        min_key: key.row(first),
        max_key: key.row(last),
        key_stats: SimpleStats {
            min_values: key.row(first),
            max_values: key.row(last),
            null_counts: None,
        },
        value_stats: SimpleStats::default(),
        min_sequence_number: sequence,
        max_sequence_number: sequence + rows.cast_signed() - 1,
        schema_id: 0,
        level: 0,
        extra_files: Vec::new(),
        creation_time_millis: None,
        delete_row_count: Some(0),
        embedded_index: None,
        file_source: Some(FileSource::Append),
        value_stats_cols: Some(Vec::new()),
        external_path: None,
        first_row_id: None,
        write_cols: None,
        write_cols_sequences: None,
    }
}

fn bytes(row: &BinaryRow) -> Value {
    Value::Bytes(row.as_serialized().to_vec())
}

/// Statistics of so many columns, none of which has a null.
fn stats(stats: &SimpleStats, columns: usize) -> Value {
    let null_counts = vec![some(long(0)); columns];
    record([
        ("_MIN_VALUES", bytes(&stats.min_values)),
        ("_MAX_VALUES", bytes(&stats.max_values)),
        ("_NULL_COUNTS", some(Value::Array(null_counts))),
    ])
}

fn entry(key: Key, meta: &DataFileMeta) -> Value {
    let file = record([
        ("_FILE_NAME", Value::String(meta.file_name.clone())),
        ("_FILE_SIZE", long(meta.file_size)),
        ("_ROW_COUNT", long(meta.row_count)),
        ("_MIN_KEY", bytes(&meta.min_key)),
        ("_MAX_KEY", bytes(&meta.max_key)),
        ("_KEY_STATS", stats(&meta.key_stats, key.columns().len())),
        ("_VALUE_STATS", stats(&meta.value_stats, 0)),
        (
            "_MIN_SEQUENCE_NUMBER",
            Value::Long(meta.min_sequence_number),
        ),
        (
            "_MAX_SEQUENCE_NUMBER",
            Value::Long(meta.max_sequence_number),
        ),
        ("_SCHEMA_ID", long(0)),
        ("_LEVEL", Value::Int(meta.level)),
        ("_EXTRA_FILES", Value::Array(Vec::new())),
        ("_CREATION_TIME", none()),
        ("_DELETE_ROW_COUNT", some(long(0))),
        ("_EMBEDDED_FILE_INDEX", none()),
        ("_FILE_SOURCE", some(Value::Int(0))),
        ("_VALUE_STATS_COLS", some(Value::Array(Vec::new()))),
        ("_EXTERNAL_PATH", none()),
        ("_FIRST_ROW_ID", none()),
        ("_WRITE_COLS", none()),
        ("_WRITE_COLS_SEQUENCES", none()),
    ]);
    record([
        ("_VERSION", Value::Int(2)),
        ("_KIND", Value::Int(0)),
        ("_PARTITION", bytes(&BinaryRow::default())),
        ("_BUCKET", Value::Int(0)),
        ("_TOTAL_BUCKETS", Value::Int(1)),
        ("_FILE", file),
    ])
}

fn write_avro(path: &Path, schema: &str, values: Vec<Value>) -> io::Result<()> {
    let schema = apache_avro::Schema::parse_str(schema).map_err(io::Error::other)?;
    let mut writer = apache_avro::Writer::new(&schema, Vec::new());
    for value in values {
        writer.append(value).map_err(io::Error::other)?;
    }
    fs::write(path, writer.into_inner().map_err(io::Error::other)?)
}

/// The table's only schema, as schema JSON.
pub fn schema_json(key: Key) -> String {
    let fields = paimon_fields(key);
    let keys = key.columns().into_iter().map(|(name, ..)| name);
    let schema = serde_json::json!({
        "version": 3, "id": 0, "fields": fields, "highestFieldId": fields.len() - 1,
        "partitionKeys": [], "primaryKeys": keys.collect::<Vec<_>>(), "options": {"bucket": "1"}, "timeMillis": 0,
    });
    schema.to_string()
}

fn write_metadata(path: &Path, key: Key, metas: &[DataFileMeta], rows: i64) -> io::Result<()> {
    let files = i64::try_from(metas.len()).unwrap_or_default();
    write_avro(
        &path.join("manifest/manifest-0"),
        SCHEMA,
        metas.iter().map(|meta| entry(key, meta)).collect(),
    )?;
    let meta = record([
        ("_VERSION", Value::Int(2)),
        ("_FILE_NAME", Value::String("manifest-0".into())),
        (
            "_FILE_SIZE",
            Value::Long(
                fs::metadata(path.join("manifest/manifest-0"))?
                    .len()
                    .cast_signed(),
            ),
        ),
        ("_NUM_ADDED_FILES", Value::Long(files)),
        ("_NUM_DELETED_FILES", Value::Long(0)),
        (
            "_PARTITION_STATS",
            record([
                ("_MIN_VALUES", bytes(&BinaryRow::default())),
                ("_MAX_VALUES", bytes(&BinaryRow::default())),
                ("_NULL_COUNTS", some(Value::Array(Vec::new()))),
            ]),
        ),
        ("_SCHEMA_ID", Value::Long(0)),
    ]);
    write_avro(
        &path.join("manifest/manifest-list-0"),
        LIST_SCHEMA,
        Vec::new(),
    )?;
    write_avro(
        &path.join("manifest/manifest-list-1"),
        LIST_SCHEMA,
        vec![meta],
    )?;
    fs::write(path.join("schema/schema-0"), schema_json(key))?;
    let snapshot = serde_json::json!({
        "version": 3, "id": 1, "schemaId": 0, "baseManifestList": "manifest-list-0",
        "deltaManifestList": "manifest-list-1", "commitUser": "bench", "commitIdentifier": 1,
        "commitKind": "APPEND", "timeMillis": 0, "totalRecordCount": rows, "deltaRecordCount": rows,
    });
    fs::write(path.join("snapshot/snapshot-1"), snapshot.to_string())?;
    fs::write(path.join("snapshot/LATEST"), "1")
}
