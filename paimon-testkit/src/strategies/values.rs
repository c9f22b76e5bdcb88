//! Types, and values of them by number: small numbers in the order of the values for most types, and often equal.

use paimon_meta::{DataField, DataType, FieldId, MAX_LENGTH, TypeKind};
use roaring::RoaringBitmap;
use serde_json::{Value, json};

use crate::cell::Cell;

/// The kind of a key column.
pub(super) fn key_kind(seed: u8) -> TypeKind {
    scalar(seed % SCALARS)
}

/// The kind of a partition column, whose values must have a directory name.
pub(super) fn partition_kind(seed: u8) -> TypeKind {
    match seed % 4 {
        0 => TypeKind::Int,
        1 => TypeKind::VarChar(MAX_LENGTH),
        2 => TypeKind::Date,
        _ => TypeKind::Boolean,
    }
}

/// The kind of a value column.
pub(super) fn value_kind(seed: u8) -> TypeKind {
    let child = |id, name: &str, kind: TypeKind| DataField {
        id: FieldId(id),
        name: name.to_owned(),
        data_type: kind.nullable(),
        description: None,
        default_value: None,
    };
    let pair = |x: &str, y: &str| {
        TypeKind::Row(vec![
            child(0, x, TypeKind::Int),
            child(1, y, TypeKind::VarChar(MAX_LENGTH)),
        ])
    };
    match seed % (SCALARS + 5) {
        seed if seed < SCALARS => scalar(seed),
        seed if seed == SCALARS => TypeKind::Array(Box::new(TypeKind::Int.nullable())),
        seed if seed == SCALARS + 1 => TypeKind::Map(
            Box::new(TypeKind::VarChar(MAX_LENGTH).not_null()),
            Box::new(TypeKind::Int.nullable()),
        ),
        seed if seed == SCALARS + 2 => TypeKind::Array(Box::new(pair("x", "y").nullable())),
        seed if seed == SCALARS + 3 => TypeKind::Map(
            Box::new(TypeKind::VarChar(MAX_LENGTH).not_null()),
            Box::new(pair("x", "y").nullable()),
        ),
        _ => pair("x", "y"),
    }
}

const SCALARS: u8 = 20;

fn scalar(seed: u8) -> TypeKind {
    match seed {
        0 | 1 => TypeKind::Int,
        2 => TypeKind::BigInt,
        3 | 4 => TypeKind::VarChar(MAX_LENGTH),
        5 => TypeKind::TinyInt,
        6 => TypeKind::SmallInt,
        7 => TypeKind::Boolean,
        8 => TypeKind::Float,
        9 => TypeKind::Double,
        10 => TypeKind::Decimal {
            precision: 10,
            scale: 2,
        },
        11 => TypeKind::Decimal {
            precision: 38,
            scale: 10,
        },
        12 => TypeKind::Char(30),
        13 => TypeKind::VarBinary(MAX_LENGTH),
        14 => TypeKind::Binary(8),
        15 => TypeKind::Date,
        16 => TypeKind::Time(3),
        17 => TypeKind::Timestamp(3),
        18 => TypeKind::Timestamp(6),
        _ => TypeKind::LocalZonedTimestamp(6),
    }
}

/// The value of a type with a number below 64, in the one form that it has.
pub(super) fn value_of(data_type: &DataType, number: u8) -> Value {
    let value = plain_value(data_type, number);
    let cell = Cell::from_json(&value, data_type);
    cell.and_then(|cell| cell.to_json(data_type))
        .unwrap_or(value)
}

fn plain_value(data_type: &DataType, number: u8) -> Value {
    let n = i64::from(number);
    match &data_type.kind {
        TypeKind::Boolean => json!(n % 2 == 1),
        TypeKind::TinyInt => json!(n - 20),
        TypeKind::SmallInt => json!(n * 300 - 5000),
        TypeKind::Int => json!(n * 100_003 - 2_000_000),
        TypeKind::BigInt => json!((n - 20) * 1_000_000_000_000),
        TypeKind::Float | TypeKind::Double => match n {
            7 => json!("NaN"),
            8 => json!(-0.0),
            9 => json!("-Infinity"),
            10 => json!("Infinity"),
            n => json!((n - 11) * 2),
        },
        TypeKind::Decimal { scale: 2, .. } => json!(format!("{}.25", n - 20)),
        TypeKind::Decimal { .. } => json!(format!("{}0000000000000000000.5", n - 20)),
        TypeKind::Char(_) | TypeKind::VarChar(_) => json!(text(number)),
        TypeKind::Binary(_) => json!(format!("{:02x}ff000000000001", 255 - number)),
        TypeKind::VarBinary(_) => {
            json!("f0".repeat(usize::from(number % 5)) + &format!("{number:02x}"))
        }
        TypeKind::Date => json!(n * 37 - 500),
        TypeKind::Time(_) => json!(n * 1_000_003),
        TypeKind::Timestamp(0..=3) => json!(n * 86_399_999 - 1_000_000_000),
        TypeKind::Timestamp(_) => json!(format!("2024-01-02T03:04:05.{number:06}")),
        TypeKind::LocalZonedTimestamp(_) => json!(format!("19{number:02}-12-31T23:59:59.000001Z")),
        TypeKind::Array(element) if matches!(element.kind, TypeKind::Row(_)) => {
            json!([[n % 3, text(number)], null, [n % 5, null], [null, "a"]])
        }
        TypeKind::Array(_) => json!([n, null, 1]),
        TypeKind::Map(_, value) if matches!(value.kind, TypeKind::Row(_)) => {
            json!([
                ["a", [n, format!("{number:02}")]],
                ["b", null],
                [text(number % 4), [n, null]]
            ])
        }
        TypeKind::Map(..) => json!([["a", n], ["b", null]]),
        TypeKind::Row(_) => json!([n, text(number)]),
        _ => Value::Null,
    }
}

/// The bitmap of a number, as text of its bytes: a few values, or a run.
pub(super) fn bitmap_of(number: u8) -> Value {
    let n = u32::from(number);
    let mut bitmap = if n.is_multiple_of(3) {
        (n..n + 40).collect::<RoaringBitmap>()
    } else {
        RoaringBitmap::from([n, n * 70_000, 7])
    };
    bitmap.optimize();
    let mut bytes = Vec::new();
    // Vectors take all that is written to them.
    let written = bitmap.serialize_into(&mut bytes);
    debug_assert!(written.is_ok(), "a vector refuses bytes");
    Value::from(
        bytes
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>(),
    )
}

/// Empty, short, longer than statistics keep, not ASCII.
fn text(number: u8) -> String {
    match number % 4 {
        _ if number == 1 => String::new(),
        0 => format!("k{number:02}"),
        1 => format!("a long common prefix {number:02}"),
        2 => format!("é😀{number:02}"),
        _ => format!("A{number:02}"),
    }
}
