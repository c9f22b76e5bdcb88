use paimon_meta::DataFileMeta;
use proptest::prelude::*;

use super::*;
use crate::shard::Shard;
use crate::testing::{file, files};

const YES: StatsVerdict = StatsVerdict {
    key: true,
    value: true,
};
const NO_KEY: StatsVerdict = StatsVerdict {
    key: false,
    value: true,
};
const NO_VALUE: StatsVerdict = StatsVerdict {
    key: true,
    value: false,
};

fn added(entries: &[(i32, i32, DataFileMeta)], verdicts: &[StatsVerdict]) -> Added {
    Added {
        files: files(entries),
        verdicts: verdicts.to_vec(),
    }
}

fn buckets(added: &Added, rules: PruneRules) -> Vec<Vec<u32>> {
    prune(added, &FileTable::default(), &rules).buckets
}

fn by_bucket(origin: RowOrigin) -> PruneRules {
    PruneRules {
        by_key: true,
        value: ValuePruning::PerBucket(origin),
        ..PruneRules::default()
    }
}

#[test]
fn files_come_bucket_by_bucket_in_the_order_of_their_first_files() {
    // RP-056, RP-110
    let entries = [(2, 1), (1, 0), (2, 0), (2, 1)]
        .map(|(partition, bucket)| (partition, bucket, file("f", 0, 1, 2)));
    assert_eq!(
        buckets(&added(&entries, &[]), PruneRules::default()),
        [vec![0, 3], vec![1], vec![2]]
    );
}

#[test]
fn key_statistics_drop_single_files_of_an_overlapping_bucket() {
    // RP-054, RP-543; the dropped file no longer decides where its bucket comes.
    let entries =
        [(1, 0), (2, 0), (1, 0)].map(|(partition, bucket)| (partition, bucket, file("f", 0, 1, 9)));
    let added = added(&entries, &[NO_KEY, YES, YES]);
    assert_eq!(
        buckets(&added, by_bucket(RowOrigin::Stored)),
        [vec![1], vec![2]]
    );
}

#[test]
fn value_statistics_drop_overlapping_files_only_together() {
    // RP-057, RP-540, RP-541
    let entries = [(1, 0), (1, 0), (2, 0), (2, 0)]
        .map(|(partition, bucket)| (partition, bucket, file("f", 0, 1, 9)));
    let added = added(&entries, &[NO_VALUE, YES, NO_VALUE, NO_VALUE]);
    assert_eq!(buckets(&added, by_bucket(RowOrigin::Stored)), [vec![0, 1]]);
    assert_eq!(
        buckets(&added, by_bucket(RowOrigin::Combined)),
        [vec![0, 1], vec![2, 3]]
    );
}

#[test]
fn append_files_are_dropped_one_by_one() {
    // RP-063
    let entries = [file("a", 0, 1, 1), file("b", 0, 1, 1)].map(|file| (1, 0, file));
    let added = added(&entries, &[NO_VALUE, YES]);
    let rules = PruneRules {
        value: ValuePruning::PerFile,
        ..PruneRules::default()
    };
    assert_eq!(buckets(&added, rules), [vec![1]]);
}

#[test]
fn hidden_level_zero_is_counted_apart_from_deleted_files() {
    // RP-075, RP-433
    let entries =
        [file("a", 5, 1, 9), file("b", 0, 1, 9), file("c", 0, 1, 9)].map(|file| (1, 0, file));
    let rules = PruneRules {
        levels: LevelRule::AboveZero,
        ..PruneRules::default()
    };
    let pruned = prune(&added(&entries, &[]), &files(&entries[2..]), &rules);
    assert_eq!(pruned.buckets, [vec![0]]);
    let steps: Vec<_> = pruned
        .steps
        .iter()
        .map(|step| (step.step, step.before.files, step.after.files))
        .collect();
    assert_eq!(
        steps,
        [(PruneStep::Deleted, 3, 2), (PruneStep::HiddenLevel, 2, 1)]
    );
    assert_eq!(
        pruned.steps[1].before,
        FileTotals {
            files: 2,
            rows: 20,
            bytes: 200
        }
    );
}

#[test]
fn files_created_too_early_are_dropped_by_the_clock_of_their_zone() {
    // RP-021, TF-051
    let at = |creation_time_millis| DataFileMeta {
        creation_time_millis,
        ..file("f", 0, 1, 9)
    };
    let hour = 3_600_000;
    let entries = [at(Some(9 * hour)), at(Some(10 * hour)), at(None)].map(|file| (1, 0, file));
    let zone = Zone::parse("+01:00").unwrap();
    let rules = PruneRules {
        created_since: Some((9 * hour, zone)),
        ..PruneRules::default()
    };
    assert_eq!(buckets(&added(&entries, &[]), rules), [vec![1, 2]]);
}

#[test]
fn shards_of_buckets_keep_them_whole() {
    let entries =
        [(1, 0), (1, 1), (1, 0)].map(|(partition, bucket)| (partition, bucket, file("f", 0, 1, 9)));
    let shard = ShardPruning::PerBucket(Shard { index: 0, count: 2 });
    let rules = PruneRules {
        shard: Some(shard),
        ..PruneRules::default()
    };
    assert_eq!(buckets(&added(&entries, &[]), rules), [vec![0, 2]]);
}

#[test]
fn limits_drop_files_or_rests_of_buckets() {
    // RP-186, RP-188
    let entries =
        [(1, 0), (1, 0), (1, 1)].map(|(partition, bucket)| (partition, bucket, file("f", 5, 1, 9)));
    let added = added(&entries, &[]);
    let rules = |limit| PruneRules {
        limit,
        ..PruneRules::default()
    };
    assert_eq!(
        buckets(&added, rules(LimitPruning::PerFile(11))),
        [vec![0, 1]]
    );
    assert_eq!(
        buckets(&added, rules(LimitPruning::PerBucket(5))),
        [vec![0]]
    );
    assert_eq!(
        buckets(&added, rules(LimitPruning::PerBucket(21))),
        [vec![0, 1], vec![2]]
    );
}

proptest! {
    #[test]
    fn no_rule_ever_adds_or_reorders_files_of_a_bucket(
        entries in prop::collection::vec((0i32..3, 0i32..3, 0i32..3, any::<bool>(), any::<bool>()), 0..20),
        hide_level_zero: bool,
        combined: bool,
    ) {
        let table: Vec<_> =
            entries.iter().map(|(p, b, level, ..)| (*p, *b, file("f", *level, 1, 2))).collect();
        let verdicts: Vec<_> = entries.iter().map(|e| StatsVerdict { key: e.3, value: e.4 }).collect();
        let added = added(&table, &verdicts);
        let origin = if combined { RowOrigin::Combined } else { RowOrigin::Stored };
        let levels = if hide_level_zero { LevelRule::AboveZero } else { LevelRule::All };
        let rules = PruneRules { levels, ..by_bucket(origin) };
        let pruned = prune(&added, &FileTable::default(), &rules);
        for bucket in &pruned.buckets {
            prop_assert!(!bucket.is_empty());
            prop_assert!(bucket.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(bucket.iter().all(|index| entries[*index as usize].3));
        }
        // Every file whose key and values may match is read, hidden levels aside.
        let mut read: Vec<u32> = pruned.buckets.concat();
        read.sort_unstable();
        for (index, (.., level, key, value)) in (0u32..).zip(&entries) {
            let shown = !(hide_level_zero && *level == 0);
            prop_assert!(!(shown && *key && *value) || read.binary_search(&index).is_ok());
        }
    }
}
