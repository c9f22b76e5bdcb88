//! Values written with one type as values of another, as the reference converts them when it reads files of an older
//! schema. Facts: table-format section 8.3.
//!
//! A cast is planned once a column and file and applied to each batch. It works on Arrow arrays as the format delivers
//! them, by loops over native slices: the kernels of Arrow round, saturate and parse otherwise. Null stays null. Where a
//! value cannot be converted, the result has a null and a [fault](Faults), which fails the read only if the row belongs to
//! its result: versions that lost a merge and rows that a filter drops are decoded too, and the reference never looks at
//! them.

mod bytes;
mod decimal;
mod faults;
mod number;
mod parse;
mod parse_number;
mod parse_time;
mod render;
mod temporal;
mod text;
mod zone;

use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType as ArrowType;
use paimon_meta::{DataType, Error, MAX_LENGTH, Result, TypeKind};

pub(crate) use faults::Faults;
pub(crate) use zone::Zone;

use bytes::FitBytes;
use temporal::Shift;
use text::Fit;

/// A planned conversion of a column, or of a leaf of one.
#[derive(Clone, Debug)]
pub(crate) struct Cast {
    rule: Rule,
    from: DataType,
    to: ArrowType,
}

#[derive(Clone, Copy, Debug)]
enum Rule {
    /// Between integers, floats and doubles.
    Number,
    NumberToDecimal,
    DecimalToNumber,
    Rescale,
    BooleanToNumber,
    IntegerToBoolean,
    IntegerToTimestamp(Shift),
    /// To text; what was no number or boolean is never cut.
    Render(Fit, Zone),
    FitText(Fit),
    ParseBoolean,
    ParseNumber,
    ParseDecimal,
    ParseDate,
    ParseTime,
    ParseTimestamp(u8, Option<Zone>),
    TextToBytes(FitBytes),
    FitBytes(FitBytes),
    BytesToText,
    /// Between timestamps; digits beyond this precision are cut.
    Timestamp(Shift, Option<u8>),
    TimestampToDate(Shift),
    TimestampToTime(Shift),
    TimestampToInteger,
    DateToTimestamp(Shift),
    TimeToTimestamp,
}

impl Cast {
    /// The cast from a type to another, whose Arrow form is `arrow`; `zone` is that of the reading process.
    ///
    /// # Errors
    /// `Corrupt` if the reference has no such conversion: no table can have changed its schema that way.
    pub(crate) fn new(
        from: &DataType,
        to: &DataType,
        arrow: ArrowType,
        zone: Zone,
    ) -> Result<Self> {
        let rule = rule(&from.kind, &to.kind, zone).ok_or_else(|| {
            Error::corrupt(format!(
                "written as {from}, expected a type that can become {to}"
            ))
        })?;
        Ok(Self {
            rule,
            from: from.clone(),
            to: arrow,
        })
    }

    /// The converted values.
    ///
    /// # Errors
    /// `Internal` if the array is not of the type that the cast was planned for.
    pub(crate) fn apply(&self, array: &ArrayRef, faults: &mut Faults) -> Result<ArrayRef> {
        let nulls = array.nulls().cloned();
        match self.rule {
            Rule::Number => number::convert(array, nulls, &self.to),
            Rule::BooleanToNumber => number::from_boolean(array, nulls, &self.to),
            Rule::IntegerToBoolean => number::to_boolean(array, nulls),
            Rule::NumberToDecimal => decimal::from_number(array, nulls, &self.to, faults),
            Rule::DecimalToNumber => decimal::to_number(array, nulls, &self.to),
            Rule::Rescale => decimal::rescale(array, nulls, &self.to),
            Rule::Render(fit, zone) => {
                render::to_text(array, nulls, (&self.from, zone), fit, &self.to)
            }
            Rule::FitText(fit) => text::fit_column(array, nulls, fit, &self.to),
            Rule::ParseBoolean => parse::boolean(array, nulls.as_ref(), faults),
            Rule::ParseNumber => parse::number(array, nulls.as_ref(), &self.to, faults),
            Rule::ParseDecimal => parse::decimal(array, nulls, &self.to, faults),
            Rule::ParseDate => parse::date(array, nulls.as_ref(), faults),
            Rule::ParseTime => parse::time(array, nulls.as_ref(), faults),
            Rule::ParseTimestamp(precision, zone) => {
                parse::timestamp(array, nulls.as_ref(), (precision, zone), &self.to, faults)
            }
            Rule::TextToBytes(fit) => bytes::from_text(array, nulls, fit, &self.to),
            Rule::FitBytes(fit) => bytes::fit_column(array, nulls, fit, &self.to),
            Rule::BytesToText => bytes::to_text(array, nulls, &self.to),
            Rule::IntegerToTimestamp(shift) => {
                temporal::from_seconds(array, nulls, shift, &self.to, faults)
            }
            Rule::Timestamp(shift, precision) => {
                temporal::convert(array, nulls, (shift, precision), &self.to, faults)
            }
            Rule::TimestampToDate(shift) => temporal::to_date(array, nulls, shift),
            Rule::TimestampToTime(shift) => temporal::to_time(array, nulls, shift),
            Rule::TimestampToInteger => temporal::to_seconds(array, nulls, &self.to),
            Rule::DateToTimestamp(shift) => {
                temporal::from_date(array, nulls, shift, &self.to, faults)
            }
            Rule::TimeToTimestamp => temporal::from_time(array, nulls, &self.to, faults),
        }
    }
}

/// The reference's rule (`CastExecutors`), if it has one.
fn rule(from: &TypeKind, to: &TypeKind, zone: Zone) -> Option<Rule> {
    use TypeKind::{
        BigInt, Binary, Boolean, Char, Date, Decimal, Int, LocalZonedTimestamp, Time, Timestamp,
        VarBinary, VarChar,
    };
    Some(match (from, to) {
        (_, Char(_) | VarChar(_)) => return to_text(from, to, zone),
        (Char(_) | VarChar(_), _) => return from_text(to, zone),
        (Decimal { .. }, Decimal { .. }) => Rule::Rescale,
        (_, Decimal { .. }) if is_primitive(from) || *from == Boolean => Rule::NumberToDecimal,
        (Decimal { .. }, _) if is_primitive(to) => Rule::DecimalToNumber,
        (Boolean, _) if is_primitive(to) => Rule::BooleanToNumber,
        (_, Boolean) if from.integer_bits().is_some() => Rule::IntegerToBoolean,
        (Int | BigInt, Timestamp(_)) => Rule::IntegerToTimestamp(Shift::None),
        (Int | BigInt, LocalZonedTimestamp(_)) => Rule::IntegerToTimestamp(Shift::ToWall(zone)),
        (Timestamp(_) | LocalZonedTimestamp(_), Int | BigInt) => Rule::TimestampToInteger,
        (_, _) if is_primitive(from) && is_primitive(to) => Rule::Number,
        (Binary(_) | VarBinary(_), Binary(length)) => Rule::FitBytes(FitBytes::padded(*length)),
        (Binary(_) | VarBinary(_), VarBinary(length)) => Rule::FitBytes(FitBytes::cut(*length)),
        (Timestamp(_), Date) => Rule::TimestampToDate(Shift::None),
        (LocalZonedTimestamp(_), Date) => Rule::TimestampToDate(Shift::ToWall(zone)),
        (Timestamp(_), Time(_)) => Rule::TimestampToTime(Shift::None),
        (LocalZonedTimestamp(_), Time(_)) => Rule::TimestampToTime(Shift::ToWall(zone)),
        (Date, Timestamp(_)) => Rule::DateToTimestamp(Shift::None),
        (Date, LocalZonedTimestamp(_)) => Rule::DateToTimestamp(Shift::ToInstant(zone)),
        (Time(_), Timestamp(_) | LocalZonedTimestamp(_)) => Rule::TimeToTimestamp,
        (Timestamp(a), Timestamp(b)) | (LocalZonedTimestamp(a), LocalZonedTimestamp(b)) => {
            Rule::Timestamp(Shift::None, (b < a).then_some(*b))
        }
        (Timestamp(a), LocalZonedTimestamp(b)) => {
            Rule::Timestamp(Shift::ToInstant(zone), (b < a).then_some(*b))
        }
        (LocalZonedTimestamp(a), Timestamp(b)) => {
            Rule::Timestamp(Shift::ToWall(zone), (b < a).then_some(*b))
        }
        _ => return None,
    })
}

/// Rules to `CHAR` and `VARCHAR`. Dates and times become `STRING` only.
fn to_text(from: &TypeKind, to: &TypeKind, zone: Zone) -> Option<Rule> {
    let fit = Fit::of(to);
    Some(match from {
        TypeKind::Char(_) | TypeKind::VarChar(_) => Rule::FitText(fit),
        TypeKind::Binary(_) | TypeKind::VarBinary(_) => Rule::BytesToText,
        TypeKind::Boolean | TypeKind::Decimal { .. } => Rule::Render(fit, zone),
        TypeKind::Date
        | TypeKind::Time(_)
        | TypeKind::Timestamp(_)
        | TypeKind::LocalZonedTimestamp(_)
            if *to == TypeKind::VarChar(MAX_LENGTH) =>
        {
            Rule::Render(fit, zone)
        }
        TypeKind::Array(_) | TypeKind::Map(..) | TypeKind::Row(_) => Rule::Render(Fit::NONE, zone),
        number if is_primitive(number) => Rule::Render(fit, zone),
        _ => return None,
    })
}

/// Rules from `CHAR` and `VARCHAR`.
fn from_text(to: &TypeKind, zone: Zone) -> Option<Rule> {
    Some(match to {
        TypeKind::Boolean => Rule::ParseBoolean,
        TypeKind::Decimal { .. } => Rule::ParseDecimal,
        TypeKind::Date => Rule::ParseDate,
        TypeKind::Time(_) => Rule::ParseTime,
        TypeKind::Timestamp(precision) => Rule::ParseTimestamp(*precision, None),
        TypeKind::LocalZonedTimestamp(precision) => Rule::ParseTimestamp(*precision, Some(zone)),
        TypeKind::Binary(length) => Rule::TextToBytes(FitBytes::padded(*length)),
        TypeKind::VarBinary(length) => Rule::TextToBytes(FitBytes::cut(*length)),
        number if is_primitive(number) => Rule::ParseNumber,
        _ => return None,
    })
}

/// Integers, floats and doubles.
fn is_primitive(kind: &TypeKind) -> bool {
    kind.integer_bits().is_some() || matches!(kind, TypeKind::Float | TypeKind::Double)
}

/// An array is not of the type that was planned for.
fn unexpected(array: &ArrayRef, to: &ArrowType) -> Error {
    Error::internal(format!("no cast from {} to {to}", array.data_type()))
}

/// Converts the valid ones of some values; those that become nothing are null in the result. What stands where there is
/// no value does not matter.
fn map_valid<S: Copy, T: Default>(
    values: &[S],
    nulls: Option<NullBuffer>,
    mut convert: impl FnMut(usize, S) -> Option<T>,
) -> (Vec<T>, Option<NullBuffer>) {
    let mut lost = Vec::new();
    let mut converted = Vec::with_capacity(values.len());
    for (row, value) in values.iter().enumerate() {
        let valid = nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        let result = if valid { convert(row, *value) } else { None };
        if valid && result.is_none() {
            lost.push(row);
        }
        converted.push(result.unwrap_or_default());
    }
    let nulls = without(nulls, values.len(), &lost);
    (converted, nulls)
}

/// Nulls with those of the rows `lost` added.
fn without(nulls: Option<NullBuffer>, rows: usize, lost: &[usize]) -> Option<NullBuffer> {
    if lost.is_empty() {
        return nulls;
    }
    let mut valid = vec![true; rows];
    for row in lost {
        if let Some(valid) = valid.get_mut(*row) {
            *valid = false;
        }
    }
    NullBuffer::union(nulls.as_ref(), Some(&NullBuffer::from(valid)))
}

#[cfg(test)]
mod tests;
