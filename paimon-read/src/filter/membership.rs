//! Whether values are in a list of literals: a few are compared one by one, more are looked up.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashSet};
use std::mem::discriminant;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType,
};
use arrow_array::{Array, ArrayAccessor, ArrowPrimitiveType};
use arrow_buffer::BooleanBuffer;
use arrow_schema::{DataType as ArrowType, TimeUnit};
use paimon_meta::{CompareOp, Datum, Result};

use super::compare::{compare, double_key, float_key, pack, timestamp_values, unit_nanos};

/// Up to this many literals, one pass for each is faster than looking up each value.
const COMPARED_ONE_BY_ONE: usize = 4;

/// The literals of an `IN` list.
#[derive(Debug)]
pub(super) struct Members {
    /// Each once.
    values: Vec<Datum>,
    /// Set where the list is long and all of one type.
    index: Option<Index>,
}

/// Literals by what they look like in an array.
#[derive(Debug)]
enum Index {
    /// Integers, dates, times, and the keys of floats.
    Integers(Keys<i64>),
    /// Decimals of one scale.
    Decimals(Keys<i128>, u8),
    /// Timestamps in nanoseconds.
    Timestamps(Keys<i128>),
    /// Text and bytes.
    Bytes(HashSet<Box<[u8]>>),
}

impl Members {
    pub(super) fn new(literals: &[Datum]) -> Self {
        let mut values = literals.to_vec();
        let one_type = values.first().is_none_or(|first| {
            values
                .iter()
                .all(|value| discriminant(value) == discriminant(first))
        });
        if one_type {
            let order = |a: &Datum, b: &Datum| a.compare(b).unwrap_or(Ordering::Equal);
            values.sort_by(order);
            values.dedup_by(|a, b| order(a, b).is_eq());
        }
        let index = (one_type && values.len() > COMPARED_ONE_BY_ONE)
            .then(|| Index::new(&values))
            .flatten();
        Self { values, index }
    }

    /// Where the list holds the value; what null slots say does not count.
    pub(super) fn contains(&self, array: &dyn Array) -> Result<BooleanBuffer> {
        let looked_up = match (&self.index, self.values.first()) {
            (Some(index), Some(first)) => index.contains(first, array),
            _ => None,
        };
        looked_up.map_or_else(|| self.compare_each(array), Ok)
    }

    fn compare_each(&self, array: &dyn Array) -> Result<BooleanBuffer> {
        let none = BooleanBuffer::new_unset(array.len());
        self.values.iter().try_fold(none, |found, value| {
            Ok(&found | &compare(CompareOp::Eq, value, array)?)
        })
    }
}

impl Index {
    /// `None` if the literals have no form that all share.
    fn new(values: &[Datum]) -> Option<Self> {
        match values.first()? {
            Datum::Decimal(_, scale) => {
                let unscaled = |value: &Datum| match value {
                    Datum::Decimal(value, of) if of == scale => Some(*value),
                    _ => None,
                };
                Some(Self::Decimals(Keys::new(values, unscaled)?, *scale))
            }
            Datum::Timestamp { .. } => Some(Self::Timestamps(Keys::new(values, nanoseconds)?)),
            Datum::String(_) | Datum::Binary(_) => values
                .iter()
                .map(bytes)
                .collect::<Option<_>>()
                .map(Self::Bytes),
            _ => Some(Self::Integers(Keys::new(values, integer)?)),
        }
    }

    /// `None` if the array has not the form of the literals, of which `first` is one.
    fn contains(&self, first: &Datum, array: &dyn Array) -> Option<BooleanBuffer> {
        match self {
            Self::Integers(set) => match (first, array.data_type()) {
                (Datum::TinyInt(_), ArrowType::Int8) => integers::<Int8Type>(set, array),
                (Datum::SmallInt(_), ArrowType::Int16) => integers::<Int16Type>(set, array),
                (Datum::Int(_), ArrowType::Int32) => integers::<Int32Type>(set, array),
                (Datum::BigInt(_), ArrowType::Int64) => integers::<Int64Type>(set, array),
                (Datum::Date(_), ArrowType::Date32) => integers::<Date32Type>(set, array),
                (Datum::Time(_), ArrowType::Time32(TimeUnit::Millisecond)) => {
                    integers::<Time32MillisecondType>(set, array)
                }
                (Datum::Float(_), ArrowType::Float32) => {
                    let values = array.as_primitive::<Float32Type>().values();
                    Some(pack(values, |value| set.contains(float_key(*value).into())))
                }
                (Datum::Double(_), ArrowType::Float64) => {
                    let values = array.as_primitive::<Float64Type>().values();
                    Some(pack(values, |value| set.contains(double_key(*value))))
                }
                _ => None,
            },
            Self::Decimals(set, scale) => match array.data_type() {
                ArrowType::Decimal128(_, of) if i16::from(*of) == i16::from(*scale) => {
                    let values = array.as_primitive::<Decimal128Type>().values();
                    Some(pack(values, |value| set.contains(*value)))
                }
                _ => None,
            },
            Self::Timestamps(set) => match array.data_type() {
                ArrowType::Timestamp(unit, _) => {
                    let nanos = unit_nanos(*unit);
                    let values = timestamp_values(array, *unit);
                    Some(pack(values, |value| {
                        set.contains(i128::from(*value) * nanos)
                    }))
                }
                _ => None,
            },
            Self::Bytes(set) => match (first, array.data_type()) {
                (Datum::String(_), ArrowType::Utf8View) => Some(found(set, array.as_string_view())),
                (Datum::String(_), ArrowType::Utf8) => Some(found(set, array.as_string::<i32>())),
                (Datum::String(_), ArrowType::LargeUtf8) => {
                    Some(found(set, array.as_string::<i64>()))
                }
                (Datum::Binary(_), ArrowType::BinaryView) => {
                    Some(found(set, array.as_binary_view()))
                }
                (Datum::Binary(_), ArrowType::Binary) => Some(found(set, array.as_binary::<i32>())),
                (Datum::Binary(_), ArrowType::LargeBinary) => {
                    Some(found(set, array.as_binary::<i64>()))
                }
                _ => None,
            },
        }
    }
}

fn integers<T>(set: &Keys<i64>, array: &dyn Array) -> Option<BooleanBuffer>
where
    T: ArrowPrimitiveType,
    T::Native: Into<i64>,
{
    let values = array.as_primitive_opt::<T>()?.values();
    Some(pack(values, |value| set.contains((*value).into())))
}

fn found<A: ArrayAccessor>(set: &HashSet<Box<[u8]>>, array: A) -> BooleanBuffer
where
    A::Item: AsRef<[u8]>,
{
    BooleanBuffer::collect_bool(array.len(), |index| {
        set.contains(array.value(index).as_ref())
    })
}

fn integer(value: &Datum) -> Option<i64> {
    Some(match value {
        Datum::TinyInt(value) => i64::from(*value),
        Datum::SmallInt(value) => i64::from(*value),
        Datum::Int(value) | Datum::Date(value) | Datum::Time(value) => i64::from(*value),
        Datum::BigInt(value) => *value,
        Datum::Float(value) => i64::from(float_key(*value)),
        Datum::Double(value) => double_key(*value),
        _ => return None,
    })
}

fn nanoseconds(value: &Datum) -> Option<i128> {
    match value {
        Datum::Timestamp { millis, nanos } => {
            Some(i128::from(*millis) * 1_000_000 + i128::from(*nanos))
        }
        _ => None,
    }
}

fn bytes(value: &Datum) -> Option<Box<[u8]>> {
    match value {
        Datum::String(value) => Some(value.as_bytes().into()),
        Datum::Binary(value) => Some(value.as_slice().into()),
        _ => None,
    }
}

/// A set of integers: a table with at least half of its slots free, searched from the slot that the key hashes to.
#[derive(Debug)]
struct Keys<K> {
    slots: Vec<K>,
    /// What stands in a free slot; no key of the set.
    free: K,
    /// The highest bits of a hash, shifted by this, name a slot.
    shift: u32,
}

trait Key: Copy + Ord + From<u32> {
    /// Spreads the key over the high bits.
    fn hash(self) -> u64;
}

/// 2^64 divided by the golden ratio: Fibonacci hashing.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

impl Key for i64 {
    fn hash(self) -> u64 {
        self.cast_unsigned().wrapping_mul(SPREAD)
    }
}

impl Key for i128 {
    fn hash(self) -> u64 {
        let bits = self.cast_unsigned();
        let folded = (bits ^ (bits >> 64)) & u128::from(u64::MAX);
        u64::try_from(folded)
            .unwrap_or_default()
            .wrapping_mul(SPREAD)
    }
}

impl<K: Key> Keys<K> {
    /// `None` if a literal has no key.
    fn new(values: &[Datum], key: impl Fn(&Datum) -> Option<K>) -> Option<Self> {
        let keys = values.iter().map(key).collect::<Option<BTreeSet<K>>>()?;
        let free = (0..=u32::MAX)
            .map(K::from)
            .find(|free| !keys.contains(free))?;
        let size = keys
            .len()
            .checked_mul(2)?
            .checked_next_power_of_two()?
            .max(2);
        let mut set = Self {
            slots: vec![free; size],
            free,
            shift: u64::BITS - size.ilog2(),
        };
        for key in keys {
            if let Some(slot) = set.slot(key).and_then(|slot| set.slots.get_mut(slot)) {
                *slot = key;
            }
        }
        Some(set)
    }

    fn contains(&self, key: K) -> bool {
        key != self.free
            && self
                .slot(key)
                .is_some_and(|slot| self.slots.get(slot) == Some(&key))
    }

    /// The slot of the key, or the free one where its search ends.
    fn slot(&self, key: K) -> Option<usize> {
        let start = usize::try_from(key.hash() >> self.shift).ok()?;
        let ends = |slot: &K| *slot == key || *slot == self.free;
        let behind = self.slots.get(start..)?.iter().position(ends);
        behind
            .map(|offset| start + offset)
            .or_else(|| self.slots.iter().position(ends))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_find_what_was_put_in_and_nothing_else() {
        for size in [1_i64, 2, 5, 64, 1000] {
            let stored = |key: i64| key % 3 == 0 || key < 4;
            let literals: Vec<Datum> = (0..size)
                .filter(|key| stored(*key))
                .map(Datum::BigInt)
                .collect();
            let set = Keys::new(&literals, integer).unwrap();
            let wide = Keys::new(&literals, |value| integer(value).map(i128::from)).unwrap();
            for key in -10..size + 10 {
                let expected = (0..size).contains(&key) && stored(key);
                assert_eq!(set.contains(key), expected, "{key} of {size}");
                assert_eq!(wide.contains(key.into()), expected, "{key} of {size}");
                assert!(!wide.contains(i128::from(key) + (1 << 64)));
            }
        }
    }
}
