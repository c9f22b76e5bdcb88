//! Data files: records to bytes and the meta that a manifest has of them.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema};
use paimon_meta::{
    BinaryRow, DataField, DataFileMeta, DataType, Datum, Error, FieldId, FileSource, Options,
    Result, StringLayout, TableSchema, TypeKind, arrow_field, encode_row,
};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use super::format::{Format, avro_file};
use super::layout::Layout;
use super::nested::array;
use super::orc::{OrcLayout, orc_file};
use super::stats::{StatsMode, stats, value_stats};
use super::stored::stored_type;
use crate::cell::Cell;
use crate::oracle::Record;

/// Ids of the system's key columns begin here (TF section 2.3).
const FIRST_KEY_FIELD_ID: i32 = 1_073_741_823;

/// Ids of the other columns of the system (TF section 7.4).
const SEQUENCE_NUMBER: FieldId = FieldId(2_147_483_646);
const VALUE_KIND: FieldId = FieldId(2_147_483_645);

/// What the names of key columns begin with.
const KEY_PREFIX: &str = "_KEY_";

/// How the data files of one table are written.
pub(super) struct FileWriter<'a> {
    pub(super) schema: &'a TableSchema,
    pub(super) options: &'a Options,
    pub(super) layout: &'a Layout,
    pub(super) format: Format,
    /// What the files say of when they were made.
    pub(super) now: i64,
}

impl FileWriter<'_> {
    /// Writes records, which are in the order of the file, and are not none.
    pub(super) fn write(
        &self,
        file_name: String,
        records: &[Record],
        source: FileSource,
    ) -> Result<(Vec<u8>, DataFileMeta)> {
        let fields = &self.schema.fields;
        let column = |id: FieldId| -> Vec<Cell> {
            records
                .iter()
                .map(|record| record.cell(id).clone())
                .collect()
        };
        let columns: Vec<Vec<Cell>> = fields.iter().map(|field| column(field.id)).collect();
        let bytes = self.bytes(records, &columns)?;
        let keys = self.keys()?;
        let types: Vec<&DataType> = keys.iter().map(|field| &field.data_type).collect();
        let key = |record: Option<&Record>| -> Result<BinaryRow> {
            let record = record.ok_or_else(|| Error::internal("a data file without rows"))?;
            let key: Vec<_> = keys
                .iter()
                .map(|field| record.cell(field.id).datum().cloned())
                .collect();
            encode_row(&types, &key)
        };
        let key_columns: Vec<Vec<Cell>> = keys.iter().map(|field| column(field.id)).collect();
        let key_stats = stats(
            types
                .iter()
                .zip(&key_columns)
                .map(|(data_type, cells)| (*data_type, cells.as_slice(), StatsMode::SYSTEM)),
            self.layout.version,
        )?;
        let (value_stats, value_stats_cols) =
            value_stats(fields, &columns, self.options, self.layout.version)?;
        let sequences = || records.iter().map(|record| record.sequence);
        let retracts = records
            .iter()
            .filter(|record| !record.kind.is_add())
            .count();
        let meta = DataFileMeta {
            file_name,
            file_size: bytes.len() as u64,
            row_count: records.len() as u64,
            min_key: key(records.first())?,
            max_key: key(records.last())?,
            key_stats,
            value_stats,
            value_stats_cols,
            min_sequence_number: sequences().min().unwrap_or_default(),
            max_sequence_number: sequences().max().unwrap_or_default(),
            schema_id: self.schema.id,
            creation_time_millis: Some(self.now),
            delete_row_count: self.layout.delete_row_counts.then_some(retracts as u64),
            file_source: Some(source),
            ..DataFileMeta::default()
        };
        Ok((bytes, meta))
    }

    /// The columns that files are sorted by; none in append tables.
    fn keys(&self) -> Result<Vec<&DataField>> {
        if self.schema.has_primary_key() {
            self.schema.key_fields()
        } else {
            Ok(Vec::new())
        }
    }

    fn bytes(&self, records: &[Record], columns: &[Vec<Cell>]) -> Result<Vec<u8>> {
        let stored = self.stored(records, columns)?;
        match self.format {
            Format::Parquet => self.parquet_file(&batch(&stored)?, columns),
            Format::Orc => {
                let layout = OrcLayout {
                    stripe_rows: self.layout.row_group_rows,
                    dictionary: self.layout.dictionary,
                    compressed: self.is_compressed()?,
                };
                orc_file(&stored, layout)
            }
            Format::Avro => avro_file(&batch(&stored)?, self.layout.row_group_rows),
        }
    }

    fn parquet_file(&self, batch: &RecordBatch, columns: &[Vec<Cell>]) -> Result<Vec<u8>> {
        let options = ArrowWriterOptions::new()
            .with_properties(self.properties(columns)?)
            .with_skip_arrow_metadata(true);
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new_with_options(&mut bytes, batch.schema(), options)
            .map_err(parquet_error)?;
        writer.write(batch).map_err(parquet_error)?;
        writer.close().map_err(parquet_error)?;
        Ok(bytes)
    }

    /// Key columns unless thin, sequence number, kind, then the columns of the table (TF section 7.2).
    fn stored(
        &self,
        records: &[Record],
        columns: &[Vec<Cell>],
    ) -> Result<Vec<(DataField, Vec<Cell>)>> {
        let keys = self.keys()?;
        let mut stored = Vec::new();
        if !keys.is_empty() {
            if !self.options.boolean("data-file.thin-mode", false)? {
                for key in keys {
                    let cells = records.iter().map(|record| record.cell(key.id).clone());
                    let field = DataField {
                        id: FieldId(key.id.0.saturating_add(FIRST_KEY_FIELD_ID)),
                        name: format!("{KEY_PREFIX}{}", key.name),
                        ..key.clone()
                    };
                    stored.push((field, cells.collect()));
                }
            }
            let sequences = records.iter().map(|record| Datum::BigInt(record.sequence));
            stored.push(system(
                SEQUENCE_NUMBER,
                "_SEQUENCE_NUMBER",
                TypeKind::BigInt,
                sequences,
            ));
            let kinds = records
                .iter()
                .map(|record| Datum::TinyInt(record.kind as i8));
            stored.push(system(VALUE_KIND, "_VALUE_KIND", TypeKind::TinyInt, kinds));
        }
        let fields = self.schema.fields.iter().cloned();
        stored.extend(fields.zip(columns.iter().cloned()));
        Ok(stored)
    }

    fn is_compressed(&self) -> Result<bool> {
        match self.options.get("file.compression").unwrap_or("zstd") {
            "zstd" => Ok(true),
            "none" => Ok(false),
            other => Err(Error::unsupported(format!(
                "compression {other} in the test kit"
            ))),
        }
    }

    fn properties(&self, columns: &[Vec<Cell>]) -> Result<WriterProperties> {
        let compression = if self.is_compressed()? {
            Compression::ZSTD(ZstdLevel::default())
        } else {
            Compression::UNCOMPRESSED
        };
        let page_rows = self.layout.page_rows.max(1);
        let mut properties = WriterProperties::builder()
            .set_created_by("paimon-testkit".to_owned())
            .set_compression(compression)
            .set_coerce_types(true)
            .set_dictionary_enabled(self.layout.dictionary)
            .set_max_row_group_row_count(Some(self.layout.row_group_rows.max(1)))
            .set_data_page_row_count_limit(page_rows)
            .set_write_batch_size(page_rows.min(1024));
        // The reference's files have no bounds of a column with NaN.
        for (field, cells) in self.schema.fields.iter().zip(columns) {
            if cells.iter().any(is_nan) {
                for name in [field.name.clone(), format!("{KEY_PREFIX}{}", field.name)] {
                    let path = ColumnPath::new(vec![name]);
                    properties =
                        properties.set_column_statistics_enabled(path, EnabledStatistics::None);
                }
            }
        }
        Ok(properties.build())
    }
}

fn system(
    id: FieldId,
    name: &str,
    kind: TypeKind,
    values: impl Iterator<Item = Datum>,
) -> (DataField, Vec<Cell>) {
    let field = DataField {
        id,
        name: name.to_owned(),
        data_type: kind.not_null(),
        description: None,
        default_value: None,
    };
    (field, values.map(Cell::Scalar).collect())
}

fn batch(stored: &[(DataField, Vec<Cell>)]) -> Result<RecordBatch> {
    let mut fields: Vec<Field> = Vec::new();
    let mut arrays: Vec<ArrayRef> = Vec::new();
    for (field, cells) in stored {
        let field = DataField {
            data_type: stored_type(&field.data_type)?,
            ..field.clone()
        };
        fields.push(arrow_field(&field, StringLayout::Offset32)?);
        arrays.push(array(cells, &field.data_type)?);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
        .map_err(|error| Error::invalid_input("rows make no batch").with_source(error))
}

fn is_nan(cell: &Cell) -> bool {
    match cell.datum() {
        Some(Datum::Float(value)) => value.is_nan(),
        Some(Datum::Double(value)) => value.is_nan(),
        _ => false,
    }
}

fn parquet_error(error: ParquetError) -> Error {
    Error::internal("cannot write a Parquet file").with_source(error)
}
