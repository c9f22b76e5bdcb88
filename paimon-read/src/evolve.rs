//! From the columns of a file to the columns of the table. Facts: RP-254, table-format sections 8.3 and 8.4.
//!
//! Columns are matched by field id, nested ones too: renames and moves cost nothing, a column that the file's schema does
//! not have is null (also where it was dropped and added again under the same name, TF-078), one of another type is cast.
//! The same code serves raw reads, key passes and value passes, over every format: formats deliver what the file's schema
//! says. Partition columns never come from a file (RP-255); they are no business of this module.

mod change;
mod target;

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, new_null_array};
use arrow_schema::DataType as ArrowType;
use paimon_format::{FileColumn, ScanSpec};
use paimon_meta::{
    DataField, Error, Frame, ResolvedTable, Result, ResultExt, StringLayout, TableSchema, TypeKind,
};

use crate::cast::{Faults, Zone};
use change::{Change, pruned};

pub(crate) use target::{in_micros, target_type};

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
    /// Column of the scan, by index, with the name that errors give it and what is done to its values.
    Scanned(usize, Arc<str>, Change),
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

/// How a wanted column is scanned.
pub(crate) enum ScannedAs<'a> {
    /// As this column of the file, value by value.
    Same(&'a FileColumn),
    /// With values of another type or form.
    Changed,
    /// Not at all: it is null.
    Null,
}

impl FileScan {
    /// The scan of a file of schema `file_schema`.
    ///
    /// # Errors
    /// `Corrupt` where the schemas say of a column what no change of a schema does.
    pub(crate) fn new(
        wanted: &[Wanted],
        table: &ResolvedTable,
        file_schema: &TableSchema,
        batch_size: usize,
        strings: StringLayout,
        window_bytes: u64,
    ) -> Result<Self> {
        let zone = Zone::parse(&table.time_zone)?;
        let mut columns: Vec<FileColumn> = Vec::new();
        let mut sources = Vec::with_capacity(wanted.len());
        for column in wanted {
            let (asked, source) = match column {
                Wanted::Sequence => system_column(SEQUENCE_NUMBER, TypeKind::BigInt),
                Wanted::Kind => system_column(VALUE_KIND, TypeKind::TinyInt),
                Wanted::Field(field) => {
                    match field_source(field, table, file_schema, (strings, zone))
                        .at(|| Frame::Column(field.name.clone()))?
                    {
                        Ok(found) => found,
                        Err(missing) => {
                            sources.push(Source::Null(missing));
                            continue;
                        }
                    }
                }
            };
            let index = scanned(&mut columns, asked);
            sources.push(Source::Scanned(index, source.0, source.1));
        }
        let spec = Arc::new(ScanSpec {
            columns,
            batch_size,
            strings,
            window_bytes,
        });
        Ok(Self { spec, sources })
    }

    /// How the wanted column of that index is scanned.
    pub(crate) fn scanned_as(&self, index: usize) -> ScannedAs<'_> {
        match self.sources.get(index) {
            Some(Source::Null(_)) => ScannedAs::Null,
            Some(Source::Scanned(scanned, _, Change::Keep)) => self
                .spec
                .columns
                .get(*scanned)
                .map_or(ScannedAs::Changed, ScannedAs::Same),
            _ => ScannedAs::Changed,
        }
    }

    /// The wanted columns of a scanned batch, and the values that could not be cast.
    ///
    /// # Errors
    /// `Internal` if the batch is not of this scan.
    pub(crate) fn decode(&self, batch: &RecordBatch) -> Result<(Vec<ArrayRef>, Faults)> {
        let mut faults = Faults::default();
        let mut columns = Vec::with_capacity(self.sources.len());
        for source in &self.sources {
            columns.push(match source {
                Source::Null(data_type) => new_null_array(data_type, batch.num_rows()),
                Source::Scanned(index, name, change) => {
                    let array = batch.columns().get(*index);
                    let array = array
                        .ok_or_else(|| Error::internal(format!("batch has no column {index}")))?;
                    let first = faults.len();
                    let frame = || Frame::Column(name.to_string());
                    let array = change.apply(array, &mut faults).at(frame)?;
                    faults.at(first, frame);
                    array
                }
            });
        }
        Ok((columns, faults))
    }
}

/// What to ask of the file for a column, and the name and change of what comes.
type Found = (FileColumn, (Arc<str>, Change));

fn system_column(name: &str, kind: TypeKind) -> Found {
    let column = FileColumn {
        name: name.to_owned(),
        data_type: kind.not_null(),
    };
    (column, (name.into(), Change::Keep))
}

/// Where a column of the table comes from, or the type of the nulls that stand for it.
fn field_source(
    field: &DataField,
    table: &ResolvedTable,
    file_schema: &TableSchema,
    (strings, zone): (StringLayout, Zone),
) -> Result<Result<Found, ArrowType>> {
    let to = target::inner_target_type(table, field).to_arrow(strings)?;
    let written = file_schema.field_by_id(field.id);
    let read = written.and_then(|written| pruned(&field.data_type, &written.data_type));
    let (Some(written), Some(data_type)) = (written, read) else {
        return Ok(Err(to));
    };
    // The output may want less fine timestamps than the table has; how text is read depends on the table.
    let known = table.schema.field_by_id(field.id).unwrap_or(field);
    let change = Change::new(&known.data_type, &data_type, &to, strings, zone)?;
    let column = FileColumn {
        name: written.name.clone(),
        data_type,
    };
    Ok(Ok((column, (field.name.as_str().into(), change))))
}

/// Scans each file column once, however often it is wanted.
fn scanned(columns: &mut Vec<FileColumn>, column: FileColumn) -> usize {
    let known = columns.iter().position(|known| *known == column);
    known.unwrap_or_else(|| {
        columns.push(column);
        columns.len() - 1
    })
}

/// Whether a column can be read from files of a schema.
///
/// # Errors
/// As [`FileScan::new`].
pub(crate) fn check_readable(
    field: &DataField,
    table: &ResolvedTable,
    file_schema: &TableSchema,
) -> Result<()> {
    let zone = Zone::parse(&table.time_zone)?;
    field_source(field, table, file_schema, (StringLayout::View, zone))
        .at(|| Frame::Column(field.name.clone()))
        .map(|_| ())
}
