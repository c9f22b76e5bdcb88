//! What a scan hands out, whatever the format: the columns that are asked for and the batches made of them.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, DataType as ArrowType, Field, Schema, SchemaRef};
use paimon_meta::{Error, Frame, Result, ResultExt};

use crate::scan::{FileColumn, ScanSpec};

/// The asked columns, each with its Arrow type and what `find` gives for it, `None` where the file does not have it.
///
/// # Errors
/// `InvalidInput` for a column asked twice, `Corrupt` for one that is missing and not null, those of `find`; all name
/// the column.
pub(crate) fn resolve_columns<T>(
    scan: &ScanSpec,
    mut find: impl FnMut(&FileColumn, &ArrowType) -> Result<Option<T>>,
) -> Result<Vec<(ArrowType, Option<T>)>> {
    let mut asked = HashSet::new();
    let mut resolve = |column: &FileColumn| {
        if !asked.insert(column.name.clone()) {
            return Err(Error::invalid_input("column is asked twice"));
        }
        let to = column.data_type.to_arrow(scan.strings)?;
        let found = find(column, &to)?;
        if found.is_none() && !column.data_type.nullable {
            return Err(Error::corrupt("column is missing in the file and not null"));
        }
        Ok((to, found))
    };
    let columns = scan.columns.iter();
    columns
        .map(|column| resolve(column).at(|| Frame::Column(column.name.clone())))
        .collect()
}

/// The schema of the batches of a scan, from its columns as [`resolve_columns`] gives them.
pub(crate) fn output_schema<T>(scan: &ScanSpec, columns: &[(ArrowType, T)]) -> SchemaRef {
    let fields = scan.columns.iter().zip(columns);
    let fields = fields
        .map(|(column, (to, _))| Field::new(&column.name, to.clone(), column.data_type.nullable));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// A batch of `rows` rows with the columns that `array` gives by their index.
///
/// # Errors
/// `Corrupt` for nulls in a column that is not null, those of `array`; all name the column.
pub(crate) fn output_batch(
    schema: &SchemaRef,
    rows: usize,
    mut array: impl FnMut(usize) -> Result<ArrayRef>,
) -> Result<RecordBatch> {
    let mut arrays = Vec::with_capacity(schema.fields().len());
    for (index, field) in schema.fields().iter().enumerate() {
        let here = || Frame::Column(field.name().clone());
        let array = array(index).at(here)?;
        if !field.is_nullable() && array.null_count() > 0 {
            let nulls = array.null_count();
            let error = Error::corrupt(format!("{nulls} nulls in a column that is not null"));
            return Err(error.at(here()));
        }
        arrays.push(array);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &options).map_err(
        |error: ArrowError| Error::internal("batch does not have its schema").with_source(error),
    )
}
