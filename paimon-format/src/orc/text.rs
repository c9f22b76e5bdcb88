//! Text and bytes: one behind the other, or in a dictionary.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, UInt32Array};
use arrow_buffer::{Buffer, NullBuffer};
use arrow_schema::DataType as ArrowType;
use arrow_select::take::take;
use bytes::Bytes;
use paimon_meta::{Error, Result};

use super::bits::Present;
use super::integer::IntegerRuns;
use super::row_index::Place;
use super::stream::ByteStream;
use crate::assemble::bytes_array;

/// Values one behind the other.
#[derive(Debug)]
pub(super) struct Direct {
    lengths: IntegerRuns,
    data: ByteStream,
    /// Whether blanks at the end are no part of a value: the writer pads CHAR (table-format 8.2).
    trimmed: bool,
    /// Lengths of the values that are being read.
    scratch: Vec<i64>,
    ends: Vec<usize>,
    gathered: Gathered,
}

/// The bytes of a batch: those of the stream as they are, as long as they come from one place.
#[derive(Debug)]
enum Gathered {
    One(Bytes),
    Many(Vec<u8>),
}

impl Gathered {
    fn len(&self) -> usize {
        match self {
            Self::One(bytes) => bytes.len(),
            Self::Many(bytes) => bytes.len(),
        }
    }

    fn push(&mut self, more: Bytes) {
        match self {
            Self::One(bytes) if bytes.is_empty() => *self = Self::One(more),
            _ if more.is_empty() => {}
            Self::One(bytes) => *self = Self::Many([bytes.as_ref(), more.as_ref()].concat()),
            Self::Many(bytes) => bytes.extend_from_slice(&more),
        }
    }
}

impl Direct {
    pub(super) fn new(lengths: IntegerRuns, data: ByteStream, trimmed: bool) -> Self {
        Self {
            lengths,
            data,
            trimmed,
            scratch: Vec::new(),
            ends: Vec::new(),
            gathered: Gathered::One(Bytes::new()),
        }
    }

    pub(super) fn read(&mut self, present: &Present) -> Result<()> {
        let total = self.next_lengths(present.count())?;
        let bytes = self.data.take(total)?;
        let first = self.ends.len();
        let mut end = self.gathered.len();
        if self.trimmed {
            let mut kept = Vec::with_capacity(bytes.len());
            let mut start = 0;
            for length in &mut self.scratch {
                let stop = start + usize::try_from(*length).unwrap_or(0);
                let value = bytes.get(start..stop).unwrap_or_default();
                let value = without_blanks(value);
                kept.extend_from_slice(value);
                *length = i64::try_from(value.len()).unwrap_or(0);
                start = stop;
            }
            self.gathered.push(kept.into());
        } else {
            self.gathered.push(bytes);
        }
        self.ends.reserve(present.len());
        match present {
            Present::All(_) => {
                for length in &self.scratch {
                    end += usize::try_from(*length).unwrap_or(0);
                    self.ends.push(end);
                }
            }
            Present::Some(bits, _) => {
                let mut lengths = self.scratch.iter();
                for (start, stop) in bits.set_slices() {
                    self.ends.resize(first + start, end);
                    for length in lengths.by_ref().take(stop - start) {
                        end += usize::try_from(*length).unwrap_or(0);
                        self.ends.push(end);
                    }
                }
                self.ends.resize(first + bits.len(), end);
            }
        }
        Ok(())
    }

    pub(super) fn skip(&mut self, count: usize) -> Result<()> {
        let total = self.next_lengths(count)?;
        self.data.skip(total)
    }

    pub(super) fn seek(&mut self, data: Place, lengths: Place) -> Result<()> {
        self.data.seek(data.chunk, data.byte)?;
        self.lengths.seek(lengths)
    }

    /// Brings the next lengths; their sum.
    fn next_lengths(&mut self, count: usize) -> Result<usize> {
        self.scratch.clear();
        self.lengths.read(count, &mut self.scratch)?;
        let mut total = 0_usize;
        for length in &self.scratch {
            let sum = usize::try_from(*length).ok();
            total = sum
                .and_then(|length| total.checked_add(length))
                .ok_or_else(|| Error::corrupt(format!("value of {length} bytes")))?;
        }
        Ok(total)
    }

    pub(super) fn finish(&mut self, nulls: Option<NullBuffer>, to: &ArrowType) -> Result<ArrayRef> {
        let data = match std::mem::replace(&mut self.gathered, Gathered::One(Bytes::new())) {
            Gathered::One(bytes) => Buffer::from(bytes),
            Gathered::Many(bytes) => Buffer::from_vec(bytes),
        };
        let array = bytes_array(&self.ends, data, nulls, to);
        self.ends.clear();
        array
    }
}

fn without_blanks(value: &[u8]) -> &[u8] {
    let blanks = value.iter().rev().take_while(|byte| **byte == b' ').count();
    value.get(..value.len() - blanks).unwrap_or_default()
}

/// Values by their number in a dictionary.
#[derive(Debug)]
pub(super) struct Dictionary {
    keys: IntegerRuns,
    /// The dictionary, until the first value is wanted, and how many values it has.
    stored: Option<(Direct, usize)>,
    values: Option<ArrayRef>,
    scratch: Vec<i64>,
    dense: Vec<u32>,
    read: Vec<u32>,
}

impl Dictionary {
    pub(super) fn new(keys: IntegerRuns, stored: Direct, size: usize) -> Self {
        Self {
            keys,
            stored: Some((stored, size)),
            values: None,
            scratch: Vec::new(),
            dense: Vec::new(),
            read: Vec::new(),
        }
    }

    pub(super) fn read(&mut self, present: &Present, to: &ArrowType) -> Result<()> {
        let size = self.values(to)?.len();
        self.scratch.clear();
        self.keys.read(present.count(), &mut self.scratch)?;
        self.dense.clear();
        for key in &self.scratch {
            let key = u32::try_from(*key)
                .ok()
                .filter(|key| usize::try_from(*key).is_ok_and(|key| key < size))
                .ok_or_else(|| Error::corrupt(format!("value {key} of a dictionary of {size}")))?;
            self.dense.push(key);
        }
        present.spread(&self.dense, 0, &mut self.read);
        Ok(())
    }

    pub(super) fn skip(&mut self, count: usize) -> Result<()> {
        self.keys.skip(count)
    }

    pub(super) fn seek(&mut self, keys: Place) -> Result<()> {
        self.keys.seek(keys)
    }

    fn values(&mut self, to: &ArrowType) -> Result<&ArrayRef> {
        if let Some((mut stored, size)) = self.stored.take() {
            stored.read(&Present::All(size))?;
            self.values = Some(stored.finish(None, to)?);
        }
        let values = self.values.as_ref();
        values.ok_or_else(|| Error::corrupt("dictionary is damaged"))
    }

    pub(super) fn finish(&mut self, nulls: Option<NullBuffer>, to: &ArrowType) -> Result<ArrayRef> {
        let keys = std::mem::take(&mut self.read);
        let values = Arc::clone(self.values(to)?);
        let keys = UInt32Array::try_new(keys.into(), nulls)
            .map_err(|error| Error::internal("keys and nulls differ").with_source(error))?;
        take(&values, &keys, None)
            .map_err(|error| Error::corrupt("dictionary is damaged").with_source(error))
    }
}
