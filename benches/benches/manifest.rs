//! Decoding a manifest: how many entries a second, on one core, and how many bytes of heap an entry takes after.
//!
//! `MANIFEST_ENTRIES=1000000 cargo bench -p benches --bench manifest`. Time is that of the thread on its core, which
//! neighbours on a shared machine disturb less than the clock on the wall (Linux only).

#![expect(
    clippy::expect_used,
    reason = "a bench that fails has nothing to report"
)]

use std::fs;
use std::hint::black_box;

use apache_avro::Reader;
use benches::once;
use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use paimon_meta::{
    FileTable, FileTableBuilder, KeepStats, ManifestColumns, ManifestReader, decode_manifest,
};

fn entries() -> usize {
    #[expect(
        clippy::disallowed_methods,
        reason = "size of the bench, by the caller of cargo"
    )]
    let entries = std::env::var("MANIFEST_ENTRIES");
    let default = if once() { 2_000 } else { 100_000 };
    entries.map_or(default, |entries| {
        entries.parse().expect("a number of entries")
    })
}

/// What a plan keeps of a manifest.
fn table(file: &[u8], columns: ManifestColumns, keep: KeepStats) -> FileTable {
    let mut builder = FileTableBuilder::new();
    for batch in ManifestReader::new(file, columns).expect("a manifest") {
        let batch = batch.expect("a batch");
        for row in 0..batch.len() {
            builder.push(&batch, row, keep).expect("a file");
        }
    }
    builder.finish()
}

/// Decoding alone: batches are dropped.
fn batches(file: &[u8], columns: ManifestColumns) -> usize {
    let batches = ManifestReader::new(file, columns).expect("a manifest");
    batches.map(|batch| batch.expect("a batch").len()).sum()
}

fn decode(criterion: &mut Criterion<CoreTime>) {
    let entries = entries();
    let file = benches::manifest::manifest(entries).expect("a manifest");
    let planner = ManifestColumns::default();
    report(
        "planner columns",
        &table(&file, planner, KeepStats::default()),
    );
    report(
        "all columns",
        &table(&file, ManifestColumns::ALL, KeepStats::ALL),
    );

    let mut group = criterion.benchmark_group("manifest");
    group
        .throughput(Throughput::Elements(entries as u64))
        .sample_size(10);
    group.bench_function("planner columns", |bench| {
        bench.iter(|| batches(&file, planner));
    });
    group.bench_function("planner columns to table", |bench| {
        bench.iter(|| table(&file, planner, KeepStats::default()));
    });
    group.bench_function("all columns", |bench| {
        bench.iter(|| batches(&file, ManifestColumns::ALL));
    });
    group.bench_function("all columns to table", |bench| {
        bench.iter(|| table(&file, ManifestColumns::ALL, KeepStats::ALL));
    });
    group.bench_function("models", |bench| {
        bench.iter(|| decode_manifest(&file).expect("a manifest"));
    });
    group.bench_function("apache-avro", |bench| {
        bench.iter(|| {
            for value in Reader::new(file.as_slice()).expect("a file") {
                black_box(value.expect("an entry"));
            }
        });
    });
    let whole = table(&file, planner, KeepStats::default());
    group.bench_function("append two tables", |bench| {
        let append = |tables: [FileTable; 2]| {
            let mut builder = FileTableBuilder::new();
            for table in tables {
                builder.append(table).expect("a table");
            }
            builder.finish()
        };
        let tables = || [whole.clone(), whole.clone()];
        bench.iter_batched(tables, append, BatchSize::LargeInput);
    });
    let last = u32::try_from(entries).expect("a number of files");
    let order: Vec<_> = (0..last).rev().collect();
    group.bench_function("permute table", |bench| {
        let permute = |table: FileTable| table.permute(&order).expect("a table");
        bench.iter_batched(|| whole.clone(), permute, BatchSize::LargeInput);
    });
    group.finish();
}

#[expect(
    clippy::print_stdout,
    reason = "a bench reports on the standard output"
)]
fn report(what: &str, table: &FileTable) {
    let bytes = table.heap_bytes();
    println!("{what}: {} bytes of heap an entry", bytes / table.len());
}

/// Nanoseconds that this thread was on a core.
struct CoreTime;

impl CoreTime {
    fn now() -> u64 {
        let stat = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
        let on_core = stat
            .split(' ')
            .next()
            .and_then(|number| number.parse().ok());
        on_core.expect("nanoseconds on a core")
    }
}

impl Measurement for CoreTime {
    type Intermediate = u64;
    type Value = u64;

    fn start(&self) -> u64 {
        Self::now()
    }

    fn end(&self, start: u64) -> u64 {
        Self::now() - start
    }

    fn add(&self, first: &u64, second: &u64) -> u64 {
        first + second
    }

    fn zero(&self) -> u64 {
        0
    }

    fn to_f64(&self, value: &u64) -> f64 {
        *value as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

criterion_group! {
    name = manifest;
    config = Criterion::default().with_measurement(CoreTime);
    targets = decode
}
criterion_main!(manifest);
