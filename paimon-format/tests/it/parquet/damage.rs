//! Damaged files give rows or an error.
//!
//! Pages of the reference carry checksums, so that damage in them is found whatever it hits. What is left is damage in
//! footers, page indexes and page headers.

use bytes::Bytes;
use paimon_format::{FileColumn, ParquetReader};
use paimon_meta::{ErrorKind, Result};

use super::natural::natural_columns;
use crate::damage::{Numbers, golden_files};

/// Reads everything there is to read; the number of rows.
fn exercise(bytes: Bytes, columns: &[FileColumn]) -> Result<u64> {
    crate::damage::exercise(&ParquetReader, bytes, columns)
}

/// Bytes of the footer.
fn tail(bytes: &[u8]) -> usize {
    let length = bytes.len();
    let footer: [u8; 4] = bytes[length - 8..length - 4].try_into().unwrap();
    usize::try_from(u32::from_le_bytes(footer)).unwrap() + 8
}

/// Golden files that are whole, with columns to read.
fn samples() -> impl Iterator<Item = (Vec<u8>, Vec<FileColumn>)> {
    let files = golden_files("parquet")
        .into_iter()
        .map(|path| std::fs::read(path).unwrap());
    files
        .filter(|bytes| (100..200_000).contains(&bytes.len()))
        .map(|bytes| {
            let columns = natural_columns(bytes.clone().into());
            (bytes, columns)
        })
}

#[test]
fn golden_files_are_read_whole_and_damaged_ones_never_panic() {
    let mut errors = 0;
    for (mut bytes, columns) in samples() {
        exercise(bytes.clone().into(), &columns).unwrap();
        let tail = tail(&bytes);
        Numbers::of(&bytes).damage(&mut bytes, tail);
        errors += usize::from(exercise(bytes.into(), &columns).is_err());
    }
    assert!(errors > 500, "{errors}");
}

#[test]
fn cut_golden_files_are_corrupt() {
    for (bytes, columns) in samples().step_by(300) {
        let bytes = Bytes::from(bytes);
        for length in (0..bytes.len()).step_by(1 + bytes.len() / 200) {
            let error = exercise(bytes.slice(..length), &columns).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt);
        }
    }
}

#[test]
fn damaged_page_is_found_by_its_checksum() {
    let (bytes, columns) = samples().next().unwrap();
    // Behind the magic comes the first page: a header of some ten bytes, then values.
    let found = (20..40).filter(|at| {
        let mut bytes = bytes.clone();
        bytes[*at] ^= 0x10;
        exercise(bytes.into(), &columns).is_err()
    });
    assert_eq!(found.count(), 20);
}
