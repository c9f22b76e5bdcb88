//! Numbers as the reference reads them from text.

use super::decimal::Shape;

/// Digits that Java's `BigInteger` can hold; beyond them the reference fails instead of giving null.
const MOST_DIGITS: i64 = 646_456_993;

/// An integer between bounds: a sign, digits, and digits after a point that do not count. No spaces.
pub(super) fn integer(text: &str, bounds: std::ops::RangeInclusive<i64>) -> Option<i64> {
    let (negative, digits) = match text.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        all => (false, all),
    };
    let point = digits.iter().position(|byte| *byte == b'.');
    let (whole, fraction) = match point {
        Some(point) => (digits.get(..point)?, digits.get(point + 1..)?),
        None => (digits, &[][..]),
    };
    if digits.is_empty() || !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    // Down from zero, for there is one more integer below it than above.
    let down = whole.iter().try_fold(0_i64, |value, byte| {
        let digit = byte.is_ascii_digit().then(|| i64::from(byte - b'0'))?;
        value.checked_mul(10)?.checked_sub(digit)
    })?;
    let value = if negative { down } else { down.checked_neg()? };
    bounds.contains(&value).then_some(value)
}

/// A boolean: t, true, y, yes, 1 or f, false, n, no, 0 in any case.
pub(super) fn boolean(text: &str) -> Option<bool> {
    // The only letters beyond ASCII that become one of these do so in no word of them.
    let is = |word: &&str| text.eq_ignore_ascii_case(word);
    if ["t", "true", "y", "yes", "1"].iter().any(&is) {
        return Some(true);
    }
    let no = ["f", "false", "n", "no", "0"].iter().any(is);
    no.then_some(false)
}

/// Text without what Java trims: all up to the space.
pub(super) fn trimmed(text: &str) -> &str {
    text.trim_matches(|symbol| symbol <= ' ')
}

/// What the text of a float says.
enum Number<'a> {
    Nan,
    Infinite,
    /// A well-formed decimal number.
    Decimal(&'a str),
    /// Bits and a binary exponent.
    Binary(u64, i32),
}

/// A double as Java reads it: spaces around it, `NaN`, `Infinity`, exponents, a type suffix, hexadecimal digits.
pub(super) fn double(text: &str) -> Option<f64> {
    let (negative, number) = signed_number(text)?;
    let value = match number {
        Number::Nan => f64::NAN,
        Number::Infinite => f64::INFINITY,
        Number::Decimal(text) => text.parse().ok()?,
        Number::Binary(bits, exponent) => rounded(bits, exponent, 53, -1074),
    };
    Some(if negative { -value } else { value })
}

/// A float, as [`double`]; rounded once.
pub(super) fn float(text: &str) -> Option<f32> {
    let (negative, number) = signed_number(text)?;
    let value = match number {
        Number::Nan => f32::NAN,
        Number::Infinite => f32::INFINITY,
        Number::Decimal(text) => text.parse().ok()?,
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it has the digits of a float already"
        )]
        Number::Binary(bits, exponent) => rounded(bits, exponent, 24, -149) as f32,
    };
    Some(if negative { -value } else { value })
}

fn signed_number(text: &str) -> Option<(bool, Number<'_>)> {
    let text = trimmed(text);
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let number = match text {
        "NaN" => Number::Nan,
        "Infinity" => Number::Infinite,
        _ => {
            let text = text.strip_suffix(['f', 'F', 'd', 'D']).unwrap_or(text);
            match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
                Some(digits) => {
                    let (bits, exponent) = hexadecimal(digits)?;
                    Number::Binary(bits, exponent)
                }
                None if is_number(text) => Number::Decimal(text),
                None => return None,
            }
        }
    };
    Some((negative, number))
}

/// Digits with an optional point, and an optional exponent.
fn is_number(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let exponent = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    exponent && digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty())
}

/// Bits and binary exponent of hexadecimal digits with a point and an exponent. Bits that 64 cannot hold are joined into
/// the last one, which is enough to round by.
fn hexadecimal(text: &str) -> Option<(u64, i32)> {
    let (mantissa, exponent) = text.split_once(['p', 'P'])?;
    let unsigned = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let limit = if exponent.starts_with('-') {
        i64::MIN
    } else {
        i64::MAX
    };
    let exponent: i64 = exponent.parse().unwrap_or(limit);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let (mut bits, mut dropped) = (0_u64, 0_i64);
    for symbol in whole.chars().chain(fraction.chars()) {
        let digit = u64::from(symbol.to_digit(16)?);
        if bits >> 60 == 0 {
            bits = bits << 4 | digit;
        } else {
            bits |= u64::from(digit != 0);
            dropped += 4;
        }
    }
    let places = i64::try_from(fraction.len()).ok()?.checked_mul(4)?;
    let exponent = exponent.saturating_add(dropped - places);
    // Far beyond every float either way.
    Some((bits, i32::try_from(exponent.clamp(-100_000, 100_000)).ok()?))
}

/// `bits * 2^exponent` rounded to a float of `digits` bits whose smallest exponent is `least`: to the nearest, to even
/// between two.
pub(super) fn rounded(bits: u64, exponent: i32, digits: i32, least: i32) -> f64 {
    if bits == 0 {
        return 0.0;
    }
    let width = i32::try_from(u64::BITS - bits.leading_zeros()).unwrap_or(0);
    let drop = (width - digits).max(least - exponent).max(0);
    let kept = match u32::try_from(drop).unwrap_or(0) {
        0 => bits,
        drop @ 1..=64 => {
            let wide = u128::from(bits);
            let (quotient, rest) = (wide >> drop, wide & ((1 << drop) - 1));
            let half = 1_u128 << (drop - 1);
            let up = rest > half || (rest == half && quotient & 1 == 1);
            u64::try_from(quotient + u128::from(up)).unwrap_or(u64::MAX)
        }
        _ => 0,
    };
    // Each factor is exact, and so is the product unless it is infinite.
    let exponent = exponent.saturating_add(drop);
    let half = exponent / 2;
    kept as f64 * 2_f64.powi(half) * 2_f64.powi(exponent - half)
}

/// What a decimal number in text becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parsed {
    /// An unscaled value.
    Fits(i128),
    /// It has too many digits.
    TooLarge,
    /// It is no number.
    No,
}

/// A decimal (Java's `BigDecimal`): a sign, digits with an optional point, an optional exponent; no spaces. Rounded half up.
pub(super) fn decimal(text: &str, shape: Shape) -> Parsed {
    decimal_or_none(text, shape).unwrap_or(Parsed::No)
}

fn decimal_or_none(text: &str, shape: Shape) -> Option<Parsed> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !is_number(unsigned) {
        return None;
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent_of(exponent)?),
        None => (unsigned, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let scale = i64::try_from(fraction.len()).ok()? - exponent;
    i32::try_from(scale).ok()?;
    let digits = [whole, fraction].concat();
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Some(Parsed::Fits(0));
    }
    // How many of the digits stand before the last place that is kept.
    let kept = i64::try_from(digits.len()).ok()? - scale + i64::from(shape.scale);
    if kept > MOST_DIGITS {
        return None;
    }
    if kept > i64::from(shape.precision) {
        return Some(Parsed::TooLarge);
    }
    let Ok(kept) = usize::try_from(kept) else {
        return Some(Parsed::Fits(0));
    };
    let (front, rest) = digits.split_at_checked(kept).unwrap_or((digits, ""));
    let mut value: i128 = if front.is_empty() {
        0
    } else {
        front.parse().ok()?
    };
    let zeros = u32::try_from(kept - front.len()).ok()?;
    value = value.checked_mul(10_i128.checked_pow(zeros)?)?;
    value += i128::from(rest.bytes().next().is_some_and(|digit| digit >= b'5'));
    let value = if text.starts_with('-') { -value } else { value };
    Some(match shape.fit(value, shape.scale) {
        Some(value) => Parsed::Fits(value),
        None => Parsed::TooLarge,
    })
}

/// An exponent of at most ten digits that count.
fn exponent_of(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let digits = digits.trim_start_matches('0');
    if digits.len() > 10 {
        return None;
    }
    let value: i64 = if digits.is_empty() {
        0
    } else {
        digits.parse().ok()?
    };
    Some(if text.starts_with('-') { -value } else { value })
}
