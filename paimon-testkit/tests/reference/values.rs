//! Types of columns and their values, by number.

use serde_json::{Value, json};

use crate::random::Random;

pub(crate) const KEY_TYPES: [&str; 8] = [
    "BIGINT",
    "INT",
    "STRING",
    "DATE",
    "DECIMAL(10, 2)",
    "TIMESTAMP(3)",
    "SMALLINT",
    "BYTES",
];

pub(crate) const VALUE_TYPES: [&str; 14] = [
    "INT",
    "BIGINT",
    "STRING",
    "DOUBLE",
    "FLOAT",
    "BOOLEAN",
    "DECIMAL(24, 3)",
    "DATE",
    "TIME",
    "TIMESTAMP(6)",
    "TIMESTAMP(3) WITH LOCAL TIME ZONE",
    "TINYINT",
    "CHAR(3)",
    "VARBINARY(5)",
];

/// Types of columns that only functions take, by a short name.
pub(crate) const NESTED_TYPES: [&str; 3] = ["list", "map", "table"];

/// The type behind a short name; others are their own.
pub(crate) fn type_of(name: &str) -> Value {
    match name {
        "list" => json!({ "type": "ARRAY", "element": "INT" }),
        "map" => json!({ "type": "MAP", "key": "STRING NOT NULL", "value": "INT" }),
        "table" => {
            let fields = ["a", "b"].map(|name| json!({ "name": name, "type": "INT" }));
            json!({ "type": "ARRAY", "element": { "type": "ROW", "fields": fields } })
        }
        name => Value::from(name),
    }
}

/// A value of a column that is no key.
pub(crate) fn any(random: &mut Random, data_type: &str) -> Value {
    if random.one_in(4) {
        return Value::Null;
    }
    let small = |random: &mut Random| match random.below(5) {
        0 => Value::Null,
        number => Value::from(number),
    };
    let count = random.below(4);
    match data_type {
        "list" => (0..count).map(|_| small(random)).collect(),
        "map" => {
            let keys = ["a", "b", "c", "d"]
                .iter()
                .take(usize::try_from(count).unwrap());
            keys.map(|key| json!([key, small(random)])).collect()
        }
        // Keys of nested rows are there once.
        "table" => {
            let first = random.below(3);
            (first..first + count)
                .map(|key| json!([key, small(random)]))
                .collect()
        }
        _ => {
            let number = random.below(8);
            value(data_type, number)
        }
    }
}

/// The `number`-th value of a type.
pub(crate) fn value(data_type: &str, number: u64) -> Value {
    let base = data_type.trim_end_matches(" NOT NULL");
    match base {
        "BOOLEAN" => Value::from(number.is_multiple_of(2)),
        "STRING" => Value::from(
            ["", "a", "ab", "é", "z", "zz"][usize::try_from(number % 6).unwrap()].to_owned()
                + &"k".repeat(usize::try_from(number / 6).unwrap()),
        ),
        "CHAR(3)" => Value::from(format!("{number:03}")),
        "BYTES" | "VARBINARY(5)" => Value::from(format!("{:02x}{:02x}", 0x20 + number, number)),
        "DATE" => Value::from(format!(
            "19{:02}-02-{:02}",
            60 + number % 40,
            1 + number % 28
        )),
        "TIME" => Value::from(format!("{:02}:00:01", number % 24)),
        "DECIMAL(10, 2)" => Value::from(format!("{}.50", i64::try_from(number).unwrap() - 5)),
        "DECIMAL(24, 3)" => Value::from(format!("-12345678901234567{number}.125")),
        "DOUBLE" | "FLOAT" => match number {
            0 => Value::from("NaN"),
            1 => Value::from(-0.0),
            2 => Value::from("-Infinity"),
            _ => Value::from(0.25 * number as f64),
        },
        _ if base.starts_with("TIMESTAMP(3) WITH") => {
            Value::from(format!("1969-12-31T23:59:{:02}.001Z", number % 60))
        }
        _ if base.starts_with("TIMESTAMP") => {
            Value::from(format!("19{:02}-01-02T03:04:05.12", 65 + number % 30))
        }
        _ => Value::from(i64::try_from(number).unwrap() - 3),
    }
}
