use proptest::prelude::*;

use super::*;
use crate::binary_row::{BinaryRow, encode_row};
use crate::data_file::{DataFileMeta, FileSource};
use crate::error::ErrorKind;
use crate::split::IncrementalSplit;
use crate::stats::SimpleStats;
use crate::types::TypeKind;
use crate::value::Datum;

fn row(text: &str) -> BinaryRow {
    let data_type = TypeKind::VarChar(20).not_null();
    encode_row(&[&data_type], &[Some(Datum::String(text.to_owned()))]).unwrap()
}

/// A meta with every field, some of their texts longer than a slot.
fn file(sequences: bool) -> DataFileMeta {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    DataFileMeta {
        file_name: "data-0.parquet".to_owned(),
        file_size: 1 << 40,
        row_count: 3,
        min_key: row("a"),
        max_key: row("a long last key"),
        key_stats: SimpleStats {
            min_values: row("a"),
            max_values: row("b"),
            null_counts: Some(vec![Some(0)]),
        },
        value_stats: SimpleStats {
            null_counts: Some(
                (0..33)
                    .map(|column| (column != 32).then_some(column))
                    .collect(),
            ),
            ..SimpleStats::default()
        },
        min_sequence_number: -1,
        max_sequence_number: i64::MAX,
        schema_id: 4,
        level: 5,
        extra_files: texts(&["short", "data-0.parquet.index"]),
        creation_time_millis: Some(-1),
        delete_row_count: Some(1),
        embedded_index: Some(vec![0xff; 9]),
        file_source: Some(FileSource::Compact),
        value_stats_cols: Some(texts(&["a", "a long column", ""])),
        external_path: Some("file:/else/data-0.parquet".to_owned()),
        first_row_id: Some(7),
        write_cols: Some(texts(&["é"])),
        write_cols_sequences: sequences.then(|| vec![3, -9]),
    }
}

/// A meta without what is optional.
fn plain() -> DataFileMeta {
    let stats = || SimpleStats {
        null_counts: Some(Vec::new()),
        ..SimpleStats::default()
    };
    DataFileMeta {
        file_name: "d".to_owned(),
        key_stats: stats(),
        value_stats: stats(),
        ..DataFileMeta::default()
    }
}

fn vector(cardinality: Option<u64>) -> Option<DeletionFile> {
    Some(DeletionFile {
        path: "/t/index/index-0".to_owned(),
        offset: 1,
        length: 22,
        cardinality,
    })
}

fn split(sequences: bool) -> DataSplit {
    DataSplit {
        snapshot_id: 7,
        partition: row("p"),
        bucket: -2,
        // Text of one to three bytes a character, and of two characters of three.
        bucket_path: "/t/p=\u{0}é€\u{1f600}/bucket-postpone".to_owned(),
        total_buckets: Some(3),
        files: vec![file(sequences), plain()],
        deletion_files: Some(vec![vector(Some(2)), None]),
        streaming: true,
        raw_convertible: false,
    }
}

fn incremental(sequences: bool) -> IncrementalSplit {
    IncrementalSplit {
        snapshot_id: 9,
        partition: row("p"),
        bucket: 1,
        bucket_path: String::new(),
        total_buckets: Some(2),
        before: vec![file(sequences)],
        before_deletion_files: Some(vec![vector(None)]),
        after: Vec::new(),
        after_deletion_files: None,
        streaming: false,
    }
}

const VERSIONS: [(JavaVersion, bool); 2] = [(JavaVersion::V1_4, false), (JavaVersion::V2_1, true)];

#[test]
fn splits_come_back_as_they_were_written() {
    // RP-115
    for (version, sequences) in VERSIONS {
        let split = split(sequences);
        let bytes = data_split_to_java(&split, version).unwrap();
        assert_eq!(data_split_from_java(&bytes).unwrap(), split);
        for split in [
            Split::Data(split),
            Split::Incremental(incremental(sequences)),
        ] {
            let object = split_to_java_object(&split, version).unwrap();
            assert_eq!(split_from_java_object(&object).unwrap(), split);
        }
    }
}

#[test]
fn older_versions_have_fewer_fields() {
    // Versions 1 to 7 are the newer form with what they do not have cut out, which the tests with Java's own bytes do not
    // reach: its writer knows its own version only.
    let plain = DataSplit {
        total_buckets: None,
        files: Vec::new(),
        deletion_files: None,
        ..split(false)
    };
    let new = data_split_to_java(&plain, JavaVersion::V1_4).unwrap();
    let body = &new[12..];
    let flag = body.len() - 1 - 4 - 1 - 4 - 1 - 2; // total buckets; behind it before, vectors, files, vectors, flags
    let without_flag = [&body[..flag], &body[flag + 1..]].concat();
    for version in 1..=7i32 {
        let body = if version < 6 { &without_flag } else { body };
        let mut bytes = Vec::new();
        if version > 1 {
            bytes.extend_from_slice(&new[..8]);
            bytes.extend_from_slice(&version.to_be_bytes());
        }
        bytes.extend_from_slice(body);
        assert_eq!(
            data_split_from_java(&bytes).unwrap(),
            plain,
            "version {version}"
        );
    }
}

#[test]
fn versions_and_classes_that_are_not_known_are_refused_by_name() {
    let mut bytes = data_split_to_java(&split(false), JavaVersion::V1_4).unwrap();
    bytes[11] = 10;
    let error = data_split_from_java(&bytes).unwrap_err();
    assert_eq!(error.feature(), Some("data splits of version 10"));
    let object = object::write("java.util.Date", &[1]).unwrap();
    let error = split_from_java_object(&object).unwrap_err();
    assert_eq!(error.feature(), Some("splits of class java.util.Date"));
    let error = split_to_java_object(&Split::Fallback(split(false)), JavaVersion::V1_4);
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn paths_become_absolute_below_the_table() {
    let relative = DataSplit {
        bucket_path: "bucket-0".to_owned(),
        ..split(false)
    };
    let Split::Data(found) = with_absolute_paths(Split::Data(relative), "oss://b/t/") else {
        unreachable!()
    };
    assert_eq!(found.bucket_path, "oss://b/t/bucket-0");
    assert_eq!(found.deletion_files, split(false).deletion_files);
}

proptest! {
    #[test]
    fn broken_bytes_are_errors(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let split = Split::Data(split(true));
        let Split::Data(data) = &split else { unreachable!() };
        for object in [false, true] {
            let mut bytes = match object {
                false => data_split_to_java(data, JavaVersion::V2_1).unwrap(),
                true => split_to_java_object(&split, JavaVersion::V2_1).unwrap(),
            };
            let at = at.index(bytes.len());
            if cut {
                bytes.truncate(at);
            } else {
                bytes[at] = byte;
            }
            let read = match object {
                false => data_split_from_java(&bytes).map(Split::Data),
                true => split_from_java_object(&bytes),
            };
            // A changed byte may be another value; nothing else comes of it than a split or an error of these.
            if let Err(error) = read {
                prop_assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported), "{error:?}");
            } else {
                prop_assert!(!cut);
            }
        }
    }
}
