//! What a scan asks of a file, worked out once and shared by all its row groups.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, RecordBatch, new_null_array};
use arrow_schema::{DataType as ArrowType, FieldRef, Schema, SchemaRef};
use paimon_meta::{Error, Result};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::arrow::{FieldLevels, ProjectionMask, parquet_to_arrow_field_levels};
use parquet::errors::Result as ParquetResult;
use parquet::file::metadata::ParquetMetaData;

use super::column::resolve;
use super::error::corrupt;
use super::nested::Conversion;
use super::schema::FileSchema;
use crate::output::{output_batch, output_schema, resolve_columns};
use crate::scan::ScanSpec;

/// Plans of the scans of one file that are remembered; a merge has two at a time.
const REMEMBERED: usize = 8;

/// A scan of one file, resolved.
#[derive(Debug)]
pub(super) struct ScanPlan {
    columns: Vec<PlannedColumn>,
    /// Schema of the batches.
    schema: SchemaRef,
    /// The decoder's schema with the types it is asked for.
    decoded: SchemaRef,
    /// The leaves to read, ascending.
    pub(super) leaves: Vec<usize>,
    pub(super) mask: ProjectionMask,
    pub(super) decoder: ArrowReaderMetadata,
}

#[derive(Debug)]
enum PlannedColumn {
    /// Not in the file: null.
    Absent(ArrowType),
    /// Index among the decoded columns.
    Present(usize, Conversion),
}

impl ScanPlan {
    /// # Errors
    /// `Corrupt` and `Unsupported` name the column that cannot be read as asked, `InvalidInput` one asked twice.
    pub(super) fn new(file: &FileSchema, scan: &ScanSpec) -> Result<Self> {
        let found = resolve_columns(scan, |column, to| resolve(file, column, to))?;
        let resolved = || found.iter().filter_map(|(_, resolved)| resolved.as_ref());
        let mut leaves: Vec<usize> = resolved()
            .flat_map(|column| &column.leaves)
            .copied()
            .collect();
        leaves.sort_unstable();
        let mut roots: Vec<usize> = resolved().map(|column| column.root).collect();
        roots.sort_unstable();

        let mut fields: Vec<FieldRef> = file.decoder.schema().fields().iter().cloned().collect();
        for column in resolved() {
            if let Some(field) = fields.get_mut(column.root) {
                *field = Arc::new(
                    field
                        .as_ref()
                        .clone()
                        .with_data_type(column.decoded.clone()),
                );
            }
        }
        let decoded: SchemaRef = Arc::new(Schema::new(fields));
        let decoder = decoder(file.metadata(), &decoded)?;
        let mask = ProjectionMask::leaves(decoder.parquet_schema(), leaves.iter().copied());

        let schema = output_schema(scan, &found);
        let columns = found.into_iter().map(|(to, resolved)| match resolved {
            None => PlannedColumn::Absent(to),
            Some(column) => PlannedColumn::Present(
                roots.partition_point(|root| *root < column.root),
                column.conversion,
            ),
        });
        Ok(Self {
            columns: columns.collect(),
            schema,
            decoded,
            leaves,
            mask,
            decoder,
        })
    }

    /// The decoder for metadata that is the file's, but has page indexes too.
    pub(super) fn decoder_with(
        &self,
        metadata: &Arc<ParquetMetaData>,
    ) -> Result<ArrowReaderMetadata> {
        decoder(metadata, &self.decoded)
    }

    /// What is decoded, for a decoder that is not given the footer.
    pub(super) fn levels(&self) -> ParquetResult<FieldLevels> {
        let schema = self.decoder.parquet_schema();
        parquet_to_arrow_field_levels(schema, self.mask.clone(), Some(self.decoded.fields()))
    }

    /// A batch of `rows` rows from the decoded columns.
    ///
    /// # Errors
    /// `Corrupt` names the column whose values do not fit its type.
    pub(super) fn batch(&self, decoded: &[ArrayRef], rows: usize) -> Result<RecordBatch> {
        output_batch(&self.schema, rows, |index| match self.columns.get(index) {
            None => Err(Error::internal("scan has too few columns")),
            Some(PlannedColumn::Absent(data_type)) => Ok(new_null_array(data_type, rows)),
            Some(PlannedColumn::Present(index, conversion)) => {
                let array = decoded.get(*index);
                let array = array.ok_or_else(|| Error::internal("decoder gave too few columns"))?;
                conversion.apply(array)
            }
        })
    }
}

fn decoder(metadata: &Arc<ParquetMetaData>, schema: &SchemaRef) -> Result<ArrowReaderMetadata> {
    let options = ArrowReaderOptions::new().with_schema(Arc::clone(schema));
    ArrowReaderMetadata::try_new(Arc::clone(metadata), options)
        .map_err(|error| corrupt("stored types do not decode as asked", error))
}

/// The plans of the latest scans, newest last.
#[derive(Debug, Default)]
pub(super) struct ScanPlans(Mutex<Vec<(Arc<ScanSpec>, Arc<ScanPlan>)>>);

impl ScanPlans {
    /// The plan of a scan. Batch sizes do not matter for it.
    pub(super) fn get(&self, file: &FileSchema, scan: &Arc<ScanSpec>) -> Result<Arc<ScanPlan>> {
        let same = |(known, _): &&(Arc<ScanSpec>, Arc<ScanPlan>)| {
            Arc::ptr_eq(known, scan)
                || (known.columns == scan.columns && known.strings == scan.strings)
        };
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, plan)) = plans.iter().rev().find(same) {
            return Ok(Arc::clone(plan));
        }
        let plan = Arc::new(ScanPlan::new(file, scan)?);
        if plans.len() == REMEMBERED {
            plans.remove(0);
        }
        plans.push((Arc::clone(scan), Arc::clone(&plan)));
        Ok(plan)
    }
}
