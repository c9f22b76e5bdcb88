//! Arithmetic on the unscaled values of decimals of one precision and scale (ME section 4.3).

use arrow_buffer::i256;
use paimon_meta::{Error, Result};

/// Digits that the reference holds in 64 bits.
const COMPACT_DIGITS: u8 = 18;

/// Digits of the longest decimal.
const MAX_DIGITS: u8 = 38;

/// Unscaled values that fit a type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    least: i128,
    most: i128,
}

impl Range {
    /// Values of as many digits as the precision allows.
    pub(super) fn of_digits(precision: u8) -> Self {
        let most = 10_i128.pow(u32::from(precision.min(MAX_DIGITS))) - 1;
        Self { least: -most, most }
    }

    /// Sums that the reference does not give up: those of short decimals fit 64 bits, however many digits they have
    /// (ME-101).
    pub(super) fn of_sums(precision: u8) -> Self {
        if precision > COMPACT_DIGITS {
            return Self::of_digits(precision);
        }
        Self {
            least: i128::from(i64::MIN),
            most: i128::from(i64::MAX),
        }
    }

    /// The value if it fits.
    #[inline]
    pub(super) fn fit(self, value: i128) -> Option<i128> {
        (self.least <= value && value <= self.most).then_some(value)
    }
}

/// Products and quotients of decimals of one scale.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scaled {
    /// Ten to the power of the scale.
    unit: i256,
    range: Range,
}

impl Scaled {
    pub(super) fn new(precision: u8, scale: u8) -> Self {
        let unit = i256::from_i128(10_i128.pow(u32::from(scale.min(MAX_DIGITS))));
        let range = Range::of_digits(precision);
        Self { unit, range }
    }

    /// The product, rounded half up to the scale; `None` if it has too many digits (ME-104).
    pub(super) fn product(self, a: i128, b: i128) -> Option<i128> {
        let exact = i256::from_i128(a).checked_mul(i256::from_i128(b))?;
        self.range.fit(rounded_quotient(exact, self.unit)?)
    }

    /// The exact quotient, rounded half up to the scale; `None` if it has too many digits. The divisor is not zero.
    ///
    /// # Errors
    /// `Corrupt` for a quotient without end (ME-105).
    pub(super) fn quotient(self, a: i128, b: i128) -> Result<Option<i128>> {
        if !is_terminating(a.unsigned_abs(), b.unsigned_abs()) {
            return Err(Error::corrupt(
                "aggregate function product takes back a decimal with a quotient that has no end",
            ));
        }
        let dividend = i256::from_i128(a).checked_mul(self.unit);
        let quotient = dividend.and_then(|dividend| rounded_quotient(dividend, i256::from_i128(b)));
        Ok(quotient.and_then(|quotient| self.range.fit(quotient)))
    }
}

/// `a / b` rounded half up, which is away from zero.
fn rounded_quotient(a: i256, b: i256) -> Option<i128> {
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
    rounded.to_i128()
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
