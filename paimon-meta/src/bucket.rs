//! Which bucket a row of a table with a fixed number of buckets is in. Facts: table-format section 1.4, RP-061.

#[cfg(test)]
mod tests;

use crate::binary_row::encode_row;
use crate::error::{Error, Result};
use crate::types::DataType;
use crate::value::Datum;

/// How a bucket key becomes a bucket (option `bucket-function.type`,
/// [`Options::BUCKET_FUNCTION_TYPE`](crate::Options::BUCKET_FUNCTION_TYPE)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BucketFunction {
    /// Murmur3 hash of the key's row.
    Default,
    /// The value of a single `INT` or `BIGINT` key itself.
    Mod,
    /// Hive's hash of the values.
    Hive,
}

/// A bucket key, ready to be placed among any number of buckets: files of one table may differ in it (TF-053).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BucketHash {
    function: BucketFunction,
    hash: i64,
}

impl BucketFunction {
    /// The hash of a bucket key, whose values are in bucket key order.
    ///
    /// # Errors
    /// `InvalidInput` for values that are not of the types, `Unsupported` for types that the function does not take.
    pub fn hash(self, types: &[&DataType], values: &[Option<Datum>]) -> Result<BucketHash> {
        let hash = match self {
            Self::Default => murmur_hash(encode_row(types, values)?.row_bytes()).into(),
            Self::Mod => match values {
                [Some(Datum::Int(value))] => (*value).into(),
                [Some(Datum::BigInt(value))] => *value,
                [None] => 0,
                _ => {
                    return Err(Error::unsupported(
                        "bucket function mod for other keys than one INT or BIGINT",
                    ));
                }
            },
            Self::Hive => values
                .iter()
                .try_fold(0i32, |hash, value| {
                    Ok(hash
                        .wrapping_mul(31)
                        .wrapping_add(hive_hash(value.as_ref())?))
                })?
                .into(),
        };
        Ok(BucketHash {
            function: self,
            hash,
        })
    }
}

impl BucketHash {
    /// The bucket among `total_buckets`, which is what the file of a candidate says and not the table's option; `None`
    /// if that is not a number of buckets (dynamic and postponed ones have none).
    pub fn bucket(self, total_buckets: i32) -> Option<i32> {
        let total = i64::from(total_buckets);
        if total <= 0 {
            return None;
        }
        let bucket = match self.function {
            BucketFunction::Default => (self.hash % total).abs(),
            BucketFunction::Mod => self.hash.rem_euclid(total),
            BucketFunction::Hive => (self.hash & i64::from(i32::MAX)) % total,
        };
        i32::try_from(bucket).ok()
    }
}

/// Murmur3 of 32 bits with seed 42 over little-endian words, as the reference hashes rows (TF-062). Bytes behind the
/// last whole word are not hashed; rows have none.
pub fn murmur_hash(row_bytes: &[u8]) -> i32 {
    let (words, _) = row_bytes.as_chunks::<4>();
    let mut hash = 42u32;
    for word in words {
        let mixed = u32::from_le_bytes(*word)
            .wrapping_mul(0xcc9e_2d51)
            .rotate_left(15)
            .wrapping_mul(0x1b87_3593);
        hash = (hash ^ mixed)
            .rotate_left(13)
            .wrapping_mul(5)
            .wrapping_add(0xe654_6b64);
    }
    // A row is far shorter than 4 GiB, and its length counts modulo that.
    hash ^= u32::try_from(row_bytes.len() & 0xffff_ffff).unwrap_or_default();
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    (hash ^ (hash >> 16)).cast_signed()
}

/// Hive's hash of a value, 0 for null.
fn hive_hash(value: Option<&Datum>) -> Result<i32> {
    Ok(match value {
        None => 0,
        Some(Datum::Boolean(value)) => (*value).into(),
        Some(Datum::TinyInt(value)) => (*value).into(),
        Some(Datum::SmallInt(value)) => (*value).into(),
        Some(Datum::Int(value) | Datum::Date(value) | Datum::Time(value)) => *value,
        Some(Datum::BigInt(value)) => fold_long(value.cast_unsigned()),
        // Both zeros are one, and all NaN are.
        Some(Datum::Float(value)) if *value == 0.0 => 0,
        Some(Datum::Float(value)) if value.is_nan() => 0x7fc0_0000,
        Some(Datum::Float(value)) => value.to_bits().cast_signed(),
        Some(Datum::Double(value)) if *value == 0.0 => 0,
        Some(Datum::Double(value)) if value.is_nan() => fold_long(0x7ff8 << 48),
        Some(Datum::Double(value)) => fold_long(value.to_bits()),
        Some(Datum::String(value)) => bytes_hash(value.as_bytes()),
        Some(Datum::Binary(value)) => bytes_hash(value),
        Some(Datum::Decimal(value, scale)) => decimal_hash(*value, *scale),
        Some(Datum::Timestamp { .. }) => {
            return Err(Error::unsupported(
                "bucket function hive for timestamp keys",
            ));
        }
    })
}

/// Both halves of a long, one over the other.
fn fold_long(value: u64) -> i32 {
    let [a, b, c, d, e, f, g, h] = value.to_be_bytes();
    i32::from_be_bytes([a ^ e, b ^ f, c ^ g, d ^ h])
}

/// Bytes are signed.
fn bytes_hash(bytes: &[u8]) -> i32 {
    bytes.iter().fold(0i32, |hash, byte| {
        hash.wrapping_mul(31)
            .wrapping_add(byte.cast_signed().into())
    })
}

/// Java's hash of a decimal without zeros at its end.
fn decimal_hash(mut value: i128, mut scale: u8) -> i32 {
    while scale > 0 && value % 10 == 0 {
        (value, scale) = (value / 10, scale - 1);
    }
    let bytes = value.unsigned_abs().to_be_bytes();
    let (words, _) = bytes.as_chunks::<4>();
    // Words that are 0 in front add nothing.
    let magnitude = words.iter().fold(0i32, |hash, word| {
        hash.wrapping_mul(31)
            .wrapping_add(i32::from_be_bytes(*word))
    });
    let signed = if value < 0 {
        magnitude.wrapping_neg()
    } else {
        magnitude
    };
    signed.wrapping_mul(31).wrapping_add(scale.into())
}
