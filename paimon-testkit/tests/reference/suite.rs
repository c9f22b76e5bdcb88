//! Runs the histories and reports what differs.

use std::path::{Path, PathBuf};
use std::process::exit;

use paimon_testkit::{
    GoldenCase, History, Layout, NotYet, Reference, ReferenceJob, ReferenceTable, RowDiff,
    WriterVersion, diff_rows, write_table,
};

use crate::changes;
use crate::crossing;
use crate::evolutions;
use crate::histories::{Case, ENGINES};
use crate::library;

/// Histories that are run each way.
const HISTORIES: u64 = 200;

#[expect(
    clippy::disallowed_methods,
    reason = "a test is told by its environment"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn number(name: &str) -> Option<u64> {
    variable(name).map(|text| text.parse().unwrap())
}

pub(crate) fn main() {
    // The protocol of test binaries asks for a list; there is one test.
    if std::env::args().any(|argument| argument == "--list") {
        println!("reference: test");
        return;
    }
    let histories = number("PAIMON_REFERENCE_HISTORIES").unwrap_or(HISTORIES);
    if variable("PAIMON_REFERENCE").is_none_or(|value| value != "require") {
        println!(
            "skipped {} histories: PAIMON_REFERENCE is not 'require'",
            (4 + ENGINES.len() as u64) * histories
        );
        return;
    }
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("reference");
    let reference = Reference::build(&directory.join("build")).unwrap();
    let first = number("PAIMON_REFERENCE_SEED").unwrap_or(0);
    let seeds: Vec<u64> = (first..first + histories).collect();
    // Arguments are names of parts to run; without one all are.
    let asked: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let runs = |part: &str| asked.is_empty() || asked.iter().any(|name| name == part);
    let mut wrong = Vec::new();
    let mut run = 0;
    // The oracle knows one engine so far.
    if runs("here") {
        run += seeds.len();
        wrong.extend(written_here(&reference, &directory.join("here"), &seeds));
    }
    for engine in ENGINES {
        if runs(engine) {
            run += seeds.len();
            let directory = directory.join(engine);
            wrong.extend(written_there(&reference, &directory, engine, &seeds));
        }
    }
    if runs("evolutions") {
        run += seeds.len();
        let directory = directory.join("evolutions");
        fresh(&directory);
        wrong.extend(evolutions::differences(&reference, &directory, &seeds));
    }
    let others: [(&str, Part); 2] = [
        ("changes", changes::histories),
        ("splits", crossing::splits),
    ];
    for (part, differences) in others {
        if runs(part) {
            run += seeds.len();
            let directory = directory.join(part);
            fresh(&directory);
            wrong.extend(differences(&reference, &directory, &seeds));
        }
    }
    for message in &wrong {
        println!("{message}\n");
    }
    println!("{run} histories, {} differ", wrong.len());
    if !wrong.is_empty() {
        exit(1);
    }
}

/// What differs in the tables of seeds, which are written in a directory.
type Part = fn(&Reference, &Path, &[u64]) -> Vec<String>;

fn fresh(directory: &Path) {
    if directory.exists() {
        std::fs::remove_dir_all(directory).unwrap();
    }
}

/// The kit writes, the reference reads: its rows are the oracle's, its plans and rows are ours.
fn written_here(reference: &Reference, directory: &Path, seeds: &[u64]) -> Vec<String> {
    fresh(directory);
    let mut jobs = Vec::new();
    let mut expected = Vec::new();
    for seed in seeds {
        let case = Case::of("deduplicate", *seed);
        let table = write_table(&case.history, &layout(*seed)).unwrap();
        let name = format!("seed-{seed}");
        let table_dir = directory.join("tables").join(&name);
        table.save(&table_dir).unwrap();
        expected.push(table.rows().unwrap());
        jobs.push(ReferenceJob {
            name,
            table: ReferenceTable::Written { table_dir },
            reads: case.reads,
        });
    }
    let answers = reference.answer(&jobs, &directory.join("answers")).unwrap();
    let mut wrong = Vec::new();
    for ((seed, answer), expected) in seeds.iter().zip(&answers).zip(expected) {
        let told = |what: String| {
            format!(
                "seed {seed}, written here: {what}\n{}",
                Case::of("deduplicate", *seed).history
            )
        };
        match &answer.reads[0].rows {
            Err(error) => wrong.push(told(format!("the reference fails: {error}"))),
            Ok(rows) => {
                if let Some(RowDiff { missing, extra, .. }) = difference(answer, &expected, rows) {
                    wrong.push(told(format!(
                        "the reference does not have {missing:?}, and has {extra:?}, which the oracle has not"
                    )));
                }
            }
        }
        if let Err(what) = library::check_case(answer, &NotYet::default()) {
            wrong.push(told(what));
        }
    }
    wrong
}

/// The reference writes, we read what it reads, by the same plans.
fn written_there(
    reference: &Reference,
    directory: &Path,
    engine: &str,
    seeds: &[u64],
) -> Vec<String> {
    fresh(directory);
    let job = |seed: &u64| {
        let case = Case::of(engine, *seed);
        ReferenceJob {
            name: format!("seed-{seed}"),
            table: ReferenceTable::History(serde_json::to_value(&case.history).unwrap()),
            reads: case.reads,
        }
    };
    let jobs: Vec<ReferenceJob> = seeds.iter().map(job).collect();
    let answers = reference.answer(&jobs, directory).unwrap();
    let checked = seeds.iter().zip(&answers).filter_map(|(seed, answer)| {
        let what = library::check_case(answer, &NotYet::default()).err()?;
        let history: History = Case::of(engine, *seed).history;
        Some(format!(
            "{engine}, seed {seed}, written by the reference: {what}\n{history}"
        ))
    });
    checked.collect()
}

fn difference(
    answer: &GoldenCase,
    expected: &[paimon_testkit::JsonRow],
    rows: &[paimon_testkit::JsonRow],
) -> Option<RowDiff> {
    let types: Vec<_> = answer.reads[0]
        .columns
        .iter()
        .map(|column| &column.data_type)
        .collect();
    diff_rows(&types, expected, rows)
}

/// Layouts in turn, so that all occur.
fn layout(seed: u64) -> Layout {
    let versions = [
        WriterVersion::V0_8,
        WriterVersion::V1_0,
        WriterVersion::V1_4,
        WriterVersion::V2_1,
    ];
    Layout {
        row_group_rows: [5, 1 << 20][usize::try_from(seed % 2).unwrap()],
        page_rows: 2,
        file_rows: [10, usize::MAX][usize::try_from(seed / 2 % 2).unwrap()],
        version: versions[usize::try_from(seed % 4).unwrap()],
        delete_row_counts: !seed.is_multiple_of(5),
        seed,
        ..Layout::default()
    }
}
