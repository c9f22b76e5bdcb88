//! Avro files.

mod damage;
mod types;

use std::sync::Arc;

use apache_avro::types::Value;
use apache_avro::{Codec, Schema, Writer};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType as ArrowType, Field, Fields};
use bytes::Bytes;
use paimon_format::AvroReader;

use crate::conformance::{Subject, conforms};

/// A field as the reference writes it: a union with null in front if it may be null.
fn field(name: &str, data_type: &str, nullable: bool) -> String {
    if nullable {
        format!(r#"{{"name": "{name}", "type": ["null", {data_type}], "default": null}}"#)
    } else {
        format!(r#"{{"name": "{name}", "type": {data_type}}}"#)
    }
}

/// The schema of a record as the reference names it.
pub(crate) fn record(fields: &[String]) -> String {
    format!(
        r#"{{"type": "record", "name": "record", "namespace": "org.apache.paimon.avro.generated", "fields": [{}]}}"#,
        fields.join(", ")
    )
}

/// Writes records in blocks of so many of them.
pub(crate) fn write_records(
    schema: &str,
    records: impl IntoIterator<Item = Value>,
    codec: Codec,
    block_rows: usize,
) -> Bytes {
    let schema = Schema::parse_str(schema).unwrap();
    let mut writer = Writer::with_codec(&schema, Vec::new(), codec);
    for (row, record) in records.into_iter().enumerate() {
        if row > 0 && row % block_rows == 0 {
            writer.flush().unwrap();
        }
        writer.append(record).unwrap();
    }
    writer.into_inner().unwrap().into()
}

fn value(array: &dyn Array, row: usize) -> Value {
    match array.data_type() {
        ArrowType::Int64 => Value::Long(array.as_primitive::<Int64Type>().value(row)),
        ArrowType::Utf8 => Value::String(array.as_string::<i32>().value(row).to_owned()),
        ArrowType::Struct(fields) => record_value(fields, array.as_struct().columns(), row),
        other => panic!("no {other} in these tests"),
    }
}

fn record_value(fields: &Fields, columns: &[ArrayRef], row: usize) -> Value {
    let values = fields.iter().zip(columns).map(|(of, array)| {
        let value = match (of.is_nullable(), array.is_null(row)) {
            (false, _) => value(array, row),
            (true, true) => Value::Union(0, Box::new(Value::Null)),
            (true, false) => Value::Union(1, Box::new(value(array, row))),
        };
        (of.name().clone(), value)
    });
    Value::Record(values.collect())
}

fn type_text(of: &Field) -> String {
    match of.data_type() {
        ArrowType::Int64 => r#""long""#.to_owned(),
        ArrowType::Struct(fields) => {
            let name = format!("record_{}", of.name());
            let fields: Vec<String> = fields.iter().map(|of| field_text(of)).collect();
            let fields = fields.join(", ");
            format!(r#"{{"type": "record", "name": "{name}", "fields": [{fields}]}}"#)
        }
        _ => r#""string""#.to_owned(),
    }
}

fn field_text(of: &Field) -> String {
    field(of.name(), &type_text(of), of.is_nullable())
}

fn write_with(batch: &RecordBatch, block_rows: usize, codec: Codec) -> Bytes {
    let schema = batch.schema();
    let fields = schema.fields().iter().map(|of| field_text(of));
    let text = record(&fields.collect::<Vec<_>>());
    let records =
        (0..batch.num_rows()).map(|row| record_value(schema.fields(), batch.columns(), row));
    write_records(&text, records, codec, block_rows)
}

fn write(batch: &RecordBatch, block_rows: usize) -> Bytes {
    write_with(batch, block_rows, Codec::Zstandard(Default::default()))
}

#[test]
fn avro_keeps_the_contract() {
    conforms(&Subject {
        reader: Arc::new(AvroReader),
        write,
    });
}

#[test]
fn small_blocks_keep_the_contract() {
    conforms(&Subject {
        reader: Arc::new(AvroReader),
        write: |batch, _| write_with(batch, 7, Codec::Snappy),
    });
}

#[test]
fn uncompressed_blocks_keep_the_contract() {
    conforms(&Subject {
        reader: Arc::new(AvroReader),
        write: |batch, rows| write_with(batch, rows, Codec::Null),
    });
}
