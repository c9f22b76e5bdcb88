//! Booleans, integers, floats and decimals.

use std::fmt::Display;
use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType,
};
use arrow_array::{ArrayRef, BooleanArray};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer};
use arrow_schema::DataType as ArrowType;
use paimon_meta::{Error, Result};

use super::bits::{Bits, ByteRuns, Present};
use super::integer::IntegerRuns;
use super::row_index::Place;
use super::stream::{ByteStream, ends};
use crate::assemble::primitive_array;
use crate::decimal::Rescale;

/// Longest varint of 128 bits.
const LONGEST_VARINT: usize = 19;

/// The values of a column of booleans.
#[derive(Debug)]
pub(super) struct Booleans {
    from: Bits,
    read: BooleanBufferBuilder,
}

impl Booleans {
    pub(super) fn new(from: Bits) -> Self {
        Self {
            from,
            read: BooleanBufferBuilder::new(0),
        }
    }

    pub(super) fn read(&mut self, present: &Present) -> Result<()> {
        let dense = self.from.read(present.count())?;
        let Present::Some(places, _) = present else {
            self.read.append_buffer(&dense);
            return Ok(());
        };
        let (base, mut used) = (self.read.len(), 0);
        for (start, end) in places.set_slices() {
            self.read.append_n(base + start - self.read.len(), false);
            self.read.append_buffer(&dense.slice(used, end - start));
            used += end - start;
        }
        self.read
            .append_n(base + places.len() - self.read.len(), false);
        Ok(())
    }

    pub(super) fn skip(&mut self, count: usize) -> Result<()> {
        self.from.read(count).map(drop)
    }

    pub(super) fn seek(&mut self, data: Place) -> Result<()> {
        self.from.seek(data)
    }

    pub(super) fn finish(&mut self, nulls: Option<NullBuffer>) -> ArrayRef {
        Arc::new(BooleanArray::new(self.read.finish(), nulls))
    }
}

/// The values of a column of decimals: each has a scale of its own.
#[derive(Debug)]
pub(super) struct Decimals {
    from: ByteStream,
    scales: IntegerRuns,
    rescale: Rescale,
    scratch: (Vec<i64>, Vec<i128>),
    read: Vec<i128>,
}

impl Decimals {
    pub(super) fn new(from: ByteStream, scales: IntegerRuns, rescale: Rescale) -> Self {
        Self {
            from,
            scales,
            rescale,
            scratch: (Vec::new(), Vec::new()),
            read: Vec::new(),
        }
    }

    pub(super) fn read(&mut self, present: &Present) -> Result<()> {
        let (scales, dense) = &mut self.scratch;
        scales.clear();
        dense.clear();
        self.scales.read(present.count(), scales)?;
        for scale in scales {
            let scale = i32::try_from(*scale)
                .map_err(|_| Error::corrupt(format!("decimal of scale {scale}")))?;
            let unscaled = unscaled(&mut self.from)?;
            dense.push(self.rescale.apply(unscaled, scale)?);
        }
        present.spread(dense, 0, &mut self.read);
        Ok(())
    }

    pub(super) fn skip(&mut self, count: usize) -> Result<()> {
        (0..count).try_for_each(|_| unscaled(&mut self.from).map(drop))?;
        self.scales.skip(count)
    }

    pub(super) fn seek(&mut self, data: Place, scales: Place) -> Result<()> {
        self.from.seek(data.chunk, data.byte)?;
        self.scales.seek(scales)
    }

    pub(super) fn finish(&mut self, nulls: Option<NullBuffer>, to: &ArrowType) -> Result<ArrayRef> {
        primitive_array::<Decimal128Type>(std::mem::take(&mut self.read), nulls, to)
    }
}

/// Where integers come from.
#[derive(Debug)]
pub(super) enum Integers {
    Bytes(ByteRuns),
    Runs(IntegerRuns),
}

impl Integers {
    pub(super) fn read(&mut self, count: usize, into: &mut Vec<i64>) -> Result<()> {
        match self {
            Self::Bytes(bytes) => bytes.read(count, into),
            Self::Runs(runs) => runs.read(count, into),
        }
    }

    pub(super) fn skip(&mut self, count: usize) -> Result<()> {
        match self {
            Self::Bytes(bytes) => bytes.skip(count),
            Self::Runs(runs) => runs.skip(count),
        }
    }

    pub(super) fn seek(&mut self, data: Place) -> Result<()> {
        match self {
            Self::Bytes(bytes) => bytes.seek(data),
            Self::Runs(runs) => runs.seek(data),
        }
    }
}

/// Bytes of so many floats.
pub(super) fn float_bytes(count: usize, width: usize) -> Result<usize> {
    count.checked_mul(width).ok_or_else(ends)
}

/// Appends floats to where they belong.
pub(super) fn floats<T: Copy, const WIDTH: usize>(
    from: &mut ByteStream,
    present: &Present,
    value: impl Fn([u8; WIDTH]) -> T,
    empty: T,
    read: &mut Vec<T>,
) -> Result<()> {
    let stored = from.take(float_bytes(present.count(), WIDTH)?)?;
    let (chunks, _) = stored.as_chunks::<WIDTH>();
    let values = chunks.iter().map(|bytes| value(*bytes));
    match present {
        Present::All(_) => read.extend(values),
        Present::Some(..) => present.spread(&values.collect::<Vec<_>>(), empty, read),
    }
    Ok(())
}

/// A zigzag varint of up to 128 bits.
fn unscaled(from: &mut ByteStream) -> Result<i128> {
    let bytes = from.peek(LONGEST_VARINT)?;
    let mut value = 0_u128;
    for (index, byte) in bytes.iter().enumerate().take(LONGEST_VARINT) {
        value |= u128::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            from.advance(index + 1);
            return Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed());
        }
    }
    if bytes.len() < LONGEST_VARINT {
        return Err(ends());
    }
    Err(Error::corrupt("decimal of more than 128 bits"))
}

/// Integers as an array of the asked width.
///
/// # Errors
/// `Corrupt` for a value that does not fit.
pub(super) fn integer_array(
    values: Vec<i64>,
    nulls: Option<NullBuffer>,
    to: &ArrowType,
) -> Result<ArrayRef> {
    match to {
        ArrowType::Int8 => fitted::<Int8Type>(&values, nulls, to),
        ArrowType::Int16 => fitted::<Int16Type>(&values, nulls, to),
        ArrowType::Int32 => fitted::<Int32Type>(&values, nulls, to),
        ArrowType::Date32 => fitted::<Date32Type>(&values, nulls, to),
        ArrowType::Time32(_) => fitted::<Time32MillisecondType>(&values, nulls, to),
        _ => primitive_array::<Int64Type>(values, nulls, to),
    }
}

fn fitted<T: ArrowPrimitiveType>(
    values: &[i64],
    nulls: Option<NullBuffer>,
    to: &ArrowType,
) -> Result<ArrayRef>
where
    T::Native: TryFrom<i64> + Display,
{
    let fit = |value: &i64| {
        T::Native::try_from(*value)
            .map_err(|_| Error::corrupt(format!("value {value} does not fit {to}")))
    };
    let values = values.iter().map(fit).collect::<Result<Vec<_>>>()?;
    primitive_array::<T>(values, nulls, to)
}
