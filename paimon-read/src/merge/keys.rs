//! Keys in a form that the kernel compares fast.
//!
//! One fixed-width column is compared as the array's own slice, floats as order-preserving integers; several columns of
//! at most 16 bytes together are packed, order-preserving, into one integer; text and binary are compared as slices of
//! the view array; what is left (wide, mixed, nullable keys) goes through arrow-row. The order is that of ME 1.2.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, BinaryViewType, ByteViewType, Date32Type, Decimal128Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, StringViewType, Time32MillisecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use arrow_array::{Array, ArrayRef, BinaryViewArray, GenericByteViewArray, StringViewArray};
use arrow_buffer::ScalarBuffer;
use arrow_row::{Row, RowConverter, Rows, SortField};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use paimon_meta::{DataType, Datum, Error, Result, StringLayout, array_of};

use super::kernel::Keys;

/// Comparable keys of consecutive rows of one run.
#[derive(Clone, Debug)]
pub(crate) enum KeyWindow {
    /// Booleans, small integers, dates, times, floats.
    Narrow(ScalarBuffer<i32>),
    /// Long integers, timestamps, doubles.
    Long(ScalarBuffer<i64>),
    /// Decimals.
    Wide(ScalarBuffer<i128>),
    /// Several columns in one integer.
    Packed(Arc<Vec<u128>>),
    /// Text.
    Text(StringViewArray),
    /// Binary.
    Bytes(BinaryViewArray),
    /// Everything else.
    Rows(Arc<Rows>),
}

impl KeyWindow {
    /// Number of keys.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Narrow(keys) => keys.len(),
            Self::Long(keys) => keys.len(),
            Self::Wide(keys) => keys.len(),
            Self::Packed(keys) => keys.len(),
            Self::Text(keys) => keys.len(),
            Self::Bytes(keys) => keys.len(),
            Self::Rows(keys) => keys.num_rows(),
        }
    }

    /// Compares key `i` here with key `j` of a window of the same form; windows of two forms are equal, which does
    /// not occur within one section.
    pub(crate) fn compare(&self, i: usize, other: &Self, j: usize) -> Ordering {
        match (self, other) {
            (Self::Narrow(a), Self::Narrow(b)) => compare(&**a, i, &**b, j),
            (Self::Long(a), Self::Long(b)) => compare(&**a, i, &**b, j),
            (Self::Wide(a), Self::Wide(b)) => compare(&**a, i, &**b, j),
            (Self::Packed(a), Self::Packed(b)) => compare(a.as_slice(), i, b.as_slice(), j),
            (Self::Text(a), Self::Text(b)) => compare(Views(a), i, Views(b), j),
            (Self::Bytes(a), Self::Bytes(b)) => compare(Views(a), i, Views(b), j),
            (Self::Rows(a), Self::Rows(b)) => compare(&**a, i, &**b, j),
            _ => Ordering::Equal,
        }
    }

    /// First row whose key is not above the key before it, if any.
    pub(crate) fn disorder(&self) -> Option<usize> {
        match self {
            Self::Narrow(keys) => first_disorder(keys),
            Self::Long(keys) => first_disorder(keys),
            Self::Wide(keys) => first_disorder(keys),
            Self::Packed(keys) => first_disorder(keys),
            Self::Text(_) | Self::Bytes(_) | Self::Rows(_) => {
                (1..self.len()).find(|row| self.compare(row - 1, self, *row) != Ordering::Less)
            }
        }
    }
}

fn first_disorder<T: Ord>(keys: &[T]) -> Option<usize> {
    keys.windows(2)
        .position(|pair| pair.first() >= pair.last())
        .map(|before| before + 1)
}

/// Text or binary keys, compared by unsigned bytes.
#[derive(Debug)]
pub(crate) struct Views<'a, T: ByteViewType>(pub(crate) &'a GenericByteViewArray<T>);

impl<T: ByteViewType> Clone for Views<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ByteViewType> Copy for Views<'_, T> {}

impl<'a, T: ByteViewType> Keys for Views<'a, T> {
    type Key = &'a [u8];
    type Range = Vec<&'a [u8]>;

    #[inline]
    fn key(self, i: usize) -> &'a [u8] {
        self.0.value(i).as_ref()
    }

    fn range(self, rows: Range<usize>) -> Vec<&'a [u8]> {
        rows.map(|row| self.key(row)).collect()
    }
}

impl<'a> Keys for &'a Rows {
    type Key = Row<'a>;
    type Range = Vec<Row<'a>>;

    #[inline]
    fn key(self, i: usize) -> Row<'a> {
        self.row(i)
    }

    fn range(self, rows: Range<usize>) -> Vec<Row<'a>> {
        rows.map(|row| self.key(row)).collect()
    }
}

fn compare<K: Keys>(a: K, i: usize, b: K, j: usize) -> Ordering {
    a.key(i).cmp(&b.key(j))
}

/// Bytes of an order-preserving integer per key column.
type Widths = Vec<u32>;

#[derive(Debug)]
enum Form {
    Narrow,
    Long,
    Wide,
    Packed(Widths),
    Text,
    Bytes,
    Rows(RowConverter),
}

/// Makes comparable keys of the key columns of one section; all windows of a section come from one encoder.
#[derive(Debug)]
pub(crate) struct KeyEncoder {
    types: Vec<DataType>,
    form: Form,
}

impl KeyEncoder {
    /// An encoder for key columns of these types, in trimmed-key order.
    ///
    /// # Errors
    /// `Unsupported` for types that cannot be keys.
    pub(crate) fn new(types: &[DataType]) -> Result<Self> {
        Ok(Self {
            types: types.to_vec(),
            form: form(types)?,
        })
    }

    /// The Arrow type of the key, if it is one column that is compared as it is.
    pub(crate) fn own_values(&self) -> Option<ArrowType> {
        let [data_type] = self.types.as_slice() else {
            return None;
        };
        let arrow = data_type.to_arrow(StringLayout::View).ok()?;
        let own = match self.form {
            Form::Narrow => matches!(
                arrow,
                ArrowType::Int32 | ArrowType::Date32 | ArrowType::Time32(_)
            ),
            Form::Long => matches!(arrow, ArrowType::Int64 | ArrowType::Timestamp(..)),
            Form::Wide => true,
            Form::Packed(_) | Form::Text | Form::Bytes | Form::Rows(_) => false,
        };
        own.then_some(arrow)
    }

    /// Comparable keys of rows.
    ///
    /// # Errors
    /// `Corrupt` for a null in a column that is not nullable.
    pub(crate) fn encode(&self, columns: &[ArrayRef]) -> Result<KeyWindow> {
        for (column, data_type) in columns.iter().zip(&self.types) {
            if !data_type.nullable && column.null_count() > 0 {
                return Err(Error::corrupt(
                    "a key column that is not nullable holds a null",
                ));
            }
        }
        match (&self.form, columns) {
            (Form::Narrow, [column]) => narrow(column).map(KeyWindow::Narrow),
            (Form::Long, [column]) => long(column).map(KeyWindow::Long),
            (Form::Wide, [column]) => Ok(KeyWindow::Wide(values::<Decimal128Type>(column)?)),
            (Form::Text, [column]) => Ok(KeyWindow::Text(view::<StringViewType>(column)?.clone())),
            (Form::Bytes, [column]) => {
                Ok(KeyWindow::Bytes(view::<BinaryViewType>(column)?.clone()))
            }
            (Form::Packed(widths), columns) => {
                pack(columns, widths).map(|keys| KeyWindow::Packed(Arc::new(keys)))
            }
            (Form::Rows(converter), columns) => {
                let columns: Vec<ArrayRef> = columns.iter().map(one_nan).collect();
                let rows = converter
                    .convert_columns(&columns)
                    .map_err(|error| Error::internal("cannot encode keys").with_source(error))?;
                Ok(KeyWindow::Rows(Arc::new(rows)))
            }
            _ => Err(Error::internal("number of key columns")),
        }
    }

    /// The key of a file meta as a window of one row.
    ///
    /// # Errors
    /// As [`Self::encode`].
    pub(crate) fn encode_one(&self, key: &[Option<Datum>]) -> Result<KeyWindow> {
        let columns = key
            .iter()
            .zip(&self.types)
            .map(|(value, data_type)| {
                array_of([value.as_ref()], &data_type.to_arrow(StringLayout::View)?)
            })
            .collect::<Result<Vec<_>>>()?;
        self.encode(&columns)
    }
}

fn form(types: &[DataType]) -> Result<Form> {
    let arrow = types
        .iter()
        .map(|data_type| data_type.to_arrow(StringLayout::View))
        .collect::<Result<Vec<_>>>()?;
    let nullable = types.iter().any(|data_type| data_type.nullable);
    let widths: Option<Widths> = arrow.iter().map(packed_width).collect();
    Ok(match (arrow.as_slice(), widths) {
        ([one], Some(widths)) if !nullable => match widths.as_slice() {
            [8] => Form::Long,
            _ if matches!(one, ArrowType::Decimal128(..)) => Form::Wide,
            _ => Form::Narrow,
        },
        ([ArrowType::Decimal128(..)], _) if !nullable => Form::Wide,
        ([ArrowType::Utf8View], _) if !nullable => Form::Text,
        ([ArrowType::BinaryView], _) if !nullable => Form::Bytes,
        (_, Some(widths)) if !nullable && widths.iter().sum::<u32>() <= 16 => Form::Packed(widths),
        _ => {
            let fields = arrow.into_iter().map(SortField::new).collect();
            let converter = RowConverter::new(fields)
                .map_err(|error| Error::unsupported("key type").with_source(error))?;
            Form::Rows(converter)
        }
    })
}

/// Bytes of the order-preserving integer of a fixed-width type.
fn packed_width(arrow: &ArrowType) -> Option<u32> {
    match arrow {
        ArrowType::Boolean | ArrowType::Int8 => Some(1),
        ArrowType::Int16 => Some(2),
        ArrowType::Int32 | ArrowType::Date32 | ArrowType::Time32(_) | ArrowType::Float32 => Some(4),
        ArrowType::Int64 | ArrowType::Timestamp(..) | ArrowType::Float64 => Some(8),
        _ => None,
    }
}

fn values<T: ArrowPrimitiveType>(column: &ArrayRef) -> Result<ScalarBuffer<T::Native>> {
    let array = column
        .as_primitive_opt::<T>()
        .ok_or_else(|| wrong_type(column))?;
    Ok(array.values().clone())
}

fn view<T: ByteViewType>(column: &ArrayRef) -> Result<&GenericByteViewArray<T>> {
    column
        .as_byte_view_opt::<T>()
        .ok_or_else(|| wrong_type(column))
}

fn wrong_type(column: &ArrayRef) -> Error {
    Error::internal(format!(
        "key column has the Arrow type {}",
        column.data_type()
    ))
}

fn narrow(column: &ArrayRef) -> Result<ScalarBuffer<i32>> {
    Ok(match column.data_type() {
        ArrowType::Boolean => {
            let array = column.as_boolean_opt().ok_or_else(|| wrong_type(column))?;
            array.values().iter().map(i32::from).collect()
        }
        ArrowType::Int8 => values::<Int8Type>(column)?
            .iter()
            .map(|value| i32::from(*value))
            .collect(),
        ArrowType::Int16 => values::<Int16Type>(column)?
            .iter()
            .map(|value| i32::from(*value))
            .collect(),
        ArrowType::Int32 => values::<Int32Type>(column)?,
        ArrowType::Date32 => values::<Date32Type>(column)?,
        ArrowType::Time32(_) => values::<Time32MillisecondType>(column)?,
        ArrowType::Float32 => values::<Float32Type>(column)?
            .iter()
            .map(|value| ordered_f32(*value))
            .collect(),
        _ => return Err(wrong_type(column)),
    })
}

fn long(column: &ArrayRef) -> Result<ScalarBuffer<i64>> {
    match column.data_type() {
        ArrowType::Int64 => values::<Int64Type>(column),
        ArrowType::Timestamp(TimeUnit::Second, _) => values::<TimestampSecondType>(column),
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => {
            values::<TimestampMillisecondType>(column)
        }
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
            values::<TimestampMicrosecondType>(column)
        }
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => values::<TimestampNanosecondType>(column),
        ArrowType::Float64 => Ok(values::<Float64Type>(column)?
            .iter()
            .map(|value| ordered_f64(*value))
            .collect()),
        _ => Err(wrong_type(column)),
    }
}

/// Orders as Java does: -0.0 below 0.0, every NaN equal and largest.
fn ordered_f64(value: f64) -> i64 {
    let bits = if value.is_nan() {
        f64::NAN.to_bits() & !(1 << 63)
    } else {
        value.to_bits()
    }
    .cast_signed();
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

/// As [`ordered_f64`].
fn ordered_f32(value: f32) -> i32 {
    let bits = if value.is_nan() {
        f32::NAN.to_bits() & !(1 << 31)
    } else {
        value.to_bits()
    }
    .cast_signed();
    if bits < 0 { bits ^ i32::MAX } else { bits }
}

/// One spelling of NaN, for arrow-row orders NaNs by their bits.
pub(crate) fn one_nan(column: &ArrayRef) -> ArrayRef {
    if let Some(array) = column.as_primitive_opt::<Float64Type>() {
        let canonical = f64::from_bits(f64::NAN.to_bits() & !(1 << 63));
        return Arc::new(
            array.unary::<_, Float64Type>(|value| if value.is_nan() { canonical } else { value }),
        );
    }
    if let Some(array) = column.as_primitive_opt::<Float32Type>() {
        let canonical = f32::from_bits(f32::NAN.to_bits() & !(1 << 31));
        return Arc::new(
            array.unary::<_, Float32Type>(|value| if value.is_nan() { canonical } else { value }),
        );
    }
    Arc::clone(column)
}

/// Each column as an unsigned integer of the same order, the first one in the highest bits.
fn pack(columns: &[ArrayRef], widths: &[u32]) -> Result<Vec<u128>> {
    let rows = columns.first().map_or(0, |column| column.len());
    let mut packed = vec![0u128; rows];
    for (column, width) in columns.iter().zip(widths) {
        let bits = width * 8;
        if *width == 8 {
            for (key, value) in packed.iter_mut().zip(long(column)?.iter()) {
                *key = (*key << bits) | u128::from(value.cast_unsigned() ^ (1 << 63));
            }
        } else {
            // Flip the sign bit of the column's own width, then keep that many bits.
            let (sign, mask) = (1u32 << (bits - 1), u32::MAX >> (32 - bits));
            for (key, value) in packed.iter_mut().zip(narrow(column)?.iter()) {
                *key = (*key << bits) | u128::from((value.cast_unsigned() ^ sign) & mask);
            }
        }
    }
    Ok(packed)
}

#[cfg(test)]
mod tests;
