//! Between integers, floats and booleans: Java's primitive conversions.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, PrimitiveArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::DataType as ArrowType;
use paimon_meta::Result;

use super::unexpected;

/// Integers keep their low-order bits, floats are cut toward zero and saturate at 32 or 64 bits (NaN is 0), all to floats
/// is the nearest value (TF-091).
pub(super) fn convert(
    array: &ArrayRef,
    nulls: Option<NullBuffer>,
    to: &ArrowType,
) -> Result<ArrayRef> {
    let converted = match array.data_type() {
        ArrowType::Int8 => integers(array.as_primitive::<Int8Type>(), nulls, to),
        ArrowType::Int16 => integers(array.as_primitive::<Int16Type>(), nulls, to),
        ArrowType::Int32 => integers(array.as_primitive::<Int32Type>(), nulls, to),
        ArrowType::Int64 => integers(array.as_primitive::<Int64Type>(), nulls, to),
        ArrowType::Float32 => floats(array.as_primitive::<Float32Type>(), nulls, to),
        ArrowType::Float64 => floats(array.as_primitive::<Float64Type>(), nulls, to),
        _ => None,
    };
    converted.ok_or_else(|| unexpected(array, to))
}

pub(super) fn array_from<T: ArrowPrimitiveType>(
    values: impl Iterator<Item = T::Native>,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    let values: Vec<T::Native> = values.collect();
    Arc::new(PrimitiveArray::<T>::new(values.into(), nulls))
}

fn integers<S: ArrowPrimitiveType<Native: Into<i64>>>(
    array: &PrimitiveArray<S>,
    nulls: Option<NullBuffer>,
    to: &ArrowType,
) -> Option<ArrayRef> {
    from_longs(
        array.values().iter().map(|value| (*value).into()),
        nulls,
        to,
    )
}

/// 64-bit integers as any number.
#[expect(
    clippy::cast_possible_truncation,
    reason = "low-order bits and nearest floats are the rule"
)]
pub(super) fn from_longs(
    values: impl Iterator<Item = i64>,
    nulls: Option<NullBuffer>,
    to: &ArrowType,
) -> Option<ArrayRef> {
    Some(match to {
        ArrowType::Int8 => array_from::<Int8Type>(values.map(|value| value as i8), nulls),
        ArrowType::Int16 => array_from::<Int16Type>(values.map(|value| value as i16), nulls),
        ArrowType::Int32 => array_from::<Int32Type>(values.map(|value| value as i32), nulls),
        ArrowType::Int64 => array_from::<Int64Type>(values, nulls),
        ArrowType::Float32 => array_from::<Float32Type>(values.map(|value| value as f32), nulls),
        ArrowType::Float64 => array_from::<Float64Type>(values.map(|value| value as f64), nulls),
        _ => return None,
    })
}

fn floats<S: ArrowPrimitiveType<Native: Into<f64>>>(
    array: &PrimitiveArray<S>,
    nulls: Option<NullBuffer>,
    to: &ArrowType,
) -> Option<ArrayRef> {
    from_doubles(
        array.values().iter().map(|value| (*value).into()),
        nulls,
        to,
    )
}

/// Doubles as any number. Narrow integers are made of 32 bits, as in Java.
#[expect(
    clippy::cast_possible_truncation,
    reason = "saturating, then low-order bits are the rule"
)]
pub(super) fn from_doubles(
    values: impl Iterator<Item = f64>,
    nulls: Option<NullBuffer>,
    to: &ArrowType,
) -> Option<ArrayRef> {
    Some(match to {
        ArrowType::Int8 => array_from::<Int8Type>(values.map(|value| value as i32 as i8), nulls),
        ArrowType::Int16 => array_from::<Int16Type>(values.map(|value| value as i32 as i16), nulls),
        ArrowType::Int32 => array_from::<Int32Type>(values.map(|value| value as i32), nulls),
        ArrowType::Int64 => array_from::<Int64Type>(values.map(|value| value as i64), nulls),
        ArrowType::Float32 => array_from::<Float32Type>(values.map(|value| value as f32), nulls),
        ArrowType::Float64 => array_from::<Float64Type>(values, nulls),
        _ => return None,
    })
}

/// 1 and 0.
pub(super) fn from_boolean(
    array: &ArrayRef,
    nulls: Option<NullBuffer>,
    to: &ArrowType,
) -> Result<ArrayRef> {
    let values = array
        .as_boolean_opt()
        .ok_or_else(|| unexpected(array, to))?;
    from_longs(values.values().iter().map(i64::from), nulls, to)
        .ok_or_else(|| unexpected(array, to))
}

/// Whether a number is not 0.
pub(super) fn to_boolean(array: &ArrayRef, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    fn bits<S: ArrowPrimitiveType<Native: Into<i64>>>(array: &PrimitiveArray<S>) -> BooleanBuffer {
        let values = array.values().iter();
        values.map(|value| (*value).into() != 0).collect()
    }
    let bits = match array.data_type() {
        ArrowType::Int8 => bits(array.as_primitive::<Int8Type>()),
        ArrowType::Int16 => bits(array.as_primitive::<Int16Type>()),
        ArrowType::Int32 => bits(array.as_primitive::<Int32Type>()),
        ArrowType::Int64 => bits(array.as_primitive::<Int64Type>()),
        _ => return Err(unexpected(array, &ArrowType::Boolean)),
    };
    Ok(Arc::new(BooleanArray::new(bits, nulls)))
}
