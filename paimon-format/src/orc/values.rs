//! The values of a column, whatever is null.

use arrow_array::ArrayRef;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType as ArrowType;
use paimon_meta::{Error, Frame, Result, ResultExt};

use super::bits::Present;
use super::column::{Column, DATA, LENGTH, SECONDARY};
use super::integer::IntegerRuns;
use super::numbers::{Booleans, Decimals, Integers, float_bytes, floats, integer_array};
use super::row_index::Places;
use super::stream::ByteStream;
use super::text::{Dictionary, Direct};
use super::timestamp::Timestamps;
use crate::assemble::{list_array, map_array, primitive_array, row_array};

/// Values of one kind: where they come from, and those of this batch. Where a value is null there is an empty one.
#[derive(Debug)]
pub(super) enum Values {
    Boolean(Booleans),
    /// Integers of all widths, dates and times.
    Integer {
        from: Integers,
        scratch: Vec<i64>,
        read: Vec<i64>,
    },
    Float(ByteStream, Vec<f32>),
    Double(ByteStream, Vec<f64>),
    WidenedFloat(ByteStream, Vec<f64>),
    Decimal(Decimals),
    Direct(Direct),
    Dictionary(Dictionary),
    Timestamp(Timestamps),
    List {
        lengths: Lengths,
        element: Box<Column>,
    },
    Map {
        lengths: Lengths,
        entry: Box<[Column; 2]>,
    },
    /// Columns with their names.
    Row(Vec<(String, Column)>),
}

/// How many elements lists have, and where those of this batch end.
#[derive(Debug)]
pub(super) struct Lengths {
    from: IntegerRuns,
    scratch: Vec<i64>,
    offsets: Vec<i32>,
}

impl Lengths {
    /// Reads the lengths of lists; the number of their elements.
    fn read(&mut self, present: &Present) -> Result<usize> {
        let total = self.next(present.count())?;
        let mut end = self.offsets.last().copied().unwrap_or(0);
        let too_many = || Error::corrupt(format!("{total} elements in the lists of one batch"));
        let mut ends = Vec::with_capacity(self.scratch.len());
        for length in &self.scratch {
            let length = i32::try_from(*length).ok();
            end = length
                .and_then(|length| end.checked_add(length))
                .ok_or_else(too_many)?;
            ends.push(end);
        }
        match present {
            Present::All(_) => self.offsets.append(&mut ends),
            Present::Some(bits, _) => {
                let first = self.offsets.len();
                let mut ends = ends.into_iter();
                for (start, stop) in bits.set_slices() {
                    let last = self.offsets.last().copied().unwrap_or(0);
                    self.offsets.resize(first + start, last);
                    self.offsets.extend(ends.by_ref().take(stop - start));
                }
                let last = self.offsets.last().copied().unwrap_or(0);
                self.offsets.resize(first + bits.len(), last);
            }
        }
        Ok(total)
    }

    /// Brings the next lengths; their sum.
    fn next(&mut self, count: usize) -> Result<usize> {
        self.scratch.clear();
        self.from.read(count, &mut self.scratch)?;
        let mut total = 0_usize;
        for length in &self.scratch {
            let sum = usize::try_from(*length).ok();
            total = sum
                .and_then(|length| total.checked_add(length))
                .ok_or_else(|| Error::corrupt(format!("list of {length} elements")))?;
        }
        Ok(total)
    }

    fn take(&mut self) -> Vec<i32> {
        std::mem::replace(&mut self.offsets, vec![0])
    }
}

impl Values {
    pub(super) fn integers(from: Integers) -> Self {
        Self::Integer {
            from,
            scratch: Vec::new(),
            read: Vec::new(),
        }
    }

    pub(super) fn list(lengths: IntegerRuns, element: Column) -> Self {
        Self::List {
            lengths: Lengths::of(lengths),
            element: Box::new(element),
        }
    }

    pub(super) fn map(lengths: IntegerRuns, key: Column, value: Column) -> Self {
        Self::Map {
            lengths: Lengths::of(lengths),
            entry: Box::new([key, value]),
        }
    }

    /// Appends the next values to where they belong.
    ///
    /// # Errors
    /// `Corrupt` if there are fewer, or values that the asked type cannot hold.
    pub(super) fn read(&mut self, present: &Present, to: &ArrowType) -> Result<()> {
        match self {
            Self::Boolean(booleans) => booleans.read(present)?,
            Self::Integer {
                from,
                scratch,
                read,
            } => match present {
                Present::All(count) => from.read(*count, read)?,
                Present::Some(_, count) => {
                    scratch.clear();
                    from.read(*count, scratch)?;
                    present.spread(scratch, 0, read);
                }
            },
            Self::Float(from, read) => {
                floats(from, present, f32::from_le_bytes, 0.0, read)?;
            }
            Self::Double(from, read) => {
                floats(from, present, f64::from_le_bytes, 0.0, read)?;
            }
            Self::WidenedFloat(from, read) => {
                let widened = |bytes| f64::from(f32::from_le_bytes(bytes));
                floats(from, present, widened, 0.0, read)?;
            }
            Self::Decimal(decimals) => decimals.read(present)?,
            Self::Direct(text) => text.read(present)?,
            Self::Dictionary(text) => text.read(present, to)?,
            Self::Timestamp(timestamps) => timestamps.read(present)?,
            Self::List { lengths, element } => {
                let total = lengths.read(present)?;
                element.read(&Present::All(total))?;
            }
            Self::Map { lengths, entry } => {
                let total = Present::All(lengths.read(present)?);
                entry
                    .iter_mut()
                    .try_for_each(|column| column.read(&total))?;
            }
            Self::Row(children) => {
                for (name, child) in children {
                    child.read(present).at(|| Frame::Field(name.clone()))?;
                }
            }
        }
        Ok(())
    }

    /// Steps over the next values.
    ///
    /// # Errors
    /// `Corrupt` if there are fewer.
    pub(super) fn skip(&mut self, present: &Present) -> Result<()> {
        let count = present.count();
        match self {
            Self::Boolean(booleans) => booleans.skip(count),
            Self::Integer { from, .. } => from.skip(count),
            Self::Float(from, _) | Self::WidenedFloat(from, _) => from.skip(float_bytes(count, 4)?),
            Self::Double(from, _) => from.skip(float_bytes(count, 8)?),
            Self::Decimal(decimals) => decimals.skip(count),
            Self::Direct(text) => text.skip(count),
            Self::Dictionary(text) => text.skip(count),
            Self::Timestamp(timestamps) => timestamps.skip(count),
            Self::List { lengths, element } => element.skip(&Present::All(lengths.next(count)?)),
            Self::Map { lengths, entry } => {
                let total = Present::All(lengths.next(count)?);
                entry.iter_mut().try_for_each(|column| column.skip(&total))
            }
            Self::Row(children) => children.iter_mut().try_for_each(|(name, child)| {
                child.skip(present).at(|| Frame::Field(name.clone()))
            }),
        }
    }

    /// Goes to where a group of rows begins; `column` is the number of the column.
    ///
    /// # Errors
    /// `Corrupt` if there is no such place.
    pub(super) fn seek(&mut self, column: usize, places: &Places, group: usize) -> Result<()> {
        let at = |kind| places.at(column, kind, group);
        match self {
            Self::Boolean(booleans) => booleans.seek(at(DATA)?),
            Self::Integer { from, .. } => from.seek(at(DATA)?),
            Self::Float(from, _) | Self::Double(from, _) | Self::WidenedFloat(from, _) => {
                let place = at(DATA)?;
                from.seek(place.chunk, place.byte)
            }
            Self::Decimal(decimals) => decimals.seek(at(DATA)?, at(SECONDARY)?),
            Self::Direct(text) => text.seek(at(DATA)?, at(LENGTH)?),
            Self::Dictionary(text) => text.seek(at(DATA)?),
            Self::Timestamp(timestamps) => timestamps.seek(at(DATA)?, at(SECONDARY)?),
            Self::List { lengths, element } => {
                lengths.from.seek(at(LENGTH)?)?;
                element.seek(places, group)
            }
            Self::Map { lengths, entry } => {
                lengths.from.seek(at(LENGTH)?)?;
                entry
                    .iter_mut()
                    .try_for_each(|child| child.seek(places, group))
            }
            Self::Row(children) => children.iter_mut().try_for_each(|(name, child)| {
                child.seek(places, group).at(|| Frame::Field(name.clone()))
            }),
        }
    }

    /// The values so far as an array; there are none left.
    ///
    /// # Errors
    /// `Corrupt` for values that the asked type cannot hold.
    pub(super) fn finish(&mut self, nulls: Option<NullBuffer>, to: &ArrowType) -> Result<ArrayRef> {
        match self {
            Self::Boolean(booleans) => Ok(booleans.finish(nulls)),
            Self::Integer { read, .. } => integer_array(std::mem::take(read), nulls, to),
            Self::Float(_, read) => primitive_array::<Float32Type>(std::mem::take(read), nulls, to),
            Self::Double(_, read) | Self::WidenedFloat(_, read) => {
                primitive_array::<Float64Type>(std::mem::take(read), nulls, to)
            }
            Self::Decimal(decimals) => decimals.finish(nulls, to),
            Self::Direct(text) => text.finish(nulls, to),
            Self::Dictionary(text) => text.finish(nulls, to),
            Self::Timestamp(timestamps) => timestamps.finish(nulls, to),
            Self::List { lengths, element } => {
                list_array(lengths.take(), element.finish()?, nulls, to)
            }
            Self::Map { lengths, entry } => {
                let [key, value] = entry.as_mut();
                let entries = [key.finish()?, value.finish()?];
                map_array(lengths.take(), entries, nulls, to)
            }
            Self::Row(children) => {
                let children = children
                    .iter_mut()
                    .map(|(name, child)| child.finish().at(|| Frame::Field(name.clone())));
                row_array(children.collect::<Result<_>>()?, nulls, to)
            }
        }
    }
}

impl Lengths {
    fn of(from: IntegerRuns) -> Self {
        Self {
            from,
            scratch: Vec::new(),
            offsets: vec![0],
        }
    }
}
