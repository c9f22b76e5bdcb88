//! Avro object container files to Arrow columns, with only the wanted fields.
//!
//! Framing, compression and schemas are read here, records are decoded by `arrow-avro`. It is not given the file but a
//! container made for it, in memory, block by block, because its own reader neither compares sync markers nor notices
//! a file that ends inside a block or a block with too many or too few records, bounds no decompression, and refuses
//! to match nested records of one and the same schema under a namespace:
//!
//! ```text
//! file:      header │ count size data' sync │ count size data' sync │ …            data' compressed
//! made:      header │ one record            │ one record            │ …            of `SUPER_RECORD`
//! record:    count data count data … 0 sync     = array<entry> in blocks, then the sync marker as a fixed
//! ```
//!
//! Blocks of an Avro array look like blocks of a container, so several file blocks make one array without a copy of
//! their records, and one array is one batch. After an array come the terminator and the file's sync marker; if blocks
//! hold too many or too few bytes for their count, something else is found there.

mod projection;
mod schema;

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{self, Receiver, Sender};

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_avro::reader::{Reader, ReaderBuilder};
use arrow_avro::schema::AvroSchema;

use super::entries::{EntryBatch, Field};
use crate::avro_codec::AvroCodec;
use crate::error::{Error, Result};
use projection::Projection;

pub(super) const MAGIC: &[u8; 4] = b"Obj\x01";
const SYNC_BYTES: usize = 16;
/// A batch takes blocks until it has this many entries: enough to hide the cost per batch, little enough for the caches.
const BATCH_ENTRIES: u64 = 1024;
/// … or this many bytes. With the bound of one block this keeps a batch far below the 2 GiB of Arrow's offsets.
const BATCH_BYTES: usize = 1 << 20;

/// Reads the entries of a container file in batches. Fused: after an error there is nothing more.
pub(super) struct AvroEntries<'a> {
    blocks: Blocks<'a>,
    records: Reader<Feed>,
    segments: Sender<Vec<u8>>,
    entries_read: u64,
    finished: bool,
}

impl<'a> AvroEntries<'a> {
    /// Opens a file for the fields of `wanted` that are not in `unwanted`.
    pub(super) fn open(file: &'a [u8], wanted: &[Field], unwanted: &[&str]) -> Result<Self> {
        let container = Container::parse(file)?;
        let projection = Projection::new(container.schema, wanted, unwanted)?;
        let (segments, receiver) = mpsc::channel();
        let feed = Feed {
            segments: receiver,
            current: header(&projection.writer),
            position: 0,
        };
        let records = ReaderBuilder::new()
            .with_batch_size(1)
            .with_reader_schema(AvroSchema::new(projection.reader))
            .build(feed)
            .map_err(|error| Error::corrupt("avro schema cannot be read").with_source(error))?;
        Ok(Self {
            blocks: Blocks {
                cursor: container.blocks,
                sync: container.sync,
                codec: container.codec,
                min_entry_bytes: projection.min_entry_bytes,
            },
            records,
            segments,
            entries_read: 0,
            finished: false,
        })
    }

    fn read(&mut self) -> Result<Option<EntryBatch>> {
        let mut array = Vec::with_capacity(BATCH_BYTES / 4);
        let mut count = 0u64;
        while count < BATCH_ENTRIES && array.len() < BATCH_BYTES {
            let Some(entries) = self.blocks.append_next(&mut array)? else {
                break;
            };
            count += entries;
        }
        if count == 0 {
            return Ok(None);
        }
        array.push(0);
        array.extend_from_slice(&self.blocks.sync);
        self.decode(array, count).map(Some)
    }

    /// Decodes one array of `count` entries.
    fn decode(&mut self, array: Vec<u8>, count: u64) -> Result<EntryBatch> {
        let first = self.entries_read;
        self.entries_read += count;
        let place = || format!("entries {first} to {}", first + count - 1);
        for segment in record_block(array) {
            self.segments
                .send(segment)
                .map_err(|_| Error::internal("avro decoder went away"))?;
        }
        let batch = match self.records.next() {
            Some(batch) => batch.map_err(|error| {
                Error::corrupt(format!("{} do not decode", place())).with_source(error)
            })?,
            None => return Err(Error::internal("avro decoder ended before its input")),
        };
        let list = batch
            .column(0)
            .as_list_opt::<i32>()
            .map(|list| list.values());
        let end = batch.column(1).as_fixed_size_binary_opt();
        let (Some(entries), Some(end)) = (list.and_then(|list| list.as_struct_opt()), end) else {
            return Err(Error::internal(
                "avro decoder gave other columns than asked for",
            ));
        };
        let complete = u64::try_from(entries.len()).is_ok_and(|found| found == count);
        if !complete || end.iter().next().flatten() != Some(&self.blocks.sync) {
            return Err(Error::corrupt(format!(
                "{} take more or fewer bytes than their blocks have",
                place()
            )));
        }
        Ok(EntryBatch {
            first,
            entries: entries.clone(),
        })
    }
}

impl Iterator for AvroEntries<'_> {
    type Item = Result<EntryBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.finished {
            return None;
        }
        let batch = self.read().transpose();
        self.finished = !matches!(batch, Some(Ok(_)));
        batch
    }
}

/// The parts of a container file.
struct Container<'a> {
    schema: &'a [u8],
    codec: AvroCodec,
    sync: [u8; SYNC_BYTES],
    blocks: Cursor<'a>,
}

impl<'a> Container<'a> {
    fn parse(file: &'a [u8]) -> Result<Self> {
        let Some(rest) = file.strip_prefix(MAGIC) else {
            return Err(Error::corrupt("file does not begin as an avro file"));
        };
        let mut cursor = Cursor {
            rest,
            length: file.len(),
        };
        let (mut schema, mut codec) = (None, None);
        loop {
            let count = cursor.long("metadata count")?;
            if count < 0 {
                cursor.long("metadata size")?;
            } else if count == 0 {
                break;
            }
            for _ in 0..count.unsigned_abs() {
                let key = cursor.bytes("metadata key")?;
                let value = cursor.bytes("metadata value")?;
                match key {
                    b"avro.schema" => schema = Some(value),
                    b"avro.codec" => codec = Some(value),
                    _ => {}
                }
            }
        }
        let sync = cursor.sync()?;
        let schema = schema.ok_or_else(|| Error::corrupt("avro header has no schema"))?;
        let codec = AvroCodec::from_name(codec.unwrap_or(b"null"))?;
        Ok(Self {
            schema,
            codec,
            sync,
            blocks: cursor,
        })
    }
}

/// The blocks of a file.
struct Blocks<'a> {
    cursor: Cursor<'a>,
    sync: [u8; SYNC_BYTES],
    codec: AvroCodec,
    min_entry_bytes: u64,
}

impl Blocks<'_> {
    /// Appends the next block that has entries to `array`, as a block of it; the number of entries, or `None` at the
    /// end of the file.
    fn append_next(&mut self, array: &mut Vec<u8>) -> Result<Option<u64>> {
        while !self.cursor.rest.is_empty() {
            let count = self.cursor.long("block count")?;
            let entries = u64::try_from(count).map_err(|_| {
                Error::corrupt(format!("block count is {count}, expected 0 or more"))
            })?;
            let block = self.cursor.bytes("block")?;
            if self.cursor.sync()? != self.sync {
                return Err(Error::corrupt(format!(
                    "other sync marker at byte {} than in the header",
                    self.cursor.position() - SYNC_BYTES
                )));
            }
            if entries > 0 {
                write_long(count, array);
            }
            let start = array.len();
            self.codec.decompress(block, array)?;
            let bytes = u64::try_from(array.len() - start).unwrap_or(u64::MAX);
            if entries
                .checked_mul(self.min_entry_bytes)
                .is_none_or(|least| least > bytes)
            {
                return Err(Error::corrupt(format!(
                    "block of {entries} entries has {bytes} bytes"
                )));
            }
            if entries > 0 {
                return Ok(Some(entries));
            } else if bytes > 0 {
                return Err(Error::corrupt(format!(
                    "block of no entries has {bytes} bytes"
                )));
            }
        }
        Ok(None)
    }
}

/// What is left to read of a file.
struct Cursor<'a> {
    rest: &'a [u8],
    length: usize,
}

impl<'a> Cursor<'a> {
    fn position(&self) -> usize {
        self.length - self.rest.len()
    }

    fn ends(&self, what: &str) -> Error {
        Error::corrupt(format!(
            "avro file of {} bytes ends in a {what}",
            self.length
        ))
    }

    /// A zigzag varint.
    fn long(&mut self, what: &str) -> Result<i64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.rest.split_first().ok_or_else(|| self.ends(what))?;
            self.rest = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed());
            }
        }
        Err(Error::corrupt(format!(
            "{what} at byte {} has more than 64 bits",
            self.position()
        )))
    }

    /// Bytes behind their length.
    fn bytes(&mut self, what: &str) -> Result<&'a [u8]> {
        let length = self.long(what)?;
        let Some((bytes, rest)) = usize::try_from(length)
            .ok()
            .and_then(|length| self.rest.split_at_checked(length))
        else {
            return Err(Error::corrupt(format!(
                "{what} of {length} bytes at byte {}, {} are left",
                self.position(),
                self.rest.len()
            )));
        };
        self.rest = rest;
        Ok(bytes)
    }

    fn sync(&mut self) -> Result<[u8; SYNC_BYTES]> {
        let (sync, rest) = self
            .rest
            .split_first_chunk()
            .ok_or_else(|| self.ends("sync marker"))?;
        self.rest = rest;
        Ok(*sync)
    }
}

fn write_long(value: i64, out: &mut Vec<u8>) {
    let mut rest = ((value << 1) ^ (value >> 63)).cast_unsigned();
    while rest >= 0x80 {
        out.push(rest.to_le_bytes()[0] | 0x80);
        rest >>= 7;
    }
    out.push(rest.to_le_bytes()[0]);
}

fn write_length(length: usize, out: &mut Vec<u8>) {
    write_long(i64::try_from(length).unwrap_or(i64::MAX), out);
}

/// Header of the container made for the decoder: the schema, no compression.
fn header(schema: &str) -> Vec<u8> {
    let mut header = MAGIC.to_vec();
    write_long(1, &mut header);
    for text in ["avro.schema", schema] {
        write_length(text.len(), &mut header);
        header.extend_from_slice(text.as_bytes());
    }
    write_long(0, &mut header);
    header.extend_from_slice(&[0; SYNC_BYTES]);
    header
}

/// One block of the container made for the decoder. It announces more records than its one, at least one a byte:
/// the decoder would never come back from a block that has bytes left when all its records are read.
fn record_block(record: Vec<u8>) -> [Vec<u8>; 3] {
    let mut head = Vec::new();
    write_length(record.len(), &mut head);
    write_length(record.len(), &mut head);
    [head, record, vec![0; SYNC_BYTES]]
}

/// The container made for the decoder, as far as it has been written.
struct Feed {
    segments: Receiver<Vec<u8>>,
    current: Vec<u8>,
    position: usize,
}

impl BufRead for Feed {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.position >= self.current.len()
            && let Ok(next) = self.segments.try_recv()
        {
            self.current = next;
            self.position = 0;
        }
        Ok(self.current.get(self.position..).unwrap_or_default())
    }

    fn consume(&mut self, amount: usize) {
        self.position += amount;
    }
}

impl Read for Feed {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let amount = self.fill_buf()?.read(out)?;
        self.consume(amount);
        Ok(amount)
    }
}
