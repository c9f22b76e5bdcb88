//! What is asked of the store.

use std::sync::Arc;

use bytes::Bytes;
use paimon_format::{DataFile, FormatReader, ParquetReader, RowRanges, ScanSpec};
use paimon_meta::{MAX_LENGTH, TypeKind};
use parquet::file::properties::WriterProperties;

use super::{bulky, write, write_groups, write_with};
use crate::conformance::{column, scan};
use crate::memory::{MemorySource, now, read_all, read_group};

const ROWS: u32 = 60_000;
const GROUP_ROWS: usize = 20_000;
const TAIL: u64 = 64 * 1024;

fn both() -> Arc<ScanSpec> {
    let noise = column("noise", TypeKind::VarChar(MAX_LENGTH).not_null());
    scan(vec![column("id", TypeKind::BigInt.not_null()), noise], 8192)
}

fn large_file() -> Bytes {
    write(&bulky(ROWS), GROUP_ROWS)
}

/// One group of many pages.
fn small_pages() -> Bytes {
    let properties = WriterProperties::builder()
        .set_data_page_row_count_limit(500)
        .set_write_batch_size(500);
    write_with(&bulky(ROWS), properties.set_dictionary_enabled(false))
}

fn opened(bytes: Bytes) -> (Arc<MemorySource>, Arc<dyn DataFile>) {
    let source = MemorySource::new(bytes);
    let file = now(ParquetReader.open(Arc::clone(&source) as _)).unwrap();
    (source, file)
}

#[test]
fn small_file_costs_one_request_in_all() {
    let bytes = write(&bulky(100), 20);
    let size = bytes.len() as u64;
    let (source, file) = opened(bytes);
    assert_eq!(source.take_request(), 0..size);
    read_all(file.as_ref(), &both()).unwrap();
    assert!(source.take_requests().is_empty());
}

#[test]
fn large_file_costs_its_tail_and_one_request_a_group() {
    let bytes = large_file();
    let size = bytes.len() as u64;
    assert!(size > 1024 * 1024);
    let (source, file) = opened(bytes);
    assert_eq!(source.take_request(), size - TAIL..size);

    let rows = RowRanges::from_range(0..file.layout().row_count);
    for group in 0..3 {
        read_group(file.as_ref(), group, &rows, &both()).unwrap();
        let requests = source.take_requests();
        assert_eq!(requests.len(), 1);
        assert_eq!(requests[0].len(), 2, "a range for each column");
        let bytes: u64 = requests[0]
            .iter()
            .map(|range| range.end - range.start)
            .sum();
        assert_eq!(bytes, file.layout().groups[group].compressed_bytes);
    }
}

#[test]
fn footer_larger_than_the_tail_costs_a_second_request() {
    let bytes = write_groups(&bulky(4000), 1);
    let size = bytes.len() as u64;
    let (source, file) = opened(bytes);
    assert_eq!(file.layout().groups.len(), 4000);
    let requests = source.take_requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(
        requests[0].as_slice(),
        std::slice::from_ref(&(size - TAIL..size))
    );
    assert_eq!(requests[1].len(), 1);
    assert_eq!(requests[1][0].end, size - TAIL);
}

#[test]
fn nothing_is_read_for_groups_without_rows_and_scans_without_columns() {
    let (source, file) = opened(large_file());
    source.take_requests();
    let rows = RowRanges::from_range(0..10);
    assert!(
        read_group(file.as_ref(), 1, &rows, &both())
            .unwrap()
            .is_empty()
    );
    read_all(file.as_ref(), &scan(vec![], 1000)).unwrap();
    let absent = column("absent", TypeKind::Int.nullable());
    read_all(file.as_ref(), &scan(vec![absent], 1000)).unwrap();
    assert!(source.take_requests().is_empty());
}

#[test]
fn unread_future_asks_for_nothing() {
    let (source, file) = opened(large_file());
    source.take_requests();
    drop(file.fetch(0, &RowRanges::from_range(0..10), &both()));
    assert!(source.take_requests().is_empty());
    drop(ParquetReader.open(Arc::clone(&source) as _));
    assert!(source.take_requests().is_empty());
}

#[test]
fn page_index_is_read_once_when_it_saves_enough() {
    let (source, file) = opened(small_pages());
    source.take_requests();
    let rows = RowRanges::from_positions([3, u64::from(ROWS) - 5]);
    for _ in 0..2 {
        let batches = read_group(file.as_ref(), 0, &rows, &both()).unwrap();
        assert_eq!(batches[0].0, rows);
        let requests = source.take_requests();
        assert_eq!(requests.len(), 1, "the index came with the tail");
        let bytes: u64 = requests[0]
            .iter()
            .map(|range| range.end - range.start)
            .sum();
        assert!(
            bytes * 10 < file.layout().groups[0].compressed_bytes,
            "{bytes}"
        );
    }
}

#[test]
fn rows_close_together_need_no_page_index() {
    let (source, file) = opened(small_pages());
    source.take_requests();
    let rows = RowRanges::from_positions((0..u64::from(ROWS)).step_by(4000));
    let batches = read_group(file.as_ref(), 0, &rows, &both()).unwrap();
    assert_eq!(batches[0].0, rows);
    let bytes: u64 = source.take_requests()[0]
        .iter()
        .map(|range| range.end - range.start)
        .sum();
    assert_eq!(bytes, file.layout().groups[0].compressed_bytes);
}

#[test]
fn thousands_of_pages_are_not_asked_for_one_by_one() {
    // A page for each row.
    let properties = WriterProperties::builder()
        .set_data_page_row_count_limit(1)
        .set_write_batch_size(1);
    let (source, file) = opened(write_with(
        &bulky(14_000),
        properties.set_dictionary_enabled(false),
    ));
    source.take_requests();
    let selected = |rows: u64| {
        RowRanges::from_positions((0..rows).map(|row| row * 2))
            .union(&RowRanges::from_range(13_999..14_000))
    };
    for (rows, pages) in [(500, 1002), (2000, 2)] {
        let batches = read_group(file.as_ref(), 0, &selected(rows), &both()).unwrap();
        assert_eq!(batches[0].0, selected(rows));
        assert_eq!(source.take_requests().last().unwrap().len(), pages);
    }
}
