//! Time zones as Java knows them.

use chrono::{Datelike, FixedOffset, NaiveDate, Offset, TimeZone, Utc};
use chrono_tz::{OffsetComponents, Tz};
use paimon_meta::{Error, Result};

/// Before this second (1900-01-01T00:00:00Z) Java knows no changes of offset and takes the standard one of today.
const FIRST_CHANGE: i64 = -2_208_988_800;
/// The last year whose changes are listed; those of later years follow the rules of its last decades.
const LAST_YEAR: i32 = 2099;
/// Years after which dates fall on the same days of the week, as long as each fourth year is a leap year.
const CYCLE: i32 = 28;
/// A second of the last year.
const LAST: i64 = 2_114_380_800;
/// Offsets change on full quarters of an hour.
const QUARTER: i64 = 900;

/// A time zone, with the offset of the latest look-up, which nearly always is that of the next one.
#[derive(Clone, Debug)]
pub(super) struct Zone {
    rules: Rules,
    /// The quarter of an hour whose offset is known, and the offset.
    known: (i64, i64),
}

#[derive(Clone, Copy, Debug)]
enum Rules {
    /// One offset for ever.
    Fixed(i64),
    Named {
        zone: Tz,
        /// Standard offset before [`FIRST_CHANGE`].
        early: i64,
    },
}

impl Zone {
    /// A zone by its name, or by its offset as in `+08:00` and `GMT+08:00`; `None` for UTC and where no zone is named.
    ///
    /// # Errors
    /// `Unsupported` for a name that is not known.
    pub(super) fn named(name: &str) -> Result<Option<Self>> {
        if matches!(name, "" | "UTC" | "GMT" | "Z" | "Etc/UTC" | "Etc/GMT") {
            return Ok(None);
        }
        let offset = name.strip_prefix("GMT").or(name.strip_prefix("UTC"));
        let rules = if let Ok(zone) = name.parse::<Tz>() {
            let last = Utc.timestamp_opt(LAST, 0).single();
            let early = last.map_or(0, |last| {
                let offset = zone.offset_from_utc_datetime(&last.naive_utc());
                offset.base_utc_offset().num_seconds()
            });
            Rules::Named { zone, early }
        } else if let Ok(offset) = offset.unwrap_or(name).parse::<FixedOffset>() {
            Rules::Fixed(i64::from(offset.local_minus_utc()))
        } else {
            return Err(Error::unsupported(format!("time zone {name} in ORC files")));
        };
        Ok(Some(Self {
            rules,
            known: (i64::MIN, 0),
        }))
    }

    /// What the wall clock is ahead of UTC, in seconds, at a second since the epoch.
    pub(super) fn offset(&mut self, second: i64) -> i64 {
        let (zone, early) = match self.rules {
            Rules::Fixed(offset) => return offset,
            Rules::Named { zone, early } => (zone, early),
        };
        if second < FIRST_CHANGE {
            return early;
        }
        let quarter = second.div_euclid(QUARTER);
        if self.known.0 != quarter {
            self.known = (quarter, offset_of(zone, second).unwrap_or(early));
        }
        self.known.1
    }

    /// The second since the epoch at which the wall clock shows `wall`, given in seconds since the epoch.
    pub(super) fn second_of_wall(&mut self, wall: i64) -> i64 {
        let guess = wall - self.offset(wall);
        wall - self.offset(guess)
    }
}

/// `None` for a second that is no date.
fn offset_of(zone: Tz, second: i64) -> Option<i64> {
    let instant = Utc.timestamp_opt(second, 0).single()?;
    let mut utc = instant.naive_utc();
    if utc.year() > LAST_YEAR {
        // The same day of a listed year with the same days of the week.
        let first = |year| NaiveDate::from_ymd_opt(year, 1, 1);
        let wanted = first(utc.year())?;
        let alike = |year: &i32| {
            first(*year).is_some_and(|date| {
                date.weekday() == wanted.weekday() && date.leap_year() == wanted.leap_year()
            })
        };
        let year = (LAST_YEAR - CYCLE + 1..=LAST_YEAR).find(alike)?;
        utc = utc.with_year(year)?;
    }
    let offset = zone.offset_from_utc_datetime(&utc);
    Some(i64::from(offset.fix().local_minus_utc()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_those_of_java() {
        let mut shanghai = Zone::named("Asia/Shanghai").unwrap().unwrap();
        // 1899 by the offset of today, 1900 by local mean time, 1970.
        assert_eq!(shanghai.offset(FIRST_CHANGE - 1), 28_800);
        assert_eq!(shanghai.offset(FIRST_CHANGE), 29_143);
        assert_eq!(shanghai.offset(0), 28_800);
        let mut york = Zone::named("America/New_York").unwrap().unwrap();
        assert_eq!(york.offset(1_420_070_400), -18_000);
        assert_eq!(york.offset(1_435_708_800), -14_400);
        // January and July of the year 3000.
        assert_eq!(york.offset(32_503_680_000), -18_000);
        assert_eq!(york.offset(32_519_232_000), -14_400);
        // Brazil has had no summer time since 2019.
        let mut paulo = Zone::named("America/Sao_Paulo").unwrap().unwrap();
        assert_eq!(paulo.offset(1_357_000_000), -7_200);
        for january in [2_525_000_000, 32_503_680_000] {
            assert_eq!(paulo.offset(january), -10_800);
        }
        assert_eq!(york.offset(2_540_000_000), -14_400);
        assert_eq!(york.second_of_wall(1_420_070_400), 1_420_088_400);
    }

    #[test]
    fn zones_have_names_or_offsets() {
        for utc in ["", "UTC", "GMT"] {
            assert!(Zone::named(utc).unwrap().is_none());
        }
        for east in ["+05:30", "GMT+05:30"] {
            assert_eq!(Zone::named(east).unwrap().unwrap().offset(0), 19_800);
        }
        assert_eq!(
            Zone::named("Mars/Base").unwrap_err().feature(),
            Some("time zone Mars/Base in ORC files")
        );
    }
}
