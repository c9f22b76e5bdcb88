//! Exact decimal numbers of any size.

use super::place::Place;

/// `±digits × 10^exponent`.
#[derive(Debug, PartialEq)]
pub(super) struct Exact {
    negative: bool,
    /// ASCII digits without zeros at either end; empty for zero.
    digits: String,
    exponent: i64,
}

impl Exact {
    /// Reads an optional sign, digits with an optional point, and an optional exponent.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = [whole, fraction].concat();
        if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let significant = digits.trim_end_matches('0');
        let dropped = i64::try_from(digits.len() - significant.len()).ok()?;
        let behind_point = i64::try_from(fraction.len()).ok()?;
        Some(Self {
            negative: text.starts_with('-'),
            digits: significant.trim_start_matches('0').to_owned(),
            exponent: i64::from(exponent) + dropped - behind_point,
        })
    }

    /// The number that a double is exactly; `None` for NaN and infinities.
    pub(super) fn of(value: f64) -> Option<Self> {
        // No double has more digits behind the point.
        value
            .is_finite()
            .then(|| Self::parse(&format!("{value:.1074}")))?
    }

    /// Its place among the multiples of 10^-scale, given as such multiples.
    pub(super) fn place(&self, scale: u8) -> Place<i128> {
        if self.digits.is_empty() {
            return Place::At(0);
        }
        let shift = self.exponent + i64::from(scale);
        let (magnitude, is_whole) = match usize::try_from(shift) {
            Ok(zeros) => (self.with_zeros(zeros), true),
            Err(_) => (self.without_last(shift.unsigned_abs()), false),
        };
        let signed = magnitude.and_then(|magnitude| {
            let below = if self.negative && !is_whole { 1 } else { 0 };
            let magnitude = magnitude.checked_add(below)?;
            Some(if self.negative { -magnitude } else { magnitude })
        });
        match (signed, is_whole) {
            (Some(value), true) => Place::At(value),
            (Some(value), false) => Place::After(value),
            (None, _) if self.negative => Place::BelowAll,
            (None, _) => Place::AboveAll,
        }
    }

    /// The digits with zeros behind them; `None` if that is too large.
    fn with_zeros(&self, zeros: usize) -> Option<i128> {
        let factor = 10_i128.checked_pow(u32::try_from(zeros).ok()?)?;
        self.digits.parse::<i128>().ok()?.checked_mul(factor)
    }

    /// The digits without the last `count`, which are not all zero.
    fn without_last(&self, count: u64) -> Option<i128> {
        let kept = usize::try_from(count)
            .ok()
            .and_then(|count| self.digits.len().checked_sub(count));
        match kept.and_then(|kept| self.digits.get(..kept)) {
            None | Some("") => Some(0),
            Some(digits) => digits.parse().ok(),
        }
    }
}
