//! Bitmap indexes: the rows of each value.
//!
//! ```text
//! 1 │ rows │ values │ has null │ offset │                       value × (value │ offset)          │ bitmaps …
//! 2 │ rows │ values │ has null │ offset │ length │ blocks │ block × (first value │ offset) │ body │
//!        block … × (entries │ entry × (value │ offset │ length)) │ bitmaps …
//! ```
//!
//! Offsets are those of bitmaps; a negative one is a single row, all bits turned around.

use roaring::RoaringBitmap;

use super::key::Key;
use super::{Input, bitmap_of, cut_short};
use crate::error::Result;
use crate::types::{DataType, TypeKind};

/// The form of the values.
#[derive(Clone, Copy, Debug)]
enum Form {
    Byte,
    Short,
    Int,
    Long,
    Bytes,
}

/// A decoded dictionary of values.
#[derive(Debug)]
pub(super) struct Bitmaps<'a> {
    row_count: u32,
    null: Option<u32>,
    values: Vec<(Key, u32)>,
    bitmaps: &'a [u8],
}

impl<'a> Bitmaps<'a> {
    /// `None` for versions and types that are not known.
    ///
    /// # Errors
    /// `Corrupt` if the bytes do not hold what they say.
    pub(super) fn decode(body: &'a [u8], data_type: &DataType) -> Result<Option<Self>> {
        let Some(form) = form(data_type) else {
            return Ok(None);
        };
        let mut input = Input(body);
        let version = input.byte()?;
        if !matches!(version, 1 | 2) {
            return Ok(None);
        }
        let (row_count, count) = (input.int()?, input.int()?);
        let has_null = input.byte()? != 0;
        let null = has_null.then(|| input.int()).transpose()?;
        if has_null && version == 2 {
            input.int()?;
        }
        let values = match version {
            1 => entries(&mut input, count, form, false)?,
            _ => blocks(&mut input, form)?,
        };
        Ok(Some(Self {
            row_count,
            null,
            values,
            bitmaps: input.0,
        }))
    }

    /// Rows of the file.
    pub(super) fn row_count(&self) -> u32 {
        self.row_count
    }

    /// Rows with null.
    ///
    /// # Errors
    /// `Corrupt` for a broken bitmap.
    pub(super) fn nulls(&self) -> Result<RoaringBitmap> {
        self.null
            .map_or_else(|| Ok(RoaringBitmap::new()), |offset| self.bitmap(offset))
    }

    /// Rows with one of some values.
    ///
    /// # Errors
    /// As [`Self::nulls`].
    pub(super) fn rows(&self, keys: &[Key]) -> Result<RoaringBitmap> {
        let mut rows = RoaringBitmap::new();
        for (key, offset) in &self.values {
            if keys.contains(key) {
                rows |= self.bitmap(*offset)?;
            }
        }
        Ok(rows)
    }

    fn bitmap(&self, offset: u32) -> Result<RoaringBitmap> {
        if offset > i32::MAX.unsigned_abs() {
            return Ok(RoaringBitmap::from_iter([!offset]));
        }
        let bytes = self.bitmaps.get(offset as usize..);
        bitmap_of(&mut bytes.ok_or_else(cut_short)?)
    }
}

/// The blocks of version 2, read one after the other.
fn blocks(input: &mut Input<'_>, form: Form) -> Result<Vec<(Key, u32)>> {
    let count = input.int()?;
    for _ in 0..count {
        value(input, form)?;
        input.int()?;
    }
    let body = input.int()? as usize;
    let mut inside = Input(input.bytes(body)?);
    let mut values = Vec::new();
    for _ in 0..count {
        let entry_count = inside.int()?;
        values.extend(entries(&mut inside, entry_count, form, true)?);
    }
    Ok(values)
}

fn entries(
    input: &mut Input<'_>,
    count: u32,
    form: Form,
    with_length: bool,
) -> Result<Vec<(Key, u32)>> {
    let mut values = Vec::new();
    for _ in 0..count {
        let key = value(input, form)?;
        values.push((key, input.int()?));
        if with_length {
            input.int()?;
        }
    }
    Ok(values)
}

fn value(input: &mut Input<'_>, form: Form) -> Result<Key> {
    Ok(match form {
        Form::Byte => Key::Number(i64::from(input.byte()?.cast_signed())),
        Form::Short => Key::Number(i64::from(i16::from_be_bytes(input.take()?))),
        Form::Int => Key::Number(i64::from(i32::from_be_bytes(input.take()?))),
        Form::Long => Key::Number(i64::from_be_bytes(input.take()?)),
        Form::Bytes => {
            let length = input.int()? as usize;
            Key::Bytes(input.bytes(length)?.to_vec())
        }
    })
}

fn form(data_type: &DataType) -> Option<Form> {
    Some(match data_type.kind {
        TypeKind::Boolean | TypeKind::TinyInt => Form::Byte,
        TypeKind::SmallInt => Form::Short,
        TypeKind::Int | TypeKind::Date | TypeKind::Time(_) | TypeKind::Float => Form::Int,
        TypeKind::BigInt
        | TypeKind::Double
        | TypeKind::Timestamp(_)
        | TypeKind::LocalZonedTimestamp(_) => Form::Long,
        TypeKind::Char(_) | TypeKind::VarChar(_) => Form::Bytes,
        _ => return None,
    })
}
