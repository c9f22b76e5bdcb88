//! Which keys to cut at, so that parts have about equal work.
//!
//! Work is spread over keys: a *stretch* is so much of it between two keys, evenly or not is not known. Where other
//! stretches tell how keys are distributed between two keys, a stretch that spans them is taken to be distributed about alike.

use std::cmp::Ordering;
use std::num::NonZeroUsize;

/// Work between two keys.
#[derive(Clone, Debug)]
pub(super) struct Stretch<K> {
    pub(super) low: K,
    pub(super) high: K,
    /// Whether `high` itself is meant too.
    pub(super) closed: bool,
    pub(super) weight: u64,
}

/// Keys to cut at.
#[derive(Debug)]
pub(super) struct Cuts<K> {
    /// Ascending, at most one fewer than parts.
    pub(super) keys: Vec<K>,
    /// Estimated work of each part, one more than keys.
    pub(super) work: Vec<u64>,
    /// Whether the parts between them are known to have about equal work.
    pub(super) good: bool,
}

/// What is known of a place to cut at.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Estimated work below it.
    below: u128,
    /// Work of stretches that it divides.
    divided: u128,
}

/// Chooses among `candidates`, which are in any order.
pub(super) fn choose<K>(
    stretches: &[Stretch<K>],
    mut candidates: Vec<K>,
    parts: NonZeroUsize,
    compare: impl Fn(&K, &K) -> Ordering,
) -> Cuts<K> {
    candidates.sort_by(&compare);
    candidates.dedup_by(|a, b| compare(a, b).is_eq());
    let (places, total) = places(stretches, &candidates, &compare);
    let parts = parts.get() as u128;
    let mut chosen: Vec<usize> = Vec::new();
    let mut good = true;
    for part in 1..parts {
        let target = total * part / parts;
        let Some((index, place)) = nearest(&places, target, total) else {
            break;
        };
        let distance = place.below.abs_diff(target);
        good &= distance * 4 * parts <= total && place.divided * 2 * parts <= total;
        if chosen.last() != Some(&index) {
            chosen.push(index);
        }
    }
    good &= chosen.len() as u128 + 1 == parts;
    let below = chosen.iter().filter_map(|index| places.get(*index));
    let ends = below.map(|place| place.below).chain([total]);
    let work = work_between(ends);
    let mut chosen = chosen.into_iter().peekable();
    let keys = candidates.into_iter().enumerate();
    let keys = keys.filter_map(|(index, key)| chosen.next_if_eq(&index).map(|_| key));
    Cuts {
        keys: keys.collect(),
        work,
        good,
    }
}

/// What lies between ascending sums.
fn work_between(ends: impl Iterator<Item = u128>) -> Vec<u64> {
    let mut start = 0;
    ends.map(|end| {
        let work = end.saturating_sub(start);
        start = end;
        u64::try_from(work).unwrap_or(u64::MAX)
    })
    .collect()
}

/// The place with the work below it that is nearest to `target`; both sides of it have some.
fn nearest(places: &[Place], target: u128, total: u128) -> Option<(usize, Place)> {
    let at = places.partition_point(|place| place.below < target);
    let around = [at.checked_sub(1), Some(at)].into_iter().flatten();
    let known = around.filter_map(|index| Some((index, *places.get(index)?)));
    let useful = known.filter(|(_, place)| place.below > 0 && place.below < total);
    useful.min_by_key(|(_, place)| place.below.abs_diff(target))
}

/// What is known of each candidate, and all work.
fn places<K>(
    stretches: &[Stretch<K>],
    candidates: &[K],
    compare: &impl Fn(&K, &K) -> Ordering,
) -> (Vec<Place>, u128) {
    // Gap `i` lies below candidate `i`; stretches in one gap, then the others over the gaps `first..=last`.
    let mut gaps = vec![0u128; candidates.len() + 1];
    let mut wide: Vec<(usize, usize, u128)> = Vec::new();
    for stretch in stretches {
        let first = candidates.partition_point(|key| compare(key, &stretch.low).is_le());
        let last = candidates.partition_point(|key| match compare(key, &stretch.high) {
            Ordering::Equal => stretch.closed,
            order => order.is_lt(),
        });
        let weight = u128::from(stretch.weight);
        match gaps.get_mut(first) {
            Some(gap) if first >= last => *gap += weight,
            _ => wide.push((first, last, weight)),
        }
    }
    let spread = Spread::of(&gaps, &wide);
    let mut below = 0;
    let places = gaps.iter().zip(spread.work).zip(spread.divided);
    let places: Vec<Place> = places
        .map(|((own, spread), divided)| {
            below += own * SCALE + spread;
            Place {
                below: below / SCALE,
                divided,
            }
        })
        .collect();
    let total = stretches.iter().map(|stretch| u128::from(stretch.weight));
    let total = total.sum();
    // The last gap is above all candidates.
    let inner = places.into_iter().take(candidates.len()).collect();
    (inner, total)
}

/// Work is counted in parts of this many, so that shares of it are not rounded away.
const SCALE: u128 = 1 << 24;

/// Work of stretches over several gaps.
struct Spread {
    /// Per gap, scaled.
    work: Vec<u128>,
    /// Per gap, of stretches that go on into the next one.
    divided: Vec<u128>,
}

impl Spread {
    fn of(gaps: &[u128], wide: &[(usize, usize, u128)]) -> Self {
        let mut sums = Vec::with_capacity(gaps.len() + 1);
        sums.push(0u128);
        for gap in gaps {
            sums.push(sums.last().copied().unwrap_or_default() + gap);
        }
        let sum = |gap: usize| sums.get(gap).copied().unwrap_or_default();
        let mut density = Steps::new(gaps.len());
        let mut even = Steps::new(gaps.len());
        let mut divided = Steps::new(gaps.len());
        for (first, last, weight) in wide {
            let known = sum(last + 1).saturating_sub(sum(*first));
            let count = (last + 1 - first) as u128;
            // Half of it alike, half evenly: other stretches may leave gaps out.
            let share = (weight * SCALE / 2).checked_div(known);
            density.add(*first, last + 1, share.unwrap_or_default());
            let alike = share.map_or(0, |_| weight * SCALE / 2);
            even.add(*first, last + 1, (weight * SCALE - alike) / count);
            divided.add(*first, *last, *weight);
        }
        let shares = density.sums().into_iter().zip(even.sums()).zip(gaps);
        Self {
            work: shares
                .map(|((density, even), gap)| density * gap + even)
                .collect(),
            divided: divided.sums(),
        }
    }
}

/// Sums of values over ranges.
struct Steps {
    up: Vec<u128>,
    down: Vec<u128>,
}

impl Steps {
    fn new(length: usize) -> Self {
        Self {
            up: vec![0; length],
            down: vec![0; length],
        }
    }

    /// Adds to `from..to`.
    fn add(&mut self, from: usize, to: usize, value: u128) {
        if let Some(slot) = self.up.get_mut(from) {
            *slot += value;
        }
        if let Some(slot) = self.down.get_mut(to) {
            *slot += value;
        }
    }

    fn sums(self) -> Vec<u128> {
        let mut now = 0;
        let steps = self.up.into_iter().zip(self.down);
        steps
            .map(|(up, down)| {
                now = now + up - down;
                now
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(low: u64, high: u64, weight: u64) -> Stretch<u64> {
        Stretch {
            low,
            high,
            closed: true,
            weight,
        }
    }

    fn chosen(stretches: &[Stretch<u64>], candidates: &[u64], parts: usize) -> Cuts<u64> {
        let parts = NonZeroUsize::new(parts).unwrap();
        choose(stretches, candidates.to_vec(), parts, u64::cmp)
    }

    #[test]
    fn files_side_by_side_are_cut_between_them() {
        let files = [0, 10, 20, 30].map(|low| stretch(low, low + 9, 100));
        let cuts = chosen(&files, &[30, 0, 10, 20], 2);
        assert_eq!((cuts.keys, cuts.good), (vec![20], true));
        let cuts = chosen(&files, &[0, 10, 20, 30], 4);
        assert_eq!((cuts.keys, cuts.good), (vec![10, 20, 30], true));
        assert_eq!(cuts.work, [100; 4]);
    }

    #[test]
    fn small_files_across_all_keys_do_not_spoil_a_cut() {
        let mut files = [0, 10, 20, 30]
            .map(|low| stretch(low, low + 9, 1000))
            .to_vec();
        files.push(stretch(0, 39, 400));
        let cuts = chosen(&files, &[0, 10, 20, 30], 2);
        assert_eq!((cuts.keys, cuts.good), (vec![20], true));
    }

    #[test]
    fn a_cut_through_large_files_is_not_trusted() {
        let files = [stretch(0, 40, 100), stretch(20, 60, 100)];
        let cuts = chosen(&files, &[0, 20], 2);
        assert_eq!((cuts.keys, cuts.good), (vec![20], false));
        assert!(chosen(&files[..1], &[0], 2).keys.is_empty());
    }

    #[test]
    fn unequal_files_give_fewer_parts() {
        let files = [stretch(0, 9, 1000), stretch(10, 19, 1)];
        let cuts = chosen(&files, &[0, 10], 8);
        assert_eq!((cuts.keys, cuts.good), (vec![10], false));
        assert_eq!(cuts.work, [1000, 1]);
    }

    #[test]
    fn an_end_that_is_not_meant_is_not_divided() {
        let mut first = stretch(0, 10, 5);
        first.closed = false;
        let cuts = chosen(&[first, stretch(10, 20, 5)], &[10], 2);
        assert_eq!((cuts.keys, cuts.good), (vec![10], true));
    }
}
