//! Values as a person reads them, and numbers as Java writes them.

use std::fmt;

use crate::binary_row::to_hex;
use crate::calendar::{Clock, date_of};
use crate::value::Datum;

impl fmt::Display for Datum {
    /// As a person reads it: text in single quotes, binary as hex, dates and times in ISO form (timestamps without a
    /// zone, seconds always, fraction without trailing zeros), floats as Java prints them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(value) => value.fmt(f),
            Self::TinyInt(value) => value.fmt(f),
            Self::SmallInt(value) => value.fmt(f),
            Self::Int(value) => value.fmt(f),
            Self::BigInt(value) => value.fmt(f),
            Self::Float(value) => f.write_str(&float_text(*value)),
            Self::Double(value) => f.write_str(&double_text(*value)),
            Self::Decimal(value, scale) => f.write_str(&decimal_text(*value, *scale)),
            Self::String(value) => write!(f, "'{}'", value.replace('\'', "''")),
            Self::Binary(value) => f.write_str(&to_hex(value)),
            Self::Date(days) => f.write_str(&date_text((*days).into())),
            Self::Time(millis) => {
                let clock = Clock::of((*millis).into(), 0);
                write!(f, "{}{}", time_text(&clock), fraction_text(clock.nanos, 0))
            }
            Self::Timestamp { millis, nanos } => {
                let clock = Clock::of(*millis, *nanos);
                let fraction = fraction_text(clock.nanos, 0);
                write!(
                    f,
                    "{}T{}{fraction}",
                    date_text(clock.days),
                    time_text(&clock)
                )
            }
        }
    }
}

/// `yyyy-MM-dd`; years of more than four digits have a sign.
pub(crate) fn date_text(days: i64) -> String {
    let (year, month, day) = date_of(days);
    match year {
        10_000.. => format!("+{year}-{month:02}-{day:02}"),
        0..10_000 => format!("{year:04}-{month:02}-{day:02}"),
        _ => format!("-{:04}-{month:02}-{day:02}", -year),
    }
}

/// `HH:mm:ss`.
pub(crate) fn time_text(clock: &Clock) -> String {
    format!("{:02}:{:02}:{:02}", clock.hour, clock.minute, clock.second)
}

/// `.` and the fraction of a second without trailing zeros, but with `least` digits at least; empty for none.
pub(crate) fn fraction_text(nanos: i64, least: usize) -> String {
    let digits = format!("{nanos:09}");
    let kept = digits.trim_end_matches('0').len().max(least);
    match digits.get(..kept) {
        None | Some("") => String::new(),
        Some(digits) => format!(".{digits}"),
    }
}

/// A decimal without exponent, with all digits of its scale.
pub(crate) fn decimal_text(value: i128, scale: u8) -> String {
    let sign = if value < 0 { "-" } else { "" };
    let scale = usize::from(scale);
    let digits = format!("{:0>width$}", value.unsigned_abs(), width = scale + 1);
    match digits.split_at_checked(digits.len() - scale) {
        Some((whole, fraction)) if scale > 0 => format!("{sign}{whole}.{fraction}"),
        _ => format!("{sign}{digits}"),
    }
}

/// A float as Java prints it: `1.0`, `1.0E10`, `NaN`, `Infinity`. The digits are the shortest that read back, as Java
/// does since 19; older versions print a few values with more digits.
pub fn float_text(value: f32) -> String {
    java_text(&format!("{value:e}"), &format!("{value:.1e}"), |text| {
        text.parse() == Ok(value)
    })
}

/// A double as Java prints it, see [`float_text`].
pub fn double_text(value: f64) -> String {
    java_text(&format!("{value:e}"), &format!("{value:.1e}"), |text| {
        text.parse() == Ok(value)
    })
}

/// Java's form of a number given as its shortest digits and as two digits, both with exponent.
fn java_text(shortest: &str, two_digits: &str, reads_back: impl Fn(&str) -> bool) -> String {
    let Some((mantissa, _)) = shortest.split_once('e') else {
        return shortest.replace("inf", "Infinity"); // or NaN
    };
    // Where one digit is enough Java takes the closest text of two digits: 4.9E-324, not 5.0E-324.
    let closest = if mantissa.contains('.') || !reads_back(two_digits) {
        shortest
    } else {
        two_digits
    };
    let (mantissa, exponent) = closest.split_once('e').unwrap_or((closest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let (sign, mantissa) = mantissa
        .strip_prefix('-')
        .map_or(("", mantissa), |mantissa| ("-", mantissa));
    let (first, rest) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    match usize::try_from(exponent) {
        _ if first == "0" => format!("{sign}0.0"),
        Ok(exponent @ 0..7) => {
            let digits = format!("{rest:0<exponent$}");
            let (whole, fraction) = digits.split_at_checked(exponent).unwrap_or((&digits, ""));
            format!(
                "{sign}{first}{whole}.{}",
                if fraction.is_empty() { "0" } else { fraction }
            )
        }
        Err(_) if exponent >= -3 => {
            let zeros = if exponent == -1 {
                ""
            } else if exponent == -2 {
                "0"
            } else {
                "00"
            };
            let rest = rest.trim_end_matches('0');
            format!("{sign}0.{zeros}{first}{rest}")
        }
        _ => format!("{sign}{first}.{rest}E{exponent}"),
    }
}
