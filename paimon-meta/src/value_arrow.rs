//! Values out of Arrow arrays and into them. Facts: table-format section 8.1.

mod build;

#[cfg(test)]
mod tests;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrowPrimitiveType, PrimitiveArray};
use arrow_schema::{DataType as ArrowType, TimeUnit};

use crate::error::{Error, Result};
use crate::types::{DataType, TypeKind};
use crate::value::Datum;

pub use build::array_of;

/// The value at `index` of an array that holds a column of a scalar type, `None` for null. Text and bytes may have any
/// of the layouts of [`StringLayout`](crate::StringLayout), timestamps any unit and zone.
///
/// # Errors
/// `Internal` for an index past the end, an array of another type, and a decimal of another scale.
pub fn datum_at(array: &dyn Array, index: usize, data_type: &DataType) -> Result<Option<Datum>> {
    if index >= array.len() {
        return Err(Error::internal(format!(
            "value {index} of an array of {}",
            array.len()
        )));
    }
    if array.is_null(index) {
        return Ok(None);
    }
    value_at(array, index, &data_type.kind)
        .map(Some)
        .ok_or_else(|| {
            Error::internal(format!(
                "expected an array of {data_type}, found {}",
                array.data_type()
            ))
        })
}

fn value_at(array: &dyn Array, index: usize, kind: &TypeKind) -> Option<Datum> {
    Some(match kind {
        TypeKind::Boolean => Datum::Boolean(array.as_boolean_opt()?.value(index)),
        TypeKind::TinyInt => Datum::TinyInt(primitive::<Int8Type>(array)?.value(index)),
        TypeKind::SmallInt => Datum::SmallInt(primitive::<Int16Type>(array)?.value(index)),
        TypeKind::Int => Datum::Int(primitive::<Int32Type>(array)?.value(index)),
        TypeKind::BigInt => Datum::BigInt(primitive::<Int64Type>(array)?.value(index)),
        TypeKind::Float => Datum::Float(primitive::<Float32Type>(array)?.value(index)),
        TypeKind::Double => Datum::Double(primitive::<Float64Type>(array)?.value(index)),
        TypeKind::Date => Datum::Date(primitive::<Date32Type>(array)?.value(index)),
        TypeKind::Time(_) => Datum::Time(primitive::<Time32MillisecondType>(array)?.value(index)),
        TypeKind::Decimal { scale, .. } => decimal_at(array, index, *scale)?,
        TypeKind::Char(_) | TypeKind::VarChar(_) => Datum::String(text_at(array, index)?.into()),
        TypeKind::Binary(_)
        | TypeKind::VarBinary(_)
        | TypeKind::Blob
        | TypeKind::Geometry(_)
        | TypeKind::Geography { .. } => Datum::Binary(bytes_at(array, index)?.into()),
        TypeKind::Timestamp(_) | TypeKind::LocalZonedTimestamp(_) => timestamp_at(array, index)?,
        TypeKind::Variant
        | TypeKind::Array(_)
        | TypeKind::Vector { .. }
        | TypeKind::Multiset(_)
        | TypeKind::Map(..)
        | TypeKind::Row(_) => return None,
    })
}

fn primitive<T: ArrowPrimitiveType>(array: &dyn Array) -> Option<&PrimitiveArray<T>> {
    array.as_primitive_opt::<T>()
}

fn decimal_at(array: &dyn Array, index: usize, scale: u8) -> Option<Datum> {
    let ArrowType::Decimal128(_, found) = array.data_type() else {
        return None;
    };
    (i16::from(*found) == i16::from(scale)).then_some(())?;
    let value = primitive::<Decimal128Type>(array)?.value(index);
    Some(Datum::Decimal(value, scale))
}

fn text_at(array: &dyn Array, index: usize) -> Option<&str> {
    match array.data_type() {
        ArrowType::Utf8View => Some(array.as_string_view_opt()?.value(index)),
        ArrowType::Utf8 => Some(array.as_string_opt::<i32>()?.value(index)),
        ArrowType::LargeUtf8 => Some(array.as_string_opt::<i64>()?.value(index)),
        _ => None,
    }
}

fn bytes_at(array: &dyn Array, index: usize) -> Option<&[u8]> {
    match array.data_type() {
        ArrowType::BinaryView => Some(array.as_binary_view_opt()?.value(index)),
        ArrowType::Binary => Some(array.as_binary_opt::<i32>()?.value(index)),
        ArrowType::LargeBinary => Some(array.as_binary_opt::<i64>()?.value(index)),
        ArrowType::FixedSizeBinary(_) => Some(array.as_fixed_size_binary_opt()?.value(index)),
        _ => None,
    }
}

fn timestamp_at(array: &dyn Array, index: usize) -> Option<Datum> {
    let ArrowType::Timestamp(unit, _) = array.data_type() else {
        return None;
    };
    match unit {
        TimeUnit::Second => {
            let seconds = primitive::<TimestampSecondType>(array)?.value(index);
            Some(Datum::Timestamp {
                millis: seconds.checked_mul(1_000)?,
                nanos: 0,
            })
        }
        TimeUnit::Millisecond => Some(Datum::Timestamp {
            millis: primitive::<TimestampMillisecondType>(array)?.value(index),
            nanos: 0,
        }),
        TimeUnit::Microsecond => {
            let micros = primitive::<TimestampMicrosecondType>(array)?.value(index);
            split_timestamp(micros, 1_000)
        }
        TimeUnit::Nanosecond => {
            let nanos = primitive::<TimestampNanosecondType>(array)?.value(index);
            split_timestamp(nanos, 1_000_000)
        }
    }
}

/// A count of units, `per_milli` of them in a millisecond, floored to milliseconds.
fn split_timestamp(units: i64, per_milli: i64) -> Option<Datum> {
    let nanos = units.rem_euclid(per_milli) * (1_000_000 / per_milli);
    Some(Datum::Timestamp {
        millis: units.div_euclid(per_milli),
        nanos: i32::try_from(nanos).ok()?,
    })
}
