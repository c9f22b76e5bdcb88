use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{KeyRange, Section, interval_partition};

#[derive(Clone, Debug, PartialEq)]
struct File {
    name: String,
    min: i32,
    max: i32,
}

impl KeyRange for File {
    type Key = i32;

    fn min_key(&self) -> &i32 {
        &self.min
    }

    fn max_key(&self) -> &i32 {
        &self.max
    }
}

fn files(ranges: &[(&str, i32, i32)]) -> Vec<File> {
    ranges
        .iter()
        .map(|&(name, min, max)| File {
            name: name.to_owned(),
            min,
            max,
        })
        .collect()
}

/// Sections as text: runs in order, `|` between sections.
fn drawn(ranges: &[(&str, i32, i32)]) -> String {
    let sections = interval_partition(files(ranges), Ord::cmp);
    let run = |run: &Vec<File>| {
        run.iter()
            .map(|file| file.name.as_str())
            .collect::<String>()
    };
    let section = |section: &Section<File>| section.iter().map(run).collect::<Vec<_>>().join(" ");
    sections.iter().map(section).collect::<Vec<_>>().join(" | ")
}

#[test]
fn worked_example_gives_its_sections_and_heap_order() {
    // RP-137
    let ranges = [
        ("a", 1, 9),
        ("b", 4, 12),
        ("c", 12, 20),
        ("d", 21, 40),
        ("e", 22, 30),
        ("f", 31, 39),
        ("g", 50, 60),
    ];
    assert_eq!(drawn(&ranges), "b ac | ef d | g");
}

#[test]
fn equal_boundary_keys_stay_in_one_section() {
    // RP-131, RP-508
    assert_eq!(drawn(&[("a", 1, 10), ("b", 10, 20)]), "a b");
    assert_eq!(drawn(&[("a", 1, 10), ("b", 11, 20)]), "a | b");
}

#[test]
fn short_file_inside_a_long_one_comes_first() {
    // RP-404, RP-509
    assert_eq!(drawn(&[("C", 1, 100), ("D", 5, 5)]), "D C");
}

#[test]
fn identical_ranges_come_out_in_heap_order() {
    // RP-136
    assert_eq!(drawn(&[("x", 1, 5), ("y", 1, 5), ("z", 1, 5)]), "x z y");
    assert_eq!(drawn(&[("x", 1, 5), ("y", 1, 5)]), "y x");
}

#[test]
fn negative_keys_sort_before_positive_ones() {
    // RP-511
    assert_eq!(drawn(&[("b", 0, 3), ("a", -5, -1)]), "a | b");
}

#[test]
fn one_long_file_holds_a_section_together() {
    assert_eq!(
        drawn(&[("a", 1, 2), ("b", 3, 4), ("long", 0, 9), ("c", 5, 6)]),
        "abc long"
    );
}

#[test]
fn no_files_give_no_section() {
    assert_eq!(drawn(&[]), "");
}

/// Files over a small key space, so that many overlap, touch and coincide.
fn any_files() -> impl Strategy<Value = Vec<File>> {
    prop::collection::vec((0i32..40, 0i32..10), 0..25).prop_map(|ranges| {
        ranges
            .into_iter()
            .enumerate()
            .map(|(index, (min, length))| File {
                name: index.to_string(),
                min,
                max: min + length,
            })
            .collect()
    })
}

/// The largest number of files that hold one key: no partition into fewer runs exists.
fn depth(files: &[File]) -> usize {
    let mut edges: BTreeMap<i32, isize> = BTreeMap::new();
    for file in files {
        *edges.entry(file.min).or_default() += 1;
        *edges.entry(file.max + 1).or_default() -= 1;
    }
    let mut open = 0;
    edges
        .values()
        .map(|edge| {
            open += edge;
            open
        })
        .max()
        .unwrap_or(0)
        .try_into()
        .unwrap()
}

proptest! {
    #[test]
    fn sections_and_runs_obey_their_laws(files in any_files()) {
        let sections = interval_partition(files.clone(), Ord::cmp);
        let flat: Vec<Vec<&File>> = sections.iter().map(|section| section.iter().flatten().collect()).collect();

        let mut found: Vec<&File> = flat.iter().flatten().copied().collect();
        found.sort_by_key(|file| file.name.parse::<usize>().unwrap());
        prop_assert_eq!(found, files.iter().collect::<Vec<_>>(), "nothing lost, nothing twice");

        for (section, next) in flat.iter().zip(flat.iter().skip(1)) {
            let end = section.iter().map(|file| file.max).max();
            prop_assert!(end < next.iter().map(|file| file.min).min(), "two sections never overlap");
        }
        for (section, files) in sections.iter().zip(&flat) {
            for run in section {
                prop_assert!(!run.is_empty());
                prop_assert!(run.windows(2).all(|pair| pair[0].max < pair[1].min), "files of a run never overlap");
            }
            let files: Vec<File> = files.iter().map(|&file| file.clone()).collect();
            prop_assert_eq!(section.len(), depth(&files), "no more runs than needed");
            // RP-133: one run is the same as one file.
            prop_assert_eq!(section.len() == 1, files.len() == 1);
        }
    }

    #[test]
    fn first_run_ends_first_and_runs_form_a_heap(files in any_files()) {
        // RP-134
        for section in interval_partition(files, Ord::cmp) {
            let ends: Vec<i32> = section.iter().map(|run| run.last().unwrap().max).collect();
            for child in 1..ends.len() {
                prop_assert!(ends[(child - 1) / 2] <= ends[child]);
            }
        }
    }
}
