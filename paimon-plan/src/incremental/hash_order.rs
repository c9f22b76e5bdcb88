//! The order of Java's `ConcurrentHashMap`, in which the reference lists the buckets of a range of snapshots.

use paimon_meta::{FileTable, murmur_hash};

/// Puts buckets, which come in the order of their first files, in the order of the reference's map.
pub(crate) fn in_hash_order(files: &FileTable, buckets: &mut [Vec<u32>]) {
    let mut slots = 16usize;
    while buckets.len() >= slots / 4 * 3 {
        slots *= 2;
    }
    let mask = u32::try_from(slots - 1).unwrap_or(u32::MAX);
    buckets.sort_by_key(|bucket| {
        let first = bucket.first().map(|file| *file as usize);
        first.map(|file| hash(files, file) & mask)
    });
}

/// The hash of a pair of partition and bucket, as the map spreads it.
fn hash(files: &FileTable, file: usize) -> u32 {
    let row = files.partition(file).as_serialized();
    let partition = murmur_hash(row.get(4..).unwrap_or_default());
    let pair = 31i32.wrapping_add(partition).wrapping_mul(31);
    let hash = pair.wrapping_add(files.bucket(file)).cast_unsigned();
    (hash ^ (hash >> 16)) & (u32::MAX >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{file, files};

    #[test]
    fn buckets_of_one_partition_follow_their_hashes() {
        // RP-152
        let table = files(&[(1, 3, file("a", 0, 1, 2)), (1, 0, file("b", 0, 1, 2))]);
        let mut buckets = vec![vec![0], vec![1]];
        in_hash_order(&table, &mut buckets);
        let expected = {
            let mut slots = [0, 1].map(|file| (hash(&table, file) & 15, file));
            slots.sort_unstable();
            slots.map(|(_, file)| vec![u32::try_from(file).unwrap()])
        };
        assert_eq!(buckets, expected);
    }
}
