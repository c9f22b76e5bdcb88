//! Values as indexes know them: numbers, or bytes.

use crate::types::{DataType, TypeKind};
use crate::value::Datum;

/// A value in an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// Booleans as 0 and 1, integers, dates, times of day, timestamps in the unit of their precision, floats by their bits.
    Number(i64),
    /// Text and binary.
    Bytes(Vec<u8>),
}

/// The key of a value in a column of a type; `None` for values that indexes do not know or tell apart otherwise than
/// conditions do.
pub(super) fn key_of(value: &Datum, data_type: &DataType) -> Option<Key> {
    let number = match value {
        Datum::Boolean(value) => i64::from(*value),
        Datum::TinyInt(value) => i64::from(*value),
        Datum::SmallInt(value) => i64::from(*value),
        Datum::Int(value) | Datum::Date(value) | Datum::Time(value) => i64::from(*value),
        Datum::BigInt(value) => *value,
        Datum::Float(value) if value.is_normal() => i64::from(value.to_bits().cast_signed()),
        Datum::Double(value) if value.is_normal() => value.to_bits().cast_signed(),
        Datum::Timestamp { millis, nanos } => match precision(data_type)? {
            0..=3 => *millis,
            _ => millis
                .checked_mul(1000)?
                .checked_add(i64::from(nanos / 1000))?,
        },
        Datum::String(text) => return Some(Key::Bytes(text.clone().into_bytes())),
        Datum::Binary(bytes) => return Some(Key::Bytes(bytes.clone())),
        _ => return None,
    };
    Some(Key::Number(number))
}

fn precision(data_type: &DataType) -> Option<u8> {
    match data_type.kind {
        TypeKind::Timestamp(precision) | TypeKind::LocalZonedTimestamp(precision) => {
            Some(precision)
        }
        _ => None,
    }
}
