//! Decimals as bytes and with other scales than the asked one.

use paimon_meta::{Error, Result};

/// Bytes of the widest decimal.
#[cfg(any(feature = "avro", feature = "parquet"))]
pub(crate) const WIDTH: usize = size_of::<i128>();

/// Two's complement, big-endian. More than 16 bytes are read if those in front only repeat the sign.
///
/// # Errors
/// `Corrupt` for no bytes and for more than 128 bits.
#[cfg(any(feature = "avro", feature = "parquet"))]
pub(crate) fn signed_big_endian(bytes: &[u8]) -> Result<i128> {
    let bad = || {
        Error::corrupt(format!(
            "decimal of {} bytes, expected 1 to {WIDTH}",
            bytes.len()
        ))
    };
    let negative = bytes.first().ok_or_else(bad)? & 0x80 != 0;
    let sign = if negative { 0xFF } else { 0 };
    let (front, value) = bytes.split_at(bytes.len().saturating_sub(WIDTH));
    let kept_sign = value
        .first()
        .is_some_and(|first| (first & 0x80 != 0) == negative);
    if front.iter().any(|byte| *byte != sign) || !kept_sign {
        return Err(bad());
    }
    let mut wide = [sign; WIDTH];
    wide.iter_mut()
        .rev()
        .zip(value.iter().rev())
        .for_each(|(to, from)| *to = *from);
    Ok(i128::from_be_bytes(wide))
}

/// A value does not fit a precision.
pub(crate) fn too_many_digits(unscaled: i128, precision: u8) -> Error {
    Error::corrupt(format!(
        "decimal with unscaled value {unscaled} does not fit {precision} digits"
    ))
}

/// Brings unscaled values of any scale to one scale and compares them with a precision. No digit is cut.
#[cfg(any(feature = "avro", feature = "orc"))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rescale {
    precision: u8,
    scale: i32,
    /// No value is as large as this.
    limit: u128,
}

#[cfg(any(feature = "avro", feature = "orc"))]
impl Rescale {
    pub(crate) fn new(precision: u8, scale: u8) -> Self {
        Self {
            precision,
            scale: i32::from(scale),
            limit: 10_u128.pow(u32::from(precision).min(38)),
        }
    }

    /// An unscaled value of `scale` as one of the asked scale.
    ///
    /// # Errors
    /// `Corrupt` if it does not fit.
    #[inline]
    pub(crate) fn apply(self, unscaled: i128, scale: i32) -> Result<i128> {
        let value = if scale == self.scale {
            Some(unscaled)
        } else {
            self.shifted(unscaled, scale)
        };
        value
            .filter(|value| value.unsigned_abs() < self.limit)
            .ok_or_else(|| too_many_digits(unscaled, self.precision))
    }

    /// As [`Self::apply`], but null for a value of the asked scale that has too many digits: the reference's writers put
    /// sums into Avro files as they are, and its readers read null (ME-101).
    ///
    /// # Errors
    /// `Corrupt` for a value of another scale that does not fit.
    #[cfg(feature = "avro")]
    #[inline]
    pub(crate) fn apply_or_null(self, unscaled: i128, scale: i32) -> Result<Option<i128>> {
        match self.apply(unscaled, scale) {
            Err(_) if scale == self.scale => Ok(None),
            fits => fits.map(Some),
        }
    }

    fn shifted(self, unscaled: i128, scale: i32) -> Option<i128> {
        let digits = self.scale.checked_sub(scale)?;
        let factor = 10_i128.checked_pow(digits.unsigned_abs().min(38))?;
        if digits > 0 {
            unscaled.checked_mul(factor)
        } else {
            (unscaled % factor == 0).then_some(unscaled / factor)
        }
    }
}

#[cfg(all(test, any(feature = "avro", feature = "orc")))]
mod tests {
    use super::*;

    #[test]
    fn scales_are_changed_without_cutting_digits() {
        let rescale = Rescale::new(5, 2);
        assert_eq!(rescale.apply(12345, 2).unwrap(), 12345);
        assert_eq!(rescale.apply(-5, 0).unwrap(), -500);
        assert_eq!(rescale.apply(1500, 3).unwrap(), 150);
        for (value, scale) in [(100_000, 2), (1501, 3), (1000, 0), (i128::MAX, -40)] {
            assert!(rescale.apply(value, scale).is_err(), "{value} {scale}");
        }
    }

    #[cfg(feature = "avro")]
    #[test]
    fn sums_of_too_many_digits_in_avro_are_null() {
        // ME-101
        let rescale = Rescale::new(3, 1);
        assert_eq!(rescale.apply_or_null(999, 1).unwrap(), Some(999));
        assert_eq!(rescale.apply_or_null(1089, 1).unwrap(), None);
        assert!(rescale.apply_or_null(1089, 2).is_err());
    }

    #[cfg(feature = "avro")]
    #[test]
    fn bytes_are_big_endian_two_s_complement() {
        assert_eq!(signed_big_endian(&[0xff]).unwrap(), -1);
        assert_eq!(signed_big_endian(&[1, 0]).unwrap(), 256);
        assert_eq!(signed_big_endian(&[0xff; 20]).unwrap(), -1);
        assert!(signed_big_endian(&[]).is_err());
        assert!(signed_big_endian(&[1; 17]).is_err());
    }
}
