//! Timestamps: seconds since 2015 in one stream, nanoseconds in another.

use arrow_array::ArrayRef;
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType as ArrowType, TimeUnit};
use paimon_meta::{Error, Result};

use super::bits::Present;
use super::integer::IntegerRuns;
use super::row_index::Place;
use super::zone::Zone;
use crate::assemble::{per_second, timestamp_array};

/// 2015-01-01T00:00:00 as seconds since the epoch.
const ORC_EPOCH: i64 = 1_420_070_400;
const NANOS: i64 = 1_000_000_000;

/// The values of a timestamp column.
#[derive(Debug)]
pub(super) struct Timestamps {
    seconds: IntegerRuns,
    nanos: IntegerRuns,
    /// The second that stored ones count from.
    base: i64,
    /// The zone of which wall clocks are wanted; `None` is UTC.
    zone: Option<Zone>,
    unit: TimeUnit,
    scratch: (Vec<i64>, Vec<i64>),
    dense: Vec<i64>,
    read: Vec<i64>,
}

impl Timestamps {
    /// Wall clocks of the writer's zone, `None` being UTC.
    pub(super) fn local(
        seconds: IntegerRuns,
        nanos: IntegerRuns,
        unit: TimeUnit,
        mut writer: Option<Zone>,
    ) -> Self {
        let base = writer
            .as_mut()
            .map_or(ORC_EPOCH, |zone| zone.second_of_wall(ORC_EPOCH));
        Self {
            base,
            ..Self::instant(seconds, nanos, unit, writer)
        }
    }

    /// Instants; with a zone, those at which UTC shows what the stored ones show in that zone (the legacy form of the
    /// reference, table-format 8.2).
    pub(super) fn instant(
        seconds: IntegerRuns,
        nanos: IntegerRuns,
        unit: TimeUnit,
        zone: Option<Zone>,
    ) -> Self {
        Self {
            seconds,
            nanos,
            base: ORC_EPOCH,
            zone,
            unit,
            scratch: (Vec::new(), Vec::new()),
            dense: Vec::new(),
            read: Vec::new(),
        }
    }

    pub(super) fn read(&mut self, present: &Present) -> Result<()> {
        let (seconds, nanos) = &mut self.scratch;
        seconds.clear();
        nanos.clear();
        self.seconds.read(present.count(), seconds)?;
        self.nanos.read(present.count(), nanos)?;
        self.dense.clear();
        let per_second = per_second(self.unit);
        for (second, nanos) in seconds.iter().zip(nanos.iter()) {
            let nanos = nanos_of(*nanos)?;
            let second = self.base.checked_add(*second);
            let value = second.and_then(|second| {
                let second = before_1970(second, nanos);
                let ahead = self.zone.as_mut().map_or(0, |zone| zone.offset(second));
                let wall = second.checked_add(ahead)?;
                let whole = wall.checked_mul(per_second);
                let part = nanos.div_euclid(NANOS / per_second);
                match whole {
                    Some(whole) => whole.checked_add(part),
                    // The first second of the range may be one whose end alone fits.
                    None => wall
                        .checked_add(1)?
                        .checked_mul(per_second)?
                        .checked_add(part - per_second),
                }
            });
            let value = value.ok_or_else(|| {
                let unit = self.unit;
                let second = second.unwrap_or(i64::MAX);
                Error::corrupt(format!(
                    "timestamp of {second} s and {nanos} ns is outside the range of {unit:?}s"
                ))
            })?;
            self.dense.push(value);
        }
        present.spread(&self.dense, 0, &mut self.read);
        Ok(())
    }

    pub(super) fn skip(&mut self, count: usize) -> Result<()> {
        self.seconds.skip(count)?;
        self.nanos.skip(count)
    }

    pub(super) fn seek(&mut self, seconds: Place, nanos: Place) -> Result<()> {
        self.seconds.seek(seconds)?;
        self.nanos.seek(nanos)
    }

    pub(super) fn finish(&mut self, nulls: Option<NullBuffer>, to: &ArrowType) -> Result<ArrayRef> {
        timestamp_array(std::mem::take(&mut self.read), nulls, to)
    }
}

/// Before 1970 the writer cut seconds toward zero, except where the fraction has no milliseconds (table-format 8.2).
fn before_1970(second: i64, nanos: i64) -> i64 {
    if second < 0 && nanos > 999_999 {
        second.saturating_sub(1)
    } else {
        second
    }
}

/// Nanoseconds are stored without their last zeros, whose number less one is in the lowest three bits. Before 1970 the
/// C++ library, and with it Python, writes both seconds and nanoseconds as negative numbers.
fn nanos_of(stored: i64) -> Result<i64> {
    let zeros = stored & 7;
    let digits = stored >> 3;
    let factor = match zeros {
        0 => 1,
        zeros => 10_i64.pow(u32::try_from(zeros).unwrap_or(0) + 1),
    };
    digits
        .checked_mul(factor)
        .filter(|nanos| nanos.unsigned_abs() < NANOS.unsigned_abs())
        .ok_or_else(|| Error::corrupt(format!("{stored} stands for no nanoseconds")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_come_with_their_zeros() {
        assert_eq!(nanos_of(0).unwrap(), 0);
        assert_eq!(nanos_of(0x0a).unwrap(), 1_000);
        assert_eq!(nanos_of(678 << 3 | 5).unwrap(), 678_000_000);
        assert_eq!(nanos_of(-4699).unwrap(), -588_000_000);
        assert_eq!(nanos_of(-8).unwrap(), -1);
        assert!(nanos_of(i64::MIN).is_err());
        assert!(nanos_of(-1_000_000_000 << 3).is_err());
        assert!(nanos_of(i64::from(i32::MAX) << 3).is_err());
    }

    #[test]
    fn seconds_before_1970_go_back_by_one() {
        assert_eq!(before_1970(-1, 999_999), -1);
        assert_eq!(before_1970(-1, 1_000_000), -2);
        // The last second before 1970 was lost by the writer.
        assert_eq!(before_1970(0, 999_000_000), 0);
    }
}
