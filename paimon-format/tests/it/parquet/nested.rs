//! Arrays, maps and rows. Facts: table-format sections 7.5 and 8.2.

use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder, MapBuilder, MapFieldNames, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type, TimestampMillisecondType};
use arrow_array::{
    Array, ArrayRef, Int32Array, ListArray, RecordBatch, StringArray, StructArray,
    TimestampMicrosecondArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType as ArrowType, Field, Fields, Schema};
use bytes::Bytes;
use paimon_format::ParquetReader;
use paimon_meta::{
    DataField, DataType, ErrorKind, FieldId, Frame, MAX_LENGTH, Result, StringLayout, TypeKind,
};
use parquet::data_type::Int32Type as I32;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::write;
use crate::conformance::{column, scan};
use crate::memory::{open, read_all};

fn file_of(array: ArrayRef) -> Bytes {
    let schema = Schema::new(vec![Field::new("c", array.data_type().clone(), true)]);
    write(
        &RecordBatch::try_new(Arc::new(schema), vec![array]).unwrap(),
        1000,
    )
}

fn read_as(bytes: Bytes, data_type: &DataType) -> Result<ArrayRef> {
    let file = open(&ParquetReader, bytes)?;
    let batches = read_all(
        file.as_ref(),
        &scan(vec![column("c", data_type.clone())], 1024),
    )?;
    let array = Arc::clone(batches[0].1.column(0));
    assert_eq!(
        array.data_type(),
        &data_type.to_arrow(StringLayout::View).unwrap()
    );
    Ok(array)
}

fn field(name: &str, data_type: DataType) -> DataField {
    DataField {
        id: FieldId(1),
        name: name.to_owned(),
        data_type,
        description: None,
        default_value: None,
    }
}

fn text() -> DataType {
    TypeKind::VarChar(MAX_LENGTH).nullable()
}

fn int() -> DataType {
    TypeKind::Int.nullable()
}

fn array_of(element: DataType) -> DataType {
    TypeKind::Array(Box::new(element)).nullable()
}

/// Rows of a number, a text and a list, the second row null.
fn rows() -> StructArray {
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([
        Some(vec![Some(1), None]),
        None,
        Some(vec![]),
    ]);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![Some(7), None, None])),
        Arc::new(StringArray::from(vec![Some("x"), None, Some("z")])),
        Arc::new(lists),
    ];
    let fields = ["a", "b", "l"]
        .iter()
        .zip(&columns)
        .map(|(name, column)| Field::new(*name, column.data_type().clone(), true));
    StructArray::new(
        fields.collect::<Fields>(),
        columns,
        Some(NullBuffer::from(vec![true, false, true])),
    )
}

#[test]
fn row_comes_with_the_asked_children_in_the_asked_order() {
    let asked = TypeKind::Row(vec![field("l", array_of(int())), field("a", int())]).nullable();
    let array = read_as(file_of(Arc::new(rows())), &asked).unwrap();
    let row = array.as_struct();
    assert_eq!((row.is_null(1), row.null_count()), (true, 1));
    let lists = row.column(0).as_list::<i32>();
    assert_eq!(
        lists.value(0).as_primitive::<Int32Type>(),
        &Int32Array::from(vec![Some(1), None])
    );
    assert_eq!(lists.value_length(2), 0);
    assert_eq!(row.column(1).as_primitive::<Int32Type>().value(0), 7);
}

#[test]
fn missing_child_is_an_error_naming_it() {
    let asked = TypeKind::Row(vec![field("a", int()), field("gone", int())]).nullable();
    let error = read_as(file_of(Arc::new(rows())), &asked).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(
        error
            .frames()
            .any(|frame| *frame == Frame::Field("gone".to_owned())),
        "{error}"
    );
}

#[test]
fn children_are_converted_like_columns() {
    let times: TimestampMicrosecondArray = vec![Some(-1), Some(5000), None].into();
    let offsets = OffsetBuffer::from_lengths([2, 0, 1]);
    let item = Arc::new(Field::new("item", times.data_type().clone(), true));
    let lists = ListArray::new(item, offsets, Arc::new(times), None);
    let array = read_as(
        file_of(Arc::new(lists)),
        &array_of(TypeKind::Timestamp(3).nullable()),
    )
    .unwrap();
    let values = array
        .as_list::<i32>()
        .values()
        .as_primitive::<TimestampMillisecondType>()
        .clone();
    assert_eq!(values, vec![Some(-1), Some(5), None].into());

    let numbers =
        || ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(5), Some(300)])]);
    let error = read_as(
        file_of(Arc::new(numbers())),
        &array_of(TypeKind::TinyInt.nullable()),
    )
    .unwrap_err();
    assert_eq!(error.message(), "value 300 does not fit Int8");
}

fn map_of(entries: &[&[(&str, Option<i32>)]]) -> ArrayRef {
    let names = MapFieldNames {
        entry: "key_value".into(),
        key: "key".into(),
        value: "value".into(),
    };
    let mut builder = MapBuilder::new(Some(names), StringBuilder::new(), Int32Builder::new());
    for entry in entries {
        for (key, value) in *entry {
            builder.keys().append_value(key);
            builder.values().append_option(*value);
        }
        builder.append(true).unwrap();
    }
    Arc::new(builder.finish())
}

#[test]
fn map_and_multiset_are_read_from_the_same_group() {
    let map = || map_of(&[&[("a", Some(1)), ("b", Some(2))], &[], &[("c", Some(9))]]);
    let key = TypeKind::VarChar(MAX_LENGTH).not_null();
    let asked = TypeKind::Map(
        Box::new(key.clone()),
        Box::new(TypeKind::TinyInt.nullable()),
    )
    .nullable();
    let array = read_as(file_of(map()), &asked).unwrap();
    assert_eq!(array.as_map().value_length(1), 0);
    assert_eq!(
        array.as_map().values().as_primitive::<Int8Type>().values(),
        &[1, 2, 9]
    );
    assert_eq!(array.as_map().keys().as_string_view().value(2), "c");
    let multiset = read_as(
        file_of(map()),
        &TypeKind::Multiset(Box::new(key)).nullable(),
    )
    .unwrap();
    assert_eq!(
        multiset
            .as_map()
            .values()
            .as_primitive::<Int32Type>()
            .values(),
        &[1, 2, 9]
    );
}

#[test]
fn map_in_another_layout_is_refused_by_name() {
    let columns: Vec<ArrayRef> = vec![Arc::new(Int32Array::from(vec![1]))];
    let fields = Fields::from(vec![Field::new("__field_mapping", ArrowType::Int32, true)]);
    let shredded = StructArray::new(fields, columns, None);
    let asked =
        TypeKind::Map(Box::new(TypeKind::VarChar(9).not_null()), Box::new(int())).nullable();
    let error = read_as(file_of(Arc::new(shredded)), &asked).unwrap_err();
    assert_eq!(
        error.feature(),
        Some("shared-shredding maps in Parquet files")
    );
}

#[test]
fn map_children_go_by_their_names() {
    let mut builder = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    builder.append(true).unwrap();
    let asked =
        TypeKind::Map(Box::new(TypeKind::VarChar(9).not_null()), Box::new(int())).nullable();
    let error = read_as(file_of(Arc::new(builder.finish())), &asked).unwrap_err();
    assert_eq!(
        error.message(),
        "map children are keys and values, expected key and value"
    );
}

#[test]
fn vector_is_a_list_of_its_length() {
    let lists = || {
        let mut builder = ListBuilder::new(Int32Builder::new());
        builder.append_value([Some(1), Some(2)]);
        builder.append_null();
        builder.append_value([Some(3), Some(4)]);
        Arc::new(builder.finish())
    };
    let vector = |length| {
        TypeKind::Vector {
            element: Box::new(TypeKind::Int.not_null()),
            length,
        }
        .nullable()
    };
    let array = read_as(file_of(lists()), &vector(2)).unwrap();
    let vectors = array.as_fixed_size_list();
    assert!(vectors.is_null(1));
    assert_eq!(
        vectors.value(2).as_primitive::<Int32Type>().values(),
        &[3, 4]
    );
    let error = read_as(file_of(lists()), &vector(3)).unwrap_err();
    assert_eq!(error.message(), "vector of 2 elements, expected 3");
}

#[test]
fn list_of_two_levels_and_any_names_is_read() {
    for declaration in [
        "repeated int32 array",
        "repeated group bag { required int32 anything; }",
    ] {
        let schema = format!("message m {{ required group c (LIST) {{ {declaration}; }} }}")
            .replace("};", "}");
        let schema = Arc::new(parse_message_type(&schema).unwrap());
        let mut bytes = Vec::new();
        let properties = Arc::new(WriterProperties::builder().build());
        let mut file = SerializedFileWriter::new(&mut bytes, schema, properties).unwrap();
        let mut group = file.next_row_group().unwrap();
        let mut leaf = group.next_column().unwrap().unwrap();
        leaf.typed::<I32>()
            .write_batch(&[1, 2, 3], Some(&[1, 1, 0, 1]), Some(&[0, 1, 0, 0]))
            .unwrap();
        leaf.close().unwrap();
        group.close().unwrap();
        file.close().unwrap();
        let array = read_as(bytes.into(), &array_of(int())).unwrap();
        let lengths: Vec<i32> = array
            .as_list::<i32>()
            .offsets()
            .lengths()
            .map(|length| length.try_into().unwrap())
            .collect();
        assert_eq!(lengths, [2, 0, 1], "{declaration}");
    }
}

#[test]
fn scalars_and_groups_are_not_taken_for_each_other() {
    let refused = |bytes, data_type: &DataType| {
        let error = read_as(bytes, data_type).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(
            error
                .frames()
                .any(|frame| *frame == Frame::Column("c".to_owned())),
            "{error}"
        );
    };
    refused(file_of(Arc::new(rows())), &int());
    refused(file_of(Arc::new(rows())), &array_of(int()));
    refused(
        file_of(Arc::new(Int32Array::from(vec![1]))),
        &array_of(int()),
    );
    refused(
        file_of(map_of(&[&[]])),
        &TypeKind::Row(vec![field("key", text())]).nullable(),
    );
}

#[test]
fn rows_inside_arrays_are_pruned() {
    let rows = rows();
    let item = Arc::new(Field::new("element", rows.data_type().clone(), true));
    let lists = ListArray::new(
        item,
        OffsetBuffer::from_lengths([1, 2]),
        Arc::new(rows),
        None,
    );
    let asked = array_of(TypeKind::Row(vec![field("b", text())]).nullable());
    let array = read_as(file_of(Arc::new(lists)), &asked).unwrap();
    let inner = array.as_list::<i32>().values().as_struct().clone();
    assert!(inner.is_null(1));
    assert_eq!(inner.column(0).as_string_view().value(2), "z");
    assert!(matches!(inner.data_type(), ArrowType::Struct(fields) if fields.len() == 1));
}
