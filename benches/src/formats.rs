//! What the bench of formats compares: decoders alone, reads of the same files, and reads under another schema.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

use arrow_avro::reader::ReaderBuilder;
use orc_rust::ArrowReaderBuilder;
use orc_rust::projection::ProjectionMask;
use paimon_format::{DataFile, FileColumn, RowRanges, ScanSpec, format_reader};
use paimon_meta::{
    DataField, Error, FieldId, MAX_LENGTH, Options, Result, StringLayout, TableSchema, TypeKind,
};
use paimon_read::{ReadRequest, ReadTask, block_on};

use crate::columns::{VALUES, paimon_fields};
use crate::files::FileFormat;
use crate::key::Key;
use crate::memory::Memory;
use crate::merge_table::MergeTable;
use crate::reads::{
    BATCH_SIZE, Case, Done, first_schema, reader, rows_of, split, timed, without_caches,
};

/// Decode and reads of a table in a format; the first one is the base line: the decoder of `paimon-format` alone.
///
/// # Errors
/// Those of the table's schema.
pub fn cases(table: &Arc<MergeTable>, format: FileFormat) -> Result<Vec<Case>> {
    let columns = ReadRequest::default().with_columns(&first_schema()?, &VALUES)?;
    let mut cases = vec![each_file(
        "decoder alone, value columns",
        table,
        move |file| decoded(file, format),
    )];
    match format {
        FileFormat::Parquet => {}
        FileFormat::Orc => cases.push(each_file("orc-rust, value columns", table, by_orc_rust)),
        FileFormat::Avro => cases.push(each_file("arrow-avro, all columns", table, by_arrow_avro)),
    }
    cases.push(case(
        "raw read, value columns",
        table,
        first_schema()?,
        &columns,
        true,
    ));
    cases.push(case(
        "merge read, all columns",
        table,
        first_schema()?,
        &ReadRequest::default(),
        false,
    ));
    Ok(cases)
}

/// Raw reads of the value columns under schemas that the table got later; the first one is the base line: its own schema.
///
/// # Errors
/// Those of the table's schema.
pub fn evolutions(table: &Arc<MergeTable>) -> Result<Vec<Case>> {
    let values: Vec<FieldId> = (1..9).map(FieldId).collect();
    let request = |ids: &[FieldId]| ReadRequest {
        projection: Some(ids.to_vec()),
        ..ReadRequest::default()
    };
    let named = |name, schema, ids: &[FieldId]| case(name, table, schema, &request(ids), true);
    let mut reversed = values.clone();
    reversed.reverse();
    let mut more = values.clone();
    more.push(ADDED);
    Ok(vec![
        named("the schema of the files", first_schema()?, &values),
        named("renamed and moved", altered(renamed)?, &reversed),
        named("and a column added", altered(renamed)?, &more),
        named(
            "INT to BIGINT",
            altered(|field| retyped(field, 1, TypeKind::BigInt))?,
            &values,
        ),
        named(
            "DOUBLE to FLOAT",
            altered(|field| retyped(field, 3, TypeKind::Float))?,
            &values,
        ),
        named(
            "TIMESTAMP(6) to (3)",
            altered(|field| retyped(field, 8, TypeKind::Timestamp(3)))?,
            &values,
        ),
        named(
            "INT to STRING",
            altered(|field| retyped(field, 1, TypeKind::VarChar(MAX_LENGTH)))?,
            &values,
        ),
    ])
}

/// The column that [`renamed`] schemas have more.
const ADDED: FieldId = FieldId(9);

/// The first schema with changed fields, in reversed order, and one more.
fn altered(change: impl Fn(&mut DataField)) -> Result<TableSchema> {
    let mut schema = first_schema()?;
    schema.id = 1;
    schema.highest_field_id = ADDED.0;
    schema.fields.iter_mut().skip(1).for_each(change);
    schema.fields.push(DataField {
        id: ADDED,
        name: "added".to_owned(),
        data_type: TypeKind::BigInt.nullable(),
        description: None,
        default_value: None,
    });
    schema.fields.reverse();
    Ok(schema)
}

fn renamed(field: &mut DataField) {
    field.name.insert_str(0, "new_");
}

fn retyped(field: &mut DataField, id: i32, kind: TypeKind) {
    if field.id == FieldId(id) {
        field.data_type = kind.nullable();
    }
}

fn case(
    name: &'static str,
    table: &Arc<MergeTable>,
    schema: TableSchema,
    request: &ReadRequest,
    raw: bool,
) -> Case {
    let (table, request, resources) = (Arc::clone(table), request.clone(), without_caches());
    let run: Box<dyn Fn() -> Result<Done>> = Box::new(move || {
        timed(|| {
            let none = Options::default();
            let reader = reader(&table, schema.clone(), &request, &none, &resources)?;
            rows_of(&reader, ReadTask::new(split(&table, raw)))
        })
    });
    Case { name, run }
}

fn each_file(
    name: &'static str,
    table: &Arc<MergeTable>,
    decode: impl Fn(&Path) -> Result<usize> + 'static,
) -> Case {
    let table = Arc::clone(table);
    let run: Box<dyn Fn() -> Result<Done>> =
        Box::new(move || timed(|| table.files.iter().map(|file| decode(file)).sum()));
    Case { name, run }
}

/// Decodes the value columns of a file with the adapter of its format.
fn decoded(path: &Path, format: FileFormat) -> Result<usize> {
    let bytes = fs::read(path).map_err(wrong)?;
    let source = Arc::new(Memory(bytes.into()));
    let file: Arc<dyn DataFile> = block_on(format_reader(format.name())?.open(source))?;
    let columns = paimon_fields(Key::BigInt)
        .into_iter()
        .skip(1)
        .map(|field| FileColumn {
            name: field.name,
            data_type: field.data_type,
        });
    let scan = Arc::new(ScanSpec {
        columns: columns.collect(),
        batch_size: BATCH_SIZE,
        strings: StringLayout::View,
        window_bytes: u64::MAX,
    });
    let all = RowRanges::from_range(0..file.layout().row_count);
    let mut rows = 0;
    for group in 0..file.layout().groups.len() {
        for batch in block_on(file.fetch(group, &all, &scan))? {
            rows += batch?.1.num_rows();
        }
    }
    Ok(rows)
}

fn by_orc_rust(path: &Path) -> Result<usize> {
    let file = File::open(path).map_err(wrong)?;
    let builder = ArrowReaderBuilder::try_new(file).map_err(wrong)?;
    let root = builder.file_metadata().root_data_type();
    let values = ProjectionMask::named_roots(root, &VALUES);
    let batches = builder
        .with_projection(values)
        .with_batch_size(BATCH_SIZE)
        .build();
    let mut rows = 0;
    for batch in batches {
        rows += batch.map_err(wrong)?.num_rows();
    }
    Ok(rows)
}

/// All columns, for this library decodes what it then leaves out.
fn by_arrow_avro(path: &Path) -> Result<usize> {
    let file = File::open(path).map_err(wrong)?;
    let batches = ReaderBuilder::new()
        .with_batch_size(BATCH_SIZE)
        .with_utf8_view(true)
        .build(BufReader::new(file))
        .map_err(wrong)?;
    let mut rows = 0;
    for batch in batches {
        rows += batch.map_err(wrong)?.num_rows();
    }
    Ok(rows)
}

fn wrong(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::internal("plain decode").with_source(error)
}
