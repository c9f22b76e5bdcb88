//! Names of tags that were made automatically: each is a time, spelled as the table's options say.

use chrono::NaiveDate;
use paimon_meta::{Options, Result};

use super::bounds::fault;

/// How the names of such tags spell their times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TagPeriod {
    /// A `0` for each digit, other characters for themselves.
    pattern: &'static str,
    /// What follows a space says nothing: tags of days.
    first_word: bool,
}

impl TagPeriod {
    /// How the names of a table's tags are spelled.
    ///
    /// # Errors
    /// `InvalidInput` for options that mean nothing.
    pub(super) fn from_options(options: &Options) -> Result<Self> {
        let of = |pattern, first_word| Self {
            pattern,
            first_word,
        };
        if options
            .value(&Options::TAG_CREATION_PERIOD_DURATION)?
            .is_some()
        {
            return Ok(of("000000000000", false));
        }
        let spelled = |key: &'static str, text: String, names: &[&'static str]| {
            let found = names
                .iter()
                .find(|name| name.eq_ignore_ascii_case(text.trim()));
            found.copied().ok_or_else(|| {
                let expected = names.join(", ");
                fault(
                    key,
                    format!("option {key} is {text:?}, expected one of {expected}"),
                )
            })
        };
        let option = &Options::TAG_CREATION_PERIOD;
        let names = ["daily", "hourly", "two-hours"];
        let period = spelled(option.key, options.value(option)?, &names)?;
        let option = &Options::TAG_PERIOD_FORMATTER;
        let names = ["with_dashes", "without_dashes", "without_dashes_and_spaces"];
        let formatter = spelled(option.key, options.value(option)?, &names)?;
        Ok(match (period, formatter) {
            ("daily", "with_dashes") => of("0000-00-00", true),
            ("daily", _) => of("00000000", true),
            ("hourly", "without_dashes") => of("00000000 00", false),
            ("hourly", "without_dashes_and_spaces") => of("0000000000", false),
            _ => of("0000-00-00 00", false),
        })
    }

    /// The time of a tag's name in minutes; `None` if the name is no time, so that the tag was made by hand.
    pub(super) fn minutes(self, name: &str) -> Option<i64> {
        let name = match name.split_once(' ') {
            Some((day, _)) if self.first_word => day,
            _ => name,
        };
        if name.len() != self.pattern.len() {
            return None;
        }
        let mut digits = Vec::new();
        for (given, wanted) in name.bytes().zip(self.pattern.bytes()) {
            match wanted {
                b'0' if given.is_ascii_digit() => digits.push(i64::from(given - b'0')),
                b'0' => return None,
                _ if given == wanted => {}
                _ => return None,
            }
        }
        let mut digits = digits.into_iter();
        let mut number = |width: usize| {
            let digits = digits.by_ref().take(width);
            digits.fold(0, |number, digit| number * 10 + digit)
        };
        let (year, month, day) = (number(4), number(2), number(2));
        let (hour, minute) = (number(2), number(2));
        let date = NaiveDate::from_ymd_opt(
            i32::try_from(year).ok()?,
            u32::try_from(month).ok()?,
            u32::try_from(day).ok()?,
        )?;
        let time = date.and_hms_opt(u32::try_from(hour).ok()?, u32::try_from(minute).ok()?, 0)?;
        Some(time.and_utc().timestamp() / 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Texts<'a> = &'a [(&'a str, &'a str)];

    fn minutes(options: Texts<'_>, name: &str) -> Option<i64> {
        let options = options
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        TagPeriod::from_options(&Options(options.collect()))
            .unwrap()
            .minutes(name)
    }

    #[test]
    fn names_are_times_as_the_options_spell_them() {
        // RP-153
        let period = |text| ("tag.creation-period", text);
        let formatter = |text| ("tag.period-formatter", text);
        let cases: [(Texts<'_>, &str, Option<i64>); 9] = [
            (&[], "1970-01-02", Some(1440)),
            (&[], "1970-01-02 whatever", Some(1440)),
            (&[], "1970-02-30", None),
            (&[formatter("without_dashes")], "19700102", Some(1440)),
            (&[period("hourly")], "1970-01-01 02", Some(120)),
            (&[period("hourly")], "1970-01-01 24", None),
            (&[period("TWO-HOURS")], "1970-01-01", None),
            (
                &[period("hourly"), formatter("without_dashes_and_spaces")],
                "1970010102",
                Some(120),
            ),
            (
                &[("tag.creation-period-duration", "5 min")],
                "197001010005",
                Some(5),
            ),
        ];
        for (options, name, time) in cases {
            assert_eq!(minutes(options, name), time, "{options:?} {name}");
        }
    }
}
