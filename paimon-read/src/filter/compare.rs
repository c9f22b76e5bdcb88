//! Comparisons of a column with one literal.
//!
//! Decimals and timestamps come at the scale or unit of the array, which may be coarser than the literal's: the literal
//! is then placed among the array's values, on one, between two, or beyond all. Floats compare by keys that order as
//! Java does (ME 1.2). All else is Arrow's kernels, which agree with [`Datum::compare`].

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float32Type, Float64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, Scalar};
use arrow_buffer::{BooleanBuffer, Buffer};
use arrow_ord::cmp;
use arrow_schema::{DataType as ArrowType, TimeUnit};
use paimon_meta::{CompareOp, Datum, Error, Result, array_of};

/// Where `value op literal` holds; what null slots say does not count.
pub(super) fn compare(op: CompareOp, literal: &Datum, array: &dyn Array) -> Result<BooleanBuffer> {
    match (array.data_type(), literal) {
        (ArrowType::Float32, Datum::Float(literal)) => {
            let literal = float_key(*literal);
            let values = array.as_primitive::<Float32Type>().values();
            Ok(compare_keys(op, literal, values, |value| float_key(*value)))
        }
        (ArrowType::Float64, Datum::Double(literal)) => {
            let literal = double_key(*literal);
            let values = array.as_primitive::<Float64Type>().values();
            Ok(compare_keys(op, literal, values, |value| {
                double_key(*value)
            }))
        }
        (ArrowType::Decimal128(_, scale), Datum::Decimal(literal, of)) => {
            let values = array.as_primitive::<Decimal128Type>().values();
            Ok(place_decimal(*literal, *of, *scale).compare(op, values))
        }
        (ArrowType::Timestamp(unit, _), Datum::Timestamp { millis, nanos }) => {
            let place = place_timestamp(*millis, *nanos, *unit);
            Ok(place.compare(op, timestamp_values(array, *unit)))
        }
        _ => compare_with_kernel(op, literal, array),
    }
}

fn compare_with_kernel(op: CompareOp, literal: &Datum, array: &dyn Array) -> Result<BooleanBuffer> {
    let literal = Scalar::new(array_of([Some(literal)], array.data_type())?);
    let compared = match op {
        CompareOp::Eq => cmp::eq(&array, &literal),
        CompareOp::NotEq => cmp::neq(&array, &literal),
        CompareOp::Lt => cmp::lt(&array, &literal),
        CompareOp::LtEq => cmp::lt_eq(&array, &literal),
        CompareOp::Gt => cmp::gt(&array, &literal),
        CompareOp::GtEq => cmp::gt_eq(&array, &literal),
    };
    let compared = compared.map_err(|error| {
        Error::internal(format!("comparing values of {}", array.data_type())).with_source(error)
    })?;
    Ok(compared.values().clone())
}

/// A bit a value, set where `test` holds.
pub(super) fn pack<T>(values: &[T], test: impl Fn(&T) -> bool) -> BooleanBuffer {
    let mut words = Vec::with_capacity(values.len().div_ceil(64));
    for chunk in values.chunks(64) {
        let mut word = 0_u64;
        for (bit, value) in chunk.iter().enumerate() {
            word |= u64::from(test(value)) << bit;
        }
        words.push(word.to_le());
    }
    BooleanBuffer::new(Buffer::from_vec(words), 0, values.len())
}

fn compare_keys<T, K: Ord + Copy>(
    op: CompareOp,
    literal: K,
    values: &[T],
    key: impl Fn(&T) -> K,
) -> BooleanBuffer {
    match op {
        CompareOp::Eq => pack(values, |value| key(value) == literal),
        CompareOp::NotEq => pack(values, |value| key(value) != literal),
        CompareOp::Lt => pack(values, |value| key(value) < literal),
        CompareOp::LtEq => pack(values, |value| key(value) <= literal),
        CompareOp::Gt => pack(values, |value| key(value) > literal),
        CompareOp::GtEq => pack(values, |value| key(value) >= literal),
    }
}

/// An integer that orders as Java's `Float.compare`: every NaN is one and largest, -0.0 is below 0.0.
pub(super) fn float_key(value: f32) -> i32 {
    let value = if value.is_nan() { f32::NAN } else { value };
    let bits = value.to_bits().cast_signed();
    bits ^ ((bits >> 31).cast_unsigned() >> 1).cast_signed()
}

/// [`float_key`] for doubles.
pub(super) fn double_key(value: f64) -> i64 {
    let value = if value.is_nan() { f64::NAN } else { value };
    let bits = value.to_bits().cast_signed();
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

/// Where a literal stands among the values that an array can hold.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place<T> {
    /// It is this value.
    At(T),
    /// It is above this value and below the next.
    After(T),
    /// It is below all of them.
    BelowAll,
    /// It is above all of them.
    AboveAll,
}

impl<T: Ord + Copy> Place<T> {
    fn compare(self, op: CompareOp, values: &[T]) -> BooleanBuffer {
        use CompareOp::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
        let all = || BooleanBuffer::new_set(values.len());
        let none = || BooleanBuffer::new_unset(values.len());
        let against = |op, value| compare_keys(op, value, values, |value| *value);
        match (self, op) {
            (Self::At(value), op) => against(op, value),
            (Self::After(value), Lt | LtEq) => against(LtEq, value),
            (Self::After(value), Gt | GtEq) => against(Gt, value),
            (Self::BelowAll, Gt | GtEq) | (Self::AboveAll, Lt | LtEq) | (_, NotEq) => all(),
            (Self::BelowAll, Lt | LtEq) | (Self::AboveAll, Gt | GtEq) | (_, Eq) => none(),
        }
    }
}

fn place_decimal(value: i128, scale: u8, array_scale: i8) -> Place<i128> {
    let raise = i16::from(array_scale) - i16::from(scale);
    let factor = 10_i128.checked_pow(raise.unsigned_abs().into());
    match factor {
        _ if value == 0 => Place::At(0),
        Some(factor) if raise >= 0 => match value.checked_mul(factor) {
            Some(value) => Place::At(value),
            None => beyond(value),
        },
        None if raise >= 0 => beyond(value),
        Some(factor) if value % factor == 0 => Place::At(value / factor),
        Some(factor) => Place::After(value.div_euclid(factor)),
        None => Place::After(if value < 0 { -1 } else { 0 }),
    }
}

fn place_timestamp(millis: i64, nanos: i32, unit: TimeUnit) -> Place<i64> {
    let total = i128::from(millis) * 1_000_000 + i128::from(nanos);
    let unit = unit_nanos(unit);
    match i64::try_from(total.div_euclid(unit)) {
        Ok(floor) if total.rem_euclid(unit) == 0 => Place::At(floor),
        Ok(floor) => Place::After(floor),
        Err(_) => beyond(total),
    }
}

fn beyond<T>(literal: i128) -> Place<T> {
    if literal < 0 {
        Place::BelowAll
    } else {
        Place::AboveAll
    }
}

/// Nanoseconds in one unit.
pub(super) fn unit_nanos(unit: TimeUnit) -> i128 {
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    }
}

/// The counts of a timestamp array of that unit.
pub(super) fn timestamp_values(array: &dyn Array, unit: TimeUnit) -> &[i64] {
    match unit {
        TimeUnit::Second => array.as_primitive::<TimestampSecondType>().values(),
        TimeUnit::Millisecond => array.as_primitive::<TimestampMillisecondType>().values(),
        TimeUnit::Microsecond => array.as_primitive::<TimestampMicrosecondType>().values(),
        TimeUnit::Nanosecond => array.as_primitive::<TimestampNanosecondType>().values(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_order_floats_as_java_does() {
        // ME 1.2
        let sorted = [
            f64::NEG_INFINITY,
            -1.5,
            -0.0,
            0.0,
            f64::MIN_POSITIVE,
            f64::INFINITY,
            f64::NAN,
        ];
        assert!(sorted.is_sorted_by(|a, b| double_key(*a) < double_key(*b)));
        assert_eq!(double_key(f64::NAN), double_key(-f64::NAN));
        let sorted = [
            f32::NEG_INFINITY,
            -1.5,
            -0.0,
            0.0,
            f32::MIN_POSITIVE,
            f32::INFINITY,
            f32::NAN,
        ];
        assert!(sorted.is_sorted_by(|a, b| float_key(*a) < float_key(*b)));
        assert_eq!(float_key(f32::NAN), float_key(-f32::NAN));
    }

    #[test]
    fn decimals_of_another_scale_are_placed() {
        assert_eq!(place_decimal(-15, 1, 2), Place::At(-150));
        assert_eq!(place_decimal(-155, 2, 1), Place::After(-16));
        assert_eq!(place_decimal(-150, 2, 1), Place::At(-15));
        assert_eq!(place_decimal(i128::MAX, 0, 2), Place::AboveAll);
        assert_eq!(place_decimal(-1, 0, 100), Place::BelowAll);
        assert_eq!(place_decimal(-1, 100, 0), Place::After(-1));
    }

    #[test]
    fn timestamps_of_another_unit_are_placed() {
        assert_eq!(place_timestamp(-1, 0, TimeUnit::Second), Place::After(-1));
        assert_eq!(
            place_timestamp(-1, 5, TimeUnit::Millisecond),
            Place::After(-1)
        );
        assert_eq!(
            place_timestamp(-1, 5, TimeUnit::Nanosecond),
            Place::At(-999_995)
        );
        assert_eq!(
            place_timestamp(i64::MIN, 0, TimeUnit::Microsecond),
            Place::BelowAll
        );
        assert_eq!(
            place_timestamp(i64::MAX, 0, TimeUnit::Millisecond),
            Place::At(i64::MAX)
        );
    }
}
