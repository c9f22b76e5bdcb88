//! What a file says of its size.

use paimon_format::{FormatReader, ParquetReader, format_reader};
use paimon_meta::{ErrorKind, TypeKind};

use super::{bulky, write};
use crate::conformance::{column, scan};
use crate::memory::{MemorySource, now};

#[test]
fn bytes_of_a_group_are_those_of_the_asked_columns() {
    let file = now(ParquetReader.open(MemorySource::new(write(&bulky(1000), 400)))).unwrap();
    let bytes = |names: &[&str]| {
        let columns = names
            .iter()
            .map(|name| column(name, TypeKind::BigInt.nullable()));
        file.group_bytes(1, &scan(columns.collect(), 10))
    };
    let whole = file.layout().groups[1].compressed_bytes;
    assert_eq!(bytes(&["id", "noise", "absent"]), whole);
    assert_eq!(bytes(&["id"]) + bytes(&["noise"]), whole);
    assert_eq!(bytes(&[]), 0);
    assert_eq!(file.group_bytes(9, &scan(vec![], 10)), 0);
}

#[test]
fn file_that_was_read_whole_weighs_its_bytes() {
    let bytes = write(&bulky(1000), 400);
    let size = bytes.len() as u64;
    let small = now(ParquetReader.open(MemorySource::new(bytes))).unwrap();
    assert!(small.heap_bytes() > size);
    let large = now(ParquetReader.open(MemorySource::new(write(&bulky(60_000), 20_000)))).unwrap();
    assert!(large.heap_bytes() < 100_000, "{}", large.heap_bytes());
}

#[test]
fn size_of_the_manifest_must_be_that_of_the_file() {
    let bytes = write(&bulky(10), 10);
    let too_small = MemorySource::with_size(bytes.clone(), bytes.len() as u64 - 3);
    let error = now(ParquetReader.open(too_small)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("expected \"PAR1\""), "{error}");
    let too_large = MemorySource::with_size(bytes.clone(), bytes.len() as u64 + 3);
    assert_eq!(
        now(ParquetReader.open(too_large)).unwrap_err().kind(),
        ErrorKind::Corrupt
    );
}

#[test]
fn formats_are_found_by_name() {
    assert!(format_reader("parquet").is_ok());
    let error = format_reader("csv").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(error.feature(), Some("file format csv"));
}
