//! The columns of a merge table and their values.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, Float64Array, Int8Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray, make_array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use paimon_meta::{DataField, FieldId, TypeKind};

use crate::key::Key;
use crate::runs::hash;

/// Names of the table's columns behind the key.
pub const VALUES: [&str; 8] = ["i1", "l1", "d1", "d2", "s1", "s2", "s3", "ts"];

/// Columns as the table schema has them, those of the key first.
pub fn paimon_fields(key: Key) -> Vec<DataField> {
    let string = || TypeKind::VarChar(paimon_meta::MAX_LENGTH).nullable();
    let types = [
        TypeKind::Int.nullable(),
        TypeKind::BigInt.nullable(),
        TypeKind::Double.nullable(),
        TypeKind::Double.nullable(),
        string(),
        string(),
        string(),
        TypeKind::Timestamp(6).nullable(),
    ];
    let keys = key.columns().into_iter();
    keys.map(|(name, data_type, _)| (name, data_type))
        .chain(VALUES.into_iter().zip(types))
        .zip(0..)
        .map(|((name, data_type), id)| DataField {
            id: FieldId(id),
            name: name.to_owned(),
            data_type,
            description: None,
            default_value: None,
        })
        .collect()
}

/// Physical columns of a data file: key, sequence number, kind, then the table's columns.
pub fn arrow_schema(key: Key) -> Schema {
    let optional = |name: &str, data_type| Field::new(name, data_type, true);
    let keys = |prefix: &'static str| {
        let keys = key.columns().into_iter();
        keys.map(move |(name, _, data_type)| {
            Field::new(format!("{prefix}{name}"), data_type, false)
        })
    };
    let system = [
        Field::new("_SEQUENCE_NUMBER", DataType::Int64, false),
        Field::new("_VALUE_KIND", DataType::Int8, false),
    ];
    let values = [
        optional("i1", DataType::Int32),
        optional("l1", DataType::Int64),
        optional("d1", DataType::Float64),
        optional("d2", DataType::Float64),
        optional("s1", DataType::Utf8),
        optional("s2", DataType::Utf8),
        optional("s3", DataType::Utf8),
        optional("ts", DataType::Timestamp(TimeUnit::Microsecond, None)),
    ];
    let fields = keys("_KEY_").chain(system).chain(keys("")).chain(values);
    Schema::new(fields.collect::<Vec<_>>())
}

/// Rows of a run: values depend on key and run alone. `i1` is uniform in 0..1000, so `i1 < 10` holds for 1 %. With
/// `nulls`, a third of each value column is null.
pub fn batch(keys: &[i64], first_sequence: i64, run: u64, key: Key, nulls: bool) -> RecordBatch {
    let mixed = |salt: u64| {
        keys.iter()
            .map(move |key| hash(key.cast_unsigned() ^ (salt << 56) ^ (run << 48)))
    };
    let text = |salt: u64, format: fn(u64) -> String| -> ArrayRef {
        Arc::new(
            mixed(salt)
                .map(|value| Some(format(value)))
                .collect::<StringArray>(),
        )
    };
    let small = |value: u64, below: u64| i32::try_from(value % below).unwrap_or_default();
    let rows = i64::try_from(keys.len()).unwrap_or_default();
    let system: [ArrayRef; 2] = [
        Arc::new(Int64Array::from_iter_values(
            first_sequence..first_sequence + rows,
        )),
        Arc::new(Int8Array::from(vec![0; keys.len()])),
    ];
    let values: [ArrayRef; 8] = [
        Arc::new(Int32Array::from_iter_values(
            mixed(1).map(|value| small(value, 1000)),
        )),
        Arc::new(Int64Array::from_iter_values(
            mixed(2).map(|value| i64::from(small(value, 1 << 30))),
        )),
        Arc::new(Float64Array::from_iter_values(
            mixed(3).map(|value| f64::from(small(value, 1_000_000)) / 7.0),
        )),
        Arc::new(Float64Array::from_iter_values(
            mixed(4).map(|value| f64::from(small(value, 10_000)) / 4.0),
        )),
        text(5, |value| format!("city-{}", value % 500)),
        text(6, |value| format!("customer-{:07}", value % 200_000)),
        text(7, |value| format!("{:016x}", value)),
        Arc::new(TimestampMicrosecondArray::from_iter_values(
            keys.iter()
                .map(|key| 1_600_000_000_000_000 + key * 1_000_003),
        )),
    ];
    let values = values.into_iter().zip(12u64..).map(|(column, salt)| {
        if nulls {
            with_nulls(&column, mixed(salt).map(|value| value % 3 > 0))
        } else {
            column
        }
    });
    let keys = key.arrays(keys).into_iter();
    let columns = keys.clone().chain(system).chain(keys).chain(values);
    RecordBatch::try_new(Arc::new(arrow_schema(key)), columns.collect())
        .unwrap_or_else(|error| unreachable!("{error}"))
}

/// The same values, those null that are not valid.
fn with_nulls(column: &ArrayRef, valid: impl Iterator<Item = bool>) -> ArrayRef {
    let nulls: NullBuffer = valid.collect();
    let data = column.to_data().into_builder().nulls(Some(nulls)).build();
    make_array(data.unwrap_or_else(|error| unreachable!("{error}")))
}
