use std::sync::Arc;

use arrow_array::builder::{Int32Builder, MapBuilder, StringBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, Date32Array, Decimal128Array,
    FixedSizeListArray, Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array,
    LargeBinaryArray, LargeStringArray, ListArray, StringArray, StringViewArray, StructArray,
    Time32MillisecondArray, TimestampMicrosecondArray, TimestampMillisecondArray,
    TimestampNanosecondArray, TimestampSecondArray,
};
use arrow_schema::{DataType as ArrowType, Field};
use paimon_meta::{DataField, ErrorKind, FieldId, MAX_LENGTH, TypeKind};
use proptest::prelude::*;

use super::*;

fn batch(array: ArrayRef) -> RecordBatch {
    RecordBatch::try_from_iter([("c", array)]).unwrap()
}

/// The values of a column, each as the text inside the row.
fn texts(array: impl arrow_array::Array + 'static, data_type: &DataType) -> Vec<String> {
    let batch = batch(Arc::new(array));
    let rows = JsonRows::new(&batch, [data_type]).unwrap();
    let text = |row| {
        let mut out = Vec::new();
        rows.write_row(row, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        text[1..text.len() - 1].to_owned()
    };
    (0..rows.len()).map(text).collect()
}

fn string() -> DataType {
    TypeKind::VarChar(MAX_LENGTH).nullable()
}

fn bytes() -> DataType {
    TypeKind::VarBinary(MAX_LENGTH).nullable()
}

#[test]
fn integers_and_booleans_are_numbers_and_names() {
    let int = TypeKind::Int.nullable();
    assert_eq!(
        texts(Int32Array::from(vec![Some(-7), None]), &int),
        ["-7", "null"]
    );
    assert_eq!(
        texts(
            Int8Array::from(vec![i8::MIN]),
            &TypeKind::TinyInt.nullable()
        ),
        ["-128"]
    );
    assert_eq!(
        texts(
            Int16Array::from(vec![i16::MAX]),
            &TypeKind::SmallInt.nullable()
        ),
        ["32767"]
    );
    assert_eq!(
        texts(
            Int64Array::from(vec![i64::MIN]),
            &TypeKind::BigInt.nullable()
        ),
        ["-9223372036854775808"]
    );
    assert_eq!(
        texts(
            BooleanArray::from(vec![true]),
            &TypeKind::Boolean.nullable()
        ),
        ["true"]
    );
}

#[test]
fn floats_are_the_shortest_numbers_that_read_back() {
    let float = TypeKind::Float.nullable();
    assert_eq!(
        texts(
            Float32Array::from(vec![0.1, 1.0, -0.0, f32::MAX, f32::NAN]),
            &float
        ),
        ["0.1", "1.0", "-0.0", "3.4028235e38", "\"NaN\""]
    );
    let double = TypeKind::Double.nullable();
    assert_eq!(
        texts(
            Float64Array::from(vec![0.1, 1e300, f64::INFINITY, f64::NEG_INFINITY]),
            &double
        ),
        ["0.1", "1e300", "\"Infinity\"", "\"-Infinity\""]
    );
}

#[test]
fn decimals_have_their_full_scale() {
    let decimals = |values: Vec<i128>, precision: u8, scale: u8| {
        let array = Decimal128Array::from(values)
            .with_precision_and_scale(precision, i8::try_from(scale).unwrap())
            .unwrap();
        texts(array, &TypeKind::Decimal { precision, scale }.nullable())
    };
    assert_eq!(
        decimals(vec![0, 5, -5, 12345, -100], 10, 2),
        [
            "\"0.00\"",
            "\"0.05\"",
            "\"-0.05\"",
            "\"123.45\"",
            "\"-1.00\""
        ]
    );
    assert_eq!(decimals(vec![7, -70], 10, 0), ["\"7\"", "\"-70\""]);
    let nines = 10i128.pow(38) - 1;
    assert_eq!(
        decimals(vec![-nines], 38, 38),
        [format!("\"-0.{}\"", "9".repeat(38))]
    );
}

#[test]
fn text_and_bytes_are_the_same_in_every_layout() {
    let text = "a\"b\\c\n\u{1}ü";
    let expected = ["\"a\\\"b\\\\c\\n\\u0001ü\""];
    assert_eq!(texts(StringArray::from(vec![text]), &string()), expected);
    assert_eq!(
        texts(LargeStringArray::from(vec![text]), &string()),
        expected
    );
    assert_eq!(
        texts(StringViewArray::from(vec![text]), &string()),
        expected
    );
    let value: &[u8] = &[0, 0xab, 0xff];
    assert_eq!(
        texts(BinaryArray::from(vec![value]), &bytes()),
        ["\"00abff\""]
    );
    assert_eq!(
        texts(LargeBinaryArray::from(vec![value]), &bytes()),
        ["\"00abff\""]
    );
    assert_eq!(
        texts(BinaryViewArray::from(vec![value]), &bytes()),
        ["\"00abff\""]
    );
}

#[test]
fn dates_and_times_are_iso_with_as_much_fraction_as_needed() {
    let days = vec![0, -1, 19_782, -719_529, 2_932_897];
    assert_eq!(
        texts(Date32Array::from(days), &TypeKind::Date.nullable()),
        [
            "\"1970-01-01\"",
            "\"1969-12-31\"",
            "\"2024-02-29\"",
            "\"-0001-12-31\"",
            "\"+10000-01-01\""
        ]
    );
    assert_eq!(
        texts(
            Time32MillisecondArray::from(vec![0, 45_296_789, 86_399_000, 100]),
            &TypeKind::Time(3).nullable()
        ),
        [
            "\"00:00:00\"",
            "\"12:34:56.789\"",
            "\"23:59:59\"",
            "\"00:00:00.1\""
        ]
    );
}

#[test]
fn timestamps_show_the_same_in_every_unit() {
    let plain = TypeKind::Timestamp(9).nullable();
    let expected = ["\"1969-12-31T23:59:59\""];
    assert_eq!(
        texts(TimestampSecondArray::from(vec![-1]), &plain),
        expected
    );
    assert_eq!(
        texts(TimestampMillisecondArray::from(vec![-1_000]), &plain),
        expected
    );
    assert_eq!(
        texts(TimestampMicrosecondArray::from(vec![-1_000_000]), &plain),
        expected
    );
    assert_eq!(
        texts(TimestampNanosecondArray::from(vec![-1_000_000_000]), &plain),
        expected
    );
    let instant = TypeKind::LocalZonedTimestamp(6).nullable();
    let micros = TimestampMicrosecondArray::from(vec![1_704_164_645_123_450]).with_timezone("UTC");
    assert_eq!(texts(micros, &instant), ["\"2024-01-02T03:04:05.12345Z\""]);
}

#[test]
fn lists_vectors_and_rows_nest() {
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>([
        Some(vec![Some(1), None]),
        None,
        Some(vec![]),
    ]);
    let data_type = TypeKind::Array(Box::new(TypeKind::Int.nullable())).nullable();
    assert_eq!(texts(list.clone(), &data_type), ["[1,null]", "null", "[]"]);
    assert_eq!(texts(list.slice(1, 2), &data_type), ["null", "[]"]);

    let vector = FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(
        [Some(vec![Some(1), Some(2)]), Some(vec![Some(3), Some(4)])],
        2,
    );
    let element = Box::new(TypeKind::Int.nullable());
    let data_type = TypeKind::Vector { element, length: 2 }.nullable();
    assert_eq!(texts(vector.slice(1, 1), &data_type), ["[3,4]"]);

    let field = |id, name: &str, data_type| DataField {
        id: FieldId(id),
        name: name.to_owned(),
        data_type,
        description: None,
        default_value: None,
    };
    let row = StructArray::from(vec![
        (
            Arc::new(Field::new("a", ArrowType::Int32, true)),
            Arc::new(Int32Array::from(vec![Some(1), None])) as ArrayRef,
        ),
        (
            Arc::new(Field::new("b", ArrowType::Utf8, true)),
            Arc::new(StringArray::from(vec!["x", "y"])),
        ),
    ]);
    let fields = vec![
        field(0, "a", TypeKind::Int.nullable()),
        field(1, "b", string()),
    ];
    assert_eq!(
        texts(row, &TypeKind::Row(fields).nullable()),
        ["[1,\"x\"]", "[null,\"y\"]"]
    );
}

#[test]
fn map_entries_are_sorted_by_the_text_of_their_key() {
    let mut builder = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    for (key, value) in [("b", 1), ("a", 2), ("a!", 3)] {
        builder.keys().append_value(key);
        builder.values().append_value(value);
    }
    builder.append(true).unwrap();
    builder.append(false).unwrap();
    let map = builder.finish();
    let value = TypeKind::Int.nullable();
    let data_type = TypeKind::Map(Box::new(string()), Box::new(value)).nullable();
    let expected = ["[[\"a!\",3],[\"a\",2],[\"b\",1]]", "null"];
    assert_eq!(texts(map.clone(), &data_type), expected);
    assert_eq!(
        texts(map, &TypeKind::Multiset(Box::new(string())).nullable()),
        expected
    );
}

#[test]
fn objects_have_names_and_kinds_come_first() {
    let batch = RecordBatch::try_from_iter([
        ("k", Arc::new(Int32Array::from(vec![1, 2])) as ArrayRef),
        (
            "a \"b\"",
            Arc::new(StringArray::from(vec![Some("x"), None])),
        ),
    ])
    .unwrap();
    let kinds = Int8Array::from(vec![0, 3]);
    let types = [TypeKind::Int.not_null(), string()];
    let rows = JsonRows::new(&batch, &types)
        .unwrap()
        .with_row_kinds("rowkind", &kinds)
        .unwrap();
    let mut out = Vec::new();
    rows.write_object(0, &mut out).unwrap();
    assert_eq!(
        String::from_utf8(out).unwrap(),
        r#"{"rowkind":"+I","k":1,"a \"b\"":"x"}"#
    );
    assert_eq!(
        rows.row(1).unwrap(),
        [Value::from("-D"), Value::from(2), Value::Null]
    );
    assert_eq!(rows.row(2).unwrap_err().kind(), ErrorKind::Internal);
    let value = |row, column| {
        let mut out = Vec::new();
        rows.write_value(row, column, &mut out)
            .map(|()| String::from_utf8(out).unwrap())
    };
    assert_eq!(value(0, 0).unwrap(), "\"+I\"");
    assert_eq!(value(1, 2).unwrap(), "null");
    for (row, column) in [(2, 0), (0, 3)] {
        assert_eq!(value(row, column).unwrap_err().kind(), ErrorKind::Internal);
    }
}

#[test]
fn array_of_another_type_is_refused() {
    let batch = batch(Arc::new(Int32Array::from(vec![1])));
    let error = JsonRows::new(&batch, &[TypeKind::BigInt.nullable()])
        .err()
        .unwrap();
    assert_eq!(
        error.to_string(),
        "internal error: arrow type Int32 does not hold BIGINT [column c]"
    );
    assert!(JsonRows::new(&batch, &[]).is_err());
}

fn variant(value: &[u8], metadata: &[u8]) -> Result<String> {
    variant::to_json(value, metadata)
}

const NO_NAMES: &[u8] = &[0x01, 0, 0];

#[test]
fn variants_are_json_text_as_the_reference_writes_it() {
    let cases: [(&[u8], &str); 13] = [
        (&[0x00], "null"),
        (&[0x04], "true"),
        (&[0x0c, 0xff], "-1"),
        (&[0x10, 0x39, 0x30], "12345"),
        (&[0x09, b'h', b'i'], "\"hi\""),
        (&[0x1c, 0, 0, 0, 0, 0, 0, 0x08, 0x40], "3.0"),
        (&[0x20, 2, 0x96, 0, 0, 0], "1.5"),
        (&[0x2c, 1, 0, 0, 0], "\"1970-01-02\""),
        (
            &[0x30, 0x40, 0x42, 0x0f, 0, 0, 0, 0, 0],
            "\"1970-01-01 00:00:01+00:00\"",
        ),
        (
            &[0x34, 0x20, 0xa1, 0x07, 0, 0, 0, 0, 0],
            "\"1970-01-01 00:00:00.5\"",
        ),
        (&[0x3c, 4, 0, 0, 0, 1, 2, 3, 4], "\"AQIDBA==\""),
        (&[0x40, 2, 0, 0, 0, b'h', b'i'], "\"hi\""),
        (&[0x03, 2, 0, 1, 3, 0x00, 0x0c, 7], "[null,7]"),
    ];
    for (value, expected) in cases {
        assert_eq!(variant(value, NO_NAMES).unwrap(), expected, "{value:?}");
    }
    let uuid: Vec<u8> = std::iter::once(0x50).chain(0..16).collect();
    let text = variant(&uuid, NO_NAMES).unwrap();
    assert_eq!(text, "\"00010203-0405-0607-0809-0a0b0c0d0e0f\"");
    // {"a": 1, "bc": "x"}
    let metadata = [0x01, 2, 0, 1, 3, b'a', b'b', b'c'];
    let value = [0x02, 2, 0, 1, 0, 2, 4, 0x0c, 1, 0x05, b'x'];
    assert_eq!(variant(&value, &metadata).unwrap(), r#"{"a":1,"bc":"x"}"#);
}

#[test]
fn broken_variants_are_corrupt() {
    let cases: [(&[u8], &[u8]); 6] = [
        (&[], NO_NAMES),
        (&[0x10, 0], NO_NAMES),
        (&[0x09, b'h'], NO_NAMES),
        (&[0x05, 0xff], NO_NAMES),
        (&[0x02, 1, 5, 0, 1, 0], NO_NAMES),
        (&[0x00], &[0x02, 0, 0]),
    ];
    for (value, metadata) in cases {
        assert_eq!(
            variant(value, metadata).unwrap_err().kind(),
            ErrorKind::Corrupt,
            "{value:?}"
        );
    }
    assert_eq!(
        variant(&[0x7c], NO_NAMES).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
}

#[test]
fn single_values_are_written_like_columns() {
    let json = |datum: &Datum, kind: TypeKind| {
        datum_to_json(Some(datum), &kind.nullable())
            .unwrap()
            .to_string()
    };
    let timestamp = Datum::Timestamp {
        millis: -1,
        nanos: 5,
    };
    assert_eq!(
        json(&timestamp, TypeKind::Timestamp(9)),
        "\"1969-12-31T23:59:59.999000005\""
    );
    assert_eq!(
        json(&timestamp, TypeKind::LocalZonedTimestamp(9)),
        "\"1969-12-31T23:59:59.999000005Z\""
    );
    assert_eq!(json(&Datum::Float(0.1), TypeKind::Float), "0.1");
    assert_eq!(
        json(&Datum::Binary(vec![1, 0xfe]), TypeKind::Binary(2)),
        "\"01fe\""
    );
    assert_eq!(datum_to_json(None, &string()).unwrap(), Value::Null);
}

proptest! {
    #[test]
    fn any_text_reads_back(text in any::<String>()) {
        let mut out = Vec::new();
        scalar::text(&mut out, &text);
        prop_assert_eq!(read_back::<String>(&out).unwrap(), text);
    }

    #[test]
    fn floats_read_back_by_their_bits(bits in any::<u64>(), narrow in any::<u32>()) {
        let (double, float) = (f64::from_bits(bits), f32::from_bits(narrow));
        let mut out = Vec::new();
        scalar::float(&mut out, double);
        if double.is_finite() {
            prop_assert_eq!(read_back::<f64>(&out).unwrap().to_bits(), bits);
        }
        out.clear();
        scalar::float(&mut out, float);
        if float.is_finite() {
            prop_assert_eq!(read_back::<f32>(&out).unwrap().to_bits(), narrow);
        }
    }

    /// The calendar here and the one in `paimon-meta` were written apart.
    #[test]
    fn dates_and_times_agree_with_the_text_of_values(days in any::<i32>(), millis in any::<i32>(), nanos in 0..1_000_000) {
        for datum in [
            Datum::Date(days),
            Datum::Time(millis.rem_euclid(86_400_000)),
            Datum::Timestamp { millis: i64::from(days) * 86_400_000 + i64::from(millis), nanos },
        ] {
            let json = datum_to_json(Some(&datum), &TypeKind::Timestamp(9).nullable()).unwrap();
            prop_assert_eq!(json, Value::from(datum.to_string()));
        }
    }

    #[test]
    fn decimals_agree_with_the_text_of_values(unscaled in any::<i128>(), scale in 0u8..=38) {
        let datum = Datum::Decimal(unscaled, scale);
        let json = datum_to_json(Some(&datum), &TypeKind::Decimal { precision: 38, scale }.nullable()).unwrap();
        prop_assert_eq!(json, Value::from(datum.to_string()));
    }

    #[test]
    fn no_bytes_make_a_variant_panic(value in any::<Vec<u8>>(), metadata in any::<Vec<u8>>()) {
        if let Ok(json) = variant(&value, &metadata) {
            prop_assert!(!json.is_empty());
        }
    }
}
