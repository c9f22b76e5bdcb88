//! Values from the text that a person or a command line writes.

use crate::binary_row::from_hex;
use crate::calendar::{Clock, days_of};
use crate::error::{Error, Result};
use crate::types::{DataType, TypeKind};
use crate::value::Datum;

impl Datum {
    /// The value that a text means for a type; text values are taken as they are, without quotes.
    ///
    /// | type | text |
    /// |---|---|
    /// | `BOOLEAN` | `true`, `false` in any case |
    /// | integers | an optional sign and digits |
    /// | `FLOAT`, `DOUBLE` | a number with optional exponent, `NaN`, `Infinity` |
    /// | `DECIMAL` | digits with optional point; digits beyond the scale must be 0 |
    /// | `BINARY`, `VARBINARY` | hex digits of either case |
    /// | `DATE` | `2024-01-31` |
    /// | `TIME` | `13:05`, with optional seconds and fraction |
    /// | `TIMESTAMP` | a date, or a date, space or `T`, and a time |
    /// | `TIMESTAMP … WITH LOCAL TIME ZONE` | the same in UTC, `Z` at the end is optional |
    ///
    /// # Errors
    /// `InvalidInput` if the text is none of the type or does not fit it without loss, `Unsupported` for types that are
    /// not [scalar](TypeKind::is_scalar).
    pub fn parse(text: &str, data_type: &DataType) -> Result<Self> {
        if !data_type.kind.is_scalar() {
            return Err(Error::unsupported(format!("literals of type {data_type}")));
        }
        parse(text, &data_type.kind).ok_or_else(|| {
            Error::invalid_input(format!(
                "{text:?} is not a value of type {}",
                data_type.kind
            ))
        })
    }
}

fn parse(text: &str, kind: &TypeKind) -> Option<Datum> {
    Some(match kind {
        TypeKind::Boolean if text.eq_ignore_ascii_case("true") => Datum::Boolean(true),
        TypeKind::Boolean if text.eq_ignore_ascii_case("false") => Datum::Boolean(false),
        TypeKind::TinyInt => Datum::TinyInt(text.parse().ok()?),
        TypeKind::SmallInt => Datum::SmallInt(text.parse().ok()?),
        TypeKind::Int => Datum::Int(text.parse().ok()?),
        TypeKind::BigInt => Datum::BigInt(text.parse().ok()?),
        TypeKind::Float => {
            let value: f32 = text.parse().ok()?;
            Datum::Float(Some(value).filter(|value| value.is_finite() || !names_digits(text))?)
        }
        TypeKind::Double => {
            let value: f64 = text.parse().ok()?;
            Datum::Double(Some(value).filter(|value| value.is_finite() || !names_digits(text))?)
        }
        TypeKind::Decimal { precision, scale } => decimal(text)?.fit_decimal(*precision, *scale)?,
        TypeKind::Char(_) | TypeKind::VarChar(_) => Datum::String(text.to_owned()),
        TypeKind::Binary(_) | TypeKind::VarBinary(_) => Datum::Binary(from_hex(text)?),
        TypeKind::Blob | TypeKind::Geometry(_) | TypeKind::Geography { .. } => {
            Datum::Binary(from_hex(text)?)
        }
        TypeKind::Date => Datum::Date(i32::try_from(date(text)?).ok()?),
        TypeKind::Time(_) => {
            let (millis, nanos) = time(text, 0)?.millis_and_nanos()?;
            Datum::Time(i32::try_from(millis).ok().filter(|_| nanos == 0)?)
        }
        TypeKind::Timestamp(precision) => timestamp(text)?.fit_precision(*precision)?,
        TypeKind::LocalZonedTimestamp(precision) => {
            timestamp(text.strip_suffix('Z').unwrap_or(text))?.fit_precision(*precision)?
        }
        _ => return None,
    })
}

/// Whether the text is a number and not the name of one: `1e999` is infinite in binary, but not what was asked for.
fn names_digits(text: &str) -> bool {
    text.contains(|symbol: char| symbol.is_ascii_digit())
}

/// A decimal of the scale that the text has.
fn decimal(text: &str) -> Option<Datum> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = [whole, fraction].concat();
    if whole.is_empty() && !unsigned.starts_with('.') || unsigned == "." || !all_digits(&digits) {
        return None;
    }
    let value: i128 = if digits.is_empty() {
        0
    } else {
        digits.parse().ok()?
    };
    Some(Datum::Decimal(
        if text.starts_with('-') { -value } else { value },
        u8::try_from(fraction.len()).ok()?,
    ))
}

fn all_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number of `least` to `most` digits.
fn number(text: &str, least: usize, most: usize) -> Option<i64> {
    (all_digits(text) && (least..=most).contains(&text.len()))
        .then(|| text.parse().ok())
        .flatten()
}

/// `[+-]yyyy-M-d` as days since the epoch.
fn date(text: &str) -> Option<i64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let mut parts = unsigned.split('-');
    let year = number(parts.next()?, 4, 9)?;
    let (month, day) = (number(parts.next()?, 1, 2)?, number(parts.next()?, 1, 2)?);
    if parts.next().is_some() {
        return None;
    }
    days_of(if text.starts_with('-') { -year } else { year }, month, day)
}

/// `H:m[:s[.f]]` on a day.
fn time(text: &str, days: i64) -> Option<Clock> {
    let (whole, fraction) = text
        .split_once('.')
        .map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
    let mut parts = whole.split(':');
    let (hour, minute) = (number(parts.next()?, 1, 2)?, number(parts.next()?, 1, 2)?);
    let second = parts.next();
    if parts.next().is_some() || second.is_none() && fraction.is_some() {
        return None;
    }
    let second = second.map_or(Some(0), |second| number(second, 1, 2))?;
    let nanos = fraction.map_or(Some(0), |fraction| {
        number(fraction, 1, 9).map(|_| format!("{fraction:0<9}").parse().ok())?
    })?;
    (hour < 24 && minute < 60 && second < 60).then_some(Clock {
        days,
        hour,
        minute,
        second,
        nanos,
    })
}

/// A date, or a date and a time.
fn timestamp(text: &str) -> Option<Datum> {
    let clock = match text.split_once([' ', 'T']) {
        Some((day, of_day)) => time(of_day, date(day)?)?,
        None => Clock {
            days: date(text)?,
            hour: 0,
            minute: 0,
            second: 0,
            nanos: 0,
        },
    };
    let (millis, nanos) = clock.millis_and_nanos()?;
    Some(Datum::Timestamp { millis, nanos })
}
