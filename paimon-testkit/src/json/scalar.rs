//! Single values as JSON text.

use paimon_meta::{DataType, Datum, Error, Result, TypeKind};

const SECONDS_PER_DAY: i64 = 86_400;
const NANOS_PER_MILLI: i64 = 1_000_000;

pub(super) fn boolean(out: &mut Vec<u8>, value: bool) {
    out.extend_from_slice(if value { b"true" } else { b"false" });
}

pub(super) fn integer(out: &mut Vec<u8>, value: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// The shortest number that reads back as the same float, or its name as text.
pub(super) fn float<F: ryu::Float + Into<f64>>(out: &mut Vec<u8>, value: F) {
    let wide: f64 = value.into();
    if wide.is_finite() {
        out.extend_from_slice(ryu::Buffer::new().format_finite(value).as_bytes());
    } else if wide.is_nan() {
        out.extend_from_slice(b"\"NaN\"");
    } else {
        out.extend_from_slice(if wide > 0.0 {
            b"\"Infinity\""
        } else {
            b"\"-Infinity\""
        });
    }
}

/// Text with all digits of the scale.
pub(super) fn decimal(out: &mut Vec<u8>, unscaled: i128, scale: u8) {
    out.push(b'"');
    plain_decimal(out, unscaled, scale);
    out.push(b'"');
}

/// The digits of a decimal, without quotes.
pub(super) fn plain_decimal(out: &mut Vec<u8>, unscaled: i128, scale: u8) {
    if unscaled < 0 {
        out.push(b'-');
    }
    let scale = usize::from(scale);
    let mut buffer = itoa::Buffer::new();
    let digits = match u64::try_from(unscaled.unsigned_abs()) {
        Ok(small) => buffer.format(small),
        Err(_) => buffer.format(unscaled.unsigned_abs()),
    };
    let (whole, fraction) = digits.split_at(digits.len().saturating_sub(scale));
    out.extend_from_slice(if whole.is_empty() {
        b"0"
    } else {
        whole.as_bytes()
    });
    if scale > 0 {
        out.push(b'.');
        out.resize(out.len() + (scale - fraction.len()), b'0');
        out.extend_from_slice(fraction.as_bytes());
    }
}

/// Text in quotes. Escapes what JSON must have escaped, and nothing else.
pub(super) fn text(out: &mut Vec<u8>, value: &str) {
    out.push(b'"');
    let mut rest = value.as_bytes();
    while let Some(at) = rest.iter().position(|byte| needs_escape(*byte)) {
        let (plain, tail) = rest.split_at(at);
        out.extend_from_slice(plain);
        if let Some((byte, tail)) = tail.split_first() {
            escape(out, *byte);
            rest = tail;
        }
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

fn needs_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

fn escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            out.extend_from_slice(b"\\u00");
            hex_digits(out, &[byte]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// Lower-case hex in quotes.
pub(super) fn bytes(out: &mut Vec<u8>, value: &[u8]) {
    out.push(b'"');
    hex_digits(out, value);
    out.push(b'"');
}

fn hex_digits(out: &mut Vec<u8>, value: &[u8]) {
    let digit = |half: u8| {
        if half < 10 {
            b'0' + half
        } else {
            b'a' + (half - 10)
        }
    };
    out.extend(
        value
            .iter()
            .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]),
    );
}

/// Days since 1970-01-01, in quotes.
pub(super) fn date(out: &mut Vec<u8>, days: i64) {
    out.push(b'"');
    plain_date(out, days);
    out.push(b'"');
}

/// `yyyy-MM-dd` without quotes; years of more than four digits have a sign.
pub(super) fn plain_date(out: &mut Vec<u8>, days: i64) {
    let (year, month, day) = civil(days);
    match year {
        10_000.. => out.push(b'+'),
        0..10_000 => {}
        _ => out.push(b'-'),
    }
    padded(out, year.unsigned_abs(), 4);
    out.push(b'-');
    padded(out, month, 2);
    out.push(b'-');
    padded(out, day, 2);
}

/// Milliseconds of the day, in quotes.
pub(super) fn time(out: &mut Vec<u8>, millis: i64) {
    out.push(b'"');
    plain_time(
        out,
        millis.div_euclid(1000),
        millis.rem_euclid(1000) * NANOS_PER_MILLI,
    );
    out.push(b'"');
}

/// `HH:mm:ss` and the fraction without trailing zeros, without quotes.
pub(super) fn plain_time(out: &mut Vec<u8>, second_of_day: i64, nanos: i64) {
    let second = second_of_day.unsigned_abs();
    padded(out, second / 3600, 2);
    out.push(b':');
    padded(out, second / 60 % 60, 2);
    out.push(b':');
    padded(out, second % 60, 2);
    if nanos != 0 {
        out.push(b'.');
        padded(out, nanos.unsigned_abs(), 9);
        while out.last() == Some(&b'0') {
            out.pop();
        }
    }
}

/// A count of `1 / per_second` seconds since the epoch, in quotes; with a `Z` if it is an instant.
pub(super) fn timestamp(out: &mut Vec<u8>, count: i64, per_second: i64, instant: bool) {
    let nanos = count.rem_euclid(per_second) * (1_000_000_000 / per_second);
    timestamp_parts(out, count.div_euclid(per_second), nanos, instant);
}

fn timestamp_parts(out: &mut Vec<u8>, seconds: i64, nanos: i64, instant: bool) {
    out.push(b'"');
    plain_date(out, seconds.div_euclid(SECONDS_PER_DAY));
    out.push(b'T');
    plain_time(out, seconds.rem_euclid(SECONDS_PER_DAY), nanos);
    out.extend_from_slice(if instant { b"Z\"" } else { b"\"" });
}

fn padded(out: &mut Vec<u8>, value: u64, width: usize) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(value).as_bytes();
    out.resize(out.len() + width.saturating_sub(digits.len()), b'0');
    out.extend_from_slice(digits);
}

/// Year, month and day of days since 1970-01-01 in the proleptic Gregorian calendar. Years are counted from March, so
/// that the leap day is the last of its year.
fn civil(days: i64) -> (i64, u64, u64) {
    const DAYS_TO_MARCH_OF_YEAR_0: i64 = 719_468;
    const DAYS_PER_ERA: i64 = 146_097; // 400 years
    let days = days.saturating_add(DAYS_TO_MARCH_OF_YEAR_0);
    let era = days.div_euclid(DAYS_PER_ERA);
    let of_era = days.rem_euclid(DAYS_PER_ERA);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month.unsigned_abs(), day.unsigned_abs())
}

/// A value of a type.
///
/// # Errors
/// `Internal` if the value has no JSON form.
pub(super) fn datum(out: &mut Vec<u8>, datum: &Datum, data_type: &DataType) -> Result<()> {
    match datum {
        Datum::Boolean(value) => boolean(out, *value),
        Datum::TinyInt(value) => integer(out, *value),
        Datum::SmallInt(value) => integer(out, *value),
        Datum::Int(value) => integer(out, *value),
        Datum::BigInt(value) => integer(out, *value),
        Datum::Float(value) => float(out, *value),
        Datum::Double(value) => float(out, *value),
        Datum::Decimal(unscaled, scale) => decimal(out, *unscaled, *scale),
        Datum::String(value) => text(out, value),
        Datum::Binary(value) => bytes(out, value),
        Datum::Date(days) => date(out, (*days).into()),
        Datum::Time(millis) => time(out, (*millis).into()),
        Datum::Timestamp { millis, nanos } => {
            let instant = matches!(data_type.kind, TypeKind::LocalZonedTimestamp(_));
            let of_second = millis.rem_euclid(1000) * NANOS_PER_MILLI + i64::from(*nanos);
            timestamp_parts(out, millis.div_euclid(1000), of_second, instant);
        }
        other => return Err(Error::internal(format!("no JSON form of {other}"))),
    }
    Ok(())
}
