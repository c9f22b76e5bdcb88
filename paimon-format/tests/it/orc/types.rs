//! Types as the reference writes them. Facts: table-format sections 7.5, 8.1 and 8.2.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float64Type, Int8Type, Int32Type, Time32MillisecondType,
    TimestampMicrosecondType, TimestampMillisecondType,
};
use arrow_array::{Array, ArrayRef};
use bytes::Bytes;
use paimon_format::OrcReader;
use paimon_meta::{
    DataField, DataType, ErrorKind, FieldId, Frame, MAX_LENGTH, Result, StringLayout, TypeKind,
};

use super::writer::{
    CHAR, Column, DECIMAL, DOUBLE, INSTANT, INT, LIST, LONG, MAP, Options, PLAIN, STRING, STRUCT,
    TIMESTAMP, Type, Values, leaf, node, write,
};
use crate::conformance::{column, scan};
use crate::memory::{open, read_all};

/// A file of one column `c` in one stripe.
fn file_with(of: Type, rows: u64, values: Column, options: Options) -> Bytes {
    let root = node(STRUCT, vec![("c", of)]);
    let columns = Column {
        children: vec![values],
        ..Column::default()
    };
    write(&root, &[(rows, columns)], options)
}

fn file_of(of: Type, rows: u64, values: Column) -> Bytes {
    file_with(of, rows, values, PLAIN)
}

fn read_as(bytes: Bytes, data_type: &DataType) -> Result<ArrayRef> {
    let file = open(&OrcReader::default(), bytes)?;
    let scan = scan(vec![column("c", data_type.clone())], 1024);
    let batches = read_all(file.as_ref(), &scan)?;
    let array = Arc::clone(batches[0].1.column(0));
    assert_eq!(
        array.data_type(),
        &data_type.to_arrow(StringLayout::View).unwrap()
    );
    Ok(array)
}

fn values(values: Values) -> Column {
    Column {
        values,
        ..Column::default()
    }
}

fn some_of(present: &[bool], values: Values) -> Column {
    Column {
        present: Some(present.to_vec()),
        values,
        ..Column::default()
    }
}

fn with_children(column: Column, children: Vec<Column>) -> Column {
    Column { children, ..column }
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

/// Seconds from 1970 to 2015.
const EPOCH: i64 = 1_420_070_400;
/// 999 milliseconds, encoded.
const MILLIS_999: i64 = 999 << 3 | 5;

#[test]
fn timestamps_before_1970_are_as_the_reference_reads_them() {
    let stored = vec![
        (0, 0),
        (-EPOCH - 1, MILLIS_999),
        (-EPOCH - 1, 0),
        (-EPOCH, MILLIS_999),
    ];
    let file = file_of(leaf(TIMESTAMP), 4, values(Values::Timestamps(stored)));
    let array = read_as(file, &TypeKind::Timestamp(3).not_null()).unwrap();
    assert_eq!(
        array.as_primitive::<TimestampMillisecondType>().values(),
        // A fraction goes back by a second, but not in the last second before 1970.
        &[EPOCH * 1000, -1001, -1000, 999]
    );
}

#[test]
fn timestamps_are_wall_clocks_of_the_writer_and_instants_are_not() {
    let in_zone = |kind, zone, seconds: i64| {
        let options = Options { zone, ..PLAIN };
        let stored = values(Values::Timestamps(vec![(seconds, 0)]));
        file_with(leaf(kind), 1, stored, options)
    };
    let seconds = |file, kind: TypeKind| {
        let array = read_as(file, &kind.not_null()).unwrap();
        array.as_primitive::<TimestampMicrosecondType>().value(0) / 1_000_000
    };
    // Stored seconds count from the new year of 2015 in the zone; an hour is added in summer.
    let summer = 181 * 86_400;
    let york = "America/New_York";
    let local = TypeKind::Timestamp(6);
    assert_eq!(seconds(in_zone(TIMESTAMP, york, 0), local.clone()), EPOCH);
    assert_eq!(
        seconds(in_zone(TIMESTAMP, york, summer), local),
        EPOCH + summer + 3600
    );
    let instant = TypeKind::LocalZonedTimestamp(6);
    assert_eq!(
        seconds(in_zone(INSTANT, york, summer), instant),
        EPOCH + summer
    );
    // In their legacy form instants are stored as wall clocks of UTC in the zone of the writer's process.
    let legacy = OrcReader {
        instant_zone: Some("Asia/Kolkata".to_owned()),
    };
    let file = open(&legacy, in_zone(INSTANT, "UTC", 0)).unwrap();
    let instants = vec![column("c", TypeKind::LocalZonedTimestamp(6).not_null())];
    let batches = read_all(file.as_ref(), &scan(instants, 10)).unwrap();
    let array = batches[0]
        .1
        .column(0)
        .as_primitive::<TimestampMicrosecondType>()
        .clone();
    assert_eq!(array.value(0) / 1_000_000, EPOCH + 19_800);
    let unknown = in_zone(TIMESTAMP, "Mars/Base", 0);
    let error = read_as(unknown, &TypeKind::Timestamp(6).not_null()).unwrap_err();
    assert_eq!(error.feature(), Some("time zone Mars/Base in ORC files"));
}

/// TF-8.2: the reference reads a wall clock that the zone of its process skips in spring an hour earlier.
#[test]
fn wall_clock_that_the_readers_zone_skips_stays() {
    // 2024-03-10T02:30, which New York skipped.
    let skipped = 1_710_037_800;
    let stored = values(Values::Timestamps(vec![(skipped - EPOCH, 0)]));
    let file = file_of(leaf(TIMESTAMP), 1, stored);
    let reader = OrcReader {
        instant_zone: Some("America/New_York".to_owned()),
    };
    let file = open(&reader, file).unwrap();
    let local = column("c", TypeKind::Timestamp(3).not_null());
    let batches = read_all(file.as_ref(), &scan(vec![local], 10)).unwrap();
    let array = batches[0].1.column(0);
    let array = array.as_primitive::<TimestampMillisecondType>();
    assert_eq!(array.value(0), skipped * 1000);
}

/// TF-8.2: the ORC library takes a batch of zeros of both signs for one value repeated.
#[test]
fn zeros_of_both_signs_keep_their_signs() {
    let stored = vec![-0.0, 0.0, -0.0, 0.0, 0.0];
    let file = file_of(leaf(DOUBLE), 5, values(Values::Doubles(stored.clone())));
    let array = read_as(file, &TypeKind::Double.not_null()).unwrap();
    let bits = |values: &[f64]| {
        values
            .iter()
            .map(|value| value.to_bits())
            .collect::<Vec<_>>()
    };
    let found = array.as_primitive::<Float64Type>().values();
    assert_eq!(bits(found), bits(&stored));
}

#[test]
fn timestamp_outside_the_range_of_its_unit_is_an_error_naming_column_and_value() {
    let year_9999 = 253_402_300_799 - EPOCH;
    let file = file_of(
        leaf(TIMESTAMP),
        1,
        values(Values::Timestamps(vec![(year_9999, 0)])),
    );
    assert!(read_as(file.clone(), &TypeKind::Timestamp(6).not_null()).is_ok());
    let error = read_as(file, &TypeKind::Timestamp(9).not_null()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.message().contains("253402300799 s"), "{error}");
    let column = Frame::Column("c".to_owned());
    assert!(error.frames().any(|frame| *frame == column), "{error}");
}

#[test]
fn decimals_have_a_scale_each() {
    let stored = vec![(125, 1), (-7, 0), (1_250, 2)];
    let file = file_of(leaf(DECIMAL), 3, values(Values::Decimals(stored)));
    let decimal = |precision, scale| TypeKind::Decimal { precision, scale }.not_null();
    let array = read_as(file.clone(), &decimal(5, 2)).unwrap();
    assert_eq!(
        array.as_primitive::<Decimal128Type>().values(),
        &[1_250, -700, 1_250]
    );
    assert!(read_as(file.clone(), &decimal(3, 2)).is_err());
    // No digit is cut.
    let error = read_as(file, &decimal(5, 0)).unwrap_err();
    assert_eq!(
        error.message(),
        "decimal with unscaled value 125 does not fit 5 digits"
    );
}

#[test]
fn times_are_plain_integers() {
    // TF-086.
    let file = || file_of(leaf(INT), 1, values(Values::Integers(vec![86_399_999])));
    let array = read_as(file(), &TypeKind::Time(3).not_null()).unwrap();
    assert_eq!(
        array.as_primitive::<Time32MillisecondType>().values(),
        &[86_399_999]
    );
    let error = read_as(file(), &TypeKind::TinyInt.not_null()).unwrap_err();
    assert_eq!(error.message(), "value 86399999 does not fit Int8");
    let error = read_as(file(), &TypeKind::Double.not_null()).unwrap_err();
    assert_eq!(
        error.message(),
        "stored as Int, which cannot be read as DOUBLE NOT NULL"
    );
}

#[test]
fn char_loses_the_blanks_that_the_writer_added() {
    for dictionaries in [false, true] {
        let stored = ["ab  ", "    ", " c"].map(str::to_owned).to_vec();
        let options = Options {
            dictionaries,
            ..PLAIN
        };
        let file = file_with(leaf(CHAR), 3, values(Values::Text(stored)), options);
        let array = read_as(file, &TypeKind::Char(4).not_null()).unwrap();
        let array = array.as_string_view();
        assert_eq!(
            [array.value(0), array.value(1), array.value(2)],
            ["ab", "", " c"]
        );
    }
}

#[test]
fn text_that_is_not_whole_is_corrupt() {
    let stored = values(Values::Text(vec!["é".to_owned()]));
    let mut bytes = file_of(leaf(STRING), 1, stored).to_vec();
    // The second byte of the letter, behind the magic.
    bytes[4] = b'x';
    let error = read_as(bytes.into(), &text().not_null()).unwrap_err();
    assert_eq!(error.message(), "text is not UTF-8");
}

#[test]
fn null_row_row_of_nulls_null_list_and_empty_list_stay_four_things() {
    let of = node(
        STRUCT,
        vec![
            ("l", node(LIST, vec![("_elem", leaf(LONG))])),
            ("x", leaf(LONG)),
        ],
    );
    // Null; (null, null); ([], 1); ([null, 2], null).
    let lists = with_children(
        some_of(&[false, true, true], Values::Lengths(vec![0, 2])),
        vec![some_of(&[false, true], Values::Integers(vec![2]))],
    );
    let numbers = some_of(&[false, true, false], Values::Integers(vec![1]));
    let rows = with_children(
        some_of(&[false, true, true, true], Values::None),
        vec![lists, numbers],
    );
    let file = file_of(of, 4, rows);
    let int = || TypeKind::Int.nullable();
    let lists = || TypeKind::Array(Box::new(int())).nullable();
    let asked = TypeKind::Row(vec![child("x", int()), child("l", lists())]).nullable();
    let array = read_as(file.clone(), &asked).unwrap();
    let rows = array.as_struct();
    assert_eq!((rows.is_null(0), rows.null_count()), (true, 1));
    let lists = rows.column(1).as_list::<i32>();
    assert!(lists.is_null(1) && lists.is_valid(2) && lists.value(2).is_empty());
    let last = lists.value(3);
    let last = last.as_primitive::<Int32Type>();
    assert!(last.is_null(0));
    assert_eq!(last.value(1), 2);
    assert_eq!(rows.column(0).as_primitive::<Int32Type>().value(2), 1);
    // One child alone.
    let asked = TypeKind::Row(vec![child("x", int())]).nullable();
    let array = read_as(file.clone(), &asked).unwrap();
    assert_eq!(array.as_struct().column(0).null_count(), 3);
    let asked = TypeKind::Row(vec![child("gone", int())]).nullable();
    let error = read_as(file, &asked).unwrap_err();
    assert_eq!(error.message(), "nested field is missing");
}

#[test]
fn maps_and_multisets_are_maps() {
    let of = node(MAP, vec![("_key", leaf(STRING)), ("_value", leaf(LONG))]);
    let keys = values(Values::Text(vec!["a".into(), "b".into()]));
    let counts = values(Values::Integers(vec![1, 100]));
    let maps = with_children(
        some_of(&[true, false, true], Values::Lengths(vec![2, 0])),
        vec![keys, counts],
    );
    let file = file_of(of, 3, maps);
    let key = || Box::new(text().not_null());
    let map = TypeKind::Map(key(), Box::new(TypeKind::TinyInt.nullable())).nullable();
    let array = read_as(file.clone(), &map).unwrap();
    let maps = array.as_map();
    assert_eq!(maps.keys().as_string_view().value(1), "b");
    assert_eq!(maps.values().as_primitive::<Int8Type>().values(), &[1, 100]);
    assert!(maps.is_null(1) && maps.value_length(2) == 0);
    let array = read_as(file, &TypeKind::Multiset(key()).nullable()).unwrap();
    assert_eq!(
        array.as_map().values().as_primitive::<Int32Type>().values(),
        &[1, 100]
    );
}

#[test]
fn lists_may_not_be_longer_than_their_elements() {
    let lists = |length| {
        let of = node(LIST, vec![("_elem", leaf(LONG))]);
        let elements = values(Values::Integers(vec![1, 2]));
        let lists = with_children(values(Values::Lengths(vec![length])), vec![elements]);
        file_of(of, 1, lists)
    };
    let asked = TypeKind::Array(Box::new(TypeKind::BigInt.nullable())).not_null();
    assert!(read_as(lists(2), &asked).is_ok());
    for length in [3, 1 << 30, i64::MAX, -1] {
        let error = read_as(lists(length), &asked).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    }
}

#[test]
fn types_that_orc_files_do_not_have_are_refused_by_name() {
    let file = file_of(leaf(LONG), 1, values(Values::Integers(vec![1])));
    for (kind, name) in [(TypeKind::Variant, "VARIANT"), (TypeKind::Blob, "BLOB")] {
        let error = read_as(file.clone(), &kind.not_null()).unwrap_err();
        assert_eq!(
            error.feature(),
            Some(format!("type {name} in ORC files").as_str())
        );
    }
}
