//! Damaged files give rows or an error.

use paimon_format::OrcReader;

use crate::damage::{cut_files_are_corrupt, damaged_files_never_panic};

/// Bytes of the footer, the postscript and what little lies before them: stripes are small in golden files.
fn tail(bytes: &[u8]) -> usize {
    bytes.len() / 2
}

#[test]
fn golden_files_are_read_whole_and_damaged_ones_never_panic() {
    damaged_files_never_panic(&OrcReader::default(), "orc", tail);
}

#[test]
fn cut_golden_files_are_corrupt() {
    cut_files_are_corrupt(&OrcReader::default(), "orc");
}
