//! Reading and checking the footer.
//!
//! ```text
//! "PAR1" column chunks… [page indexes] footer | length of the footer, 4 bytes LE | "PAR1"
//! ```
//!
//! A small file is read whole, once, and everything after that is served from memory. Of a large one the tail is read;
//! it nearly always holds the footer. No length is believed before it is compared with the size of the file.

use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use paimon_meta::{Error, Frame, Result, ResultExt};
use parquet::DecodeResult;
use parquet::file::metadata::{
    ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData, ParquetMetaDataOptions,
    ParquetMetaDataPushDecoder, ParquetStatisticsPolicy, RowGroupMetaData,
};

use super::error::corrupt;
use super::{page_index, thrift};
use crate::source::{ByteSource, read_one};

/// Files below this size are read whole: a second request costs more than the bytes.
const WHOLE_FILE: u64 = 1024 * 1024;
/// What is read of the end of a larger file. Holds the footer and indexes of most files of up to a few hundred MiB.
const TAIL: u64 = 64 * 1024;
/// Length of the footer and magic behind it.
const TRAILER: u64 = 8;
/// Two magics and a length: the smallest thing that can be a Parquet file.
const SMALLEST: u64 = 12;

const MAGIC: &[u8] = b"PAR1";
const MAGIC_ENCRYPTED: &[u8] = b"PARE";

/// A file's footer, and where the rest of its bytes comes from.
pub(super) struct Opened {
    pub(super) metadata: ParquetMetaData,
    pub(super) source: Arc<dyn ByteSource>,
    /// Whether the file was read whole and `source` serves from memory.
    pub(super) resident: bool,
    /// The page indexes of a larger file, if they came with the tail.
    pub(super) page_indexes: Option<(Range<u64>, Bytes)>,
}

/// Reads the footer with one request, or two if it is larger than the tail.
///
/// # Errors
/// `Corrupt` for what is no Parquet file, or one of another size than the source says; `Unsupported` if it is encrypted.
pub(super) async fn open(source: Arc<dyn ByteSource>) -> Result<Opened> {
    let here = |error: Error| error.at(Frame::File(source.name().to_owned()));
    let size = source.size();
    if size < SMALLEST {
        let found = format!("file of {size} bytes, a Parquet file has at least {SMALLEST}");
        return Err(here(Error::corrupt(found)));
    }
    let whole = size < WHOLE_FILE;
    let tail_start = if whole { 0 } else { size - TAIL };
    let mut tail = read_one(source.as_ref(), tail_start..size).await?;
    let footer_bytes = footer_length(&tail, size).map_err(here)?;
    let footer_start = size - TRAILER - footer_bytes;
    if footer_start < size - tail.len() as u64 {
        let head = read_one(source.as_ref(), footer_start..size - tail.len() as u64).await?;
        let mut joined = BytesMut::with_capacity(head.len() + tail.len());
        joined.extend_from_slice(&head);
        joined.extend_from_slice(&tail);
        tail = joined.freeze();
    }
    let footer = footer_of(&tail, footer_bytes).unwrap_or_default();
    let metadata = decode(&tail, footer, size)
        .and_then(|metadata| checked(metadata, size))
        .map_err(here)?;
    let page_indexes = page_index::region(&metadata, size).map_err(here)?;
    if whole {
        let source = Arc::new(Resident {
            bytes: tail,
            source,
        });
        return Ok(Opened {
            metadata,
            source,
            resident: true,
            page_indexes: None,
        });
    }
    let page_indexes = page_indexes.and_then(|region| {
        let start = usize::try_from(region.start.checked_sub(size - tail.len() as u64)?).ok()?;
        let end = start.checked_add(usize::try_from(region.end - region.start).ok()?)?;
        // A copy, because a slice would keep the whole tail.
        Some((region, Bytes::copy_from_slice(tail.get(start..end)?)))
    });
    Ok(Opened {
        metadata,
        source,
        resident: false,
        page_indexes,
    })
}

/// Length of the footer, from the last bytes of the file.
fn footer_length(tail: &[u8], size: u64) -> Result<u64> {
    let Some((_, [a, b, c, d, magic @ ..])) = tail.split_last_chunk::<8>() else {
        return Err(Error::corrupt(format!(
            "read {} bytes of the end of the file, expected at least 8",
            tail.len()
        )));
    };
    if magic == MAGIC_ENCRYPTED {
        return Err(Error::unsupported("encrypted Parquet files"));
    }
    if magic != MAGIC {
        let found = magic.escape_ascii();
        return Err(Error::corrupt(format!(
            "file of {size} bytes ends with \"{found}\", expected \"PAR1\""
        )));
    }
    let length = u64::from(u32::from_le_bytes([*a, *b, *c, *d]));
    if length > size - SMALLEST {
        return Err(Error::corrupt(format!(
            "footer of {length} bytes in a file of {size} bytes"
        )));
    }
    Ok(length)
}

/// The footer itself; `tail` reaches back to its start at least.
fn footer_of(tail: &[u8], length: u64) -> Option<&[u8]> {
    let (rest, _) = tail.split_last_chunk::<8>()?;
    rest.get(rest.len().checked_sub(usize::try_from(length).ok()?)?..)
}

fn decode(tail: &Bytes, footer: &[u8], size: u64) -> Result<ParquetMetaData> {
    if !thrift::is_whole_footer(footer) {
        return Err(Error::corrupt(format!(
            "footer of {} bytes is damaged",
            footer.len()
        )));
    }
    let options = ParquetMetaDataOptions::new()
        .with_encoding_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll);
    let read = || {
        let mut decoder = ParquetMetaDataPushDecoder::try_new(size)?
            .with_page_index_policy(PageIndexPolicy::Skip)
            .with_metadata_options(Some(Arc::new(options)));
        decoder.push_range(size - tail.len() as u64..size, tail.clone())?;
        decoder.try_decode()
    };
    match read().map_err(|error| corrupt("footer does not decode", error))? {
        DecodeResult::Data(metadata) => Ok(metadata),
        DecodeResult::NeedsData(_) | DecodeResult::Finished => {
            Err(Error::internal("footer decoder asks for more"))
        }
    }
}

/// The metadata, after its counts and byte ranges were compared with each other and with the size of the file.
fn checked(metadata: ParquetMetaData, size: u64) -> Result<ParquetMetaData> {
    let mut rows = 0_i64;
    for (index, group) in metadata.row_groups().iter().enumerate() {
        let in_group = group.num_rows();
        let sum = rows.checked_add(in_group).filter(|_| in_group >= 0);
        let bad = || Error::corrupt(format!("{in_group} rows")).at(Frame::RowGroup(index));
        rows = sum.ok_or_else(bad)?;
        for column in group.columns() {
            check_chunk(column, group, size)
                .at(|| Frame::Column(column.column_path().string()))
                .at(|| Frame::RowGroup(index))?;
        }
    }
    let expected = metadata.file_metadata().num_rows();
    if rows != expected {
        return Err(Error::corrupt(format!(
            "row groups have {rows} rows, the footer says {expected}"
        )));
    }
    Ok(with_usable_dictionaries(metadata))
}

fn check_chunk(column: &ColumnChunkMetaData, group: &RowGroupMetaData, size: u64) -> Result<()> {
    if column.file_path().is_some() {
        return Err(Error::unsupported("Parquet columns stored in another file"));
    }
    let range = byte_range(column)
        .filter(|range| range.end <= size - TRAILER)
        .ok_or_else(|| {
            let (start, length) = (column.data_page_offset(), column.compressed_size());
            Error::corrupt(format!(
                "{length} bytes at {start} of a file of {size} bytes"
            ))
        })?;
    if column.column_descr().max_rep_level() == 0 && column.num_values() != group.num_rows() {
        let (found, expected) = (column.num_values(), group.num_rows());
        return Err(Error::corrupt(format!(
            "{found} values, expected {expected}"
        )));
    }
    if range.is_empty() && group.num_rows() > 0 {
        return Err(Error::corrupt(format!(
            "no bytes for {} rows",
            group.num_rows()
        )));
    }
    Ok(())
}

/// The dictionary page in front of the data pages, if there is one. Some writers say 0 for none, and the reference
/// believes only what lies before the data.
fn dictionary_offset(column: &ColumnChunkMetaData) -> Option<i64> {
    column
        .dictionary_page_offset()
        .filter(|offset| *offset > 0 && *offset < column.data_page_offset())
}

fn byte_range(column: &ColumnChunkMetaData) -> Option<Range<u64>> {
    let start =
        u64::try_from(dictionary_offset(column).unwrap_or(column.data_page_offset())).ok()?;
    let end = start.checked_add(u64::try_from(column.compressed_size()).ok()?)?;
    Some(start..end)
}

/// The metadata without dictionary offsets that the decoder would take for the start of a chunk.
fn with_usable_dictionaries(metadata: ParquetMetaData) -> ParquetMetaData {
    let usable =
        |column: &ColumnChunkMetaData| column.dictionary_page_offset() == dictionary_offset(column);
    if metadata
        .row_groups()
        .iter()
        .all(|group| group.columns().iter().all(usable))
    {
        return metadata;
    }
    let mut builder = metadata.into_builder();
    let mut groups = builder.take_row_groups();
    for column in groups
        .iter_mut()
        .flat_map(|group| group.columns_mut())
        .filter(|column| !usable(column))
    {
        if let Ok(repaired) = column
            .clone()
            .into_builder()
            .set_dictionary_page_offset(None)
            .build()
        {
            *column = repaired;
        }
    }
    builder.set_row_groups(groups).build()
}

/// A file that was read whole.
#[derive(Debug)]
struct Resident {
    bytes: Bytes,
    source: Arc<dyn ByteSource>,
}

impl ByteSource for Resident {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read(&self, ranges: Vec<Range<u64>>) -> BoxFuture<'static, Result<Vec<Bytes>>> {
        let slice = |range: Range<u64>| {
            let inside = usize::try_from(range.start)
                .ok()
                .zip(usize::try_from(range.end).ok());
            let inside = inside.filter(|(start, end)| start <= end && *end <= self.bytes.len());
            inside
                .map(|(start, end)| self.bytes.slice(start..end))
                .ok_or_else(|| {
                    let (name, size) = (self.name(), self.bytes.len());
                    Error::corrupt(format!(
                        "bytes {}..{} asked of {name}, which has {size}",
                        range.start, range.end
                    ))
                })
        };
        std::future::ready(ranges.into_iter().map(slice).collect()).boxed()
    }
}
