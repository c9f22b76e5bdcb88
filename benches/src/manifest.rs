//! A manifest as the reference writes it: blocks of 64 000 bytes, zstandard at level 1.

use std::ops::Range;

use apache_avro::types::Value;
use apache_avro::{Codec, Error, Schema, Writer, ZstandardSettings};

/// The schema of section 4.3 of the format notes.
pub(crate) const SCHEMA: &str = include_str!("manifest_schema.json");

/// Columns with value statistics.
const VALUE_COLUMNS: usize = 8;

/// A manifest of `entries` compacted files: a BIGINT key, a date as partition, 16 buckets, statistics of eight columns.
///
/// # Errors
/// Those of the Avro writer.
pub fn manifest(entries: usize) -> Result<Vec<u8>, Error> {
    entries_of(0..entries as u64, Kind::Add, |_| 5)
}

/// Whether entries add their files or delete them.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// `_KIND` 0.
    Add,
    /// `_KIND` 1.
    Delete,
}

/// A manifest of a range of the same files, on other levels or deleted.
///
/// # Errors
/// Those of the Avro writer.
pub fn entries_of(
    files: Range<u64>,
    kind: Kind,
    level: impl Fn(u64) -> i32,
) -> Result<Vec<u8>, Error> {
    let schema = Schema::parse_str(SCHEMA)?;
    let codec = Codec::Zstandard(ZstandardSettings::new(1));
    let writer = Writer::builder().schema(&schema).writer(Vec::new());
    let mut writer = writer.codec(codec).block_size(64_000).build();
    for index in files {
        writer.append(entry(index, kind, level(index)))?;
    }
    writer.into_inner()
}

fn entry(index: u64, kind: Kind, level: i32) -> Value {
    let partition = text_row(&format!("202405{:02}", 10 + index / 2000 % 20));
    record([
        ("_VERSION", Value::Int(2)),
        ("_KIND", Value::Int(kind as i32)),
        ("_PARTITION", Value::Bytes(partition)),
        ("_BUCKET", Value::Int(small(index % 16))),
        ("_TOTAL_BUCKETS", Value::Int(16)),
        ("_FILE", file(index, level)),
    ])
}

fn file(index: u64, level: i32) -> Value {
    // Fibonacci hashing: bits that look random, the same in every run.
    let random = index.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let (min, max) = (random >> 20, random >> 19);
    record([
        ("_FILE_NAME", Value::String(file_name(random, index % 7))),
        ("_FILE_SIZE", long(100_000_000 + (random >> 40))),
        ("_ROW_COUNT", long(1_000_000 + (random >> 50))),
        ("_MIN_KEY", Value::Bytes(row(&[min]))),
        ("_MAX_KEY", Value::Bytes(row(&[max]))),
        ("_KEY_STATS", stats(min, max, 1)),
        ("_VALUE_STATS", stats(min, max, VALUE_COLUMNS)),
        ("_MIN_SEQUENCE_NUMBER", long(index * 1000)),
        ("_MAX_SEQUENCE_NUMBER", long(index * 1000 + 999)),
        ("_SCHEMA_ID", long(0)),
        ("_LEVEL", Value::Int(level)),
        ("_EXTRA_FILES", Value::Array(Vec::new())),
        (
            "_CREATION_TIME",
            some(Value::TimestampMillis(1_715_000_000_000)),
        ),
        ("_DELETE_ROW_COUNT", some(long(0))),
        ("_EMBEDDED_FILE_INDEX", none()),
        ("_FILE_SOURCE", some(Value::Int(1))),
        ("_VALUE_STATS_COLS", none()),
        ("_EXTERNAL_PATH", none()),
        ("_FIRST_ROW_ID", none()),
        ("_WRITE_COLS", none()),
        ("_WRITE_COLS_SEQUENCES", none()),
    ])
}

fn file_name(random: u64, counter: u64) -> String {
    let uuid = u128::from(random) << 64 | u128::from(random.rotate_left(29));
    let uuid = format!("{uuid:032x}");
    let (first, rest) = uuid.split_at(8);
    let (second, rest) = rest.split_at(4);
    let (third, rest) = rest.split_at(4);
    let (fourth, fifth) = rest.split_at(4);
    format!("data-{first}-{second}-{third}-{fourth}-{fifth}-{counter}.parquet")
}

pub(crate) fn record<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Record(
        fields
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec(),
    )
}

pub(crate) fn none() -> Value {
    Value::Union(0, Box::new(Value::Null))
}

pub(crate) fn some(value: Value) -> Value {
    Value::Union(1, Box::new(value))
}

pub(crate) fn long(value: u64) -> Value {
    Value::Long(value.cast_signed())
}

fn small(value: u64) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

fn stats(min: u64, max: u64, columns: usize) -> Value {
    let null_counts = vec![some(Value::Long(0)); columns];
    record([
        ("_MIN_VALUES", Value::Bytes(row(&vec![min; columns]))),
        ("_MAX_VALUES", Value::Bytes(row(&vec![max; columns]))),
        ("_NULL_COUNTS", some(Value::Array(null_counts))),
    ])
}

/// A serialized row of less than 57 BIGINTs.
fn row(values: &[u64]) -> Vec<u8> {
    let arity = u32::try_from(values.len())
        .unwrap_or_default()
        .to_be_bytes();
    let slots = values.iter().flat_map(|value| value.to_le_bytes());
    arity.into_iter().chain([0; 8]).chain(slots).collect()
}

/// A serialized row of one text of 8 bytes.
pub(crate) fn text_row(text: &str) -> Vec<u8> {
    let header = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    let place = [8, 0, 0, 0, 16, 0, 0, 0];
    [header.as_slice(), &place, text.as_bytes()].concat()
}
