//! Page indexes: where pages lie and what their values are bounded by. Read when first needed, all at once.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use paimon_meta::{Error, Frame, Result};
use parquet::DecodeResult;
use parquet::file::metadata::{
    ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData, ParquetMetaDataPushDecoder,
    RowGroupMetaData,
};
use parquet::file::page_index::offset_index::OffsetIndexMetaData;

use super::error::corrupt;
use super::thrift;
use crate::reader::GroupLayout;
use crate::rows::RowRanges;
use crate::source::{ByteSource, read_one};

/// A gap is worth a page index if it leaves out more bytes of one column than a byte source would read anyway rather
/// than make another request.
const GAP_BYTES: u64 = 1024 * 1024;

/// Bytes that may lie between indexes: bloom filters, say. Indexes that are further apart are left alone.
const BETWEEN: u64 = 16 * 1024 * 1024;

/// Where each index lies.
///
/// # Errors
/// `Corrupt` for an index outside the file.
fn indexes(metadata: &ParquetMetaData, size: u64) -> impl Iterator<Item = Result<Range<u64>>> {
    let columns = metadata
        .row_groups()
        .iter()
        .flat_map(RowGroupMetaData::columns);
    let parts = columns.flat_map(|column| {
        let column_index = column
            .column_index_offset()
            .zip(column.column_index_length());
        let offset_index = column
            .offset_index_offset()
            .zip(column.offset_index_length());
        column_index.into_iter().chain(offset_index)
    });
    parts.map(move |(offset, length)| {
        let range = u64::try_from(offset).ok().zip(u64::try_from(length).ok());
        let range = range.and_then(|(start, length)| Some(start..start.checked_add(length)?));
        range.filter(|range| range.end <= size).ok_or_else(|| {
            let found =
                format!("page index of {length} bytes at {offset} in a file of {size} bytes");
            Error::corrupt(found)
        })
    })
}

/// The bytes of all page indexes, `None` if the file has none in one place.
///
/// # Errors
/// `Corrupt` for an index outside the file.
pub(super) fn region(metadata: &ParquetMetaData, size: u64) -> Result<Option<Range<u64>>> {
    let mut region: Option<Range<u64>> = None;
    let mut bytes = 0_u64;
    for range in indexes(metadata, size) {
        let range = range?;
        bytes = bytes.saturating_add(range.end - range.start);
        region = Some(match region {
            None => range,
            Some(region) => region.start.min(range.start)..region.end.max(range.end),
        });
    }
    Ok(region.filter(|region| region.end - region.start <= bytes.saturating_add(BETWEEN)))
}

/// The footer with page indexes; `None` if the file has no offset index. `at_hand` are their bytes, if they were read
/// with the footer.
///
/// # Errors
/// Of the source; `Corrupt` for indexes that do not decode or do not agree with the footer.
pub(super) fn read(
    footer: &Arc<ParquetMetaData>,
    source: &Arc<dyn ByteSource>,
    at_hand: Option<&(Range<u64>, Bytes)>,
) -> BoxFuture<'static, Result<Option<Arc<ParquetMetaData>>>> {
    let (footer, source, at_hand) = (Arc::clone(footer), Arc::clone(source), at_hand.cloned());
    let read = async move {
        let here = |error: Error| error.at(Frame::File(source.name().to_owned()));
        let (region, bytes) = match (at_hand, region(&footer, source.size()).map_err(here)?) {
            (Some(at_hand), _) => at_hand,
            (None, Some(region)) => (region.clone(), read_one(source.as_ref(), region).await?),
            (None, None) => return Ok(None),
        };
        decode(&footer, region, bytes, source.size()).map_err(here)
    };
    read.boxed()
}

fn decode(
    footer: &ParquetMetaData,
    region: Range<u64>,
    bytes: Bytes,
    size: u64,
) -> Result<Option<Arc<ParquetMetaData>>> {
    let start = region.start;
    for range in indexes(footer, size) {
        let range = range?;
        let inside = usize::try_from(range.start - start)
            .ok()
            .zip(usize::try_from(range.end - start).ok());
        if !inside
            .and_then(|(start, end)| bytes.get(start..end))
            .is_some_and(thrift::is_whole)
        {
            return Err(Error::corrupt(format!(
                "page index at {} is damaged",
                range.start
            )));
        }
    }
    let decode = || {
        let mut decoder = ParquetMetaDataPushDecoder::try_new_with_metadata(size, footer.clone())?
            .with_page_index_policy(PageIndexPolicy::Optional);
        decoder.push_range(region, bytes)?;
        decoder.try_decode()
    };
    let DecodeResult::Data(indexed) =
        decode().map_err(|error| corrupt("page index does not decode", error))?
    else {
        return Err(Error::internal("page index decoder asks for more"));
    };
    if indexed.offset_index().is_none_or(Vec::is_empty) {
        return Ok(None);
    }
    check(&indexed)?;
    Ok(Some(Arc::new(indexed)))
}

/// Pages must lie inside their chunk, in order, and start at ascending rows: the decoder relies on it.
fn check(metadata: &ParquetMetaData) -> Result<()> {
    let index = metadata
        .offset_index()
        .map(Vec::as_slice)
        .unwrap_or_default();
    for (group, offsets) in metadata.row_groups().iter().zip(index) {
        for (column, offsets) in group.columns().iter().zip(offsets) {
            if !is_consistent(column, offsets, group.num_rows()) {
                let path = column.column_path();
                return Err(Error::corrupt(format!(
                    "offset index of column {path} does not agree with the footer"
                )));
            }
        }
        if offsets.len() != group.columns().len() {
            return Err(Error::corrupt("offset index does not cover all columns"));
        }
    }
    if index.len() != metadata.num_row_groups() {
        return Err(Error::corrupt("offset index does not cover all row groups"));
    }
    Ok(())
}

fn is_consistent(column: &ColumnChunkMetaData, offsets: &OffsetIndexMetaData, rows: i64) -> bool {
    let (start, length) = column.byte_range();
    let mut next_byte = start;
    let mut next_row = 0;
    for (number, page) in offsets.page_locations().iter().enumerate() {
        let Some((offset, size)) = u64::try_from(page.offset)
            .ok()
            .zip(u64::try_from(page.compressed_page_size).ok())
        else {
            return false;
        };
        let row_ok = page.first_row_index >= next_row && page.first_row_index < rows.max(1);
        if offset < next_byte || !row_ok || (number == 0 && page.first_row_index != 0) {
            return false;
        }
        next_byte = offset.saturating_add(size);
        next_row = page.first_row_index.saturating_add(1);
    }
    next_byte <= start.saturating_add(length)
}

/// Whether the pages of a row group should be chosen by the offset index: whether some gap between the selected rows
/// leaves out more than [`GAP_BYTES`] of one column.
pub(super) fn pays(
    group: &RowGroupMetaData,
    leaves: &[usize],
    rows: &RowRanges,
    layout: &GroupLayout,
) -> bool {
    let whole = RowRanges::from_range(layout.first_row..layout.first_row + layout.row_count);
    let longest_gap = whole
        .subtract(rows)
        .ranges()
        .iter()
        .map(|gap| gap.end - gap.start)
        .max()
        .unwrap_or(0);
    let columns = leaves.iter().filter_map(|leaf| group.columns().get(*leaf));
    let largest_column = columns
        .map(|column| u64::try_from(column.compressed_size()).unwrap_or(0))
        .max()
        .unwrap_or(0);
    let bytes_left_out =
        u128::from(longest_gap) * u128::from(largest_column) / u128::from(layout.row_count.max(1));
    bytes_left_out >= u128::from(GAP_BYTES)
}
