//! Bounds of a column whose type was changed, as values of the new type (table-format section 8.3).

use paimon_meta::{DataType, Datum, Error, Result, TypeKind, sql_text};

const DAY_MILLIS: i64 = 86_400_000;

/// The value as a value of another type, as the reference casts it; `None` where that has none.
///
/// # Errors
/// `Corrupt` for text that is no value of the type, `Unsupported` for types that are not cast to each other here.
pub(super) fn cast(
    value: Datum,
    from: &TypeKind,
    to: &TypeKind,
    time_zone: &str,
) -> Result<Option<Datum>> {
    if from == to {
        return Ok(Some(value));
    }
    let refused = || {
        let (from, to) = (from.clone().nullable(), to.clone().nullable());
        Error::unsupported(format!("statistics of {from} as {to}"))
    };
    Ok(match (to, &value) {
        (TypeKind::Char(_) | TypeKind::VarChar(_), _) => Some(Datum::String(fit_text(
            &sql_text(&value, from, time_zone)?,
            to,
        ))),
        (_, Datum::String(text)) => Some(parse(text, &to.clone().nullable())?),
        (TypeKind::Boolean, _) => Some(Datum::Boolean(integer(&value).ok_or_else(refused)? != 0)),
        (TypeKind::Binary(_) | TypeKind::VarBinary(_), Datum::Binary(_)) => Some(value),
        (TypeKind::Decimal { precision, scale }, _) => {
            decimal(&value, *precision, *scale).ok_or_else(refused)?
        }
        (TypeKind::Date | TypeKind::Timestamp(_) | TypeKind::Time(_), _) => {
            Some(moment(&value, to).ok_or_else(refused)?)
        }
        _ => Some(number(&value, to).ok_or_else(refused)?),
    })
}

/// Text of at most the type's length, filled up with spaces for `CHAR`.
fn fit_text(text: &str, to: &TypeKind) -> String {
    match to {
        TypeKind::VarChar(length) => text.chars().take(*length as usize).collect(),
        TypeKind::Char(length) => {
            let length = *length as usize;
            let cut: String = text.chars().take(length).collect();
            format!("{cut:<length$}")
        }
        _ => text.to_owned(),
    }
}

fn parse(text: &str, to: &DataType) -> Result<Datum> {
    Datum::parse(text.trim(), to)
        .map_err(|error| Error::corrupt(format!("bound {text:?} is no {to}")).with_source(error))
}

/// Integers as they are, booleans as 0 and 1, decimals without their fraction.
fn integer(value: &Datum) -> Option<i128> {
    Some(match value {
        Datum::Boolean(value) => i128::from(*value),
        Datum::TinyInt(value) => i128::from(*value),
        Datum::SmallInt(value) => i128::from(*value),
        Datum::Int(value) => i128::from(*value),
        Datum::BigInt(value) => i128::from(*value),
        Datum::Decimal(value, scale) => value / 10i128.checked_pow((*scale).into())?,
        _ => return None,
    })
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "as in Java integers wrap, floats are cut and stop at the ends"
)]
fn number(value: &Datum, to: &TypeKind) -> Option<Datum> {
    let float = match value {
        Datum::Float(value) => Some(f64::from(*value)),
        Datum::Double(value) => Some(*value),
        Datum::Decimal(value, scale) => decimal_float(*value, *scale),
        value => integer(value).map(|value| value as f64),
    }?;
    let is_float = matches!(value, Datum::Float(_) | Datum::Double(_));
    let narrow = || match integer(value) {
        Some(value) => value as i32,
        None => float as i32,
    };
    Some(match to {
        TypeKind::TinyInt => Datum::TinyInt(narrow() as i8),
        TypeKind::SmallInt => Datum::SmallInt(narrow() as i16),
        TypeKind::Int => Datum::Int(narrow()),
        TypeKind::BigInt if is_float => Datum::BigInt(float as i64),
        TypeKind::BigInt => Datum::BigInt(integer(value)? as i64),
        TypeKind::Float => Datum::Float(float as f32),
        TypeKind::Double => Datum::Double(float),
        _ => return None,
    })
}

/// The double closest to a decimal.
fn decimal_float(value: i128, scale: u8) -> Option<f64> {
    Datum::Decimal(value, scale).to_string().parse().ok()
}

/// A decimal rounded half up; the inner `None` for one that does not fit.
#[expect(
    clippy::option_option,
    reason = "a type that is not cast and a value that does not fit are different"
)]
fn decimal(value: &Datum, precision: u8, scale: u8) -> Option<Option<Datum>> {
    let (unscaled, from) = match value {
        Datum::Decimal(value, scale) => (*value, *scale),
        value => (integer(value)?, 0),
    };
    let factor = 10i128.checked_pow(scale.abs_diff(from).into())?;
    let scaled = if scale >= from {
        unscaled.checked_mul(factor)
    } else {
        let half = factor / 2 * unscaled.signum();
        unscaled.checked_add(half).map(|value| value / factor)
    };
    let limit = 10u128.checked_pow(precision.into())?;
    let fitting = scaled.filter(|value| value.unsigned_abs() < limit);
    Some(fitting.map(|value| Datum::Decimal(value, scale)))
}

/// Dates, times and timestamps without local time zone.
fn moment(value: &Datum, to: &TypeKind) -> Option<Datum> {
    let (millis, nanos) = match value {
        Datum::Date(days) => (i64::from(*days) * DAY_MILLIS, 0),
        Datum::Time(millis) => (i64::from(*millis), 0),
        Datum::Timestamp { millis, nanos } => (*millis, *nanos),
        _ => return None,
    };
    Some(match to {
        TypeKind::Date => Datum::Date(i32::try_from(millis.div_euclid(DAY_MILLIS)).ok()?),
        TypeKind::Time(_) => Datum::Time(i32::try_from(millis.rem_euclid(DAY_MILLIS)).ok()?),
        TypeKind::Timestamp(precision) => {
            let unit = |digits: u8| 10i64.pow(u32::from(digits));
            let coarse = unit(3_u8.saturating_sub(*precision));
            let fine = unit(9_u8.saturating_sub((*precision).max(3)));
            let nanos = i64::from(nanos);
            Datum::Timestamp {
                millis: millis - millis.rem_euclid(coarse),
                nanos: i32::try_from(nanos - nanos % fine).ok()?,
            }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use paimon_meta::parse_type;

    use super::*;

    fn cast_text(value: Datum, from: &str, to: &str) -> Result<String> {
        let kind = |text: &str| parse_type(text).unwrap().kind;
        let value = cast(value, &kind(from), &kind(to), "UTC")?;
        Ok(value.map_or_else(|| "null".to_owned(), |value| value.to_string()))
    }

    #[test]
    fn bounds_are_cast_as_the_reference_casts_values() {
        let day = Datum::Date(19_724);
        let time = Datum::Timestamp {
            millis: 1_704_164_645_123,
            nanos: 456_000,
        };
        let text = |text: &str| Datum::String(text.to_owned());
        let cases = [
            (Datum::Int(5), "INT", "DOUBLE", "5.0"),
            (Datum::Int(5), "INT", "DECIMAL(10, 2)", "5.00"),
            (Datum::Int(5), "INT", "STRING", "'5'"),
            (Datum::Double(1e20), "DOUBLE", "STRING", "'1.0E20'"),
            (Datum::Float(1.1), "FLOAT", "DOUBLE", "1.100000023841858"),
            (
                time.clone(),
                "TIMESTAMP(6)",
                "STRING",
                "'2024-01-02 03:04:05.123456'",
            ),
            (Datum::Decimal(170, 2), "DECIMAL(5, 2)", "INT", "1"),
            (
                Datum::Decimal(175, 2),
                "DECIMAL(5, 2)",
                "DECIMAL(5, 1)",
                "1.8",
            ),
            (
                Datum::Decimal(99_999, 2),
                "DECIMAL(5, 2)",
                "DECIMAL(3, 1)",
                "null",
            ),
            (Datum::Double(1.7), "DOUBLE", "INT", "1"),
            (Datum::BigInt(4_294_967_297), "BIGINT", "INT", "1"),
            (day.clone(), "DATE", "TIMESTAMP(3)", "2024-01-02T00:00:00"),
            (time.clone(), "TIMESTAMP(6)", "DATE", "2024-01-02"),
            (
                time,
                "TIMESTAMP(6)",
                "TIMESTAMP(3)",
                "2024-01-02T03:04:05.123",
            ),
            (text("2024-01-02"), "STRING", "DATE", "2024-01-02"),
            (text("abcdef"), "STRING", "VARCHAR(2)", "'ab'"),
            (text("a"), "STRING", "CHAR(3)", "'a  '"),
            (Datum::Int(5), "INT", "BOOLEAN", "true"),
            (Datum::Boolean(true), "BOOLEAN", "INT", "1"),
        ];
        for (value, from, to, expected) in cases {
            assert_eq!(cast_text(value, from, to).unwrap(), expected, "{from} {to}");
        }
        let error = cast_text(day, "DATE", "BIGINT").unwrap_err();
        assert_eq!(error.feature(), Some("statistics of DATE as BIGINT"));
        cast_text(text("x"), "STRING", "INT").unwrap_err();
    }
}
