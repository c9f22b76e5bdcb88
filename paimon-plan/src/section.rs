//! Interval partition: files to sections to sorted runs (RP-130 to RP-137).
//!
//! ```text
//! key      1       12     21         40      50   60
//! files    a──────── ┊     d──────────       g────
//!             b──────c───   e────f───
//! sections └── one ──────┘ └── two ──┘       └ three
//! runs     [b] [a c]       [e f] [d]         [g]
//! ```
//!
//! A *section* is a set of files that no other file overlaps, a *sorted run* is a list of files of one section whose key
//! ranges are disjoint and ascending. The number of runs is the least possible. The order of runs in a section is that of
//! the reference's priority queue, because the order of files in a split shows it (RP-134).
//!
//! Costs one sort by key, then `log(runs)` per file.

use std::cmp::Ordering;

use paimon_meta::{BinaryRow, DataFileMeta};

/// Files with disjoint key ranges, ascending.
pub type SortedRun<T> = Vec<T>;

/// Runs whose files overlap each other, directly or through others, and no file outside.
pub type Section<T> = Vec<SortedRun<T>>;

/// Something that holds the keys from a smallest to a largest one, both inclusive (RP-501).
pub trait KeyRange {
    /// The key; what order it has is said by a comparator.
    type Key: ?Sized;

    /// Smallest key in the file.
    fn min_key(&self) -> &Self::Key;

    /// Largest key in the file.
    fn max_key(&self) -> &Self::Key;
}

impl KeyRange for DataFileMeta {
    type Key = BinaryRow;

    fn min_key(&self) -> &BinaryRow {
        &self.min_key
    }

    fn max_key(&self) -> &BinaryRow {
        &self.max_key
    }
}

/// Divides files into sections in key order, and each section into the least number of sorted runs.
///
/// `compare` is the order of keys: typed, field by field, nulls first; comparing stored bytes is wrong (RP-500). Level and
/// sequence numbers play no role (RP-135). Equal keys at a boundary keep files in one section (RP-131).
pub fn interval_partition<T: KeyRange>(
    mut files: Vec<T>,
    compare: impl Fn(&T::Key, &T::Key) -> Ordering,
) -> Vec<Section<T>> {
    // Stable: files with the same range stay in the order they came in (RP-130).
    files.sort_by(|a, b| {
        compare(a.min_key(), b.min_key()).then_with(|| compare(a.max_key(), b.max_key()))
    });
    let lengths = section_lengths(&files, &compare);
    let mut files = files.into_iter();
    lengths
        .into_iter()
        .map(|length| runs_of(files.by_ref().take(length), &compare))
        .collect()
}

/// How many of the sorted files each section has.
fn section_lengths<T: KeyRange>(
    files: &[T],
    compare: &impl Fn(&T::Key, &T::Key) -> Ordering,
) -> Vec<usize> {
    let mut lengths = Vec::new();
    let mut open = 0;
    let mut bound: Option<&T> = None;
    for file in files {
        match bound {
            Some(last) if compare(file.min_key(), last.max_key()).is_gt() => {
                lengths.push(std::mem::take(&mut open));
                bound = Some(file);
            }
            Some(last) if compare(file.max_key(), last.max_key()).is_le() => {}
            _ => bound = Some(file),
        }
        open += 1;
    }
    lengths.extend((open > 0).then_some(open));
    lengths
}

/// The runs of one section, from its files in order (RP-132). The run that ends first takes the next file if it can.
fn runs_of<T: KeyRange>(
    files: impl Iterator<Item = T>,
    compare: &impl Fn(&T::Key, &T::Key) -> Ordering,
) -> Section<T> {
    let ends_before = |a: &SortedRun<T>, b: &SortedRun<T>| match (a.last(), b.last()) {
        (Some(a), Some(b)) => compare(a.max_key(), b.max_key()).is_lt(),
        _ => false,
    };
    let mut heap = RunHeap {
        runs: Vec::new(),
        ends_before,
    };
    for file in files {
        let Some(mut first) = heap.poll() else {
            heap.add(vec![file]);
            continue;
        };
        if first
            .last()
            .is_some_and(|last| compare(file.min_key(), last.max_key()).is_gt())
        {
            first.push(file);
        } else {
            heap.add(vec![file]);
        }
        heap.add(first);
    }
    heap.runs
}

/// A binary min-heap whose backing order is that of `java.util.PriorityQueue`: the same steps up and down, also on ties.
struct RunHeap<R, F> {
    runs: Vec<R>,
    ends_before: F,
}

impl<R, F: Fn(&R, &R) -> bool> RunHeap<R, F> {
    fn add(&mut self, run: R) {
        self.runs.push(run);
        let mut child = self.runs.len() - 1;
        while child > 0 {
            let parent = (child - 1) / 2;
            if !self.is_before(child, parent) {
                break;
            }
            self.runs.swap(child, parent);
            child = parent;
        }
    }

    fn poll(&mut self) -> Option<R> {
        if self.runs.is_empty() {
            return None;
        }
        let first = self.runs.swap_remove(0);
        let mut parent = 0;
        loop {
            let (left, right) = (2 * parent + 1, 2 * parent + 2);
            let child = if self.is_before(right, left) {
                right
            } else {
                left
            };
            if !self.is_before(child, parent) {
                break;
            }
            self.runs.swap(child, parent);
            parent = child;
        }
        Some(first)
    }

    /// Strictly before, so that ties stay where they are; false for a slot that does not exist.
    fn is_before(&self, a: usize, b: usize) -> bool {
        match (self.runs.get(a), self.runs.get(b)) {
            (Some(a), Some(b)) => (self.ends_before)(a, b),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
