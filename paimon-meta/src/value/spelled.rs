//! Values as the reference spells them in names and listings.

use arrow_array::timezone::Tz;
use chrono::{Offset, TimeZone};

use crate::calendar::Clock;
use crate::error::{Error, Result};
use crate::types::TypeKind;
use crate::value::Datum;
use crate::value::text::{date_text, fraction_text, time_text};

/// A value cast to text (table-format section 8.3): dates and times as ISO text, timestamps with a space and the digits
/// of their precision, those with local time zone as the wall clock of `time_zone` (an IANA name or an offset).
///
/// # Errors
/// `InvalidInput` for a time zone that is unknown, `Unsupported` for an instant that it has no offset at.
pub fn sql_text(value: &Datum, kind: &TypeKind, time_zone: &str) -> Result<String> {
    Ok(match (value, kind) {
        (Datum::Date(days), _) => date_text((*days).into()),
        (Datum::Time(millis), TypeKind::Time(precision)) => {
            let clock = Clock::of((*millis).into(), 0);
            let fraction = fraction_text(clock.nanos, 1);
            // Digits up to the precision, cut and not rounded.
            let kept = if *precision == 0 {
                ""
            } else {
                fraction
                    .get(..=usize::from(*precision))
                    .unwrap_or(&fraction)
            };
            format!("{}{kept}", time_text(&clock))
        }
        (Datum::Timestamp { millis, nanos }, TypeKind::LocalZonedTimestamp(precision)) => {
            let shift = 1000 * i64::from(offset_seconds(time_zone, *millis)?);
            timestamp_sql_text(&Clock::of(millis.saturating_add(shift), *nanos), *precision)
        }
        (Datum::Timestamp { millis, nanos }, TypeKind::Timestamp(precision)) => {
            timestamp_sql_text(&Clock::of(*millis, *nanos), *precision)
        }
        (Datum::Binary(bytes), _) => String::from_utf8_lossy(bytes).into_owned(),
        (Datum::String(text), _) => text.clone(),
        _ => value.to_string(),
    })
}

/// Java's `toString` of the reference's own value: dates as days, times as milliseconds (TF-014), timestamps as a
/// `LocalDateTime` without seconds that are zero (TF-015). `None` for bytes, whose text there is their address.
pub fn java_text(value: &Datum) -> Option<String> {
    Some(match value {
        Datum::String(text) => text.clone(),
        Datum::Date(days) => days.to_string(),
        Datum::Time(millis) => millis.to_string(),
        Datum::Timestamp { millis, nanos } => {
            let clock = Clock::of(*millis, *nanos);
            let time = time_text(&clock);
            let digits = if clock.nanos % 1_000_000 == 0 {
                3
            } else if clock.nanos % 1_000 == 0 {
                6
            } else {
                9
            };
            let time = match (clock.second, clock.nanos) {
                (0, 0) => time.get(..5).unwrap_or(&time).to_owned(),
                (_, 0) => time,
                _ => format!("{time}{}", fraction_text(clock.nanos, digits)),
            };
            format!("{}T{time}", date_text(clock.days))
        }
        Datum::Binary(_) => return None,
        value => value.to_string(),
    })
}

fn timestamp_sql_text(clock: &Clock, precision: u8) -> String {
    let fraction = fraction_text(clock.nanos, usize::from(precision));
    format!("{} {}{fraction}", date_text(clock.days), time_text(clock))
}

/// Seconds that the clock of a zone is ahead of UTC at an instant.
fn offset_seconds(zone: &str, millis: i64) -> Result<i32> {
    let tz: Tz = zone
        .parse()
        .map_err(|_| Error::invalid_input(format!("no time zone {zone:?}")))?;
    let instant = chrono::DateTime::from_timestamp_millis(millis);
    let instant =
        instant.ok_or_else(|| Error::unsupported(format!("time zone offset at {millis} ms")))?;
    Ok(tz
        .offset_from_utc_datetime(&instant.naive_utc())
        .fix()
        .local_minus_utc())
}
