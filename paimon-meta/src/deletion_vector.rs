//! Deletion vectors: which rows of a data file are deleted. Facts: table-format section 6.2, RP-263.
//!
//! ```text
//! index file   01 │ length │ magic │ bitmap … │ crc │ length │ magic │ bitmap … │ crc │ …
//!                   BE i32  ╰──── length bytes ───╯  ╰ of those bytes
//! ```
//!
//! The magic number tells the format of each vector, whatever the table's options say (TF-067): one 32-bit Roaring
//! bitmap, or a list of them by the high half of the position.

use std::ops::Range;

use roaring::RoaringBitmap;

use crate::error::{Error, Result};
use crate::split::DeletionFile;

/// Magic number of vectors of one bitmap, big-endian (TF-064).
const MAGIC_32: u32 = 1_581_511_376;
/// Magic number of vectors of bitmaps by key, little-endian.
const MAGIC_64: u32 = 1_681_511_377;
/// Bytes of the length field, and of the checksum.
const FRAME_BYTES: u64 = 4;
/// Largest key of a bitmap in a 64-bit vector.
const MAX_KEY: u32 = 2_147_483_646;

/// Deleted rows of one data file, as physical positions from 0, before any filtering (TF-070).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeletionVector {
    /// By the high 32 bits of the positions, ascending, none empty.
    bitmaps: Vec<(u32, RoaringBitmap)>,
}

impl DeletionFile {
    /// The bytes of the index file that hold the vector, framing included. The last few may lie past the end of the file:
    /// what [`Self::length`] covers depends on the format (TF-065), which only the bytes tell.
    ///
    /// # Errors
    /// `Corrupt` if no file can have such bytes.
    pub fn byte_range(&self) -> Result<Range<u64>> {
        let end = self.offset.checked_add(self.length);
        let end = end.and_then(|end| end.checked_add(2 * FRAME_BYTES));
        end.map(|end| self.offset..end).ok_or_else(|| {
            Error::corrupt(format!(
                "a deletion vector of {} bytes at {} ends nowhere",
                self.length, self.offset
            ))
        })
    }
}

impl DeletionVector {
    /// Decodes a vector from the bytes of [`DeletionFile::byte_range`], as many of them as the index file has.
    ///
    /// Unlike the reference, the checksum is verified.
    ///
    /// # Errors
    /// `Corrupt` for an unknown magic number, a length that is not the one in `file`, missing bytes, a wrong checksum, a
    /// broken bitmap, or another number of rows than `file` says.
    pub fn decode(bytes: &[u8], file: &DeletionFile) -> Result<Self> {
        let (length, rest) = take(bytes, "length")?;
        let length = u64::from(u32::from_be_bytes(length));
        let (magic, _) = take(rest, "magic number")?;
        let is_64 = match (u32::from_be_bytes(magic), u32::from_le_bytes(magic)) {
            (MAGIC_32, _) => false,
            (_, MAGIC_64) => true,
            (other, _) => {
                return Err(Error::corrupt(format!(
                    "magic number of the deletion vector is {other:#010x}, expected {MAGIC_32:#010x} or {:#010x}",
                    MAGIC_64.swap_bytes()
                )));
            }
        };
        let framing = if is_64 { 2 * FRAME_BYTES } else { 0 };
        if length + framing != file.length {
            return Err(Error::corrupt(format!(
                "the deletion vector has {} bytes, the index manifest says {}",
                length + framing,
                file.length
            )));
        }
        let bitmaps = checked(rest, length)?.get(4..).unwrap_or_default();
        let vector = if is_64 {
            Self::decode_64(bitmaps)?
        } else {
            let (bitmap, rest) = bitmap(bitmaps)?;
            at_end(rest)?;
            Self::from_bitmaps(vec![(0, bitmap)])
        };
        match file.cardinality {
            Some(expected) if expected != vector.cardinality() => Err(Error::corrupt(format!(
                "the deletion vector marks {} rows, the index manifest says {expected}",
                vector.cardinality()
            ))),
            _ => Ok(vector),
        }
    }

    fn decode_64(bytes: &[u8]) -> Result<Self> {
        let (count, mut rest) = take(bytes, "number of bitmaps")?;
        let count = u64::from_le_bytes(count);
        let mut bitmaps: Vec<(u32, RoaringBitmap)> = Vec::new();
        for _ in 0..count {
            let (key, bytes) = take(rest, "key of a bitmap")?;
            let key = u32::from_le_bytes(key);
            let ascends = bitmaps.last().is_none_or(|(last, _)| *last < key);
            if key > MAX_KEY || !ascends {
                return Err(Error::corrupt(format!(
                    "key of a bitmap is {key}, expected ascending ones up to {MAX_KEY}"
                )));
            }
            let (bitmap, bytes) = bitmap(bytes)?;
            bitmaps.push((key, bitmap));
            rest = bytes;
        }
        at_end(rest)?;
        Ok(Self::from_bitmaps(bitmaps))
    }

    fn from_bitmaps(mut bitmaps: Vec<(u32, RoaringBitmap)>) -> Self {
        bitmaps.retain(|(_, bitmap)| !bitmap.is_empty());
        Self { bitmaps }
    }

    /// Number of deleted rows.
    pub fn cardinality(&self) -> u64 {
        self.bitmaps.iter().map(|(_, bitmap)| bitmap.len()).sum()
    }

    /// Whether no row is deleted.
    pub fn is_empty(&self) -> bool {
        self.bitmaps.is_empty()
    }

    /// The last deleted position.
    pub fn last(&self) -> Option<u64> {
        let (key, bitmap) = self.bitmaps.last()?;
        bitmap.max().map(|low| position(*key, low))
    }

    /// Whether the row at a position is deleted.
    pub fn contains(&self, position: u64) -> bool {
        let found = self
            .bitmaps
            .binary_search_by_key(&(position >> 32), |(key, _)| u64::from(*key));
        let bitmap = found.ok().and_then(|index| self.bitmaps.get(index));
        bitmap.is_some_and(|(_, bitmap)| bitmap.contains(low(position)))
    }

    /// The deleted positions inside `rows`, ascending, as ranges. Two of them may touch.
    pub fn ranges(&self, rows: Range<u64>) -> impl Iterator<Item = Range<u64>> + '_ {
        let bitmaps = self.bitmaps.iter();
        bitmaps.flat_map(move |(key, bitmap)| {
            let start = position(*key, 0).max(rows.start);
            let last = position(*key, u32::MAX).min(rows.end.saturating_sub(1));
            let mut inside =
                (start <= last && !rows.is_empty()).then(|| bitmap.range(low(start)..=low(last)));
            std::iter::from_fn(move || {
                let range = inside.as_mut()?.next_range()?;
                Some(position(*key, *range.start())..position(*key, *range.end()) + 1)
            })
        })
    }

    /// Bytes of heap, about.
    pub fn heap_bytes(&self) -> u64 {
        let bytes = |bitmap: &RoaringBitmap| {
            let of = bitmap.statistics();
            let containers = u64::from(of.n_containers) * 32;
            containers
                + of.n_bytes_array_containers
                + of.n_bytes_run_containers
                + of.n_bytes_bitset_containers
        };
        let bitmaps = self.bitmaps.iter();
        bitmaps
            .map(|(_, bitmap)| 32 + bytes(bitmap))
            .fold(0, u64::saturating_add)
    }
}

impl FromIterator<u64> for DeletionVector {
    /// The vector of these positions, in any order.
    fn from_iter<T: IntoIterator<Item = u64>>(positions: T) -> Self {
        let mut bitmaps: Vec<(u32, RoaringBitmap)> = Vec::new();
        for position in positions {
            let key = low(position >> 32);
            let at = match bitmaps.binary_search_by_key(&key, |(key, _)| *key) {
                Ok(at) => at,
                Err(at) => {
                    bitmaps.insert(at, (key, RoaringBitmap::new()));
                    at
                }
            };
            if let Some((_, bitmap)) = bitmaps.get_mut(at) {
                bitmap.insert(low(position));
            }
        }
        Self { bitmaps }
    }
}

fn position(key: u32, low: u32) -> u64 {
    u64::from(key) << 32 | u64::from(low)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the low half of a position is what is wanted"
)]
fn low(position: u64) -> u32 {
    position as u32
}

/// The next `N` bytes, and the rest.
fn take<'a, const N: usize>(bytes: &'a [u8], what: &str) -> Result<([u8; N], &'a [u8])> {
    match bytes.split_first_chunk::<N>() {
        Some((taken, rest)) => Ok((*taken, rest)),
        None => Err(Error::corrupt(format!(
            "the deletion vector ends before its {what}: expected {N} bytes, found {}",
            bytes.len()
        ))),
    }
}

/// The first `length` bytes, which the checksum behind them fits.
fn checked(bytes: &[u8], length: u64) -> Result<&[u8]> {
    let cut = || {
        Error::corrupt(format!(
            "the deletion vector is cut short: expected {length} bytes and a checksum, found {}",
            bytes.len()
        ))
    };
    let length = usize::try_from(length).map_err(|_| cut())?;
    let (vector, rest) = bytes.split_at_checked(length).ok_or_else(cut)?;
    let stored = u32::from_be_bytes(*rest.first_chunk().ok_or_else(cut)?);
    let found = crc32fast::hash(vector);
    if found == stored {
        Ok(vector)
    } else {
        Err(Error::corrupt(format!(
            "checksum of the deletion vector is {found:#010x}, expected {stored:#010x}"
        )))
    }
}

fn bitmap(mut bytes: &[u8]) -> Result<(RoaringBitmap, &[u8])> {
    let bitmap = RoaringBitmap::deserialize_from(&mut bytes).map_err(|error| {
        Error::corrupt("the bitmap of the deletion vector is broken").with_source(error)
    })?;
    Ok((bitmap, bytes))
}

fn at_end(rest: &[u8]) -> Result<()> {
    if rest.is_empty() {
        return Ok(());
    }
    Err(Error::corrupt(format!(
        "{} bytes follow the last bitmap of the deletion vector",
        rest.len()
    )))
}

#[cfg(test)]
mod tests;
