//! The order of runs that interleave, where of equal keys the run alone decides which one is the result.
//!
//! Which run comes next is random there, and a branch that is guessed wrong costs more than moving a row. So the loaded
//! keys are merged two lists at a time without branches on keys; what loses to an equal key is left out on the way. Lists
//! that are merged stand side by side in the order of precedence, so that all rows of one win against all of the other.
//!
//! ```text
//! head 2 (newest)  3 7 9     ┐
//! head 0           2 7       ┘ 2 3 7 9     ┐
//! head 1           1 2 3 4 5 6 7 8 9       ┘ 1 2 3 4 5 6 7 8 9   from heads 1 0 2 1 1 1 2 1 2
//! ```

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::{Deref, Range};

use paimon_meta::Result;

use super::{Head, Keys, Sink};
use crate::merge::picked_keys::Written;

/// Where one head has more than so many times the rows of all others, or stretches have more rows, finding them is cheaper.
const SPARSE: usize = 8;
/// Places that are looked at for that.
const PROBES: usize = 16;
/// Bits of a place that count rows of a head from its position on; those above are the head.
const ROW_BITS: u32 = 28;
/// Most heads, and the rows of one.
const MOST_HEADS: usize = 1 << (u32::BITS - ROW_BITS);
const MOST_ROWS: u32 = (1 << ROW_BITS) - 1;

/// Rows in the order of their keys, no two with the same.
struct Sorted<'a, T: Copy> {
    keys: Cow<'a, [T]>,
    /// Where they are, less `base`.
    places: Cow<'a, [u32]>,
    base: u32,
}

/// How far the loaded keys go.
struct Reach {
    /// The head that stops the merge.
    stop: usize,
    /// Per head, the rows that are merged.
    rows: Vec<Range<usize>>,
}

impl Reach {
    /// To the first end of a window, or to the first sentinel.
    fn of<K: Keys>(heads: &[Head<K>]) -> Option<Self> {
        let bound = |head: &Head<K>| match head.sentinel {
            true => head.keys.key(head.position),
            false => head.keys.key(head.end - 1),
        };
        // A sentinel comes before the last key of a window that is equal to it: that one is not to be taken.
        let stop =
            (0..heads.len()).min_by_key(|head| (bound(&heads[*head]), !heads[*head].sentinel))?;
        let (bound, open) = (bound(&heads[stop]), heads[stop].sentinel);
        let rows = heads.iter().map(|head| {
            let from = head.position;
            if head.sentinel {
                return from..from;
            }
            let is_taken = |key: K::Key| key < bound || !open && key == bound;
            from..first_not_below(from..head.end, |row| is_taken(head.keys.key(row)))
        });
        Some(Self {
            stop,
            rows: rows.collect(),
        })
    }

    /// Whether the rows of several heads are to be expected close to each other.
    fn is_dense<K: Keys>(&self, heads: &[Head<K>]) -> bool {
        let all: usize = self.rows.iter().map(Range::len).sum();
        let mut by_rows: Vec<usize> = (0..self.rows.len()).collect();
        by_rows.sort_unstable_by_key(|head| std::cmp::Reverse(self.rows[*head].len()));
        let [largest, second, ..] = by_rows.as_slice() else {
            return false;
        };
        let rows = self.rows[*largest].len();
        u32::try_from(rows).is_ok_and(|rows| rows <= MOST_ROWS)
            && (all - rows) * SPARSE >= rows
            && rows > 0
            && self.interleave(heads, *second, *largest)
    }

    /// Whether enough neighbours in one head have a key of another one between them, by a look at a few.
    fn interleave<K: Keys>(&self, heads: &[Head<K>], of: usize, among: usize) -> bool {
        let rows = self.rows[of].clone();
        let below = |row: usize| {
            let key = heads[of].keys.key(row);
            let others = self.rows[among].clone();
            first_not_below(others, |other| heads[among].keys.key(other) < key)
        };
        let step = (rows.len() / PROBES).max(1);
        let probes = rows.start..rows.end.saturating_sub(1);
        let probes = probes.step_by(step);
        let (mut seen, mut apart) = (0, 0);
        for row in probes {
            seen += 1;
            apart += usize::from(below(row) < below(row + 1));
        }
        apart * SPARSE >= seen
    }
}

/// The first of these rows, in ascending order, that is not below something.
fn first_not_below(rows: Range<usize>, is_below: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (rows.start, rows.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_below(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Merges as [`super::merge`] does, if the sink knows the precedence of heads and they interleave.
pub(super) fn merge_dense<K: Keys, S: Sink>(
    heads: &mut [Head<K>],
    sink: &mut S,
) -> Result<Option<usize>> {
    if heads.len() > MOST_HEADS {
        return Ok(None);
    }
    let Some(precedence) = sink.precedence() else {
        return Ok(None);
    };
    let Some(reach) = Reach::of(heads).filter(|reach| reach.is_dense(heads)) else {
        return Ok(None);
    };
    let loaded: Vec<K::Range> = heads
        .iter()
        .zip(&reach.rows)
        .map(|(head, rows)| head.keys.range(rows.clone()))
        .collect();
    let keys: Vec<&[K::Key]> = loaded.iter().map(Deref::deref).collect();
    match Written::integers(&keys) {
        Some(integers) => {
            let keys: Vec<&[u128]> = integers.iter().map(Vec::as_slice).collect();
            merge_lists(&keys, &precedence, &reach, sink)?;
        }
        None => merge_lists(&keys, &precedence, &reach, sink)?,
    }
    for (head, rows) in heads.iter_mut().zip(&reach.rows) {
        head.position = rows.end;
    }
    Ok(Some(reach.stop))
}

/// Merges the keys of heads and hands the rows over.
fn merge_lists<T: Ord + Copy + Written, S: Sink>(
    keys: &[&[T]],
    precedence: &[usize],
    reach: &Reach,
    sink: &mut S,
) -> Result<()> {
    let longest = keys.iter().map(|keys| keys.len()).max().unwrap_or(0);
    let counted: Vec<u32> = (0..MOST_ROWS).take(longest).collect();
    let bases: Vec<u32> = (0..=u32::MAX >> ROW_BITS)
        .map(|head| head << ROW_BITS)
        .collect();
    let lists = precedence.iter().filter(|head| !keys[**head].is_empty());
    let lists = lists.map(|head| Sorted {
        keys: Cow::Borrowed(keys[*head]),
        places: Cow::Borrowed(&counted[..keys[*head].len()]),
        base: bases[*head],
    });
    hand_over(&merge_all(lists.collect()), reach, sink)
}

/// Merges the two neighbours that are shortest together, until there is one list.
fn merge_all<T: Ord + Copy>(mut lists: Vec<Sorted<'_, T>>) -> Sorted<'_, T> {
    while lists.len() > 1 {
        let together = |first: &usize| lists[*first].keys.len() + lists[*first + 1].keys.len();
        let Some(first) = (0..lists.len() - 1).min_by_key(together) else {
            break;
        };
        let second = lists.remove(first + 1);
        lists[first] = merge_two(&lists[first], &second);
    }
    lists.pop().unwrap_or(Sorted {
        keys: Cow::Borrowed(&[]),
        places: Cow::Borrowed(&[]),
        base: 0,
    })
}

/// Merges two lists; of two rows with one key that of `first` stays.
fn merge_two<'a, T: Ord + Copy>(first: &Sorted<'a, T>, second: &Sorted<'a, T>) -> Sorted<'a, T> {
    let rows = first.keys.len() + second.keys.len();
    let (mut keys, mut places) = (first.keys.to_vec(), vec![0; rows]);
    keys.resize(rows, first.keys[0]);
    let (mut i, mut j, mut count) = (0, 0, 0);
    while i < first.keys.len() && j < second.keys.len() {
        let (key, other) = (first.keys[i], second.keys[j]);
        let order = key.cmp(&other);
        let stays = order != Ordering::Greater;
        let place = first.base + first.places[i];
        let other_place = second.base + second.places[j];
        keys[count] = if stays { key } else { other };
        places[count] = if stays { place } else { other_place };
        count += 1;
        i += usize::from(stays);
        j += usize::from(order != Ordering::Less);
    }
    for (rest, from) in [(first, i), (second, j)] {
        for (key, place) in rest.keys[from..].iter().zip(&rest.places[from..]) {
            keys[count] = *key;
            places[count] = rest.base + *place;
            count += 1;
        }
    }
    keys.truncate(count);
    places.truncate(count);
    Sorted {
        keys: Cow::Owned(keys),
        places: Cow::Owned(places),
        base: 0,
    }
}

/// Hands over rows that follow each other in one head as one stretch.
fn hand_over<T: Copy + Written, S: Sink>(
    merged: &Sorted<'_, T>,
    reach: &Reach,
    sink: &mut S,
) -> Result<()> {
    let places = &merged.places;
    // Without a branch, as the stretches are short.
    let mut starts = vec![0; places.len() + 1];
    let mut count = 0;
    let mut expected = u32::MAX;
    for (index, place) in places.iter().enumerate() {
        starts[count] = index;
        count += usize::from(*place != expected);
        expected = place + 1;
    }
    starts[count] = places.len();
    let stretches = starts[..=count].windows(2).map(|stretch| {
        let place = merged.base + places[stretch[0]];
        let head = (place >> ROW_BITS) as usize;
        let row = (place & MOST_ROWS) as usize;
        (head, reach.rows[head].start + row, stretch[1] - stretch[0])
    });
    sink.stretches(&merged.keys, stretches)
}
