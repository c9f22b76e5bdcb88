//! Dictionaries of range bitmaps: values in ascending order, whose codes count up, in chunks.
//!
//! ```text
//! header length │ 1 │ chunks │ length of offsets │ length of chunks │ offset … │ chunk … │ values
//! chunk, values of one length    1 │ first value │ its code │ offset │ others │ length │ length of one
//! chunk, text                    1 │ first value │ its code │ offset │ others │ length of offsets │ length
//! ```
//!
//! The other values of a chunk stand at its offset among the values: as they are, or behind the offset of each.

use std::cmp::Ordering;

use super::key::datum_of;
use super::{Input, cut_short};
use crate::error::{Error, Result};
use crate::types::{DataType, TypeKind};
use crate::value::Datum;

const VERSION: u8 = 1;

/// Where a value is in a dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// It has this code.
    Code(u32),
    /// It is not there; this is the code of the first larger value, or the number of values.
    Before(u32),
}

/// A dictionary, of which only what a search looks at is decoded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dictionary<'a> {
    bytes: &'a [u8],
    data_type: &'a DataType,
}

struct Parts<'a> {
    count: u32,
    offsets: &'a [u8],
    chunks: &'a [u8],
    values: &'a [u8],
}

struct Chunk<'a> {
    first: Datum,
    code: u32,
    /// Values beside the first.
    others: u32,
    /// Offsets of the values, of text.
    offsets: Option<&'a [u8]>,
    values: &'a [u8],
    /// Bytes of one value, of other types.
    size: usize,
}

impl<'a> Dictionary<'a> {
    pub(super) fn new(bytes: &'a [u8], data_type: &'a DataType) -> Self {
        Self { bytes, data_type }
    }

    /// Looks a value up.
    ///
    /// # Errors
    /// `Corrupt` if the dictionary does not hold what it says or values of another type; `Unsupported` for another version.
    pub(super) fn find(&self, value: &Datum) -> Result<Found> {
        let parts = self.parts()?;
        // The last chunk that does not begin above the value.
        let after = search(parts.count, |index| {
            Ok(order(&self.chunk(&parts, index)?.first, value)? != Ordering::Greater)
        })?;
        let Some(last) = after.checked_sub(1) else {
            return Ok(Found::Before(0));
        };
        let chunk = self.chunk(&parts, last)?;
        if order(&chunk.first, value)? == Ordering::Equal {
            return Ok(Found::Code(chunk.code));
        }
        let below = search(chunk.others, |index| {
            Ok(order(&self.value(&chunk, index)?, value)? == Ordering::Less)
        })?;
        let code = chunk
            .code
            .checked_add(1)
            .and_then(|code| code.checked_add(below));
        let code = code.ok_or_else(|| Error::corrupt("a code in the file index is too large"))?;
        let is_there =
            below < chunk.others && order(&self.value(&chunk, below)?, value)? == Ordering::Equal;
        Ok(if is_there {
            Found::Code(code)
        } else {
            Found::Before(code)
        })
    }

    fn parts(&self) -> Result<Parts<'a>> {
        let mut input = Input(self.bytes);
        let mut header = input.sized()?;
        check_version(header.byte()?)?;
        let (count, offsets, chunks) = (header.int()?, header.int()?, header.int()?);
        Ok(Parts {
            count,
            offsets: input.bytes(offsets as usize)?,
            chunks: input.bytes(chunks as usize)?,
            values: input.0,
        })
    }

    fn chunk(&self, parts: &Parts<'a>, index: u32) -> Result<Chunk<'a>> {
        let mut input = Input(from(parts.chunks, int_at(parts.offsets, index)?)?);
        check_version(input.byte()?)?;
        let first = datum_of(&mut input, self.data_type)?;
        let (code, offset, others) = (input.int()?, input.int()?, input.int()?);
        let mut values = Input(from(parts.values, offset)?);
        if matches!(
            self.data_type.kind,
            TypeKind::Char(_) | TypeKind::VarChar(_)
        ) {
            let (offsets, length) = (input.int()? as usize, input.int()? as usize);
            return Ok(Chunk {
                first,
                code,
                others,
                offsets: Some(values.bytes(offsets)?),
                values: values.bytes(length)?,
                size: 0,
            });
        }
        let (length, size) = (input.int()? as usize, input.int()? as usize);
        Ok(Chunk {
            first,
            code,
            others,
            offsets: None,
            values: values.bytes(length)?,
            size,
        })
    }

    /// One of the other values of a chunk.
    fn value(&self, chunk: &Chunk<'a>, index: u32) -> Result<Datum> {
        let start = match chunk.offsets {
            Some(offsets) => int_at(offsets, index)? as usize,
            None => (index as usize)
                .checked_mul(chunk.size)
                .ok_or_else(cut_short)?,
        };
        let rest = chunk.values.get(start..).ok_or_else(cut_short)?;
        datum_of(&mut Input(rest), self.data_type)
    }
}

fn check_version(version: u8) -> Result<()> {
    if version == VERSION {
        return Ok(());
    }
    let message = format!("version of a dictionary in a file index is {version}");
    Err(Error::unsupported(message))
}

fn order(stored: &Datum, value: &Datum) -> Result<Ordering> {
    let order = stored.compare(value);
    order.ok_or_else(|| Error::internal("values of an index and a condition do not compare"))
}

fn from(bytes: &[u8], start: u32) -> Result<&[u8]> {
    bytes.get(start as usize..).ok_or_else(cut_short)
}

fn int_at(bytes: &[u8], index: u32) -> Result<u32> {
    let start = (index as usize).checked_mul(4).ok_or_else(cut_short)?;
    Input(bytes.get(start..).ok_or_else(cut_short)?).int()
}

/// How many of the first `count` places pass; those that pass come before those that do not.
fn search(count: u32, mut passes: impl FnMut(u32) -> Result<bool>) -> Result<u32> {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if passes(middle)? {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}
