use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::merge::picked_keys::PickedKeys;

/// Writes down what the kernel says, one entry a key.
#[derive(Default)]
struct Trace(Vec<Vec<(usize, usize)>>);

impl Sink for Trace {
    fn stretch(&mut self, head: usize, position: usize, length: usize) -> Result<()> {
        assert!(length > 0);
        self.0
            .extend((position..position + length).map(|position| vec![(head, position)]));
        Ok(())
    }

    fn versions(&mut self, members: &[(usize, usize)]) -> Result<()> {
        assert!(members.len() > 1);
        let mut members = members.to_vec();
        members.sort_unstable();
        self.0.push(members);
        Ok(())
    }
}

/// Merges runs whose keys are loaded in windows of `window`; between windows stands a sentinel where asked. With ranks, of
/// the versions of a key that of the run with the least is what matters.
fn merge_in_windows(
    runs: &[Vec<i64>],
    window: usize,
    sentinels: bool,
    ranks: Option<&[usize]>,
) -> Vec<Vec<(usize, usize)>> {
    let mut trace = Trace::default();
    // (first key of the window in its run, sentinel)
    let mut state: Vec<(usize, bool)> = runs.iter().map(|_| (0, sentinels)).collect();
    loop {
        let live: Vec<usize> = (0..runs.len())
            .filter(|run| state[*run].0 < runs[*run].len())
            .collect();
        if live.is_empty() {
            return trace.0;
        }
        let mut heads: Vec<Head<&[i64]>> = live
            .iter()
            .map(|run| {
                let (start, sentinel) = state[*run];
                let next = if sentinel {
                    start + 1
                } else {
                    (start / window + 1) * window
                };
                Head {
                    keys: runs[*run].as_slice(),
                    position: start,
                    end: next.min(runs[*run].len()),
                    sentinel,
                }
            })
            .collect();
        let mut numbered = Renumber {
            live: &live,
            ranks,
            trace: &mut trace,
        };
        let stop = merge(&mut heads, &mut numbered).unwrap();
        for (head, run) in heads.iter().zip(&live) {
            let was_sentinel = state[*run].1;
            let turned = was_sentinel && head.position == state[*run].0;
            state[*run] = (head.position, was_sentinel);
            if !was_sentinel && head.position == head.end {
                state[*run].1 = sentinels;
            }
            assert!(!was_sentinel || turned, "a sentinel must not be taken");
        }
        if heads[stop].sentinel {
            state[live[stop]].1 = false;
        } else {
            assert_eq!(heads[stop].position, heads[stop].end);
        }
    }
}

struct Renumber<'a> {
    live: &'a [usize],
    ranks: Option<&'a [usize]>,
    trace: &'a mut Trace,
}

impl Sink for Renumber<'_> {
    fn stretch(&mut self, head: usize, position: usize, length: usize) -> Result<()> {
        self.trace.stretch(self.live[head], position, length)
    }

    fn versions(&mut self, members: &[(usize, usize)]) -> Result<()> {
        let members: Vec<_> = members
            .iter()
            .map(|(head, position)| (self.live[*head], *position))
            .collect();
        let Some(ranks) = self.ranks else {
            return self.trace.versions(&members);
        };
        let first = members.iter().min_by_key(|(run, _)| ranks[*run]).unwrap();
        self.trace.stretch(first.0, first.1, 1)
    }

    fn precedence(&self) -> Option<Vec<usize>> {
        let ranks = self.ranks?;
        let mut heads: Vec<usize> = (0..self.live.len()).collect();
        heads.sort_by_key(|head| ranks[self.live[*head]]);
        Some(heads)
    }
}

fn expected(runs: &[Vec<i64>]) -> Vec<Vec<(usize, usize)>> {
    let mut keys: BTreeMap<i64, Vec<(usize, usize)>> = BTreeMap::new();
    for (run, rows) in runs.iter().enumerate() {
        for (row, key) in rows.iter().enumerate() {
            keys.entry(*key).or_default().push((run, row));
        }
    }
    keys.into_values().collect()
}

fn runs(most: usize) -> impl Strategy<Value = Vec<Vec<i64>>> {
    let run = (0i64..40, prop::collection::btree_set(0i64..60, 0..40))
        .prop_map(|(shift, keys)| keys.into_iter().map(|key| key + shift).collect());
    prop::collection::vec(run, 1..most)
}

proptest! {
    #[test]
    fn every_key_comes_once_in_order_with_all_its_versions(
        runs in runs(24), window in 1usize..20, sentinels: bool,
    ) {
        prop_assert_eq!(merge_in_windows(&runs, window, sentinels, None), expected(&runs));
    }

    #[test]
    fn the_version_of_the_run_with_precedence_comes_once_in_order(
        runs in runs(20),
        ranks in Just((0..20).collect::<Vec<usize>>()).prop_shuffle(),
        window in 1usize..20,
        sentinels: bool,
    ) {
        let mut expected = expected(&runs);
        for versions in &mut expected {
            versions.sort_by_key(|(run, _)| ranks[*run]);
            versions.truncate(1);
        }
        prop_assert_eq!(merge_in_windows(&runs, window, sentinels, Some(&ranks)), expected);
    }
}

#[test]
fn long_stretches_are_handed_over_whole() {
    #[derive(Default)]
    struct Count(usize);
    impl Sink for Count {
        fn stretch(&mut self, _: usize, _: usize, _: usize) -> Result<()> {
            self.0 += 1;
            Ok(())
        }
        fn versions(&mut self, _: &[(usize, usize)]) -> Result<()> {
            self.0 += 1;
            Ok(())
        }
    }
    let a: Vec<i64> = (0..1000).chain(5000..6000).collect();
    let b: Vec<i64> = (1000..5000).collect();
    let mut count = Count::default();
    let mut heads = [&a, &b].map(|keys| Head {
        keys: keys.as_slice(),
        position: 0,
        end: keys.len(),
        sentinel: false,
    });
    assert_eq!(merge(&mut heads, &mut count).unwrap(), 1);
    assert_eq!(count.0, 2);
}

#[test]
fn interleaved_runs_come_at_once_where_one_has_precedence() {
    /// Head 1 before head 0.
    #[derive(Default)]
    struct AtOnce(Vec<i64>, Vec<(usize, usize, usize)>);
    impl Sink for AtOnce {
        fn stretch(&mut self, head: usize, position: usize, length: usize) -> Result<()> {
            self.1.push((head, position, length));
            Ok(())
        }
        fn versions(&mut self, members: &[(usize, usize)]) -> Result<()> {
            panic!("{members:?}");
        }
        fn precedence(&self) -> Option<Vec<usize>> {
            Some(vec![1, 0])
        }
        fn stretches<T: Written>(
            &mut self,
            keys: &[T],
            stretches: impl Iterator<Item = (usize, usize, usize)>,
        ) -> Result<()> {
            let mut picked = PickedKeys::Long(Vec::new());
            T::write(keys, &mut picked);
            let PickedKeys::Long(picked) = picked else {
                panic!("keys of another form")
            };
            self.0.extend(picked);
            self.1.extend(stretches);
            Ok(())
        }
    }
    let (old, new) = ([1_i64, 2, 3, 4, 5, 9], [2_i64, 5, 6, 8]);
    let mut heads = [&old[..], &new[..]].map(|keys| Head {
        keys,
        position: 0,
        end: keys.len(),
        sentinel: false,
    });
    let mut sink = AtOnce::default();
    assert_eq!(merge(&mut heads, &mut sink).unwrap(), 1);
    assert_eq!(sink.0, [1, 2, 3, 4, 5, 6, 8]);
    assert_eq!(sink.1, [(0, 0, 1), (1, 0, 1), (0, 2, 2), (1, 1, 3)]);
    assert_eq!(heads.map(|head| head.position), [5, 4]);
}

#[test]
fn blocks_are_found_by_their_ends_also_where_one_run_has_precedence() {
    #[derive(Default)]
    struct Blocks(usize);
    impl Sink for Blocks {
        fn stretch(&mut self, _: usize, _: usize, _: usize) -> Result<()> {
            self.0 += 1;
            Ok(())
        }
        fn versions(&mut self, members: &[(usize, usize)]) -> Result<()> {
            panic!("{members:?}");
        }
        fn precedence(&self) -> Option<Vec<usize>> {
            Some(vec![1, 0])
        }
        fn stretches<T: Written>(
            &mut self,
            keys: &[T],
            _: impl Iterator<Item = (usize, usize, usize)>,
        ) -> Result<()> {
            panic!("{} keys at once", keys.len());
        }
    }
    let keys = |odd: i64| (0..10_000).filter(move |key| key / 50 % 2 == odd);
    let (even, odd): (Vec<i64>, Vec<i64>) = (keys(0).collect(), keys(1).collect());
    let mut heads = [&even, &odd].map(|keys| Head {
        keys: keys.as_slice(),
        position: 0,
        end: keys.len(),
        sentinel: false,
    });
    let mut sink = Blocks::default();
    assert_eq!(merge(&mut heads, &mut sink).unwrap(), 0);
    assert_eq!(sink.0, 199);
}
