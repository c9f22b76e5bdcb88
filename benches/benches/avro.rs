//! Reading an Avro file through the adapter against plain decode by `arrow-avro`.
//!
//! The file is in memory: rows of a merge table, zstandard, blocks of about 64 KiB as the reference writes them.

#![expect(
    clippy::expect_used,
    reason = "a bench that fails has nothing to report"
)]

use std::hint::black_box;
use std::io::Cursor;
use std::sync::Arc;

use arrow_avro::compression::CompressionCodec;
use arrow_avro::reader::ReaderBuilder;
use arrow_avro::writer::WriterBuilder;
use arrow_avro::writer::format::AvroOcfFormat;
use benches::{Key, Memory, batch, once, paimon_fields};
use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use futures_util::FutureExt;
use paimon_format::{AvroReader, DataFile, FileColumn, FormatReader, RowRanges, ScanSpec};
use paimon_meta::StringLayout;

const BATCH: usize = 8192;
/// Rows of a block.
const BLOCK: usize = 600;

fn file(rows: u32) -> Bytes {
    let keys: Vec<i64> = (0..i64::from(rows)).collect();
    let rows = batch(&keys, 0, 0, Key::BigInt, false);
    let mut writer = WriterBuilder::new(rows.schema().as_ref().clone())
        .with_compression(Some(CompressionCodec::ZStandard))
        .build::<_, AvroOcfFormat>(Vec::new())
        .expect("a writer");
    for start in (0..rows.num_rows()).step_by(BLOCK) {
        let block = rows.slice(start, BLOCK.min(rows.num_rows() - start));
        writer.write(&block).expect("a block");
    }
    writer.finish().expect("a file");
    writer.into_inner().into()
}

/// Opens the file and reads columns of all rows through the adapter; the number of rows that came.
fn adapter(file: &Bytes, scan: &Arc<ScanSpec>) -> usize {
    let now = "memory is never pending";
    let opened = AvroReader
        .open(Arc::new(Memory(file.clone())))
        .now_or_never()
        .expect(now);
    let opened: Arc<dyn DataFile> = opened.expect("an Avro file");
    let all = RowRanges::from_range(0..opened.layout().row_count);
    let groups = 0..opened.layout().groups.len();
    let batches = groups.flat_map(|group| {
        let fetched = opened.fetch(group, &all, scan).now_or_never();
        fetched.expect(now).expect("a group")
    });
    batches
        .map(|batch| black_box(batch.expect("a batch").1).num_rows())
        .sum()
}

/// All columns by the plain reader.
fn plain(file: &Bytes) -> usize {
    let reader = ReaderBuilder::new()
        .with_batch_size(BATCH)
        .with_utf8_view(true)
        .build(Cursor::new(file.clone()))
        .expect("a reader");
    reader
        .map(|batch| black_box(batch.expect("a batch")).num_rows())
        .sum()
}

/// The first columns of the table.
fn scan(columns: usize) -> Arc<ScanSpec> {
    let fields = paimon_fields(Key::BigInt).into_iter().take(columns);
    let columns = fields.map(|field| FileColumn {
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

fn avro(criterion: &mut Criterion) {
    let rows = if once() { 10_000 } else { 500_000 };
    let file = file(rows);
    let (all, two) = (scan(9), scan(2));
    assert_eq!(adapter(&file, &all), plain(&file));
    let mut group = criterion.benchmark_group("avro");
    group.throughput(Throughput::Elements(u64::from(rows)));
    group.bench_function("plain", |bencher| bencher.iter(|| plain(&file)));
    group.bench_function("adapter", |bencher| bencher.iter(|| adapter(&file, &all)));
    group.bench_function("adapter, two columns", |bencher| {
        bencher.iter(|| adapter(&file, &two));
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = avro
}
criterion_main!(benches);
