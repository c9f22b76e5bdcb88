//! Large row groups come in windows.

use std::sync::Arc;

use arrow_array::builder::{Int64Builder, ListBuilder};
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};
use arrow_select::concat::concat_batches;
use bytes::Bytes;
use paimon_format::{
    DataFile, FileColumn, FormatReader, ParquetReader, RowRanges, ScanSpec, next_batch,
};
use paimon_meta::{ErrorKind, MAX_LENGTH, Result, StringLayout, TypeKind};
use parquet::file::properties::{WriterProperties, WriterVersion};

use super::{bulky, write_with};
use crate::conformance::column;
use crate::damage::Numbers;
use crate::memory::{MemorySource, now, read_group};

const ROWS: u32 = 30_000;

/// Columns that fill their chunks differently: numbers, text that does not compress, few different texts, nulls, lists.
fn columns() -> RecordBatch {
    let bulky = bulky(ROWS);
    let few: StringArray = (0..ROWS)
        .map(|row| Some(["a", "b", "c"][row as usize % 3]))
        .collect();
    let gaps: Int64Array = (0..i64::from(ROWS))
        .map(|row| (row % 1000 > 400).then_some(row * row))
        .collect();
    let mut lists = ListBuilder::new(Int64Builder::new());
    for row in 0..i64::from(ROWS) {
        (0..row % 3).for_each(|item| lists.values().append_value(item * row));
        lists.append(row % 7 != 0);
    }
    let lists = lists.finish();
    let mut fields: Vec<Field> = bulky
        .schema()
        .fields()
        .iter()
        .map(|field| field.as_ref().clone())
        .collect();
    let more: [(&str, ArrayRef); 3] = [
        ("few", Arc::new(few)),
        ("gaps", Arc::new(gaps)),
        ("lists", Arc::new(lists)),
    ];
    let mut columns = bulky.columns().to_vec();
    for (name, array) in more {
        fields.push(Field::new(name, array.data_type().clone(), true));
        columns.push(array);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

fn asked() -> Vec<FileColumn> {
    let text = TypeKind::VarChar(MAX_LENGTH);
    let list = TypeKind::Array(Box::new(TypeKind::BigInt.nullable()));
    vec![
        column("lists", list.nullable()),
        column("id", TypeKind::BigInt.not_null()),
        column("noise", text.clone().not_null()),
        column("few", text.nullable()),
        column("gaps", TypeKind::BigInt.nullable()),
    ]
}

fn scan(columns: Vec<FileColumn>, batch_size: usize, window_bytes: u64) -> Arc<ScanSpec> {
    Arc::new(ScanSpec {
        columns,
        batch_size,
        strings: StringLayout::Offset32,
        window_bytes,
    })
}

/// One group; pages of so many rows.
fn file(page_rows: usize, version: WriterVersion) -> Bytes {
    let properties = WriterProperties::builder()
        .set_writer_version(version)
        .set_data_page_row_count_limit(page_rows)
        .set_write_batch_size(page_rows)
        .set_column_dictionary_enabled("noise".into(), false);
    write_with(&columns(), properties)
}

fn opened(bytes: Bytes) -> (Arc<MemorySource>, Arc<dyn DataFile>) {
    let source = MemorySource::new(bytes);
    let file = now(ParquetReader.open(Arc::clone(&source) as _)).unwrap();
    source.take_requests();
    (source, file)
}

/// The rows of the only group as one batch, with their positions.
fn read(
    file: &dyn DataFile,
    rows: &RowRanges,
    scan: &Arc<ScanSpec>,
) -> Result<(RowRanges, RecordBatch)> {
    let batches = read_group(file, 0, rows, scan)?;
    let mut positions = RowRanges::none();
    for (rows, batch) in &batches {
        assert!(batch.num_rows() <= scan.batch_size);
        rows.ranges()
            .iter()
            .for_each(|range| positions.push(range.clone()));
    }
    let batches: Vec<_> = batches.into_iter().map(|(_, batch)| batch).collect();
    Ok((
        positions,
        concat_batches(&batches[0].schema(), &batches).unwrap(),
    ))
}

#[test]
fn windows_of_any_size_give_the_same_rows() {
    let selections = [
        RowRanges::from_range(0..u64::from(ROWS)),
        RowRanges::from_positions((0..u64::from(ROWS)).step_by(3)),
        RowRanges::from_range(7001..22_000),
        RowRanges::from_range(29_999..30_000).union(&RowRanges::from_range(0..1)),
    ];
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        for page_rows in [500, 20_000] {
            let (source, file) = opened(file(page_rows, version));
            for rows in &selections {
                let whole = read(file.as_ref(), rows, &scan(asked(), 8192, u64::MAX)).unwrap();
                assert_eq!(&whole.0, rows);
                for (window, batch_size) in [(1000, 8192), (100_000, 1000), (500_000, 30_000)] {
                    source.take_requests();
                    let parts = read(file.as_ref(), rows, &scan(asked(), batch_size, window));
                    assert_eq!(parts.unwrap(), whole, "{window} {page_rows} {rows:?}");
                    let requests = source.take_requests().len();
                    assert!(rows.row_count() < 10 || requests > 2, "{requests}");
                }
            }
        }
    }
}

#[test]
fn columns_that_come_as_a_whole_end_with_the_group() {
    let (_, file) = opened(file(500, WriterVersion::PARQUET_1_0));
    let all = asked();
    let all_rows = RowRanges::from_range(0..u64::from(ROWS));
    let last = RowRanges::from_range(u64::from(ROWS) - 1..u64::from(ROWS));
    for first in 0..all.len() {
        for second in first..all.len() {
            let mut columns = vec![all[first].clone()];
            columns.extend((second > first).then(|| all[second].clone()));
            for rows in [&all_rows, &last] {
                let whole = scan(columns.clone(), 8192, u64::MAX);
                let whole = read(file.as_ref(), rows, &whole).unwrap();
                for window in [1000, 20_000, 100_000] {
                    let parts = scan(columns.clone(), 1000, window);
                    let parts = read(file.as_ref(), rows, &parts).unwrap();
                    assert_eq!(parts, whole, "{columns:?} {window}");
                }
            }
        }
    }
}

#[test]
fn each_byte_is_asked_for_once() {
    let (source, file) = opened(file(500, WriterVersion::PARQUET_1_0));
    let all = RowRanges::from_range(0..u64::from(ROWS));
    read_group(file.as_ref(), 0, &all, &scan(asked(), 1000, 100_000)).unwrap();
    let mut ranges: Vec<_> = source.take_requests().concat();
    ranges.sort_by_key(|range| range.start);
    assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start));
    let bytes: u64 = ranges.iter().map(|range| range.end - range.start).sum();
    assert_eq!(bytes, file.layout().groups[0].compressed_bytes);
}

#[test]
fn a_window_is_not_asked_for_before_the_one_before_is_needed() {
    let (source, file) = opened(file(500, WriterVersion::PARQUET_1_0));
    let all = RowRanges::from_range(0..u64::from(ROWS));
    let scan = scan(vec![asked().swap_remove(2)], 500, 100_000);
    let mut batches = now(file.fetch(0, &all, &scan)).unwrap();
    let mut asked = source.take_requests().len();
    assert_eq!(asked, 1);
    for batch in 0..30 {
        while let Some(window) = batches.more() {
            now(window).unwrap();
        }
        asked += source.take_requests().len();
        // Two batches are about a window; one may be ahead.
        assert!(
            asked <= batch / 2 + 4,
            "{asked} windows after {batch} batches"
        );
        assert!(batches.is_ready());
        batches.next().unwrap().unwrap();
    }
}

#[test]
fn rows_at_the_start_need_no_window_at_the_end() {
    let (source, file) = opened(file(500, WriterVersion::PARQUET_1_0));
    let rows = RowRanges::from_range(0..14_000);
    let noise = vec![asked().swap_remove(2)];
    read_group(file.as_ref(), 0, &rows, &scan(noise, 1000, 100_000)).unwrap();
    let bytes: u64 = source
        .take_requests()
        .concat()
        .iter()
        .map(|range| range.end - range.start)
        .sum();
    assert!(
        bytes < file.layout().groups[0].compressed_bytes * 6 / 10,
        "{bytes}"
    );
}

#[test]
fn a_batch_taken_before_its_bytes_came_is_an_error() {
    let (_, file) = opened(file(500, WriterVersion::PARQUET_1_0));
    let all = RowRanges::from_range(0..u64::from(ROWS));
    let mut batches = now(file.fetch(0, &all, &scan(asked(), 8192, 1000))).unwrap();
    assert!(!batches.is_ready());
    assert_eq!(
        batches.next().unwrap().unwrap_err().kind(),
        ErrorKind::Internal
    );
    assert!(batches.next().is_none());
}

#[test]
fn damaged_pages_are_errors_or_the_same_number_of_rows() {
    let bytes = file(500, WriterVersion::PARQUET_1_0);
    let footer = bytes.len() - 100_000;
    let mut numbers = Numbers::of(&bytes);
    let mut errors = 0;
    for _ in 0..40 {
        let mut damaged = bytes.to_vec();
        numbers.damage(&mut damaged[..footer], 0);
        let (_, file) = opened(damaged.into());
        let all = RowRanges::from_range(0..u64::from(ROWS));
        match read(file.as_ref(), &all, &scan(asked(), 1000, 100_000)) {
            Ok((rows, batch)) => assert_eq!(rows.row_count(), batch.num_rows() as u64),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
                assert!(error.to_string().contains("memory.file"), "{error}");
                errors += 1;
            }
        }
    }
    assert!(errors > 8, "{errors}");
}

#[test]
fn a_failed_window_is_the_error_of_the_read() {
    let bytes = file(500, WriterVersion::PARQUET_1_0);
    let size = bytes.len() as u64;
    let (_, file) = opened(bytes.clone());
    let all = RowRanges::from_range(0..u64::from(ROWS));
    let scan = scan(asked(), 1000, 100_000);
    let mut batches = now(file.fetch(0, &all, &scan)).unwrap();
    assert!(now(next_batch(&mut batches)).unwrap().is_ok());
    // The object is shorter than it was said to be: its footer is whole, its middle is not there.
    let cut = MemorySource::with_gap(bytes, size / 2..size / 2 + 10);
    let file = now(ParquetReader.open(cut)).unwrap();
    let error = read_group(file.as_ref(), 0, &all, &scan).unwrap_err();
    assert!(error.to_string().contains("memory.file"), "{error}");
}
