//! Text columns in any layout: reading them, building them, and their lengths.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::GenericStringType;
use arrow_array::{
    Array, ArrayRef, GenericStringArray, OffsetSizeTrait, StringArrayType, StringViewArray,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType as ArrowType;
use paimon_meta::{Error, MAX_LENGTH, Result, TypeKind};

use super::unexpected;

/// How text is made to fit a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fit {
    /// Most characters.
    length: usize,
    /// Whether shorter text gets spaces at its end.
    pad: bool,
}

impl Fit {
    /// As it is.
    pub(super) const NONE: Self = Self {
        length: MAX_LENGTH as usize,
        pad: false,
    };

    /// That of `CHAR` and `VARCHAR`.
    pub(super) fn of(kind: &TypeKind) -> Self {
        match kind {
            TypeKind::Char(length) => Self {
                length: *length as usize,
                pad: true,
            },
            TypeKind::VarChar(length) => Self {
                length: *length as usize,
                pad: false,
            },
            _ => Self::NONE,
        }
    }

    /// Adds text, cut or with spaces.
    pub(super) fn push(self, text: &str, out: &mut String) {
        let mut characters = text.char_indices();
        // No text has fewer bytes than characters.
        let cut = (text.len() > self.length)
            .then(|| characters.nth(self.length))
            .flatten();
        match cut {
            Some((end, _)) => out.push_str(text.get(..end).unwrap_or(text)),
            None => {
                out.push_str(text);
                if self.pad {
                    let missing = self.length.saturating_sub(text.chars().count());
                    out.extend(std::iter::repeat_n(' ', missing));
                }
            }
        }
    }

    /// Whether text of so many bytes fits in any case.
    fn keeps(self, bytes: usize) -> bool {
        !self.pad && bytes <= self.length
    }
}

/// Calls `each` for the rows of a text column in order, with the text where there is one.
///
/// # Errors
/// `Internal` if it is no text column.
pub(super) fn each(
    array: &ArrayRef,
    nulls: Option<&NullBuffer>,
    each: &mut dyn FnMut(usize, Option<&str>),
) -> Result<()> {
    fn drive<'a>(
        texts: impl StringArrayType<'a>,
        nulls: Option<&NullBuffer>,
        each: &mut dyn FnMut(usize, Option<&str>),
    ) {
        for row in 0..texts.len() {
            let valid = nulls.is_none_or(|nulls| nulls.is_valid(row));
            each(row, valid.then(|| texts.value(row)));
        }
    }
    match array.data_type() {
        ArrowType::Utf8 => drive(array.as_string::<i32>(), nulls, each),
        ArrowType::LargeUtf8 => drive(array.as_string::<i64>(), nulls, each),
        ArrowType::Utf8View => drive(array.as_string_view(), nulls, each),
        _ => return Err(unexpected(array, &ArrowType::Utf8)),
    }
    Ok(())
}

/// The column with every text cut or padded; the same where that changes nothing.
pub(super) fn fit_column(
    array: &ArrayRef,
    nulls: Option<NullBuffer>,
    fit: Fit,
    to: &ArrowType,
) -> Result<ArrayRef> {
    let mut kept = array.data_type() == to;
    if fit != Fit::NONE {
        each(array, nulls.as_ref(), &mut |_, text| {
            kept &= text.is_none_or(|text| fit.keeps(text.len()));
        })?;
    }
    if kept {
        return Ok(Arc::clone(array));
    }
    let mut texts = Texts::with_capacity(array.len());
    each(array, nulls.as_ref(), &mut |_, text| {
        texts.push_with(|out| {
            if let Some(text) = text {
                fit.push(text, out);
            }
        });
    })?;
    texts.finish(nulls, to)
}

/// A text column being built.
#[derive(Debug)]
pub(super) struct Texts {
    bytes: String,
    ends: Vec<usize>,
}

impl Texts {
    pub(super) fn with_capacity(rows: usize) -> Self {
        let mut ends = Vec::with_capacity(rows + 1);
        ends.push(0);
        Self {
            bytes: String::new(),
            ends,
        }
    }

    /// Adds a row of what `write` writes.
    pub(super) fn push_with(&mut self, write: impl FnOnce(&mut String)) {
        write(&mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    /// The column in the layout of `to`.
    ///
    /// # Errors
    /// `Unsupported` if 32-bit offsets cannot count its bytes, `Internal` if `to` is no text.
    pub(super) fn finish(self, nulls: Option<NullBuffer>, to: &ArrowType) -> Result<ArrayRef> {
        Ok(match to {
            ArrowType::Utf8 => Arc::new(self.with_offsets::<i32>(nulls)?),
            ArrowType::LargeUtf8 => Arc::new(self.with_offsets::<i64>(nulls)?),
            ArrowType::Utf8View if i32::try_from(self.bytes.len()).is_ok() => {
                Arc::new(StringViewArray::from(&self.with_offsets::<i32>(nulls)?))
            }
            ArrowType::Utf8View => {
                Arc::new(StringViewArray::from(&self.with_offsets::<i64>(nulls)?))
            }
            _ => return Err(Error::internal(format!("text built as {to}"))),
        })
    }

    fn with_offsets<O: OffsetSizeTrait>(
        self,
        nulls: Option<NullBuffer>,
    ) -> Result<GenericStringArray<O>> {
        let offsets: Option<Vec<O>> = self.ends.into_iter().map(O::from_usize).collect();
        let offsets = offsets.ok_or_else(|| {
            Error::unsupported("text of 2^31 bytes in a batch with 32-bit offsets")
        })?;
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        let bytes = Buffer::from_vec(self.bytes.into_bytes());
        arrow_array::GenericByteArray::<GenericStringType<O>>::try_new(offsets, bytes, nulls)
            .map_err(|error| Error::internal("text column does not build").with_source(error))
    }
}
