//! Writes ORC files, as simply as the format allows.

use std::collections::BTreeSet;
use std::io::Write;

use bytes::Bytes;

/// Kinds of types by their number in the format.
pub(crate) const LONG: u64 = 4;
pub(crate) const INT: u64 = 3;
pub(crate) const DOUBLE: u64 = 6;
pub(crate) const STRING: u64 = 7;
pub(crate) const TIMESTAMP: u64 = 9;
pub(crate) const LIST: u64 = 10;
pub(crate) const MAP: u64 = 11;
pub(crate) const STRUCT: u64 = 12;
pub(crate) const DECIMAL: u64 = 14;
pub(crate) const CHAR: u64 = 17;
pub(crate) const INSTANT: u64 = 18;

const PRESENT: u64 = 0;
const DATA: u64 = 1;
const LENGTH: u64 = 2;
const DICTIONARY_DATA: u64 = 3;
const SECONDARY: u64 = 5;

/// Codecs by their number in the postscript.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Codec {
    None = 0,
    Zlib = 1,
    Snappy = 2,
    Lz4 = 4,
    Zstd = 5,
}

/// How a file is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) codec: Codec,
    /// Bytes of a chunk.
    pub(crate) chunk: usize,
    /// Version of the runs of integers.
    pub(crate) version: u64,
    pub(crate) dictionaries: bool,
    pub(crate) zone: &'static str,
}

pub(crate) const PLAIN: Options = Options {
    codec: Codec::None,
    chunk: 1 << 18,
    version: 2,
    dictionaries: false,
    zone: "UTC",
};

/// A type and the children below it.
pub(crate) struct Type {
    pub(crate) kind: u64,
    pub(crate) children: Vec<(String, Type)>,
}

pub(crate) fn leaf(kind: u64) -> Type {
    Type {
        kind,
        children: Vec::new(),
    }
}

pub(crate) fn node(kind: u64, children: Vec<(&str, Type)>) -> Type {
    let children = children
        .into_iter()
        .map(|(name, child)| (name.to_owned(), child));
    Type {
        kind,
        children: children.collect(),
    }
}

/// The values of a column in one stripe; those of its children come in `children`.
#[derive(Default)]
pub(crate) struct Column {
    pub(crate) present: Option<Vec<bool>>,
    pub(crate) values: Values,
    pub(crate) children: Vec<Column>,
}

#[derive(Default)]
pub(crate) enum Values {
    /// A struct.
    #[default]
    None,
    Integers(Vec<i64>),
    Doubles(Vec<f64>),
    Text(Vec<String>),
    /// Of lists and maps.
    Lengths(Vec<i64>),
    /// Unscaled values and their scales.
    Decimals(Vec<(i64, i64)>),
    /// Seconds since 2015 and encoded nanoseconds.
    Timestamps(Vec<(i64, i64)>),
}

/// A file of one top-level struct; each stripe has so many rows and those columns.
pub(crate) fn write(root: &Type, stripes: &[(u64, Column)], options: Options) -> Bytes {
    let mut file = b"ORC".to_vec();
    let mut footer = Vec::new();
    let mut rows = 0;
    for (stripe_rows, columns) in stripes {
        let start = file.len() as u64;
        let mut stripe = StripeWriter {
            options,
            ..StripeWriter::default()
        };
        stripe.column(columns);
        file.extend_from_slice(&stripe.data);
        if options.zone != "UTC" {
            bytes_field(&mut stripe.footer, 3, options.zone.as_bytes());
        }
        let stripe_footer = compressed(&stripe.footer, options);
        file.extend_from_slice(&stripe_footer);
        let mut information = Vec::new();
        number_field(&mut information, 1, start);
        number_field(&mut information, 2, 0);
        number_field(&mut information, 3, stripe.data.len() as u64);
        number_field(&mut information, 4, stripe_footer.len() as u64);
        number_field(&mut information, 5, *stripe_rows);
        bytes_field(&mut footer, 3, &information);
        rows += stripe_rows;
    }
    let mut next = 0;
    types(root, &mut next, &mut footer);
    number_field(&mut footer, 6, rows);
    let footer = compressed(&footer, options);
    file.extend_from_slice(&footer);
    let mut postscript = Vec::new();
    number_field(&mut postscript, 1, footer.len() as u64);
    number_field(&mut postscript, 2, options.codec as u64);
    number_field(&mut postscript, 3, options.chunk as u64);
    number_field(&mut postscript, 5, 0);
    bytes_field(&mut postscript, 8000, b"ORC");
    file.extend_from_slice(&postscript);
    file.push(u8::try_from(postscript.len()).unwrap());
    file.into()
}

/// Writes a type and those below it, numbered in that order.
fn types(of: &Type, next: &mut u64, footer: &mut Vec<u8>) {
    fn size(of: &Type) -> u64 {
        1 + of
            .children
            .iter()
            .map(|(_, child)| size(child))
            .sum::<u64>()
    }
    let mut message = Vec::new();
    number_field(&mut message, 1, of.kind);
    let mut child = *next + 1;
    for (name, of_child) in &of.children {
        number_field(&mut message, 2, child);
        if of.kind == STRUCT {
            bytes_field(&mut message, 3, name.as_bytes());
        }
        child += size(of_child);
    }
    bytes_field(footer, 4, &message);
    *next += 1;
    for (_, child) in &of.children {
        types(child, next, footer);
    }
}

#[derive(Default)]
struct StripeWriter {
    options: Options,
    data: Vec<u8>,
    footer: Vec<u8>,
    columns: u64,
}

impl Default for Options {
    fn default() -> Self {
        PLAIN
    }
}

impl StripeWriter {
    fn column(&mut self, column: &Column) {
        let number = self.columns;
        self.columns += 1;
        if let Some(present) = &column.present {
            self.stream(number, PRESENT, &bits(present));
        }
        let version = self.options.version;
        let integers = |values: &[i64], signed| runs(values, version, signed);
        let mut encoding = if version == 2 { 2 } else { 0 };
        let mut dictionary_size = 0;
        match &column.values {
            Values::None => encoding = 0,
            Values::Integers(values) => self.stream(number, DATA, &integers(values, true)),
            Values::Doubles(values) => {
                encoding = 0;
                self.stream(number, DATA, &doubles(values));
            }
            Values::Lengths(values) => self.stream(number, LENGTH, &integers(values, false)),
            Values::Text(values) if self.options.dictionaries => {
                let dictionary: Vec<&String> =
                    values.iter().collect::<BTreeSet<_>>().into_iter().collect();
                let keys: Vec<i64> = values
                    .iter()
                    .map(|value| dictionary.binary_search(&value).unwrap() as i64)
                    .collect();
                encoding += 1;
                dictionary_size = dictionary.len() as u64;
                let (lengths, text) = text(&dictionary);
                self.stream(number, DATA, &integers(&keys, false));
                self.stream(number, LENGTH, &integers(&lengths, false));
                self.stream(number, DICTIONARY_DATA, &text);
            }
            Values::Text(values) => {
                let (lengths, text) = text(&values.iter().collect::<Vec<_>>());
                self.stream(number, DATA, &text);
                self.stream(number, LENGTH, &integers(&lengths, false));
            }
            Values::Decimals(values) => {
                let mut unscaled = Vec::new();
                values
                    .iter()
                    .for_each(|(value, _)| varint(&mut unscaled, zigzag(*value)));
                let scales: Vec<i64> = values.iter().map(|(_, scale)| *scale).collect();
                self.stream(number, DATA, &unscaled);
                self.stream(number, SECONDARY, &integers(&scales, true));
            }
            Values::Timestamps(values) => {
                let seconds: Vec<i64> = values.iter().map(|(seconds, _)| *seconds).collect();
                let nanos: Vec<i64> = values.iter().map(|(_, nanos)| *nanos).collect();
                self.stream(number, DATA, &integers(&seconds, true));
                self.stream(number, SECONDARY, &integers(&nanos, false));
            }
        }
        let mut message = Vec::new();
        number_field(&mut message, 1, encoding);
        number_field(&mut message, 2, dictionary_size);
        bytes_field(&mut self.footer, 2, &message);
        column.children.iter().for_each(|child| self.column(child));
    }

    fn stream(&mut self, column: u64, kind: u64, bytes: &[u8]) {
        let bytes = compressed(bytes, self.options);
        let mut message = Vec::new();
        number_field(&mut message, 1, kind);
        number_field(&mut message, 2, column);
        number_field(&mut message, 3, bytes.len() as u64);
        bytes_field(&mut self.footer, 1, &message);
        self.data.extend_from_slice(&bytes);
    }
}

fn doubles(values: &[f64]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn text(values: &[&String]) -> (Vec<i64>, Vec<u8>) {
    let lengths = values.iter().map(|value| value.len() as i64).collect();
    let bytes = values.iter().flat_map(|value| value.bytes()).collect();
    (lengths, bytes)
}

/// Bits, eight in a byte, the bytes as they are in runs of up to 128.
fn bits(values: &[bool]) -> Vec<u8> {
    let bytes: Vec<u8> = values
        .chunks(8)
        .map(|bits| {
            let set = bits.iter().enumerate().filter(|(_, bit)| **bit);
            set.fold(0, |byte, (at, _)| byte | 0x80 >> at)
        })
        .collect();
    let mut runs = Vec::new();
    for literal in bytes.chunks(128) {
        runs.push((256 - literal.len()) as u8);
        runs.extend_from_slice(literal);
    }
    runs
}

/// Integers as they are, in the runs of either version.
fn runs(values: &[i64], version: u64, signed: bool) -> Vec<u8> {
    let number = |value: i64| if signed { zigzag(value) } else { value as u64 };
    let mut runs = Vec::new();
    if version == 1 {
        for literal in values.chunks(128) {
            runs.push((256 - literal.len()) as u8);
            literal
                .iter()
                .for_each(|value| varint(&mut runs, number(*value)));
        }
    } else {
        for direct in values.chunks(512) {
            let length = direct.len() - 1;
            runs.push(0x40 | 31 << 1 | (length >> 8) as u8);
            runs.push(length as u8);
            direct
                .iter()
                .for_each(|value| runs.extend_from_slice(&number(*value).to_be_bytes()));
        }
    }
    runs
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn number_field(out: &mut Vec<u8>, field: u64, value: u64) {
    varint(out, field << 3);
    varint(out, value);
}

fn bytes_field(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    varint(out, field << 3 | 2);
    varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn compressed(bytes: &[u8], options: Options) -> Vec<u8> {
    if options.codec == Codec::None {
        return bytes.to_vec();
    }
    let mut out = Vec::new();
    for chunk in bytes.chunks(options.chunk) {
        let smaller = match options.codec {
            Codec::None => Vec::new(),
            Codec::Zlib => {
                let mut encoder = flate2::write::DeflateEncoder::new(vec![], Default::default());
                encoder.write_all(chunk).unwrap();
                encoder.finish().unwrap()
            }
            Codec::Snappy => snap::raw::Encoder::new().compress_vec(chunk).unwrap(),
            Codec::Lz4 => lz4_flex::block::compress(chunk),
            Codec::Zstd => zstd::bulk::compress(chunk, 1).unwrap(),
        };
        let (stored, original) = if smaller.len() < chunk.len() {
            (smaller.as_slice(), 0)
        } else {
            (chunk, 1)
        };
        let head = (stored.len() as u32) << 1 | original;
        out.extend_from_slice(&head.to_le_bytes()[..3]);
        out.extend_from_slice(stored);
    }
    out
}
