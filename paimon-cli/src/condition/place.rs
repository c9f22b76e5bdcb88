//! Where a literal stands among the values of a column's type: on one, between two, or beyond all.

use paimon_meta::{DataType, Datum, Error, Result, TypeKind};

use super::decimal::Exact;
use super::literal::Literal;

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// Where a literal stands among the values of a type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Place<T> {
    /// It is this value.
    At(T),
    /// It is above this value and below the next.
    After(T),
    /// It is below all of them.
    BelowAll,
    /// It is above all of them.
    AboveAll,
}

impl<T> Place<T> {
    /// The place among values of another type, of which some may be missing at both ends.
    fn try_map<U>(
        self,
        is_negative: impl Fn(&T) -> bool,
        map: impl Fn(T) -> Option<U>,
    ) -> Place<U> {
        let beyond = |negative| {
            if negative {
                Place::BelowAll
            } else {
                Place::AboveAll
            }
        };
        match self {
            Self::At(value) => {
                let negative = is_negative(&value);
                map(value).map_or(beyond(negative), Place::At)
            }
            Self::After(value) => {
                let negative = is_negative(&value);
                map(value).map_or(beyond(negative), Place::After)
            }
            Self::BelowAll => Place::BelowAll,
            Self::AboveAll => Place::AboveAll,
        }
    }
}

/// The place of a literal; `None` for null. Numbers are compared as numbers, and rounded only for `FLOAT` and `DOUBLE`.
/// Text stands for any type it can be read as.
///
/// # Errors
/// `InvalidInput` for a literal that makes no sense for the type, `Unsupported` for a type whose values do not compare.
pub(super) fn place(literal: &Literal, data_type: &DataType) -> Result<Option<Place<Datum>>> {
    if *literal == Literal::Null {
        return Ok(None);
    }
    let found = match &data_type.kind {
        TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::Int | TypeKind::BigInt => {
            place_number(literal, 0).map(|place| {
                place.try_map(
                    |value| *value < 0,
                    |value| Datum::Decimal(value, 0).cast_to(data_type),
                )
            })
        }
        TypeKind::Decimal { scale, .. } => place_number(literal, *scale).map(|place| {
            place.try_map(
                |value| *value < 0,
                |value| Some(Datum::Decimal(value, *scale)),
            )
        }),
        TypeKind::Float => place_float(literal),
        TypeKind::Double => place_double(literal),
        TypeKind::Date => place_date(literal, data_type),
        TypeKind::Timestamp(_) => place_timestamp(literal, &TypeKind::Timestamp(9).nullable()),
        TypeKind::LocalZonedTimestamp(_) => {
            place_timestamp(literal, &TypeKind::LocalZonedTimestamp(9).nullable())
        }
        TypeKind::Boolean
        | TypeKind::Char(_)
        | TypeKind::VarChar(_)
        | TypeKind::Binary(_)
        | TypeKind::VarBinary(_)
        | TypeKind::Time(_) => place_as_it_is(literal, data_type),
        _ => {
            return Err(Error::unsupported(format!(
                "comparing values of type {data_type}"
            )));
        }
    };
    found.map(Some).ok_or_else(|| {
        Error::invalid_input(format!("{literal} is no value for type {}", data_type.kind))
    })
}

fn read(text: &str, data_type: &DataType) -> Option<Place<Datum>> {
    Datum::parse(text, data_type).ok().map(Place::At)
}

fn place_as_it_is(literal: &Literal, data_type: &DataType) -> Option<Place<Datum>> {
    match (literal, &data_type.kind) {
        (Literal::Boolean(value), TypeKind::Boolean) => Some(Place::At(Datum::Boolean(*value))),
        (Literal::Bytes(digits), TypeKind::Binary(_) | TypeKind::VarBinary(_)) => {
            read(digits, data_type)
        }
        (Literal::Time(text), TypeKind::Time(_)) => read(text, data_type),
        (Literal::Text(_), TypeKind::Binary(_) | TypeKind::VarBinary(_)) => None,
        (Literal::Text(text), _) => read(text, data_type),
        _ => None,
    }
}

/// A number among the multiples of 10^-scale.
fn place_number(literal: &Literal, scale: u8) -> Option<Place<i128>> {
    match literal {
        Literal::Number(text) | Literal::Text(text) => Some(Exact::parse(text)?.place(scale)),
        Literal::Float(value) => Some(match Exact::of(*value) {
            Some(exact) => exact.place(scale),
            None if *value < 0.0 => Place::BelowAll,
            None => Place::AboveAll,
        }),
        _ => None,
    }
}

fn place_double(literal: &Literal) -> Option<Place<Datum>> {
    match literal {
        Literal::Float(value) => Some(Place::At(Datum::Double(*value))),
        Literal::Number(text) => Exact::parse(text)
            .and_then(|_| text.parse::<f64>().ok())
            .map(|value| {
                if value == f64::INFINITY {
                    Place::After(Datum::Double(f64::MAX))
                } else if value == f64::NEG_INFINITY {
                    Place::After(Datum::Double(value))
                } else {
                    Place::At(Datum::Double(value))
                }
            }),
        Literal::Text(text) => read(text, &TypeKind::Double.nullable()),
        _ => None,
    }
}

fn place_float(literal: &Literal) -> Option<Place<Datum>> {
    match literal {
        Literal::Float(value) => Some(place_in_floats(*value)),
        Literal::Number(text) => Exact::parse(text)
            .and_then(|_| text.parse::<f32>().ok())
            .map(|value| {
                if value == f32::INFINITY {
                    Place::After(Datum::Float(f32::MAX))
                } else if value == f32::NEG_INFINITY {
                    Place::After(Datum::Float(value))
                } else {
                    Place::At(Datum::Float(value))
                }
            }),
        Literal::Text(text) => read(text, &TypeKind::Float.nullable()),
        _ => None,
    }
}

fn place_in_floats(value: f64) -> Place<Datum> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the nearest float is wanted"
    )]
    let nearest = value as f32;
    if value.is_nan() || f64::from(nearest) == value {
        return Place::At(Datum::Float(nearest));
    }
    let below = if f64::from(nearest) > value {
        nearest.next_down()
    } else {
        nearest
    };
    Place::After(Datum::Float(below))
}

fn place_date(literal: &Literal, data_type: &DataType) -> Option<Place<Datum>> {
    match literal {
        Literal::Date(text) | Literal::Text(text) => read(text, data_type),
        Literal::Timestamp(text) => {
            let parsed = Datum::parse(text, &TypeKind::Timestamp(9).nullable()).ok()?;
            let Datum::Timestamp { millis, nanos } = parsed else {
                return None;
            };
            let day = millis.div_euclid(DAY);
            let place = if millis.rem_euclid(DAY) == 0 && nanos == 0 {
                Place::At(day)
            } else {
                Place::After(day)
            };
            Some(place.try_map(
                |day| *day < 0,
                |day| i32::try_from(day).ok().map(Datum::Date),
            ))
        }
        _ => None,
    }
}

/// Digits beyond the column's precision are kept: values are compared whatever the precision says (ME 1.2).
fn place_timestamp(literal: &Literal, finest: &DataType) -> Option<Place<Datum>> {
    match literal {
        Literal::Timestamp(text) | Literal::Date(text) | Literal::Text(text) => read(text, finest),
        _ => None,
    }
}
