//! Arrays of the asked types, made of what decoders with buffers of their own have filled in.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, BinaryType, ByteArrayType, LargeBinaryType, LargeUtf8Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, Utf8Type,
};
use arrow_array::{
    ArrayRef, BinaryViewArray, GenericByteArray, ListArray, MapArray, PrimitiveArray,
    StringViewArray, StructArray,
};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType as ArrowType, TimeUnit};
use paimon_meta::{Error, ErrorKind, Result};

/// Units in a second.
pub(crate) fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// Values of one fixed width in the asked type, which differs from `T` in precision, scale or zone at most.
pub(crate) fn primitive_array<T: ArrowPrimitiveType>(
    values: Vec<T::Native>,
    nulls: Option<NullBuffer>,
    to: &ArrowType,
) -> Result<ArrayRef> {
    let array = PrimitiveArray::<T>::try_new(values.into(), nulls).map_err(not_of_the_type)?;
    if T::DATA_TYPE == *to {
        return Ok(Arc::new(array));
    }
    if !PrimitiveArray::<T>::is_compatible(to) {
        return Err(Error::internal(format!("{} made for {to}", T::DATA_TYPE)));
    }
    Ok(Arc::new(array.with_data_type(to.clone())))
}

/// Counts of the unit of `to` since the epoch.
pub(crate) fn timestamp_array(
    values: Vec<i64>,
    nulls: Option<NullBuffer>,
    to: &ArrowType,
) -> Result<ArrayRef> {
    match to {
        ArrowType::Timestamp(TimeUnit::Second, _) => {
            primitive_array::<TimestampSecondType>(values, nulls, to)
        }
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => {
            primitive_array::<TimestampMillisecondType>(values, nulls, to)
        }
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
            primitive_array::<TimestampMicrosecondType>(values, nulls, to)
        }
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
            primitive_array::<TimestampNanosecondType>(values, nulls, to)
        }
        to => Err(Error::internal(format!("timestamps made for {to}"))),
    }
}

/// Text or bytes that lie one behind the other in `data`; `ends` says where each one ends.
///
/// # Errors
/// `Corrupt` if text is not UTF-8, `ResourcesExhausted` for more than 2 GiB in a layout of 32-bit offsets.
pub(crate) fn bytes_array(
    ends: &[usize],
    data: Buffer,
    nulls: Option<NullBuffer>,
    to: &ArrowType,
) -> Result<ArrayRef> {
    let narrow = i32::try_from(data.len()).is_ok();
    Ok(match to {
        ArrowType::Utf8 => Arc::new(with_offsets::<Utf8Type>(ends, data, nulls)?),
        ArrowType::LargeUtf8 => Arc::new(with_offsets::<LargeUtf8Type>(ends, data, nulls)?),
        ArrowType::Binary => Arc::new(with_offsets::<BinaryType>(ends, data, nulls)?),
        ArrowType::LargeBinary => Arc::new(with_offsets::<LargeBinaryType>(ends, data, nulls)?),
        ArrowType::Utf8View if narrow => {
            let text = with_offsets::<Utf8Type>(ends, data, nulls)?;
            Arc::new(StringViewArray::from(&text))
        }
        ArrowType::Utf8View => {
            let text = with_offsets::<LargeUtf8Type>(ends, data, nulls)?;
            Arc::new(StringViewArray::from(&text))
        }
        ArrowType::BinaryView if narrow => {
            let bytes = with_offsets::<BinaryType>(ends, data, nulls)?;
            Arc::new(BinaryViewArray::from(&bytes))
        }
        ArrowType::BinaryView => {
            let bytes = with_offsets::<LargeBinaryType>(ends, data, nulls)?;
            Arc::new(BinaryViewArray::from(&bytes))
        }
        to => return Err(Error::internal(format!("bytes made for {to}"))),
    })
}

fn with_offsets<T: ByteArrayType>(
    ends: &[usize],
    data: Buffer,
    nulls: Option<NullBuffer>,
) -> Result<GenericByteArray<T>> {
    let mut offsets = Vec::with_capacity(ends.len() + 1);
    offsets.push(T::Offset::default());
    for end in ends {
        let bytes = data.len();
        let too_long = || {
            let message = format!("{bytes} bytes of text in one batch, expected below 2 GiB");
            Error::new(ErrorKind::ResourcesExhausted, message).with_hint("ask for smaller batches")
        };
        offsets.push(T::Offset::from_usize(*end).ok_or_else(too_long)?);
    }
    GenericByteArray::try_new(OffsetBuffer::new(offsets.into()), data, nulls)
        .map_err(|error| Error::corrupt("text is not UTF-8").with_source(error))
}

/// Lists of the elements between `offsets`, in the asked type.
///
/// # Errors
/// `Corrupt` for null elements where there may be none.
pub(crate) fn list_array(
    offsets: Vec<i32>,
    elements: ArrayRef,
    nulls: Option<NullBuffer>,
    to: &ArrowType,
) -> Result<ArrayRef> {
    let ArrowType::List(field) = to else {
        return Err(Error::internal(format!("lists made for {to}")));
    };
    let offsets = OffsetBuffer::new(offsets.into());
    let list = ListArray::try_new(Arc::clone(field), offsets, elements, nulls);
    Ok(Arc::new(list.map_err(not_of_the_type)?))
}

/// Maps of the entries between `offsets`, in the asked type.
///
/// # Errors
/// `Corrupt` for null keys, and for null values where there may be none.
pub(crate) fn map_array(
    offsets: Vec<i32>,
    entries: [ArrayRef; 2],
    nulls: Option<NullBuffer>,
    to: &ArrowType,
) -> Result<ArrayRef> {
    let ArrowType::Map(field, _) = to else {
        return Err(Error::internal(format!("maps made for {to}")));
    };
    let ArrowType::Struct(fields) = field.data_type() else {
        return Err(Error::internal("map without entries"));
    };
    let entries = StructArray::try_new(fields.clone(), entries.into(), None);
    let entries = entries.map_err(not_of_the_type)?;
    let offsets = OffsetBuffer::new(offsets.into());
    let map = MapArray::try_new(Arc::clone(field), offsets, entries, nulls, false);
    Ok(Arc::new(map.map_err(not_of_the_type)?))
}

/// Rows of the given children, in the asked type.
///
/// # Errors
/// `Corrupt` for null children where there may be none.
pub(crate) fn row_array(
    children: Vec<ArrayRef>,
    nulls: Option<NullBuffer>,
    to: &ArrowType,
) -> Result<ArrayRef> {
    let ArrowType::Struct(fields) = to else {
        return Err(Error::internal(format!("rows made for {to}")));
    };
    let row = StructArray::try_new(fields.clone(), children, nulls);
    Ok(Arc::new(row.map_err(not_of_the_type)?))
}

/// What Arrow refuses here is a null where the type has none.
pub(crate) fn not_of_the_type(error: ArrowError) -> Error {
    Error::corrupt("values do not fit their type").with_source(error)
}
