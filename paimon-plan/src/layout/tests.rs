use paimon_meta::{DataFileMeta, DeletionVectorRange, ErrorKind, TypeKind};
use proptest::prelude::*;

use super::*;
use crate::generate::Why;
use crate::testing::{file, files};

fn int() -> DataType {
    TypeKind::Int.not_null()
}

fn rules(key_type: Option<&DataType>) -> LayoutRules<'_> {
    LayoutRules {
        settings: SplitSettings::default(),
        key_types: key_type.map(|key_type| vec![key_type]),
        sort_partitions: None,
        limit: None,
        vectors: None,
        as_given: false,
        streaming: None,
    }
}

#[test]
fn partitions_come_in_the_order_of_their_first_files() {
    // RP-110
    let entries =
        [(2, 0), (1, 0), (2, 1)].map(|(partition, bucket)| (partition, bucket, file("f", 0, 1, 2)));
    let table = files(&entries);
    let layout = lay_out(&table, vec![vec![0], vec![1], vec![2]], &rules(None)).unwrap();
    assert_eq!(layout.order, [0, 2, 1]);
    let int = int();
    let sorted = LayoutRules {
        sort_partitions: Some(vec![&int]),
        ..rules(None)
    };
    let layout = lay_out(&table, vec![vec![0], vec![1], vec![2]], &sorted).unwrap();
    assert_eq!(layout.order, [1, 0, 2]);
}

#[test]
fn sections_and_runs_end_where_their_files_end() {
    let entries = [
        file("long", 5, 1, 100),
        file("short", 0, 5, 5),
        file("apart", 0, 200, 300),
    ]
    .map(|file| (1, 0, file));
    let int = int();
    let layout = lay_out(&files(&entries), vec![vec![0, 1, 2]], &rules(Some(&int))).unwrap();
    assert_eq!(layout.order, [1, 0, 2]);
    assert_eq!(layout.run_ends, [1, 2, 3]);
    assert_eq!(layout.section_ends, [2, 3]);
    let entry = SplitEntry {
        files_end: 3,
        runs_end: 3,
        sections_end: 2,
        total_buckets: 4,
        why: Why::Overlap,
    };
    assert_eq!(layout.splits, [entry]);
}

#[test]
fn broken_keys_are_corrupt_and_name_their_file() {
    let int = int();
    let broken = DataFileMeta {
        min_key: BinaryRow::default(),
        ..file("broken", 0, 1, 2)
    };
    let reversed = file("reversed", 0, 9, 1);
    for (file, name) in [(broken, "broken"), (reversed, "reversed")] {
        let error =
            lay_out(&files(&[(1, 0, file)]), vec![vec![0]], &rules(Some(&int))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert_eq!(error.frames().next(), Some(&Frame::File(name.to_owned())));
    }
}

#[test]
fn enough_counted_splits_end_the_plan() {
    // RP-187, RP-584, RP-585, RP-588
    let overlap = [file("a", 0, 1, 9), file("b", 0, 1, 9)].map(|file| (1, 0, file));
    let lone = [(1, 1, file("c", 0, 1, 9)), (1, 2, file("d", 0, 1, 9))];
    let table = files(&[overlap.as_slice(), &lone].concat());
    let int = int();
    let order = |limit| {
        let rules = LayoutRules {
            limit: Some(limit),
            ..rules(Some(&int))
        };
        lay_out(&table, vec![vec![0, 1], vec![2], vec![3]], &rules)
            .unwrap()
            .order
    };
    assert_eq!(order(0), [2]);
    assert_eq!(order(5), [2]);
    assert_eq!(order(20), [2, 3]);
    assert_eq!(order(21), [1, 0, 2, 3]);
}

#[test]
fn unknown_delete_row_counts_do_not_count_towards_a_limit() {
    // RP-700
    let unknown = DataFileMeta {
        delete_row_count: None,
        ..file("a", 0, 1, 9)
    };
    let table = files(&[(1, 0, unknown), (1, 1, file("b", 0, 1, 9))]);
    let int = int();
    let limited = LayoutRules {
        limit: Some(5),
        ..rules(Some(&int))
    };
    assert_eq!(
        lay_out(&table, vec![vec![0], vec![1]], &limited)
            .unwrap()
            .order,
        [1]
    );
}

#[test]
fn deleted_rows_do_not_count_towards_a_limit() {
    // RP-180, RP-182, RP-187
    let table = files(&[0, 1, 2].map(|bucket| (1, bucket, file("a", 5, 1, 9))));
    let mut vectors = PlannedVectors::default();
    let path = vectors.add_path("index/i".to_owned());
    for (file, cardinality) in [(0, None), (1, Some(8))] {
        vectors.push(
            file,
            path,
            &DeletionVectorRange {
                data_file: "a".to_owned(),
                offset: 1,
                length: 9,
                cardinality,
            },
        );
    }
    let int = int();
    let order = |limit| {
        let limited = LayoutRules {
            limit: Some(limit),
            vectors: Some(&vectors),
            ..rules(Some(&int))
        };
        let buckets = vec![vec![0], vec![1], vec![2]];
        lay_out(&table, buckets, &limited).unwrap().order
    };
    assert_eq!(order(2), [1]);
    assert_eq!(order(3), [1, 2]);
    assert_eq!(order(13), [0, 1, 2]);
}

proptest! {
    #[test]
    fn every_file_is_in_exactly_one_split(
        entries in prop::collection::vec((0i32..2, 0i32..2, 0i32..2, 0i32..30, 0i32..6), 0..20),
        target_size in 1u64..400,
    ) {
        let table: Vec<_> =
            entries.iter().map(|(p, b, level, min, len)| (*p, *b, file("f", *level, *min, min + len))).collect();
        let table = files(&table);
        let mut buckets: Vec<Vec<u32>> = vec![Vec::new(); 4];
        for (index, (partition, bucket, ..)) in (0u32..).zip(&entries) {
            buckets[usize::try_from(partition * 2 + bucket).unwrap()].push(index);
        }
        buckets.retain(|bucket| !bucket.is_empty());
        let int = int();
        let settings = SplitSettings { target_size, open_file_cost: 1, ..SplitSettings::default() };
        let layout = lay_out(&table, buckets, &LayoutRules { settings, ..rules(Some(&int)) }).unwrap();
        let mut seen = layout.order.clone();
        seen.sort_unstable();
        prop_assert_eq!(seen, (0u32..).take(entries.len()).collect::<Vec<_>>());
        let mut start = 0;
        for split in &layout.splits {
            let of_split = &layout.order[start..split.files_end as usize];
            prop_assert!(!of_split.is_empty());
            let place = |file: &u32| (table.partition_id(*file as usize), table.bucket(*file as usize));
            prop_assert!(of_split.iter().all(|file| place(file) == place(&of_split[0])));
            start = split.files_end as usize;
        }
    }
}
