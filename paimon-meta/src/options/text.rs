//! Texts of options as values. Facts: table-format section 2.4.

use std::time::Duration;

/// What an option's text can be read as.
pub trait FromOption: Sized {
    /// What is expected, for error messages.
    const EXPECTED: &'static str;

    /// The value of a text; `None` as text is an option that is not set and has no default, `None` as result a text
    /// that is not a value.
    fn from_option(text: Option<&str>) -> Option<Self>;
}

impl<T: FromOption> FromOption for Option<T> {
    const EXPECTED: &'static str = T::EXPECTED;

    fn from_option(text: Option<&str>) -> Option<Self> {
        if text.is_none() {
            Some(None)
        } else {
            T::from_option(text).map(Some)
        }
    }
}

impl FromOption for bool {
    const EXPECTED: &'static str = "true or false";

    fn from_option(text: Option<&str>) -> Option<Self> {
        one_of(text?, &[("true", true), ("false", false)])
    }
}

impl FromOption for i32 {
    const EXPECTED: &'static str = "a 32-bit integer";

    fn from_option(text: Option<&str>) -> Option<Self> {
        text?.trim().parse().ok()
    }
}

impl FromOption for i64 {
    const EXPECTED: &'static str = "an integer";

    fn from_option(text: Option<&str>) -> Option<Self> {
        text?.trim().parse().ok()
    }
}

impl FromOption for usize {
    const EXPECTED: &'static str = "a number above 0";

    fn from_option(text: Option<&str>) -> Option<Self> {
        text?.trim().parse().ok().filter(|number| *number > 0)
    }
}

impl FromOption for String {
    const EXPECTED: &'static str = "a text";

    fn from_option(text: Option<&str>) -> Option<Self> {
        text.map(str::to_owned)
    }
}

/// A list with commas; spaces around entries and empty entries do not count. Not set is the empty list.
impl FromOption for Vec<String> {
    const EXPECTED: &'static str = "a list with commas";

    fn from_option(text: Option<&str>) -> Option<Self> {
        let entries = text.unwrap_or_default().split(',').map(str::trim);
        Some(
            entries
                .filter(|entry| !entry.is_empty())
                .map(str::to_owned)
                .collect(),
        )
    }
}

/// A number of bytes: digits and a unit in powers of 1024, bytes without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemorySize(pub u64);

impl FromOption for MemorySize {
    const EXPECTED: &'static str = "a size such as 128 mb";

    fn from_option(text: Option<&str>) -> Option<Self> {
        let (number, unit) = number_and_unit(text?)?;
        let exponent = match unit.as_str() {
            "" | "b" | "bytes" => 0,
            "k" | "kb" | "kibibytes" => 10,
            "m" | "mb" | "mebibytes" => 20,
            "g" | "gb" | "gibibytes" => 30,
            "t" | "tb" | "tebibytes" => 40,
            _ => return None,
        };
        let bytes = number.checked_mul(1 << exponent)?;
        i64::try_from(bytes).is_ok().then_some(Self(bytes))
    }
}

/// Digits and a unit, milliseconds without one.
impl FromOption for Duration {
    const EXPECTED: &'static str = "a duration such as 10 s";

    fn from_option(text: Option<&str>) -> Option<Self> {
        let (number, unit) = number_and_unit(text?)?;
        let seconds = |factor| number.checked_mul(factor).map(Self::from_secs);
        match unit.as_str() {
            "d" | "day" | "days" => seconds(86_400),
            "h" | "hour" | "hours" => seconds(3_600),
            "m" | "min" | "minute" | "minutes" => seconds(60),
            "s" | "sec" | "secs" | "second" | "seconds" => seconds(1),
            "" | "ms" | "milli" | "millis" | "millisecond" | "milliseconds" => {
                Some(Self::from_millis(number))
            }
            "µs" | "micro" | "micros" | "microsecond" | "microseconds" => {
                Some(Self::from_micros(number))
            }
            "ns" | "nano" | "nanos" | "nanosecond" | "nanoseconds" => {
                Some(Self::from_nanos(number))
            }
            _ => None,
        }
    }
}

fn number_and_unit(text: &str) -> Option<(u64, String)> {
    let text = text.trim();
    let end = text
        .find(|symbol: char| !symbol.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(end)?;
    let number: i64 = number.parse().ok()?;
    Some((number.try_into().ok()?, unit.trim().to_lowercase()))
}

/// The value of a name, in any case.
pub(super) fn one_of<T: Copy>(text: &str, names: &[(&str, T)]) -> Option<T> {
    names
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(text.trim()))
        .map(|(_, value)| *value)
}
