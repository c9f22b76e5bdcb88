//! Runs the histories and reports what differs.

use std::path::{Path, PathBuf};
use std::process::exit;
use std::sync::Mutex;

use paimon_testkit::{
    GoldenCase, Layout, NotYet, Reference, ReferenceJob, ReferenceTable, WriterVersion, write_table,
};

use crate::axes::{AXES, Axis, Case, Writer};
use crate::changes;
use crate::coverage::Coverage;
use crate::crossing;
use crate::differences::DIFFERENCES;
use crate::library::{ROUTES, check_case};
use crate::oracle::Oracle;

/// Histories of each axis and writer.
const HISTORIES: u64 = 200;

/// Axes that run at once, each with a process of the reference.
const AT_ONCE: usize = 2;

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
    // Arguments are names of axes; without one all are run.
    let names = std::env::args().skip(1);
    let names: Vec<String> = names.filter(|name| !name.starts_with('-')).collect();
    let asked = |name: &str| names.is_empty() || names.iter().any(|other| other == name);
    let axes = AXES.iter().filter(|axis| asked(axis.name));
    let parts = PARTS.iter().filter(|(name, _)| asked(name));
    let runs = axes.flat_map(|axis| axis.writers.iter().map(move |writer| (axis, *writer)));
    let mut runs: Vec<(&Axis, Writer)> = runs.collect();
    let histories = number("PAIMON_REFERENCE_HISTORIES").unwrap_or(HISTORIES);
    if variable("PAIMON_REFERENCE").is_none_or(|value| value != "require") {
        println!(
            "skipped {} histories: PAIMON_REFERENCE is not 'require'",
            (runs.len() + parts.count()) as u64 * histories
        );
        return;
    }
    check_differences();
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("reference");
    let judge = Judge {
        reference: Reference::build(&directory.join("build")).unwrap(),
        first: number("PAIMON_REFERENCE_SEED").unwrap_or(0),
        histories,
        directory,
    };
    runs.reverse();
    let (runs, done) = (Mutex::new(runs), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let next = runs.lock().unwrap().pop();
                    let Some((axis, writer)) = next else { break };
                    let verdict = judge.run(axis, writer);
                    done.lock().unwrap().push(verdict);
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.extend(parts.map(|(name, differences)| judge.part(name, *differences)));
    report(&done);
}

/// What the tables of seeds came across, which are written in a directory, and what differs.
type Part = fn(&Reference, &Path, &[u64]) -> (Coverage, Vec<String>);

/// What is run beside the axes.
const PARTS: [(&str, Part); 2] = [
    ("changes", changes::histories),
    ("splits", crossing::splits),
];

/// Every difference is in the list for readers too.
fn check_differences() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/differences.md");
    let text = std::fs::read_to_string(path).unwrap();
    for difference in DIFFERENCES {
        let line = format!("| {} | {} |", difference.number, difference.what);
        assert!(
            text.contains(&line),
            "docs/differences.md has no line {line}"
        );
    }
}

/// What came of the histories of an axis by one writer.
struct Verdicts {
    title: String,
    coverage: Coverage,
    wrong: Vec<String>,
}

fn report(runs: &[Verdicts]) {
    let wrong: Vec<&String> = runs.iter().flat_map(|run| &run.wrong).collect();
    for message in &wrong {
        println!("{message}\n");
    }
    for Verdicts {
        title, coverage, ..
    } in runs
    {
        println!("{title}: {coverage}");
    }
    let histories: usize = runs.iter().map(|run| run.coverage.histories).sum();
    println!("{histories} histories, {} differ", wrong.len());
    if !wrong.is_empty() {
        exit(1);
    }
}

struct Judge {
    reference: Reference,
    directory: PathBuf,
    first: u64,
    histories: u64,
}

/// A history that is run, and what the oracle says of it if the kit wrote it.
struct Run {
    seed: u64,
    case: Case,
    oracle: Option<Oracle>,
}

impl Judge {
    fn part(&self, name: &str, differences: Part) -> Verdicts {
        let directory = self.directory.join(name);
        if directory.exists() {
            std::fs::remove_dir_all(&directory).unwrap();
        }
        let seeds: Vec<u64> = (self.first..self.first + self.histories).collect();
        let (coverage, wrong) = differences(&self.reference, &directory, &seeds);
        Verdicts {
            title: name.to_owned(),
            coverage,
            wrong,
        }
    }

    fn run(&self, axis: &Axis, writer: Writer) -> Verdicts {
        let title = format!("{}, written by the {writer:?}", axis.name).to_lowercase();
        let directory = self.directory.join(title.replace([',', ' '], "-"));
        if directory.exists() {
            std::fs::remove_dir_all(&directory).unwrap();
        }
        let mut coverage = Coverage::default();
        let (mut runs, mut jobs) = (Vec::new(), Vec::new());
        for seed in self.first..self.first + self.histories {
            let (case, thrown) = axis.case(writer, seed);
            coverage.throw(&thrown);
            let (job, oracle) = job(&case, writer, seed, &directory);
            runs.push(Run { seed, case, oracle });
            jobs.push(job);
        }
        let answers = self
            .reference
            .answer(&jobs, &directory.join("answers"))
            .unwrap();
        let mut wrong = Vec::new();
        for (run, mut answer) in runs.into_iter().zip(answers) {
            answer.definition = run.case.text.clone();
            coverage.add(&answer);
            for what in differences(&run, &answer) {
                let history = &run.case.text;
                wrong.push(format!("{title}, seed {}: {what}\n{history}", run.seed));
            }
        }
        for feature in coverage.missing(axis) {
            wrong.push(format!(
                "{title}: too few histories for {feature:?}: {coverage}"
            ));
        }
        Verdicts {
            title,
            coverage,
            wrong,
        }
    }
}

fn job(case: &Case, writer: Writer, seed: u64, directory: &Path) -> (ReferenceJob, Option<Oracle>) {
    let name = format!("seed-{seed}");
    let (table, oracle) = match writer {
        Writer::Reference => (ReferenceTable::History(case.text.clone()), None),
        Writer::Kit => {
            let history = case.history();
            let written = write_table(&history, &layout(seed));
            let written = written.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{history}"));
            let table_dir = directory.join("tables").join(&name);
            written.save(&table_dir).unwrap();
            let oracle = Oracle::of(&written);
            (ReferenceTable::Written { table_dir }, Some(oracle))
        }
    };
    let reads = case.reads.clone();
    (ReferenceJob { name, table, reads }, oracle)
}

/// What differs between the oracle, the reference and this reader.
fn differences(run: &Run, answer: &GoldenCase) -> Vec<String> {
    let oracle = run
        .oracle
        .as_ref()
        .map_or(Ok(()), |oracle| oracle.check(answer));
    // One route a history, in turn: that all agree is for the golden suite and the laws.
    let route = usize::try_from(run.seed).unwrap() % ROUTES.len();
    let reader = check_case(answer, &NotYet::default(), &ROUTES[route..=route]);
    [oracle, reader]
        .into_iter()
        .filter_map(Result::err)
        .collect()
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
