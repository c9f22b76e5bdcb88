//! Stored types as asked types. Facts: table-format sections 8.1 and 8.2.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time32MillisecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType as ArrowType;
use bytes::Bytes;
use paimon_format::ParquetReader;
use paimon_meta::{Error, ErrorKind, Frame, MAX_LENGTH, Result, TypeKind};
use parquet::data_type::{
    ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType,
    FloatType, Int32Type as I32, Int64Type as I64, Int96, Int96Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::conformance::{column, scan};
use crate::memory::{open, read_all};

/// A file with one column, `c`, of the given declaration, and these values in it.
fn stored<T: DataType>(declaration: &str, values: &[T::T]) -> Bytes {
    let schema = parse_message_type(&format!("message m {{ required {declaration}; }}")).unwrap();
    let mut bytes = Vec::new();
    let properties = Arc::new(WriterProperties::builder().build());
    let mut file = SerializedFileWriter::new(&mut bytes, Arc::new(schema), properties).unwrap();
    let mut group = file.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    file.close().unwrap();
    bytes.into()
}

fn read_as(bytes: Bytes, kind: TypeKind) -> Result<ArrayRef> {
    let file = open(&ParquetReader, bytes)?;
    let batches = read_all(
        file.as_ref(),
        &scan(vec![column("c", kind.not_null())], 1024),
    )?;
    Ok(Arc::clone(batches[0].1.column(0)))
}

fn values<T: ArrowPrimitiveType>(bytes: Bytes, kind: TypeKind) -> Vec<T::Native> {
    read_as(bytes, kind)
        .unwrap()
        .as_primitive::<T>()
        .values()
        .to_vec()
}

/// The error of a read that must fail; it names the column.
fn refused(bytes: Bytes, kind: TypeKind) -> Error {
    let error = read_as(bytes, kind).unwrap_err();
    assert!(
        error
            .frames()
            .any(|frame| *frame == Frame::Column("c".to_owned())),
        "{error}"
    );
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    error
}

fn decimal(precision: u8, scale: u8) -> TypeKind {
    TypeKind::Decimal { precision, scale }
}

const TEXT: TypeKind = TypeKind::VarChar(MAX_LENGTH);
const BYTES: TypeKind = TypeKind::VarBinary(MAX_LENGTH);

#[test]
fn narrow_integers_are_stored_as_int32() {
    let tiny = || stored::<I32>("int32 c (INTEGER(8,true))", &[-128, 127]);
    assert_eq!(values::<Int8Type>(tiny(), TypeKind::TinyInt), [-128, 127]);
    let small = || stored::<I32>("int32 c (INTEGER(16,true))", &[-32768, 32767]);
    assert_eq!(
        values::<Int16Type>(small(), TypeKind::SmallInt),
        [-32768, 32767]
    );
    assert_eq!(
        values::<Int8Type>(stored::<I32>("int32 c", &[7]), TypeKind::TinyInt),
        [7]
    );
}

#[test]
fn integers_of_another_width_are_read_if_they_fit() {
    let wide = |value| stored::<I64>("int64 c", &[value]);
    assert_eq!(
        values::<Int32Type>(wide(-2_147_483_648), TypeKind::Int),
        [i32::MIN]
    );
    assert_eq!(
        values::<Int64Type>(stored::<I32>("int32 c", &[-5]), TypeKind::BigInt),
        [-5]
    );
    let error = refused(wide(2_147_483_648), TypeKind::Int);
    assert_eq!(error.message(), "value 2147483648 does not fit Int32");
    refused(wide(128), TypeKind::TinyInt);
    refused(stored::<I32>("int32 c", &[40000]), TypeKind::SmallInt);
}

#[test]
fn unsigned_integers_are_zero_extended() {
    let stored_bits = || stored::<I32>("int32 c (INTEGER(32,false))", &[-1, 5]);
    assert_eq!(
        values::<Int64Type>(stored_bits(), TypeKind::BigInt),
        [4_294_967_295, 5]
    );
    refused(stored_bits(), TypeKind::Int);
    refused(
        stored::<I64>("int64 c (INTEGER(64,false))", &[5]),
        TypeKind::BigInt,
    );
}

#[test]
fn float_and_double_are_read_as_each_other() {
    let float = || stored::<FloatType>("float c", &[1.5, f32::NAN]);
    let double = || stored::<DoubleType>("double c", &[0.1, f64::MAX]);
    assert_eq!(
        values::<Float64Type>(float(), TypeKind::Double)[0].to_bits(),
        1.5_f64.to_bits()
    );
    assert!(values::<Float64Type>(float(), TypeKind::Double)[1].is_nan());
    assert_eq!(
        values::<Float32Type>(double(), TypeKind::Float),
        [0.1, f32::INFINITY]
    );
    refused(float(), TypeKind::Int);
}

/// TF-084, TF-8.1.
#[test]
fn timestamps_have_the_unit_of_their_annotation() {
    let millis = || stored::<I64>("int64 c (TIMESTAMP(MILLIS,false))", &[-1, 1500]);
    assert_eq!(
        values::<TimestampMicrosecondType>(millis(), TypeKind::Timestamp(6)),
        [-1000, 1_500_000]
    );
    assert_eq!(
        values::<TimestampMillisecondType>(millis(), TypeKind::Timestamp(3)),
        [-1, 1500]
    );
    assert_eq!(
        values::<TimestampSecondType>(millis(), TypeKind::Timestamp(0)),
        [-1, 1]
    );
    let nanos = || stored::<I64>("int64 c (TIMESTAMP(NANOS,true))", &[-1, 1_999_999]);
    assert_eq!(
        values::<TimestampMillisecondType>(nanos(), TypeKind::Timestamp(2)),
        [-1, 1]
    );
    assert_eq!(
        values::<TimestampNanosecondType>(nanos(), TypeKind::LocalZonedTimestamp(9)),
        [-1, 1_999_999]
    );
}

#[test]
fn timestamps_without_annotation_go_by_the_declared_precision() {
    let plain = || stored::<I64>("int64 c", &[1_000_001]);
    assert_eq!(
        values::<TimestampSecondType>(plain(), TypeKind::Timestamp(0)),
        [1000]
    );
    assert_eq!(
        values::<TimestampMillisecondType>(plain(), TypeKind::Timestamp(3)),
        [1_000_001]
    );
    assert_eq!(
        values::<TimestampMicrosecondType>(plain(), TypeKind::Timestamp(4)),
        [1_000_001]
    );
    assert_eq!(
        values::<TimestampNanosecondType>(plain(), TypeKind::Timestamp(7)),
        [1_000_001_000_000]
    );
}

#[test]
fn zone_of_a_timestamp_is_that_of_the_schema() {
    for adjusted in [true, false] {
        let bytes = stored::<I64>(&format!("int64 c (TIMESTAMP(MICROS,{adjusted}))"), &[1]);
        let zoned = read_as(bytes.clone(), TypeKind::LocalZonedTimestamp(6)).unwrap();
        assert_eq!(zoned.data_type().to_string(), "Timestamp(µs, \"UTC\")");
        let plain = read_as(bytes, TypeKind::Timestamp(6)).unwrap();
        assert_eq!(plain.data_type().to_string(), "Timestamp(µs)");
    }
}

#[test]
fn timestamp_outside_the_range_of_its_unit_is_an_error() {
    let year_9999 = 253_402_300_799_000;
    let millis = || stored::<I64>("int64 c (TIMESTAMP(MILLIS,false))", &[year_9999]);
    assert_eq!(
        values::<TimestampMicrosecondType>(millis(), TypeKind::Timestamp(6)),
        [year_9999 * 1000]
    );
    let error = refused(millis(), TypeKind::Timestamp(9));
    assert!(error.message().contains("outside the range"), "{error}");
}

fn int96(day: i32, nanos: i64) -> Int96 {
    let nanos = nanos.cast_unsigned();
    let mut value = Int96::new();
    let word = |shift: u32| u32::try_from((nanos >> shift) & 0xFFFF_FFFF).unwrap();
    value.set_data(word(0), word(32), day.cast_unsigned());
    value
}

/// TF-083: the reference stores a truncated day and a negative time of the day before 1970.
#[test]
fn int96_adds_negative_nanoseconds_to_the_day() {
    let values96 = || {
        stored::<Int96Type>(
            "int96 c",
            &[
                int96(2_440_588, -1),
                int96(2_440_589, 2_000_001),
                int96(2_440_587, 5),
            ],
        )
    };
    let day = 86_400_000_000_000;
    assert_eq!(
        values::<TimestampNanosecondType>(values96(), TypeKind::Timestamp(9)),
        [-1, day + 2_000_001, 5 - day]
    );
    // Floored, not cut.
    assert_eq!(
        values::<TimestampMicrosecondType>(values96(), TypeKind::Timestamp(6)),
        [-1, day / 1000 + 2000, -day / 1000]
    );
    assert_eq!(
        values::<TimestampSecondType>(values96(), TypeKind::LocalZonedTimestamp(0)),
        [-1, 86_400, -86_400]
    );
}

#[test]
fn int96_of_the_years_1_and_9999_is_read_where_the_unit_reaches() {
    // 0001-01-01 and 9999-12-31T23:59:59.999999999.
    let far = || {
        stored::<Int96Type>(
            "int96 c",
            &[int96(1_721_426, 0), int96(5_373_484, 86_399_999_999_999)],
        )
    };
    assert_eq!(
        values::<TimestampMicrosecondType>(far(), TypeKind::Timestamp(6)),
        [-62_135_596_800_000_000, 253_402_300_799_999_999]
    );
    assert_eq!(
        values::<TimestampSecondType>(far(), TypeKind::Timestamp(0)),
        [-62_135_596_800, 253_402_300_799]
    );
    let error = refused(far(), TypeKind::Timestamp(9));
    assert!(error.message().contains("-62135596800000000000"), "{error}");
}

/// On the first day of the range only the sum of day and time fits.
#[test]
fn int96_reaches_both_ends_of_its_unit() {
    let ends = [
        int96(2_440_588 - 106_752, 763_145_224_192),
        int96(2_440_588 + 106_751, 85_636_854_775_807),
    ];
    let nanos = values::<TimestampNanosecondType>(
        stored::<Int96Type>("int96 c", &ends),
        TypeKind::Timestamp(9),
    );
    assert_eq!(nanos, [i64::MIN, i64::MAX]);
    let beyond = stored::<Int96Type>("int96 c", &[int96(2_440_588 - 106_752, 763_145_224_191)]);
    refused(beyond, TypeKind::Timestamp(9));
}

#[test]
fn null_int96_is_null_and_not_out_of_range() {
    let schema = Arc::new(parse_message_type("message m { optional int96 c; }").unwrap());
    let mut bytes = Vec::new();
    let properties = Arc::new(WriterProperties::builder().build());
    let mut file = SerializedFileWriter::new(&mut bytes, schema, properties).unwrap();
    let mut group = file.next_row_group().unwrap();
    let mut leaf = group.next_column().unwrap().unwrap();
    let levels = [0, 1, 0];
    leaf.typed::<Int96Type>()
        .write_batch(&[int96(2_440_588, 7)], Some(&levels), None)
        .unwrap();
    leaf.close().unwrap();
    group.close().unwrap();
    file.close().unwrap();
    let file = open(&ParquetReader, bytes.into()).unwrap();
    let scan = scan(vec![column("c", TypeKind::Timestamp(9).nullable())], 10);
    let batches = read_all(file.as_ref(), &scan).unwrap();
    let array = batches[0]
        .1
        .column(0)
        .as_primitive::<TimestampNanosecondType>()
        .clone();
    assert_eq!(array, vec![None, Some(7), None].into());
}

#[test]
fn decimals_are_read_from_integers_and_bytes() {
    let narrow = stored::<I32>("int32 c (DECIMAL(9,2))", &[-12_345]);
    assert_eq!(values::<Decimal128Type>(narrow, decimal(9, 2)), [-12_345]);
    let wide = stored::<I64>("int64 c (DECIMAL(18,2))", &[i64::from(i32::MIN) * 100]);
    assert_eq!(
        values::<Decimal128Type>(wide, decimal(18, 2)),
        [i128::from(i32::MIN) * 100]
    );
    let bytes = [
        vec![0x80],
        vec![0x00, 0x80],
        [vec![0xFF; 17], vec![0x85]].concat(),
    ]
    .map(ByteArray::from);
    let bytes = stored::<ByteArrayType>("binary c (DECIMAL(30,3))", &bytes);
    assert_eq!(
        values::<Decimal128Type>(bytes, decimal(30, 3)),
        [-128, 128, -123]
    );
    let fixed = FixedLenByteArray::from(vec![0xFF, 0xFE, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00]);
    let fixed =
        stored::<FixedLenByteArrayType>("fixed_len_byte_array(9) c (DECIMAL(20,1))", &[fixed]);
    assert_eq!(
        values::<Decimal128Type>(fixed, decimal(20, 1)),
        [-(1 << 57)]
    );
}

#[test]
fn decimals_of_another_scale_gain_digits_but_lose_none() {
    let plain = || stored::<I32>("int32 c", &[7]);
    assert_eq!(values::<Decimal128Type>(plain(), decimal(10, 2)), [700]);
    let scaled = || stored::<I64>("int64 c (DECIMAL(18,2))", &[123_456]);
    assert_eq!(
        values::<Decimal128Type>(scaled(), decimal(38, 4)),
        [12_345_600]
    );
    refused(scaled(), decimal(18, 1));
    assert!(
        refused(scaled(), decimal(5, 2))
            .message()
            .contains("does not fit 5 digits")
    );
    let fixed = || {
        stored::<FixedLenByteArrayType>(
            "fixed_len_byte_array(4) c (DECIMAL(9,2))",
            &[vec![0, 0, 0, 9].into()],
        )
    };
    assert_eq!(values::<Decimal128Type>(fixed(), decimal(20, 2)), [9]);
    refused(fixed(), decimal(20, 3));
}

#[test]
fn decimals_wider_than_sixteen_bytes_must_fit() {
    let bytes = stored::<ByteArrayType>(
        "binary c (DECIMAL(38,0))",
        &[[vec![1], vec![0; 16]].concat().into()],
    );
    refused(bytes, decimal(38, 0));
    refused(
        stored::<ByteArrayType>("binary c (DECIMAL(38,0))", &[ByteArray::from(vec![])]),
        decimal(38, 0),
    );
}

#[test]
fn text_and_bytes_are_read_as_each_other() {
    let text = stored::<ByteArrayType>("binary c (STRING)", &["ä b".into()]);
    assert_eq!(
        read_as(text.clone(), BYTES)
            .unwrap()
            .as_binary_view()
            .value(0),
        "ä b".as_bytes()
    );
    assert_eq!(
        read_as(text, TypeKind::Char(3))
            .unwrap()
            .as_string_view()
            .value(0),
        "ä b"
    );
    // JSON and ENUM are text, too, but for the decoder they are bytes.
    for declaration in ["binary c", "binary c (ENUM)", "binary c (JSON)"] {
        let bytes = stored::<ByteArrayType>(declaration, &["ä".into()]);
        assert_eq!(
            read_as(bytes.clone(), TEXT)
                .unwrap()
                .as_string_view()
                .value(0),
            "ä"
        );
        assert_eq!(
            read_as(bytes, BYTES).unwrap().as_binary_view().value(0),
            "ä".as_bytes()
        );
    }
}

#[test]
fn text_that_is_not_utf8_is_an_error() {
    let bad = |declaration| stored::<ByteArrayType>(declaration, &[vec![b'a', 0xFF].into()]);
    refused(bad("binary c"), TEXT);
    refused(bad("binary c (JSON)"), TEXT);
    let error = read_as(bad("binary c (STRING)"), TEXT).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

#[test]
fn bytes_of_a_fixed_length_are_bytes() {
    let fixed =
        stored::<FixedLenByteArrayType>("fixed_len_byte_array(3) c", &[vec![1, 2, 0xFF].into()]);
    assert_eq!(
        read_as(fixed, TypeKind::Binary(3))
            .unwrap()
            .as_binary_view()
            .value(0),
        [1, 2, 0xFF]
    );
}

#[test]
fn dates_and_times_are_read_with_and_without_annotation() {
    for declaration in ["int32 c (DATE)", "int32 c"] {
        let bytes = stored::<I32>(declaration, &[-719_162]);
        assert_eq!(values::<Date32Type>(bytes, TypeKind::Date), [-719_162]);
    }
    for declaration in [
        "int32 c (TIME(MILLIS,true))",
        "int32 c (TIME(MILLIS,false))",
        "int32 c",
    ] {
        let bytes = stored::<I32>(declaration, &[86_399_999]);
        assert_eq!(
            values::<Time32MillisecondType>(bytes, TypeKind::Time(9)),
            [86_399_999]
        );
    }
    let micros = stored::<I64>("int64 c (TIME(MICROS,true))", &[1_999]);
    assert_eq!(
        values::<Time32MillisecondType>(micros, TypeKind::Time(6)),
        [1]
    );
    refused(stored::<I32>("int32 c", &[1]), TypeKind::Timestamp(3));
    refused(
        stored::<I64>("int64 c (TIME(MICROS,true))", &[1]),
        TypeKind::Timestamp(6),
    );
}

#[test]
fn odd_annotation_in_a_column_that_is_not_asked_does_not_matter() {
    let schema = "message m { required fixed_len_byte_array(12) odd (INTERVAL); required group empty_list (LIST) \
                  { repeated group list { repeated int32 x; } } required int32 c; }";
    let mut bytes = Vec::new();
    let properties = Arc::new(WriterProperties::builder().build());
    let mut file = SerializedFileWriter::new(
        &mut bytes,
        Arc::new(parse_message_type(schema).unwrap()),
        properties,
    )
    .unwrap();
    let mut group = file.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column
        .typed::<FixedLenByteArrayType>()
        .write_batch(&[vec![0; 12].into()], None, None)
        .unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column
        .typed::<I32>()
        .write_batch(&[], Some(&[0]), Some(&[0]))
        .unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column
        .typed::<I32>()
        .write_batch(&[42], None, None)
        .unwrap();
    column.close().unwrap();
    group.close().unwrap();
    file.close().unwrap();
    assert_eq!(values::<Int32Type>(bytes.into(), TypeKind::Int), [42]);
}

#[test]
fn kinds_that_are_not_read_are_refused_by_name() {
    let bytes = stored::<ByteArrayType>("binary c", &["x".into()]);
    for (kind, name) in [
        (TypeKind::Blob, "BLOB"),
        (TypeKind::Geometry(String::new()), "GEOMETRY"),
    ] {
        let error = read_as(bytes.clone(), kind).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.feature().unwrap().contains(name), "{error}");
    }
}

#[test]
fn nulls_in_a_column_that_is_not_null_are_an_error() {
    let schema = Arc::new(arrow_schema::Schema::new(vec![arrow_schema::Field::new(
        "c",
        ArrowType::Int32,
        true,
    )]));
    let array = arrow_array::Int32Array::from(vec![Some(1), None]);
    let batch = arrow_array::RecordBatch::try_new(schema, vec![Arc::new(array)]).unwrap();
    let error = refused(super::write(&batch, 10), TypeKind::Int);
    assert!(error.message().contains("1 null"), "{error}");
}
