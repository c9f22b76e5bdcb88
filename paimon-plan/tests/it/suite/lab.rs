//! The lab tables: why their splits are raw or merged, and what would help.

use paimon_plan::{Advice, Obstacle, ScanRequest, Why};

use super::tables::{golden, planned};

fn reasons(case: &str, options: &[(&str, &str)]) -> Vec<(Why, Vec<Obstacle>, Option<u64>)> {
    let plan = planned(&golden(case), options, |_| ScanRequest::default()).unwrap();
    plan.iter()
        .map(|split| (split.why(), split.obstacles(), split.exact_row_count()))
        .collect()
}

fn advice(case: &str) -> Vec<Advice> {
    planned(&golden(case), &[], |_| ScanRequest::default())
        .unwrap()
        .what_would_help()
}

#[test]
fn every_lab_table_tells_its_reason() {
    // RP-400 to RP-404
    assert_eq!(
        reasons("lab_r_one", &[]),
        [(Why::LoneFile, vec![Obstacle::LevelZero(vec![0])], Some(100))]
    );
    let level_zero = vec![Obstacle::LevelZero(vec![0, 1])];
    assert_eq!(
        reasons("lab_r_disjoint", &[]),
        [(Why::SharedSplit, level_zero.clone(), Some(200))]
    );
    assert_eq!(
        reasons("lab_r_overlap", &[]),
        [(Why::Overlap, level_zero, None)]
    );
    assert_eq!(
        reasons("lab_r_compact", &[]),
        [(Why::OneLevel, vec![], Some(150))]
    );
    let (why, obstacles, rows) = reasons("lab_r_delete", &[]).remove(0);
    assert_eq!(rows, None);
    assert_eq!(why, Why::Overlap);
    assert_eq!(
        obstacles[..2],
        [Obstacle::LevelZero(vec![0]), Obstacle::DeleteRows(vec![0])]
    );
}

#[test]
fn small_target_keeps_sections_apart() {
    // RP-420, RP-421
    let small = [("source.split.target-size", "4mb")];
    let whys = |case| {
        reasons(case, &small)
            .into_iter()
            .map(|(why, ..)| why)
            .collect::<Vec<_>>()
    };
    assert_eq!(whys("lab_r_disjoint"), [Why::LoneFile, Why::LoneFile]);
    assert_eq!(whys("lab_r_overlap"), [Why::Overlap]);
}

#[test]
fn advice_names_what_the_lab_shows() {
    let target = Advice::TargetSize {
        bytes: 4 << 20,
        splits: 1,
        raw_splits: 2,
    };
    assert_eq!(advice("lab_r_disjoint"), [target]);
    assert_eq!(
        advice("lab_r_overlap"),
        [
            Advice::FullCompaction {
                splits: 1,
                rows: 200
            },
            Advice::DeletionVectors { splits: 1 }
        ]
    );
    assert_eq!(advice("lab_r_compact"), []);
}
