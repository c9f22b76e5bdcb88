//! Keys of picked rows, written down in the order of the picks.
//!
//! Where the key is one fixed-width column that is compared as its own array, copying the keys of a stretch when it is
//! picked costs less than finding them again: the output's key column is then a slice of what is written here.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Int32Type, Int64Type, Time32MillisecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use arrow_array::{ArrayRef, PrimitiveArray};
use arrow_buffer::ArrowNativeType;
use arrow_row::Row;
use arrow_schema::{DataType as ArrowType, TimeUnit};
use paimon_meta::{Error, Result};

use super::keys::KeyWindow;
use super::text_keys;

/// Keys of picked rows in the order of the picks.
#[derive(Debug)]
pub(crate) enum PickedKeys {
    Narrow(Vec<i32>),
    Long(Vec<i64>),
    Wide(Vec<i128>),
}

impl PickedKeys {
    /// For windows like this one; `None` if their keys are not the column's own values.
    pub(crate) fn like(window: &KeyWindow, column: &ArrowType) -> Option<Self> {
        match (window, column) {
            (KeyWindow::Narrow(_), ArrowType::Int32 | ArrowType::Date32 | ArrowType::Time32(_)) => {
                Some(Self::Narrow(Vec::new()))
            }
            (KeyWindow::Long(_), ArrowType::Int64 | ArrowType::Timestamp(..)) => {
                Some(Self::Long(Vec::new()))
            }
            (KeyWindow::Wide(_), ArrowType::Decimal128(..)) => Some(Self::Wide(Vec::new())),
            _ => None,
        }
    }

    /// Adds keys `position..position + length` of a window.
    #[inline]
    pub(crate) fn add(&mut self, window: &KeyWindow, position: usize, length: usize) {
        match (self, window) {
            (Self::Narrow(picked), KeyWindow::Narrow(keys)) => add(picked, keys, position, length),
            (Self::Long(picked), KeyWindow::Long(keys)) => add(picked, keys, position, length),
            (Self::Wide(picked), KeyWindow::Wide(keys)) => add(picked, keys, position, length),
            _ => {}
        }
    }

    /// The keys as a column.
    ///
    /// # Errors
    /// `Internal` for a type that [`Self::like`] does not take.
    pub(crate) fn into_column(self, column: &ArrowType) -> Result<ArrayRef> {
        use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
        Ok(match (self, column) {
            (Self::Narrow(keys), ArrowType::Int32) => array::<Int32Type>(keys, column),
            (Self::Narrow(keys), ArrowType::Date32) => array::<Date32Type>(keys, column),
            (Self::Narrow(keys), ArrowType::Time32(_)) => {
                array::<Time32MillisecondType>(keys, column)
            }
            (Self::Long(keys), ArrowType::Int64) => array::<Int64Type>(keys, column),
            (Self::Long(keys), ArrowType::Timestamp(unit, _)) => match unit {
                Second => array::<TimestampSecondType>(keys, column),
                Millisecond => array::<TimestampMillisecondType>(keys, column),
                Microsecond => array::<TimestampMicrosecondType>(keys, column),
                Nanosecond => array::<TimestampNanosecondType>(keys, column),
            },
            (Self::Wide(keys), ArrowType::Decimal128(..)) => array::<Decimal128Type>(keys, column),
            (_, column) => return Err(Error::internal(format!("keys are no column of {column}"))),
        })
    }
}

/// Keys that may be written down.
pub(crate) trait Written: Sized {
    /// Adds them, if they are what is written down.
    fn write(_keys: &[Self], _picked: &mut PickedKeys) {}

    /// Ascending lists as integers of the same order, where these compare faster.
    fn integers(_lists: &[&[Self]]) -> Option<Vec<Vec<u128>>> {
        None
    }
}

macro_rules! written {
    ($type:ty, $form:ident) => {
        impl Written for $type {
            fn write(keys: &[Self], picked: &mut PickedKeys) {
                if let PickedKeys::$form(picked) = picked {
                    picked.extend_from_slice(keys);
                }
            }
        }
    };
}

written!(i32, Narrow);
written!(i64, Long);
written!(i128, Wide);
impl Written for u128 {}
impl Written for &[u8] {
    fn integers(lists: &[&[Self]]) -> Option<Vec<Vec<u128>>> {
        text_keys::integers(lists)
    }
}
impl Written for Row<'_> {}

#[inline]
fn add<T: ArrowNativeType>(picked: &mut Vec<T>, keys: &[T], position: usize, length: usize) {
    match keys.get(position..position + length) {
        // A lone row is the common case where runs interleave, and cheaper without a call to copy memory.
        Some([key]) => picked.push(*key),
        Some(keys) => picked.extend_from_slice(keys),
        None => {}
    }
}

fn array<T: ArrowPrimitiveType>(keys: Vec<T::Native>, column: &ArrowType) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(keys.into(), None).with_data_type(column.clone()))
}
