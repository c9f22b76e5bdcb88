//! Framing: the header, and where the blocks of a file are.

use std::ops::Range;

use bytes::Bytes;
use paimon_meta::{AvroCodec, Error, Result};

use super::cursor::Cursor;
use super::schema::{Field, Type};
use crate::source::{ByteSource, read_one};

const MAGIC: &[u8] = b"Obj\x01";
const SYNC_BYTES: usize = 16;
/// Bytes of a file that are looked at together.
const WINDOW: u64 = 8 << 20;
/// More rows than any block has, and few enough that those of all blocks can be added up.
const MOST_ROWS: u64 = 1 << 32;
/// Longest count and size in front of a block.
const BLOCK_HEAD: usize = 20;

/// A block, by the place of its records in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) bytes: Range<u64>,
    pub(super) rows: u64,
}

/// What the header says.
#[derive(Debug)]
pub(super) struct Header {
    /// The fields of the records.
    pub(super) fields: Vec<Field>,
    /// Whether each record comes behind the number of its branch in a union with null (TF-080).
    pub(super) in_union: bool,
    pub(super) codec: Vec<u8>,
    sync: [u8; SYNC_BYTES],
}

/// A file whose blocks have been found.
#[derive(Debug)]
pub(super) struct Container {
    pub(super) header: Header,
    pub(super) blocks: Vec<Block>,
    /// The whole file, if it is small.
    pub(super) bytes: Option<Bytes>,
}

/// Finds the blocks of a file by passing over all of it.
///
/// # Errors
/// `Corrupt` for what is no Avro file, or one that does not end with a block.
pub(super) async fn open(source: &dyn ByteSource) -> Result<Container> {
    let size = source.size();
    let mut window = Window {
        bytes: read_one(source, 0..size.min(WINDOW)).await?,
        start: 0,
    };
    let (header, header_bytes) = loop {
        match Header::parse(&window.bytes) {
            // A header may be longer than a window, but not much.
            Err(_) if window.start == 0 && window.end() < size && window.end() < 4 * WINDOW => {
                let end = size.min(window.end() + WINDOW);
                window.bytes = read_one(source, 0..end).await?;
            }
            header => break header?,
        }
    };
    let mut blocks = Vec::new();
    let mut at = header_bytes;
    while at < size {
        if let Some(block) = window.block(at, size, &header.sync)? {
            at = block.bytes.end + SYNC_BYTES as u64;
            if block.rows > 0 {
                blocks.push(block);
            }
            continue;
        }
        // At least the next head, and the sync marker behind the block it announces.
        let next = window.next_read(at, size);
        window.bytes = read_one(source, next.clone()).await?;
        window.start = next.start;
    }
    let whole = window.start == 0 && window.end() == size;
    Ok(Container {
        header,
        blocks,
        bytes: whole.then_some(window.bytes),
    })
}

/// A part of a file.
struct Window {
    bytes: Bytes,
    start: u64,
}

impl Window {
    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    /// The block whose head is at `at`; `None` if its head or end is not in the window.
    fn block(&self, at: u64, size: u64, sync: &[u8; SYNC_BYTES]) -> Result<Option<Block>> {
        let Some(block) = self.head(at, size)? else {
            return Ok(None);
        };
        let marker = block.bytes.end..block.bytes.end + SYNC_BYTES as u64;
        let Some(found) = self.slice(&marker) else {
            return Ok(None);
        };
        if found != sync {
            let at = marker.start;
            return Err(Error::corrupt(format!(
                "other sync marker at byte {at} than in the header"
            )));
        }
        Ok(Some(block))
    }

    /// As [`Self::block`], whatever is behind the head.
    fn head(&self, at: u64, size: u64) -> Result<Option<Block>> {
        let head_end = size.min(at.saturating_add(BLOCK_HEAD as u64));
        let Some(head) = self.slice(&(at..head_end)) else {
            return Ok(None);
        };
        let mut cursor = Cursor::new(head);
        let damaged = |_| Error::corrupt(format!("head of the block at byte {at} is not whole"));
        let rows = cursor.long().map_err(damaged)?;
        let length = cursor.long().map_err(damaged)?;
        let start = at + (head.len() - cursor.rest.len()) as u64;
        let left = (size - start).saturating_sub(SYNC_BYTES as u64);
        let counts = u64::try_from(rows).ok().zip(u64::try_from(length).ok());
        let (rows, length) = counts
            .filter(|(rows, length)| *length <= left && *rows < MOST_ROWS)
            .ok_or_else(|| {
                let found = format!("block of {rows} records and {length} bytes at byte {at}");
                Error::corrupt(format!("{found}, {left} bytes are left"))
            })?;
        let bytes = start..start + length;
        Ok(Some(Block { bytes, rows }))
    }

    /// What to read to get on from `at`.
    fn next_read(&self, at: u64, size: u64) -> Range<u64> {
        let end = match self.head(at, size) {
            Ok(Some(block)) => block.bytes.end + SYNC_BYTES as u64,
            _ => at,
        };
        at..size.min(end.max(at + WINDOW))
    }

    fn slice(&self, range: &Range<u64>) -> Option<&[u8]> {
        let start = usize::try_from(range.start.checked_sub(self.start)?).ok()?;
        let end = usize::try_from(range.end.checked_sub(self.start)?).ok()?;
        self.bytes.get(start..end)
    }
}

impl Header {
    /// The header and its length.
    fn parse(file: &[u8]) -> Result<(Self, u64)> {
        let Some(rest) = file.strip_prefix(MAGIC) else {
            let found = file.get(..MAGIC.len()).unwrap_or(file).escape_ascii();
            return Err(Error::corrupt(format!(
                "file begins with \"{found}\", expected \"Obj\\x01\""
            )));
        };
        let mut cursor = Cursor::new(rest);
        let (mut schema, mut codec) = (None, &b"null"[..]);
        let ends = |_| Error::corrupt("header of the Avro file is not whole");
        loop {
            let count = cursor.block(2).map_err(ends)?;
            if count == 0 {
                break;
            }
            for _ in 0..count {
                let key = cursor.bytes().map_err(ends)?;
                let value = cursor.bytes().map_err(ends)?;
                match key {
                    b"avro.schema" => schema = Some(value),
                    b"avro.codec" => codec = value,
                    _ => {}
                }
            }
        }
        let sync = cursor.fixed().map_err(ends)?;
        let schema =
            schema.ok_or_else(|| Error::corrupt("header of the Avro file has no schema"))?;
        let (fields, in_union) = match Type::parse(schema)? {
            Type::Record(fields) => (fields, false),
            Type::Union(branches) => match <[Type; 2]>::try_from(branches) {
                Ok([Type::Null, Type::Record(fields)]) => (fields, true),
                _ => {
                    return Err(Error::corrupt(
                        "avro schema is another union than of null and a record",
                    ));
                }
            },
            other => {
                let name = other.name();
                return Err(Error::corrupt(format!(
                    "avro schema is a {name}, expected a record"
                )));
            }
        };
        AvroCodec::from_name(codec)?;
        let header = Self {
            fields,
            in_union,
            codec: codec.to_vec(),
            sync,
        };
        Ok((header, (file.len() - cursor.rest.len()) as u64))
    }
}
