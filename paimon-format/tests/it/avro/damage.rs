//! Damaged files give rows or an error.

use bytes::Bytes;
use paimon_format::AvroReader;

use crate::damage::{cut_files_are_corrupt, damaged_files_never_panic};

#[test]
fn golden_files_are_read_whole_and_damaged_ones_never_panic() {
    damaged_files_never_panic(&AvroReader, "avro", |_| 0);
}

#[test]
fn cut_golden_files_are_corrupt() {
    cut_files_are_corrupt(&AvroReader, "avro");
}

#[test]
fn file_without_records_has_no_rows() {
    let schema = super::record(&[super::field("c", r#""int""#, false)]);
    let bytes: Bytes = super::write_records(&schema, Vec::new(), apache_avro::Codec::Null, 1);
    let file = crate::memory::open(&AvroReader, bytes).unwrap();
    assert_eq!(file.layout().row_count, 0);
    assert!(file.layout().groups.is_empty());
}
