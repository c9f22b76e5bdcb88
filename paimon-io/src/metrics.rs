//! Counters of what a read did.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Counter {
    /// Requests to an object store: whole objects, ranges, sizes and listings.
    Requests,
    /// The part of [`Counter::Requests`] that listed a directory.
    Listings,
    /// Bytes that object stores returned, gaps between coalesced ranges among them.
    RequestedBytes,
    /// Cache lookups that found a value or joined a load under way.
    CacheHits,
    /// Cache lookups that started a load.
    CacheMisses,
    /// Data files opened: their footer or header was read.
    FilesOpened,
    /// Row groups (stripes, blocks) of data files whose bytes were fetched.
    RowGroupsFetched,
    /// Rows decoded from data files, once per pass over them.
    RowsDecoded,
    /// Rows of files that could not be read and were left out because an option asks for that.
    RowsLost,
    /// Data files that were not opened: their indexes exclude every row.
    FilesSkipped,
    /// The part of [`Counter::RowGroups`] that gives no row: a condition can hold for none that is not deleted. A merge may
    /// have read keys there.
    RowGroupsSkipped,
    /// The part of [`Counter::Pages`] that was left out.
    PagesSkipped,
    /// Rows that a condition cannot hold for: bounds or indexes exclude them. Those of skipped files among them; a merge may
    /// have read their keys.
    RowsSkipped,
    /// Rows that were decoded for a condition and did not satisfy it.
    RowsFiltered,
    /// Rows whose keys a merge decoded and did not pick: other versions of their keys won, or they delete.
    RowsSuperseded,
    /// Row groups of opened files that a read came to, once for each task that reads of them.
    RowGroups,
    /// Pages that a condition may tell apart, in row groups that may match: stretches of rows between the ends of pages of
    /// its columns.
    Pages,
    /// Nanoseconds in which it was found which rows may be wanted: files opened, keys read and merged, waits among them.
    PickNanos,
    /// Nanoseconds in which reads waited for columns.
    WaitNanos,
    /// Nanoseconds in which columns of a condition were decoded and the condition asked.
    FilterNanos,
    /// Nanoseconds in which the other columns were decoded.
    ValueNanos,
    /// Nanoseconds in which rows were put into batches.
    OutputNanos,
}

const COUNTERS: usize = 22;

impl Counter {
    /// All counters, in the order in which they are shown.
    pub const ALL: [Self; COUNTERS] = [
        Self::Requests,
        Self::Listings,
        Self::RequestedBytes,
        Self::CacheHits,
        Self::CacheMisses,
        Self::FilesOpened,
        Self::RowGroupsFetched,
        Self::RowsDecoded,
        Self::RowsLost,
        Self::FilesSkipped,
        Self::RowGroupsSkipped,
        Self::PagesSkipped,
        Self::RowsSkipped,
        Self::RowsFiltered,
        Self::RowsSuperseded,
        Self::RowGroups,
        Self::Pages,
        Self::PickNanos,
        Self::WaitNanos,
        Self::FilterNanos,
        Self::ValueNanos,
        Self::OutputNanos,
    ];

    /// The name in output, lower case with underscores.
    pub fn name(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Listings => "listings",
            Self::RequestedBytes => "requested_bytes",
            Self::CacheHits => "cache_hits",
            Self::CacheMisses => "cache_misses",
            Self::FilesOpened => "files_opened",
            Self::RowGroupsFetched => "row_groups_fetched",
            Self::RowsDecoded => "rows_decoded",
            Self::RowsLost => "rows_lost",
            Self::FilesSkipped => "files_skipped",
            Self::RowGroupsSkipped => "row_groups_skipped",
            Self::PagesSkipped => "pages_skipped",
            Self::RowsSkipped => "rows_skipped",
            Self::RowsFiltered => "rows_filtered",
            Self::RowsSuperseded => "rows_superseded",
            Self::RowGroups => "row_groups",
            Self::Pages => "pages",
            Self::PickNanos => "pick_nanos",
            Self::WaitNanos => "wait_nanos",
            Self::FilterNanos => "filter_nanos",
            Self::ValueNanos => "value_nanos",
            Self::OutputNanos => "output_nanos",
        }
    }
}

#[derive(Debug, Default)]
struct Inner {
    counts: [AtomicU64; COUNTERS],
    parent: Option<Metrics>,
}

/// A set of counters. Clones share the counts; a [child](Metrics::child) has its own and adds to its parent's too.
#[derive(Clone, Default)]
pub struct Metrics(Arc<Inner>);

impl Metrics {
    /// New counters at zero whose additions also go to `self`, so that one read can be measured alone.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(Arc::new(Inner {
            counts: Default::default(),
            parent: Some(self.clone()),
        }))
    }

    /// Adds to a counter, here and in every parent.
    pub fn add(&self, counter: Counter, amount: u64) {
        let mut metrics = Some(self);
        while let Some(Self(inner)) = metrics {
            if let Some(count) = inner.counts.get(counter as usize) {
                count.fetch_add(amount, Ordering::Relaxed);
            }
            metrics = inner.parent.as_ref();
        }
    }

    /// The count now.
    pub fn get(&self, counter: Counter) -> u64 {
        self.0
            .counts
            .get(counter as usize)
            .map_or(0, |count| count.load(Ordering::Relaxed))
    }

    /// All counts now. Not one instant: additions made meanwhile may be in one counter and not in another.
    pub fn snapshot(&self) -> MetricsSnapshot {
        MetricsSnapshot(Counter::ALL.map(|counter| self.get(counter)))
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.snapshot(), f)
    }
}

/// Counts at one time.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct MetricsSnapshot([u64; COUNTERS]);

impl MetricsSnapshot {
    /// The count.
    pub fn get(&self, counter: Counter) -> u64 {
        self.0.get(counter as usize).copied().unwrap_or_default()
    }

    /// Counters and counts, in the order of [`Counter::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Counter, u64)> {
        Counter::ALL.into_iter().zip(self.0)
    }
}

impl fmt::Debug for MetricsSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.iter().map(|(counter, count)| (counter.name(), count)))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lists_each_counter_at_its_own_index() {
        for (index, counter) in Counter::ALL.into_iter().enumerate() {
            assert_eq!(counter as usize, index, "{counter:?}");
        }
    }

    #[test]
    fn child_counts_alone_and_adds_to_every_parent() {
        let all = Metrics::default();
        all.add(Counter::Requests, 1);
        let read = all.child();
        let part = read.child();
        part.add(Counter::Requests, 2);
        read.clone().add(Counter::RowsDecoded, 5);
        assert_eq!(all.get(Counter::Requests), 3);
        assert_eq!(read.get(Counter::Requests), 2);
        assert_eq!(part.get(Counter::Requests), 2);
        assert_eq!(part.get(Counter::RowsDecoded), 0);
        assert_eq!(all.snapshot().get(Counter::RowsDecoded), 5);
    }

    #[test]
    fn snapshot_shows_names() {
        let metrics = Metrics::default();
        metrics.add(Counter::FilesOpened, 7);
        assert!(format!("{metrics:?}").contains("\"files_opened\": 7"));
    }
}
