use proptest::prelude::*;

use super::*;
use crate::section::{KeyRange, interval_partition};

const MIB: u64 = 1 << 20;

/// A file: level, smallest and largest key, delete rows.
#[derive(Clone, Copy, Debug)]
struct File(i32, i32, i32, Option<u64>);

struct Placed {
    position: u32,
    min: i32,
    max: i32,
}

impl KeyRange for Placed {
    type Key = i32;

    fn min_key(&self) -> &i32 {
        &self.min
    }

    fn max_key(&self) -> &i32 {
        &self.max
    }
}

fn sections(files: &[File]) -> Vec<Section<u32>> {
    let placed = files
        .iter()
        .zip(0u32..)
        .map(|(&File(_, min, max, _), position)| Placed { position, min, max })
        .collect();
    let run = |run: Vec<Placed>| run.iter().map(|file| file.position).collect();
    interval_partition(placed, Ord::cmp)
        .into_iter()
        .map(|section| section.into_iter().map(run).collect())
        .collect()
}

fn shapes(files: &[File], size: u64) -> Vec<FileShape> {
    files
        .iter()
        .map(|&File(level, _, _, delete_row_count)| FileShape {
            file_size: size,
            level,
            delete_row_count,
            min_sequence_number: 0,
        })
        .collect()
}

/// The splits as text: positions of the files and the rule, ` / ` between splits.
fn plan(files: &[File], settings: SplitSettings) -> String {
    let splits = merge_tree_splits(&shapes(files, MIB), &settings, || Ok(sections(files))).unwrap();
    let drawn = splits
        .iter()
        .map(|split| format!("{:?} {:?}", split.files, split.why));
    drawn.collect::<Vec<_>>().join(" / ")
}

fn small_target() -> SplitSettings {
    SplitSettings {
        target_size: 4 * MIB,
        ..SplitSettings::default()
    }
}

#[test]
fn lab_cases_split_as_the_reference_splits_them() {
    let a = File(0, 1, 100, Some(0));
    let next = File(0, 101, 200, Some(0));
    let overlap = File(0, 51, 150, Some(0));
    let default = SplitSettings::default();
    assert_eq!(plan(&[a], default), "[0] LoneFile"); // RP-400
    assert_eq!(plan(&[a, next], default), "[0, 1] SharedSplit"); // RP-401
    assert_eq!(plan(&[a, overlap], default), "[0, 1] Overlap"); // RP-402
    assert_eq!(
        plan(&[a, next], small_target()),
        "[0] LoneFile / [1] LoneFile"
    ); // RP-420
    assert_eq!(plan(&[a, overlap], small_target()), "[0, 1] Overlap"); // RP-421
    assert_eq!(plan(&[File(0, 1, 100, None)], default), "[0] LoneFile"); // RP-427
    assert_eq!(plan(&[], default), ""); // RP-428
}

#[test]
fn lab_cases_after_a_compaction_split_as_the_reference_splits_them() {
    let compacted = File(5, 1, 100, Some(0));
    let low = File(5, 1, 75, Some(0));
    let high = File(5, 76, 150, Some(0));
    let delete = File(0, 5, 5, Some(1));
    let default = SplitSettings::default();
    assert_eq!(plan(&[compacted], default), "[0] OneLevel"); // RP-403
    assert_eq!(plan(&[compacted, delete], default), "[1, 0] Overlap"); // RP-404
    assert_eq!(plan(&[compacted, delete], small_target()), "[1, 0] Overlap"); // RP-422
    assert_eq!(plan(&[high, low], default), "[0, 1] OneLevel"); // RP-423: manifest order, not key order
    assert_eq!(
        plan(&[low, high], small_target()),
        "[0] OneLevel / [1] OneLevel"
    ); // RP-424
    assert_eq!(
        plan(&[compacted, File(4, 101, 150, Some(0))], default),
        "[0, 1] SharedSplit"
    ); // RP-425
}

#[test]
fn delete_rows_close_the_raw_rules() {
    let deletes = File(5, 1, 9, Some(3));
    assert_eq!(plan(&[deletes], SplitSettings::default()), "[0] DeleteRows"); // RP-561
    let other = File(5, 10, 19, Some(0));
    assert_eq!(
        plan(&[other, deletes], small_target()),
        "[1] DeleteRows / [0] LoneFile"
    ); // RP-562
    assert_eq!(
        plan(&[other, deletes], SplitSettings::default()),
        "[1, 0] SharedSplit"
    );
}

#[test]
fn a_level_zero_file_takes_its_bin_along() {
    // RP-563: two level-5 files are sections of their own, but share the bin.
    let files = [(5, 1, 9), (5, 10, 19), (5, 20, 29), (0, 12, 13)]
        .map(|(level, min, max)| File(level, min, max, Some(0)));
    assert_eq!(
        plan(&files, SplitSettings::default()),
        "[0, 3, 1, 2] Overlap"
    );
    // RP-560
    assert_eq!(
        plan(&files, small_target()),
        "[0] LoneFile / [3, 1] Overlap / [2] LoneFile"
    );
}

#[test]
fn worked_example_packs_whole_sections() {
    // RP-137
    let files = [
        (1, 9),
        (4, 12),
        (12, 20),
        (21, 40),
        (22, 30),
        (31, 39),
        (50, 60),
    ]
    .map(|(min, max)| File(0, min, max, Some(0)));
    let settings = SplitSettings {
        target_size: 8 * MIB,
        ..SplitSettings::default()
    };
    let splits =
        merge_tree_splits(&shapes(&files, MIB), &settings, || Ok(sections(&files))).unwrap();
    assert_eq!(
        splits,
        [
            SplitShape {
                files: vec![1, 0, 2, 4, 5, 3],
                sections: vec![vec![1, 2], vec![2, 1]],
                why: Why::Overlap,
            },
            SplitShape {
                files: vec![6],
                sections: vec![vec![1]],
                why: Why::LoneFile
            },
        ]
    );
}

#[test]
fn deletion_vectors_and_first_row_mix_levels_unless_level_zero_is_there() {
    // RP-123, RP-126, RP-430, RP-435, RP-441
    let levels = [File(5, 1, 100, Some(0)), File(4, 51, 60, Some(0))];
    let vectors = SplitSettings {
        deletion_vectors: true,
        ..SplitSettings::default()
    };
    let first_row = SplitSettings {
        first_row: true,
        ..SplitSettings::default()
    };
    assert_eq!(plan(&levels, vectors), "[0, 1] DeletionVectors");
    assert_eq!(plan(&levels, first_row), "[0, 1] FirstRow");
    let with_level_zero = [levels[0], File(0, 5, 5, Some(1))];
    assert_eq!(plan(&with_level_zero, vectors), "[1, 0] Overlap");
}

#[test]
fn keys_are_not_looked_at_when_the_whole_bucket_is_raw() {
    let files = shapes(&[File(5, 1, 2, Some(0))], MIB);
    let splits = merge_tree_splits(&files, &SplitSettings::default(), || {
        panic!("keys are not needed")
    });
    assert_eq!(splits.unwrap().len(), 1);
}

#[test]
fn tiny_files_of_one_section_weigh_one_open_file_cost() {
    // RP-124, RP-566
    let mut files = vec![File(0, 1, 100, Some(0)); 40];
    files.push(File(0, 200, 300, Some(0)));
    let bins: Vec<usize> = merge_tree_splits(
        &shapes(&files, 10),
        &SplitSettings {
            target_size: 8 * MIB,
            ..SplitSettings::default()
        },
        || Ok(sections(&files)),
    )
    .unwrap()
    .iter()
    .map(|split| split.files.len())
    .collect();
    assert_eq!(bins, [41]);
}

#[test]
fn streaming_gives_one_split_in_plan_order() {
    // RP-150
    let files = shapes(&[File(0, 5, 9, Some(1)), File(5, 1, 9, Some(0))], MIB);
    let split = merge_tree_splits_for_streaming(&files).unwrap();
    assert_eq!((split.files, split.why.is_raw()), (vec![0, 1], true));
    assert_eq!(merge_tree_splits_for_streaming(&[]), None);
}

fn any_files() -> impl Strategy<Value = Vec<File>> {
    let file = (0i32..3, 0i32..40, 0i32..8, prop::option::of(0u64..2));
    prop::collection::vec(
        file.prop_map(|(level, min, length, deletes)| File(level, min, min + length, deletes)),
        0..20,
    )
}

proptest! {
    #[test]
    fn splits_lose_nothing_and_raw_means_no_merge_is_needed(
        files in any_files(),
        size in 0u64..6,
        target in 1u64..20,
        deletion_vectors: bool,
        first_row: bool,
    ) {
        let settings = SplitSettings { target_size: target, open_file_cost: 2, deletion_vectors, first_row };
        let shapes = shapes(&files, size);
        let splits = merge_tree_splits(&shapes, &settings, || Ok(sections(&files))).unwrap();

        let mut seen: Vec<u32> = splits.iter().flat_map(|split| split.files.clone()).collect();
        seen.sort_unstable();
        prop_assert_eq!(seen, (0u32..).take(files.len()).collect::<Vec<_>>());

        let whole_bucket = bucket_is_raw(&shapes, &settings);
        for split in &splits {
            let runs: u32 = split.sections.iter().flatten().sum();
            prop_assert!(split.sections.is_empty() || runs as usize == split.files.len());
            if split.why.is_raw() {
                let in_split = |file: &u32| shapes[*file as usize];
                prop_assert!(split.files.iter().map(in_split).all(|file| file.may_be_raw()));
                prop_assert!(whole_bucket.is_some() || split.files.len() == 1);
            } else {
                prop_assert!(whole_bucket.is_none());
            }
        }
        // Two files that overlap are in one split, unless the whole bucket is raw.
        if whole_bucket.is_none() {
            let split_of = |file: u32| splits.iter().position(|split| split.files.contains(&file));
            for (i, a) in (0u32..).zip(&files) {
                for (j, b) in (0u32..).zip(&files) {
                    if a.1 <= b.2 && b.1 <= a.2 {
                        prop_assert_eq!(split_of(i), split_of(j));
                    }
                }
            }
        }
    }
}
