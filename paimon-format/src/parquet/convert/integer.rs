//! Integers of one width as integers of another.

use std::fmt::Display;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt32Type,
};
use arrow_array::{Array, ArrayRef, PrimitiveArray};
use arrow_schema::DataType as ArrowType;
use paimon_meta::{Error, Result};

use super::unexpected;

/// Signed 32 or 64 bits as any signed width.
pub(super) fn signed(array: &ArrayRef, to: &ArrowType) -> Result<ArrayRef> {
    match array.data_type() {
        ArrowType::Int32 => fit::<Int32Type>(array.as_primitive(), to),
        ArrowType::Int64 => fit::<Int64Type>(array.as_primitive(), to),
        from => Err(unexpected(from, to)),
    }
}

/// The bits of an unsigned 32-bit integer as any signed width that holds the value.
pub(super) fn unsigned(array: &ArrayRef, to: &ArrowType) -> Result<ArrayRef> {
    match array.data_type() {
        ArrowType::Int32 => {
            let bits = array.as_primitive::<Int32Type>();
            fit::<UInt32Type>(&bits.unary(i32::cast_unsigned), to)
        }
        from => Err(unexpected(from, to)),
    }
}

/// Days since the epoch.
pub(super) fn date(array: &ArrayRef) -> Result<ArrayRef> {
    match array.data_type() {
        ArrowType::Int32 => Ok(Arc::new(
            array
                .as_primitive::<Int32Type>()
                .reinterpret_cast::<Date32Type>(),
        )),
        from => Err(unexpected(from, &ArrowType::Date32)),
    }
}

fn fit<S>(array: &PrimitiveArray<S>, to: &ArrowType) -> Result<ArrayRef>
where
    S: ArrowPrimitiveType,
    S::Native: Display,
    i8: TryFrom<S::Native>,
    i16: TryFrom<S::Native>,
    i32: TryFrom<S::Native>,
    i64: TryFrom<S::Native>,
{
    match to {
        ArrowType::Int8 => into::<S, Int8Type>(array),
        ArrowType::Int16 => into::<S, Int16Type>(array),
        ArrowType::Int32 => into::<S, Int32Type>(array),
        ArrowType::Int64 => into::<S, Int64Type>(array),
        to => Err(unexpected(array.data_type(), to)),
    }
}

fn into<S, T>(array: &PrimitiveArray<S>) -> Result<ArrayRef>
where
    S: ArrowPrimitiveType,
    S::Native: Display,
    T: ArrowPrimitiveType,
    T::Native: TryFrom<S::Native>,
{
    let fitted: PrimitiveArray<T> = array.try_unary(|value| {
        T::Native::try_from(value)
            .map_err(|_| Error::corrupt(format!("value {value} does not fit {}", T::DATA_TYPE)))
    })?;
    Ok(Arc::new(fitted))
}
