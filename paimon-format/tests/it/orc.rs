//! ORC files.

mod damage;
mod index;
mod types;
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "bytes of small numbers, written for tests alone"
)]
mod writer;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::{DataType as ArrowType, Fields};
use arrow_select::filter::filter;
use bytes::Bytes;
use paimon_format::OrcReader;

use self::writer::{Codec, Column, LONG, Options, PLAIN, STRING, STRUCT, Type, Values};
use crate::conformance::{Subject, conforms};

/// A column of a batch; values that are null are not stored.
fn column(array: &dyn Array) -> Column {
    let valid = || (0..array.len()).filter(|row| array.is_valid(*row));
    let values = match array.data_type() {
        ArrowType::Int64 => {
            let array = array.as_primitive::<Int64Type>();
            Values::Integers(valid().map(|row| array.value(row)).collect())
        }
        ArrowType::Utf8 => {
            let array = array.as_string::<i32>();
            Values::Text(valid().map(|row| array.value(row).to_owned()).collect())
        }
        ArrowType::Struct(_) => Values::None,
        other => panic!("no {other} in these tests"),
    };
    // Rows that are null have no children.
    let children = array.as_struct_opt().map(|rows| {
        let valid: BooleanArray = (0..rows.len())
            .map(|row| Some(rows.is_valid(row)))
            .collect();
        let child = |child: &ArrayRef| column(&filter(child, &valid).unwrap());
        rows.columns().iter().map(child).collect()
    });
    let present = (0..array.len()).map(|row| array.is_valid(row)).collect();
    Column {
        present: (array.null_count() > 0).then_some(present),
        values,
        children: children.unwrap_or_default(),
    }
}

fn of_fields(fields: &Fields) -> Vec<(String, Type)> {
    let of = |data_type: &ArrowType| match data_type {
        ArrowType::Int64 => writer::leaf(LONG),
        ArrowType::Struct(fields) => Type {
            kind: STRUCT,
            children: of_fields(fields),
        },
        _ => writer::leaf(STRING),
    };
    fields
        .iter()
        .map(|field| (field.name().clone(), of(field.data_type())))
        .collect()
}

fn write_with(batch: &RecordBatch, stripe_rows: usize, options: Options) -> Bytes {
    let root = Type {
        kind: STRUCT,
        children: of_fields(batch.schema().fields()),
    };
    let starts = (0..batch.num_rows()).step_by(stripe_rows);
    let stripes: Vec<(u64, Column)> = starts
        .map(|start| {
            let rows = stripe_rows.min(batch.num_rows() - start);
            let columns = batch.slice(start, rows);
            let children = columns.columns().iter().map(|array| column(array.as_ref()));
            let root = Column {
                children: children.collect(),
                ..Column::default()
            };
            (rows as u64, root)
        })
        .collect();
    writer::write(&root, &stripes, options)
}

fn keeps_the_contract(write: fn(&RecordBatch, usize) -> Bytes) {
    conforms(&Subject {
        reader: Arc::new(OrcReader::default()),
        write,
    });
}

#[test]
fn orc_keeps_the_contract() {
    keeps_the_contract(|batch, rows| write_with(batch, rows, PLAIN));
}

#[test]
fn first_version_of_integers_keeps_the_contract() {
    keeps_the_contract(|batch, rows| {
        let options = Options {
            version: 1,
            ..PLAIN
        };
        write_with(batch, rows, options)
    });
}

#[test]
fn dictionaries_keep_the_contract() {
    keeps_the_contract(|batch, rows| {
        let options = Options {
            dictionaries: true,
            codec: Codec::Zstd,
            ..PLAIN
        };
        write_with(batch, rows, options)
    });
}

/// Chunks so small that values and runs lie across their borders.
fn in_small_chunks(batch: &RecordBatch, rows: usize, codec: Codec) -> Bytes {
    let options = Options {
        codec,
        chunk: 101,
        ..PLAIN
    };
    write_with(batch, rows, options)
}

#[test]
fn small_chunks_of_each_codec_keep_the_contract() {
    keeps_the_contract(|batch, rows| in_small_chunks(batch, rows, Codec::Zlib));
    keeps_the_contract(|batch, rows| in_small_chunks(batch, rows, Codec::Snappy));
    keeps_the_contract(|batch, rows| in_small_chunks(batch, rows, Codec::Lz4));
    keeps_the_contract(|batch, rows| in_small_chunks(batch, rows, Codec::Zstd));
}
