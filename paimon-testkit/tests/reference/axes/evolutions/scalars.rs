//! Scalar types, those that each may become, and values that can be cast.

use serde_json::Value;

use crate::random::Random;

/// Types that columns begin with, each with those that it may become (table-format section 8.3). Texts are numbers, so
/// that they can become some.
pub(super) const SCALARS: [(&str, &[&str]); 15] = [
    (
        "TINYINT",
        &[
            "INT",
            "BIGINT",
            "DOUBLE",
            "DECIMAL(10, 2)",
            "STRING",
            "BOOLEAN",
        ],
    ),
    (
        "SMALLINT",
        &[
            "TINYINT",
            "INT",
            "FLOAT",
            "DECIMAL(3, 1)",
            "VARCHAR(2)",
            "BOOLEAN",
        ],
    ),
    (
        "INT",
        &[
            "TINYINT",
            "SMALLINT",
            "BIGINT",
            "FLOAT",
            "DOUBLE",
            "DECIMAL(5, 0)",
            "STRING",
            "CHAR(4)",
            "BOOLEAN",
            "TIMESTAMP(3)",
        ],
    ),
    (
        "BIGINT",
        &[
            "INT",
            "SMALLINT",
            "DOUBLE",
            "DECIMAL(38, 18)",
            "STRING",
            "VARCHAR(3)",
            "TIMESTAMP(6) WITH LOCAL TIME ZONE",
        ],
    ),
    ("FLOAT", &["DOUBLE", "INT", "TINYINT", "STRING"]),
    ("DOUBLE", &["FLOAT", "BIGINT", "SMALLINT", "STRING"]),
    (
        "DECIMAL(10, 2)",
        &[
            "DECIMAL(12, 4)",
            "DECIMAL(38, 0)",
            "DECIMAL(6, 1)",
            "INT",
            "TINYINT",
            "DOUBLE",
            "FLOAT",
            "STRING",
        ],
    ),
    (
        "DECIMAL(30, 5)",
        &[
            "DECIMAL(38, 10)",
            "DECIMAL(10, 2)",
            "BIGINT",
            "DOUBLE",
            "STRING",
        ],
    ),
    (
        "BOOLEAN",
        &["INT", "TINYINT", "DOUBLE", "DECIMAL(5, 2)", "STRING"],
    ),
    (
        "STRING",
        &[
            "INT",
            "BIGINT",
            "DOUBLE",
            "FLOAT",
            "DECIMAL(10, 2)",
            "VARCHAR(2)",
            "CHAR(5)",
            "VARBINARY(3)",
            "BINARY(4)",
        ],
    ),
    (
        "DATE",
        &[
            "STRING",
            "TIMESTAMP(0)",
            "TIMESTAMP(6)",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE",
        ],
    ),
    ("TIME(3)", &["STRING", "TIMESTAMP(3)"]),
    (
        "TIMESTAMP(3)",
        &[
            "DATE",
            "TIME(3)",
            "STRING",
            "TIMESTAMP(6)",
            "TIMESTAMP(0)",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE",
            "BIGINT",
        ],
    ),
    (
        "TIMESTAMP(6) WITH LOCAL TIME ZONE",
        &[
            "DATE",
            "STRING",
            "TIMESTAMP(6)",
            "BIGINT",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE",
        ],
    ),
    ("VARBINARY(6)", &["BINARY(3)", "VARBINARY(2)", "STRING"]),
];

/// A scalar type, and those that it was before: old files are cast from each of them.
#[derive(Clone)]
pub(super) struct Scalar {
    pub(super) name: &'static str,
    before: Vec<&'static str>,
}

impl Scalar {
    pub(super) fn new(name: &'static str) -> Self {
        Self {
            name,
            before: Vec::new(),
        }
    }

    /// Becomes another type, if there is one that all files can be cast to.
    pub(super) fn change(&mut self, random: &mut Random) -> bool {
        self.before.push(self.name);
        let targets = |name: &str| SCALARS.iter().find(|(known, _)| *known == name);
        let casts = |to: &&'static str| {
            self.before.iter().all(|from| {
                from == to || targets(from).is_some_and(|(_, targets)| targets.contains(to))
            })
        };
        let current = targets(self.name).map_or(&[][..], |(_, targets)| targets);
        let possible: Vec<&'static str> = current.iter().copied().filter(casts).collect();
        if possible.is_empty() {
            return false;
        }
        self.name = random.pick(&possible);
        true
    }
}

/// A value that casts to other types without an error.
pub(super) fn scalar(name: &str, random: &mut Random) -> Value {
    let number = random.below(9);
    let at = |values: &[&str]| Value::from(values[usize::try_from(number).unwrap() % values.len()]);
    let integer =
        |values: &[i64]| Value::from(values[usize::try_from(number).unwrap() % values.len()]);
    match name.split('(').next().unwrap_or_default() {
        "TINYINT" => integer(&[0, 1, -1, 9, 10, 127, -128]),
        "SMALLINT" => integer(&[0, 9, 10, 128, -129, 32_767]),
        "INT" => integer(&[0, -7, 9, 10, 11, 300, 40_000, 2_147_483_647]),
        "BIGINT" => integer(&[0, 9, -10, 11, 70_000, 3_000_000_000, -5_000_000_000]),
        "FLOAT" => at(&["0.5", "-0.0", "-2.75", "300.25", "40000", "1.0E10", "NaN"]),
        "DOUBLE" => at(&[
            "0.1", "-0.0", "9.99", "-300.5", "1.0E10", "1.0E20", "NaN", "Infinity",
        ]),
        "DECIMAL" if name == "DECIMAL(3, 1)" => at(&["0.5", "-9.9", "12.3"]),
        "DECIMAL" if name.ends_with("0)") => at(&["5", "-9", "77"]),
        "DECIMAL" => at(&["0.05", "9.95", "-10.50", "127.50", "300.00", "-0.50"]),
        "BOOLEAN" => Value::from(number.is_multiple_of(2)),
        "STRING" | "VARCHAR" => at(&["9", "10", "-7", "11", "0"]),
        "CHAR" => at(&["9", "10", "12"]),
        "DATE" => at(&["1970-01-01", "1999-12-31", "2024-02-29", "1969-12-31"]),
        "TIME" => at(&["00:00:00", "12:34:56.789", "23:59:59.1"]),
        "TIMESTAMP" if name.ends_with("ZONE") => at(&[
            "1970-01-01T00:00:00Z",
            "2024-02-29T12:34:56.789Z",
            "2001-01-01T00:00:01.5Z",
        ]),
        "TIMESTAMP" if name.starts_with("TIMESTAMP(0") => {
            at(&["1970-01-01T00:00:00", "2024-02-29T12:34:56"])
        }
        "TIMESTAMP" => at(&[
            "1970-01-01T00:00:00",
            "2024-02-29T12:34:56.789",
            "2001-01-01T00:00:01.5",
        ]),
        _ => at(&["31", "3132", "", "333435"]),
    }
}
