//! Statistics of stripes and row groups as bounds of the asked type. Facts: table-format sections 4.6 and 8.2, and the
//! ORC specification.
//!
//! What is not safe is unknown: floats, for a NaN may be left out or hide what came behind it; padded text; text and
//! timestamps of writers that got them wrong. Timestamps are told in the zone of the writer and before calendars have
//! moved them, so their bounds are a day wider than what is said.

use std::sync::Arc;

use arrow_array::ArrayRef;
use paimon_meta::{DataType, Datum, Result, StringLayout, TypeKind, array_of};

use super::footer::Kind;
use super::proto::{Message, Value};
use crate::decimal::Rescale;
use crate::reader::Bounds;
use crate::scan::FileColumn;

/// First version of the writer whose statistics of text are right, and of timestamps.
const TEXT_SINCE: u64 = 1;
const TIMESTAMP_SINCE: u64 = 6;
const DAY_MILLIS: i64 = 86_400_000;
/// 1900-01-01: before it timestamps may have been moved by more than a day.
const FIRST_MILLIS: i64 = -2_208_988_800_000;

/// What is said of the values of a column in a range of rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Statistics {
    /// Values that are not null.
    values: Option<u64>,
    bounds: Stored,
}

/// Smallest and largest value as they are stored.
#[derive(Clone, Debug, Default)]
enum Stored {
    #[default]
    Unknown,
    /// Also dates.
    Integers(i64, i64),
    /// Whether neither is cut.
    Texts(String, String, bool),
    Decimals(String, String),
    /// Milliseconds of wall clocks and instants.
    Millis(i64, i64),
    /// How many are true.
    Booleans(u64),
}

impl Statistics {
    /// # Errors
    /// `Corrupt` if the message is damaged.
    pub(super) fn parse(mut message: Message<'_>) -> Result<Self> {
        let mut statistics = Self::default();
        while let Some((field, value)) = message.next()? {
            let bounds = match field {
                1 => {
                    statistics.values = Some(value.number()?);
                    continue;
                }
                2 | 7 => pair(value, [1, 2])?.map(|(min, max)| Stored::Integers(min, max)),
                4 => texts(value)?,
                5 => booleans(value)?,
                6 => {
                    let [min, max, ..] = strings(value)?;
                    min.zip(max).map(|(min, max)| Stored::Decimals(min, max))
                }
                9 => pair(value, [3, 4])?.map(|(min, max)| Stored::Millis(min, max)),
                _ => None,
            };
            if let Some(bounds) = bounds {
                statistics.bounds = bounds;
            }
        }
        Ok(statistics)
    }
}

/// Two zigzag numbers of a message.
fn pair(value: Value<'_>, fields: [u64; 2]) -> Result<Option<(i64, i64)>> {
    let mut message = value.message()?;
    let [mut min, mut max] = [None, None];
    while let Some((field, value)) = message.next()? {
        let zigzag = |value: Value<'_>| {
            let value = value.number()?;
            Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
        };
        if field == fields[0] {
            min = Some(zigzag(value)?);
        } else if field == fields[1] {
            max = Some(zigzag(value)?);
        }
    }
    Ok(min.zip(max))
}

/// Fields 1, 2, 4 and 5 of a message of texts: bounds, and what is in place of long ones.
fn strings(value: Value<'_>) -> Result<[Option<String>; 4]> {
    let mut message = value.message()?;
    let mut found = [None, None, None, None];
    while let Some((field, value)) = message.next()? {
        let place = match field {
            1 => &mut found[0],
            2 => &mut found[1],
            4 => &mut found[2],
            5 => &mut found[3],
            _ => continue,
        };
        *place = std::str::from_utf8(value.bytes()?).ok().map(str::to_owned);
    }
    Ok(found)
}

fn texts(value: Value<'_>) -> Result<Option<Stored>> {
    let [min, max, lower, upper] = strings(value)?;
    let exact = min.is_some() && max.is_some();
    let bounds = min.or(lower).zip(max.or(upper));
    Ok(bounds.map(|(min, max)| Stored::Texts(min, max, exact)))
}

fn booleans(value: Value<'_>) -> Result<Option<Stored>> {
    let mut message = value.message()?;
    let mut counts = Vec::new();
    while let Some((field, value)) = message.next()? {
        if field == 1 {
            value.numbers(&mut counts)?;
        }
    }
    Ok(counts.first().copied().map(Stored::Booleans))
}

/// What is said of consecutive ranges of rows, each with its first row and how many it has; `None` where nothing is.
pub(super) type Said = Vec<(u64, u64, Option<Statistics>)>;

/// As bounds of a column that is stored as `stored`, in a file of `rows` rows. `None` for types without bounds.
pub(super) fn bounds(
    column: &FileColumn,
    stored: Kind,
    writer_version: u64,
    said: Said,
    rows: u64,
) -> Option<Bounds> {
    let to = column.data_type.to_arrow(StringLayout::View).ok()?;
    let mut starts = Vec::with_capacity(said.len() + 1);
    let (mut min, mut max) = (Vec::new(), Vec::new());
    let mut null_counts = Vec::with_capacity(said.len());
    let mut exact = true;
    for (start, count, statistics) in said {
        starts.push(start);
        let values = statistics.as_ref().and_then(|said| said.values);
        null_counts.push(values.and_then(|values| count.checked_sub(values)));
        let known = statistics.and_then(|said| {
            let values = said.values.filter(|values| *values > 0)?;
            datums(
                said.bounds,
                values,
                &column.data_type,
                stored,
                writer_version,
            )
        });
        let (least, most) = match known {
            Some((least, most, uncut)) => {
                exact &= uncut;
                (Some(least), Some(most))
            }
            None => (None, None),
        };
        min.push(least);
        max.push(most);
    }
    starts.push(rows);
    let array = |values: &[Option<Datum>]| -> Option<ArrayRef> {
        array_of(values.iter().map(Option::as_ref), &to).ok()
    };
    Some(Bounds {
        data_type: column.data_type.clone(),
        starts,
        min: array(&min)?,
        max: array(&max)?,
        null_counts: null_counts.into_iter().collect(),
        exact,
    })
}

/// Bounds of the asked type, and whether they are values that occur.
fn datums(
    bounds: Stored,
    values: u64,
    asked: &DataType,
    stored: Kind,
    writer_version: u64,
) -> Option<(Datum, Datum, bool)> {
    let both = |min: Option<Datum>, max: Option<Datum>, exact| Some((min?, max?, exact));
    match (bounds, &asked.kind) {
        (Stored::Integers(min, max), kind) => {
            both(integer(min, kind, stored), integer(max, kind, stored), true)
        }
        (Stored::Booleans(trues), TypeKind::Boolean) if trues <= values => both(
            Some(Datum::Boolean(trues == values)),
            Some(Datum::Boolean(trues > 0)),
            true,
        ),
        (Stored::Texts(min, max, exact), kind)
            if kind.is_text() && stored != Kind::Char && writer_version >= TEXT_SINCE =>
        {
            both(Some(Datum::String(min)), Some(Datum::String(max)), exact)
        }
        (Stored::Decimals(min, max), TypeKind::Decimal { precision, scale }) => {
            let rescale = Rescale::new(*precision, *scale);
            let datum = |text: &str| {
                let (unscaled, stored) = decimal(text)?;
                let value = rescale.apply(unscaled, stored).ok()?;
                Some(Datum::Decimal(value, *scale))
            };
            both(datum(&min), datum(&max), true)
        }
        (
            Stored::Millis(min, max),
            TypeKind::Timestamp(precision) | TypeKind::LocalZonedTimestamp(precision),
        ) if min >= FIRST_MILLIS && writer_version >= TIMESTAMP_SINCE => {
            // Whole days fit every unit.
            let whole = |millis: i64, days: i64| {
                let day = millis.div_euclid(DAY_MILLIS).checked_add(days)?;
                let millis = day.checked_mul(DAY_MILLIS)?;
                let fits = *precision <= 6 || millis.checked_mul(1_000_000).is_some();
                fits.then_some(Datum::Timestamp { millis, nanos: 0 })
            };
            both(whole(min, -1), whole(max, 2), false)
        }
        _ => None,
    }
}

fn integer(value: i64, kind: &TypeKind, stored: Kind) -> Option<Datum> {
    Some(match (kind, stored) {
        (TypeKind::Date, Kind::Date) => Datum::Date(value.try_into().ok()?),
        (_, Kind::Date) => return None,
        (TypeKind::TinyInt, _) => Datum::TinyInt(value.try_into().ok()?),
        (TypeKind::SmallInt, _) => Datum::SmallInt(value.try_into().ok()?),
        (TypeKind::Int, _) => Datum::Int(value.try_into().ok()?),
        (TypeKind::BigInt, _) => Datum::BigInt(value),
        (TypeKind::Time(_), _) => Datum::Time(value.try_into().ok()?),
        _ => return None,
    })
}

/// The unscaled value and the scale of plain digits.
fn decimal(text: &str) -> Option<(i128, i32)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let unscaled = format!("{whole}{fraction}").parse().ok()?;
    Some((unscaled, fraction.len().try_into().ok()?))
}

/// What the footer of a file says of a column in each of its stripes, by the metadata section; `None` where it does
/// not say it.
///
/// # Errors
/// `Corrupt` if the section is damaged.
pub(super) fn of_stripes(metadata: &[u8], column: usize) -> Result<Vec<Option<Statistics>>> {
    let mut stripes = Vec::new();
    let mut message = Message::new(metadata);
    while let Some((field, value)) = message.next()? {
        if field != 1 {
            continue;
        }
        let mut stripe = value.message()?;
        let mut columns = 0;
        let mut found = None;
        while let Some((field, value)) = stripe.next()? {
            if field == 1 {
                if columns == column {
                    found = Some(Statistics::parse(value.message()?)?);
                }
                columns += 1;
            }
        }
        stripes.push(found);
    }
    Ok(stripes)
}

/// A column that the file does not have is null in every row (RP-256).
pub(super) fn all_null(column: &FileColumn, groups: &[(u64, u64)], rows: u64) -> Option<Bounds> {
    let to = column.data_type.to_arrow(StringLayout::View).ok();
    let to = to.filter(|_| column.data_type.nullable)?;
    let unknown = arrow_array::new_null_array(&to, groups.len());
    let mut starts: Vec<u64> = groups.iter().map(|(start, _)| *start).collect();
    starts.push(rows);
    Some(Bounds {
        data_type: column.data_type.clone(),
        starts,
        min: Arc::clone(&unknown),
        max: unknown,
        null_counts: groups.iter().map(|(_, count)| *count).collect(),
        exact: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_plain_digits() {
        assert_eq!(decimal("-12.50"), Some((-1250, 2)));
        assert_eq!(decimal("7"), Some((7, 0)));
        for text in ["", "1e3", "1.2.3", "x"] {
            assert_eq!(decimal(text), None, "{text}");
        }
    }
}
