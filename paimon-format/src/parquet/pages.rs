//! Page headers, compared with the footer before the decoder believes them.
//!
//! The decoder reserves memory by the sizes and counts in page headers. None of them may exceed what the footer says of
//! the whole column chunk.

use std::ops::Range;

use bytes::Bytes;
use paimon_meta::{Error, Frame, Result};
use parquet::basic::Type as PhysicalType;
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
    pub(super) const BIT_PACKED: i64 = 4;
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
    let mut chunks = leaves
        .iter()
        .filter_map(|leaf| group.columns().get(*leaf))
        .peekable();
    let mut has_dictionary = false;
    for (range, buffer) in ranges.iter().zip(buffers) {
        let outside = |chunk: &&ColumnChunkMetaData| {
            let (start, length) = chunk.byte_range();
            range.start < start || start.saturating_add(length) < range.end
        };
        while chunks.next_if(outside).is_some() {
            has_dictionary = false;
        }
        let Some(chunk) = chunks.peek() else {
            return Err(Error::internal("decoder asks for bytes of no column"));
        };
        let limits = Limits {
            chunk,
            rows: group.num_rows(),
        };
        limits
            .check_pages(buffer, &mut has_dictionary)
            .map_err(|what| {
                let error = Error::corrupt(format!("page header is damaged: {what}"));
                error.at(Frame::Column(chunk.column_path().string()))
            })?;
    }
    Ok(())
}

/// What the footer says of a column chunk.
struct Limits<'a> {
    chunk: &'a ColumnChunkMetaData,
    rows: i64,
}

impl Limits<'_> {
    fn check_pages(&self, buffer: &[u8], has_dictionary: &mut bool) -> Result<(), String> {
        let mut rest = buffer;
        while !rest.is_empty() {
            let (header, length) =
                Header::read(rest).ok_or_else(|| "it does not decode".to_owned())?;
            at_most("bytes", header.uncompressed, self.chunk.uncompressed_size())?;
            self.check_body(&header, *has_dictionary)?;
            *has_dictionary |= matches!(header.body, Body::Dictionary { .. });
            let next = usize::try_from(header.compressed)
                .ok()
                .and_then(|size| length.checked_add(size));
            let left = rest.len().saturating_sub(length);
            rest = next
                .and_then(|next| rest.get(next..))
                .ok_or_else(|| format!("{} bytes where {left} are left", header.compressed))?;
        }
        Ok(())
    }

    fn check_body(&self, header: &Header, has_dictionary: bool) -> Result<(), String> {
        let encoding = match header.body {
            Body::Dictionary { entries } => {
                return at_most(
                    "dictionary entries",
                    entries,
                    header.uncompressed / self.smallest_value(),
                );
            }
            Body::Other => return Ok(()),
            Body::Data {
                values,
                encoding,
                definition_levels,
                repetition_levels,
            } => {
                at_most("values", values, self.chunk.num_values())?;
                let leaf = self.chunk.column_descr();
                let bytes =
                    packed_bytes(definition_levels, values, leaf.max_def_level()).saturating_add(
                        packed_bytes(repetition_levels, values, leaf.max_rep_level()),
                    );
                at_most("bytes of levels", bytes, header.uncompressed)?;
                encoding
            }
            Body::Data2 {
                values,
                nulls,
                rows,
                encoding,
                level_bytes,
            } => {
                at_most("values", values, self.chunk.num_values())?;
                at_most("nulls", nulls, values)?;
                at_most("rows", rows, self.rows)?;
                at_most(
                    "bytes of levels",
                    level_bytes,
                    header.compressed.min(header.uncompressed),
                )?;
                encoding
            }
        };
        match encoding {
            encoding::PLAIN_DICTIONARY | encoding::RLE_DICTIONARY if !has_dictionary => {
                Err("values of a dictionary that is not there".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Bytes that a value of a dictionary takes at least.
    fn smallest_value(&self) -> i64 {
        match self.chunk.column_type() {
            PhysicalType::BOOLEAN => 1,
            PhysicalType::INT32 | PhysicalType::FLOAT | PhysicalType::BYTE_ARRAY => 4,
            PhysicalType::INT64 | PhysicalType::DOUBLE => 8,
            PhysicalType::INT96 => 12,
            PhysicalType::FIXED_LEN_BYTE_ARRAY => {
                i64::from(self.chunk.column_descr().type_length()).max(1)
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

/// Bytes of levels in the old encoding, whose length follows from their number.
fn packed_bytes(encoding: i64, values: i64, max_level: i16) -> i64 {
    if encoding != encoding::BIT_PACKED {
        return 0;
    }
    let bits = i64::from(i16::BITS - max_level.leading_zeros());
    values.saturating_mul(bits).saturating_add(7) / 8
}

impl Header {
    /// The header at the start of the bytes, and its length. Ids are those of the format's Thrift definition.
    fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        const DATA: i64 = 5;
        const DICTIONARY: i64 = 7;
        const DATA2: i64 = 8;
        let (mut uncompressed, mut compressed) = (None, None);
        let mut body = Body::Other;
        let mut rest = Compact::new(bytes);
        rest.fields(|rest, id, kind| {
            match (id, kind) {
                (2, Kind::I32) => uncompressed = Some(count(rest)?),
                (3, Kind::I32) => compressed = Some(count(rest)?),
                (DATA, Kind::STRUCT) => {
                    let [values, encoding, definition_levels, repetition_levels] =
                        counts(rest, [1, 2, 3, 4])?;
                    body = Body::Data {
                        values,
                        encoding,
                        definition_levels,
                        repetition_levels,
                    };
                }
                (DICTIONARY, Kind::STRUCT) => {
                    let [entries] = counts(rest, [1])?;
                    body = Body::Dictionary { entries };
                }
                (DATA2, Kind::STRUCT) => {
                    let [
                        values,
                        nulls,
                        rows,
                        encoding,
                        definition_bytes,
                        repetition_bytes,
                    ] = counts(rest, [1, 2, 3, 4, 5, 6])?;
                    let level_bytes = definition_bytes + repetition_bytes;
                    body = Body::Data2 {
                        values,
                        nulls,
                        rows,
                        encoding,
                        level_bytes,
                    };
                }
                _ => rest.skip(kind)?,
            }
            Some(())
        })?;
        let header = Self {
            uncompressed: uncompressed?,
            compressed: compressed?,
            body,
        };
        Some((header, bytes.len() - rest.remaining()))
    }
}

/// The fields of a structure with these ids, which are all required and counts.
fn counts<const N: usize>(rest: &mut Compact<'_>, ids: [i64; N]) -> Option<[i64; N]> {
    let mut values = [-1; N];
    rest.fields(|rest, id, kind| {
        match ids
            .iter()
            .zip(&mut values)
            .find(|(wanted, _)| **wanted == id)
        {
            Some((_, value)) if kind == Kind::I32 => {
                *value = count(rest)?;
                Some(())
            }
            _ => rest.skip(kind),
        }
    })?;
    values.iter().all(|value| *value >= 0).then_some(values)
}

/// A number that cannot be negative.
fn count(rest: &mut Compact<'_>) -> Option<i64> {
    rest.integer()
        .filter(|value| (0..=i64::from(i32::MAX)).contains(value))
}
