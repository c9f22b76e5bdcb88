//! Timestamps and times of the day.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowTimestampType, Int32Type, Int64Type, Time32MillisecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, PrimitiveArray, Time32MillisecondArray};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use paimon_meta::{Error, Result};

use super::unexpected;

const NANOS_PER_DAY: i64 = 86_400_000_000_000;
/// Julian day of 1970-01-01.
const JULIAN_EPOCH: i64 = 2_440_588;

fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// A count of `from` since the epoch as a timestamp of the unit of `to`; what a coarser unit cannot hold is floored.
pub(super) fn timestamp(array: &ArrayRef, from: TimeUnit, to: &ArrowType) -> Result<ArrayRef> {
    let ArrowType::Int64 = array.data_type() else {
        return Err(unexpected(array.data_type(), to));
    };
    let counts = array.as_primitive::<Int64Type>();
    dispatch(to, CountsOf { counts, from })
}

/// INT96 as a timestamp of the unit of `to`. The nanoseconds of the day may be negative and add to the day (TF-083).
pub(super) fn int96(array: &ArrayRef, to: &ArrowType) -> Result<ArrayRef> {
    match array.data_type() {
        ArrowType::FixedSizeBinary(12) => dispatch(to, Int96s(array.as_fixed_size_binary())),
        from => Err(unexpected(from, to)),
    }
}

/// A count of `from` since midnight as milliseconds; finer digits are floored.
pub(super) fn time_of_day(array: &ArrayRef, from: TimeUnit) -> Result<ArrayRef> {
    let to = ArrowType::Time32(TimeUnit::Millisecond);
    let per_milli = per_second(from) / per_second(TimeUnit::Millisecond);
    match array.data_type() {
        ArrowType::Int32 if from == TimeUnit::Millisecond => Ok(Arc::new(
            array
                .as_primitive::<Int32Type>()
                .reinterpret_cast::<Time32MillisecondType>(),
        )),
        ArrowType::Int64 if per_milli > 0 => {
            let millis: Time32MillisecondArray =
                array.as_primitive::<Int64Type>().try_unary(|count| {
                    i32::try_from(count.div_euclid(per_milli)).map_err(|_| {
                        Error::corrupt(format!("time {count} in {from:?}s does not fit a day"))
                    })
                })?;
            Ok(Arc::new(millis))
        }
        from => Err(unexpected(from, &to)),
    }
}

/// A source of timestamps, for one loop per unit.
trait Timestamps {
    fn into_unit<T: ArrowTimestampType>(self) -> Result<PrimitiveArray<T>>;
}

fn dispatch(to: &ArrowType, source: impl Timestamps) -> Result<ArrayRef> {
    let ArrowType::Timestamp(unit, zone) = to else {
        return Err(Error::internal(format!("{to} is no timestamp")));
    };
    let zone = zone.clone();
    Ok(match unit {
        TimeUnit::Second => Arc::new(
            source
                .into_unit::<TimestampSecondType>()?
                .with_timezone_opt(zone),
        ),
        TimeUnit::Millisecond => Arc::new(
            source
                .into_unit::<TimestampMillisecondType>()?
                .with_timezone_opt(zone),
        ),
        TimeUnit::Microsecond => Arc::new(
            source
                .into_unit::<TimestampMicrosecondType>()?
                .with_timezone_opt(zone),
        ),
        TimeUnit::Nanosecond => Arc::new(
            source
                .into_unit::<TimestampNanosecondType>()?
                .with_timezone_opt(zone),
        ),
    })
}

struct CountsOf<'a> {
    counts: &'a PrimitiveArray<Int64Type>,
    from: TimeUnit,
}

impl Timestamps for CountsOf<'_> {
    fn into_unit<T: ArrowTimestampType>(self) -> Result<PrimitiveArray<T>> {
        let (from, to) = (per_second(self.from), per_second(T::UNIT));
        if from == to {
            return Ok(self.counts.reinterpret_cast::<T>());
        }
        if from > to {
            let divisor = from / to;
            return Ok(self.counts.unary(|count| count.div_euclid(divisor)));
        }
        let factor = to / from;
        self.counts.try_unary(|count| {
            let out_of_range = || {
                let (from, to) = (self.from, T::UNIT);
                Error::corrupt(format!(
                    "timestamp {count} in {from:?}s is outside the range of {to:?}s"
                ))
            };
            count.checked_mul(factor).ok_or_else(out_of_range)
        })
    }
}

struct Int96s<'a>(&'a FixedSizeBinaryArray);

impl Timestamps for Int96s<'_> {
    fn into_unit<T: ArrowTimestampType>(self) -> Result<PrimitiveArray<T>> {
        let (stored, _) = self.0.value_data().as_chunks::<12>();
        let mut values = Vec::with_capacity(stored.len());
        for (row, bytes) in stored.iter().enumerate() {
            let stored = Int96::from(bytes);
            let value = match stored.in_unit(T::UNIT) {
                Some(value) => value,
                None if self.0.is_null(row) => 0,
                None => {
                    let (nanos, unit) = (stored.nanos_since_epoch(), T::UNIT);
                    let found = format!("INT96 timestamp {nanos} in nanoseconds");
                    return Err(Error::corrupt(format!(
                        "{found} is outside the range of {unit:?}s"
                    )));
                }
            };
            values.push(value);
        }
        Ok(PrimitiveArray::new(values.into(), self.0.nulls().cloned()))
    }
}

/// Nanoseconds of the day, 8 bytes, and Julian day, 4 bytes, little-endian.
#[derive(Clone, Copy)]
struct Int96 {
    days_since_epoch: i64,
    nanos_of_day: i64,
}

impl From<&[u8; 12]> for Int96 {
    #[inline]
    fn from(bytes: &[u8; 12]) -> Self {
        let [n0, n1, n2, n3, n4, n5, n6, n7, d0, d1, d2, d3] = *bytes;
        Self {
            days_since_epoch: i64::from(i32::from_le_bytes([d0, d1, d2, d3])) - JULIAN_EPOCH,
            nanos_of_day: i64::from_le_bytes([n0, n1, n2, n3, n4, n5, n6, n7]),
        }
    }
}

impl Int96 {
    /// The count of the unit since the epoch, floored, if it has one.
    #[inline]
    fn in_unit(self, unit: TimeUnit) -> Option<i64> {
        let nanos_per_unit = per_second(TimeUnit::Nanosecond) / per_second(unit);
        let whole_days = self
            .days_since_epoch
            .checked_mul(NANOS_PER_DAY / nanos_per_unit);
        let count = whole_days
            .and_then(|days| days.checked_add(self.nanos_of_day.div_euclid(nanos_per_unit)));
        // On the first and last day of the range only the sum may fit.
        count.or_else(|| {
            i64::try_from(self.nanos_since_epoch().div_euclid(nanos_per_unit.into())).ok()
        })
    }

    fn nanos_since_epoch(self) -> i128 {
        i128::from(self.days_since_epoch) * i128::from(NANOS_PER_DAY)
            + i128::from(self.nanos_of_day)
    }
}
