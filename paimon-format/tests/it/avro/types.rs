//! Types as the reference writes them. Facts: table-format sections 7.5, 8.1 and 8.2.

use std::sync::Arc;

use apache_avro::types::Value;
use apache_avro::{Codec, Decimal};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float64Type, Int8Type, Int32Type, Int64Type, Time32MillisecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use arrow_array::{Array, ArrayRef};
use bytes::Bytes;
use paimon_format::AvroReader;
use paimon_meta::{
    DataField, DataType, ErrorKind, FieldId, Frame, MAX_LENGTH, Result, StringLayout, TypeKind,
};

use super::{field, record, write_records};
use crate::conformance::{column, scan};
use crate::memory::{MemorySource, now, open, read_all, read_group};

/// A file of one column `c`.
fn file_of(data_type: &str, values: Vec<Value>) -> Bytes {
    let schema = record(&[format!(r#"{{"name": "c", "type": {data_type}}}"#)]);
    let records = values
        .into_iter()
        .map(|value| Value::Record(vec![("c".to_owned(), value)]));
    write_records(&schema, records, Codec::Null, 1000)
}

fn read_as(bytes: Bytes, data_type: &DataType) -> Result<ArrayRef> {
    let file = open(&AvroReader, bytes)?;
    let scan = scan(vec![column("c", data_type.clone())], 1024);
    let batches = read_all(file.as_ref(), &scan)?;
    let array = Arc::clone(batches[0].1.column(0));
    assert_eq!(
        array.data_type(),
        &data_type.to_arrow(StringLayout::View).unwrap()
    );
    Ok(array)
}

fn some(value: Value) -> Value {
    Value::Union(1, Box::new(value))
}

fn null() -> Value {
    Value::Union(0, Box::new(Value::Null))
}

fn child(name: &str, data_type: DataType) -> DataField {
    DataField {
        id: FieldId(1),
        name: name.to_owned(),
        data_type,
        description: None,
        default_value: None,
    }
}

fn text() -> TypeKind {
    TypeKind::VarChar(MAX_LENGTH)
}

#[test]
fn unit_of_a_timestamp_is_that_of_its_logical_type() {
    // TF-081: `timestamp-*` without zone and `local-timestamp-*` with it.
    for logical in ["timestamp-millis", "local-timestamp-millis"] {
        let file = || {
            file_of(
                &format!(r#"{{"type": "long", "logicalType": "{logical}"}}"#),
                vec![match logical {
                    "timestamp-millis" => Value::TimestampMillis(-1),
                    _ => Value::LocalTimestampMillis(-1),
                }],
            )
        };
        let seconds = read_as(file(), &TypeKind::Timestamp(0).not_null()).unwrap();
        assert_eq!(
            seconds.as_primitive::<TimestampSecondType>().values(),
            &[-1]
        );
        let millis = read_as(file(), &TypeKind::LocalZonedTimestamp(3).not_null()).unwrap();
        assert_eq!(
            millis.as_primitive::<TimestampMillisecondType>().values(),
            &[-1]
        );
        let nanos = read_as(file(), &TypeKind::Timestamp(9).not_null()).unwrap();
        assert_eq!(
            nanos.as_primitive::<TimestampNanosecondType>().values(),
            &[-1_000_000]
        );
    }
    let micros = file_of(
        r#"{"type": "long", "logicalType": "timestamp-micros"}"#,
        vec![Value::TimestampMicros(253_402_300_799_999_999)],
    );
    let array = read_as(micros.clone(), &TypeKind::Timestamp(6).not_null()).unwrap();
    assert_eq!(
        array.as_primitive::<TimestampMicrosecondType>().values(),
        &[253_402_300_799_999_999]
    );
    let error = read_as(micros, &TypeKind::Timestamp(9).not_null()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

#[test]
fn long_without_logical_type_has_the_unit_of_the_precision() {
    let file = || file_of(r#""long""#, vec![Value::Long(1_500)]);
    let array = read_as(file(), &TypeKind::Timestamp(3).not_null()).unwrap();
    assert_eq!(
        array.as_primitive::<TimestampMillisecondType>().values(),
        &[1_500]
    );
    let array = read_as(file(), &TypeKind::Timestamp(6).not_null()).unwrap();
    assert_eq!(
        array.as_primitive::<TimestampMicrosecondType>().values(),
        &[1_500]
    );
}

#[test]
fn integers_that_do_not_fit_are_an_error() {
    let file = |value| file_of(r#""int""#, vec![Value::Int(value)]);
    let array = read_as(file(-128), &TypeKind::TinyInt.not_null()).unwrap();
    assert_eq!(array.as_primitive::<Int8Type>().values(), &[-128]);
    let error = read_as(file(128), &TypeKind::TinyInt.not_null()).unwrap_err();
    assert_eq!(error.message(), "value 128 does not fit 8 bits");
    assert!(
        error
            .frames()
            .any(|frame| *frame == Frame::Field("c".to_owned())),
        "{error}"
    );
}

#[test]
fn dates_times_and_decimals_are_read() {
    let dates = file_of(
        r#"{"type": "int", "logicalType": "date"}"#,
        vec![Value::Date(-719_162)],
    );
    let array = read_as(dates, &TypeKind::Date.not_null()).unwrap();
    assert_eq!(format!("{array:?}").matches("0001-01-01").count(), 1);
    let times = file_of(
        r#"{"type": "int", "logicalType": "time-millis"}"#,
        vec![Value::TimeMillis(86_399_999)],
    );
    let array = read_as(times, &TypeKind::Time(3).not_null()).unwrap();
    assert_eq!(
        array.as_primitive::<Time32MillisecondType>().values(),
        &[86_399_999]
    );
    let decimals = |precision, unscaled: &[u8]| {
        file_of(
            &format!(
                r#"{{"type": "bytes", "logicalType": "decimal", "precision": {precision}, "scale": 2}}"#
            ),
            vec![Value::Decimal(Decimal::from(unscaled))],
        )
    };
    let decimal = |precision, scale| TypeKind::Decimal { precision, scale }.not_null();
    let array = read_as(decimals(5, &[0xff, 0x38]), &decimal(5, 2)).unwrap();
    assert_eq!(array.as_primitive::<Decimal128Type>().values(), &[-200]);
    let array = read_as(decimals(5, &[0xff, 0x38]), &decimal(7, 4)).unwrap();
    assert_eq!(array.as_primitive::<Decimal128Type>().values(), &[-20_000]);
    assert!(read_as(decimals(5, &[0x7f, 0xff, 0xff]), &decimal(5, 2)).is_err());
}

#[test]
fn floats_keep_their_bits_and_widen() {
    let file = file_of(
        r#""float""#,
        vec![
            Value::Float(-0.0),
            Value::Float(f32::NAN),
            Value::Float(f32::NEG_INFINITY),
        ],
    );
    let array = read_as(file, &TypeKind::Double.not_null()).unwrap();
    let values = array.as_primitive::<Float64Type>().values();
    assert!(values[0].is_sign_negative() && values[1].is_nan() && values[2] < f64::MIN);
}

#[test]
fn null_row_row_of_nulls_null_list_and_empty_list_stay_four_things() {
    let list = r#"["null", {"type": "array", "items": ["null", "int"]}]"#;
    let row = format!(
        r#"["null", {{"type": "record", "name": "record_c", "fields": [{{"name": "l", "type": {list}}}, {{"name": "x", "type": ["null", "int"]}}]}}]"#
    );
    let row_of = |list, x| some(Value::Record(vec![("l".into(), list), ("x".into(), x)]));
    let file = file_of(
        &row,
        vec![
            null(),
            row_of(null(), null()),
            row_of(some(Value::Array(vec![])), some(Value::Int(1))),
            row_of(
                some(Value::Array(vec![null(), some(Value::Int(2))])),
                null(),
            ),
        ],
    );
    let int = || TypeKind::Int.nullable();
    let lists = || TypeKind::Array(Box::new(int())).nullable();
    let asked = TypeKind::Row(vec![child("x", int()), child("l", lists())]).nullable();
    let array = read_as(file.clone(), &asked).unwrap();
    let rows = array.as_struct();
    assert_eq!((rows.is_null(0), rows.null_count()), (true, 1));
    let lists_of = rows.column(1).as_list::<i32>();
    assert!(lists_of.is_null(1) && lists_of.value(2).is_empty());
    assert_eq!(lists_of.value(3).as_primitive::<Int32Type>().value(1), 2);
    assert_eq!(rows.column(0).as_primitive::<Int32Type>().value(2), 1);
    // One child alone, the other stepped over.
    let array = read_as(
        file.clone(),
        &TypeKind::Row(vec![child("x", int())]).nullable(),
    )
    .unwrap();
    assert_eq!(array.as_struct().column(0).null_count(), 3);
    let error = read_as(file, &TypeKind::Row(vec![child("gone", int())]).nullable()).unwrap_err();
    assert_eq!(error.message(), "nested field is missing");
}

#[test]
fn maps_are_maps_or_arrays_of_entries() {
    // TF-082.
    let map = |key: TypeKind| {
        TypeKind::Map(Box::new(key.not_null()), Box::new(TypeKind::Int.nullable())).nullable()
    };
    let of_text = file_of(
        r#"["null", {"type": "map", "values": ["null", "int"]}]"#,
        vec![
            some(Value::Map([("k".to_owned(), some(Value::Int(7)))].into())),
            some(Value::Map(Default::default())),
            null(),
        ],
    );
    let array = read_as(of_text.clone(), &map(text())).unwrap();
    let maps = array.as_map();
    assert_eq!(maps.keys().as_string_view().value(0), "k");
    assert_eq!((maps.value_length(1), maps.is_null(2)), (0, true));
    let multiset = TypeKind::Multiset(Box::new(text().not_null())).nullable();
    let array = read_as(of_text, &multiset).unwrap();
    assert_eq!(
        array.as_map().values().as_primitive::<Int32Type>().value(0),
        7
    );

    let entries = r#"{"type": "array", "logicalType": "map", "items": {"type": "record", "name": "record_c",
        "fields": [{"name": "key", "type": "int"}, {"name": "value", "type": ["null", "int"]}]}}"#;
    let entry = Value::Record(vec![
        ("key".into(), Value::Int(-1)),
        ("value".into(), null()),
    ]);
    let of_int = file_of(entries, vec![Value::Array(vec![entry])]);
    let array = read_as(of_int, &map(TypeKind::Int)).unwrap();
    let maps = array.as_map();
    assert_eq!(maps.keys().as_primitive::<Int32Type>().value(0), -1);
    assert!(maps.values().is_null(0));
}

#[test]
fn vector_is_an_array_of_its_length() {
    let file = file_of(
        r#"["null", {"type": "array", "items": "float"}]"#,
        vec![
            some(Value::Array(vec![Value::Float(1.0), Value::Float(2.0)])),
            null(),
        ],
    );
    let vector = |length| {
        TypeKind::Vector {
            element: Box::new(TypeKind::Float.not_null()),
            length,
        }
        .nullable()
    };
    let array = read_as(file.clone(), &vector(2)).unwrap();
    assert_eq!(array.as_fixed_size_list().null_count(), 1);
    let error = read_as(file, &vector(3)).unwrap_err();
    assert_eq!(error.message(), "vector of 2 elements, expected 3");
}

#[test]
fn records_may_be_in_a_union_with_null() {
    // TF-080: older writers.
    let inner = record(&[field("c", r#""int""#, false)]);
    let schema = format!(r#"["null", {inner}]"#);
    let rows = |values: &[Value]| {
        let records = values.iter().cloned();
        write_records(&schema, records, Codec::Null, 1000)
    };
    let row = |value| some(Value::Record(vec![("c".into(), Value::Int(value))]));
    let array = read_as(rows(&[row(1), row(2)]), &TypeKind::Int.not_null()).unwrap();
    assert_eq!(array.as_primitive::<Int32Type>().values(), &[1, 2]);
    let error = read_as(rows(&[row(1), null()]), &TypeKind::Int.not_null()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

#[test]
fn types_that_avro_files_do_not_have_are_refused_by_name() {
    let file = file_of(r#""bytes""#, vec![Value::Bytes(vec![])]);
    for (kind, name) in [(TypeKind::Variant, "VARIANT"), (TypeKind::Blob, "BLOB")] {
        let error = read_as(file.clone(), &kind.not_null()).unwrap_err();
        assert_eq!(
            error.feature(),
            Some(format!("type {name} in Avro files").as_str())
        );
    }
}

#[test]
fn large_file_is_read_in_groups_of_blocks() {
    let schema = record(&[
        field("id", r#""long""#, false),
        field("noise", r#""bytes""#, false),
    ]);
    let rows: i64 = 1200;
    let records = (0..rows).map(|row| {
        let noise = vec![u8::try_from(row % 251).unwrap(); 10_000];
        Value::Record(vec![
            ("id".into(), Value::Long(row)),
            ("noise".into(), Value::Bytes(noise)),
        ])
    });
    let source = MemorySource::new(write_records(&schema, records, Codec::Null, 7));
    let reader: &dyn paimon_format::FormatReader = &AvroReader;
    let file = now(reader.open(Arc::clone(&source) as _)).unwrap();
    // 12 MB: passed over in windows, cut into groups of 4 MiB.
    assert_eq!(source.take_requests().len(), 2);
    assert_eq!(file.layout().groups.len(), 3);
    assert!(file.heap_bytes() < 100_000);
    let scan = scan(vec![column("id", TypeKind::BigInt.not_null())], 1000);
    let batches = read_all(file.as_ref(), &scan).unwrap();
    let ids: Vec<i64> = batches
        .iter()
        .flat_map(|(_, batch)| {
            batch
                .column(0)
                .as_primitive::<Int64Type>()
                .values()
                .to_vec()
        })
        .collect();
    assert_eq!(ids, (0..rows).collect::<Vec<_>>());
    // One row of the last group: one block of it.
    source.take_requests();
    let last = paimon_format::RowRanges::from_range(1199..1200);
    assert_eq!(
        read_group(file.as_ref(), 2, &last, &scan).unwrap()[0].0,
        last
    );
    let request = source.take_request();
    assert!(request.end - request.start < 80_000, "{request:?}");
}
