use paimon_meta::{
    DataFileMeta, Datum, DeletionVectorRange, FieldId, ResolvedTable, SimpleStats, TypeKind,
};

use super::*;
use crate::generate::Why;
use crate::layout::{LayoutRules, lay_out};
use crate::pruning::StepResult;
use crate::testing::{file, files, ints, schema};

/// A plan of buckets of one partition, all with `INT` keys.
fn plan_of(buckets: &[&[DataFileMeta]], settings: SplitSettings) -> Plan {
    let of_bucket = |(bucket, files): (i32, &&[DataFileMeta])| {
        files
            .iter()
            .map(move |file| (1, bucket, file.clone()))
            .collect::<Vec<_>>()
    };
    let table = files(&(0..).zip(buckets).flat_map(of_bucket).collect::<Vec<_>>());
    let mut next = 0u32..;
    let indexes = buckets
        .iter()
        .map(|files| next.by_ref().take(files.len()).collect())
        .collect();
    let key = TypeKind::Int.not_null();
    let rules = LayoutRules {
        settings,
        key_types: Some(vec![&key]),
        sort_partitions: None,
        limit: None,
        vectors: None,
        as_given: false,
        streaming: None,
    };
    let layout = lay_out(&table, indexes, &rules).unwrap();
    Plan {
        snapshot_id: Some(7),
        files: table.permute(&layout.order).unwrap(),
        splits: layout.splits,
        run_ends: layout.run_ends,
        section_ends: layout.section_ends,
        bucket_parents: vec!["p=1/".to_owned()],
        vectors: None,
        streaming: false,
        fallback: None,
        after_starts: Vec::new(),
        table: PlannedTable {
            settings,
            key: vec![(FieldId(0), key)],
            merge_on_read: false,
        },
        conjuncts: Vec::new(),
        pruning: Pruning::default(),
    }
}

fn plan(files: &[DataFileMeta]) -> Plan {
    plan_of(&[files], SplitSettings::default())
}

fn deletes(file: DataFileMeta, delete_row_count: Option<u64>) -> DataFileMeta {
    DataFileMeta {
        delete_row_count,
        ..file
    }
}

#[test]
fn split_leaves_the_plan_whole() {
    // RP-112
    let plan = plan(&[file("a", 0, 1, 100), file("b", 0, 51, 150)]);
    let Split::Data(split) = plan.split(0).unwrap() else {
        panic!("a data split")
    };
    let names: Vec<&str> = split
        .files
        .iter()
        .map(|file| file.file_name.as_str())
        .collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(
        (split.snapshot_id, split.bucket, split.total_buckets),
        (7, 0, Some(4))
    );
    assert_eq!(split.bucket_path, "p=1/bucket-0");
    assert_eq!(
        (split.raw_convertible, split.streaming, split.deletion_files),
        (false, false, None)
    );
    assert_eq!(split.partition, ints(&[Some(1)]));
    assert_eq!(
        plan.split(1).unwrap_err().kind(),
        paimon_meta::ErrorKind::InvalidInput
    );
}

#[test]
fn plans_cross_a_wire() {
    let plan = plan_of(
        &[
            &[file("a", 0, 1, 100), file("b", 0, 51, 150)],
            &[file("c", 5, 1, 9)],
        ],
        SplitSettings::default(),
    );
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
}

#[test]
fn plan_that_says_more_than_it_holds_does_not_panic() {
    let mut plan = plan(&[file("a", 0, 1, 100), file("b", 0, 51, 150)]);
    for entry in &mut plan.splits {
        (entry.files_end, entry.runs_end, entry.sections_end) = (9, 9, 9);
    }
    plan.run_ends.iter_mut().for_each(|end| *end += 70);
    plan.section_ends.iter_mut().for_each(|end| *end += 70);
    plan.bucket_parents.clear();
    let split = plan.get(0).unwrap();
    split.sections();
    split.obstacles();
    split.section_row_counts();
    split.overlaps().for_each(drop);
    assert!(plan.split(0).is_ok());
}

#[test]
fn sections_are_ranges_of_the_plans_files() {
    // RP-137
    let ranges = [
        (1, 9),
        (4, 12),
        (12, 20),
        (21, 40),
        (22, 30),
        (31, 39),
        (50, 60),
    ];
    let files: Vec<_> = ranges
        .iter()
        .map(|(min, max)| file(&format!("{min}"), 0, *min, *max))
        .collect();
    let plan = plan(&files);
    assert_eq!(
        plan.get(0).unwrap().sections(),
        [vec![0..1, 1..3], vec![3..5, 5..6], vec![6..7]]
    );
}

#[test]
fn rows_are_exact_where_sections_have_one_run_and_no_deletes() {
    // RP-180, RP-181, RP-700
    let counts = |files: &[DataFileMeta]| {
        let plan = plan(files);
        let split = plan.get(0).unwrap();
        (
            split.merged_row_count(),
            split.exact_row_count(),
            split.section_row_counts(),
        )
    };
    let (a, b) = (file("a", 0, 1, 100), file("b", 0, 101, 200));
    assert_eq!(
        counts(std::slice::from_ref(&a)),
        (Some(10), Some(10), vec![Some(10)])
    );
    assert_eq!(
        counts(&[a.clone(), b.clone()]),
        (None, Some(20), vec![Some(10), Some(10)])
    );
    assert_eq!(
        counts(&[a.clone(), file("c", 0, 50, 60), b.clone()]),
        (None, None, vec![None, Some(10)])
    );
    assert_eq!(
        counts(&[a.clone(), deletes(b.clone(), Some(1))]),
        (None, None, vec![Some(10), None])
    );
    assert_eq!(counts(&[deletes(a, None)]), (Some(10), None, vec![None]));
    let level = [file("a", 5, 1, 9), file("b", 5, 10, 19)];
    assert_eq!(counts(&level), (Some(20), Some(20), vec![Some(20)]));
}

#[test]
fn obstacles_name_files_of_the_whole_bucket() {
    // RP-563: with a small target the level-0 file is in another split, and still keeps this one from being raw.
    let settings = SplitSettings {
        target_size: 1,
        open_file_cost: 1,
        ..SplitSettings::default()
    };
    let bucket = [
        deletes(file("deletes", 5, 1, 9), Some(2)),
        file("zero", 0, 20, 29),
        file("other", 4, 40, 49),
    ];
    let plan = plan_of(&[&bucket, &[file("raw", 5, 1, 2)]], settings);
    let expected = [
        Obstacle::LevelZero(vec![1]),
        Obstacle::DeleteRows(vec![0]),
        Obstacle::SeveralLevels(vec![0, 4, 5]),
    ];
    let whys: Vec<Why> = plan.iter().map(|split| split.why()).collect();
    assert_eq!(
        whys,
        [Why::DeleteRows, Why::LoneFile, Why::LoneFile, Why::OneLevel]
    );
    for split in plan.iter().take(3) {
        assert_eq!(split.obstacles(), expected, "split {}", split.index());
    }
    assert_eq!(plan.get(3).unwrap().obstacles(), []);
}

#[test]
fn overlaps_are_pairs_with_the_keys_that_both_may_hold() {
    let plan = plan(&[
        file("a", 0, 1, 100),
        file("b", 0, 51, 150),
        file("c", 0, 140, 160),
        file("d", 0, 500, 600),
    ]);
    let found: Vec<Overlap> = plan
        .get(0)
        .unwrap()
        .overlaps()
        .collect::<Result<_>>()
        .unwrap();
    let key = |value| vec![Some(Datum::Int(value))];
    let pairs: Vec<_> = found
        .iter()
        .map(|overlap| {
            let name = |file: u32| plan.files().file_name(file as usize).to_owned();
            let mut names = overlap.files.map(name);
            names.sort();
            (
                overlap.section,
                names.concat(),
                overlap.from.clone(),
                overlap.to.clone(),
            )
        })
        .collect();
    let expected = [
        (0, "ab".to_owned(), key(51), key(100)),
        (0, "bc".to_owned(), key(140), key(150)),
    ];
    assert_eq!(pairs.len(), 2);
    assert!(
        expected.iter().all(|pair| pairs.contains(pair)),
        "{pairs:?}"
    );
}

#[test]
fn advice_fits_the_reason() {
    let (a, b, over) = (
        file("a", 0, 1, 100),
        file("b", 0, 101, 200),
        file("c", 0, 51, 150),
    );
    assert_eq!(plan(&[file("raw", 5, 1, 9)]).what_would_help(), []);
    assert_eq!(
        plan(&[a.clone(), b]).what_would_help(),
        [Advice::TargetSize {
            bytes: 4 << 20,
            splits: 1,
            raw_splits: 2
        }]
    );
    assert_eq!(
        plan(&[a, over]).what_would_help(),
        [
            Advice::FullCompaction {
                splits: 1,
                rows: 20
            },
            Advice::DeletionVectors { splits: 1 }
        ]
    );
}

#[test]
fn hidden_rows_are_told_and_how_to_see_them() {
    // RP-076
    let vectors = SplitSettings {
        deletion_vectors: true,
        ..SplitSettings::default()
    };
    let mut plan = plan_of(&[&[file("raw", 5, 1, 9)]], vectors);
    let hidden = FileTotals {
        files: 1,
        rows: 2,
        bytes: 3,
    };
    let before = FileTotals {
        files: 2,
        rows: 12,
        bytes: 103,
    };
    let after = FileTotals {
        files: 1,
        rows: 10,
        bytes: 100,
    };
    plan.pruning.steps = vec![StepResult {
        step: PruneStep::HiddenLevel,
        before,
        after,
    }];
    assert_eq!(plan.hidden(), hidden);
    assert_eq!(
        plan.what_would_help(),
        [
            Advice::Compaction { hidden },
            Advice::MergeOnRead { hidden }
        ]
    );
}

/// A table of `k INT` and `v STRING` with one older schema of `k INT` alone.
fn table() -> ResolvedTable {
    let old = schema(
        0,
        &[(0, "k", "INT NOT NULL"), (2, "p", "INT NOT NULL")],
        &["p", "k"],
        &["p"],
    );
    let columns = [
        (0, "k", "INT NOT NULL"),
        (1, "v", "STRING"),
        (2, "p", "INT NOT NULL"),
    ];
    let now = schema(1, &columns, &["p", "k"], &["p"]);
    ResolvedTable {
        location: "/t".to_owned(),
        branch: "main".to_owned(),
        options: paimon_meta::Options::default(),
        snapshot: None,
        schema: now.clone(),
        schemas: [(0, old), (1, now)].into(),
        time_zone: "UTC".to_owned(),
        changes: None,
        fallback: None,
    }
}

#[test]
fn statistics_are_exact_where_every_row_is_returned() {
    // RP-185
    let with_stats = |name, min, max| DataFileMeta {
        value_stats: SimpleStats {
            min_values: ints(&[Some(min), Some(1)]),
            max_values: ints(&[Some(max), Some(1)]),
            null_counts: Some(vec![Some(0), Some(0)]),
        },
        ..file(name, 5, min, max)
    };
    let files = [with_stats("a", 1, 9), with_stats("b", 10, 19)];
    let of = |files: &[DataFileMeta]| plan(files).statistics(&table()).unwrap();

    let statistics = of(&files);
    assert_eq!(
        (statistics.rows, statistics.bytes),
        (Precision::Exact(20), 200)
    );
    let column = |index: usize| statistics.columns[index].clone();
    assert_eq!(column(0).min, Precision::Exact(Datum::Int(1)));
    assert_eq!(column(0).max, Precision::Exact(Datum::Int(19)));
    // Added later: null in both files.
    assert_eq!(
        (column(1).min, column(1).nulls),
        (Precision::Absent, Precision::Exact(20))
    );
    // The partition's value, whatever the file says.
    assert_eq!(column(2).max, Precision::Exact(Datum::Int(1)));

    let merged = of(&[
        files[0].clone(),
        DataFileMeta {
            level: 0,
            ..files[0].clone()
        },
    ]);
    assert_eq!(merged.rows, Precision::Inexact(20));
    assert_eq!(merged.columns[0].max, Precision::Inexact(Datum::Int(9)));

    let unknown = of(&[DataFileMeta {
        value_stats: SimpleStats::default(),
        ..files[0].clone()
    }]);
    assert_eq!(
        (unknown.columns[0].min.clone(), unknown.columns[0].nulls),
        (Precision::Absent, Precision::Absent)
    );
}

/// A plan of raw files, each with the cardinality of its vector.
fn deleted(files: &[DataFileMeta], cardinalities: &[Option<Option<u64>>]) -> Plan {
    let settings = SplitSettings {
        deletion_vectors: true,
        ..SplitSettings::default()
    };
    let mut plan = plan_of(&[files], settings);
    let mut vectors = PlannedVectors::default();
    let path = vectors.add_path("index/i".to_owned());
    for (file, cardinality) in (0..).zip(cardinalities) {
        if let Some(cardinality) = *cardinality {
            let range = DeletionVectorRange {
                data_file: "a".to_owned(),
                offset: 1,
                length: 26,
                cardinality,
            };
            vectors.push(file, path, &range);
        }
    }
    plan.vectors = Some(vectors);
    plan
}

#[test]
fn vectors_take_their_rows_off_the_counts() {
    // RP-180, RP-182
    let files = [file("a", 5, 1, 100), file("b", 4, 50, 60)];
    let counts = |cardinalities: &[_]| {
        let plan = deleted(&files, cardinalities);
        let split = plan.get(0).unwrap();
        assert_eq!(split.why(), Why::DeletionVectors);
        (split.merged_row_count(), plan.exact_row_count())
    };
    assert_eq!(counts(&[None, None]), (Some(20), Some(20)));
    assert_eq!(counts(&[Some(Some(3)), None]), (Some(17), Some(17)));
    assert_eq!(counts(&[Some(Some(3)), Some(None)]), (None, None));
    // More than the file has: reading will say so.
    assert_eq!(counts(&[Some(Some(21)), None]), (None, None));
}

#[test]
fn splits_have_a_place_for_the_vector_of_every_file() {
    // RP-113, RP-569
    let files = [file("a", 5, 1, 100), file("b", 4, 50, 60)];
    let vectors = |plan: &Plan| {
        let Split::Data(split) = plan.split(0).unwrap() else {
            panic!("another split");
        };
        split.deletion_files
    };
    let found = vectors(&deleted(&files, &[None, Some(Some(3))])).unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!(found[0], None);
    assert_eq!(found[1].as_ref().unwrap().path, "index/i");
    assert_eq!(vectors(&deleted(&files, &[])), Some(vec![None, None]));
    assert_eq!(vectors(&plan(&files)), None);
}

#[test]
fn sections_of_one_run_count_without_their_deleted_rows() {
    // RP-184, RP-435: with a file on level 0 the bucket is merged, section by section.
    let files = [
        file("a", 5, 1, 10),
        file("b", 5, 20, 30),
        file("c", 0, 25, 26),
    ];
    let plan = deleted(&files, &[Some(Some(4))]);
    let split = plan.get(0).unwrap();
    assert_eq!(split.section_row_counts(), [Some(6), None]);
    assert_eq!(
        (split.merged_row_count(), plan.exact_row_count()),
        (None, None)
    );
}
