//! Page headers, compared with the footer before the decoder believes them.
//!
//! The decoder reserves memory by the sizes and counts in page headers. None of them may exceed what the footer says of
//! the whole column chunk.

use std::ops::Range;

use bytes::Bytes;
use paimon_meta::{Error, Frame, Result};
use parquet::basic::{Compression, Type as PhysicalType};
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};

use super::thrift::{Compact, Kind};

/// A page header, as far as it is checked.
#[derive(Debug)]
struct Header {
    uncompressed: i64,
    compressed: i64,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Dictionary {
        entries: i64,
    },
    Data {
        values: i64,
        encoding: i64,
        definition_levels: i64,
        repetition_levels: i64,
    },
    /// Version two, where the levels have lengths instead of encodings.
    Data2 {
        values: i64,
        nulls: i64,
        rows: i64,
        encoding: i64,
        level_bytes: i64,
    },
    /// The decoder passes it over.
    Other,
}

/// Numbers of encodings in page headers.
mod encoding {
    pub(super) const PLAIN_DICTIONARY: i64 = 2;
    pub(super) const RLE: i64 = 3;
    pub(super) const RLE_DICTIONARY: i64 = 8;
}

/// Checks the headers of all pages in the buffers of a row group, which belong to the given leaves in order.
///
/// # Errors
/// `Corrupt`, naming the column.
pub(super) fn check(
    group: &RowGroupMetaData,
    leaves: &[usize],
    ranges: &[Range<u64>],
    buffers: &[Bytes],
) -> Result<()> {
    let columns = leaves.iter().filter_map(|leaf| group.columns().get(*leaf));
    let mut chunks = columns.map(|column| (column, Seen::default())).peekable();
    for (range, buffer) in ranges.iter().zip(buffers) {
        while chunks
            .next_if(|(column, _)| !contains(column, range))
            .is_some()
        {}
        let Some((column, seen)) = chunks.peek_mut() else {
            return Err(Error::internal("decoder asks for bytes of no column"));
        };
        let chunk = Chunk {
            column,
            rows: group.num_rows(),
        };
        seen.check_pages(&chunk, buffer)
            .map_err(|what| damaged(column, &what))?;
    }
    Ok(())
}

/// The error of a page header of a column.
pub(super) fn damaged(column: &ColumnChunkMetaData, what: &str) -> Error {
    let error = Error::corrupt(format!("page header is damaged: {what}"));
    error.at(Frame::Column(column.column_path().string()))
}

fn contains(column: &ColumnChunkMetaData, range: &Range<u64>) -> bool {
    let (start, length) = column.byte_range();
    start <= range.start && range.end <= start.saturating_add(length)
}

/// What the footer says of a column chunk.
pub(super) struct Chunk<'a> {
    pub(super) column: &'a ColumnChunkMetaData,
    /// Rows of the row group.
    pub(super) rows: i64,
}

/// What was seen of the pages of a column chunk.
#[derive(Debug, Default)]
pub(super) struct Seen {
    has_dictionary: bool,
    /// Values, nulls too.
    pub(super) values: i64,
}

/// A page at the start of some bytes.
pub(super) enum Page {
    /// It has this many bytes, header and all.
    Whole(usize),
    /// It does not end in them; what is wrong with it if no more follow.
    Cut(String),
    /// Not even its header does.
    CutHeader,
}

/// What is wrong with a header that does not end.
pub(super) const NO_HEADER: &str = "it does not decode";

impl Seen {
    fn check_pages(&mut self, chunk: &Chunk<'_>, buffer: &[u8]) -> Result<(), String> {
        let mut rest = buffer;
        while !rest.is_empty() {
            match self.check_page(chunk, rest, rest.len())? {
                Page::Whole(length) => rest = rest.get(length..).unwrap_or_default(),
                Page::Cut(what) => return Err(what),
                Page::CutHeader => return Err(NO_HEADER.to_owned()),
            }
        }
        if buffer.len() as u64 == chunk.column.byte_range().1 {
            self.check_end(chunk)?;
        }
        Ok(())
    }

    /// Checks that all values of the chunk were in its pages.
    pub(super) fn check_end(&self, chunk: &Chunk<'_>) -> Result<(), String> {
        let (found, expected) = (self.values, chunk.column.num_values());
        if found == expected {
            Ok(())
        } else {
            Err(format!("pages of {found} values, expected {expected}"))
        }
    }

    /// Checks the page of which `bytes` hold the header at their start, and of which `available` bytes are there, header
    /// and all; one that is cut is not counted.
    pub(super) fn check_page(
        &mut self,
        chunk: &Chunk<'_>,
        bytes: &[u8],
        available: usize,
    ) -> Result<Page, String> {
        let Some((header, length)) = Header::read(bytes) else {
            return Ok(Page::CutHeader);
        };
        let column = chunk.column;
        at_most("bytes", header.uncompressed, column.uncompressed_size())?;
        let plain = column.compression() == Compression::UNCOMPRESSED;
        if plain && header.uncompressed != header.compressed {
            let (found, expected) = (header.compressed, header.uncompressed);
            return Err(format!(
                "{found} bytes without compression, expected {expected}"
            ));
        }
        let end = usize::try_from(header.compressed)
            .ok()
            .and_then(|size| length.checked_add(size));
        match end.filter(|end| *end <= available) {
            Some(end) => {
                self.check_body(chunk, &header)?;
                Ok(Page::Whole(end))
            }
            None => {
                let left = available.saturating_sub(length);
                let found = header.compressed;
                Ok(Page::Cut(format!("{found} bytes where {left} are left")))
            }
        }
    }

    fn check_body(&mut self, chunk: &Chunk<'_>, header: &Header) -> Result<(), String> {
        let leaf = chunk.column.column_descr();
        let (values, encoding, least) = match header.body {
            Body::Other => return Ok(()),
            Body::Dictionary { entries } => {
                self.has_dictionary = true;
                let most = header.uncompressed / chunk.smallest_value();
                return at_most("dictionary entries", entries, most);
            }
            Body::Data {
                values,
                encoding,
                definition_levels,
                repetition_levels,
            } => {
                // The length of the levels comes before them.
                let definition_bytes = check_levels(definition_levels, leaf.max_def_level())?;
                let repetition_bytes = check_levels(repetition_levels, leaf.max_rep_level())?;
                let some_value = i64::from(values > 0 && leaf.max_def_level() == 0);
                (
                    values,
                    encoding,
                    definition_bytes + repetition_bytes + some_value,
                )
            }
            Body::Data2 {
                values,
                nulls,
                rows,
                encoding,
                level_bytes,
            } => {
                at_most("nulls", nulls, values)?;
                at_most("rows", rows, chunk.rows)?;
                at_most(
                    "bytes of levels",
                    level_bytes,
                    header.compressed.min(header.uncompressed),
                )?;
                (values, encoding, level_bytes + i64::from(values > nulls))
            }
        };
        self.values = self.values.saturating_add(values);
        at_most("values", self.values, chunk.column.num_values())?;
        let from_dictionary = matches!(
            encoding,
            encoding::PLAIN_DICTIONARY | encoding::RLE_DICTIONARY
        );
        if from_dictionary && !self.has_dictionary {
            return Err("values of a dictionary that is not there".to_owned());
        }
        // Indexes into a dictionary begin with their width.
        let least = least.max(i64::from(from_dictionary));
        if header.uncompressed < least {
            return Err(format!("{values} values in {} bytes", header.uncompressed));
        }
        Ok(())
    }
}

impl Chunk<'_> {
    /// Bytes that a value of a dictionary takes at least.
    fn smallest_value(&self) -> i64 {
        match self.column.column_type() {
            PhysicalType::BOOLEAN => 1,
            PhysicalType::INT32 | PhysicalType::FLOAT | PhysicalType::BYTE_ARRAY => 4,
            PhysicalType::INT64 | PhysicalType::DOUBLE => 8,
            PhysicalType::INT96 => 12,
            PhysicalType::FIXED_LEN_BYTE_ARRAY => {
                i64::from(self.column.column_descr().type_length()).max(1)
            }
        }
    }
}

fn at_most(what: &str, found: i64, limit: i64) -> Result<(), String> {
    if found <= limit {
        Ok(())
    } else {
        Err(format!("{found} {what}, at most {limit} are possible"))
    }
}

/// Bytes that levels take at least, namely those of their length. They have one encoding, in the reference too; where
/// there are none, writers said anything.
fn check_levels(encoding: i64, max_level: i16) -> Result<i64, String> {
    match encoding {
        _ if max_level == 0 => Ok(0),
        encoding::RLE => Ok(4),
        other => Err(format!(
            "levels in encoding {other}, expected {}",
            encoding::RLE
        )),
    }
}

impl Header {
    /// The header at the start of the bytes, and its length. Ids are those of the format's Thrift definition.
    fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let (mut page_type, mut uncompressed, mut compressed) = (None, None, None);
        let mut bodies = Vec::new();
        let mut rest = Compact::new(bytes);
        rest.fields(|rest, id, kind| {
            match (id, kind) {
                (1, Kind::I32) => page_type = Some(count(rest)?),
                (2, Kind::I32) => uncompressed = Some(count(rest)?),
                (3, Kind::I32) => compressed = Some(count(rest)?),
                (5, Kind::STRUCT) => bodies.push(Body::data(rest)?),
                (7, Kind::STRUCT) => bodies.push(Body::dictionary(rest)?),
                (8, Kind::STRUCT) => bodies.push(Body::data2(rest)?),
                (1 | 2 | 3 | 5 | 7 | 8, _) => return None,
                _ => rest.skip(kind)?,
            }
            Some(())
        })?;
        let body = match (page_type?, bodies.pop()) {
            (0, Some(body @ Body::Data { .. })) => body,
            (1, None) => Body::Other,
            (2, Some(body @ Body::Dictionary { .. })) => body,
            (3, Some(body @ Body::Data2 { .. })) => body,
            _ => return None,
        };
        let header = Self {
            uncompressed: uncompressed?,
            compressed: compressed?,
            body,
        };
        bodies
            .is_empty()
            .then_some((header, bytes.len() - rest.remaining()))
    }
}

impl Body {
    fn data(rest: &mut Compact<'_>) -> Option<Self> {
        let [values, encoding, definition_levels, repetition_levels] = counts(rest, [1, 2, 3, 4])?;
        Some(Self::Data {
            values,
            encoding,
            definition_levels,
            repetition_levels,
        })
    }

    fn dictionary(rest: &mut Compact<'_>) -> Option<Self> {
        let [entries] = counts(rest, [1])?;
        Some(Self::Dictionary { entries })
    }

    fn data2(rest: &mut Compact<'_>) -> Option<Self> {
        let [values, nulls, rows, encoding, definitions, repetitions] =
            counts(rest, [1, 2, 3, 4, 5, 6])?;
        Some(Self::Data2 {
            values,
            nulls,
            rows,
            encoding,
            level_bytes: definitions + repetitions,
        })
    }
}

/// The fields of a structure with these ids, which are all required and counts.
fn counts<const N: usize>(rest: &mut Compact<'_>, ids: [i64; N]) -> Option<[i64; N]> {
    let mut values = [-1; N];
    rest.fields(|rest, id, kind| {
        let wanted = ids
            .iter()
            .zip(&mut values)
            .find(|(wanted, _)| **wanted == id);
        match wanted {
            Some((_, value)) if kind == Kind::I32 => *value = count(rest)?,
            Some(_) => return None,
            None => rest.skip(kind)?,
        }
        Some(())
    })?;
    values.iter().all(|value| *value >= 0).then_some(values)
}

/// A number that cannot be negative.
fn count(rest: &mut Compact<'_>) -> Option<i64> {
    rest.integer()
        .filter(|value| (0..=i64::from(i32::MAX)).contains(value))
}
