use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

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

/// Merges runs whose keys are loaded in windows of `window`; between windows stands a sentinel where asked.
fn merge_in_windows(runs: &[Vec<i64>], window: usize, sentinels: bool) -> Vec<Vec<(usize, usize)>> {
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
        self.trace.versions(&members)
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
        prop_assert_eq!(merge_in_windows(&runs, window, sentinels), expected(&runs));
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
