//! Dividing a plan among tasks, as the reference does (RP-163).

use serde::{Deserialize, Serialize};

/// One of several equal shares of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Which share, from 0.
    pub index: u32,
    /// How many there are, at least 1.
    pub count: u32,
}

/// How files are shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShardPruning {
    /// File by file, by the hash of the name: where every split is raw.
    PerFile(Shard),
    /// Bucket by bucket, so that versions of a key stay together. The reference does not so for tables with deletion
    /// vectors that are merged on read, and gives two tasks two versions of a key (RP-711).
    PerBucket(Shard),
}

impl ShardPruning {
    /// Whether a file is of the share.
    pub(crate) fn takes(self, file_name: &str, bucket: i32) -> bool {
        let (shard, number) = match self {
            Self::PerFile(shard) => (shard, string_hash(file_name)),
            Self::PerBucket(shard) => (shard, bucket),
        };
        match i32::try_from(shard.count.max(1)) {
            Ok(count) => {
                u32::try_from(number.wrapping_rem(count).wrapping_abs()) == Ok(shard.index)
            }
            Err(_) => number.unsigned_abs() == shard.index,
        }
    }
}

/// `java.lang.String.hashCode`.
fn string_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0i32, |hash, unit| {
        hash.wrapping_mul(31).wrapping_add(unit.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hash_as_in_java() {
        assert_eq!(string_hash(""), 0);
        assert_eq!(string_hash("abc"), 96_354);
        assert_eq!(string_hash("hello world"), 1_794_106_052);
    }

    #[test]
    fn every_file_is_of_exactly_one_share() {
        for how in [ShardPruning::PerFile, ShardPruning::PerBucket] {
            for (name, bucket) in [
                ("data-1", 0),
                ("data-2", 1),
                ("x", 2),
                ("some longer name", 3),
            ] {
                let takes = |index: &u32| {
                    how(Shard {
                        index: *index,
                        count: 3,
                    })
                    .takes(name, bucket)
                };
                assert_eq!((0..3).filter(takes).count(), 1, "{name}");
            }
        }
    }

    #[test]
    fn buckets_stay_whole() {
        // RP-711
        let shard = ShardPruning::PerBucket(Shard { index: 1, count: 2 });
        assert!(["a", "b", "c"].iter().all(|name| shard.takes(name, 3)));
    }
}
