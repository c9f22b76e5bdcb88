//! A file as a stream.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures_util::{Stream, StreamExt, TryStreamExt};
use paimon_format::{FormatReader, ParquetReader, RowRanges, scan_file};
use paimon_meta::{ErrorKind, TypeKind};

use crate::conformance::{column, sample, scan};
use crate::memory::{MemorySource, now};
use crate::parquet::{write, write_groups};

#[test]
fn stream_gives_the_selected_rows_in_order() {
    let file = now(ParquetReader.open(MemorySource::new(write(&sample(), 100)))).unwrap();
    let rows = RowRanges::from_positions((0..1000).filter(|row| row % 200 < 20));
    let scan = scan(vec![column("id", TypeKind::BigInt.not_null())], 7);
    let batches: Vec<_> = now(scan_file(file, rows.clone(), scan).try_collect()).unwrap();
    let mut got = RowRanges::none();
    for (positions, batch) in &batches {
        assert_eq!(positions.row_count(), batch.num_rows() as u64);
        assert!(got.span().end <= positions.span().start);
        got = got.union(positions);
    }
    assert_eq!(got, rows);
}

#[test]
fn next_group_is_fetched_before_this_one_is_decoded() {
    let source = MemorySource::new(write_groups(&crate::parquet::bulky(60_000), 15_000));
    let file = now(ParquetReader.open(Arc::clone(&source) as _)).unwrap();
    source.take_requests();
    let scan = scan(vec![column("id", TypeKind::BigInt.not_null())], 10_000);
    // Nothing of group 1 is selected.
    let rows = RowRanges::from_range(0..15_000).union(&RowRanges::from_range(30_000..60_000));
    let mut stream = pin!(scan_file(file, rows, scan));
    let mut requests = Vec::new();
    let mut context = Context::from_waker(Waker::noop());
    while let Poll::Ready(Some(batch)) = stream.as_mut().poll_next(&mut context) {
        requests.push((batch.unwrap().0.span().start, source.take_requests().len()));
    }
    assert_eq!(
        requests,
        [
            (0, 2),
            (10_000, 0),
            (30_000, 1),
            (40_000, 0),
            (45_000, 0),
            (55_000, 0)
        ]
    );
}

#[test]
fn stream_ends_after_an_error() {
    let file = now(ParquetReader.open(MemorySource::new(write(&sample(), 100)))).unwrap();
    let scan = scan(vec![column("id", TypeKind::Boolean.nullable())], 7);
    let mut stream = scan_file(file, RowRanges::from_range(0..1000), scan);
    assert_eq!(
        now(stream.next()).unwrap().unwrap_err().kind(),
        ErrorKind::Corrupt
    );
    assert!(now(stream.next()).is_none());
}
