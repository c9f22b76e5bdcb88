//! The row format of partitions, keys and statistics in metadata. Facts: table-format section 5.
//!
//! ```text
//! arity, 4 bytes BE │ row kind, null bits │ slot 0 │ slot 1 │ … │ variable blocks, each padded to 8
//!                   └─ the row: little-endian, offsets count from here ─────────────────────────┘
//! ```
//!
//! A [`BinaryRow`] owns its bytes, a [`BinaryRowRef`] borrows them; both know that header and slots are complete. What
//! the slots point to is checked when a field is read.

mod read;
mod write;

#[cfg(test)]
mod tests;

use std::fmt::{self, Write as _};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result};
use crate::row_kind::RowKind;

pub use write::encode_row;

pub(crate) use read::BinaryArray;
pub(crate) use write::RowWriter;

/// Bytes of the arity in front of a serialized row (TF-041).
const ARITY_BYTES: usize = 4;
/// Bytes of one slot.
const SLOT_BYTES: usize = 8;

/// Bytes of row kind and null bits (TF-055); `None` if it does not fit the address space.
fn header_bytes(arity: usize) -> Option<usize> {
    Some(arity.checked_add(63 + 8)? / 64 * 8)
}

/// Bytes of the number of items and of their null bits in an array, which is not too long for the address space.
fn array_header_bytes(length: usize) -> usize {
    4 + length.div_ceil(32) * 4
}

/// Bytes of header and slots; `None` if it does not fit the address space.
fn fixed_bytes(arity: usize) -> Option<usize> {
    header_bytes(arity)?.checked_add(arity.checked_mul(SLOT_BYTES)?)
}

/// A row in serialized form: 4 bytes big-endian arity, then the row's bytes (TF-041). Owned; header and slots complete.
///
/// Equality and order are those of the bytes, good for grouping rows that one writer made; the order of *values* is
/// [`BinaryRowRef::compare`]. Serialises as lower-case hex in human-readable formats and as bytes in others.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BinaryRow(Vec<u8>);

impl BinaryRow {
    /// A row from its serialized form, as metadata files hold it.
    ///
    /// # Errors
    /// `Corrupt` if the bytes are too short for their arity.
    pub fn from_serialized(serialized: Vec<u8>) -> Result<Self> {
        BinaryRowRef::from_serialized(&serialized)?;
        Ok(Self(serialized))
    }

    /// A row from its arity and the bytes behind it.
    ///
    /// # Errors
    /// `Corrupt` if the bytes are too short for the arity.
    pub fn from_parts(arity: usize, row_bytes: &[u8]) -> Result<Self> {
        let prefix =
            i32::try_from(arity).map_err(|_| Error::corrupt(format!("row arity is {arity}")))?;
        Self::from_serialized([prefix.to_be_bytes().as_slice(), row_bytes].concat())
    }

    /// Arity and row, as metadata files hold them.
    pub fn as_serialized(&self) -> &[u8] {
        &self.0
    }

    /// The row without its arity: what bucket hashes are made of (TF-062).
    pub fn row_bytes(&self) -> &[u8] {
        self.as_ref().row
    }

    /// Number of fields.
    pub fn arity(&self) -> usize {
        self.as_ref().arity
    }

    /// The row, borrowed, for reading its fields.
    pub fn as_ref(&self) -> BinaryRowRef<'_> {
        // The constructors have checked the bytes, so the fallback is never taken.
        BinaryRowRef::from_serialized(&self.0).unwrap_or(BinaryRowRef { arity: 0, row: &[] })
    }
}

impl Default for BinaryRow {
    /// The row of arity 0 (TF-042).
    fn default() -> Self {
        Self(vec![0; ARITY_BYTES + 8])
    }
}

impl fmt::Debug for BinaryRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BinaryRow({})", to_hex(&self.0))
    }
}

/// A borrowed row: its arity and the bytes behind it. Header and slots are complete.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct BinaryRowRef<'a> {
    arity: usize,
    row: &'a [u8],
}

impl<'a> BinaryRowRef<'a> {
    /// A row from its serialized form: 4 bytes big-endian arity, then the row.
    ///
    /// # Errors
    /// `Corrupt` if the bytes are too short for their arity.
    pub fn from_serialized(serialized: &'a [u8]) -> Result<Self> {
        let Some((prefix, row)) = serialized.split_first_chunk::<ARITY_BYTES>() else {
            return Err(Error::corrupt(format!(
                "row has {} bytes, expected an arity of 4",
                serialized.len()
            )));
        };
        let prefix = i32::from_be_bytes(*prefix);
        let arity = usize::try_from(prefix)
            .map_err(|_| Error::corrupt(format!("row arity is {prefix}")))?;
        Self::from_row(arity, row)
    }

    /// A row whose arity is not in front of it.
    ///
    /// # Errors
    /// `Corrupt` if the bytes are too short for their arity.
    pub(crate) fn from_row(arity: usize, row: &'a [u8]) -> Result<Self> {
        if fixed_bytes(arity).is_some_and(|needed| needed <= row.len()) {
            Ok(Self { arity, row })
        } else {
            Err(Error::corrupt(format!(
                "row of arity {arity} has {} bytes, too few for its slots",
                row.len()
            )))
        }
    }

    /// Number of fields.
    pub fn arity(&self) -> usize {
        self.arity
    }

    /// The row without its arity.
    pub fn row_bytes(&self) -> &'a [u8] {
        self.row
    }

    /// The row kind in the header; keys, partitions and statistics have `+I`.
    ///
    /// # Errors
    /// `Corrupt` for a byte that is no row kind.
    pub fn kind(&self) -> Result<RowKind> {
        RowKind::from_byte(self.row.first().copied().unwrap_or_default().cast_signed())
    }

    /// Whether field `index` is null.
    ///
    /// # Errors
    /// `Corrupt` if the row has no such field.
    pub fn is_null(&self, index: usize) -> Result<bool> {
        if index >= self.arity {
            return Err(self.no_field(index));
        }
        let bit = index + 8; // TF-054: the row kind takes the first eight
        let byte = self.row.get(bit / 8).copied().unwrap_or_default();
        Ok(byte & (1 << (bit % 8)) != 0)
    }

    fn no_field(&self, index: usize) -> Error {
        Error::corrupt(format!(
            "row has {} fields, expected a field {index}",
            self.arity
        ))
    }
}

impl fmt::Debug for BinaryRowRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "BinaryRowRef(arity {}, {})",
            self.arity,
            to_hex(self.row)
        )
    }
}

impl Serialize for BinaryRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.serialize_str(&to_hex(&self.0))
        } else {
            serializer.serialize_bytes(&self.0)
        }
    }
}

impl<'de> Deserialize<'de> for BinaryRow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let row = if deserializer.is_human_readable() {
            deserializer.deserialize_str(RowVisitor)
        } else {
            deserializer.deserialize_byte_buf(RowVisitor)
        }?;
        Self::from_serialized(row).map_err(serde::de::Error::custom)
    }
}

struct RowVisitor;

impl<'de> serde::de::Visitor<'de> for RowVisitor {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a serialized row as bytes or hex text")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Vec<u8>, E> {
        from_hex(text).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }

    fn visit_byte_buf<E: serde::de::Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
        Ok(bytes)
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut bytes: A) -> Result<Vec<u8>, A::Error> {
        let mut row = Vec::new();
        while let Some(byte) = bytes.next_element()? {
            row.push(byte);
        }
        Ok(row)
    }
}

/// Lower-case hex.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            let _ = write!(text, "{byte:02x}"); // writing to a string cannot fail
            text
        })
}

/// Bytes of hex in either case; `None` if it is not.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text
        .chars()
        .map(|digit| {
            digit
                .to_digit(16)
                .and_then(|value| u8::try_from(value).ok())
        })
        .collect::<Option<_>>()?;
    let (pairs, rest) = digits.as_chunks::<2>();
    rest.is_empty()
        .then(|| pairs.iter().map(|[high, low]| high << 4 | low).collect())
}
