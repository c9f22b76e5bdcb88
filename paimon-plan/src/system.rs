//! The rows of system tables that are made of metadata (RP-650 to RP-656).
//!
//! ```text
//! MetadataTable ─▶ metadata_rows: reads what the table shows ─▶ MetadataRows: cells are made when they are asked for
//! ```

mod aggregation;
mod cell;
mod columns;
mod file_values;
mod files;
mod history;
mod java_json;
mod java_map;
mod manifests;
mod schemas;
mod stats_cast;
mod totals;

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::Schema;
use paimon_io::Resources;
use paimon_meta::{
    Error, FieldId, Frame, ResolvedTable, Result, ResultExt, StringLayout, TableSchema, arrow_field,
};

use crate::system_table::MetadataTable;
use cell::{Cells, column_array};

/// The rows of a metadata table. Most are small; those of `$files` are written only as they are asked for.
#[derive(Debug)]
pub struct MetadataRows {
    schema: TableSchema,
    cells: Box<dyn Cells>,
}

impl MetadataTable {
    /// The columns, those of version 2.1 of the reference, as a schema without keys and options. Ids count from 0.
    pub fn schema(self) -> TableSchema {
        columns::schema_of(self)
    }
}

/// Reads what a metadata table shows.
///
/// # Errors
/// `NotFound` if metadata files are gone (the snapshot expired: resolve again), `Unsupported`, `Corrupt` and `Storage` as
/// the files are, with the file at fault.
pub async fn metadata_rows(
    resources: &Resources,
    table: &ResolvedTable,
    which: MetadataTable,
) -> Result<MetadataRows> {
    let cells = cells_of(resources, table, which)
        .await
        .at(|| Frame::Table(table.location.clone()))?;
    Ok(MetadataRows {
        schema: which.schema(),
        cells,
    })
}

async fn cells_of(
    resources: &Resources,
    table: &ResolvedTable,
    which: MetadataTable,
) -> Result<Box<dyn Cells>> {
    let rows = match which {
        MetadataTable::Files => return Ok(Box::new(files::files(resources, table).await?)),
        MetadataTable::FileKeyRanges => {
            return Ok(Box::new(files::key_ranges(resources, table).await?));
        }
        MetadataTable::Snapshots => history::snapshots(resources, table).await?,
        MetadataTable::Tags => history::tags(resources, table).await?,
        MetadataTable::Branches => history::branches(resources, table).await?,
        MetadataTable::Consumers => history::consumers(resources, table).await?,
        MetadataTable::Schemas => schemas::schemas(resources, table).await?,
        MetadataTable::Options => schemas::options(resources, table).await?,
        MetadataTable::AggregationFields => aggregation::fields(resources, table).await?,
        MetadataTable::Manifests => manifests::manifests(resources, table).await?,
        MetadataTable::TableIndexes => manifests::indexes(resources, table).await?,
        MetadataTable::Statistics => manifests::statistics(resources, table).await?,
        MetadataTable::Partitions => totals::partitions(resources, table).await?,
        MetadataTable::Buckets => totals::buckets(resources, table).await?,
    };
    Ok(Box::new(rows))
}

impl MetadataRows {
    /// The columns: [`MetadataTable::schema`].
    pub fn schema(&self) -> &TableSchema {
        &self.schema
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.cells.rows()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Some of the rows, with these columns in this order; with none, a batch that only counts.
    ///
    /// # Errors
    /// `InvalidInput` for a column that the table does not have, `Internal` for rows past the end; `Corrupt` and
    /// `Unsupported` for metadata that has no text.
    pub fn batch(
        &self,
        rows: Range<usize>,
        columns: &[FieldId],
        strings: StringLayout,
    ) -> Result<RecordBatch> {
        if rows.end > self.len() || rows.start > rows.end {
            return Err(Error::internal(format!(
                "rows {rows:?} of a table of {}",
                self.len()
            )));
        }
        let mut fields = Vec::with_capacity(columns.len());
        let mut arrays = Vec::with_capacity(columns.len());
        for id in columns {
            let mut columns = self.schema.fields.iter().enumerate();
            let (position, field) = columns
                .find(|(_, field)| field.id == *id)
                .ok_or_else(|| Error::invalid_input(format!("no column with id {id}")))?;
            let field = arrow_field(field, strings)?;
            let cells = rows.clone().map(|row| self.cells.cell(row, position));
            arrays.push(column_array(cells, field.data_type())?);
            fields.push(field);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
            .map_err(|error| Error::internal("cells do not form a batch").with_source(error))
    }
}

#[cfg(test)]
mod tests;
