//! What the benches of reading compare: the Parquet library alone, and reads of the same files.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_schema::{DataType, Schema};
use paimon_io::{Caches, ResourceParts, Resources};
use paimon_meta::{
    BinaryRow, DataSplit, Datum, FieldId, Options, Predicate, ResolvedTable, Result, Split,
    TableSchema,
};
use paimon_read::{ReadRequest, TableReader, read_blocking};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::Result as ParquetResult;

use crate::columns::COLUMNS;
use crate::merge_table::{MergeTable, schema_json};

/// Rows in a batch, for all that is compared.
const BATCH_SIZE: usize = 8192;

/// One thing to measure: its name, and what it does, which returns the number of rows that came out.
pub struct Case {
    /// Name in the results.
    pub name: &'static str,
    /// Runs it once.
    pub run: Box<dyn Fn() -> Result<usize>>,
}

/// The reads of a table that are compared; the first one is the base line.
///
/// # Errors
/// Those of the table's schema.
pub fn cases(table: &Arc<MergeTable>) -> Result<Vec<Case>> {
    let schema = TableSchema::from_json(schema_json().as_bytes())?;
    let values = COLUMNS.get(1..).unwrap_or_default();
    let columns = |names: &[&str]| ReadRequest::default().with_columns(&schema, names);
    let int = schema.field("i1")?.data_type.clone();
    let filtered = ReadRequest {
        predicate: Some(Predicate::lt(FieldId(1), int, Datum::Int(10))),
        ..ReadRequest::default()
    };
    // Buffers are used again from one read to the next, as in a program that goes on; nothing is cached.
    let resources = Resources::new(ResourceParts {
        caches: Caches::disabled(),
        ..ResourceParts::default()
    });
    let engine = |name, request: ReadRequest, raw: bool, options: &[(&str, &str)]| {
        let (table, resources) = (Arc::clone(table), resources.clone());
        let options = options
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let options = Options(options.collect());
        let run: Box<dyn Fn() -> Result<usize>> =
            Box::new(move || read(&table, &request, raw, &options, &resources));
        Case { name, run }
    };
    let case = |name, request, raw| engine(name, request, raw, &[]);
    let files = table.files.clone();
    let plain = Case {
        name: "plain decode of the value columns",
        run: Box::new(move || {
            files.iter().try_fold(0, |rows, file| {
                let decoded = plain_decode(file).map_err(|error| {
                    paimon_meta::Error::internal("plain decode").with_source(error)
                })?;
                Ok(rows + decoded)
            })
        }),
    };
    Ok(vec![
        plain,
        case("raw read of the value columns", columns(values)?, true),
        case("merge read", ReadRequest::default(), false),
        case("merge read of one column", columns(&["i1"])?, false),
        case("merge read, 1 % filter on a value", filtered, false),
        case("key pass alone", columns(&[])?, false),
        engine(
            "partial-update",
            ReadRequest::default(),
            false,
            &PARTIAL_UPDATE,
        ),
        engine(
            "partial-update, a group",
            ReadRequest::default(),
            false,
            &GROUP,
        ),
        engine("aggregation", ReadRequest::default(), false, &AGGREGATION),
    ])
}

const PARTIAL_UPDATE: [(&str, &str); 1] = [("merge-engine", "partial-update")];

const GROUP: [(&str, &str); 2] = [
    ("merge-engine", "partial-update"),
    ("fields.ts.sequence-group", "i1,l1,s1"),
];

/// The other columns have `last_non_null_value`.
const AGGREGATION: [(&str, &str); 3] = [
    ("merge-engine", "aggregation"),
    ("fields.d1.aggregate-function", "sum"),
    ("fields.l1.aggregate-function", "max"),
];

/// Decodes the value columns of a file with the Parquet library, strings as views.
fn plain_decode(path: &Path) -> ParquetResult<usize> {
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let metadata = ArrowReaderMetadata::load(&File::open(path)?, options.clone())?;
    let fields: Vec<_> = metadata
        .schema()
        .fields()
        .iter()
        .map(|field| match field.data_type() {
            DataType::Utf8 => Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8View)),
            _ => Arc::clone(field),
        })
        .collect();
    let options = options.with_schema(Arc::new(Schema::new(fields)));
    let metadata = ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options)?;
    // The key, sequence number and kind, and the key again, come before the values.
    let values = ProjectionMask::leaves(metadata.parquet_schema(), 4..12);
    let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(File::open(path)?, metadata)
        .with_projection(values)
        .with_batch_size(BATCH_SIZE)
        .build()?;
    let mut rows = 0;
    for batch in reader {
        rows += batch?.num_rows();
    }
    Ok(rows)
}

/// Reads the table's split, raw or merged.
fn read(
    table: &MergeTable,
    request: &ReadRequest,
    raw: bool,
    options: &Options,
    resources: &Resources,
) -> Result<usize> {
    let schema = TableSchema::from_json(schema_json().as_bytes())?;
    let resolved = ResolvedTable {
        location: table.path.display().to_string(),
        branch: "main".into(),
        options: options.clone(),
        snapshot: None,
        schemas: [(0, schema.clone())].into(),
        schema,
        time_zone: "UTC".into(),
        changes: None,
        fallback: None,
    };
    let split = Split::Data(DataSplit {
        snapshot_id: 1,
        partition: BinaryRow::default(),
        bucket: 0,
        bucket_path: "bucket-0".into(),
        total_buckets: Some(1),
        files: table.metas.clone(),
        deletion_files: None,
        streaming: false,
        raw_convertible: raw,
    });
    let reader = TableReader::new(Arc::new(resolved), request.clone(), resources.clone())?;
    let mut batches = read_blocking(reader.read(split.into())?);
    let mut rows = 0;
    while let Some(batch) = batches.next_batch() {
        rows += batch?.num_rows();
    }
    Ok(rows)
}
