//! Damaged files give rows or an error.
//!
//! Pages of the reference carry checksums, so that damage in them is found whatever it hits. What is left is damage in
//! footers, page indexes and page headers.

use bytes::Bytes;
use paimon_format::{FileColumn, Grain, ParquetReader, RowRanges};
use paimon_meta::{ErrorKind, Result};

use super::golden::golden_files;
use super::natural::natural_columns;
use crate::conformance::scan;
use crate::memory::{now, open, read_all, read_group};

/// Reads everything there is to read; the number of rows.
fn exercise(bytes: Bytes, columns: &[FileColumn]) -> Result<u64> {
    let file = open(&ParquetReader, bytes)?;
    let scan = scan(columns.to_vec(), 1024);
    let sparse = RowRanges::from_positions((0..file.layout().row_count.min(3000)).step_by(3));
    let few_groups = file.layout().groups.len().min(3);
    let sparse = (0..few_groups)
        .try_for_each(|group| read_group(file.as_ref(), group, &sparse, &scan).map(drop));
    let bounds = columns.iter().try_for_each(|column| {
        now(file.bounds(column, Grain::Group))?;
        now(file.bounds(column, Grain::Page)).map(drop)
    });
    let batches = read_all(file.as_ref(), &scan)?;
    sparse?;
    bounds?;
    let rows = batches
        .iter()
        .map(|(_, batch)| batch.num_rows() as u64)
        .sum();
    assert_eq!(rows, file.layout().row_count);
    Ok(rows)
}

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    /// Changes up to three bytes, half of the time in the footer.
    fn damage(&mut self, bytes: &mut [u8]) {
        let length = bytes.len();
        let footer: [u8; 4] = bytes[length - 8..length - 4].try_into().unwrap();
        let footer = usize::try_from(u32::from_le_bytes(footer)).unwrap();
        for _ in 0..=self.below(3) {
            let in_footer = self.below(2) == 0;
            let at = if in_footer {
                length - 1 - self.below((footer + 8).min(length))
            } else {
                self.below(length)
            };
            bytes[at] = match self.below(4) {
                0 => 0,
                1 => u8::MAX,
                2 => bytes[at] ^ (1 << self.below(8)),
                _ => u8::try_from(self.below(256)).unwrap(),
            };
        }
    }
}

/// Golden files that are whole, with columns to read.
fn samples() -> impl Iterator<Item = (Vec<u8>, Vec<FileColumn>)> {
    let files = golden_files()
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
        // The same damage to a file whatever other files there are.
        let mut numbers = Numbers(
            bytes
                .iter()
                .fold(1, |sum, byte| sum * 31 % 1_000_003 + u64::from(*byte)),
        );
        numbers.damage(&mut bytes);
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
