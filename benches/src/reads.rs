//! What the benches of reading compare: the Parquet library alone, and reads of the same files.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use arrow_schema::{DataType, Schema};
use paimon_io::{Caches, ResourceParts, Resources};
use paimon_meta::{
    BinaryRow, DataSplit, Datum, Error, FieldId, Options, Predicate, ResolvedTable, Result, Split,
    TableSchema,
};
use paimon_read::{ReadRequest, ReadTask, TableReader, block_on, read_blocking};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::{ParquetError, Result as ParquetResult};

use crate::columns::VALUES;
use crate::key::Key;
use crate::merge_table::{MergeTable, schema_json};

/// Rows in a batch, for all that is compared.
pub(crate) const BATCH_SIZE: usize = 8192;

/// One thing to measure.
pub struct Case {
    /// Name in the results.
    pub name: &'static str,
    /// Runs it once.
    pub run: Box<dyn Fn() -> Result<Done>>,
}

/// What a run came to.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// Rows that came out.
    pub rows: usize,
    /// Seconds on the processor, of the thread that had most.
    pub seconds: f64,
}

/// Runs these on a thread each.
fn side_by_side<F: FnOnce() -> Result<usize> + Send>(work: Vec<F>) -> Result<Done> {
    thread::scope(|scope| {
        let threads: Vec<_> = work
            .into_iter()
            .map(|work| scope.spawn(|| timed(work)))
            .collect();
        let mut all = Done {
            rows: 0,
            seconds: 0.0,
        };
        for thread in threads {
            let one = thread
                .join()
                .map_err(|_| Error::internal("a thread panicked"))??;
            all.rows += one.rows;
            all.seconds = all.seconds.max(one.seconds);
        }
        Ok(all)
    })
}

pub(crate) fn timed(work: impl FnOnce() -> Result<usize>) -> Result<Done> {
    let begin = processor_seconds();
    let rows = work()?;
    Ok(Done {
        rows,
        seconds: processor_seconds() - begin,
    })
}

/// Seconds that this thread ran, where the system tells; else 0.
fn processor_seconds() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ')
        .next()
        .and_then(|nanos| nanos.parse::<f64>().ok())
        .unwrap_or(0.0)
        / 1e9
}

/// The reads of a table that are compared; the first one is the base line.
///
/// # Errors
/// Those of the table's schema.
pub fn cases(table: &Arc<MergeTable>) -> Result<Vec<Case>> {
    let schema = first_schema()?;
    let values = &VALUES;
    let columns = |names: &[&str]| ReadRequest::default().with_columns(&schema, names);
    let int = schema.field("i1")?.data_type.clone();
    let filtered = ReadRequest {
        predicate: Some(Predicate::lt(FieldId(1), int, Datum::Int(10))),
        ..ReadRequest::default()
    };
    let resources = without_caches();
    let engine = |name, request: ReadRequest, raw: bool, options: &[(&str, &str)]| {
        let (table, resources) = (Arc::clone(table), resources.clone());
        let options = options
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let options = Options(options.collect());
        let run: Box<dyn Fn() -> Result<Done>> =
            Box::new(move || timed(|| read(&table, &request, raw, &options, &resources)));
        Case { name, run }
    };
    let case = |name, request, raw| engine(name, request, raw, &[]);
    let files = table.files.clone();
    let plain = Case {
        name: "plain decode of the value columns",
        run: Box::new(move || {
            timed(|| {
                files
                    .iter()
                    .try_fold(0, |rows, file| Ok(rows + plain(file, None)?))
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

/// The reads that are compared with two threads; the first one is the base line.
///
/// # Errors
/// Those of the table's schema and files.
pub fn two_thread_cases(table: &Arc<MergeTable>) -> Result<Vec<Case>> {
    let schema = first_schema()?;
    let values = &VALUES;
    let columns = ReadRequest::default().with_columns(&schema, values)?;
    let halves = halves(&table.files)?;
    let plain = Case {
        name: "plain decode of the value columns",
        run: Box::new(move || {
            let work = halves.iter().map(|half| {
                || {
                    half.iter().try_fold(0, |rows, (file, groups)| {
                        Ok(rows + plain(file, Some(groups.clone()))?)
                    })
                }
            });
            side_by_side(work.collect())
        }),
    };
    let resources = Resources::local();
    let case = |name, request: ReadRequest, raw: bool| {
        let (table, resources) = (Arc::clone(table), resources.clone());
        let run: Box<dyn Fn() -> Result<Done>> =
            Box::new(move || read_in_two(&table, &request, raw, &resources));
        Case { name, run }
    };
    Ok(vec![
        plain,
        case("raw read of the value columns, 2 parts", columns, true),
        case("merge read, 2 parts", ReadRequest::default(), false),
    ])
}

/// Row groups of a file.
type Groups = (PathBuf, Vec<usize>);

/// All row groups in two halves of about as many rows, each with its files in order.
fn halves(files: &[PathBuf]) -> Result<[Vec<Groups>; 2]> {
    let mut groups = Vec::new();
    for file in files {
        let metadata = File::open(file)
            .map_err(ParquetError::from)
            .and_then(|file| ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()));
        let metadata = metadata.map_err(of_parquet)?;
        for (index, group) in metadata.metadata().row_groups().iter().enumerate() {
            groups.push((group.num_rows(), file, index));
        }
    }
    groups.sort_by_key(|(rows, ..)| std::cmp::Reverse(*rows));
    let mut halves: [(i64, BTreeMap<&PathBuf, Vec<usize>>); 2] = Default::default();
    for (rows, file, index) in groups {
        let [first, second] = &mut halves;
        let smaller = if first.0 <= second.0 { first } else { second };
        smaller.0 += rows;
        smaller.1.entry(file).or_default().push(index);
    }
    Ok(halves.map(|(_, groups)| {
        let groups = groups.into_iter();
        groups
            .map(|(file, groups)| (file.clone(), groups))
            .collect()
    }))
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

fn of_parquet(error: ParquetError) -> Error {
    Error::internal("plain decode").with_source(error)
}

fn plain(path: &Path, groups: Option<Vec<usize>>) -> Result<usize> {
    plain_decode(path, groups).map_err(of_parquet)
}

/// Decodes the value columns of a file, or of some of its row groups, with the Parquet library, strings as views; rows that
/// came out.
///
/// # Errors
/// Those of the file and the library.
pub fn plain_decode(path: &Path, groups: Option<Vec<usize>>) -> ParquetResult<usize> {
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
    let columns = metadata.parquet_schema();
    let values = ProjectionMask::columns(columns, VALUES);
    let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(File::open(path)?, metadata)
        .with_projection(values)
        .with_batch_size(BATCH_SIZE);
    let reader = match groups {
        Some(groups) => reader.with_row_groups(groups),
        None => reader,
    };
    let reader = reader.build()?;
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
    let reader = reader(table, first_schema()?, request, options, resources)?;
    rows_of(&reader, ReadTask::new(split(table, raw)))
}

/// The same as two parts, side by side.
fn read_in_two(
    table: &MergeTable,
    request: &ReadRequest,
    raw: bool,
    resources: &Resources,
) -> Result<Done> {
    let reader = reader(
        table,
        first_schema()?,
        request,
        &Options::default(),
        resources,
    )?;
    let two = NonZeroUsize::MIN.saturating_add(1);
    let parts = block_on(reader.subdivide(ReadTask::new(split(table, raw)), two))?;
    let work = parts.into_iter().map(|part| || rows_of(&reader, part));
    side_by_side(work.collect())
}

pub(crate) fn rows_of(reader: &TableReader, task: ReadTask) -> Result<usize> {
    let mut batches = read_blocking(reader.read(task)?);
    let mut rows = 0;
    while let Some(batch) = batches.next_batch() {
        rows += batch?.num_rows();
    }
    Ok(rows)
}

/// Buffers are used again from one read to the next, as in a program that goes on; nothing is cached.
pub(crate) fn without_caches() -> Resources {
    Resources::new(ResourceParts {
        caches: Caches::disabled(),
        ..ResourceParts::default()
    })
}

/// A reader of a table whose schema is `schema` now.
pub(crate) fn reader(
    table: &MergeTable,
    schema: TableSchema,
    request: &ReadRequest,
    options: &Options,
    resources: &Resources,
) -> Result<TableReader> {
    let resolved = ResolvedTable {
        location: table.path.display().to_string(),
        branch: "main".into(),
        options: options.clone(),
        snapshot: None,
        schemas: [(0, first_schema()?), (schema.id, schema.clone())].into(),
        schema,
        time_zone: "UTC".into(),
        changes: None,
        fallback: None,
    };
    TableReader::new(Arc::new(resolved), request.clone(), resources.clone())
}

/// The schema that the files of a table have.
pub(crate) fn first_schema() -> Result<TableSchema> {
    TableSchema::from_json(schema_json(Key::BigInt).as_bytes())
}

pub(crate) fn split(table: &MergeTable, raw: bool) -> Split {
    Split::Data(DataSplit {
        snapshot_id: 1,
        partition: BinaryRow::default(),
        bucket: 0,
        bucket_path: "bucket-0".into(),
        total_buckets: Some(1),
        files: table.metas.clone(),
        deletion_files: None,
        streaming: false,
        raw_convertible: raw,
    })
}
