//! File indexes: which rows of a data file may satisfy a condition. Facts: table-format section 4.5.
//!
//! ```text
//! magic │ version │ head length │ columns × (name │ indexes × (type │ start │ length)) │ 0 │ bodies …
//! ```
//!
//! An index only ever excludes rows: what it does not know it admits, so leaving it out is always right. Indexes of types
//! that are not known here admit every row.

mod bitmap;
mod bloom;
mod bsi;
mod dictionary;
mod directory;
mod key;
mod ordered;
mod range_bitmap;
mod rows;
mod slices;

use std::ops::Range;

use roaring::RoaringBitmap;

use crate::error::{Error, Frame, Result, ResultExt};
use crate::predicate::{CompareOp, Leaf, Predicate, Test};
use crate::types::DataType;
use crate::value::Datum;

use bitmap::Bitmaps;
use bloom::BloomFilter;
use bsi::BitSliceIndex;
use key::{Key, key_of};
use ordered::ordered_rows;
use range_bitmap::RangeBitmap;
use rows::Rows;

pub use directory::{FileIndexDirectory, IndexPlace};

/// The indexes of one data file, embedded in its meta or in a file of their own.
#[derive(Clone, Debug)]
pub struct FileIndex<'a> {
    entries: Vec<IndexEntry<'a>>,
}

#[derive(Clone, Debug)]
struct IndexEntry<'a> {
    column: String,
    kind: String,
    body: &'a [u8],
}

/// The name and type that a column has in the file; a column without an answer is not asked for.
type ColumnOf<'p, 'c, C> = &'p dyn Fn(&C) -> Option<(&'c str, &'c DataType)>;

impl<'a> FileIndex<'a> {
    /// Decodes the directory of a whole container.
    ///
    /// # Errors
    /// `Corrupt` if the bytes are no container or an index is not inside it; `Unsupported` for another version.
    pub fn decode(bytes: &'a [u8]) -> Result<Self> {
        let directory = FileIndexDirectory::decode(bytes)?;
        let entry = |place: &IndexPlace| {
            let body = inside(bytes, &place.range).at(|| Frame::Column(place.column.clone()))?;
            Ok(IndexEntry::new(place, body))
        };
        let entries = directory.places().iter().map(entry);
        Ok(Self {
            entries: entries.collect::<Result<_>>()?,
        })
    }

    /// The indexes whose bytes are there: `body` gives those of a place in the container. Others admit every row.
    pub fn of_bodies(
        directory: &FileIndexDirectory,
        body: impl Fn(&Range<u64>) -> Option<&'a [u8]>,
    ) -> Self {
        let entry = |place: &IndexPlace| Some(IndexEntry::new(place, body(&place.range)?));
        Self {
            entries: directory.places().iter().filter_map(entry).collect(),
        }
    }

    /// Whether some of the `row_count` rows of the file may satisfy a condition.
    ///
    /// # Errors
    /// `Corrupt` if an index does not hold what it says or is of another number of rows, with the column at fault.
    pub fn may_match<'c, C>(
        &self,
        predicate: &Predicate<C>,
        column: ColumnOf<'_, 'c, C>,
        row_count: u64,
    ) -> Result<bool> {
        Ok(self.rows(predicate, column, row_count)?.may_be())
    }

    /// The rows that may satisfy a condition, as ascending ranges of file positions with gaps of at least `gap` rows
    /// between them (shorter ones are part of the ranges); `None` if any row may.
    ///
    /// # Errors
    /// As [`Self::may_match`].
    pub fn selection<'c, C>(
        &self,
        predicate: &Predicate<C>,
        column: ColumnOf<'_, 'c, C>,
        row_count: u64,
        gap: u32,
    ) -> Result<Option<Vec<Range<u64>>>> {
        Ok(self.rows(predicate, column, row_count)?.ranges(gap))
    }

    fn rows<'c, C>(
        &self,
        predicate: &Predicate<C>,
        column: ColumnOf<'_, 'c, C>,
        row_count: u64,
    ) -> Result<Rows> {
        match predicate {
            Predicate::Constant(Some(true)) => Ok(Rows::Any),
            Predicate::Constant(_) => Ok(Rows::None),
            Predicate::Leaf(leaf) => match column(&leaf.column) {
                Some((name, data_type)) => self
                    .rows_of_leaf(leaf, name, data_type, row_count)
                    .at(|| Frame::Column(name.to_owned())),
                None => Ok(Rows::Any),
            },
            Predicate::And(parts) => {
                let mut rows = Rows::Any;
                for part in parts {
                    rows = rows.and(self.rows(part, column, row_count)?);
                    if !rows.may_be() {
                        return Ok(Rows::None);
                    }
                }
                Ok(rows)
            }
            Predicate::Or(parts) => {
                let mut rows = Rows::None;
                for part in parts {
                    rows = rows.or(self.rows(part, column, row_count)?);
                }
                Ok(rows)
            }
        }
    }

    fn rows_of_leaf<C>(
        &self,
        leaf: &Leaf<C>,
        name: &str,
        data_type: &DataType,
        row_count: u64,
    ) -> Result<Rows> {
        let mut rows = Rows::Any;
        for entry in self.entries.iter().filter(|entry| entry.column == name) {
            let (body, test) = (entry.body, &leaf.test);
            let found = match entry.kind.as_str() {
                "bloom-filter" => bloom_rows(&BloomFilter::new(body)?, test, data_type),
                "bitmap" => bitmap_rows(body, test, data_type, row_count)?,
                "bsi" => match BitSliceIndex::decode(body, data_type)? {
                    Some(index) => ordered_rows(&index, test, row_count)?,
                    None => Rows::Any,
                },
                "range-bitmap" => match RangeBitmap::decode(body, data_type)? {
                    Some(index) => ordered_rows(&index, test, row_count)?,
                    None => Rows::Any,
                },
                _ => Rows::Any,
            };
            rows = rows.and(found);
        }
        Ok(rows)
    }
}

/// Whether rows with another key than the values of a test have other values, and the other way round.
fn tells_apart(test: &Test, data_type: &DataType) -> bool {
    let values = match test {
        Test::Compare(_, value) => std::slice::from_ref(value),
        Test::In { values, .. } => values,
        _ => &[],
    };
    let whole = |value| key::is_whole(value, data_type);
    key::is_exact(data_type) && values.iter().all(whole)
}

impl<'a> IndexEntry<'a> {
    fn new(place: &IndexPlace, body: &'a [u8]) -> Self {
        Self {
            column: place.column.clone(),
            kind: place.kind.clone(),
            body,
        }
    }
}

/// A Bloom filter knows only which values are not there.
fn bloom_rows(filter: &BloomFilter<'_>, test: &Test, data_type: &DataType) -> Rows {
    let may_hold = |value: &Datum| match key_of(value, data_type) {
        Some(key) => filter.may_hold(&key),
        None => true,
    };
    let found = match test {
        Test::Compare(CompareOp::Eq, value) => may_hold(value),
        Test::In {
            values,
            negated: false,
            ..
        } => values.iter().any(may_hold),
        _ => true,
    };
    if found { Rows::Any } else { Rows::None }
}

/// Bitmaps know the rows of each value. What is not among them is every other row, nulls too, as in the reference.
fn bitmap_rows(body: &[u8], test: &Test, data_type: &DataType, row_count: u64) -> Result<Rows> {
    let keys = |values: &[Datum]| -> Option<Vec<Key>> {
        values
            .iter()
            .map(|value| key_of(value, data_type))
            .collect()
    };
    let (wanted, negated) = match test {
        Test::Compare(CompareOp::Eq, value) => (keys(std::slice::from_ref(value)), false),
        Test::Compare(CompareOp::NotEq, value) => (keys(std::slice::from_ref(value)), true),
        Test::In {
            values, negated, ..
        } => (keys(values), *negated),
        Test::IsNull => (Some(Vec::new()), false),
        Test::IsNotNull => (Some(Vec::new()), true),
        _ => (None, false),
    };
    let nulls = matches!(test, Test::IsNull | Test::IsNotNull);
    // Rows of one key may hold several values of so fine a type.
    let wanted = wanted.filter(|_| nulls || !negated || tells_apart(test, data_type));
    let (Some(wanted), Some(bitmaps)) = (wanted, Bitmaps::decode(body, data_type)?) else {
        return Ok(Rows::Any);
    };
    rows::check_count(bitmaps.row_count(), row_count)?;
    let mut rows = if nulls {
        bitmaps.nulls()?
    } else {
        bitmaps.rows(&wanted)?
    };
    if negated {
        let mut others = RoaringBitmap::new();
        others.insert_range(0..bitmaps.row_count());
        rows = others - rows;
    }
    Ok(Rows::of(rows))
}

/// Bytes that are taken off from the front.
#[derive(Clone, Copy, Debug)]
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk().ok_or_else(cut_short)?;
        self.0 = rest;
        Ok(*taken)
    }

    fn bytes(&mut self, length: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(cut_short)?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8> {
        self.take::<1>().map(|[byte]| byte)
    }

    /// A part whose length stands before it.
    fn sized(&mut self) -> Result<Self> {
        let length = self.int()? as usize;
        self.bytes(length).map(Self)
    }

    /// Negative numbers come out above `i32::MAX`: no count or length is that large.
    fn int(&mut self) -> Result<u32> {
        self.take().map(u32::from_be_bytes)
    }

    /// Names are plain in the modified UTF-8 of Java, but for characters beyond 16 bits, whose names then match no column.
    fn text(&mut self) -> Result<String> {
        let length = u16::from_be_bytes(self.take()?);
        let bytes = self.bytes(usize::from(length))?;
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }
}

fn cut_short() -> Error {
    Error::corrupt("the file index is cut short")
}

fn inside<'a>(bytes: &'a [u8], range: &Range<u64>) -> Result<&'a [u8]> {
    let place = |at: u64| usize::try_from(at).ok();
    let range = place(range.start).zip(place(range.end));
    let body = range.and_then(|(start, end)| bytes.get(start..end));
    body.ok_or_else(cut_short)
}

/// A bitmap of rows, as the Roaring libraries store it, off the front.
fn bitmap_of(bytes: &mut &[u8]) -> Result<RoaringBitmap> {
    RoaringBitmap::deserialize_from(bytes)
        .map_err(|error| Error::corrupt("a bitmap of the file index is broken").with_source(error))
}

#[cfg(test)]
mod tests;
