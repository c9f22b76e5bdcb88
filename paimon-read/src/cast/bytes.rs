//! Columns of bytes: their lengths, and text from and to them.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::GenericBinaryType;
use arrow_array::{
    Array, ArrayRef, BinaryArrayType, BinaryViewArray, GenericByteArray, OffsetSizeTrait,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType as ArrowType;
use paimon_meta::{Error, Result};

use super::text::{self, Texts};
use super::unexpected;

/// How bytes are made to fit a type.
#[derive(Clone, Copy, Debug)]
pub(super) struct FitBytes {
    /// Most bytes.
    length: usize,
    /// Whether shorter values get zeros at their end.
    pad: bool,
}

impl FitBytes {
    /// `VARBINARY`.
    pub(super) fn cut(length: u32) -> Self {
        Self {
            length: length as usize,
            pad: false,
        }
    }

    /// `BINARY`.
    pub(super) fn padded(length: u32) -> Self {
        Self {
            length: length as usize,
            pad: true,
        }
    }

    fn keeps(self, length: usize) -> bool {
        length == self.length || (!self.pad && length < self.length)
    }

    fn push(self, bytes: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(bytes.get(..self.length).unwrap_or(bytes));
        if self.pad {
            let missing = self.length.saturating_sub(bytes.len());
            out.extend(std::iter::repeat_n(0, missing));
        }
    }
}

/// Calls `each` for the rows of a column of bytes in order, with the bytes where there are some.
fn each(
    array: &ArrayRef,
    nulls: Option<&NullBuffer>,
    each: &mut dyn FnMut(usize, Option<&[u8]>),
) -> Result<()> {
    fn drive<'a>(
        values: impl BinaryArrayType<'a>,
        nulls: Option<&NullBuffer>,
        each: &mut dyn FnMut(usize, Option<&[u8]>),
    ) {
        for row in 0..values.len() {
            let valid = nulls.is_none_or(|nulls| nulls.is_valid(row));
            each(row, valid.then(|| values.value(row)));
        }
    }
    match array.data_type() {
        ArrowType::Binary => drive(array.as_binary::<i32>(), nulls, each),
        ArrowType::LargeBinary => drive(array.as_binary::<i64>(), nulls, each),
        ArrowType::BinaryView => drive(array.as_binary_view(), nulls, each),
        _ => return Err(unexpected(array, &ArrowType::Binary)),
    }
    Ok(())
}

/// The column with every value cut or padded; the same where that changes nothing.
pub(super) fn fit_column(
    array: &ArrayRef,
    nulls: Option<NullBuffer>,
    fit: FitBytes,
    to: &ArrowType,
) -> Result<ArrayRef> {
    let mut kept = array.data_type() == to;
    each(array, nulls.as_ref(), &mut |_, value| {
        kept &= value.is_none_or(|value| fit.keeps(value.len()));
    })?;
    if kept {
        return Ok(Arc::clone(array));
    }
    let mut built = Built::with_capacity(array.len());
    each(array, nulls.as_ref(), &mut |_, value| {
        built.push(fit, value);
    })?;
    built.finish(nulls, to)
}

/// The bytes of text, cut or padded.
pub(super) fn from_text(
    array: &ArrayRef,
    nulls: Option<NullBuffer>,
    fit: FitBytes,
    to: &ArrowType,
) -> Result<ArrayRef> {
    let mut built = Built::with_capacity(array.len());
    text::each(array, nulls.as_ref(), &mut |_, text| {
        built.push(fit, text.map(str::as_bytes));
    })?;
    built.finish(nulls, to)
}

/// Bytes taken as UTF-8, whatever length the type has; what is none is replaced as Java shows it.
pub(super) fn to_text(
    array: &ArrayRef,
    nulls: Option<NullBuffer>,
    to: &ArrowType,
) -> Result<ArrayRef> {
    let mut texts = Texts::with_capacity(array.len());
    each(array, nulls.as_ref(), &mut |_, value| {
        texts.push_with(|out| {
            out.push_str(&value.map_or(Cow::Borrowed(""), String::from_utf8_lossy));
        });
    })?;
    texts.finish(nulls, to)
}

/// A column of bytes being built.
struct Built {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Built {
    fn with_capacity(rows: usize) -> Self {
        let mut ends = Vec::with_capacity(rows + 1);
        ends.push(0);
        Self {
            bytes: Vec::new(),
            ends,
        }
    }

    fn push(&mut self, fit: FitBytes, value: Option<&[u8]>) {
        if let Some(value) = value {
            fit.push(value, &mut self.bytes);
        }
        self.ends.push(self.bytes.len());
    }

    fn finish(self, nulls: Option<NullBuffer>, to: &ArrowType) -> Result<ArrayRef> {
        Ok(match to {
            ArrowType::Binary => Arc::new(self.with_offsets::<i32>(nulls)?),
            ArrowType::LargeBinary => Arc::new(self.with_offsets::<i64>(nulls)?),
            ArrowType::BinaryView if i32::try_from(self.bytes.len()).is_ok() => {
                Arc::new(BinaryViewArray::from(&self.with_offsets::<i32>(nulls)?))
            }
            ArrowType::BinaryView => {
                Arc::new(BinaryViewArray::from(&self.with_offsets::<i64>(nulls)?))
            }
            _ => return Err(Error::internal(format!("bytes built as {to}"))),
        })
    }

    fn with_offsets<O: OffsetSizeTrait>(
        self,
        nulls: Option<NullBuffer>,
    ) -> Result<GenericByteArray<GenericBinaryType<O>>> {
        let offsets: Option<Vec<O>> = self.ends.into_iter().map(O::from_usize).collect();
        let offsets = offsets
            .ok_or_else(|| Error::unsupported("2^31 bytes in a batch with 32-bit offsets"))?;
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        let bytes = Buffer::from_vec(self.bytes);
        GenericByteArray::try_new(offsets, bytes, nulls)
            .map_err(|error| Error::internal("column of bytes does not build").with_source(error))
    }
}
