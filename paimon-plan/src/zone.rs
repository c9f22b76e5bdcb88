//! Wall-clock times of a zone as instants.

use chrono::{DateTime, FixedOffset, MappedLocalTime, NaiveDateTime, Offset, TimeDelta, TimeZone};
use chrono_tz::Tz;
use paimon_meta::{Error, Result};

/// A time zone: an IANA name, `Z`, or an offset such as `+08:00`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Zone {
    Named(Tz),
    Fixed(FixedOffset),
}

impl Zone {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let name = if text == "Z" { "UTC" } else { text };
        name.parse()
            .map(Self::Named)
            .or_else(|_| text.parse().map(Self::Fixed))
            .map_err(|_| {
                Error::invalid_input(format!(
                    "time zone is {text:?}, expected an IANA name or an offset such as +08:00"
                ))
            })
    }

    /// The instant of a wall-clock time, both as milliseconds since 1970-01-01 00:00. As in the reference
    /// (`LocalDateTime.atZone`), a time that the clock skipped is moved on by what it skipped, and of a time that came
    /// twice the first is meant. A time outside the calendar's range is taken for UTC.
    pub(crate) fn instant_of(self, wall_millis: i64) -> i64 {
        let offset = DateTime::from_timestamp_millis(wall_millis).map_or(0, |wall| {
            let wall = wall.naive_utc();
            match self {
                Self::Named(zone) => offset_seconds(&zone, &wall),
                Self::Fixed(zone) => zone.local_minus_utc(),
            }
        });
        wall_millis.saturating_sub(i64::from(offset) * 1000)
    }

    /// The wall-clock time of an instant, both as milliseconds since 1970-01-01 00:00; that of UTC outside the calendar's
    /// range.
    pub(crate) fn wall_of(self, millis: i64) -> i64 {
        let offset = DateTime::from_timestamp_millis(millis).map_or(0, |instant| {
            let instant = instant.naive_utc();
            match self {
                Self::Named(zone) => {
                    let offset = zone.offset_from_utc_datetime(&instant);
                    offset.fix().local_minus_utc()
                }
                Self::Fixed(zone) => zone.local_minus_utc(),
            }
        });
        millis.saturating_add(i64::from(offset) * 1000)
    }
}

fn offset_seconds(zone: &Tz, wall: &NaiveDateTime) -> i32 {
    let seconds = |offset: <Tz as TimeZone>::Offset| offset.fix().local_minus_utc();
    match zone.offset_from_local_datetime(wall) {
        MappedLocalTime::Single(offset) | MappedLocalTime::Ambiguous(offset, _) => seconds(offset),
        MappedLocalTime::None => {
            let before = wall.checked_sub_signed(TimeDelta::days(1)).unwrap_or(*wall);
            seconds(zone.offset_from_utc_datetime(&before))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instant(zone: &str, wall: &str) -> String {
        let wall: NaiveDateTime = wall.parse().unwrap();
        let instant = Zone::parse(zone)
            .unwrap()
            .instant_of(wall.and_utc().timestamp_millis());
        DateTime::from_timestamp_millis(instant)
            .unwrap()
            .naive_utc()
            .to_string()
    }

    #[test]
    fn wall_clocks_become_instants() {
        assert_eq!(instant("UTC", "2024-01-02T03:04:05"), "2024-01-02 03:04:05");
        assert_eq!(instant("Z", "2024-01-02T03:04:05"), "2024-01-02 03:04:05");
        assert_eq!(
            instant("+08:00", "2024-01-02T03:04:05"),
            "2024-01-01 19:04:05"
        );
        assert_eq!(
            instant("Europe/Paris", "2024-07-01T00:00:00"),
            "2024-06-30 22:00:00"
        );
    }

    #[test]
    fn skipped_and_repeated_times_follow_the_reference() {
        // Clocks in Paris went from 02:00 to 03:00 on 2024-03-31 and from 03:00 to 02:00 on 2024-10-27.
        assert_eq!(
            instant("Europe/Paris", "2024-03-31T02:30:00"),
            "2024-03-31 01:30:00"
        );
        assert_eq!(
            instant("Europe/Paris", "2024-10-27T02:30:00"),
            "2024-10-27 00:30:00"
        );
    }

    #[test]
    fn instants_become_wall_clocks() {
        let summer = 1_719_784_800_000; // 2024-06-30 22:00 UTC
        for (zone, hours) in [("Europe/Paris", 2), ("UTC", 0), ("-03:00", -3)] {
            let wall = Zone::parse(zone).unwrap().wall_of(summer);
            assert_eq!(wall, summer + hours * 3_600_000, "{zone}");
        }
    }

    #[test]
    fn unknown_zone_is_invalid_input() {
        let error = Zone::parse("Mars/Olympus").unwrap_err();
        assert_eq!(error.kind(), paimon_meta::ErrorKind::InvalidInput);
    }

    #[test]
    fn times_outside_the_calendar_do_not_panic() {
        for wall in [i64::MIN, i64::MAX] {
            let zone = Zone::parse("+08:00").unwrap();
            zone.instant_of(wall);
            zone.wall_of(wall);
        }
    }
}
