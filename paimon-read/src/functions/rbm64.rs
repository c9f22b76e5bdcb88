//! `rbm64`: the union of bitmaps of 64-bit numbers.
//!
//! Rule: union of bitmaps in the format of Java's `Roaring64Bitmap`, which is not the portable one (ME-132). Nulls:
//! passed over; bytes that meet no others stay as they are. Retraction: refused. VARBINARY (ME-134).
//! Source: ME section 4.8, `FieldRoaringBitmap64Agg.java`.
//!
//! All numbers are little endian but for keys, which are the upper 48 bits of the values:
//!
//! ```text
//! u8 0                                          no values, else
//! u8 1, i64 keys                                then the nodes of a radix tree in pre-order,
//!   u8 0..=3, u16 children, u8 n, n bytes       a branch: prefix of the keys below
//!     4, 16, 256 or 32 bytes                      which bytes its children stand for
//!   u8 4, u16 0, u8 0                           a leaf: its whole key, big endian,
//!     6 bytes, i64                                outer and inner position of its container
//! i32 outer size                                then containers,
//!   u8 0xFE, i32 inner size
//!     u8 0 | u8 1, u8 type, i32 cardinality       absent or present
//!       type 0: u16 n, n × (u16 start, u16 length - 1)
//!       type 1: 1024 × u64; type 2: cardinality × u16
//! i64 containers, i32 outer, i32 inner position of the last one
//! ```

mod decode;
mod encode;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use arrow_array::ArrayRef;
use paimon_meta::Result;
use roaring::RoaringBitmap;

use super::column::AggregateColumn;
use super::sketch::{Sketch, merge_sketches, require_bytes};
use super::{AggregateFunction, MergeFault, Merged, Versions};

/// The numbers of a bitmap as `rbm64` columns hold it, ascending: no library but the reference's reads this format.
///
/// # Errors
/// `Corrupt` if the bytes are no such bitmap.
pub fn rbm64_values(bytes: &[u8]) -> Result<Vec<u64>> {
    let bitmap = Bitmap64::decode(bytes)?;
    let values = bitmap.0.into_iter().flat_map(|(key, low)| {
        let high = key << LOW_BITS;
        low.into_iter().map(move |low| high | u64::from(low))
    });
    Ok(values.collect())
}

#[derive(Debug)]
struct RoaringBitmap64;

pub(super) fn new(column: &AggregateColumn<'_>) -> Result<Box<dyn AggregateFunction>> {
    require_bytes(Bitmap64::NAME, column)?;
    Ok(Box::new(RoaringBitmap64))
}

impl AggregateFunction for RoaringBitmap64 {
    fn merge(&self, values: &ArrayRef, versions: &Versions<'_>) -> Result<Merged, MergeFault> {
        merge_sketches::<Bitmap64>(values, versions)
    }
}

/// Lower 16 bits of the values by their upper 48 bits.
#[derive(Debug, Default)]
struct Bitmap64(BTreeMap<u64, RoaringBitmap>);

/// Bits of a value below its key.
const LOW_BITS: u32 = 16;

/// Bytes of a key.
const KEY_BYTES: usize = 6;

/// Types of containers.
const RUNS: u8 = 0;
const BITS: u8 = 1;
const ARRAY: u8 = 2;

/// Words of a container of bits.
const BIT_WORDS: usize = 1024;

impl Sketch for Bitmap64 {
    const NAME: &'static str = "rbm64";

    fn decode(bytes: &[u8]) -> Result<Self> {
        decode::decode(bytes)
    }

    fn union(mut self, input: Self) -> Result<Self> {
        for (key, low) in input.0 {
            *self.0.entry(key).or_default() |= low;
        }
        Ok(self)
    }

    fn encode(self) -> Result<Vec<u8>> {
        encode::encode(self)
    }
}
