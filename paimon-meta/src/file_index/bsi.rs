//! Bit-slice indexes (`bsi`): the numbers of rows bit by bit, those below zero apart and by their magnitude.
//!
//! ```text
//! 1 │ rows │ has positive │ slices │ has negative │ slices
//! slices   1 │ min │ max │ rows with a number │ count │ slice … of number - min
//! ```

use roaring::RoaringBitmap;

use super::key::number_of;
use super::ordered::Ordered;
use super::slices::{Compared, MAX_SLICES, Slices};
use super::{Input, bitmap_of, key};
use crate::error::{Error, Result};
use crate::types::{DataType, TypeKind};
use crate::value::Datum;

const VERSION: u8 = 1;

/// A decoded index.
#[derive(Debug)]
pub(super) struct BitSliceIndex<'t> {
    data_type: &'t DataType,
    row_count: u32,
    positive: Half,
    negative: Half,
}

/// Numbers of one sign.
#[derive(Debug, Default)]
struct Half {
    min: u64,
    slices: Slices,
}

impl<'t> BitSliceIndex<'t> {
    /// `None` for versions and types that are not known.
    ///
    /// # Errors
    /// `Corrupt` if the bytes do not hold what they say.
    pub(super) fn decode(body: &[u8], data_type: &'t DataType) -> Result<Option<Self>> {
        let mut input = Input(body);
        if input.byte()? != VERSION || !is_indexed(&data_type.kind) {
            return Ok(None);
        }
        let row_count = input.int()?;
        let Some(positive) = half(&mut input)? else {
            return Ok(None);
        };
        let Some(negative) = half(&mut input)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            data_type,
            row_count,
            positive,
            negative,
        }))
    }
}

impl Ordered for BitSliceIndex<'_> {
    fn row_count(&self) -> u32 {
        self.row_count
    }

    fn present(&self) -> Result<RoaringBitmap> {
        Ok(&self.positive.slices.present | &self.negative.slices.present)
    }

    fn compare(&self, value: &Datum) -> Result<Option<Compared>> {
        let Some(number) = number_of(value, self.data_type) else {
            return Ok(None);
        };
        let magnitude = number.unsigned_abs();
        Ok(Some(if number < 0 {
            // The larger the magnitude, the smaller the number.
            let Compared { less, equal } = self.negative.compare(magnitude);
            Compared {
                less: &self.negative.slices.present - less - &equal,
                equal,
            }
        } else {
            let Compared { less, equal } = self.positive.compare(magnitude);
            Compared {
                less: less | &self.negative.slices.present,
                equal,
            }
        }))
    }

    fn is_exact(&self, value: &Datum) -> bool {
        key::is_exact(self.data_type) && key::is_whole(value, self.data_type)
    }
}

impl Half {
    fn compare(&self, magnitude: u64) -> Compared {
        magnitude
            .checked_sub(self.min)
            .map_or_else(Compared::default, |number| self.slices.compare(number))
    }
}

/// `None` for an unknown version.
fn half(input: &mut Input<'_>) -> Result<Option<Half>> {
    if input.byte()? == 0 {
        return Ok(Some(Half::default()));
    }
    if input.byte()? != VERSION {
        return Ok(None);
    }
    let min = u64::from_be_bytes(input.take()?);
    let _max = u64::from_be_bytes(input.take()?);
    let present = bitmap_of(&mut input.0)?;
    let count = input.int()?;
    if count > MAX_SLICES {
        return Err(Error::corrupt(format!(
            "a bit-slice index has {count} slices, expected at most {MAX_SLICES}"
        )));
    }
    let slices = (0..count).map(|_| bitmap_of(&mut input.0));
    let slices = slices.collect::<Result<_>>()?;
    Ok(Some(Half {
        min,
        slices: Slices { present, slices },
    }))
}

fn is_indexed(kind: &TypeKind) -> bool {
    matches!(
        kind,
        TypeKind::TinyInt
            | TypeKind::SmallInt
            | TypeKind::Int
            | TypeKind::BigInt
            | TypeKind::Date
            | TypeKind::Time(_)
            | TypeKind::Decimal { .. }
            | TypeKind::Timestamp(_)
            | TypeKind::LocalZonedTimestamp(_)
    )
}
