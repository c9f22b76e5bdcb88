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
    reason = "a bench that cannot go on stops"
)]

use benches::once;
use benches::ratios::ratios;
use benches::reads::{Case, cases, two_thread_cases};
use benches::setup::{keys, tables};
use criterion::{Criterion, Throughput};

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
                ratios(&name, &cases).expect("it reads");
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
