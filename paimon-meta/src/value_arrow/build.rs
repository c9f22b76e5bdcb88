//! Arrow arrays of values.

use std::sync::Arc;

use arrow_array::types::{
    ArrowTimestampType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time32MillisecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BinaryArray, BinaryViewArray, BooleanArray, LargeBinaryArray,
    LargeStringArray, PrimitiveArray, StringArray, StringViewArray,
};
use arrow_schema::{DataType as ArrowType, TimeUnit};

use crate::error::{Error, Result};
use crate::value::Datum;

/// An array of the Arrow type with the given values, `None` for null: what [`datum_at`](crate::datum_at) reads.
///
/// # Errors
/// `Internal` for a value of another type, a decimal of another scale, a timestamp that the unit cannot hold exactly;
/// `Unsupported` for an Arrow type that no scalar column has.
pub fn array_of<'a>(
    values: impl IntoIterator<Item = Option<&'a Datum>>,
    arrow_type: &ArrowType,
) -> Result<ArrayRef> {
    let values: Vec<Option<&Datum>> = values.into_iter().collect();
    let values = Values {
        values: &values,
        arrow_type,
    };
    Ok(match arrow_type {
        ArrowType::Boolean => Arc::new(BooleanArray::from(values.each(|value| match value {
            Datum::Boolean(value) => Some(*value),
            _ => None,
        })?)),
        ArrowType::Utf8View => Arc::new(StringViewArray::from(values.text()?)),
        ArrowType::Utf8 => Arc::new(StringArray::from(values.text()?)),
        ArrowType::LargeUtf8 => Arc::new(LargeStringArray::from(values.text()?)),
        ArrowType::BinaryView => Arc::new(BinaryViewArray::from(values.bytes()?)),
        ArrowType::Binary => Arc::new(BinaryArray::from(values.bytes()?)),
        ArrowType::LargeBinary => Arc::new(LargeBinaryArray::from(values.bytes()?)),
        ArrowType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => values.timestamps::<TimestampSecondType>(1)?,
            TimeUnit::Millisecond => values.timestamps::<TimestampMillisecondType>(1_000)?,
            TimeUnit::Microsecond => values.timestamps::<TimestampMicrosecondType>(1_000_000)?,
            TimeUnit::Nanosecond => values.timestamps::<TimestampNanosecondType>(1_000_000_000)?,
        },
        _ => values.numbers()?,
    })
}

struct Values<'a> {
    values: &'a [Option<&'a Datum>],
    arrow_type: &'a ArrowType,
}

impl<'a> Values<'a> {
    fn each<T>(&self, native: impl Fn(&'a Datum) -> Option<T>) -> Result<Vec<Option<T>>> {
        let native = |value: &Option<&'a Datum>| match value {
            None => Ok(None),
            Some(value) => native(value).map(Some).ok_or_else(|| {
                Error::internal(format!("value {value} in an array of {}", self.arrow_type))
            }),
        };
        self.values.iter().map(native).collect()
    }

    fn text(&self) -> Result<Vec<Option<&'a str>>> {
        self.each(|value| match value {
            Datum::String(value) => Some(value.as_str()),
            _ => None,
        })
    }

    fn bytes(&self) -> Result<Vec<Option<&'a [u8]>>> {
        self.each(|value| match value {
            Datum::Binary(value) => Some(value.as_slice()),
            _ => None,
        })
    }

    fn numbers(&self) -> Result<ArrayRef> {
        match self.arrow_type {
            ArrowType::Int8 => self.primitive::<Int8Type>(|value| match value {
                Datum::TinyInt(value) => Some(*value),
                _ => None,
            }),
            ArrowType::Int16 => self.primitive::<Int16Type>(|value| match value {
                Datum::SmallInt(value) => Some(*value),
                _ => None,
            }),
            ArrowType::Int32 => self.primitive::<Int32Type>(|value| match value {
                Datum::Int(value) => Some(*value),
                _ => None,
            }),
            ArrowType::Int64 => self.primitive::<Int64Type>(|value| match value {
                Datum::BigInt(value) => Some(*value),
                _ => None,
            }),
            ArrowType::Float32 => self.primitive::<Float32Type>(|value| match value {
                Datum::Float(value) => Some(*value),
                _ => None,
            }),
            ArrowType::Float64 => self.primitive::<Float64Type>(|value| match value {
                Datum::Double(value) => Some(*value),
                _ => None,
            }),
            ArrowType::Date32 => self.primitive::<Date32Type>(|value| match value {
                Datum::Date(value) => Some(*value),
                _ => None,
            }),
            ArrowType::Time32(TimeUnit::Millisecond) => {
                self.primitive::<Time32MillisecondType>(|value| match value {
                    Datum::Time(value) => Some(*value),
                    _ => None,
                })
            }
            ArrowType::Decimal128(_, scale) => {
                self.primitive::<Decimal128Type>(|value| match value {
                    Datum::Decimal(value, of) if i16::from(*of) == i16::from(*scale) => {
                        Some(*value)
                    }
                    _ => None,
                })
            }
            other => Err(Error::unsupported(format!("values as Arrow {other}"))),
        }
    }

    fn primitive<T: ArrowPrimitiveType>(
        &self,
        native: impl Fn(&'a Datum) -> Option<T::Native>,
    ) -> Result<ArrayRef> {
        let array: PrimitiveArray<T> = self.each(native)?.into_iter().collect();
        Ok(Arc::new(array.with_data_type(self.arrow_type.clone())))
    }

    fn timestamps<T: ArrowTimestampType>(&self, per_second: i64) -> Result<ArrayRef> {
        self.primitive::<T>(|value| match value {
            Datum::Timestamp { millis, nanos } => exact_units(*millis, *nanos, per_second),
            _ => None,
        })
    }
}

/// A timestamp as a count of units, `per_second` of them in a second; `None` if it is between two or out of range.
fn exact_units(millis: i64, nanos: i32, per_second: i64) -> Option<i64> {
    let unit_nanos = i128::from(1_000_000_000 / per_second);
    let nanos = i128::from(millis) * 1_000_000 + i128::from(nanos);
    (nanos % unit_nanos == 0).then_some(())?;
    i64::try_from(nanos / unit_nanos).ok()
}
