//! Fields of rows as values, and the order of rows.

use std::cmp::Ordering;

use crate::binary_row::{BinaryRowRef, SLOT_BYTES, array_header_bytes, header_bytes};
use crate::error::{Error, Result};
use crate::types::{DataType, TypeKind};
use crate::value::{Datum, float_order};

/// A value that borrows its bytes: comparing rows copies nothing.
enum Scalar<'a> {
    Boolean(bool),
    TinyInt(i8),
    SmallInt(i16),
    Int(i32),
    BigInt(i64),
    Float(f32),
    Double(f64),
    Decimal(i128),
    Bytes(&'a [u8]),
    Timestamp(i64, i32),
}

impl<'a> BinaryRowRef<'a> {
    /// The value of field `index`; `None` is null. `data_type` must be the type the row was written with.
    ///
    /// # Errors
    /// `Corrupt` if the row has no such field or its bytes do not hold it, `Unsupported` for types that are not
    /// [scalar](TypeKind::is_scalar).
    pub fn datum(&self, index: usize, data_type: &DataType) -> Result<Option<Datum>> {
        self.scalar(index, &data_type.kind)?
            .map(|value| owned(value, &data_type.kind))
            .transpose()
    }

    /// All values, in order; `None` is null.
    ///
    /// # Errors
    /// As [`Self::datum`], and `Corrupt` if the row has not as many fields as there are types.
    pub fn datums(&self, types: &[&DataType]) -> Result<Vec<Option<Datum>>> {
        self.check_arity(types.len())?;
        types
            .iter()
            .enumerate()
            .map(|(index, data_type)| self.datum(index, data_type))
            .collect()
    }

    /// The order of keys (RP-500 to RP-507, RP-512): field by field, nulls first, text and binary by unsigned bytes,
    /// floats in Java's total order, all else by value. Copies nothing.
    ///
    /// # Errors
    /// As [`Self::datums`], and `Unsupported` for types that have no order.
    pub fn compare(&self, other: Self, types: &[&DataType]) -> Result<Ordering> {
        self.check_arity(types.len())?;
        other.check_arity(types.len())?;
        for (index, data_type) in types.iter().enumerate() {
            let kind = &data_type.kind;
            if matches!(
                kind,
                TypeKind::Blob | TypeKind::Geometry(_) | TypeKind::Geography { .. }
            ) {
                return Err(Error::unsupported(format!("order of {data_type} values")));
            }
            let order = match (self.scalar(index, kind)?, other.scalar(index, kind)?) {
                (Some(left), Some(right)) => order_of(&left, &right),
                (left, right) => left.is_some().cmp(&right.is_some()), // TF-063: nulls first
            };
            if order != Ordering::Equal {
                return Ok(order);
            }
        }
        Ok(Ordering::Equal)
    }

    /// The 64 bits of a field, whether it is null or not.
    ///
    /// # Errors
    /// `Corrupt` if the row has no such field.
    pub(crate) fn long(&self, index: usize) -> Result<i64> {
        self.slot(index).map(|slot| i64::from_le_bytes(*slot))
    }

    /// The lower 32 bits of a field, whether it is null or not.
    ///
    /// # Errors
    /// `Corrupt` if the row has no such field.
    pub(crate) fn int(&self, index: usize) -> Result<i32> {
        let [b0, b1, b2, b3, ..] = *self.slot(index)?;
        Ok(i32::from_le_bytes([b0, b1, b2, b3]))
    }

    /// The bytes of a field of text or bytes.
    ///
    /// # Errors
    /// `Corrupt` if the row does not hold them.
    pub(crate) fn blob(&self, index: usize) -> Result<&'a [u8]> {
        self.bytes(self.slot(index)?)
    }

    /// The bytes of a row or array in a field.
    ///
    /// # Errors
    /// `Corrupt` if the row does not hold them.
    pub(crate) fn part(&self, index: usize) -> Result<&'a [u8]> {
        let slot = self.slot(index)?;
        let [b0, b1, b2, b3, ..] = *slot;
        self.block(slot, length_of([b0, b1, b2, b3])?)
    }

    fn check_arity(&self, expected: usize) -> Result<()> {
        if self.arity == expected {
            Ok(())
        } else {
            Err(Error::corrupt(format!(
                "row has {} fields, expected {expected}",
                self.arity
            )))
        }
    }

    #[inline]
    fn scalar(&self, index: usize, kind: &TypeKind) -> Result<Option<Scalar<'a>>> {
        if self.is_null(index)? {
            return Ok(None);
        }
        let slot = self.slot(index)?;
        let [b0, b1, b2, b3, ..] = *slot;
        let low = [b0, b1, b2, b3];
        Ok(Some(match kind {
            TypeKind::Boolean => Scalar::Boolean(b0 != 0),
            TypeKind::TinyInt => Scalar::TinyInt(b0.cast_signed()),
            TypeKind::SmallInt => Scalar::SmallInt(i16::from_le_bytes([b0, b1])),
            TypeKind::Int | TypeKind::Date | TypeKind::Time(_) => {
                Scalar::Int(i32::from_le_bytes(low))
            }
            TypeKind::BigInt => Scalar::BigInt(i64::from_le_bytes(*slot)),
            TypeKind::Float => Scalar::Float(f32::from_le_bytes(low)),
            TypeKind::Double => Scalar::Double(f64::from_le_bytes(*slot)),
            TypeKind::Decimal {
                precision: ..=18, ..
            } => Scalar::Decimal(i64::from_le_bytes(*slot).into()),
            TypeKind::Decimal { .. } => Scalar::Decimal(self.large_decimal(slot)?),
            TypeKind::Char(_)
            | TypeKind::VarChar(_)
            | TypeKind::Binary(_)
            | TypeKind::VarBinary(_) => Scalar::Bytes(self.bytes(slot)?),
            TypeKind::Blob | TypeKind::Geometry(_) | TypeKind::Geography { .. } => {
                Scalar::Bytes(self.bytes(slot)?)
            }
            TypeKind::Timestamp(..=3) | TypeKind::LocalZonedTimestamp(..=3) => {
                Scalar::Timestamp(i64::from_le_bytes(*slot), 0)
            }
            TypeKind::Timestamp(_) | TypeKind::LocalZonedTimestamp(_) => {
                self.large_timestamp(slot)?
            }
            TypeKind::Array(_)
            | TypeKind::Vector { .. }
            | TypeKind::Multiset(_)
            | TypeKind::Map(..)
            | TypeKind::Row(_)
            | TypeKind::Variant => {
                return Err(Error::unsupported(format!(
                    "{} values in metadata rows",
                    kind.clone().nullable()
                )));
            }
        }))
    }

    #[inline]
    fn slot(&self, index: usize) -> Result<&'a [u8; SLOT_BYTES]> {
        header_bytes(self.arity)
            .filter(|_| index < self.arity)
            .and_then(|header| self.row.get(header + index * SLOT_BYTES..)?.first_chunk())
            .ok_or_else(|| self.no_field(index))
    }

    #[inline]
    fn block(&self, slot: &[u8; SLOT_BYTES], length: usize) -> Result<&'a [u8]> {
        block(self.row, slot, length)
    }

    #[inline]
    fn bytes(&self, slot: &'a [u8; SLOT_BYTES]) -> Result<&'a [u8]> {
        bytes(self.row, slot)
    }

    /// Big-endian two's complement of at most 16 bytes (TF-057).
    fn large_decimal(&self, slot: &[u8; SLOT_BYTES]) -> Result<i128> {
        let [b0, b1, b2, b3, ..] = *slot;
        let length = length_of([b0, b1, b2, b3])?;
        if !(1..=16).contains(&length) {
            return Err(Error::corrupt(format!(
                "decimal has {length} bytes, expected 1 to 16"
            )));
        }
        let bytes = self.block(slot, length)?;
        let sign = if bytes.first().is_some_and(|byte| byte & 0x80 != 0) {
            -1
        } else {
            0
        };
        Ok(bytes
            .iter()
            .fold(sign, |value, byte| value << 8 | i128::from(*byte)))
    }

    /// Nanoseconds in the slot, milliseconds in a block (TF-058).
    fn large_timestamp(&self, slot: &[u8; SLOT_BYTES]) -> Result<Scalar<'a>> {
        let [b0, b1, b2, b3, ..] = *slot;
        let nanos = i32::from_le_bytes([b0, b1, b2, b3]);
        if !(0..1_000_000).contains(&nanos) {
            return Err(Error::corrupt(format!(
                "timestamp has {nanos} ns in a millisecond, expected 0 to 999999"
            )));
        }
        let block = self.block(slot, 8)?;
        let millis = i64::from_le_bytes(block.first_chunk().copied().unwrap_or_default());
        Ok(Scalar::Timestamp(millis, nanos))
    }
}

/// The block of `length` bytes at the offset in the upper half of the slot.
#[inline]
fn block<'a>(row: &'a [u8], slot: &[u8; SLOT_BYTES], length: usize) -> Result<&'a [u8]> {
    let [.., b4, b5, b6, b7] = *slot;
    let offset = u32::from_le_bytes([b4, b5, b6, b7]);
    usize::try_from(offset)
        .ok()
        .and_then(|start| row.get(start..start.checked_add(length)?))
        .ok_or_else(|| {
            let have = row.len();
            Error::corrupt(format!(
                "field takes {length} bytes at {offset}, expected to end in {have} bytes"
            ))
        })
}

/// Bytes inside the slot, up to 7 with the length in the last byte, or in a block (TF-056).
#[inline]
fn bytes<'a>(row: &'a [u8], slot: &'a [u8; SLOT_BYTES]) -> Result<&'a [u8]> {
    let [b0, b1, b2, b3, .., last] = *slot;
    if last & 0x80 == 0 {
        return block(row, slot, length_of([b0, b1, b2, b3])?);
    }
    let length = usize::from(last & 0x7f);
    slot.get(..length)
        .filter(|inline| inline.len() < SLOT_BYTES)
        .ok_or_else(|| {
            Error::corrupt(format!(
                "field of {length} bytes inside a slot, expected at most 7"
            ))
        })
}

/// An array of items of 8 bytes: numbers, or text and bytes as in the fields of a row.
#[derive(Clone, Copy)]
pub(crate) struct BinaryArray<'a> {
    bytes: &'a [u8],
    length: usize,
}

impl<'a> BinaryArray<'a> {
    /// # Errors
    /// `Corrupt` if the bytes are too few for the items.
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self> {
        let number = bytes
            .first_chunk()
            .map(|number| i32::from_le_bytes(*number));
        let length = number.and_then(|number| usize::try_from(number).ok());
        let fits = |length: &usize| {
            let items = length.checked_mul(SLOT_BYTES);
            let end = items.and_then(|items| items.checked_add(array_header_bytes(*length)));
            end.is_some_and(|end| end <= bytes.len())
        };
        let length = length.filter(fits).ok_or_else(|| {
            let number = number.unwrap_or_default();
            Error::corrupt(format!(
                "an array of {number} items in {} bytes",
                bytes.len()
            ))
        })?;
        Ok(Self { bytes, length })
    }

    pub(crate) fn len(self) -> usize {
        self.length
    }

    /// The slot of an item; `None` if it is null.
    fn slot(self, index: usize) -> Option<&'a [u8; SLOT_BYTES]> {
        let bit = index + 32;
        let byte = self.bytes.get(bit / 8).copied().unwrap_or_default();
        if index >= self.length || byte & (1 << (bit % 8)) != 0 {
            return None;
        }
        let start = array_header_bytes(self.length) + index * SLOT_BYTES;
        self.bytes.get(start..)?.first_chunk()
    }

    /// An item as a number; `None` is null.
    pub(crate) fn long(self, index: usize) -> Option<i64> {
        self.slot(index).map(|slot| i64::from_le_bytes(*slot))
    }

    /// An item as text or bytes; `None` is null.
    ///
    /// # Errors
    /// `Corrupt` if the array does not hold them.
    pub(crate) fn blob(self, index: usize) -> Result<Option<&'a [u8]>> {
        let slot = self.slot(index);
        slot.map(|slot| bytes(self.bytes, slot)).transpose()
    }
}

#[inline]
fn length_of(low: [u8; 4]) -> Result<usize> {
    let length = i32::from_le_bytes(low);
    usize::try_from(length).map_err(|_| Error::corrupt(format!("field has {length} bytes")))
}

fn owned(value: Scalar<'_>, kind: &TypeKind) -> Result<Datum> {
    Ok(match value {
        Scalar::Boolean(value) => Datum::Boolean(value),
        Scalar::TinyInt(value) => Datum::TinyInt(value),
        Scalar::SmallInt(value) => Datum::SmallInt(value),
        Scalar::Int(value) => match kind {
            TypeKind::Date => Datum::Date(value),
            TypeKind::Time(_) => Datum::Time(value),
            _ => Datum::Int(value),
        },
        Scalar::BigInt(value) => Datum::BigInt(value),
        Scalar::Float(value) => Datum::Float(value),
        Scalar::Double(value) => Datum::Double(value),
        Scalar::Decimal(value) => {
            let scale = if let TypeKind::Decimal { scale, .. } = kind {
                *scale
            } else {
                0
            };
            Datum::Decimal(value, scale)
        }
        Scalar::Bytes(value) if kind.is_text() => std::str::from_utf8(value)
            .map(|text| Datum::String(text.to_owned()))
            .map_err(|error| Error::corrupt("text is not UTF-8").with_source(error))?,
        Scalar::Bytes(value) => Datum::Binary(value.to_vec()),
        Scalar::Timestamp(millis, nanos) => Datum::Timestamp { millis, nanos },
    })
}

/// Order of two values of one type.
#[inline]
fn order_of(left: &Scalar<'_>, right: &Scalar<'_>) -> Ordering {
    match (left, right) {
        (Scalar::Boolean(a), Scalar::Boolean(b)) => a.cmp(b),
        (Scalar::TinyInt(a), Scalar::TinyInt(b)) => a.cmp(b),
        (Scalar::SmallInt(a), Scalar::SmallInt(b)) => a.cmp(b),
        (Scalar::Int(a), Scalar::Int(b)) => a.cmp(b),
        (Scalar::BigInt(a), Scalar::BigInt(b)) => a.cmp(b),
        (Scalar::Float(a), Scalar::Float(b)) => float_order(f64::from(*a), f64::from(*b)),
        (Scalar::Double(a), Scalar::Double(b)) => float_order(*a, *b),
        (Scalar::Decimal(a), Scalar::Decimal(b)) => a.cmp(b),
        (Scalar::Bytes(a), Scalar::Bytes(b)) => a.cmp(b),
        (Scalar::Timestamp(a, an), Scalar::Timestamp(b, bn)) => (a, an).cmp(&(b, bn)),
        // Both sides come from the same type.
        _ => Ordering::Equal,
    }
}
