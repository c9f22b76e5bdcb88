//! Dates, times and timestamps as the reference reads them from text: more than is written by anybody, and so kept here
//! step by step.

use paimon_meta::days_of;

use super::parse_number::{integer, trimmed};
use super::temporal::Moment;

const MILLIS_PER_DAY: i64 = 86_400_000;
const INT: std::ops::RangeInclusive<i64> = i32::MIN as i64..=i32::MAX as i64;
const LONG: std::ops::RangeInclusive<i64> = i64::MIN..=i64::MAX;

/// Whether text is a count: digits, possibly after a minus.
fn is_count(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number of digits alone, with spaces around it, within 32 bits.
fn number(text: &str) -> Option<i32> {
    let digits = trimmed(text);
    let all = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    all.then(|| digits.parse().ok()).flatten()
}

/// Days since 1970-01-01: a count of them, or `y[-M[-d]]`, of which all from the first space on is left out.
pub(super) fn date(text: &str) -> Option<i32> {
    if is_count(text) {
        return i32::try_from(integer(text, INT)?).ok();
    }
    let text = match text.find(' ') {
        Some(space @ 1..) => text.get(..space)?,
        _ => text,
    };
    let mut parts = text.splitn(3, '-');
    let year = number(parts.next()?)?;
    let month = parts.next().map_or(Some(1), number)?;
    let day = parts.next().map_or(Some(1), number)?;
    if !(0..=9999).contains(&year) {
        return None;
    }
    i32::try_from(days_of(year.into(), month.into(), day.into())?).ok()
}

/// Milliseconds of the day: a count of them, or `h[:m[:s[.f]]]` with an offset of a zone that is added. Nothing keeps the
/// parts within their range.
pub(super) fn time(text: &str) -> Option<i32> {
    if is_count(text) {
        return i32::try_from(integer(text, INT)?).ok();
    }
    let (clock, sign, offset) = match (text.find('-'), text.find('+')) {
        (Some(at), _) => (text.get(..at)?, -1, text.get(at + 1..)),
        (None, Some(at)) => (text.get(..at)?, 1, text.get(at + 1..)),
        (None, None) => (text, 1, None),
    };
    // The reference looks for the colons of the clock in the offset, too.
    if offset.is_some_and(|offset| offset.contains(':')) && clock.matches(':').count() < 2 {
        return None;
    }
    let (zone_hour, zone_minute) = match offset {
        None => (0, 0),
        Some(offset) => match offset.split_once(':') {
            None => (number(offset)?, 0),
            Some((hour, minute)) => (number(hour)?, number(minute)?),
        },
    };
    let mut parts = clock.splitn(3, ':');
    let hour = number(parts.next()?)?;
    let minute = parts.next().map_or(Some(0), number)?;
    let (second, milli) = match parts.next() {
        None => (0, 0),
        Some(seconds) => match seconds.split_once('.') {
            None => (number(seconds)?, 0),
            Some((second, fraction)) => (number(second)?, thousandths(trimmed(fraction))),
        },
    };
    let part = |value: i32, zone: i32, millis: i32| {
        value
            .wrapping_add(zone.wrapping_mul(sign))
            .wrapping_mul(millis)
    };
    let of_day = part(hour, zone_hour, 3_600_000)
        .wrapping_add(part(minute, zone_minute, 60_000))
        .wrapping_add(second.wrapping_mul(1_000));
    Some(of_day.wrapping_add(milli))
}

/// The first three digits of a fraction, rounded up by the fourth; what is no digit counts as 0.
fn thousandths(fraction: &str) -> i32 {
    let mut symbols = fraction.chars();
    let mut millis = 0;
    for place in [100, 10, 1] {
        let Some(symbol) = symbols.next() else {
            return millis;
        };
        let digit = symbol
            .to_digit(10)
            .and_then(|digit| i32::try_from(digit).ok());
        millis += place * digit.unwrap_or(0);
    }
    millis + i32::from(symbols.next().is_some_and(|symbol| symbol >= '5'))
}

/// A timestamp of a clock: a count in the unit of precision 0, 3, 6 or 9, or what [`wall_clock`] reads.
pub(super) fn timestamp(text: &str, precision: u8) -> Option<Moment> {
    if !is_count(text) {
        return wall_clock(text, precision);
    }
    let count = integer(text, LONG)?;
    let per_milli = match precision {
        0 => {
            let millis = count.wrapping_mul(1_000);
            return Some(Moment { millis, nanos: 0 });
        }
        3 => 1,
        6 => 1_000,
        9 => 1_000_000,
        _ => return None,
    };
    Some(Moment {
        millis: count.div_euclid(per_milli),
        nanos: count.rem_euclid(per_milli) * (1_000_000 / per_milli),
    })
}

/// `yyyy-[M]-[d][ [H]:[m]:[s][.f]][T[H]:[m][:[s][.f]]]`, with digits beyond the precision cut. Where a part is left out it
/// is the first of its kind; the 31st of a shorter month is its last day; 24:00:00 is the next day.
pub(super) fn wall_clock(text: &str, precision: u8) -> Option<Moment> {
    let mut parser = Parser {
        rest: text,
        fields: [None; FIELDS],
    };
    parser.year()?;
    parser.literal('-')?;
    parser.part(MONTH);
    parser.literal('-')?;
    parser.part(DAY);
    parser.optional(|parser| {
        parser.literal(' ')?;
        parser.hour_and_minute()?;
        parser.seconds()
    });
    parser.optional(|parser| {
        parser.literal('T')?;
        parser.hour_and_minute()?;
        parser.optional(Parser::seconds);
        Some(())
    });
    parser.finish(precision)
}

const YEAR: usize = 0;
const MONTH: usize = 1;
const DAY: usize = 2;
const HOUR: usize = 3;
const MINUTE: usize = 4;
const SECOND: usize = 5;
const NANO: usize = 6;
const FIELDS: usize = 7;

/// Most digits of a number; more are left over.
const MOST_DIGITS: usize = 19;

/// Reads a pattern of Java's `DateTimeFormatter` (strict parser, smart resolver).
#[derive(Clone, Copy)]
struct Parser<'a> {
    rest: &'a str,
    fields: [Option<i64>; FIELDS],
}

impl<'a> Parser<'a> {
    fn literal(&mut self, symbol: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(symbol)?;
        Some(())
    }

    /// Takes it all back where a part is missing.
    fn optional(&mut self, read: impl FnOnce(&mut Self) -> Option<()>) {
        let before = *self;
        if read(self).is_none() {
            *self = before;
        }
    }

    /// Up to `most` digits.
    fn digits(&mut self, most: usize) -> &'a str {
        let count = self.rest.bytes().take(most);
        let count = count.take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at_checked(count).unwrap_or_default();
        self.rest = rest;
        digits
    }

    /// A field that is there twice must be the same.
    fn set(&mut self, field: usize, value: i64) -> Option<()> {
        let slot = self.fields.get_mut(field)?;
        if slot.is_some_and(|known| known != value) {
            return None;
        }
        *slot = Some(value);
        Some(())
    }

    fn get(&self, field: usize, default: i64, range: std::ops::RangeInclusive<i64>) -> Option<i64> {
        let value = self.fields.get(field).copied().flatten();
        let value = value.unwrap_or(default);
        range.contains(&value).then_some(value)
    }

    /// Four digits, or more after a plus. There is no year 0 and none before it.
    fn year(&mut self) -> Option<()> {
        let plus = self.literal('+').is_some();
        let digits = self.digits(MOST_DIGITS);
        let fits = if plus {
            digits.len() > 4
        } else {
            digits.len() == 4
        };
        let year = fits.then(|| digits.parse().ok()).flatten()?;
        self.set(YEAR, year)
    }

    /// Two digits, or a number; or neither.
    fn part(&mut self, field: usize) {
        self.optional(|parser| {
            let digits = parser.digits(2);
            let value = (digits.len() == 2).then(|| digits.parse().ok()).flatten()?;
            parser.set(field, value)
        });
        self.optional(|parser| {
            let negative = parser.literal('-').is_some();
            let value: i64 = parser.digits(MOST_DIGITS).parse().ok()?;
            let value = if negative { -value } else { value };
            (value != 0 || !negative).then_some(())?;
            parser.set(field, value)
        });
    }

    fn hour_and_minute(&mut self) -> Option<()> {
        self.part(HOUR);
        self.literal(':')?;
        self.part(MINUTE);
        Some(())
    }

    /// `:[s][.f]`
    fn seconds(&mut self) -> Option<()> {
        self.literal(':')?;
        self.part(SECOND);
        if self.literal('.').is_some() {
            let digits = self.digits(9);
            self.set(NANO, format!("{digits:0<9}").parse().ok()?)?;
        }
        Some(())
    }

    fn finish(&self, precision: u8) -> Option<Moment> {
        if !self.rest.is_empty() {
            return None;
        }
        let year = self.get(YEAR, 1970, 1..=999_999_999)?;
        let month = self.get(MONTH, 1, 1..=12)?;
        let day = self.get(DAY, 1, 1..=31)?;
        let day = if day > 28 {
            (28..=day)
                .rev()
                .find(|day| days_of(year, month, *day).is_some())?
        } else {
            day
        };
        let hour = self.get(HOUR, 0, 0..=24)?;
        let minute = self.get(MINUTE, 0, 0..=59)?;
        let second = self.get(SECOND, 0, 0..=59)?;
        let nano = self.get(NANO, 0, 0..=999_999_999)?;
        if hour == 24 && (minute, second, nano) != (0, 0, 0) {
            return None;
        }
        let nano = nano - nano % 10_i64.pow(u32::from(9 - precision.min(9)));
        let of_day = (hour * 3_600 + minute * 60 + second) * 1_000 + nano / 1_000_000;
        let millis = days_of(year, month, day)?
            .checked_mul(MILLIS_PER_DAY)?
            .checked_add(of_day)?;
        Some(Moment {
            millis,
            nanos: nano % 1_000_000,
        })
    }
}
