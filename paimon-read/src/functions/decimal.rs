//! Arithmetic on the unscaled values of decimals of one precision and scale (ME section 4.3).

use arrow_buffer::i256;
use paimon_meta::{Error, Result};

/// Digits that the reference holds in 64 bits.
const COMPACT_DIGITS: u8 = 18;

/// Digits of the longest decimal.
const MAX_DIGITS: u8 = 38;

/// The sum of two decimals of up to 18 digits, which may have more of them as long as it fits 64 bits (ME-101).
/// `None` for longer types and larger sums.
pub(super) fn compact_sum(a: i128, b: i128, precision: u8) -> Option<i128> {
    if precision > COMPACT_DIGITS {
        return None;
    }
    let (a, b) = (i64::try_from(a).ok()?, i64::try_from(b).ok()?);
    a.checked_add(b).map(i128::from)
}

/// The value, unless it has more digits than the precision allows.
pub(super) fn fitting(value: i128, precision: u8) -> Option<i128> {
    let limit = 10_u128.checked_pow(u32::from(precision.min(MAX_DIGITS)))?;
    (value.unsigned_abs() < limit).then_some(value)
}

/// The product, rounded half up to the scale; `None` if it has too many digits (ME-104).
pub(super) fn product(a: i128, b: i128, precision: u8, scale: u8) -> Option<i128> {
    let exact = i256::from_i128(a).checked_mul(i256::from_i128(b))?;
    rounded_quotient(exact, power_of_ten(scale)?, precision)
}

/// The exact quotient, rounded half up to the scale; `None` if it has too many digits. The divisor is not zero.
///
/// # Errors
/// `Corrupt` for a quotient without end (ME-105).
pub(super) fn quotient(a: i128, b: i128, precision: u8, scale: u8) -> Result<Option<i128>> {
    if !is_terminating(a.unsigned_abs(), b.unsigned_abs()) {
        return Err(Error::corrupt(
            "aggregate function product takes back a decimal with a quotient that has no end",
        ));
    }
    let dividend = power_of_ten(scale).and_then(|power| i256::from_i128(a).checked_mul(power));
    Ok(dividend.and_then(|dividend| rounded_quotient(dividend, i256::from_i128(b), precision)))
}

fn power_of_ten(exponent: u8) -> Option<i256> {
    i256::from_i128(10).checked_pow(u32::from(exponent))
}

/// `a / b` rounded half up, which is away from zero.
fn rounded_quotient(a: i256, b: i256, precision: u8) -> Option<i128> {
    let quotient = a.checked_div(b)?;
    let rest = a.checked_rem(b)?.wrapping_abs();
    let half = b.wrapping_abs().checked_sub(rest)?;
    let away = if (a < i256::ZERO) == (b < i256::ZERO) {
        i256::ONE
    } else {
        i256::MINUS_ONE
    };
    let rounded = if rest >= half {
        quotient.checked_add(away)?
    } else {
        quotient
    };
    fitting(rounded.to_i128()?, precision)
}

/// Whether `a / b` has an end in decimal notation: the reduced divisor has no prime factor but 2 and 5.
fn is_terminating(a: u128, b: u128) -> bool {
    let mut divisor = b / greatest_common_divisor(a, b).max(1);
    for factor in [2, 5] {
        while divisor > 1 && divisor.is_multiple_of(factor) {
            divisor /= factor;
        }
    }
    divisor <= 1
}

fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
