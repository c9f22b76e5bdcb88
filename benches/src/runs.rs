//! Keys of sorted runs.

use std::ops::Range;

/// Rows generated at a time.
const CHUNK: usize = 65_536;

/// Keys of one run.
#[derive(Clone, Debug)]
pub enum Run {
    /// All keys of a range.
    Range(Range<i64>),
    /// These keys, ascending.
    Keys(Vec<i64>),
}

impl Run {
    /// Number of keys.
    pub fn len(&self) -> usize {
        match self {
            Self::Range(range) => usize::try_from(range.end - range.start).unwrap_or(0),
            Self::Keys(keys) => keys.len(),
        }
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The keys from number `from` on, as many as are generated at a time.
    pub(crate) fn chunk(&self, from: usize) -> Vec<i64> {
        match self {
            Self::Range(range) => range.clone().skip(from).take(CHUNK).collect(),
            Self::Keys(keys) => keys.iter().copied().skip(from).take(CHUNK).collect(),
        }
    }
}

/// Keys of a random tenth of `0..keys`, ascending; the same for the same seed.
fn random_tenth(keys: i64, seed: u64) -> Vec<i64> {
    (0..keys)
        .filter(|key| hash(key.cast_unsigned() ^ (seed << 48)).is_multiple_of(10))
        .collect()
}

/// A fixed mixing of bits (splitmix64).
pub(crate) fn hash(value: u64) -> u64 {
    let mut mixed = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The runs of `two_runs`, `keys` keys each.
pub fn two_runs(keys: i64) -> Vec<Run> {
    vec![Run::Range(0..keys), Run::Range(keys / 2..keys / 2 + keys)]
}

/// The runs of `five_runs`.
pub fn five_runs(keys: i64) -> Vec<Run> {
    let mut runs = vec![Run::Range(0..keys)];
    runs.extend((1..5).map(|seed| Run::Keys(random_tenth(keys, seed))));
    runs
}
