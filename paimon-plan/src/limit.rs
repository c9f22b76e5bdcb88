//! Which files and splits are enough for a row limit (RP-186 to RP-189). Whoever reads still has to stop at the limit.
//!
//! Sound only if no condition is left to evaluate on rows. Unlike the reference, a missing delete row count is unknown
//! here and not zero, so that a limit never gives too few rows (RP-700).

use crate::bucket_pass::no_overlap;

/// What a limit looks at in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LimitFile {
    pub(crate) level: i32,
    pub(crate) row_count: u64,
    pub(crate) delete_row_count: Option<u64>,
}

/// How many of the first files of an append table hold `limit` rows; all of them if they hold fewer (RP-188).
pub(crate) fn append_files_for_limit(
    row_counts: impl IntoIterator<Item = u64>,
    limit: u64,
) -> usize {
    let mut counter = RowLimit::new(limit);
    row_counts
        .into_iter()
        .take_while(|rows| counter.takes(*rows))
        .count()
}

/// How many of the first files of each bucket of a primary-key table are enough, buckets in plan order (RP-186). A bucket
/// whose files may overlap is kept whole and not counted, so is one with delete rows. What comes after the limit is
/// reached is dropped, except overlapping buckets before the next one that is counted.
pub(crate) fn bucket_files_for_limit<'a>(
    buckets: impl IntoIterator<Item = &'a [LimitFile]>,
    limit: u64,
) -> Vec<usize> {
    let mut counter = RowLimit::new(limit);
    let mut reached = false;
    let keep = |files: &[LimitFile]| {
        if !no_overlap(files.iter().map(|file| file.level)) {
            return if reached { 0 } else { files.len() };
        }
        reached = reached || counter.is_reached();
        if reached {
            0
        } else if files.iter().all(|file| file.delete_row_count == Some(0)) {
            files
                .iter()
                .take_while(|file| counter.takes(file.row_count))
                .count()
        } else {
            files.len()
        }
    };
    buckets.into_iter().map(keep).collect()
}

/// Counts rows up to a limit.
pub(crate) struct RowLimit {
    rows: u64,
    limit: u64,
}

impl RowLimit {
    pub(crate) fn new(limit: u64) -> Self {
        Self { rows: 0, limit }
    }

    fn is_reached(&self) -> bool {
        self.rows >= self.limit
    }

    /// Counts these rows too.
    pub(crate) fn is_reached_with(&mut self, rows: u64) -> bool {
        self.rows = self.rows.saturating_add(rows);
        self.is_reached()
    }

    /// Whether rows were missing, and counts these.
    fn takes(&mut self, rows: u64) -> bool {
        let takes = !self.is_reached();
        if takes {
            self.is_reached_with(rows);
        }
        takes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(level: i32, row_count: u64, delete_row_count: Option<u64>) -> LimitFile {
        LimitFile {
            level,
            row_count,
            delete_row_count,
        }
    }

    fn kept(buckets: &[&[LimitFile]], limit: u64) -> Vec<usize> {
        bucket_files_for_limit(buckets.iter().copied(), limit)
    }

    #[test]
    fn append_files_are_taken_until_they_hold_the_limit() {
        // RP-188
        assert_eq!(append_files_for_limit([10, 10, 10], 3), 1);
        assert_eq!(append_files_for_limit([10, 10, 10], 10), 1);
        assert_eq!(append_files_for_limit([10, 10, 10], 12), 2);
        assert_eq!(append_files_for_limit([10, 10, 10], 99), 3);
    }

    #[test]
    fn buckets_after_the_limit_are_dropped_also_overlapping_ones() {
        // RP-186, RP-709
        let one = [file(0, 13, Some(0))];
        let two = [file(0, 13, Some(0)), file(0, 1, Some(0))];
        assert_eq!(kept(&[&one, &two, &one], 5), [1, 2, 0]);
        assert_eq!(kept(&[&one, &one, &two], 5), [1, 0, 0]);
        assert_eq!(kept(&[&one, &two, &one], 20), [1, 2, 1]);
    }

    #[test]
    fn files_of_one_upper_level_are_counted_one_by_one() {
        let level = [
            file(5, 10, Some(0)),
            file(5, 10, Some(0)),
            file(5, 10, Some(0)),
        ];
        assert_eq!(kept(&[&level], 15), [2]);
    }

    #[test]
    fn bucket_with_delete_rows_is_kept_whole_and_not_counted() {
        // RP-186; an unknown count may hide delete rows (RP-700).
        for deletes in [Some(1), None] {
            let bucket = [file(5, 10, Some(0)), file(5, 10, deletes)];
            assert_eq!(kept(&[&bucket, &bucket], 5), [2, 2]);
        }
    }
}
