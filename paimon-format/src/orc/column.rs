//! A column of a stripe as it is decoded.

use std::collections::HashMap;

use arrow_array::ArrayRef;
use arrow_buffer::{NullBuffer, NullBufferBuilder};
use arrow_schema::DataType as ArrowType;
use paimon_meta::{Error, Result};

use super::bits::{Bits, ByteRuns, Present};
use super::chunk::Inflater;
use super::integer::{IntegerRuns, Version};
use super::numbers::{Booleans, Decimals, Integers};
use super::resolve::{Node, Shape};
use super::row_index::Places;
use super::stream::{ByteStream, Parts};
use super::stripe::Encoding;
use super::text::{Dictionary, Direct};
use super::timestamp::Timestamps;
use super::values::Values;
use super::zone::Zone;

/// Kinds of streams that hold values.
pub(super) const PRESENT: u64 = 0;
pub(super) const DATA: u64 = 1;
pub(super) const LENGTH: u64 = 2;
pub(super) const DICTIONARY_DATA: u64 = 3;
pub(super) const SECONDARY: u64 = 5;
/// Kind of the streams of the row index.
pub(super) const ROW_INDEX: u64 = 6;

/// The streams of a stripe that a scan reads, and how they are encoded.
#[derive(Debug)]
pub(super) struct Streams {
    /// By column and kind.
    pub(super) bytes: HashMap<(usize, u64), Parts>,
    pub(super) encodings: Vec<Encoding>,
    pub(super) writer_zone: String,
    /// Where groups of rows begin, if not all of them are there.
    pub(super) places: Option<Places>,
    /// Of instants in their legacy form.
    pub(super) instant_zone: Option<Zone>,
    pub(super) inflater: Inflater,
}

impl Streams {
    /// A stream; one that is not there has no bytes.
    fn stream(&self, column: usize, kind: u64) -> ByteStream {
        let bytes = self.bytes.get(&(column, kind)).cloned();
        ByteStream::new(bytes.unwrap_or_default(), &self.inflater)
    }

    fn integers(&self, column: usize, kind: u64, signed: bool) -> Result<IntegerRuns> {
        let version = match self.encoding(column)?.kind {
            0 | 1 => Version::One,
            2 | 3 => Version::Two,
            other => return Err(Error::corrupt(format!("encoding {other} is not known"))),
        };
        Ok(IntegerRuns::new(self.stream(column, kind), version, signed))
    }

    fn encoding(&self, column: usize) -> Result<Encoding> {
        let encoding = self.encodings.get(column).copied();
        encoding.ok_or_else(|| Error::corrupt(format!("column {column} has no encoding")))
    }
}

/// Values of one type and where they are null.
#[derive(Debug)]
pub(super) struct Column {
    /// Its number in the file.
    number: usize,
    present: Option<Bits>,
    values: Values,
    to: ArrowType,
    nulls: NullBufferBuilder,
}

impl Column {
    /// # Errors
    /// `Corrupt` and `Unsupported` for encodings and zones that are not known.
    pub(super) fn new(node: &Node, streams: &Streams) -> Result<Self> {
        let has_nulls = streams.bytes.contains_key(&(node.column, PRESENT));
        Ok(Self {
            number: node.column,
            present: has_nulls.then(|| Bits::new(streams.stream(node.column, PRESENT))),
            values: values(node, streams)?,
            to: node.to.clone(),
            nulls: NullBufferBuilder::new(0),
        })
    }

    /// Appends the values of the next rows; `rows` says which of them the enclosing row has.
    ///
    /// # Errors
    /// `Corrupt` if there are fewer, or values that the asked type cannot hold. The column is of no use after that.
    pub(super) fn read(&mut self, rows: &Present) -> Result<()> {
        let present = match &mut self.present {
            Some(bits) => rows.narrowed(bits)?,
            None => rows.clone(),
        };
        match &present {
            Present::All(count) => self.nulls.append_n_non_nulls(*count),
            Present::Some(bits, _) => self.nulls.append_buffer(&NullBuffer::new(bits.clone())),
        }
        self.values.read(&present, &self.to)
    }

    /// Steps over the values of the next rows.
    ///
    /// # Errors
    /// `Corrupt` if there are fewer.
    pub(super) fn skip(&mut self, rows: &Present) -> Result<()> {
        match &mut self.present {
            Some(bits) => self.values.skip(&rows.narrowed(bits)?),
            None => self.values.skip(rows),
        }
    }

    /// Goes to where a group of rows begins.
    ///
    /// # Errors
    /// `Corrupt` if there is no such place.
    pub(super) fn seek(&mut self, places: &Places, group: usize) -> Result<()> {
        if let Some(bits) = &mut self.present {
            bits.seek(places.at(self.number, PRESENT, group)?)?;
        }
        self.values.seek(self.number, places, group)
    }

    /// The values so far, in the asked type; the column is empty again.
    ///
    /// # Errors
    /// `Corrupt` for values that the asked type cannot hold.
    pub(super) fn finish(&mut self) -> Result<ArrayRef> {
        let nulls = self.nulls.finish();
        self.values.finish(nulls, &self.to)
    }
}

fn values(node: &Node, streams: &Streams) -> Result<Values> {
    let column = node.column;
    let data = || streams.stream(column, DATA);
    let signed = |kind| streams.integers(column, kind, true);
    let unsigned = |kind| streams.integers(column, kind, false);
    let child = |node: &Node| Column::new(node, streams);
    Ok(match &node.shape {
        Shape::Boolean => Values::Boolean(Booleans::new(Bits::new(data()))),
        Shape::Byte => Values::integers(Integers::Bytes(ByteRuns::new(data()))),
        Shape::Integer => Values::integers(Integers::Runs(signed(DATA)?)),
        Shape::Float => Values::Float(data(), Vec::new()),
        Shape::Double => Values::Double(data(), Vec::new()),
        Shape::WidenedFloat => Values::WidenedFloat(data(), Vec::new()),
        Shape::Decimal(rescale) => {
            let decimals = Decimals::new(data(), signed(SECONDARY)?, *rescale);
            Values::Decimal(decimals)
        }
        Shape::Text { trimmed } => text(column, *trimmed, streams)?,
        Shape::Bytes => Values::Direct(Direct::new(unsigned(LENGTH)?, data(), false)),
        Shape::Timestamp(unit) => {
            let zone = Zone::named(&streams.writer_zone)?;
            let (seconds, nanos) = (signed(DATA)?, unsigned(SECONDARY)?);
            Values::Timestamp(Timestamps::local(seconds, nanos, *unit, zone))
        }
        Shape::Instant(unit) => {
            let (seconds, nanos) = (signed(DATA)?, unsigned(SECONDARY)?);
            let zone = streams.instant_zone.clone();
            Values::Timestamp(Timestamps::instant(seconds, nanos, *unit, zone))
        }
        Shape::List(element) => Values::list(unsigned(LENGTH)?, child(element)?),
        Shape::Map(entry) => {
            let [key, value] = entry.as_ref();
            Values::map(unsigned(LENGTH)?, child(key)?, child(value)?)
        }
        Shape::Row(children) => {
            let children = children
                .iter()
                .map(|(name, node)| Ok((name.clone(), child(node)?)));
            Values::Row(children.collect::<Result<_>>()?)
        }
    })
}

fn text(column: usize, trimmed: bool, streams: &Streams) -> Result<Values> {
    let encoding = streams.encoding(column)?;
    let lengths = streams.integers(column, LENGTH, false)?;
    Ok(match encoding.kind {
        0 | 2 => Values::Direct(Direct::new(lengths, streams.stream(column, DATA), trimmed)),
        _ => {
            let data = streams.stream(column, DICTIONARY_DATA);
            let stored = Direct::new(lengths, data, trimmed);
            let size = usize::try_from(encoding.dictionary_size).unwrap_or(usize::MAX);
            let keys = streams.integers(column, DATA, false)?;
            Values::Dictionary(Dictionary::new(keys, stored, size))
        }
    })
}
