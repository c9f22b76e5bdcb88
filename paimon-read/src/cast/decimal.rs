//! Decimals: exact, then rounded half up to the scale; what then has too many digits is null (TF-092).

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type,
};
use arrow_array::{Array, ArrayRef, Decimal128Array, PrimitiveArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType as ArrowType;
use paimon_meta::{Error, Result};

use super::number::{from_doubles, from_longs};
use super::{Faults, map_valid, unexpected};

/// Most digits of a decimal.
const MAX_DIGITS: u32 = 38;
/// Most digits of a decimal that the reference holds in 64 bits.
const COMPACT_DIGITS: u8 = 18;
/// Largest power of ten that a double holds exactly.
const EXACT_POWER: i32 = 22;

/// Precision and scale of a decimal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) precision: u32,
    pub(super) scale: i32,
}

impl Shape {
    pub(super) fn of(data_type: &ArrowType) -> Option<Self> {
        match data_type {
            ArrowType::Decimal128(precision, scale) => Some(Self {
                precision: u32::from(*precision).min(MAX_DIGITS),
                scale: i32::from(*scale),
            }),
            _ => None,
        }
    }

    /// `value * 10^-scale` as an unscaled value of this shape.
    pub(super) fn fit(self, value: i128, scale: i32) -> Option<i128> {
        if value == 0 {
            return Some(0);
        }
        let shift = self.scale.checked_sub(scale)?;
        let scaled = if shift >= 0 {
            value.checked_mul(power(shift)?)?
        } else {
            match power(-shift) {
                Some(divisor) => half_up(value, divisor),
                None => 0,
            }
        };
        (scaled.unsigned_abs() < 10_u128.pow(self.precision)).then_some(scaled)
    }
}

/// `10^exponent`, if 38 digits hold it.
fn power(exponent: i32) -> Option<i128> {
    10_i128.checked_pow(u32::try_from(exponent).ok()?)
}

fn half_up(value: i128, divisor: i128) -> i128 {
    let (quotient, rest) = (value / divisor, value % divisor);
    // Twice the rest fits 128 bits without a sign.
    if rest.unsigned_abs() * 2 >= divisor.unsigned_abs() {
        quotient + value.signum()
    } else {
        quotient
    }
}

/// An array of unscaled values.
pub(super) fn finish(
    values: Vec<i128>,
    nulls: Option<NullBuffer>,
    to: &ArrowType,
) -> Result<ArrayRef> {
    let array = Decimal128Array::new(values.into(), nulls);
    let typed = match to {
        ArrowType::Decimal128(precision, scale) => {
            array.with_precision_and_scale(*precision, *scale)
        }
        _ => Ok(array),
    };
    typed
        .map(|array| Arc::new(array) as ArrayRef)
        .map_err(|error| Error::internal("precision or scale of a decimal").with_source(error))
}

/// Between scales and precisions.
pub(super) fn rescale(
    array: &ArrayRef,
    nulls: Option<NullBuffer>,
    to: &ArrowType,
) -> Result<ArrayRef> {
    let (Some(from), Some(shape), Some(decimals)) = (
        Shape::of(array.data_type()),
        Shape::of(to),
        array.as_primitive_opt::<Decimal128Type>(),
    ) else {
        return Err(unexpected(array, to));
    };
    let (values, nulls) = map_valid(decimals.values(), nulls, |_, value| {
        shape.fit(value, from.scale)
    });
    finish(values, nulls, to)
}

/// From integers, floats and booleans. Floats go through the shortest decimal text of the double (TF-093).
pub(super) fn from_number(
    array: &ArrayRef,
    nulls: Option<NullBuffer>,
    to: &ArrowType,
    faults: &mut Faults,
) -> Result<ArrayRef> {
    let shape = Shape::of(to).ok_or_else(|| unexpected(array, to))?;
    let (values, nulls) = match array.data_type() {
        ArrowType::Boolean => {
            let bits: Vec<i64> = array.as_boolean().values().iter().map(i64::from).collect();
            map_valid(&bits, nulls, |_, value| shape.fit(value.into(), 0))
        }
        ArrowType::Int8 => integers(array.as_primitive::<Int8Type>(), nulls, shape),
        ArrowType::Int16 => integers(array.as_primitive::<Int16Type>(), nulls, shape),
        ArrowType::Int32 => integers(array.as_primitive::<Int32Type>(), nulls, shape),
        ArrowType::Int64 => integers(array.as_primitive::<Int64Type>(), nulls, shape),
        ArrowType::Float32 => floats(array.as_primitive::<Float32Type>(), nulls, shape, faults),
        ArrowType::Float64 => floats(array.as_primitive::<Float64Type>(), nulls, shape, faults),
        _ => return Err(unexpected(array, to)),
    };
    finish(values, nulls, to)
}

fn integers<S: ArrowPrimitiveType<Native: Into<i128>>>(
    array: &PrimitiveArray<S>,
    nulls: Option<NullBuffer>,
    shape: Shape,
) -> (Vec<i128>, Option<NullBuffer>) {
    map_valid(array.values(), nulls, |_, value| shape.fit(value.into(), 0))
}

fn floats<S: ArrowPrimitiveType<Native: Into<f64>>>(
    array: &PrimitiveArray<S>,
    nulls: Option<NullBuffer>,
    shape: Shape,
    faults: &mut Faults,
) -> (Vec<i128>, Option<NullBuffer>) {
    map_valid(array.values(), nulls, |row, value| {
        let value: f64 = value.into();
        if !value.is_finite() {
            let name = if value.is_nan() { "NaN" } else { "infinity" };
            faults.add(row, Error::corrupt(format!("{name} is no decimal")));
            return None;
        }
        let (digits, scale) = shortest(value);
        shape.fit(digits, scale)
    })
}

/// The shortest decimal that reads back as a finite double: its digits and their scale.
fn shortest(value: f64) -> (i128, i32) {
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let fraction = mantissa
        .split_once('.')
        .map_or(0, |(_, fraction)| fraction.len());
    let digits = mantissa.replace('.', "").parse().unwrap_or(0);
    // A double has at most 17 digits.
    (digits, i32::try_from(fraction).unwrap_or(0) - exponent)
}

/// To integers (cut toward zero, then low-order bits) and floats.
pub(super) fn to_number(
    array: &ArrayRef,
    nulls: Option<NullBuffer>,
    to: &ArrowType,
) -> Result<ArrayRef> {
    let (ArrowType::Decimal128(precision, _), Some(from), Some(decimals)) = (
        array.data_type(),
        Shape::of(array.data_type()),
        array.as_primitive_opt::<Decimal128Type>(),
    ) else {
        return Err(unexpected(array, to));
    };
    let values = decimals.values().iter().copied();
    let converted = if matches!(to, ArrowType::Float32 | ArrowType::Float64) {
        let compact = *precision <= COMPACT_DIGITS;
        from_doubles(
            values.map(|value| double(value, from.scale, compact)),
            nulls,
            to,
        )
    } else {
        let divisor = power(from.scale).unwrap_or(1);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "low-order bits are the rule"
        )]
        from_longs(values.map(|value| (value / divisor) as i64), nulls, to)
    };
    converted.ok_or_else(|| unexpected(array, to))
}

/// The double of a decimal: its digits as a double divided by a power of ten if it is compact, else the nearest.
fn double(value: i128, scale: i32, compact: bool) -> f64 {
    let exact = value.unsigned_abs() < 1 << f64::MANTISSA_DIGITS;
    if compact || (exact && scale <= EXACT_POWER) {
        return value as f64 / power(scale).unwrap_or(1) as f64;
    }
    format!("{value}e-{scale}").parse().unwrap_or(f64::NAN)
}
