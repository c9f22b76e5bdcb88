//! The Parquet adapter.

mod damage;
mod golden;
mod natural;
mod nested;
mod requests;
mod sizes;
mod types;
mod windows;

use std::sync::Arc;

use arrow_array::{Array, Int64Array, RecordBatch, StringArray, new_null_array};
use arrow_schema::{DataType as ArrowType, Field, Schema};
use bytes::Bytes;
use paimon_format::ParquetReader;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};

use self::natural::natural_columns;
use crate::conformance::{Subject, conforms, scan};
use crate::memory::{open, read_all};

/// Writes a batch with the given properties.
pub(crate) fn write_with(batch: &RecordBatch, properties: WriterPropertiesBuilder) -> Bytes {
    let mut bytes = Vec::new();
    let properties = properties
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .build();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes.into()
}

pub(crate) fn write(batch: &RecordBatch, group_rows: usize) -> Bytes {
    write_with(
        batch,
        WriterProperties::builder().set_max_row_group_row_count(Some(group_rows)),
    )
}

/// As [`write`], for any number of groups: the writer splits a batch by recursion.
pub(crate) fn write_groups(batch: &RecordBatch, group_rows: usize) -> Bytes {
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    for start in (0..batch.num_rows()).step_by(group_rows) {
        writer
            .write(&batch.slice(start, group_rows.min(batch.num_rows() - start)))
            .unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
    bytes.into()
}

/// Rows that do not compress: about 100 bytes each.
pub(crate) fn bulky(rows: u32) -> RecordBatch {
    let schema = Schema::new(vec![
        Field::new("id", ArrowType::Int64, false),
        Field::new("noise", ArrowType::Utf8, false),
    ]);
    let mut state = 1_u64;
    let mut noise = || {
        let mut text = String::new();
        for _ in 0..6 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text += &format!("{state:016x}");
        }
        text
    };
    let noise: StringArray = (0..rows).map(|_| Some(noise())).collect();
    let id = Int64Array::from_iter_values((0..rows).map(i64::from));
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(id), Arc::new(noise)]).unwrap()
}

#[test]
fn parquet_keeps_the_contract() {
    conforms(&Subject {
        reader: Arc::new(ParquetReader),
        write,
    });
}

#[test]
fn small_pages_keep_the_contract() {
    let write = |batch: &RecordBatch, group_rows: usize| {
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(group_rows));
        write_with(
            batch,
            properties
                .set_data_page_row_count_limit(17)
                .set_write_batch_size(17),
        )
    };
    conforms(&Subject {
        reader: Arc::new(ParquetReader),
        write,
    });
}

#[test]
fn pages_of_version_two_keep_the_contract() {
    let write = |batch: &RecordBatch, group_rows: usize| {
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(group_rows));
        write_with(
            batch,
            properties.set_writer_version(WriterVersion::PARQUET_2_0),
        )
    };
    conforms(&Subject {
        reader: Arc::new(ParquetReader),
        write,
    });
}

#[test]
fn columns_of_nulls_alone_are_read() {
    let schema = Schema::new(vec![
        Field::new("number", ArrowType::Int64, true),
        Field::new("text", ArrowType::Utf8, true),
        Field::new("flag", ArrowType::Boolean, true),
    ]);
    let columns = schema
        .fields()
        .iter()
        .map(|field| new_null_array(field.data_type(), 100));
    let batch = RecordBatch::try_new(Arc::new(schema.clone()), columns.collect()).unwrap();
    let asked = scan(natural_columns(write(&batch, 30)), 64);
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        for dictionary in [true, false] {
            let properties = WriterProperties::builder().set_writer_version(version);
            let bytes = write_with(&batch, properties.set_dictionary_enabled(dictionary));
            let batches = read_all(open(&ParquetReader, bytes).unwrap().as_ref(), &asked).unwrap();
            let nulls = |batch: &RecordBatch| {
                batch
                    .columns()
                    .iter()
                    .map(|column| column.null_count())
                    .sum::<usize>()
            };
            assert_eq!(
                batches.iter().map(|(_, batch)| nulls(batch)).sum::<usize>(),
                300
            );
        }
    }
}
