//! The columns of a stripe as streams.

use std::collections::BTreeSet;
use std::ops::Range;

use paimon_meta::{DataField, DataType, Datum, Error, Result, TypeKind};

use super::proto::{Message, varint, zigzag};
use super::statistics::statistics;
use super::{CHUNK, OrcLayout, runs};
use crate::cell::Cell;
use crate::writer::nested::{Lists, children};

/// Kinds of streams.
const PRESENT: u64 = 0;
const DATA: u64 = 1;
const LENGTH: u64 = 2;
const DICTIONARY_DATA: u64 = 3;
const SECONDARY: u64 = 5;

/// Kinds of encodings.
const PLAIN: u64 = 0;
const DIRECT_V2: u64 = 2;
const DICTIONARY_V2: u64 = 3;

/// 2015-01-01T00:00:00Z, which seconds are counted from.
const EPOCH: i64 = 1_420_070_400;

/// The streams of a stripe.
#[derive(Debug)]
pub(super) struct StripeColumns {
    layout: OrcLayout,
    pub(super) data: Vec<u8>,
    streams: Message,
    encodings: Message,
    /// Those of all columns.
    pub(super) statistics: Message,
    columns: u64,
}

impl StripeColumns {
    /// Some rows of columns, below a struct that is never null.
    pub(super) fn of(
        columns: &[(DataField, Vec<Cell>)],
        rows: Range<usize>,
        layout: OrcLayout,
    ) -> Result<Self> {
        let mut stripe = Self {
            layout,
            data: Vec::new(),
            streams: Message::default(),
            encodings: Message::default(),
            statistics: Message::default(),
            columns: 0,
        };
        stripe.said(rows.len(), false, Message::default());
        stripe.encoding(PLAIN, 0);
        stripe.columns += 1;
        for (field, cells) in columns {
            let cells = cells.get(rows.clone()).unwrap_or_default();
            stripe.column(cells, &field.data_type)?;
        }
        Ok(stripe)
    }

    pub(super) fn footer(&self) -> Vec<u8> {
        let mut footer = self.streams.clone();
        footer.0.extend_from_slice(&self.encodings.0);
        footer.bytes(3, b"UTC");
        footer.0
    }

    /// A column and what is inside of it: its values where it is not null.
    fn column(&mut self, cells: &[Cell], data_type: &DataType) -> Result<()> {
        let present: Vec<bool> = cells.iter().map(|cell| *cell != Cell::Null).collect();
        let some: Vec<Cell> = cells
            .iter()
            .filter(|cell| **cell != Cell::Null)
            .cloned()
            .collect();
        let has_null = some.len() < cells.len();
        self.said(some.len(), has_null, statistics(&some, data_type)?);
        if has_null {
            self.stream(PRESENT, &runs::bits(&present))?;
        }
        match &data_type.kind {
            TypeKind::Array(element) => {
                let lists = Lists::of(&some, |item| Cell::from_json(item, element))?;
                self.lengths(&lists)?;
                self.column(&lists.items, element)
            }
            TypeKind::Map(key, value) => self.map(&some, (key, value)),
            TypeKind::Multiset(element) => self.map(&some, (element, &TypeKind::Int.not_null())),
            TypeKind::Row(fields) => self.row(&some, fields),
            _ => self.scalars(&some, data_type),
        }
    }

    fn row(&mut self, rows: &[Cell], fields: &[DataField]) -> Result<()> {
        self.encoding(PLAIN, 0);
        self.columns += 1;
        for (index, field) in fields.iter().enumerate() {
            let children = children(rows, index, &field.data_type)?;
            self.column(&children, &field.data_type)?;
        }
        Ok(())
    }

    fn map(&mut self, maps: &[Cell], (key, value): (&DataType, &DataType)) -> Result<()> {
        let keys = Lists::entries(maps, 0, key)?;
        let values = Lists::entries(maps, 1, value)?;
        self.lengths(&keys)?;
        self.column(&keys.items, key)?;
        self.column(&values.items, value)
    }

    fn lengths(&mut self, lists: &Lists) -> Result<()> {
        let lengths = lists.lengths.iter().map(|length| *length as u64);
        self.stream(LENGTH, &runs::integers(&lengths.collect::<Vec<_>>()))?;
        self.encoding(DIRECT_V2, 0);
        self.columns += 1;
        Ok(())
    }

    fn scalars(&mut self, cells: &[Cell], data_type: &DataType) -> Result<()> {
        let values: Vec<&Datum> = cells.iter().filter_map(Cell::datum).collect();
        let mut encoding = (DIRECT_V2, 0);
        match &data_type.kind {
            TypeKind::Char(_) | TypeKind::VarChar(_) if self.layout.dictionary => {
                encoding = (DICTIONARY_V2, self.dictionary(&values)?);
            }
            kind if kind.is_text() || kind.is_bytes() => self.texts(&values)?,
            TypeKind::Decimal { .. } => self.decimals(&values)?,
            TypeKind::Timestamp(_) | TypeKind::LocalZonedTimestamp(_) => {
                self.timestamps(&values)?;
            }
            TypeKind::Boolean => {
                let bits: Vec<bool> = values
                    .iter()
                    .map(|value| **value == Datum::Boolean(true))
                    .collect();
                self.stream(DATA, &runs::bits(&bits))?;
                encoding.0 = PLAIN;
            }
            TypeKind::TinyInt | TypeKind::Float | TypeKind::Double => {
                let bytes: Vec<u8> = values.iter().flat_map(|value| plain(value)).collect();
                let runs = match data_type.kind {
                    TypeKind::TinyInt => runs::bytes(&bytes),
                    _ => bytes,
                };
                self.stream(DATA, &runs)?;
                encoding.0 = PLAIN;
            }
            _ => {
                let integers = values.iter().map(|value| zigzag(integer(value)));
                self.stream(DATA, &runs::integers(&integers.collect::<Vec<_>>()))?;
            }
        }
        self.encoding(encoding.0, encoding.1);
        self.columns += 1;
        Ok(())
    }

    /// Distinct texts in order, and the place of each value among them; how many there are.
    fn dictionary(&mut self, values: &[&Datum]) -> Result<u64> {
        let texts = || values.iter().map(|value| bytes(value));
        let distinct: BTreeSet<&[u8]> = texts().collect();
        let distinct: Vec<&[u8]> = distinct.into_iter().collect();
        let keys: Vec<u64> = texts()
            .map(|text| distinct.partition_point(|other| *other < text) as u64)
            .collect();
        self.stream(DATA, &runs::integers(&keys))?;
        self.stream(DICTIONARY_DATA, &distinct.concat())?;
        let lengths: Vec<u64> = distinct.iter().map(|text| text.len() as u64).collect();
        self.stream(LENGTH, &runs::integers(&lengths))?;
        Ok(distinct.len() as u64)
    }

    fn texts(&mut self, values: &[&Datum]) -> Result<()> {
        let texts: Vec<&[u8]> = values.iter().map(|value| bytes(value)).collect();
        self.stream(DATA, &texts.concat())?;
        let lengths: Vec<u64> = texts.iter().map(|text| text.len() as u64).collect();
        self.stream(LENGTH, &runs::integers(&lengths))
    }

    fn decimals(&mut self, values: &[&Datum]) -> Result<()> {
        let (mut unscaled, mut scales) = (Vec::new(), Vec::new());
        for value in values {
            if let Datum::Decimal(value, scale) = value {
                varint((value << 1 ^ value >> 127).cast_unsigned(), &mut unscaled);
                scales.push(zigzag(i64::from(*scale)));
            }
        }
        self.stream(DATA, &unscaled)?;
        self.stream(SECONDARY, &runs::integers(&scales))
    }

    fn timestamps(&mut self, values: &[&Datum]) -> Result<()> {
        let (mut seconds, mut nanos) = (Vec::new(), Vec::new());
        for value in values {
            if let Datum::Timestamp { millis, nanos: few } = value {
                let (second, part) = timestamp(*millis, *few)?;
                seconds.push(zigzag(second));
                nanos.push(part);
            }
        }
        self.stream(DATA, &runs::integers(&seconds))?;
        self.stream(SECONDARY, &runs::integers(&nanos))
    }

    /// A stream of the column.
    fn stream(&mut self, kind: u64, bytes: &[u8]) -> Result<()> {
        let bytes = self.layout.chunks(bytes, CHUNK)?;
        let mut message = Message::default();
        message.number(1, kind);
        message.number(2, self.columns);
        message.number(3, bytes.len() as u64);
        self.streams.bytes(1, &message.0);
        self.data.extend_from_slice(&bytes);
        Ok(())
    }

    fn encoding(&mut self, kind: u64, dictionary: u64) {
        let mut message = Message::default();
        message.number(1, kind);
        message.number(2, dictionary);
        self.encodings.bytes(2, &message.0);
    }

    /// What is said of the column.
    fn said(&mut self, values: usize, has_null: bool, bounds: Message) {
        let mut message = bounds;
        message.number(1, values as u64);
        message.number(10, u64::from(has_null));
        self.statistics.bytes(1, &message.0);
    }
}

fn bytes(value: &Datum) -> &[u8] {
    match value {
        Datum::String(text) => text.as_bytes(),
        Datum::Binary(bytes) => bytes,
        _ => &[],
    }
}

fn plain(value: &Datum) -> Vec<u8> {
    match value {
        Datum::TinyInt(value) => value.to_le_bytes().to_vec(),
        Datum::Float(value) => value.to_le_bytes().to_vec(),
        Datum::Double(value) => value.to_le_bytes().to_vec(),
        _ => Vec::new(),
    }
}

/// Integers of all widths, dates and times (TF-086).
pub(super) fn integer(value: &Datum) -> i64 {
    match *value {
        Datum::TinyInt(value) => value.into(),
        Datum::SmallInt(value) => value.into(),
        Datum::Int(value) | Datum::Date(value) | Datum::Time(value) => value.into(),
        Datum::BigInt(value) => value,
        _ => 0,
    }
}

/// Seconds since 2015, cut toward zero since 1970, and nanoseconds with the number of zeros that they are short of.
///
/// # Errors
/// `Unsupported` in the last second before 1970, where the reference loses the fraction (table-format 8.2).
fn timestamp(millis: i64, nanos: i32) -> Result<(i64, u64)> {
    if (-999..0).contains(&millis) {
        return Err(Error::unsupported(
            "timestamps in the last second before 1970 in ORC files",
        ));
    }
    let part = millis.rem_euclid(1000) * 1_000_000 + i64::from(nanos);
    let mut part = part.cast_unsigned();
    let mut zeros = 0;
    if part > 0 && part.is_multiple_of(100) {
        part /= 100;
        zeros = 1;
        while part.is_multiple_of(10) && zeros < 7 {
            part /= 10;
            zeros += 1;
        }
    }
    Ok((millis / 1000 - EPOCH, part << 3 | zeros))
}
