//! The order of a merge: heads of sorted runs in, rows in key order out.
//!
//! The kernel knows keys and nothing of their meaning. Each head is a window of loaded keys of one run; the kernel takes
//! the smallest key, finds by galloping how far its run goes before another run's key, and hands that stretch over;
//! equal keys of several runs are handed over together. It stops as soon as one head has no more loaded keys, because
//! what is not loaded may come next, or when it meets a *sentinel*: a key that only bounds a run from below and stands
//! for rows that are not loaded yet.
//!
//! ```text
//! run 0   1 2 3 4 5 . . . . 10 11      stretch(0, 1..=5)  stretch(1, 6..=9)  versions(0: 10, 1: 10)  stretch(0, 11)
//! run 1   . . . . . 6 7 8 9 10 . 12
//! ```
//!
//! Up to [`SCAN_LIMIT`] heads are compared one by one, more in a loser tree; a stretch of length `n` costs
//! O(log n) compares, a single row O(heads) or O(log heads). Where runs interleave and the run alone decides which version
//! of a key is its row, they are merged two at a time instead, see [`dense`].

#![expect(
    clippy::indexing_slicing,
    reason = "the tight loops of the merge; positions stay below `end`, which is at most the number of keys, and head numbers come from enumerating the heads, nodes of the tree are as many, and lists have as many keys as places"
)]

mod dense;
mod tree;

use std::cmp::Ordering;
use std::ops::{Deref, Range};

use paimon_meta::Result;

use self::dense::merge_dense;
use self::tree::merge_tree;
use super::picked_keys::Written;

/// Heads that are compared one by one; a loser tree pays above it.
const SCAN_LIMIT: usize = 8;

/// Comparable keys of one window of rows.
pub(crate) trait Keys: Copy {
    /// One key.
    type Key: Ord + Copy + Written;

    /// Some keys side by side.
    type Range: Deref<Target = [Self::Key]>;

    /// Key `i`.
    fn key(self, i: usize) -> Self::Key;

    /// Keys that follow each other.
    fn range(self, rows: Range<usize>) -> Self::Range;
}

impl<'a, T: Ord + Copy + Written> Keys for &'a [T] {
    type Key = T;
    type Range = &'a [T];

    #[inline]
    fn key(self, i: usize) -> T {
        self[i]
    }

    fn range(self, rows: Range<usize>) -> &'a [T] {
        &self[rows]
    }
}

/// A window of loaded keys of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head<K> {
    /// The keys, ascending, without equals.
    pub(crate) keys: K,
    /// The next key.
    pub(crate) position: usize,
    /// End of the loaded keys; the kernel is only called with `position < end`.
    pub(crate) end: usize,
    /// The one key bounds rows that are not loaded; it must not be taken.
    pub(crate) sentinel: bool,
}

impl<K: Keys> Head<K> {
    /// The next key.
    #[inline]
    pub(super) fn key(&self) -> K::Key {
        self.keys.key(self.position)
    }
}

/// Takes what the kernel orders.
pub(crate) trait Sink {
    /// Rows `position..position + length` of a head: no other head has these keys.
    fn stretch(&mut self, head: usize, position: usize, length: usize) -> Result<()>;

    /// One key in several heads: (head, position) each, by head number.
    fn versions(&mut self, members: &[(usize, usize)]) -> Result<()>;

    /// All heads, if of the versions of a key that of the first one here is all that matters. Then rows may come as
    /// [`Self::stretches`].
    fn precedence(&self) -> Option<Vec<usize>> {
        None
    }

    /// Rows with ascending keys as stretches: (head, position, length) each. Other heads with one of these keys have less
    /// precedence.
    fn stretches<T: Written>(
        &mut self,
        _keys: &[T],
        stretches: impl Iterator<Item = (usize, usize, usize)>,
    ) -> Result<()> {
        for (head, position, length) in stretches {
            self.stretch(head, position, length)?;
        }
        Ok(())
    }
}

/// Merges until a head has no more loaded keys or a sentinel comes next; returns that head. Other heads may have run out
/// with it, after equal keys.
pub(crate) fn merge<K: Keys, S: Sink>(heads: &mut [Head<K>], sink: &mut S) -> Result<usize> {
    if let Some(stop) = merge_dense(heads, sink)? {
        return Ok(stop);
    }
    match heads.len() {
        1 => merge_one(heads, sink),
        2 => merge_two(heads, sink),
        3..=SCAN_LIMIT => merge_scan(heads, sink),
        _ => merge_tree(heads, sink),
    }
}

fn merge_one<K: Keys, S: Sink>(heads: &mut [Head<K>], sink: &mut S) -> Result<usize> {
    let head = &mut heads[0];
    if !head.sentinel {
        sink.stretch(0, head.position, head.end - head.position)?;
        head.position = head.end;
    }
    Ok(0)
}

/// First position after `from` whose key is not below `bound`, or `end`. `keys[from]` is below it.
#[inline]
fn gallop<K: Keys>(keys: K, from: usize, end: usize, bound: K::Key) -> usize {
    let mut low = from;
    let mut step = 1;
    while low + step < end && keys.key(low + step) < bound {
        low += step;
        step *= 2;
    }
    // keys[low] is below the bound, keys[low + step] is not (or lies past the end).
    let mut high = (low + step).min(end);
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if keys.key(middle) < bound {
            low = middle;
        } else {
            high = middle;
        }
    }
    low + 1
}

fn merge_two<K: Keys, S: Sink>(heads: &mut [Head<K>], sink: &mut S) -> Result<usize> {
    let (mut a, mut b) = (heads[0], heads[1]);
    let stopped = loop {
        let (key_a, key_b) = (a.key(), b.key());
        match key_a.cmp(&key_b) {
            Ordering::Less => {
                if let Some(stop) = step(&mut a, 0, key_b, sink)? {
                    break stop;
                }
            }
            Ordering::Greater => {
                if let Some(stop) = step(&mut b, 1, key_a, sink)? {
                    break stop;
                }
            }
            Ordering::Equal => {
                if a.sentinel || b.sentinel {
                    break usize::from(!a.sentinel);
                }
                sink.versions(&[(0, a.position), (1, b.position)])?;
                a.position += 1;
                b.position += 1;
                if a.position == a.end {
                    break 0;
                }
                if b.position == b.end {
                    break 1;
                }
            }
        }
    };
    heads[0] = a;
    heads[1] = b;
    Ok(stopped)
}

/// Hands over the keys of a head that lie below `bound`; returns the head if it stops the merge.
#[inline]
pub(super) fn step<K: Keys, S: Sink>(
    head: &mut Head<K>,
    number: usize,
    bound: K::Key,
    sink: &mut S,
) -> Result<Option<usize>> {
    if head.sentinel {
        return Ok(Some(number));
    }
    let next = gallop(head.keys, head.position, head.end, bound);
    sink.stretch(number, head.position, next - head.position)?;
    head.position = next;
    Ok((next == head.end).then_some(number))
}

/// The head with the smallest key, the first one among equals, and the smallest of the other keys; at least two keys.
///
/// Written without branches on keys: which head comes next is random where runs interleave.
#[inline]
fn two_smallest<T: Ord + Copy>(keys: &[T]) -> (usize, T) {
    let swapped = keys[1] < keys[0];
    let (mut index, mut least) = if swapped { (1, keys[1]) } else { (0, keys[0]) };
    let mut second = if swapped { keys[0] } else { keys[1] };
    for (number, key) in keys.iter().copied().enumerate().skip(2) {
        let less = key < least;
        second = second.min(if less { least } else { key });
        least = if less { key } else { least };
        index = if less { number } else { index };
    }
    (index, second)
}

fn merge_scan<K: Keys, S: Sink>(heads: &mut [Head<K>], sink: &mut S) -> Result<usize> {
    // The heads' keys side by side: a scan then touches one cache line.
    let mut keys = [heads[0].key(); SCAN_LIMIT];
    for (key, head) in keys.iter_mut().zip(heads.iter()) {
        *key = head.key();
    }
    let keys = &mut keys[..heads.len()];
    loop {
        let (number, second) = two_smallest(keys);
        if keys[number] < second {
            if let Some(stop) = step(&mut heads[number], number, second, sink)? {
                return Ok(stop);
            }
            keys[number] = heads[number].key();
        } else if let Some(stop) = equal_heads(heads, keys, number, sink)? {
            return Ok(stop);
        }
    }
}

/// Hands over the key that head `first` shares with others; returns a head that stops the merge.
fn equal_heads<K: Keys, S: Sink>(
    heads: &mut [Head<K>],
    keys: &mut [K::Key],
    first: usize,
    sink: &mut S,
) -> Result<Option<usize>> {
    let (mut members, mut count) = ([(0, 0); SCAN_LIMIT], 0);
    for (number, head) in heads.iter().enumerate().skip(first) {
        if keys[number] == keys[first] {
            if head.sentinel {
                return Ok(Some(number));
            }
            members[count] = (number, head.position);
            count += 1;
        }
    }
    sink.versions(&members[..count])?;
    Ok(advance_all(heads, keys, &members[..count]))
}

/// One key of each of these heads was taken; returns one of them that has no more.
fn advance_all<K: Keys>(
    heads: &mut [Head<K>],
    keys: &mut [K::Key],
    members: &[(usize, usize)],
) -> Option<usize> {
    let mut stopped = None;
    for (number, _) in members {
        let head = &mut heads[*number];
        head.position += 1;
        if head.position == head.end {
            stopped = Some(*number);
        } else {
            keys[*number] = head.key();
        }
    }
    stopped
}

#[cfg(test)]
mod tests;
