//! From the columns of a file to the columns of the table. Facts: RP-254, table-format section 8.4.
//!
//! Columns are matched by field id: renames and moves cost nothing, a column that the file's schema does not have is
//! null (also where it was dropped and added again under the same name, TF-078). The same code serves raw reads, key
//! passes and value passes. Partition columns never come from a file (RP-255); they are no business of this module.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, new_null_array};
use arrow_schema::DataType as ArrowType;
use paimon_format::{FileColumn, ScanSpec};
use paimon_meta::{DataField, DataType, Error, Frame, Result, StringLayout, TableSchema, TypeKind};

/// A column that a pass wants of every file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Wanted {
    /// A column of the table.
    Field(DataField),
    /// `_SEQUENCE_NUMBER`.
    Sequence,
    /// `_VALUE_KIND`.
    Kind,
}

/// Names and types of the system columns of key-value files (RP-350).
const SEQUENCE_NUMBER: &str = "_SEQUENCE_NUMBER";
const VALUE_KIND: &str = "_VALUE_KIND";

/// Where a wanted column comes from.
#[derive(Clone, Debug)]
enum Source {
    /// Column of the scan, by index.
    Scanned(usize),
    /// The file's schema does not have it.
    Null(ArrowType),
}

/// How to scan one file for some wanted columns, and how to make them of what is scanned.
#[derive(Clone, Debug)]
pub(crate) struct FileScan {
    /// What to ask of the file.
    pub(crate) spec: Arc<ScanSpec>,
    sources: Vec<Source>,
}

impl FileScan {
    /// The scan of a file of schema `file_schema`.
    ///
    /// # Errors
    /// `Unsupported` where a type changed (`type casts`).
    pub(crate) fn new(
        wanted: &[Wanted],
        file_schema: &TableSchema,
        batch_size: usize,
        strings: StringLayout,
    ) -> Result<Self> {
        let mut columns: Vec<FileColumn> = Vec::new();
        let mut sources = Vec::with_capacity(wanted.len());
        for column in wanted {
            let source = match column {
                Wanted::Sequence => scanned(
                    &mut columns,
                    system_column(SEQUENCE_NUMBER, TypeKind::BigInt),
                ),
                Wanted::Kind => scanned(&mut columns, system_column(VALUE_KIND, TypeKind::TinyInt)),
                Wanted::Field(field) => match file_schema.field_by_id(field.id) {
                    None => Source::Null(field.data_type.to_arrow(strings)?),
                    Some(in_file) => {
                        check_type(field, in_file)?;
                        let column = FileColumn {
                            name: in_file.name.clone(),
                            data_type: in_file.data_type.clone(),
                        };
                        scanned(&mut columns, column)
                    }
                },
            };
            sources.push(source);
        }
        let spec = Arc::new(ScanSpec {
            columns,
            batch_size,
            strings,
        });
        Ok(Self { spec, sources })
    }

    /// The wanted columns of a scanned batch.
    ///
    /// # Errors
    /// `Internal` if the batch is not of this scan.
    pub(crate) fn columns(&self, batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
        self.sources
            .iter()
            .map(|source| match source {
                Source::Null(data_type) => Ok(new_null_array(data_type, batch.num_rows())),
                Source::Scanned(index) => batch
                    .columns()
                    .get(*index)
                    .map(Arc::clone)
                    .ok_or_else(|| Error::internal(format!("batch has no column {index}"))),
            })
            .collect()
    }
}

fn system_column(name: &str, kind: TypeKind) -> FileColumn {
    FileColumn {
        name: name.to_owned(),
        data_type: kind.not_null(),
    }
}

/// Scans each file column once, however often it is wanted.
fn scanned(columns: &mut Vec<FileColumn>, column: FileColumn) -> Source {
    let index = columns
        .iter()
        .position(|known| *known == column)
        .unwrap_or_else(|| {
            columns.push(column);
            columns.len() - 1
        });
    Source::Scanned(index)
}

/// Whether a column can be read from files of a schema.
///
/// # Errors
/// `Unsupported` if not, naming what is missing.
pub(crate) fn check_readable(field: &DataField, file_schema: &TableSchema) -> Result<()> {
    file_schema
        .field_by_id(field.id)
        .map_or(Ok(()), |in_file| check_type(field, in_file))
}

fn check_type(field: &DataField, in_file: &DataField) -> Result<()> {
    if same_values(&field.data_type, &in_file.data_type) {
        return Ok(());
    }
    let change = format!("{} was written as {}", field.data_type, in_file.data_type);
    Err(Error::unsupported("type casts")
        .with_detail(change)
        .at(Frame::Column(field.name.clone())))
}

/// Whether values of the file's type are values of the table's as they are.
fn same_values(table: &DataType, file: &DataType) -> bool {
    match (&table.kind, &file.kind) {
        (TypeKind::Array(a), TypeKind::Array(b))
        | (TypeKind::Multiset(a), TypeKind::Multiset(b)) => same_values(a, b),
        (TypeKind::Map(key_a, a), TypeKind::Map(key_b, b)) => {
            same_values(key_a, key_b) && same_values(a, b)
        }
        (TypeKind::Row(a), TypeKind::Row(b)) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|(a, b)| {
                    a.id == b.id && a.name == b.name && same_values(&a.data_type, &b.data_type)
                })
        }
        (a, b) => a == b,
    }
}
