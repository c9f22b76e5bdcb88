//! Raw and merge reads beside plain decode of the same files, in one thread, and as parts in two.
//!
//! `cargo bench -p benches --bench read` measures rows per second of each with criterion, then all of a table in turn and
//! prints the ratios to plain decode (minimum and median): a busy machine slows both sides alike. With
//! `PAIMON_BENCH_KEYS=200000` it takes a minute; without, the tables have 4 M keys. `-- --ratios` leaves criterion out;
//! `-- --ratios five_runs` measures tables of that name alone, `-- --ratios five_runs aggregation` such reads of them
//! beside plain decode.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a bench that cannot go on stops, and prints its results"
)]

use std::fs;
use std::time::Instant;

use benches::once;
use benches::reads::{Case, cases, two_thread_cases};
use benches::setup::{keys, tables};
use criterion::{Criterion, Throughput};

/// Rounds of the interleaved measurement.
const ROUNDS: usize = 9;

fn main() {
    let has = |flag: &str| std::env::args().any(|argument| argument == flag);
    let (once, only_ratios) = (once(), has("--ratios"));
    let keys = if once { 20_000 } else { keys() };
    let mut criterion = Criterion::default().sample_size(10);
    if !only_ratios {
        criterion = criterion.configure_from_args();
    }
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| only_ratios && !argument.starts_with('-'))
        .collect();
    let is_wanted = |at: usize, name: &str| {
        let part = wanted.get(at);
        part.is_none_or(|part| name.starts_with(part.as_str()))
    };
    let tables = tables(keys, |name| is_wanted(0, name));
    for (name, table) in tables.expect("tables can be written") {
        let one = cases(&table).expect("the schema is one");
        let two = two_thread_cases(&table).expect("the files are there");
        for (name, mut cases) in [(name.clone(), one), (format!("{name}, 2 threads"), two)] {
            let base = cases[0].name;
            cases.retain(|case| case.name == base || is_wanted(1, case.name));
            if !only_ratios {
                measure(&mut criterion, &name, &cases);
            }
            if !once {
                ratios(&name, &cases);
            }
        }
    }
    criterion.final_summary();
}

fn measure(criterion: &mut Criterion, name: &str, cases: &[Case]) {
    let mut group = criterion.benchmark_group(name);
    for case in cases {
        let rows = (case.run)().expect("it reads").rows;
        group.throughput(Throughput::Elements(rows as u64));
        group.bench_function(case.name, |bencher| {
            bencher.iter(|| (case.run)().expect("it reads"));
        });
    }
    group.finish();
}

/// Runs all cases in turn and prints each one's times beside the first one's: wall clock, and time on the processor, which
/// other programs disturb less; of several threads the one that had most. And the most memory that was
/// resident in the first round, with what the cases before it left.
fn ratios(name: &str, cases: &[Case]) {
    let mut wall = vec![Vec::new(); cases.len()];
    let mut processor = vec![Vec::new(); cases.len()];
    let (mut rows, mut peak) = (vec![0; cases.len()], vec![0; cases.len()]);
    for round in 0..ROUNDS {
        for (index, case) in cases.iter().enumerate() {
            forget_peak();
            let begin = now();
            let done = (case.run)().expect("it reads");
            wall[index].push(begin.elapsed().as_secs_f64());
            rows[index] = done.rows;
            processor[index].push(done.seconds);
            // Later rounds also hold what buffers of other cases kept.
            if round == 0 {
                peak[index] = peak_resident();
            }
        }
    }
    println!("{name}: seconds minimum (median), times plain decode; {ROUNDS} rounds in turn");
    let base = (low(&wall[0]), low(&processor[0]));
    for (index, case) in cases.iter().enumerate() {
        let (time, cpu) = (low(&wall[index]), low(&processor[index]));
        println!(
            "  {:36} {:>9} rows  wall {:.3} ({:.3}) {:.2}x ({:.2}x)  processor {:.3} ({:.3}) {:.2}x ({:.2}x)  {} MB",
            case.name,
            rows[index],
            time.0,
            time.1,
            time.0 / base.0.0,
            time.1 / base.0.1,
            cpu.0,
            cpu.1,
            cpu.0 / base.1.0,
            cpu.1 / base.1.1,
            peak[index] / 1024,
        );
    }
}

#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
fn now() -> Instant {
    Instant::now()
}

/// Starts to count the most memory that is resident anew, where the system lets it.
fn forget_peak() {
    let _unless_refused = fs::write("/proc/self/clear_refs", "5");
}

/// The most memory that was resident, in KiB, where the system tells; else 0.
fn peak_resident() -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Minimum and median.
fn low(times: &[f64]) -> (f64, f64) {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    (times[0], times[times.len() / 2])
}
