use std::sync::Arc;

use arrow_schema::{DataType as ArrowType, Field, TimeUnit};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::error::ErrorKind;
use crate::schema::FieldId;

fn field(id: i32, name: &str, data_type: DataType) -> DataField {
    DataField {
        id: FieldId(id),
        name: name.to_owned(),
        data_type,
        description: None,
        default_value: None,
    }
}

fn boxed(kind: TypeKind) -> Box<DataType> {
    Box::new(kind.nullable())
}

const STRING: TypeKind = TypeKind::VarChar(MAX_LENGTH);

#[track_caller]
fn check_text(cases: &[(&str, TypeKind)]) {
    for (text, kind) in cases {
        assert_eq!(parse_type(text).unwrap(), kind.clone().nullable(), "{text}");
    }
}

// The tests below have every row of the table in section 2.2.

#[test]
fn numbers_parse() {
    let decimal = |precision, scale| TypeKind::Decimal { precision, scale };
    check_text(&[
        ("BOOLEAN", TypeKind::Boolean),
        ("tinyint", TypeKind::TinyInt),
        ("SMALLINT", TypeKind::SmallInt),
        ("INTEGER", TypeKind::Int),
        ("BIGINT NULL", TypeKind::BigInt),
        ("FLOAT", TypeKind::Float),
        ("DOUBLE", TypeKind::Double),
        ("DOUBLE  PRECISION", TypeKind::Double),
        ("DECIMAL", decimal(10, 0)),
        ("DEC(5)", decimal(5, 0)),
        ("NUMERIC ( 38 , 38 )", decimal(38, 38)),
    ]);
}

#[test]
fn text_and_bytes_parse() {
    check_text(&[
        ("CHAR", TypeKind::Char(1)),
        ("CHAR(5)", TypeKind::Char(5)),
        ("VARCHAR", TypeKind::VarChar(1)), // TF-025
        ("VARCHAR(2147483647)", STRING),
        ("String", STRING),
        ("BINARY", TypeKind::Binary(1)),
        ("VARBINARY", TypeKind::VarBinary(1)),
        ("BYTES", TypeKind::VarBinary(MAX_LENGTH)),
        ("VARIANT", TypeKind::Variant),
        ("BLOB", TypeKind::Blob),
    ]);
}

#[test]
fn dates_and_times_parse() {
    check_text(&[
        ("DATE", TypeKind::Date),
        ("TIME", TypeKind::Time(0)),
        ("TIME(3) WITHOUT TIME ZONE", TypeKind::Time(3)),
        ("TIMESTAMP", TypeKind::Timestamp(6)),
        ("TIMESTAMP(9) WITHOUT TIME ZONE", TypeKind::Timestamp(9)),
        ("TIMESTAMP_LTZ", TypeKind::LocalZonedTimestamp(6)),
        ("TIMESTAMP_LTZ(3)", TypeKind::LocalZonedTimestamp(3)), // TF-028
        (
            "TIMESTAMP(3) WITH LOCAL TIME ZONE",
            TypeKind::LocalZonedTimestamp(3),
        ),
    ]);
}

#[test]
fn geometries_and_suffixes_parse() {
    let geography = |crs: &str, algorithm: &str| TypeKind::Geography {
        crs: crs.into(),
        algorithm: algorithm.into(),
    };
    check_text(&[
        ("GEOMETRY", TypeKind::Geometry("OGC:CRS84".into())),
        ("GEOMETRY('a\'\'b, c')", TypeKind::Geometry("a'b, c".into())),
        ("GEOGRAPHY", geography("OGC:CRS84", "spherical")),
        (
            "GEOGRAPHY(EPSG:4326, Karney)",
            geography("EPSG:4326", "karney"),
        ),
        ("INT ARRAY", TypeKind::Array(boxed(TypeKind::Int))), // TF-026
        ("STRING MULTISET", TypeKind::Multiset(boxed(STRING))),
        (
            "VECTOR<FLOAT NOT NULL, 3>",
            TypeKind::Vector {
                element: Box::new(TypeKind::Float.not_null()),
                length: 3,
            },
        ),
    ]);
}

#[test]
fn nullability_parses_at_both_levels() {
    assert_eq!(
        parse_type("INT NOT NULL").unwrap(),
        TypeKind::Int.not_null()
    );
    let array = TypeKind::Array(Box::new(TypeKind::Int.not_null())).not_null();
    assert_eq!(parse_type("INT NOT NULL ARRAY NOT NULL").unwrap(), array);
}

#[test]
fn texts_outside_the_grammar_are_refused() {
    let texts = [
        "",
        "ARRAY<INT>",
        "MAP<INT, INT>",
        "ROW<a INT>",
        "ROW",
        "ARRAY",
        "FOO",
        "INT INT",
        "INT NOT",
        "CHAR(0)",
        "CHAR(2147483648)",
        "CHAR(",
        "CHAR()",
        "CHAR(1",
        "VARCHAR(-1)",
        "DECIMAL(39)",
        "DECIMAL(0)",
        "DECIMAL(5, 6)",
        "TIME(10)",
        "TIMESTAMP(10)",
        "TIMESTAMP(3) WITH TIME ZONE",
        "GEOGRAPHY(a, b)",
        "GEOMETRY('')",
        "GEOMETRY('a",
        "INT 'a",
        "VECTOR<STRING, 3>",
        "VECTOR<INT, 0>",
        "VECTOR<VECTOR<INT, 1>, 1>",
        "VECTOR<INT ARRAY, 1>",
        "12",
        "é",
    ];
    for text in texts {
        let error = parse_type(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{text}");
    }
    let error = parse_type("ARRAY<INT>").unwrap_err(); // TF-026
    assert_eq!(error.message(), "type \"ARRAY<INT>\" has no type ARRAY");
}

#[test]
fn nested_types_print_as_sql() {
    // As `columns` of the golden table fmt_types_nested_parquet.
    let inner = TypeKind::Row(vec![
        field(1, "q", TypeKind::BigInt.nullable()),
        field(
            2,
            "d`",
            TypeKind::Decimal {
                precision: 20,
                scale: 2,
            }
            .not_null(),
        ),
    ]);
    let row = TypeKind::Row(vec![
        field(3, "x", TypeKind::Int.nullable()),
        field(4, "w", TypeKind::Array(boxed(inner)).nullable()),
    ]);
    let map = TypeKind::Map(Box::new(STRING.not_null()), boxed(row)).not_null();
    let text = "MAP<STRING NOT NULL, ROW<`x` INT, `w` ARRAY<ROW<`q` BIGINT, `d``` DECIMAL(20, 2) NOT NULL>>>> NOT NULL";
    assert_eq!(map.to_string(), text);
    assert_eq!(
        TypeKind::Multiset(boxed(TypeKind::BigInt)).to_string(),
        "MULTISET<BIGINT>"
    );
    let mut described = field(1, "a", TypeKind::Int.nullable());
    described.description = Some("it's".to_owned());
    described.default_value = Some("5".to_owned());
    assert_eq!(
        TypeKind::Row(vec![described]).to_string(),
        "ROW<`a` INT COMMENT 'it''s' DEFAULT 5>"
    );
}

#[test]
fn nested_types_in_json() {
    let row = TypeKind::Row(vec![
        field(2, "x", TypeKind::Int.nullable()),
        field(3, "y", STRING.nullable()),
    ]);
    let vector = TypeKind::Vector {
        element: boxed(TypeKind::Double),
        length: 7,
    };
    let cases = [
        (
            json!({"type": "ARRAY", "element": "INT"}),
            TypeKind::Array(boxed(TypeKind::Int)).nullable(),
        ),
        (
            json!({"type": "MULTISET", "element": "INT"}),
            TypeKind::Multiset(boxed(TypeKind::Int)).nullable(),
        ),
        (
            json!({"type": "VECTOR", "element": "DOUBLE", "length": 7}),
            vector.nullable(),
        ),
        (
            json!({"type": "MAP NOT NULL", "key": "STRING NOT NULL", "value": "INT"}),
            TypeKind::Map(Box::new(STRING.not_null()), boxed(TypeKind::Int)).not_null(),
        ),
        // TF-027
        (
            json!({"type": "ROW NOT NULL", "fields": [
                {"id": 2, "name": "x", "type": "INT"}, {"id": 3, "name": "y", "type": "STRING"}]}),
            row.not_null(),
        ),
        (
            json!("DECIMAL(10, 2) NOT NULL"),
            TypeKind::Decimal {
                precision: 10,
                scale: 2,
            }
            .not_null(),
        ),
    ];
    for (value, expected) in cases {
        let parsed: DataType = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(parsed, expected);
        assert_eq!(serde_json::to_value(&parsed).unwrap(), value);
    }
    let bad = [
        json!({"type": "ARRAY"}),
        json!({"type": "LIST", "element": "INT"}),
        json!({"type": "VECTOR", "element": "INT", "length": -1}),
        json!({"type": "ROW", "fields": {}}),
        json!({"type": "ROW", "fields": [{"id": 3_000_000_000u32, "name": "a", "type": "INT"}]}),
        json!({"element": "INT"}),
        json!(7),
    ];
    for value in bad {
        assert!(
            serde_json::from_value::<DataType>(value.clone()).is_err(),
            "{value}"
        );
    }
}

#[test]
fn hostile_nesting_is_refused() {
    let nested = |depth| {
        format!(
            "{}\"INT\"{}",
            r#"{"type":"ARRAY","element":"#.repeat(depth),
            "}".repeat(depth)
        )
    };
    assert!(serde_json::from_str::<DataType>(&nested(100)).is_ok());
    let error = serde_json::from_str::<DataType>(&nested(101)).unwrap_err();
    assert!(
        error.to_string().contains("nested more than 100 deep"),
        "{error}"
    );
    assert!(serde_json::from_str::<DataType>(&nested(100_000)).is_err());
}

#[track_caller]
fn check_arrow(cases: &[(TypeKind, ArrowType)]) {
    for (kind, expected) in cases {
        let arrow = kind
            .clone()
            .nullable()
            .to_arrow(StringLayout::Offset32)
            .unwrap();
        assert_eq!(&arrow, expected, "{kind}");
    }
}

// The tests below have every row of the table in section 8.1.

#[test]
fn numbers_in_arrow() {
    let decimal = |precision, scale| TypeKind::Decimal { precision, scale };
    check_arrow(&[
        (TypeKind::Boolean, ArrowType::Boolean),
        (TypeKind::TinyInt, ArrowType::Int8),
        (TypeKind::SmallInt, ArrowType::Int16),
        (TypeKind::Int, ArrowType::Int32),
        (TypeKind::BigInt, ArrowType::Int64),
        (TypeKind::Float, ArrowType::Float32),
        (TypeKind::Double, ArrowType::Float64),
        (decimal(9, 2), ArrowType::Decimal128(9, 2)),
        (decimal(18, 0), ArrowType::Decimal128(18, 0)),
        (decimal(38, 38), ArrowType::Decimal128(38, 38)),
    ]);
}

#[test]
fn text_and_bytes_in_arrow() {
    let geography = TypeKind::Geography {
        crs: "a".into(),
        algorithm: "karney".into(),
    };
    let bytes = |name: &str| Field::new(name, ArrowType::Binary, false);
    check_arrow(&[
        (TypeKind::Char(3), ArrowType::Utf8),
        (STRING, ArrowType::Utf8),
        (TypeKind::Binary(3), ArrowType::Binary),
        (TypeKind::VarBinary(3), ArrowType::Binary),
        (TypeKind::Blob, ArrowType::Binary),
        (TypeKind::Geometry("a".into()), ArrowType::Binary),
        (geography, ArrowType::Binary),
        (
            TypeKind::Variant,
            ArrowType::Struct(vec![bytes("value"), bytes("metadata")].into()),
        ),
    ]);
}

#[test]
fn dates_and_times_in_arrow() {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    check_arrow(&[
        (TypeKind::Date, ArrowType::Date32),
        (TypeKind::Time(0), ArrowType::Time32(Millisecond)),
        (TypeKind::Time(9), ArrowType::Time32(Millisecond)),
    ]);
    let units = [
        (0, Second),
        (1, Millisecond),
        (3, Millisecond),
        (4, Microsecond),
        (6, Microsecond),
        (7, Nanosecond),
        (9, Nanosecond),
    ];
    for (precision, unit) in units {
        check_arrow(&[
            (
                TypeKind::Timestamp(precision),
                ArrowType::Timestamp(unit, None),
            ),
            (
                TypeKind::LocalZonedTimestamp(precision),
                ArrowType::Timestamp(unit, Some(Arc::from("UTC"))),
            ),
        ]);
    }
}

#[test]
fn nested_types_in_arrow() {
    let list = |name: &str, data_type, nullable| Arc::new(Field::new(name, data_type, nullable));
    let map = |value: Field| {
        let entry =
            ArrowType::Struct(vec![Field::new("key", ArrowType::Utf8, false), value].into());
        ArrowType::Map(list("entries", entry, false), false)
    };
    let id = [("PARQUET:field_id".to_owned(), "7".to_owned())];
    let a = Field::new("a", ArrowType::Int32, false).with_metadata(id.into());
    let vector = TypeKind::Vector {
        element: Box::new(TypeKind::Float.not_null()),
        length: 4,
    };
    let counts = Field::new("value", ArrowType::Int32, false);
    let values = Field::new("value", ArrowType::Int32, true);
    check_arrow(&[
        (
            TypeKind::Array(boxed(TypeKind::Int)),
            ArrowType::List(list("element", ArrowType::Int32, true)),
        ),
        (
            vector,
            ArrowType::FixedSizeList(list("element", ArrowType::Float32, false), 4),
        ),
        (
            TypeKind::Map(boxed(STRING), boxed(TypeKind::Int)),
            map(values),
        ),
        (TypeKind::Multiset(boxed(STRING)), map(counts)),
        (
            TypeKind::Row(vec![field(7, "a", TypeKind::Int.not_null())]),
            ArrowType::Struct(vec![a].into()),
        ),
    ]);
}

#[test]
fn text_and_bytes_follow_the_layout_everywhere() {
    let nested = TypeKind::Map(
        boxed(STRING),
        boxed(TypeKind::Array(boxed(TypeKind::VarBinary(9)))),
    )
    .nullable();
    let view = nested
        .to_arrow(StringLayout::default())
        .unwrap()
        .to_string();
    assert!(
        view.contains("Utf8View") && view.contains("BinaryView"),
        "{view}"
    );
    let large = nested.to_arrow(StringLayout::Offset64).unwrap().to_string();
    assert!(
        large.contains("LargeUtf8") && large.contains("LargeBinary"),
        "{large}"
    );
}

#[test]
fn fields_carry_name_nullability_and_id() {
    let columns = [
        field(4, "k", TypeKind::BigInt.not_null()),
        field(9, "v", STRING.nullable()),
    ];
    let schema = arrow_schema(&columns, StringLayout::View).unwrap();
    assert_eq!(
        schema
            .field(0)
            .metadata()
            .get("PARQUET:field_id")
            .map(String::as_str),
        Some("4")
    );
    assert!(!schema.field(0).is_nullable() && schema.field(1).is_nullable());
    for (column, arrow) in columns.iter().zip(schema.fields()) {
        assert_eq!(&DataField::from_arrow(arrow).unwrap(), column);
    }
}

#[test]
fn arrow_types_without_one_meaning_are_unsupported() {
    let types = [
        ArrowType::UInt8,
        ArrowType::Decimal128(10, -1),
        ArrowType::Decimal256(50, 0),
        ArrowType::Time64(TimeUnit::Nanosecond),
        ArrowType::Dictionary(Box::new(ArrowType::Int32), Box::new(ArrowType::Utf8)),
        ArrowType::Struct(vec![Field::new("a", ArrowType::Int32, true)].into()),
        ArrowType::FixedSizeList(Arc::new(Field::new("e", ArrowType::Utf8, true)), 3),
    ];
    for data_type in types {
        let error = DataType::from_arrow(&Field::new("f", data_type.clone(), true)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{data_type}");
    }
}

fn scalar() -> BoxedStrategy<TypeKind> {
    let plain = [
        TypeKind::Boolean,
        TypeKind::TinyInt,
        TypeKind::SmallInt,
        TypeKind::Int,
        TypeKind::BigInt,
        TypeKind::Float,
        TypeKind::Double,
        TypeKind::Date,
        TypeKind::Variant,
        TypeKind::Blob,
        STRING,
        TypeKind::VarBinary(MAX_LENGTH),
    ];
    prop_oneof![
        proptest::sample::select(plain.to_vec()),
        (1u8..=38, 0u8..=38).prop_map(|(precision, scale)| TypeKind::Decimal {
            precision,
            scale: scale.min(precision)
        }),
        (1..=MAX_LENGTH, 0..4).prop_map(|(length, choice)| match choice {
            0 => TypeKind::Char(length),
            1 => TypeKind::VarChar(length),
            2 => TypeKind::Binary(length),
            _ => TypeKind::VarBinary(length),
        }),
        (0u8..=9, 0..3).prop_map(|(precision, choice)| match choice {
            0 => TypeKind::Time(precision),
            1 => TypeKind::Timestamp(precision),
            _ => TypeKind::LocalZonedTimestamp(precision),
        }),
        "[a-zA-Z0-9:'<>(),. `]{1,8}".prop_map(TypeKind::Geometry),
        "[A-Z]{1,4}:[0-9]{1,4}".prop_map(|crs| TypeKind::Geography {
            crs,
            algorithm: "thomas".to_owned()
        }),
        (1..=MAX_LENGTH, any::<bool>()).prop_map(|(length, nullable)| TypeKind::Vector {
            element: Box::new(DataType {
                kind: TypeKind::Float,
                nullable
            }),
            length,
        }),
    ]
    .boxed()
}

fn any_type() -> impl Strategy<Value = DataType> {
    let nullable = |kind: BoxedStrategy<TypeKind>| {
        (kind, any::<bool>()).prop_map(|(kind, nullable)| DataType { kind, nullable })
    };
    nullable(scalar()).prop_recursive(4, 24, 4, move |inner| {
        let inner = inner.boxed();
        let fields =
            proptest::collection::vec(("[a-z`\"é]{1,5}", inner.clone(), any::<i32>()), 1..4);
        let kind = prop_oneof![
            inner
                .clone()
                .prop_map(|element| TypeKind::Array(Box::new(element))),
            inner
                .clone()
                .prop_map(|element| TypeKind::Multiset(Box::new(element))),
            (inner.clone(), inner)
                .prop_map(|(key, value)| TypeKind::Map(Box::new(key), Box::new(value))),
            fields.prop_map(|fields| {
                TypeKind::Row(
                    fields
                        .into_iter()
                        .map(|(name, data_type, id)| field(id, &name, data_type))
                        .collect(),
                )
            }),
        ];
        nullable(kind.boxed())
    })
}

proptest! {
    #[test]
    fn canonical_text_reads_back(kind in scalar(), nullable in any::<bool>()) {
        let data_type = DataType { kind, nullable };
        prop_assert_eq!(parse_type(&data_type.to_string()).unwrap(), data_type);
    }

    #[test]
    fn json_reads_back(data_type in any_type()) {
        let text = serde_json::to_string(&data_type).unwrap();
        prop_assert_eq!(serde_json::from_str::<DataType>(&text).unwrap(), data_type);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "[A-Z_ a-z0-9<>(),.'`é]{0,40}") {
        let _ = parse_type(&text);
    }
}
