//! Dates, times and timestamps.
//!
//! A timestamp is what the reference holds: floored milliseconds since 1970-01-01 00:00 and nanoseconds within the
//! millisecond. Casts compute in that form and then count in the unit of the Arrow type.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowTimestampType, Date32Type, Int32Type, Int64Type, Time32MillisecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use arrow_array::{Array, ArrayRef, PrimitiveArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType as ArrowType, TimeUnit};
use paimon_meta::{Datum, Error, Result};

use super::number::{array_from, from_longs};
use super::{Faults, Zone, map_valid, unexpected};

const MILLIS_PER_DAY: i64 = 86_400_000;
const NANOS_PER_MILLI: i64 = 1_000_000;

/// Between wall clocks and instants.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shift {
    None,
    ToInstant(Zone),
    ToWall(Zone),
}

impl Shift {
    fn apply(self, millis: i64) -> i64 {
        match self {
            Self::None => millis,
            Self::ToInstant(zone) => zone.to_instant(millis),
            Self::ToWall(zone) => zone.to_wall(millis),
        }
    }
}

/// Floored milliseconds since the epoch, and nanoseconds within the millisecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) millis: i64,
    pub(super) nanos: i64,
}

impl Moment {
    fn of(count: i64, unit: TimeUnit) -> Self {
        let (millis, nanos) = match unit {
            TimeUnit::Second => (count.wrapping_mul(1_000), 0),
            TimeUnit::Millisecond => (count, 0),
            TimeUnit::Microsecond => (count.div_euclid(1_000), count.rem_euclid(1_000) * 1_000),
            TimeUnit::Nanosecond => (
                count.div_euclid(NANOS_PER_MILLI),
                count.rem_euclid(NANOS_PER_MILLI),
            ),
        };
        Self { millis, nanos }
    }

    /// The floored count of a unit; `None` if it has none in 64 bits.
    fn count(self, unit: TimeUnit) -> Option<i64> {
        match unit {
            TimeUnit::Second => Some(self.millis.div_euclid(1_000)),
            TimeUnit::Millisecond => Some(self.millis),
            TimeUnit::Microsecond => {
                let micros = self.millis.checked_mul(1_000)?;
                micros.checked_add(self.nanos / 1_000)
            }
            TimeUnit::Nanosecond => {
                let nanos = i128::from(self.millis) * i128::from(NANOS_PER_MILLI);
                i64::try_from(nanos + i128::from(self.nanos)).ok()
            }
        }
    }

    /// Digits beyond a precision cut. Up to milliseconds that is toward zero, as in the reference.
    fn cut(self, precision: u8) -> Self {
        let sub_second = self.millis.rem_euclid(1_000) * NANOS_PER_MILLI + self.nanos;
        let unit = 10_i64.pow(u32::from(9 - precision.min(9)));
        if sub_second % unit == 0 {
            return self;
        }
        if precision > 3 {
            return Self {
                nanos: self.nanos - self.nanos % unit,
                ..self
            };
        }
        let unit = 10_i64.pow(u32::from(3 - precision));
        Self {
            millis: self.millis - self.millis % unit,
            nanos: 0,
        }
    }
}

/// Values of a timestamp column.
pub(super) struct Moments<'a> {
    counts: &'a [i64],
    unit: TimeUnit,
}

impl<'a> Moments<'a> {
    pub(super) fn new(array: &'a ArrayRef) -> Result<Self> {
        let ArrowType::Timestamp(unit, _) = array.data_type() else {
            return Err(unexpected(
                array,
                &ArrowType::Timestamp(TimeUnit::Millisecond, None),
            ));
        };
        let counts: &[i64] = match unit {
            TimeUnit::Second => array.as_primitive::<TimestampSecondType>().values(),
            TimeUnit::Millisecond => array.as_primitive::<TimestampMillisecondType>().values(),
            TimeUnit::Microsecond => array.as_primitive::<TimestampMicrosecondType>().values(),
            TimeUnit::Nanosecond => array.as_primitive::<TimestampNanosecondType>().values(),
        };
        Ok(Self {
            counts,
            unit: *unit,
        })
    }

    pub(super) fn get(&self, row: usize) -> Moment {
        Moment::of(self.counts.get(row).copied().unwrap_or_default(), self.unit)
    }

    fn iter(&self) -> impl Iterator<Item = Moment> + '_ {
        self.counts
            .iter()
            .map(|count| Moment::of(*count, self.unit))
    }
}

/// Builds a timestamp column; what its unit cannot count is a fault.
pub(super) fn build<S: Copy>(
    values: &[S],
    nulls: Option<NullBuffer>,
    to: &ArrowType,
    faults: &mut Faults,
    mut convert: impl FnMut(usize, S) -> Result<Moment>,
) -> Result<ArrayRef> {
    let ArrowType::Timestamp(unit, zone) = to else {
        return Err(Error::internal(format!("timestamps built as {to}")));
    };
    let (counts, nulls) = map_valid(values, nulls, |row, value| {
        let moment = convert(row, value);
        let count = moment.and_then(|moment| {
            let count = moment.count(*unit);
            count.ok_or_else(|| out_of_range(moment, *unit))
        });
        faults.keep(row, count)
    });
    fn typed<T: ArrowTimestampType>(
        counts: Vec<i64>,
        nulls: Option<NullBuffer>,
        zone: Option<&Arc<str>>,
    ) -> ArrayRef {
        let array = PrimitiveArray::<T>::new(counts.into(), nulls);
        Arc::new(array.with_timezone_opt(zone.map(Arc::clone)))
    }
    let zone = zone.as_ref();
    Ok(match unit {
        TimeUnit::Second => typed::<TimestampSecondType>(counts, nulls, zone),
        TimeUnit::Millisecond => typed::<TimestampMillisecondType>(counts, nulls, zone),
        TimeUnit::Microsecond => typed::<TimestampMicrosecondType>(counts, nulls, zone),
        TimeUnit::Nanosecond => typed::<TimestampNanosecondType>(counts, nulls, zone),
    })
}

fn out_of_range(moment: Moment, unit: TimeUnit) -> Error {
    let value = Datum::Timestamp {
        millis: moment.millis,
        nanos: i32::try_from(moment.nanos).unwrap_or(0),
    };
    Error::corrupt(format!(
        "timestamp {value} is outside the range of {unit:?}s"
    ))
}

/// Between timestamps: of a clock or an instant, with digits beyond `precision` cut.
pub(super) fn convert(
    array: &ArrayRef,
    nulls: Option<NullBuffer>,
    (shift, precision): (Shift, Option<u8>),
    to: &ArrowType,
    faults: &mut Faults,
) -> Result<ArrayRef> {
    let moments = Moments::new(array)?;
    build(moments.counts, nulls, to, faults, |_, count| {
        let moment = Moment::of(count, moments.unit);
        let shifted = Moment {
            millis: shift.apply(moment.millis),
            ..moment
        };
        let cut = precision.map_or(shifted, |precision| shifted.cut(precision));
        Ok(cut)
    })
}

/// The day, floored (TF-096).
pub(super) fn to_date(
    array: &ArrayRef,
    nulls: Option<NullBuffer>,
    shift: Shift,
) -> Result<ArrayRef> {
    let moments = Moments::new(array)?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "low-order bits are the rule"
    )]
    let day = |moment: Moment| shift.apply(moment.millis).div_euclid(MILLIS_PER_DAY) as i32;
    Ok(array_from::<Date32Type>(moments.iter().map(day), nulls))
}

/// The milliseconds of the day (TF-096).
pub(super) fn to_time(
    array: &ArrayRef,
    nulls: Option<NullBuffer>,
    shift: Shift,
) -> Result<ArrayRef> {
    let moments = Moments::new(array)?;
    #[expect(clippy::cast_possible_truncation, reason = "a day has fewer than 2^31")]
    let time = |moment: Moment| shift.apply(moment.millis).rem_euclid(MILLIS_PER_DAY) as i32;
    Ok(array_from::<Time32MillisecondType>(
        moments.iter().map(time),
        nulls,
    ))
}

/// Seconds since the epoch, cut toward zero (TF-096), without a zone.
pub(super) fn to_seconds(
    array: &ArrayRef,
    nulls: Option<NullBuffer>,
    to: &ArrowType,
) -> Result<ArrayRef> {
    let moments = Moments::new(array)?;
    let seconds = moments.iter().map(|moment| moment.millis / 1_000);
    from_longs(seconds, nulls, to).ok_or_else(|| unexpected(array, to))
}

/// From seconds since the epoch.
pub(super) fn from_seconds(
    array: &ArrayRef,
    nulls: Option<NullBuffer>,
    shift: Shift,
    to: &ArrowType,
    faults: &mut Faults,
) -> Result<ArrayRef> {
    let seconds: Vec<i64> = match array.data_type() {
        ArrowType::Int32 => {
            let values = array.as_primitive::<Int32Type>().values();
            values.iter().copied().map(i64::from).collect()
        }
        ArrowType::Int64 => array.as_primitive::<Int64Type>().values().to_vec(),
        _ => return Err(unexpected(array, to)),
    };
    build(&seconds, nulls, to, faults, |_, seconds| {
        let millis = shift.apply(seconds.wrapping_mul(1_000));
        Ok(Moment { millis, nanos: 0 })
    })
}

/// Midnight of a day.
pub(super) fn from_date(
    array: &ArrayRef,
    nulls: Option<NullBuffer>,
    shift: Shift,
    to: &ArrowType,
    faults: &mut Faults,
) -> Result<ArrayRef> {
    let days = array
        .as_primitive_opt::<Date32Type>()
        .ok_or_else(|| unexpected(array, to))?;
    build(days.values(), nulls, to, faults, |_, day| {
        let millis = shift.apply(i64::from(day) * MILLIS_PER_DAY);
        Ok(Moment { millis, nanos: 0 })
    })
}

/// A time of 1970-01-01.
pub(super) fn from_time(
    array: &ArrayRef,
    nulls: Option<NullBuffer>,
    to: &ArrowType,
    faults: &mut Faults,
) -> Result<ArrayRef> {
    let times = array
        .as_primitive_opt::<Time32MillisecondType>()
        .ok_or_else(|| unexpected(array, to))?;
    build(times.values(), nulls, to, faults, |_, time| {
        let millis = i64::from(time);
        Ok(Moment { millis, nanos: 0 })
    })
}
