//! Reading a Parquet file through the adapter against the plain reader, and what row selections cost.
//!
//! The file is in memory: 1,000,000 rows of a merge table, its eight value columns read, one row group, zstd. Times are those of the thread on its
//! core, which neighbours on a shared machine disturb less than the clock on the wall (Linux only).

#![expect(
    clippy::expect_used,
    reason = "a bench that fails has nothing to report"
)]

use std::fs;
use std::hint::black_box;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_buffer::BooleanBuffer;
use arrow_schema::{DataType as ArrowType, Field, Schema};
use arrow_select::filter::filter_record_batch;
use benches::{Key, Memory, batch, once, paimon_fields};
use bytes::Bytes;
use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use futures_util::FutureExt;
use paimon_format::{DataFile, FileColumn, FormatReader, ParquetReader, RowRanges, ScanSpec};
use paimon_meta::StringLayout;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection,
    RowSelectionPolicy,
};
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

const BATCH: usize = 8192;

/// Rows of the file.
fn row_count() -> u32 {
    if once() { 20_000 } else { 1_000_000 }
}

/// The value columns: all but the key and the system columns.
fn scan() -> Arc<ScanSpec> {
    let values = paimon_fields(Key::BigInt).into_iter().skip(1);
    let columns = values.map(|field| FileColumn {
        name: field.name,
        data_type: field.data_type,
    });
    Arc::new(ScanSpec {
        columns: columns.collect(),
        batch_size: BATCH,
        strings: StringLayout::View,
        window_bytes: u64::MAX,
    })
}

/// Where the value columns are in the file.
const VALUES: Range<usize> = 4..12;

/// Opens the file and reads the rows through the adapter; the number of rows that came.
fn adapter(file: &Bytes, rows: &RowRanges, scan: &Arc<ScanSpec>) -> usize {
    let now = "memory is never pending";
    let opened = ParquetReader
        .open(Arc::new(Memory(file.clone())))
        .now_or_never()
        .expect(now);
    let opened: Arc<dyn DataFile> = opened.expect("a Parquet file");
    let groups = 0..opened.layout().groups.len();
    let batches = groups.flat_map(|group| {
        opened
            .fetch(group, rows, scan)
            .now_or_never()
            .expect(now)
            .expect("a group")
    });
    batches
        .map(|batch| black_box(batch.expect("a batch").1).num_rows())
        .sum()
}

/// The plain reader with a schema of string views.
fn plain(file: &Bytes, select: impl Fn(Builder) -> Builder) -> impl Iterator<Item = RecordBatch> {
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let inferred = ArrowReaderMetadata::load(file, options).expect("a Parquet file");
    let view = |field: &Arc<Field>| match field.data_type() {
        ArrowType::Utf8 => Arc::new(field.as_ref().clone().with_data_type(ArrowType::Utf8View)),
        _ => Arc::clone(field),
    };
    let schema = Schema::new(
        inferred
            .schema()
            .fields()
            .iter()
            .map(view)
            .collect::<Vec<_>>(),
    );
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    let metadata =
        ArrowReaderMetadata::try_new(Arc::clone(inferred.metadata()), options).expect("a schema");
    let mask = ProjectionMask::leaves(metadata.parquet_schema(), VALUES);
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file.clone(), metadata);
    let reader = select(builder.with_projection(mask).with_batch_size(BATCH))
        .build()
        .expect("a reader");
    reader.map(|batch| batch.expect("a batch"))
}

type Builder = ParquetRecordBatchReaderBuilder<Bytes>;

fn count(batches: impl Iterator<Item = RecordBatch>) -> usize {
    batches.map(|batch| black_box(batch).num_rows()).sum()
}

/// Rows of which about so many of a thousand are set, each for itself or in blocks.
fn mask(per_mille: u64, block: u64) -> BooleanBuffer {
    let chosen = |block: u64| {
        let mixed = block.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 32
    };
    (0..u64::from(row_count()))
        .map(|row| chosen(row / block) % 1000 < per_mille)
        .collect()
}

/// Runs of `run` rows with gaps of `gap` rows between them.
fn stripes(run: usize, gap: usize) -> BooleanBuffer {
    (0..usize::try_from(row_count()).expect("few rows"))
        .map(|row| row % (run + gap) < run)
        .collect()
}

/// Decodes all rows and filters the batches.
fn decode_all(file: &Bytes, mask: &BooleanBuffer) -> usize {
    let mut start = 0;
    let filtered = plain(file, |builder| builder).map(|batch| {
        let part = BooleanArray::new(mask.slice(start, batch.num_rows()), None);
        start += batch.num_rows();
        filter_record_batch(&batch, &part).expect("a filtered batch")
    });
    count(filtered)
}

fn selected(file: &Bytes, mask: &BooleanBuffer, policy: RowSelectionPolicy) -> usize {
    let ranges = mask.set_slices().map(|(start, end)| start..end);
    let selection = RowSelection::from_consecutive_ranges(ranges, mask.len());
    count(plain(file, |builder| {
        builder
            .with_row_selection(selection.clone())
            .with_row_selection_policy(policy)
    }))
}

fn full_scan(criterion: &mut Criterion<CoreTime>) {
    let file = file(row_count());
    let all = RowRanges::from_range(0..u64::from(row_count()));
    let scan = scan();
    let expected = usize::try_from(row_count()).expect("few rows");
    assert_eq!(adapter(&file, &all, &scan), expected);
    assert_eq!(count(plain(&file, |builder| builder)), expected);
    let timed = |run: &dyn Fn() -> usize| {
        let start = CoreTime::now();
        black_box(run());
        CoreTime::now() - start
    };
    let rounds = (0..if once() { 1 } else { 40 }).map(|_| {
        let plain = timed(&|| count(plain(&file, |builder| builder)));
        (timed(&|| adapter(&file, &all, &scan)), plain)
    });
    let sums = rounds.reduce(|sums, round| (sums.0 + round.0, sums.1 + round.1));
    report(sums.expect("some rounds"));

    let mut group = criterion.benchmark_group("full scan");
    group
        .throughput(Throughput::Elements(row_count().into()))
        .sample_size(10);
    group.bench_function("plain", |bench| {
        bench.iter(|| count(plain(&file, |builder| builder)));
    });
    group.bench_function("adapter", |bench| {
        bench.iter(|| adapter(&file, &all, &scan));
    });
    group.finish();
}

#[expect(
    clippy::print_stdout,
    reason = "a bench reports on the standard output"
)]
fn report((adapter, plain): (u64, u64)) {
    let ratio = adapter as f64 / plain as f64;
    println!("full scan in turn: adapter {adapter} ns, plain {plain} ns, ratio {ratio:.3}");
}

/// What a file costs before its first row: many small files are mostly this.
fn small_files(criterion: &mut Criterion<CoreTime>) {
    const FILES: usize = 100;
    let file = file(100);
    let all = RowRanges::from_range(0..100);
    let scan = scan();
    let mut group = criterion.benchmark_group("100 files of 100 rows");
    group.bench_function("plain", |bench| {
        bench.iter(|| {
            (0..FILES)
                .map(|_| count(plain(&file, |builder| builder)))
                .sum::<usize>()
        });
    });
    group.bench_function("adapter", |bench| {
        bench.iter(|| {
            (0..FILES)
                .map(|_| adapter(&file, &all, &scan))
                .sum::<usize>()
        });
    });
    group.finish();
}

fn selections(criterion: &mut Criterion<CoreTime>) {
    let file = file(row_count());
    let scan = scan();
    let mut group = criterion.benchmark_group("selection");
    group
        .throughput(Throughput::Elements(row_count().into()))
        .sample_size(10);
    let random = [10, 100, 500, 900]
        .map(|per_mille| (format!("random {}%", per_mille / 10), mask(per_mille, 1)));
    let blocks = [10, 100, 500, 900].map(|per_mille| {
        (
            format!("blocks of 4096 {}%", per_mille / 10),
            mask(per_mille, 4096),
        )
    });
    let gaps = [8, 32, 128, 512, 2048, 8192, 65_536]
        .map(|gap| (format!("runs of 64 gaps of {gap}"), stripes(64, gap)));
    let wide =
        [32, 128, 512, 2048].map(|gap| (format!("runs of 512 gaps of {gap}"), stripes(512, gap)));
    for (name, mask) in random.into_iter().chain(blocks).chain(gaps).chain(wide) {
        let rows = RowRanges::from_bits(&mask, 0);
        group.bench_with_input(
            BenchmarkId::new("all, then filter", &name),
            &mask,
            |bench, mask| {
                bench.iter(|| decode_all(&file, mask));
            },
        );
        let policies = [
            ("ranges", RowSelectionPolicy::Selectors),
            ("mask", RowSelectionPolicy::Mask),
        ];
        for (policy_name, policy) in policies {
            group.bench_with_input(
                BenchmarkId::new(policy_name, &name),
                &mask,
                |bench, mask| {
                    bench.iter(|| selected(&file, mask, policy));
                },
            );
        }
        group.bench_with_input(BenchmarkId::new("adapter", &name), &rows, |bench, rows| {
            bench.iter(|| adapter(&file, rows, &scan));
        });
    }
    group.finish();
}

/// A run of the merge tables as a data file.
fn file(rows: u32) -> Bytes {
    let keys: Vec<i64> = (0..i64::from(rows)).collect();
    let rows = batch(&keys, 0, 0, Key::BigInt, false);
    let properties =
        WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default()));
    let mut bytes = Vec::new();
    let writer = ArrowWriter::try_new(&mut bytes, rows.schema(), Some(properties.build()));
    let mut writer = writer.expect("a writer");
    writer.write(&rows).expect("a row group");
    writer.close().expect("a footer");
    bytes.into()
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
    name = format;
    config = Criterion::default().with_measurement(CoreTime);
    targets = full_scan, small_files, selections
}
criterion_main!(format);
