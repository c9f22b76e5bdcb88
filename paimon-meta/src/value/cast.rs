//! Conversions between types that lose nothing, for literals.

use crate::types::{DataType, TypeKind};
use crate::value::Datum;

impl Datum {
    /// The same value as a value of another type; `None` if that type cannot hold exactly it.
    ///
    /// Integers convert to each other, to decimals and to floats, decimals to each other and to integers, floats to each
    /// other. All else converts only to its own type. Lengths of text and bytes do not count: a longer text is a literal
    /// that no value equals. Timestamps must not have digits beyond the precision.
    pub fn cast_to(&self, data_type: &DataType) -> Option<Self> {
        Some(match (&data_type.kind, self) {
            (TypeKind::Boolean, Self::Boolean(_))
            | (TypeKind::Char(_) | TypeKind::VarChar(_), Self::String(_))
            | (TypeKind::Binary(_) | TypeKind::VarBinary(_) | TypeKind::Blob, Self::Binary(_))
            | (TypeKind::Geometry(_) | TypeKind::Geography { .. }, Self::Binary(_))
            | (TypeKind::Date, Self::Date(_))
            | (TypeKind::Time(_), Self::Time(_))
            | (TypeKind::Float, Self::Float(_))
            | (TypeKind::Double, Self::Double(_)) => self.clone(),
            (TypeKind::Timestamp(precision), Self::Timestamp { .. })
            | (TypeKind::LocalZonedTimestamp(precision), Self::Timestamp { .. }) => {
                self.clone().fit_precision(*precision)?
            }
            (TypeKind::TinyInt, _) => Self::TinyInt(self.integer()?.try_into().ok()?),
            (TypeKind::SmallInt, _) => Self::SmallInt(self.integer()?.try_into().ok()?),
            (TypeKind::Int, _) => Self::Int(self.integer()?.try_into().ok()?),
            (TypeKind::BigInt, _) => Self::BigInt(self.integer()?.try_into().ok()?),
            (TypeKind::Decimal { precision, scale }, Self::Decimal(..)) => {
                self.clone().fit_decimal(*precision, *scale)?
            }
            (TypeKind::Decimal { precision, scale }, _) => {
                Self::Decimal(self.integer()?, 0).fit_decimal(*precision, *scale)?
            }
            (TypeKind::Double, Self::Float(value)) => Self::Double((*value).into()),
            (TypeKind::Float, Self::Double(value)) => Self::Float(narrow(*value)?),
            (
                TypeKind::Double,
                Self::TinyInt(_) | Self::SmallInt(_) | Self::Int(_) | Self::BigInt(_),
            ) => Self::Double(
                self.integer()
                    .filter(|value| has_bits(*value, f64::MANTISSA_DIGITS))? as f64,
            ),
            (
                TypeKind::Float,
                Self::TinyInt(_) | Self::SmallInt(_) | Self::Int(_) | Self::BigInt(_),
            ) => Self::Float(
                self.integer()
                    .filter(|value| has_bits(*value, f32::MANTISSA_DIGITS))? as f32,
            ),
            _ => return None,
        })
    }

    /// The value of an integer, or of a decimal that is whole.
    fn integer(&self) -> Option<i128> {
        Some(match self {
            Self::TinyInt(value) => (*value).into(),
            Self::SmallInt(value) => (*value).into(),
            Self::Int(value) => (*value).into(),
            Self::BigInt(value) => (*value).into(),
            Self::Decimal(value, scale) => {
                let factor = 10i128.checked_pow((*scale).into())?;
                (value % factor == 0).then_some(value / factor)?
            }
            _ => return None,
        })
    }

    /// A decimal with another scale, if it is exact and has at most `precision` digits.
    pub(super) fn fit_decimal(self, precision: u8, scale: u8) -> Option<Self> {
        let Self::Decimal(value, old_scale) = self else {
            return None;
        };
        let factor = 10i128.checked_pow(scale.abs_diff(old_scale).into());
        let value = match factor {
            _ if value == 0 => 0,
            Some(factor) if scale >= old_scale => value.checked_mul(factor)?,
            Some(factor) if value % factor == 0 => value / factor,
            _ => return None,
        };
        let limit = 10u128.checked_pow(precision.into())?;
        (value.unsigned_abs() < limit).then_some(Self::Decimal(value, scale))
    }

    /// A timestamp, if it has no digits beyond `precision`.
    pub(super) fn fit_precision(self, precision: u8) -> Option<Self> {
        let Self::Timestamp { millis, nanos } = self else {
            return None;
        };
        let fits = match precision {
            0..=3 => nanos == 0 && millis % 10i64.pow(u32::from(3 - precision)) == 0,
            4..=9 => nanos % 10i32.pow(u32::from(9 - precision)) == 0,
            _ => true,
        };
        fits.then_some(self)
    }
}

/// Whether an integer has at most `bits` significant bits: a float with that many holds it exactly.
fn has_bits(value: i128, bits: u32) -> bool {
    let magnitude = value.unsigned_abs();
    magnitude == 0 || u128::BITS - magnitude.leading_zeros() - magnitude.trailing_zeros() <= bits
}

/// The float that is exactly this double.
fn narrow(value: f64) -> Option<f32> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "what does not come back is not used"
    )]
    let narrowed = value as f32;
    (f64::from(narrowed) == value || value.is_nan()).then_some(narrowed)
}
