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
mod key;

use roaring::RoaringBitmap;

use crate::error::{Error, Frame, Result, ResultExt};
use crate::predicate::{CompareOp, Leaf, Predicate, Test};
use crate::types::DataType;
use crate::value::Datum;

use bitmap::Bitmaps;
use bloom::BloomFilter;
use key::{Key, key_of};

const MAGIC: u64 = 1_493_475_289_347_502;
const VERSION: u32 = 1;

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

/// What indexes know of the rows that satisfy a condition.
#[derive(Clone, Debug, PartialEq)]
enum Rows {
    /// Any row may.
    Any,
    /// No row does.
    None,
    /// None but these.
    Of(RoaringBitmap),
}

impl<'a> FileIndex<'a> {
    /// Decodes the directory of a container.
    ///
    /// # Errors
    /// `Corrupt` if the bytes are no container or an index is not inside it; `Unsupported` for another version.
    pub fn decode(bytes: &'a [u8]) -> Result<Self> {
        let mut head = Input(bytes);
        let magic = u64::from_be_bytes(head.take()?);
        if magic != MAGIC {
            return Err(Error::corrupt(format!(
                "magic number of the file index is {magic}, expected {MAGIC}"
            )));
        }
        let version = head.int()?;
        if version != VERSION {
            return Err(Error::unsupported(format!("file index version {version}")));
        }
        let _head_length = head.int()?;
        let mut entries = Vec::new();
        for _ in 0..head.int()? {
            let column = head.text()?;
            for _ in 0..head.int()? {
                let kind = head.text()?;
                let (start, length) = (head.int()?, head.int()?);
                // An index that nothing was written to has no place.
                if start == u32::MAX {
                    continue;
                }
                let body = inside(bytes, start, length).at(|| Frame::Column(column.clone()))?;
                entries.push(IndexEntry {
                    column: column.clone(),
                    kind,
                    body,
                });
            }
        }
        Ok(Self { entries })
    }

    /// Whether some row may satisfy a condition. `column` gives the name and type that a column has in the file; a column
    /// without an answer is not asked for.
    ///
    /// # Errors
    /// `Corrupt` if an index does not hold what it says, with the column at fault.
    pub fn may_match<'c, C>(
        &self,
        predicate: &Predicate<C>,
        column: &dyn Fn(&C) -> Option<(&'c str, &'c DataType)>,
    ) -> Result<bool> {
        Ok(self.rows(predicate, column)?.may_be())
    }

    fn rows<'c, C>(
        &self,
        predicate: &Predicate<C>,
        column: &dyn Fn(&C) -> Option<(&'c str, &'c DataType)>,
    ) -> Result<Rows> {
        match predicate {
            Predicate::Constant(Some(true)) => Ok(Rows::Any),
            Predicate::Constant(_) => Ok(Rows::None),
            Predicate::Leaf(leaf) => match column(&leaf.column) {
                Some((name, data_type)) => self
                    .rows_of_leaf(leaf, name, data_type)
                    .at(|| Frame::Column(name.to_owned())),
                None => Ok(Rows::Any),
            },
            Predicate::And(parts) => {
                let mut rows = Rows::Any;
                for part in parts {
                    rows = rows.and(self.rows(part, column)?);
                    if !rows.may_be() {
                        return Ok(Rows::None);
                    }
                }
                Ok(rows)
            }
            Predicate::Or(parts) => {
                let mut rows = Rows::None;
                for part in parts {
                    rows = rows.or(self.rows(part, column)?);
                }
                Ok(rows)
            }
        }
    }

    fn rows_of_leaf<C>(&self, leaf: &Leaf<C>, name: &str, data_type: &DataType) -> Result<Rows> {
        let mut rows = Rows::Any;
        for entry in self.entries.iter().filter(|entry| entry.column == name) {
            let found = match entry.kind.as_str() {
                "bloom-filter" => bloom_rows(&BloomFilter::new(entry.body)?, &leaf.test, data_type),
                "bitmap" => bitmap_rows(entry.body, &leaf.test, data_type)?,
                _ => Rows::Any,
            };
            rows = rows.and(found);
        }
        Ok(rows)
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

/// Bitmaps know the rows of each value.
fn bitmap_rows(body: &[u8], test: &Test, data_type: &DataType) -> Result<Rows> {
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
    let (Some(wanted), Some(bitmaps)) = (wanted, Bitmaps::decode(body, data_type)?) else {
        return Ok(Rows::Any);
    };
    let rows = if nulls {
        bitmaps.nulls()?
    } else {
        bitmaps.rows(&wanted)?
    };
    Ok(match (negated, rows.is_empty()) {
        (true, _) if rows.len() < u64::from(bitmaps.row_count()) => Rows::Any,
        (true, _) | (false, true) => Rows::None,
        (false, false) => Rows::Of(rows),
    })
}

impl Rows {
    fn may_be(&self) -> bool {
        !matches!(self, Self::None)
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, _) | (_, Self::None) => Self::None,
            (Self::Any, rows) | (rows, Self::Any) => rows,
            (Self::Of(a), Self::Of(b)) => {
                let both = a & b;
                if both.is_empty() {
                    Self::None
                } else {
                    Self::Of(both)
                }
            }
        }
    }

    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Any, _) | (_, Self::Any) => Self::Any,
            (Self::None, rows) | (rows, Self::None) => rows,
            (Self::Of(a), Self::Of(b)) => Self::Of(a | b),
        }
    }
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

/// Bytes from `start` on.
fn inside(bytes: &[u8], start: u32, length: u32) -> Result<&[u8]> {
    let (start, length) = (start as usize, length as usize);
    let body = bytes.get(start..).and_then(|rest| rest.get(..length));
    body.ok_or_else(cut_short)
}

#[cfg(test)]
mod tests;
