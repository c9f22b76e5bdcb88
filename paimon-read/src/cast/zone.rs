//! Wall clocks of the zone of the reading process.

use arrow_array::timezone::Tz;
use chrono::{DateTime, MappedLocalTime, NaiveDateTime, Offset, TimeDelta, TimeZone};
use paimon_meta::{Error, Result};

/// A time zone; UTC costs nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Zone(Option<Tz>);

impl Zone {
    /// A zone by its IANA name or an offset such as `+08:00`.
    ///
    /// # Errors
    /// `InvalidInput` if there is no such zone.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        if matches!(text, "UTC" | "Z" | "Etc/UTC" | "GMT") {
            return Ok(Self(None));
        }
        let zone = text.parse::<Tz>();
        zone.map(|zone| Self(Some(zone))).map_err(|_| {
            Error::invalid_input(format!(
                "time zone is {text:?}, expected an IANA name or an offset such as +08:00"
            ))
        })
    }

    /// The instant at which a clock of the zone shows a time, both in milliseconds since 1970-01-01 00:00. A time that the
    /// clock skipped is moved on by what it skipped; of one that came twice the first is meant (Java's
    /// `LocalDateTime.atZone`). Beyond the calendar's range there is no offset.
    pub(crate) fn to_instant(self, wall: i64) -> i64 {
        let Some(zone) = self.0 else { return wall };
        let offset = DateTime::from_timestamp_millis(wall)
            .map_or(0, |time| offset_of_wall(zone, time.naive_utc()));
        wall.wrapping_sub(i64::from(offset) * 1_000)
    }

    /// The time that a clock of the zone shows at an instant, both in milliseconds since 1970-01-01 00:00.
    pub(crate) fn to_wall(self, instant: i64) -> i64 {
        let Some(zone) = self.0 else { return instant };
        let offset = DateTime::from_timestamp_millis(instant).map_or(0, |time| {
            let offset = zone.offset_from_utc_datetime(&time.naive_utc());
            offset.fix().local_minus_utc()
        });
        instant.wrapping_add(i64::from(offset) * 1_000)
    }
}

/// Seconds that the zone was ahead of UTC.
fn offset_of_wall(zone: Tz, wall: NaiveDateTime) -> i32 {
    let seconds = |offset: <Tz as TimeZone>::Offset| offset.fix().local_minus_utc();
    match zone.offset_from_local_datetime(&wall) {
        MappedLocalTime::Single(offset) | MappedLocalTime::Ambiguous(offset, _) => seconds(offset),
        MappedLocalTime::None => {
            let before = wall.checked_sub_signed(TimeDelta::days(1)).unwrap_or(wall);
            seconds(zone.offset_from_utc_datetime(&before))
        }
    }
}
