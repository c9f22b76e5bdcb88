//! Numbers, sizes and times as a person reads them.

use paimon_meta::Datum;

/// With a comma between thousands.
pub(crate) fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The number and the word, in the plural unless it is one.
pub(crate) fn count(value: u64, word: &str) -> String {
    let (stem, ending) = match (value, word.strip_suffix('y')) {
        (1, _) => (word, ""),
        (_, Some(stem)) => (stem, "ies"),
        (_, None) => (word, "s"),
    };
    format!("{} {stem}{ending}", number(value))
}

/// Bytes, in the largest unit that leaves a number of 1 or more, with three digits at least where they are not exact.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let exponent = bytes.max(1).ilog2() / 10;
    let Some(unit) = exponent
        .checked_sub(1)
        .and_then(|unit| UNITS.get(unit as usize))
    else {
        return count(bytes, "byte");
    };
    let one = 1_u128 << (10 * exponent);
    let hundredths = (u128::from(bytes) * 100 + one / 2) / one;
    let (whole, fraction) = (hundredths / 100, hundredths % 100);
    match (whole, fraction) {
        (_, 0) | (100.., _) => format!("{} {unit}", whole + u128::from(fraction >= 50)),
        (10.., _) => format!("{whole}.{} {unit}", fraction / 10),
        _ => format!("{whole}.{fraction:02} {unit}"),
    }
}

/// An instant, milliseconds since 1970, in UTC.
pub(crate) fn time(millis: i64) -> String {
    let time = Datum::Timestamp { millis, nanos: 0 }.to_string();
    format!("{}Z", time.replacen('T', " ", 1))
}

/// Milliseconds below a second, else seconds, three digits at least.
pub(crate) fn duration(nanos: u64) -> String {
    let micros = nanos / 1000;
    match micros {
        0..1_000_000 => format!("{}.{:02} ms", micros / 1000, micros % 1000 / 10),
        _ => format!(
            "{}.{:02} s",
            micros / 1_000_000,
            micros % 1_000_000 / 10_000
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_have_commas() {
        let cases = [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
        assert_eq!(number(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(count(1, "row"), "1 row");
        assert_eq!(count(0, "row"), "0 rows");
        assert_eq!(count(2, "entry"), "2 entries");
    }

    #[test]
    fn sizes_have_units_and_three_digits() {
        let cases = [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1023, "1,023 bytes"),
            (1024, "1 KiB"),
            (1500, "1.46 KiB"),
            (3277, "3.20 KiB"),
            (15_000, "14.6 KiB"),
            (4 << 20, "4 MiB"),
            (128 << 20, "128 MiB"),
            (1023 << 10, "1023 KiB"),
            (u64::MAX, "16 EiB"),
        ];
        for (bytes, text) in cases {
            assert_eq!(size(bytes), text, "{bytes}");
        }
    }
    #[test]
    fn times_are_in_utc() {
        assert_eq!(time(1_700_000_000_500), "2023-11-14 22:13:20.5Z");
    }

    #[test]
    fn durations_have_units() {
        let cases = [
            (0, "0.00 ms"),
            (1_234_567, "1.23 ms"),
            (999_999_999, "999.99 ms"),
            (61_250_000_000, "61.25 s"),
        ];
        for (nanos, text) in cases {
            assert_eq!(duration(nanos), text);
        }
    }
}
