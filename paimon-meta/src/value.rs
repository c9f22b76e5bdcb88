//! Single values of scalar types, and their order.

mod cast;
mod parse;
mod spelled;
mod text;

#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

pub use spelled::{java_text, sql_text};
pub use text::{double_text, float_text};

/// A non-null value of a scalar type. Null is `Option::None` wherever a value may be null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Datum {
    /// `BOOLEAN`.
    Boolean(bool),
    /// `TINYINT`.
    TinyInt(i8),
    /// `SMALLINT`.
    SmallInt(i16),
    /// `INT`.
    Int(i32),
    /// `BIGINT`.
    BigInt(i64),
    /// `FLOAT`.
    Float(#[serde(with = "float_serde")] f32),
    /// `DOUBLE`.
    Double(#[serde(with = "float_serde")] f64),
    /// `DECIMAL`: the unscaled value and the digits after the point.
    Decimal(i128, u8),
    /// `CHAR` or `VARCHAR`.
    String(String),
    /// `BINARY` or `VARBINARY`.
    Binary(Vec<u8>),
    /// `DATE`, days since the epoch.
    Date(i32),
    /// `TIME`, milliseconds of the day.
    Time(i32),
    /// `TIMESTAMP` and `TIMESTAMP WITH LOCAL TIME ZONE`: floored milliseconds since the epoch (wall clock or UTC) and
    /// 0 to 999,999 nanoseconds within the millisecond.
    Timestamp {
        /// Floored milliseconds since the epoch.
        millis: i64,
        /// Nanoseconds within the millisecond.
        nanos: i32,
    },
}

/// Floats in text formats as their own text, for JSON has no NaN and no infinity.
mod float_serde {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<T, S>(value: &T, serializer: S) -> Result<S::Ok, S::Error>
    where
        T: Copy + Display + Serialize,
        S: Serializer,
    {
        if serializer.is_human_readable() {
            serializer.collect_str(value)
        } else {
            value.serialize(serializer)
        }
    }

    pub(super) fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display> + Deserialize<'de>,
        D: Deserializer<'de>,
    {
        if deserializer.is_human_readable() {
            String::deserialize(deserializer)?
                .parse()
                .map_err(D::Error::custom)
        } else {
            T::deserialize(deserializer)
        }
    }
}

impl Datum {
    /// The order of keys, sequence fields, statistics and predicates (ME section 1.2): floats in Java's total order
    /// (-0.0 below 0.0, NaN largest and equal to itself), text and binary by unsigned bytes, decimals by number.
    /// `None` for values of different types.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        Some(match (self, other) {
            (Self::Boolean(a), Self::Boolean(b)) => a.cmp(b),
            (Self::TinyInt(a), Self::TinyInt(b)) => a.cmp(b),
            (Self::SmallInt(a), Self::SmallInt(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b))
            | (Self::Date(a), Self::Date(b))
            | (Self::Time(a), Self::Time(b)) => a.cmp(b),
            (Self::BigInt(a), Self::BigInt(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => float_order(f64::from(*a), f64::from(*b)),
            (Self::Double(a), Self::Double(b)) => float_order(*a, *b),
            (Self::Decimal(a, scale_a), Self::Decimal(b, scale_b)) => {
                decimal_order(*a, *scale_a, *b, *scale_b)
            }
            (Self::String(a), Self::String(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Self::Binary(a), Self::Binary(b)) => a.cmp(b),
            (
                Self::Timestamp {
                    millis: a,
                    nanos: an,
                },
                Self::Timestamp {
                    millis: b,
                    nanos: bn,
                },
            ) => (a, an).cmp(&(b, bn)),
            _ => return None,
        })
    }
}

/// Java's total order of doubles: every NaN equal and largest, -0.0 below 0.0.
pub fn float_order(a: f64, b: f64) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => a.total_cmp(&b),
    }
}

fn decimal_order(a: i128, scale_a: u8, b: i128, scale_b: u8) -> Ordering {
    if scale_a > scale_b {
        return decimal_order(b, scale_b, a, scale_a).reverse();
    }
    // Bring the left side to the larger scale; where that overflows it is the larger magnitude, so its sign decides.
    let factor = 10i128.checked_pow(u32::from(scale_b - scale_a));
    match factor.and_then(|factor| a.checked_mul(factor)) {
        Some(raised) => raised.cmp(&b),
        None if a == 0 => 0.cmp(&b),
        None => a.cmp(&0),
    }
}
