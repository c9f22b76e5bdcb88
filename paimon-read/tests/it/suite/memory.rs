//! A merge holds a window of its section, not the section.

use paimon_meta::{Datum, RowKind};
use paimon_read::{ReadRequest, ReadTask, block_on};

use parquet::basic::{Compression, ZstdLevel};

use super::table::{Layout, Record, TestTable};

const GROUP: usize = 6000;

/// A table with a key made by `key` of ascending numbers, and a text of 400 bytes.
struct Wide {
    options: &'static [(&'static str, &'static str)],
    columns: &'static [(&'static str, &'static str)],
    keys: &'static [&'static str],
    key: fn(i32) -> Vec<Option<Datum>>,
}

/// Most bytes that a merge of two interleaved runs of so many row groups holds at once: all keys of one, every second
/// key of the other.
fn peak(wide: &Wide, groups: usize) -> u64 {
    let table = TestTable::new(wide.columns, wide.keys);
    let options = wide.options.iter();
    let table = options.fold(table, |table, (key, value)| table.option(key, value));
    let table = table.laid_out(Layout {
        group_rows: GROUP,
        page_rows: 1000,
        page_bounds: false,
        thin: true,
        compression: Compression::ZSTD(ZstdLevel::default()),
    });
    let rows = i32::try_from(GROUP * groups).unwrap();
    let run = |name: &str, step: i32, first: i64| {
        let keys = (0..rows * step).step_by(usize::try_from(step).unwrap());
        let records: Vec<Record> = keys
            .zip(first..)
            .map(|(key, sequence)| {
                let mut values = (wide.key)(key);
                values.push(Some(Datum::String(format!("{name}{key:0>396}"))));
                Record {
                    kind: RowKind::Insert,
                    sequence,
                    values,
                }
            })
            .collect();
        table.write_records(name, &records)
    };
    let files = vec![run("old", 1, 0), run("new", 2, 10_000_000)];
    let split = paimon_meta::Split::Data(table.split(files));
    let expected = GROUP * groups * 3 / 2;
    let info = allocation_counter::measure(|| {
        let reader = table.reader(ReadRequest::default());
        let mut stream = reader.read(ReadTask::new(split.clone())).unwrap();
        let mut found = 0;
        while let Some(batch) = block_on(futures_util::StreamExt::next(&mut stream)) {
            found += batch.unwrap().num_rows();
        }
        assert_eq!(found, expected);
    });
    info.bytes_max
}

fn check(wide: &Wide) {
    let (small, large) = (peak(wide, 5), peak(wide, 50));
    assert!(
        large * 10 <= small * 11,
        "{large} bytes for a section ten times as large as one of {small} bytes"
    );
}

fn text(number: i32) -> Option<Datum> {
    Some(Datum::String(format!("some-common-prefix-{number:09}")))
}

#[test]
fn memory_does_not_grow_with_the_section_for_a_string_key() {
    check(&Wide {
        options: &[],
        columns: &[("k", "STRING NOT NULL"), ("v", "STRING")],
        keys: &["k"],
        key: |number| vec![text(number)],
    });
}

#[test]
fn memory_does_not_grow_with_the_section_for_a_key_of_two_columns() {
    check(&Wide {
        options: &[],
        columns: &[
            ("a", "INT NOT NULL"),
            ("b", "STRING NOT NULL"),
            ("v", "STRING"),
        ],
        keys: &["a", "b"],
        key: |number| vec![Some(Datum::Int(number / 10)), text(number)],
    });
}

#[test]
fn memory_does_not_grow_with_the_section_for_a_key_of_two_integers() {
    check(&Wide {
        options: &[],
        columns: &[
            ("a", "INT NOT NULL"),
            ("b", "BIGINT NOT NULL"),
            ("v", "STRING"),
        ],
        keys: &["a", "b"],
        key: |number| {
            vec![
                Some(Datum::Int(number / 10)),
                Some(Datum::BigInt(i64::from(number % 10))),
            ]
        },
    });
}

/// Peak of a merge of so many files of 100 rows across all keys, each key in two of them, and the bytes of the files.
fn peak_of_small_files(files: usize) -> (u64, u64) {
    let table =
        TestTable::new(&[("k", "BIGINT NOT NULL"), ("v", "STRING")], &["k"]).laid_out(Layout {
            compression: Compression::ZSTD(ZstdLevel::default()),
            ..Layout::default()
        });
    let step = files / 2;
    let write = |file: usize| {
        let records: Vec<Record> = (0..100)
            .map(|row| {
                let key = i64::try_from(file / 2 + row * step).unwrap();
                Record {
                    kind: RowKind::Insert,
                    sequence: i64::try_from(file * 100 + row).unwrap(),
                    values: vec![
                        Some(Datum::BigInt(key)),
                        Some(Datum::String(format!("{file}-{key:0>140}"))),
                    ],
                }
            })
            .collect();
        table.write_records(&format!("f{file}"), &records)
    };
    let metas: Vec<_> = (0..files).map(write).collect();
    let bytes = metas.iter().map(|file| file.file_size).sum();
    let split = paimon_meta::Split::Data(table.split(metas));
    let info = allocation_counter::measure(|| {
        let reader = table.reader(ReadRequest::default());
        let mut stream = reader.read(ReadTask::new(split.clone())).unwrap();
        let mut found = 0;
        while let Some(batch) = block_on(futures_util::StreamExt::next(&mut stream)) {
            found += batch.unwrap().num_rows();
        }
        assert_eq!(found, step * 100);
    });
    (info.bytes_max, bytes)
}

#[test]
fn two_thousand_runs_at_once_take_their_bytes_and_32_kib_each() {
    let files = 2000;
    let (peak, bytes) = peak_of_small_files(files);
    let bound = bytes + files as u64 * (32 << 10);
    assert!(peak <= bound, "{peak} bytes for files of {bytes}");
}

/// A table whose rows are made of several versions: `k`, a sequence, and the text.
fn folded(options: &'static [(&'static str, &'static str)]) -> Wide {
    Wide {
        options,
        columns: &[("k", "STRING NOT NULL"), ("g", "INT"), ("v", "STRING")],
        keys: &["k"],
        key: |number| vec![text(number), Some(Datum::Int(number % 7))],
    }
}

#[test]
fn memory_does_not_grow_with_the_section_for_partial_update() {
    check(&folded(&[
        ("merge-engine", "partial-update"),
        ("fields.g.sequence-group", "v"),
    ]));
}

#[test]
fn memory_does_not_grow_with_the_section_for_aggregation() {
    check(&folded(&[
        ("merge-engine", "aggregation"),
        ("fields.g.aggregate-function", "sum"),
        ("fields.v.aggregate-function", "max"),
    ]));
}
