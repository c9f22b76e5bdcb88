//! Bloom filters of file indexes: the number of hash functions, then the bits, the lowest of a byte first.

use twox_hash::XxHash64;

use super::Input;
use super::key::Key;
use crate::error::{Error, Result};

/// More hash functions than any filter of a file has.
const MAX_FUNCTIONS: u32 = 1024;

/// A filter of the values of a column. Nulls are not in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct BloomFilter<'a> {
    functions: u32,
    bits: &'a [u8],
}

impl<'a> BloomFilter<'a> {
    /// # Errors
    /// `Corrupt` if the bytes are no filter.
    pub(super) fn new(body: &'a [u8]) -> Result<Self> {
        let mut input = Input(body);
        let functions = input.int()?;
        let bits = input.0;
        let in_range = (1..=MAX_FUNCTIONS).contains(&functions) && bits.len() < (1 << 28);
        if in_range && !bits.is_empty() {
            return Ok(Self { functions, bits });
        }
        Err(Error::corrupt(format!(
            "a Bloom filter has {functions} hash functions and {} bytes",
            bits.len()
        )))
    }

    /// Whether a value may be there.
    pub(super) fn may_hold(&self, key: &Key) -> bool {
        let hash = hash(key);
        let bits = self.bits.len() as u64 * 8;
        (1..=self.functions).all(|function| {
            let [low, high] = halves(hash);
            let combined = low.wrapping_add(function.wrapping_mul(high));
            // The sign bit is cleared by turning all bits around.
            let combined = if combined > i32::MAX.unsigned_abs() {
                !combined
            } else {
                combined
            };
            let bit = u64::from(combined) % bits;
            let byte = usize::try_from(bit / 8)
                .ok()
                .and_then(|at| self.bits.get(at));
            byte.is_none_or(|byte| byte >> (bit % 8) & 1 == 1)
        })
    }
}

fn halves(hash: u64) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = hash.to_le_bytes();
    [[a, b, c, d], [e, f, g, h]].map(u32::from_le_bytes)
}

fn hash(key: &Key) -> u64 {
    match key {
        Key::Number(number) => mixed(*number),
        Key::Bytes(bytes) => XxHash64::oneshot(0, bytes),
    }
}

/// Thomas Wang's mix of 64 bits, with shifts that keep the sign.
fn mixed(number: i64) -> u64 {
    let mut key = (!number).wrapping_add(number << 21);
    key ^= key >> 24;
    key = key.wrapping_add(key << 3).wrapping_add(key << 8);
    key ^= key >> 14;
    key = key.wrapping_add(key << 2).wrapping_add(key << 4);
    key ^= key >> 28;
    key.wrapping_add(key << 31).cast_unsigned()
}
