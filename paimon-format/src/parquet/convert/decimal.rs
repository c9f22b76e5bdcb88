//! Decimals from integers and from big-endian two's complement bytes.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Decimal128Array, FixedSizeBinaryArray};
use arrow_schema::DataType as ArrowType;
use paimon_meta::Result;

use super::{Convert, unexpected};
use crate::decimal::{WIDTH, signed_big_endian, too_many_digits};
use crate::parquet::stored::Stored;

/// Most digits of the integers that are stored without a decimal annotation.
const INT32_DIGITS: i32 = 10;
const INT64_DIGITS: i32 = 19;

/// The conversion to a decimal of `precision` and `scale`. More digits after the point are added; none are cut, and
/// bytes of a fixed length keep their scale (table-format 8.2).
pub(super) fn choose(
    stored: Stored,
    decoded: &ArrowType,
    precision: i32,
    scale: i32,
) -> Option<Convert> {
    let (stored_precision, stored_scale) = match (stored, decoded) {
        (Stored::Decimal { precision, scale }, _) => (precision, scale),
        (Stored::Integer { signed: true }, ArrowType::Int32) => (INT32_DIGITS, 0),
        (Stored::Integer { signed: true }, ArrowType::Int64) => (INT64_DIGITS, 0),
        _ => return None,
    };
    let scale_up = u32::try_from(scale.checked_sub(stored_scale)?).ok()?;
    if scale_up > 0 && matches!(decoded, ArrowType::FixedSizeBinary(_)) {
        return None;
    }
    let whole_digits_fit = stored_precision.checked_sub(stored_scale)? <= precision - scale;
    Some(Convert::Decimal {
        scale_up,
        check: !whole_digits_fit,
    })
}

/// The values with `scale_up` digits added; `check` compares them with the precision of `to`.
pub(super) fn convert(
    array: &ArrayRef,
    to: &ArrowType,
    scale_up: u32,
    check: bool,
) -> Result<ArrayRef> {
    let ArrowType::Decimal128(precision, scale) = to else {
        return Err(unexpected(array.data_type(), to));
    };
    let mut values = unscaled(array)?;
    if scale_up > 0 {
        let factor = 10_i128.pow(scale_up.min(38));
        let raise = |value: i128| {
            value
                .checked_mul(factor)
                .ok_or_else(|| too_many_digits(value, *precision))
        };
        values = values.try_unary(raise)?;
    }
    if check {
        let limit = 10_i128.pow(u32::from(*precision).min(38)).unsigned_abs();
        if let Some(value) = values
            .iter()
            .flatten()
            .find(|value| value.unsigned_abs() >= limit)
        {
            return Err(too_many_digits(value, *precision));
        }
    }
    let values = values.with_precision_and_scale(*precision, *scale);
    values
        .map(|values| Arc::new(values) as ArrayRef)
        .map_err(|_| unexpected(array.data_type(), to))
}

fn unscaled(array: &ArrayRef) -> Result<Decimal128Array> {
    match array.data_type() {
        ArrowType::Int32 => Ok(array
            .as_primitive::<Int32Type>()
            .unary::<_, Decimal128Type>(i128::from)),
        ArrowType::Int64 => Ok(array
            .as_primitive::<Int64Type>()
            .unary::<_, Decimal128Type>(i128::from)),
        ArrowType::FixedSizeBinary(_) => fixed(array.as_fixed_size_binary()),
        ArrowType::Binary => array.as_binary::<i32>().iter().map(from_bytes).collect(),
        ArrowType::LargeBinary => array.as_binary::<i64>().iter().map(from_bytes).collect(),
        ArrowType::BinaryView => array.as_binary_view().iter().map(from_bytes).collect(),
        from => Err(unexpected(from, &ArrowType::Decimal128(38, 0))),
    }
}

/// Up to 16 bytes are read as 16 that reach into the next value, which the shift throws out again.
fn fixed(array: &FixedSizeBinaryArray) -> Result<Decimal128Array> {
    let width = usize::try_from(array.value_length()).unwrap_or(0);
    let shift = match WIDTH.checked_sub(width) {
        Some(rest) if width > 0 => 8 * rest,
        _ => return array.iter().map(from_bytes).collect(),
    };
    let bytes = array.value_data();
    let value = |row: usize| {
        let rest = bytes.get(row * width..).unwrap_or_default();
        let wide = rest.first_chunk::<WIDTH>().copied().unwrap_or_else(|| {
            let mut wide = [0; WIDTH];
            wide.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            wide
        });
        i128::from_be_bytes(wide) >> shift
    };
    let values: Vec<i128> = (0..array.len()).map(value).collect();
    Ok(Decimal128Array::new(values.into(), array.nulls().cloned()))
}

fn from_bytes(bytes: Option<&[u8]>) -> Result<Option<i128>> {
    bytes.map(signed_big_endian).transpose()
}
