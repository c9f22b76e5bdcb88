//! Values as indexes know them: numbers, or bytes.

use super::Input;
use crate::error::{Error, Result};
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

/// The number of a value in a column of a type that is ordered as numbers are, decimals without their point; floored
/// where the index is coarser ([`is_whole`]). `None` for other types, and where the number has more than 64 bits.
pub(super) fn number_of(value: &Datum, data_type: &DataType) -> Option<i64> {
    match (value, &data_type.kind) {
        (Datum::Decimal(unscaled, scale), TypeKind::Decimal { scale: own, .. }) => {
            (scale == own).then(|| i64::try_from(*unscaled).ok())?
        }
        (
            Datum::TinyInt(_)
            | Datum::SmallInt(_)
            | Datum::Int(_)
            | Datum::BigInt(_)
            | Datum::Date(_)
            | Datum::Time(_)
            | Datum::Timestamp { .. },
            _,
        ) => match key_of(value, data_type)? {
            Key::Number(number) => Some(number),
            Key::Bytes(_) => None,
        },
        _ => None,
    }
}

/// Whether every value of the type has a number of its own: indexes count no finer than microseconds.
pub(super) fn is_exact(data_type: &DataType) -> bool {
    precision(data_type).is_none_or(|precision| precision <= 6)
}

/// Whether nothing is lost where a value becomes a number of the type.
pub(super) fn is_whole(value: &Datum, data_type: &DataType) -> bool {
    match value {
        Datum::Timestamp { nanos, .. } => match precision(data_type) {
            Some(0..=3) => *nanos == 0,
            _ => nanos % 1000 == 0,
        },
        _ => true,
    }
}

/// Whether values of the type are kept in dictionaries.
pub(super) fn is_in_dictionaries(data_type: &DataType) -> bool {
    match data_type.kind {
        TypeKind::Boolean
        | TypeKind::TinyInt
        | TypeKind::SmallInt
        | TypeKind::Int
        | TypeKind::BigInt
        | TypeKind::Float
        | TypeKind::Double
        | TypeKind::Date
        | TypeKind::Time(_)
        | TypeKind::Char(_)
        | TypeKind::VarChar(_) => true,
        TypeKind::Decimal { precision, .. } => precision <= 18,
        TypeKind::Timestamp(_) | TypeKind::LocalZonedTimestamp(_) => is_exact(data_type),
        _ => false,
    }
}

/// A value of a dictionary.
///
/// # Errors
/// `Corrupt` if it is cut short or text is no UTF-8; `Internal` for types that are not [kept](is_in_dictionaries).
pub(super) fn datum_of(input: &mut Input<'_>, data_type: &DataType) -> Result<Datum> {
    let int = |input: &mut Input<'_>| input.take().map(i32::from_be_bytes);
    let long = |input: &mut Input<'_>| input.take().map(i64::from_be_bytes);
    Ok(match data_type.kind {
        TypeKind::Boolean => Datum::Boolean(input.byte()? == 1),
        TypeKind::TinyInt => Datum::TinyInt(input.byte()?.cast_signed()),
        TypeKind::SmallInt => Datum::SmallInt(i16::from_be_bytes(input.take()?)),
        TypeKind::Int => Datum::Int(int(input)?),
        TypeKind::Date => Datum::Date(int(input)?),
        TypeKind::Time(_) => Datum::Time(int(input)?),
        TypeKind::BigInt => Datum::BigInt(long(input)?),
        TypeKind::Float => Datum::Float(f32::from_be_bytes(input.take()?)),
        TypeKind::Double => Datum::Double(f64::from_be_bytes(input.take()?)),
        TypeKind::Decimal { scale, .. } => Datum::Decimal(i128::from(long(input)?), scale),
        TypeKind::Timestamp(0..=3) | TypeKind::LocalZonedTimestamp(0..=3) => Datum::Timestamp {
            millis: long(input)?,
            nanos: 0,
        },
        TypeKind::Timestamp(_) | TypeKind::LocalZonedTimestamp(_) => {
            let micros = long(input)?;
            Datum::Timestamp {
                millis: micros.div_euclid(1000),
                nanos: i32::try_from(micros.rem_euclid(1000) * 1000).unwrap_or_default(),
            }
        }
        TypeKind::Char(_) | TypeKind::VarChar(_) => {
            let length = input.int()? as usize;
            let text = std::str::from_utf8(input.bytes(length)?);
            let text = text.map_err(|error| {
                Error::corrupt("text in the file index is no UTF-8").with_source(error)
            })?;
            Datum::String(text.to_owned())
        }
        _ => return Err(Error::internal("a dictionary of another type")),
    })
}
