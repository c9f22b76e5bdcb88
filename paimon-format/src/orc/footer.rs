//! The tail of a file and the footers of its stripes.

use std::ops::Range;
use std::sync::Arc;

use arrow_schema::{DataType as ArrowType, Field};
use bytes::{Bytes, BytesMut};
use paimon_meta::{Error, Frame, Result, ResultExt};

use super::chunk::{Compression, Inflater};
use super::proto::Message;
use crate::source::{ByteSource, read_all, read_one};

/// Files below this size are read whole: a second request costs more than the bytes.
const WHOLE_FILE: u64 = 1024 * 1024;
/// What is read of the end of a larger file.
const TAIL: u64 = 64 * 1024;
/// What a footer may inflate to.
pub(super) const MOST_FOOTER: usize = 256 << 20;
const MAGIC: &[u8] = b"ORC";

/// A type of the file's schema; its number is that of its column.
#[derive(Clone, Debug, Default)]
pub(super) struct OrcType {
    pub(super) kind: Kind,
    pub(super) children: Vec<usize>,
    /// Of the children of a struct.
    pub(super) names: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    #[default]
    Boolean,
    Byte,
    Short,
    Int,
    Long,
    Float,
    Double,
    String,
    Binary,
    Timestamp,
    List,
    Map,
    Struct,
    Union,
    Decimal,
    Date,
    Varchar,
    Char,
    TimestampInstant,
    Other,
}

impl Kind {
    fn from_number(number: u64) -> Self {
        const KINDS: [Kind; 19] = [
            Kind::Boolean,
            Kind::Byte,
            Kind::Short,
            Kind::Int,
            Kind::Long,
            Kind::Float,
            Kind::Double,
            Kind::String,
            Kind::Binary,
            Kind::Timestamp,
            Kind::List,
            Kind::Map,
            Kind::Struct,
            Kind::Union,
            Kind::Decimal,
            Kind::Date,
            Kind::Varchar,
            Kind::Char,
            Kind::TimestampInstant,
        ];
        let kind = usize::try_from(number).ok();
        kind.and_then(|kind| KINDS.get(kind).copied())
            .unwrap_or(Self::Other)
    }
}

/// A column and what is inside of it as an Arrow type; scalars are null, for only names are of interest.
pub(super) fn shape(types: &[OrcType], column: usize) -> ArrowType {
    let Some(of) = types.get(column) else {
        return ArrowType::Null;
    };
    let field = |name: &str, child: &usize| Field::new(name, shape(types, *child), true);
    match of.kind {
        Kind::Struct => {
            let children = of.names.iter().zip(&of.children);
            ArrowType::Struct(children.map(|(name, child)| field(name, child)).collect())
        }
        Kind::List => match of.children.as_slice() {
            [element] => ArrowType::List(Arc::new(field("element", element))),
            _ => ArrowType::Null,
        },
        _ => ArrowType::Null,
    }
}

/// Where a stripe is.
#[derive(Clone, Debug)]
pub(super) struct Stripe {
    pub(super) rows: u64,
    /// Its index and data streams.
    pub(super) streams: Range<u64>,
    /// Its footer, as it is stored.
    pub(super) footer: Bytes,
}

/// A file's footer.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) compression: Compression,
    /// By the number of their columns; the first one is the root, a struct.
    pub(super) types: Vec<OrcType>,
    pub(super) stripes: Vec<Stripe>,
    /// The whole file, if it is small.
    pub(super) bytes: Option<Bytes>,
    /// The statistics of stripes, as they are stored: where they are, and what was read of them with the footer.
    pub(super) metadata: Range<u64>,
    pub(super) metadata_bytes: Option<Bytes>,
    /// Rows of a group of the row index; 0 without one.
    pub(super) group_rows: u64,
    /// Number of the last fix of the writer.
    pub(super) writer_version: u64,
}

/// Reads the footer and those of the stripes.
///
/// # Errors
/// `Corrupt` for what is no ORC file, `Unsupported` for codecs and encryption that are not read.
pub(super) async fn open(source: &dyn ByteSource) -> Result<Opened> {
    let size = source.size();
    if size <= MAGIC.len() as u64 {
        return Err(Error::corrupt(format!(
            "file of {size} bytes, an ORC file has more"
        )));
    }
    let whole = size < WHOLE_FILE;
    let mut tail = read_one(source, if whole { 0 } else { size - TAIL }..size).await?;
    let postscript = Postscript::of(&tail, size)?;
    let footer_start = size - postscript.own_bytes - postscript.footer_bytes;
    if footer_start < size - tail.len() as u64 {
        let head = read_one(source, footer_start..size - tail.len() as u64).await?;
        let mut joined = BytesMut::with_capacity(head.len() + tail.len());
        joined.extend_from_slice(&head);
        joined.extend_from_slice(&tail);
        tail = joined.freeze();
    }
    let tail_start = size - tail.len() as u64;
    let footer = footer_start..footer_start + postscript.footer_bytes;
    let footer = Inflater::new(postscript.compression)
        .all(slice(&tail, tail_start, &footer)?, MOST_FOOTER)
        .at(|| Frame::Field("footer".to_owned()))?;
    let mut opened = Footer::parse(&footer)?.checked(footer_start)?;
    let metadata_start = footer_start.checked_sub(postscript.metadata_bytes);
    let metadata = metadata_start.unwrap_or(footer_start)..footer_start;
    if whole {
        for stripe in &mut opened.stripes {
            stripe.0.footer = slice(&tail, tail_start, &stripe.1)?;
        }
    } else {
        let ranges = opened.stripes.iter().map(|(_, footer)| footer.clone());
        let footers = match opened.stripes.len() {
            0 => Vec::new(),
            _ => read_all(source, ranges.collect()).await?,
        };
        for (stripe, footer) in opened.stripes.iter_mut().zip(footers) {
            // A copy, because a slice may keep more.
            stripe.0.footer = Bytes::copy_from_slice(&footer);
        }
    }
    Ok(Opened {
        compression: postscript.compression,
        types: opened.types,
        stripes: opened
            .stripes
            .into_iter()
            .map(|(stripe, _)| stripe)
            .collect(),
        metadata_bytes: slice(&tail, tail_start, &metadata)
            .ok()
            .filter(|_| !whole)
            .map(|bytes| Bytes::copy_from_slice(&bytes)),
        metadata,
        group_rows: opened.group_rows,
        writer_version: postscript.writer_version,
        bytes: whole.then_some(tail),
    })
}

/// Bytes of the file, of which `part` begins at `start`.
pub(super) fn slice(part: &Bytes, start: u64, range: &Range<u64>) -> Result<Bytes> {
    let place = |at: u64| usize::try_from(at.checked_sub(start)?).ok();
    let range = place(range.start)
        .zip(place(range.end))
        .filter(|(from, to)| from <= to && *to <= part.len())
        .ok_or_else(|| Error::corrupt("file ends early"))?;
    Ok(part.slice(range.0..range.1))
}

struct Postscript {
    compression: Compression,
    footer_bytes: u64,
    metadata_bytes: u64,
    writer_version: u64,
    /// With the byte behind it.
    own_bytes: u64,
}

impl Postscript {
    fn of(tail: &[u8], size: u64) -> Result<Self> {
        let damaged = |found: &str| Error::corrupt(format!("file of {size} bytes {found}"));
        let (length, rest) = tail.split_last().ok_or_else(|| damaged("is empty"))?;
        let start = rest.len().checked_sub(usize::from(*length));
        let bytes = start.and_then(|start| rest.get(start..));
        let bytes = bytes.ok_or_else(|| damaged("is shorter than its postscript"))?;
        if !bytes.ends_with(MAGIC) {
            return Err(damaged("has no \"ORC\" at its end"));
        }
        let (mut footer, mut codec, mut chunk) = (0, 0, None);
        let (mut metadata_bytes, mut writer_version) = (0, 0);
        let mut message = Message::new(bytes);
        while let Some((field, value)) = message.next()? {
            match field {
                1 => footer = value.number()?,
                2 => codec = value.number()?,
                3 => chunk = Some(value.number()?),
                5 => metadata_bytes = value.number()?,
                6 => writer_version = value.number()?,
                _ => {}
            }
        }
        let own_bytes = u64::from(*length) + 1;
        if footer > size.saturating_sub(own_bytes) {
            return Err(damaged(&format!("has a footer of {footer}")));
        }
        Ok(Self {
            compression: Compression::new(codec, chunk)?,
            footer_bytes: footer,
            metadata_bytes,
            writer_version,
            own_bytes,
        })
    }
}

/// The footer as it is stored.
#[derive(Default)]
struct Footer {
    stripes: Vec<StripeInformation>,
    types: Vec<OrcType>,
    row_count: u64,
    group_rows: u64,
}

#[derive(Default)]
struct StripeInformation {
    offset: u64,
    index: u64,
    data: u64,
    footer: u64,
    rows: u64,
}

/// The footer, compared with the size of the file; each stripe comes with the place of its footer.
struct Checked {
    stripes: Vec<(Stripe, Range<u64>)>,
    types: Vec<OrcType>,
    group_rows: u64,
}

impl Footer {
    fn parse(bytes: &[u8]) -> Result<Self> {
        let mut footer = Self::default();
        let mut message = Message::new(bytes);
        while let Some((field, value)) = message.next()? {
            match field {
                3 => footer.stripes.push(stripe(value.message()?)?),
                4 => footer.types.push(orc_type(value.message()?)?),
                6 => footer.row_count = value.number()?,
                8 => footer.group_rows = value.number()?,
                10 => return Err(Error::unsupported("encrypted ORC files")),
                _ => {}
            }
        }
        Ok(footer)
    }

    /// `end` is where the stripes end at the latest.
    fn checked(self, end: u64) -> Result<Checked> {
        let root = self.types.first();
        if root.is_none_or(|root| root.kind != Kind::Struct) {
            return Err(Error::corrupt("schema is no struct"));
        }
        for (number, of) in self.types.iter().enumerate() {
            let inside = |child: &usize| *child > number && *child < self.types.len();
            let named = of.kind != Kind::Struct || of.names.len() == of.children.len();
            if !of.children.iter().all(inside) || !named {
                return Err(Error::corrupt(format!("type {number} has wrong children")));
            }
        }
        let mut rows = 0_u64;
        let mut stripes = Vec::with_capacity(self.stripes.len());
        for (index, stripe) in self.stripes.iter().enumerate() {
            let place = stripe.place(end).ok_or_else(|| {
                let offset = stripe.offset;
                let found = format!("stripe at {offset}, expected to end before {end}");
                Error::corrupt(found).at(Frame::RowGroup(index))
            })?;
            rows = rows.saturating_add(stripe.rows);
            stripes.push(place);
        }
        if rows != self.row_count || rows > MOST_ROWS {
            let expected = self.row_count;
            return Err(Error::corrupt(format!(
                "stripes have {rows} rows, the footer says {expected}"
            )));
        }
        Ok(Checked {
            stripes,
            types: self.types,
            group_rows: self.group_rows,
        })
    }
}

/// More rows than a file has.
const MOST_ROWS: u64 = 1 << 48;

impl StripeInformation {
    fn place(&self, end: u64) -> Option<(Stripe, Range<u64>)> {
        let streams_end = self
            .offset
            .checked_add(self.index)?
            .checked_add(self.data)?;
        let footer_end = streams_end.checked_add(self.footer)?;
        let stripe = Stripe {
            rows: self.rows,
            streams: self.offset..streams_end,
            footer: Bytes::new(),
        };
        (footer_end <= end).then_some((stripe, streams_end..footer_end))
    }
}

fn stripe(mut message: Message<'_>) -> Result<StripeInformation> {
    let mut stripe = StripeInformation::default();
    while let Some((field, value)) = message.next()? {
        match field {
            1 => stripe.offset = value.number()?,
            2 => stripe.index = value.number()?,
            3 => stripe.data = value.number()?,
            4 => stripe.footer = value.number()?,
            5 => stripe.rows = value.number()?,
            _ => {}
        }
    }
    Ok(stripe)
}

fn orc_type(mut message: Message<'_>) -> Result<OrcType> {
    let mut of = OrcType::default();
    let mut children = Vec::new();
    while let Some((field, value)) = message.next()? {
        match field {
            1 => of.kind = Kind::from_number(value.number()?),
            2 => value.numbers(&mut children)?,
            3 => {
                let name = std::str::from_utf8(value.bytes()?);
                let name = name.map_err(|_| Error::corrupt("name of a column is not UTF-8"))?;
                of.names.push(name.to_owned());
            }
            _ => {}
        }
    }
    let numbers = children.into_iter().map(usize::try_from);
    of.children = numbers
        .collect::<Result<_, _>>()
        .map_err(|_| Error::corrupt("number of a column is too large"))?;
    Ok(of)
}
