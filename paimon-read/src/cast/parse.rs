//! Text columns as columns of other types. Text that is no value of the type is a fault (TF-094).

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType,
};
use arrow_array::{Array, ArrayRef, BooleanArray, PrimitiveArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType as ArrowType;
use paimon_meta::{Error, Result};

use super::decimal::{self, Shape};
use super::parse_number::{self, Parsed};
use super::temporal::{self, Moment};
use super::{Faults, Zone, parse_time, text, unexpected, without};

/// Characters of a text that a message shows.
const SHOWN: usize = 60;

/// The texts that have one, each as a value or a fault.
fn values<T>(
    array: &ArrayRef,
    nulls: Option<&NullBuffer>,
    name: &str,
    faults: &mut Faults,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Vec<Option<T>>> {
    let mut values = Vec::with_capacity(array.len());
    text::each(array, nulls, &mut |row, text| {
        let value = text.and_then(|text| {
            let value = read(text);
            faults.keep(row, value.ok_or_else(|| no_value(text, name)))
        });
        values.push(value);
    })?;
    Ok(values)
}

fn no_value(text: &str, name: &str) -> Error {
    let shown: String = text.chars().take(SHOWN).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    Error::corrupt(format!("{shown:?}{more} is no value of type {name}"))
}

fn primitive<T: ArrowPrimitiveType>(values: Vec<Option<T::Native>>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::from_iter(values))
}

pub(super) fn boolean(
    array: &ArrayRef,
    nulls: Option<&NullBuffer>,
    faults: &mut Faults,
) -> Result<ArrayRef> {
    let values = values(array, nulls, "BOOLEAN", faults, parse_number::boolean)?;
    Ok(Arc::new(BooleanArray::from(values)))
}

pub(super) fn date(
    array: &ArrayRef,
    nulls: Option<&NullBuffer>,
    faults: &mut Faults,
) -> Result<ArrayRef> {
    let values = values(array, nulls, "DATE", faults, parse_time::date)?;
    Ok(primitive::<Date32Type>(values))
}

pub(super) fn time(
    array: &ArrayRef,
    nulls: Option<&NullBuffer>,
    faults: &mut Faults,
) -> Result<ArrayRef> {
    let values = values(array, nulls, "TIME", faults, parse_time::time)?;
    Ok(primitive::<Time32MillisecondType>(values))
}

/// Integers, floats and doubles.
pub(super) fn number(
    array: &ArrayRef,
    nulls: Option<&NullBuffer>,
    to: &ArrowType,
    faults: &mut Faults,
) -> Result<ArrayRef> {
    fn integers<T: ArrowPrimitiveType>(
        array: &ArrayRef,
        nulls: Option<&NullBuffer>,
        name: &str,
        faults: &mut Faults,
    ) -> Result<ArrayRef>
    where
        T::Native: TryFrom<i64>,
    {
        let read = |text: &str| {
            let value = parse_number::integer(text, i64::MIN..=i64::MAX)?;
            value.try_into().ok()
        };
        values(array, nulls, name, faults, read).map(primitive::<T>)
    }
    match to {
        ArrowType::Int8 => integers::<Int8Type>(array, nulls, "TINYINT", faults),
        ArrowType::Int16 => integers::<Int16Type>(array, nulls, "SMALLINT", faults),
        ArrowType::Int32 => integers::<Int32Type>(array, nulls, "INT", faults),
        ArrowType::Int64 => integers::<Int64Type>(array, nulls, "BIGINT", faults),
        ArrowType::Float32 => {
            values(array, nulls, "FLOAT", faults, parse_number::float).map(primitive::<Float32Type>)
        }
        ArrowType::Float64 => values(array, nulls, "DOUBLE", faults, parse_number::double)
            .map(primitive::<Float64Type>),
        _ => Err(unexpected(array, to)),
    }
}

/// A number with too many digits is null (TF-092).
pub(super) fn decimal(
    array: &ArrayRef,
    nulls: Option<NullBuffer>,
    to: &ArrowType,
    faults: &mut Faults,
) -> Result<ArrayRef> {
    let shape = Shape::of(to).ok_or_else(|| unexpected(array, to))?;
    let read = |text: &str| match parse_number::decimal(text, shape) {
        Parsed::Fits(value) => Some(Some(value)),
        Parsed::TooLarge => Some(None),
        Parsed::No => None,
    };
    let values = values(array, nulls.as_ref(), "DECIMAL", faults, read)?;
    let values: Vec<Option<i128>> = values.into_iter().map(Option::flatten).collect();
    let lost: Vec<usize> = (0..)
        .zip(&values)
        .filter(|(_, value)| value.is_none())
        .map(|(row, _)| row)
        .collect();
    let nulls = without(nulls, values.len(), &lost);
    let values = values.into_iter().map(Option::unwrap_or_default).collect();
    decimal::finish(values, nulls, to)
}

/// `precision`, and for instants the zone of the clock that the text shows.
pub(super) fn timestamp(
    array: &ArrayRef,
    nulls: Option<&NullBuffer>,
    (precision, zone): (u8, Option<Zone>),
    to: &ArrowType,
    faults: &mut Faults,
) -> Result<ArrayRef> {
    let read = |text: &str| match zone {
        None => parse_time::timestamp(text, precision),
        Some(zone) => {
            let wall = parse_time::wall_clock(text, precision)?;
            let millis = zone.to_instant(wall.millis);
            Some(Moment { millis, ..wall })
        }
    };
    let values = values(array, nulls, "TIMESTAMP", faults, read)?;
    let nulls: NullBuffer = values.iter().map(Option::is_some).collect();
    let nothing = Moment {
        millis: 0,
        nanos: 0,
    };
    let moments: Vec<Moment> = values
        .into_iter()
        .map(|value| value.unwrap_or(nothing))
        .collect();
    temporal::build(&moments, Some(nulls), to, faults, |_, moment| Ok(moment))
}
