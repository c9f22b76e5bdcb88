//! Pruning whole buckets of a primary-key table by value statistics (RP-056 to RP-058).
//!
//! A condition on a value column must not drop a file whose rows replace rows of another: the older version would come
//! back. So files are dropped one by one only where no key can be in two of them, else the bucket goes or stays whole.

use serde::{Deserialize, Serialize};

/// Whether merging makes new rows out of several old ones, as far as pruning must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RowOrigin {
    /// A merged row is one of the stored rows (deduplicate, first-row): if no stored row matches, no merged row does.
    Stored,
    /// A merged row takes columns from several stored rows (partial-update, aggregation): it may match where none does.
    Combined,
    /// As [`Self::Combined`], but deletion vectors keep one row of a key above level 0; only files of level 0 combine.
    CombinedOnLevelZero,
}

/// No key can be in two of the files, going by levels alone: at most one file, or all on one level above 0 (RP-057,
/// RP-058: key ranges are not looked at).
pub(crate) fn no_overlap(levels: impl IntoIterator<Item = i32>) -> bool {
    let mut levels = levels.into_iter();
    let Some(first) = levels.next() else {
        return true;
    };
    let mut levels = levels.peekable();
    levels.peek().is_none() || (first != 0 && levels.all(|level| level == first))
}

/// Which files of one bucket stay, given for each file its level and whether its statistics admit a match. The reference
/// drops a bucket also where level 0 and combining engines meet under deletion vectors, which loses rows (RP-701).
pub fn prune_bucket(files: &[(i32, bool)], origin: RowOrigin) -> Vec<bool> {
    let all = |stay: bool| vec![stay; files.len()];
    if no_overlap(files.iter().map(|(level, _)| *level)) {
        return files.iter().map(|(_, may_match)| *may_match).collect();
    }
    let combines = match origin {
        RowOrigin::Stored => false,
        RowOrigin::Combined => true,
        RowOrigin::CombinedOnLevelZero => files.iter().any(|(level, _)| *level == 0),
    };
    all(combines || files.iter().any(|(_, may_match)| *may_match))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn overlapping_files_stay_together_if_one_may_match() {
        // RP-540
        assert_eq!(
            prune_bucket(&[(0, false), (0, true)], RowOrigin::Stored),
            [true, true]
        );
    }

    #[test]
    fn bucket_goes_when_no_file_may_match_unless_merging_combines_rows() {
        // RP-541
        let files = [(0, false), (5, false)];
        assert_eq!(prune_bucket(&files, RowOrigin::Stored), [false, false]);
        assert_eq!(prune_bucket(&files, RowOrigin::Combined), [true, true]);
        // RP-701: the row of level 0 and the row above it may match together.
        assert_eq!(
            prune_bucket(&files, RowOrigin::CombinedOnLevelZero),
            [true, true]
        );
        assert_eq!(
            prune_bucket(&[(4, false), (5, false)], RowOrigin::CombinedOnLevelZero),
            [false, false]
        );
    }

    #[test]
    fn files_that_cannot_overlap_are_dropped_one_by_one() {
        // RP-542, RP-058: also a single file on level 0.
        for origin in [
            RowOrigin::Stored,
            RowOrigin::Combined,
            RowOrigin::CombinedOnLevelZero,
        ] {
            assert_eq!(
                prune_bucket(&[(5, false), (5, true)], origin),
                [false, true]
            );
            assert_eq!(prune_bucket(&[(0, false)], origin), [false]);
        }
    }

    #[test]
    fn two_files_on_level_zero_or_on_two_levels_may_overlap() {
        // RP-058
        assert!(!no_overlap([0, 0]));
        assert!(!no_overlap([4, 5]));
        assert!(no_overlap([5, 5]));
        assert!(no_overlap([0]));
        assert!(no_overlap([]));
    }

    proptest! {
        #[test]
        fn a_file_that_may_match_always_stays(files in prop::collection::vec((0i32..3, any::<bool>()), 0..8)) {
            for origin in [RowOrigin::Stored, RowOrigin::Combined, RowOrigin::CombinedOnLevelZero] {
                for ((_, may_match), stays) in files.iter().zip(prune_bucket(&files, origin)) {
                    prop_assert!(stays || !may_match);
                }
            }
        }
    }
}
