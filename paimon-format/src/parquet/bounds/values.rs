//! Single bounds out of statistics, and arrays of them.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryViewArray, BooleanArray, FixedSizeBinaryArray, Float32Array, Float64Array,
    Int32Array, Int64Array, StringViewArray,
};
use arrow_schema::DataType as ArrowType;
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::statistics::Statistics;

/// A bound as it is stored.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    Boolean(bool),
    Int32(i32),
    Int64(i64),
    Float(f32),
    Double(f64),
    Bytes(&'a [u8]),
}

type MinMax<'a> = Option<(Value<'a>, Value<'a>)>;

/// Both bounds of a row group.
pub(super) fn statistics_values(statistics: &Statistics) -> MinMax<'_> {
    Some(match statistics {
        Statistics::Boolean(v) => (Value::Boolean(*v.min_opt()?), Value::Boolean(*v.max_opt()?)),
        Statistics::Int32(v) => (Value::Int32(*v.min_opt()?), Value::Int32(*v.max_opt()?)),
        Statistics::Int64(v) => (Value::Int64(*v.min_opt()?), Value::Int64(*v.max_opt()?)),
        Statistics::Int96(_) => return None,
        Statistics::Float(v) => (Value::Float(*v.min_opt()?), Value::Float(*v.max_opt()?)),
        Statistics::Double(v) => (Value::Double(*v.min_opt()?), Value::Double(*v.max_opt()?)),
        Statistics::ByteArray(_) | Statistics::FixedLenByteArray(_) => (
            Value::Bytes(statistics.min_bytes_opt()?),
            Value::Bytes(statistics.max_bytes_opt()?),
        ),
    })
}

/// Both bounds and the number of nulls of a page. The page must be there.
pub(super) fn index_values(index: &ColumnIndexMetaData, page: usize) -> (MinMax<'_>, Option<u64>) {
    macro_rules! both {
        ($index:ident, $variant:ident) => {
            ($index
                .min_value(page)
                .copied()
                .zip($index.max_value(page).copied()))
            .map(|(min, max)| (Value::$variant(min), Value::$variant(max)))
        };
    }
    let bounds = match index {
        ColumnIndexMetaData::NONE | ColumnIndexMetaData::INT96(_) => None,
        ColumnIndexMetaData::BOOLEAN(index) => both!(index, Boolean),
        ColumnIndexMetaData::INT32(index) => both!(index, Int32),
        ColumnIndexMetaData::INT64(index) => both!(index, Int64),
        ColumnIndexMetaData::FLOAT(index) => both!(index, Float),
        ColumnIndexMetaData::DOUBLE(index) => both!(index, Double),
        ColumnIndexMetaData::BYTE_ARRAY(index)
        | ColumnIndexMetaData::FIXED_LEN_BYTE_ARRAY(index) => {
            let both = index.min_value(page).zip(index.max_value(page));
            both.map(|(min, max)| (Value::Bytes(min), Value::Bytes(max)))
        }
    };
    let nulls = index
        .null_count(page)
        .and_then(|nulls| u64::try_from(nulls).ok());
    (bounds, nulls)
}

/// The values as an array of the type they are decoded to; what is no such value is null. `None` for types without
/// bounds.
pub(super) fn array_of(values: &[Option<Value<'_>>], decoded: &ArrowType) -> Option<ArrayRef> {
    macro_rules! collect {
        ($array:ty, $variant:ident) => {
            Arc::new(
                values
                    .iter()
                    .map(|value| match value {
                        Some(Value::$variant(value)) => Some(*value),
                        _ => None,
                    })
                    .collect::<$array>(),
            )
        };
    }
    let bytes = || {
        values.iter().map(|value| match value {
            Some(Value::Bytes(bytes)) => Some(*bytes),
            _ => None,
        })
    };
    Some(match decoded {
        ArrowType::Boolean => collect!(BooleanArray, Boolean),
        ArrowType::Int32 => collect!(Int32Array, Int32),
        ArrowType::Int64 => collect!(Int64Array, Int64),
        ArrowType::Float32 => collect!(Float32Array, Float),
        ArrowType::Float64 => collect!(Float64Array, Double),
        ArrowType::Utf8View => {
            let text = bytes().map(|bytes| std::str::from_utf8(bytes?).ok());
            Arc::new(text.collect::<StringViewArray>())
        }
        ArrowType::BinaryView => Arc::new(bytes().collect::<BinaryViewArray>()),
        ArrowType::FixedSizeBinary(length) => {
            let sized = bytes()
                .map(|bytes| bytes.filter(|bytes| i32::try_from(bytes.len()) == Ok(*length)));
            Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(sized, *length).ok()?)
        }
        _ => return None,
    })
}

/// Bounds of floats in Java's order, where -0.0 is below 0.0 and NaN is largest; other bounds as they are. A writer may
/// have left out NaN, then the upper bound is NaN; if such a writer took NaN for a bound, nothing is known.
pub(super) fn in_java_order<'a>(
    bounds: (Value<'a>, Value<'a>),
    nan_is_largest: bool,
) -> MinMax<'a> {
    // Adding zero turns -0.0 into 0.0, negating before and after does the opposite.
    match bounds {
        (Value::Float(min), Value::Float(max)) => {
            let max = upper(f64::from(min), f64::from(max), nan_is_largest)?;
            #[expect(clippy::cast_possible_truncation, reason = "it was a float before")]
            let max = max as f32;
            Some((Value::Float(-(-min + 0.0)), Value::Float(max)))
        }
        (Value::Double(min), Value::Double(max)) => Some((
            Value::Double(-(-min + 0.0)),
            Value::Double(upper(min, max, nan_is_largest)?),
        )),
        bounds => Some(bounds),
    }
}

fn upper(min: f64, max: f64, nan_is_largest: bool) -> Option<f64> {
    match nan_is_largest {
        true => Some(max + 0.0),
        false if min.is_nan() || max.is_nan() => None,
        false => Some(f64::NAN),
    }
}
