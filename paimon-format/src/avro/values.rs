//! The values of a column, whatever is null.

use std::sync::Arc;

use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType,
};
use arrow_array::{ArrayRef, BooleanArray, FixedSizeListArray};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBuffer};
use arrow_schema::DataType as ArrowType;
use paimon_meta::{Error, Result};

use super::column::{Column, Row};
use super::cursor::Cursor;
use crate::assemble::{
    bytes_array, list_array, map_array, not_of_the_type, primitive_array, timestamp_array,
};
use crate::decimal::{Rescale, signed_big_endian};

/// Values of one kind. Where a value is null there is an empty one.
#[derive(Debug)]
pub(super) enum Values {
    Boolean(BooleanBufferBuilder),
    TinyInt(Vec<i8>),
    SmallInt(Vec<i16>),
    /// Also dates and times.
    Int(Vec<i32>),
    BigInt(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    /// Stored as floats.
    WidenedFloat(Vec<f64>),
    Decimal {
        values: Vec<i128>,
        bytes: Length,
        /// Of the stored values.
        scale: i32,
        rescale: Rescale,
    },
    Timestamp {
        values: Vec<i64>,
        scale: Scale,
    },
    /// Text or bytes.
    Bytes {
        ends: Vec<usize>,
        data: Vec<u8>,
        bytes: Length,
    },
    List {
        offsets: Vec<i32>,
        element: Box<Column>,
        /// The fewest bytes of an element.
        least: usize,
    },
    Vector {
        length: usize,
        element: Box<Column>,
        least: usize,
    },
    /// An array of records of key and value; a map with text for keys has the same bytes.
    Map {
        offsets: Vec<i32>,
        entries: Row,
        least: usize,
    },
    Row(Row),
}

/// How long bytes are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Length {
    /// Their length comes first.
    Stored,
    Fixed(usize),
}

impl Length {
    #[inline]
    fn take<'a>(self, cursor: &mut Cursor<'a>) -> Result<&'a [u8]> {
        match self {
            Self::Stored => cursor.bytes(),
            Self::Fixed(length) => cursor.take(length),
        }
    }
}

/// From a count of one unit to one of another.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scale {
    Same,
    /// To a finer unit.
    Times(i64),
    /// To a coarser one, floored.
    Per(i64),
}

impl Values {
    /// Appends the next value; false if it stands for null, as a decimal of more digits than its type has.
    ///
    /// # Errors
    /// `Corrupt` if there is none, or one that the asked type cannot hold.
    #[inline]
    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<bool> {
        match self {
            Self::Boolean(values) => values.append(cursor.boolean()?),
            Self::TinyInt(values) => values.push(fit(cursor.long()?)?),
            Self::SmallInt(values) => values.push(fit(cursor.long()?)?),
            Self::Int(values) => values.push(cursor.int()?),
            Self::BigInt(values) => values.push(cursor.long()?),
            Self::Float(values) => values.push(f32::from_le_bytes(cursor.fixed()?)),
            Self::Double(values) => values.push(f64::from_le_bytes(cursor.fixed()?)),
            Self::WidenedFloat(values) => {
                values.push(f64::from(f32::from_le_bytes(cursor.fixed()?)));
            }
            Self::Decimal {
                values,
                bytes,
                scale,
                rescale,
            } => {
                let unscaled = signed_big_endian(bytes.take(cursor)?)?;
                let value = rescale.apply_or_null(unscaled, *scale)?;
                values.push(value.unwrap_or(0));
                return Ok(value.is_some());
            }
            Self::Timestamp { values, scale } => values.push(scaled(cursor.long()?, *scale)?),
            Self::Bytes { ends, data, bytes } => {
                data.extend_from_slice(bytes.take(cursor)?);
                ends.push(data.len());
            }
            Self::Row(row) => row.read(cursor)?,
            _ => self.read_items(cursor)?,
        }
        Ok(true)
    }

    fn read_items(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        match self {
            Self::List {
                offsets,
                element,
                least,
            } => {
                items(cursor, *least, |cursor| element.read(cursor))?;
                offsets.push(offset(element.len())?);
            }
            Self::Vector {
                length,
                element,
                least,
            } => {
                let found = items(cursor, *least, |cursor| element.read(cursor))?;
                if found != *length {
                    return Err(Error::corrupt(format!(
                        "vector of {found} elements, expected {length}"
                    )));
                }
            }
            Self::Map {
                offsets,
                entries,
                least,
            } => {
                items(cursor, *least, |cursor| entries.read(cursor))?;
                offsets.push(offset(entries.columns.first().map_or(0, Column::len))?);
            }
            _ => return Err(Error::internal("no items in a scalar")),
        }
        Ok(())
    }

    /// Appends what stands where a value is null.
    pub(super) fn push_empty(&mut self) {
        match self {
            Self::Boolean(values) => values.append(false),
            Self::TinyInt(values) => values.push(0),
            Self::SmallInt(values) => values.push(0),
            Self::Int(values) => values.push(0),
            Self::BigInt(values) | Self::Timestamp { values, .. } => values.push(0),
            Self::Float(values) => values.push(0.0),
            Self::Double(values) | Self::WidenedFloat(values) => values.push(0.0),
            Self::Decimal { values, .. } => values.push(0),
            Self::Bytes { ends, data, .. } => ends.push(data.len()),
            Self::List { offsets, .. } | Self::Map { offsets, .. } => {
                offsets.push(offsets.last().copied().unwrap_or(0));
            }
            Self::Vector {
                length, element, ..
            } => (0..*length).for_each(|_| element.push_null()),
            Self::Row(row) => row.push_empty(),
        }
    }

    /// The values so far as an array; there are none left.
    ///
    /// # Errors
    /// `Corrupt` for values that the asked type cannot hold.
    pub(super) fn finish(&mut self, nulls: Option<NullBuffer>, to: &ArrowType) -> Result<ArrayRef> {
        match self {
            Self::Boolean(values) => Ok(Arc::new(BooleanArray::new(values.finish(), nulls))),
            Self::TinyInt(values) => primitive_array::<Int8Type>(take(values), nulls, to),
            Self::SmallInt(values) => primitive_array::<Int16Type>(take(values), nulls, to),
            Self::Int(values) => match to {
                ArrowType::Date32 => primitive_array::<Date32Type>(take(values), nulls, to),
                ArrowType::Time32(_) => {
                    primitive_array::<Time32MillisecondType>(take(values), nulls, to)
                }
                _ => primitive_array::<Int32Type>(take(values), nulls, to),
            },
            Self::BigInt(values) => primitive_array::<Int64Type>(take(values), nulls, to),
            Self::Float(values) => primitive_array::<Float32Type>(take(values), nulls, to),
            Self::Double(values) | Self::WidenedFloat(values) => {
                primitive_array::<Float64Type>(take(values), nulls, to)
            }
            Self::Decimal { values, .. } => {
                primitive_array::<Decimal128Type>(take(values), nulls, to)
            }
            Self::Timestamp { values, .. } => timestamp_array(take(values), nulls, to),
            Self::Bytes { ends, data, .. } => {
                bytes_array(&take(ends), Buffer::from_vec(take(data)), nulls, to)
            }
            Self::List {
                offsets, element, ..
            } => list_array(take_offsets(offsets), element.finish()?, nulls, to),
            Self::Vector { element, .. } => vector(element, nulls, to),
            Self::Map {
                offsets, entries, ..
            } => {
                let entries = <[ArrayRef; 2]>::try_from(entries.finish()?);
                let entries = entries.map_err(|_| Error::internal("map without values"))?;
                map_array(take_offsets(offsets), entries, nulls, to)
            }
            Self::Row(row) => row.finish_row(nulls, to),
        }
    }
}

fn vector(element: &mut Column, nulls: Option<NullBuffer>, to: &ArrowType) -> Result<ArrayRef> {
    let ArrowType::FixedSizeList(field, size) = to else {
        return Err(Error::internal(format!("vectors made for {to}")));
    };
    let vectors = FixedSizeListArray::try_new(Arc::clone(field), *size, element.finish()?, nulls);
    Ok(Arc::new(vectors.map_err(not_of_the_type)?))
}

/// Reads all blocks of an array or map; the number of items.
#[inline]
fn items<'a>(
    cursor: &mut Cursor<'a>,
    least: usize,
    mut item: impl FnMut(&mut Cursor<'a>) -> Result<()>,
) -> Result<usize> {
    let mut all = 0;
    loop {
        let count = cursor.block(least)?;
        if count == 0 {
            return Ok(all);
        }
        for _ in 0..count {
            item(cursor)?;
        }
        all += count;
    }
}

fn offset(elements: usize) -> Result<i32> {
    i32::try_from(elements)
        .map_err(|_| Error::corrupt(format!("{elements} elements in the lists of one batch")))
}

fn fit<T: TryFrom<i64>>(value: i64) -> Result<T> {
    T::try_from(value).map_err(|_| {
        let bits = 8 * size_of::<T>();
        Error::corrupt(format!("value {value} does not fit {bits} bits"))
    })
}

#[inline]
fn scaled(count: i64, scale: Scale) -> Result<i64> {
    match scale {
        Scale::Same => Ok(count),
        Scale::Per(divisor) => Ok(count.div_euclid(divisor)),
        Scale::Times(factor) => count.checked_mul(factor).ok_or_else(|| {
            Error::corrupt(format!(
                "timestamp {count} is outside the range of the asked unit"
            ))
        }),
    }
}

/// The values, and room for as many more.
fn take<T>(values: &mut Vec<T>) -> Vec<T> {
    let room = values.len();
    std::mem::replace(values, Vec::with_capacity(room))
}

fn take_offsets(offsets: &mut Vec<i32>) -> Vec<i32> {
    std::mem::replace(offsets, vec![0])
}
