//! Range bitmaps (`range-bitmap`): a dictionary of the values in their order, and the codes of rows bit by bit.
//!
//! ```text
//! header length │ 1 │ rows │ values │ smallest │ largest │ dictionary length │ dictionary │ codes
//! codes   header length │ 1 │ count │ length of present │ length │ (offset │ length) … │ present │ slice …
//! ```
//!
//! Without a value there is no smallest and no largest one.

use std::cell::OnceCell;
use std::cmp::Ordering;

use roaring::RoaringBitmap;

use super::dictionary::{Dictionary, Found};
use super::key::{datum_of, is_in_dictionaries};
use super::ordered::Ordered;
use super::slices::{Compared, MAX_SLICES, Slices};
use super::{Input, bitmap_of, cut_short};
use crate::error::{Error, Result};
use crate::types::DataType;
use crate::value::Datum;

const VERSION: u8 = 1;

/// An index whose parts are decoded when they are needed.
#[derive(Debug)]
pub(super) struct RangeBitmap<'a> {
    row_count: u32,
    /// The smallest and the largest value; `None` if every row is null.
    bounds: Option<(Datum, Datum)>,
    dictionary: Dictionary<'a>,
    codes: &'a [u8],
    slices: OnceCell<Slices>,
}

impl<'a> RangeBitmap<'a> {
    /// `None` for versions and types that are not known.
    ///
    /// # Errors
    /// `Corrupt` if the bytes do not hold what they say.
    pub(super) fn decode(body: &'a [u8], data_type: &'a DataType) -> Result<Option<Self>> {
        if !is_in_dictionaries(data_type) {
            return Ok(None);
        }
        let mut input = Input(body);
        let mut header = input.sized()?;
        if header.byte()? != VERSION {
            return Ok(None);
        }
        let (row_count, values) = (header.int()?, header.int()?);
        let bounds = if values == 0 {
            None
        } else {
            let smallest = datum_of(&mut header, data_type)?;
            Some((smallest, datum_of(&mut header, data_type)?))
        };
        let length = header.int()? as usize;
        let dictionary = input.bytes(length)?;
        Ok(Some(Self {
            row_count,
            bounds,
            dictionary: Dictionary::new(dictionary, data_type),
            codes: input.0,
            slices: OnceCell::new(),
        }))
    }

    fn slices(&self) -> Result<&Slices> {
        if let Some(slices) = self.slices.get() {
            return Ok(slices);
        }
        let decoded = decode_slices(self.codes)?;
        Ok(self.slices.get_or_init(|| decoded))
    }
}

impl Ordered for RangeBitmap<'_> {
    fn row_count(&self) -> u32 {
        self.row_count
    }

    fn present(&self) -> Result<RoaringBitmap> {
        match (&self.bounds, self.slices.get()) {
            (None, _) => Ok(RoaringBitmap::new()),
            (_, Some(slices)) => Ok(slices.present.clone()),
            (Some(_), None) => Codes::decode(self.codes)?.present(),
        }
    }

    fn compare(&self, value: &Datum) -> Result<Option<Compared>> {
        let Some((smallest, largest)) = &self.bounds else {
            return Ok(Some(Compared::default()));
        };
        let (Some(low), Some(high)) = (smallest.compare(value), largest.compare(value)) else {
            return Ok(None);
        };
        if low == Ordering::Greater {
            return Ok(Some(Compared::default()));
        }
        if high == Ordering::Less {
            return Ok(Some(Compared {
                less: self.present()?,
                equal: RoaringBitmap::new(),
            }));
        }
        let slices = self.slices()?;
        Ok(Some(match self.dictionary.find(value)? {
            Found::Code(code) => slices.compare(u64::from(code)),
            Found::Before(code) => Compared {
                less: slices.compare(u64::from(code)).less,
                equal: RoaringBitmap::new(),
            },
        }))
    }

    /// Types with values that a dictionary cannot tell apart are not known.
    fn is_exact(&self, _value: &Datum) -> bool {
        true
    }
}

/// Where the bitmaps of the codes are.
struct Codes<'a> {
    present: &'a [u8],
    places: Input<'a>,
    count: u8,
    bodies: &'a [u8],
}

impl<'a> Codes<'a> {
    fn decode(bytes: &'a [u8]) -> Result<Self> {
        let mut input = Input(bytes);
        let mut header = input.sized()?;
        let version = header.byte()?;
        if version != VERSION {
            let message = format!("version of the codes in a file index is {version}");
            return Err(Error::unsupported(message));
        }
        let count = header.byte()?;
        if u32::from(count) > MAX_SLICES {
            return Err(Error::corrupt(format!(
                "a range bitmap has {count} slices, expected at most {MAX_SLICES}"
            )));
        }
        let (present, _places) = (header.int()? as usize, header.int()?);
        Ok(Self {
            present: input.bytes(present)?,
            places: header,
            count,
            bodies: input.0,
        })
    }

    fn present(&self) -> Result<RoaringBitmap> {
        bitmap_of(&mut { self.present })
    }
}

fn decode_slices(bytes: &[u8]) -> Result<Slices> {
    let codes = Codes::decode(bytes)?;
    let mut places = codes.places;
    let slices = (0..codes.count).map(|_| {
        let (start, length) = (places.int()? as usize, places.int()? as usize);
        let body = codes
            .bodies
            .get(start..)
            .and_then(|rest| rest.get(..length));
        bitmap_of(&mut body.ok_or_else(cut_short)?)
    });
    Ok(Slices {
        slices: slices.collect::<Result<_>>()?,
        present: codes.present()?,
    })
}
