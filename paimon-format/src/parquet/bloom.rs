//! Bloom filters of column chunks: which values a row group does not hold.
//!
//! A filter holds hashes of values as they are stored, so a value is asked for in the bytes of the column's physical type.
//! Values that may be stored in several ways (floats that are zero or NaN, decimals in bytes without a length, INT96: a
//! time before 1970 may be stored with negative nanoseconds of the day, TF-083) are never ruled out.

use std::ops::Range;

use arrow_schema::TimeUnit;
use bytes::Bytes;
use paimon_meta::{Datum, Error, Frame, Result, ResultExt};
use parquet::basic::Type as PhysicalType;
use parquet::bloom_filter::Sbbf;
use parquet::file::metadata::RowGroupMetaData;
use parquet::schema::types::ColumnDescriptor;

use super::error::corrupt;
use super::schema::FileSchema;
use super::stored::Stored;
use super::thrift::{Compact, Kind};
use crate::source::{ByteSource, read_one};

/// Bytes that hold the header of a filter.
const HEADER: u64 = 64;
/// Bytes of a block; a filter has one at least.
const BLOCK: usize = 32;
/// A filter above this size is read only if it is smaller than the row group.
const LARGE: u64 = 256 * 1024;

/// Whether a row group may hold each of some values of a top-level column; all true where nothing is known.
///
/// # Errors
/// Of the source; `Corrupt` for a filter outside the file or one that does not decode, naming the column.
pub(super) async fn may_hold(
    schema: &FileSchema,
    source: &dyn ByteSource,
    group: &RowGroupMetaData,
    column: &str,
    values: &[Datum],
) -> Result<Vec<bool>> {
    let all = vec![true; values.len()];
    let leaves = schema.column(column).map(|column| column.leaves.clone());
    let Some(index) = leaves
        .filter(|leaves| leaves.len() == 1)
        .map(|leaves| leaves.start)
    else {
        return Ok(all);
    };
    let Some((leaf, chunk)) = schema.leaf(index).zip(group.columns().get(index)) else {
        return Ok(all);
    };
    let stored: Vec<Option<Vec<u8>>> = values
        .iter()
        .map(|value| stored_bytes(leaf, value))
        .collect();
    let Some(offset) = chunk.bloom_filter_offset() else {
        return Ok(all);
    };
    if leaf.max_rep_level() > 0 || stored.iter().all(Option::is_none) {
        return Ok(all);
    }
    let length = chunk.bloom_filter_length();
    let most = u64::try_from(group.compressed_size())
        .unwrap_or(0)
        .max(LARGE);
    let here = || Frame::Column(column.to_owned());
    let Some(bytes) = read(source, (offset, length), most).await.at(here)? else {
        return Ok(all);
    };
    let filter = Sbbf::from_bytes(&bytes)
        .map_err(|error| corrupt("Bloom filter does not decode", error))
        .at(here)?;
    let may_hold =
        |value: &Option<Vec<u8>>| value.as_deref().is_none_or(|bytes| filter.check(bytes));
    Ok(stored.iter().map(may_hold).collect())
}

/// The bytes of a filter, header and bits; `None` if they are more than `most`.
async fn read(
    source: &dyn ByteSource,
    place: (i64, Option<i32>),
    most: u64,
) -> Result<Option<Bytes>> {
    let size = source.size();
    let start = u64::try_from(place.0).ok().filter(|start| *start < size);
    let start = start.ok_or_else(|| {
        let offset = place.0;
        Error::corrupt(format!(
            "Bloom filter at {offset} in a file of {size} bytes"
        ))
    })?;
    let known = place.1.map(|length| u64::try_from(length).unwrap_or(0));
    if known.is_some_and(|length| length > most) {
        return Ok(None);
    }
    let end = start.saturating_add(known.unwrap_or(HEADER)).min(size);
    let first = read_one(source, start..end).await?;
    let whole = length_of(&first)?;
    if whole > most {
        return Ok(None);
    }
    let range: Range<u64> = start..start.saturating_add(whole);
    if range.end > size {
        return Err(Error::corrupt(format!(
            "Bloom filter of {whole} bytes at {start} in a file of {size} bytes"
        )));
    }
    let there = usize::try_from(whole)
        .ok()
        .filter(|whole| *whole <= first.len());
    match there {
        Some(length) => Ok(Some(first.slice(..length))),
        None => read_one(source, range).await.map(Some),
    }
}

/// Bytes of a whole filter, by its header.
fn length_of(bytes: &[u8]) -> Result<u64> {
    let mut input = Compact::new(bytes);
    let mut bits = None;
    let read = input.fields(|input, id, kind| {
        if (id, kind) == (1, Kind::I32) {
            bits = Some(input.integer()?);
            return Some(());
        }
        input.skip(kind)
    });
    let bits = read.and(bits).and_then(|bits| usize::try_from(bits).ok());
    let bits = bits.filter(|bits| *bits >= BLOCK && bits.is_multiple_of(BLOCK));
    let bits = bits.ok_or_else(|| Error::corrupt("header of a Bloom filter does not decode"))?;
    Ok((bytes.len() - input.remaining()) as u64 + bits as u64)
}

/// A value as the column stores it; `None` if that is not known for certain.
fn stored_bytes(leaf: &ColumnDescriptor, value: &Datum) -> Option<Vec<u8>> {
    match (Stored::of(leaf), value) {
        (Stored::Integer { signed: true }, value) => integer(leaf, integer_of(value)?),
        (Stored::Float, Datum::Float(value)) if value.is_normal() => {
            Some(value.to_le_bytes().to_vec())
        }
        (Stored::Double, Datum::Double(value)) if value.is_normal() => {
            Some(value.to_le_bytes().to_vec())
        }
        (Stored::Decimal { scale, .. }, Datum::Decimal(unscaled, own)) => {
            (i32::from(*own) == scale).then(|| decimal(leaf, *unscaled))?
        }
        (Stored::Timestamp(unit), Datum::Timestamp { millis, nanos }) => {
            integer(leaf, in_unit(nanoseconds(*millis, *nanos), unit)?)
        }
        (Stored::Time(unit), Datum::Time(millis)) => {
            integer(leaf, in_unit(i128::from(*millis) * 1_000_000, unit)?)
        }
        (Stored::Text | Stored::Bytes, Datum::String(text)) => Some(text.as_bytes().to_vec()),
        (Stored::Text | Stored::Bytes, Datum::Binary(bytes)) => Some(bytes.clone()),
        (Stored::Fixed, Datum::Binary(bytes)) => {
            (i32::try_from(bytes.len()) == Ok(leaf.type_length())).then(|| bytes.clone())
        }
        _ => None,
    }
}

fn integer_of(value: &Datum) -> Option<i128> {
    Some(match value {
        Datum::TinyInt(value) => i128::from(*value),
        Datum::SmallInt(value) => i128::from(*value),
        Datum::Int(value) | Datum::Date(value) => i128::from(*value),
        Datum::BigInt(value) => i128::from(*value),
        _ => return None,
    })
}

fn integer(leaf: &ColumnDescriptor, value: i128) -> Option<Vec<u8>> {
    match leaf.physical_type() {
        PhysicalType::INT32 => i32::try_from(value)
            .ok()
            .map(|value| value.to_le_bytes().to_vec()),
        PhysicalType::INT64 => i64::try_from(value)
            .ok()
            .map(|value| value.to_le_bytes().to_vec()),
        _ => None,
    }
}

fn decimal(leaf: &ColumnDescriptor, unscaled: i128) -> Option<Vec<u8>> {
    if leaf.physical_type() != PhysicalType::FIXED_LEN_BYTE_ARRAY {
        return integer(leaf, unscaled);
    }
    let length = usize::try_from(leaf.type_length()).ok()?;
    let bytes = unscaled.to_be_bytes();
    let sign = if unscaled < 0 { 0xFF } else { 0 };
    match length.checked_sub(bytes.len()) {
        Some(more) => Some([vec![sign; more], bytes.to_vec()].concat()),
        None => {
            let (cut, kept) = bytes.split_at_checked(bytes.len() - length)?;
            let negative = kept.first().is_some_and(|first| *first >= 0x80);
            let fits = cut.iter().all(|byte| *byte == sign) && negative == (unscaled < 0);
            fits.then(|| kept.to_vec())
        }
    }
}

fn nanoseconds(millis: i64, nanos: i32) -> i128 {
    i128::from(millis) * 1_000_000 + i128::from(nanos)
}

/// Nanoseconds in a unit, if nothing is lost.
fn in_unit(nanos: i128, unit: TimeUnit) -> Option<i128> {
    let size = match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    };
    (nanos % size == 0).then_some(nanos / size)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parquet::schema::types::{ColumnPath, Type};

    use super::*;

    #[test]
    fn int96_is_never_ruled_out() {
        // TF-083: one instant may be stored in two ways.
        let leaf = Type::primitive_type_builder("t", PhysicalType::INT96);
        let leaf = Arc::new(leaf.build().unwrap());
        let leaf = ColumnDescriptor::new(leaf, 1, 0, ColumnPath::from("t"));
        assert_eq!(Stored::of(&leaf), Stored::Int96);
        for millis in [-1, 0, 1] {
            let value = Datum::Timestamp { millis, nanos: 0 };
            assert_eq!(stored_bytes(&leaf, &value), None);
        }
    }

    #[test]
    fn a_header_must_say_whole_blocks() {
        assert_eq!(length_of(&[0x15, 0x40, 0x00]).unwrap(), 3 + 32);
        for bits in [0x00, 0x3E, 0x3F, 0x42] {
            length_of(&[0x15, bits, 0x00]).unwrap_err();
        }
        length_of(&[0x00]).unwrap_err();
        length_of(&[0x15]).unwrap_err();
    }
}
