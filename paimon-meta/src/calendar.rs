//! Days and clock times of the proleptic Gregorian calendar, for any value that metadata can hold.

pub(crate) const MILLIS_PER_DAY: i64 = 86_400_000;

/// Days of an era of 400 years.
const ERA: i64 = 146_097;

/// A wall clock: date and time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clock {
    /// Days since 1970-01-01.
    pub(crate) days: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
    /// Nanoseconds within the second.
    pub(crate) nanos: i64,
}

impl Clock {
    /// The clock at floored milliseconds since the epoch and nanoseconds within the millisecond.
    pub(crate) fn of(millis: i64, nanos: i32) -> Self {
        let of_day = millis.rem_euclid(MILLIS_PER_DAY);
        Self {
            days: millis.div_euclid(MILLIS_PER_DAY),
            hour: of_day / 3_600_000,
            minute: of_day / 60_000 % 60,
            second: of_day / 1_000 % 60,
            nanos: of_day % 1_000 * 1_000_000 + i64::from(nanos),
        }
    }

    /// Floored milliseconds since the epoch and nanoseconds within the millisecond; `None` if no long holds them.
    pub(crate) fn millis_and_nanos(&self) -> Option<(i64, i32)> {
        let of_day = self.hour * 3_600_000
            + self.minute * 60_000
            + self.second * 1_000
            + self.nanos / 1_000_000;
        let millis = self.days.checked_mul(MILLIS_PER_DAY)?.checked_add(of_day)?;
        Some((millis, i32::try_from(self.nanos % 1_000_000).ok()?))
    }
}

/// Year, month and day of a count of days since 1970-01-01, in the proleptic Gregorian calendar.
///
/// Counts from 0000-03-01, so that a leap day is the last of its year, in eras of 400 years.
pub fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / (ERA - 1)) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

/// Days since 1970-01-01 of a date; `None` if there is no such day or its year has more than nine digits.
pub fn days_of(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(-999_999_999..=999_999_999).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    let shifted = year - i64::from(month <= 2);
    let (era, year_of_era) = (shifted.div_euclid(400), shifted.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days =
        era * ERA + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year - 719_468;
    (date_of(days) == (year, month, day)).then_some(days)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_days() {
        let cases = [
            (0, (1970, 1, 1)),
            (-1, (1969, 12, 31)),
            (19_724, (2024, 1, 2)), // TF-014
            (11_016, (2000, 2, 29)),
            (-719_528, (0, 1, 1)),
            (-719_529, (-1, 12, 31)),
            (2_932_896, (9999, 12, 31)),
        ];
        for (days, (year, month, day)) in cases {
            assert_eq!(date_of(days), (year, month, day));
            assert_eq!(days_of(year, month, day), Some(days));
        }
    }

    #[test]
    fn days_that_are_none_are_refused() {
        for (year, month, day) in [
            (2023, 2, 29),
            (1900, 2, 29),
            (2024, 13, 1),
            (2024, 0, 1),
            (2024, 4, 31),
            (2024, 1, 0),
        ] {
            assert_eq!(days_of(year, month, day), None, "{year}-{month}-{day}");
        }
    }

    proptest! {
        #[test]
        fn days_and_dates_are_inverse(days in any::<i32>()) {
            let (year, month, day) = date_of(days.into());
            prop_assert_eq!(days_of(year, month, day), Some(days.into()));
        }

        #[test]
        fn clocks_and_timestamps_are_inverse(millis in any::<i64>(), nanos in 0..1_000_000) {
            prop_assert_eq!(Clock::of(millis, nanos).millis_and_nanos(), Some((millis, nanos)));
        }
    }
}
