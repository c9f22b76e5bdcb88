//! Values as text, as Java and the reference write them.

use std::fmt::Write;
use std::sync::Arc;

use arrow_array::builder::StringViewBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time32MillisecondType,
};
use arrow_array::{Array, ArrayRef, BooleanArray, PrimitiveArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::DataType as ArrowType;
use paimon_meta::{DataType, Error, Result, TypeKind, date_of, double_text, float_text};

use super::temporal::{Moment, Moments};
use super::text::{Fit, Texts};
use super::{Zone, unexpected};

const MILLIS_PER_DAY: i64 = 86_400_000;

/// The text of a column's values; `from` is their type and the zone in which instants are shown.
pub(super) fn to_text(
    array: &ArrayRef,
    nulls: Option<NullBuffer>,
    (from, zone): (&DataType, Zone),
    fit: Fit,
    to: &ArrowType,
) -> Result<ArrayRef> {
    if *to == ArrowType::Utf8View
        && fit == Fit::NONE
        && let Some(texts) = integers(array, nulls.as_ref())
    {
        return Ok(texts);
    }
    let printer = Printer::new(array, &from.kind, zone)?;
    let mut texts = Texts::with_capacity(array.len());
    let mut text = String::new();
    for row in 0..array.len() {
        let valid = nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        texts.push_with(|out| {
            if valid && fit == Fit::NONE {
                printer.print(row, out);
            } else if valid {
                text.clear();
                printer.print(row, &mut text);
                fit.push(&text, out);
            }
        });
    }
    texts.finish(nulls, to)
}

/// The text of integers, which mostly fits into views; `None` for values of any other type.
fn integers(array: &ArrayRef, nulls: Option<&NullBuffer>) -> Option<ArrayRef> {
    fn of<T>(array: &ArrayRef, nulls: Option<&NullBuffer>) -> Option<ArrayRef>
    where
        T: ArrowPrimitiveType<Native: itoa::Integer>,
    {
        let values = array.as_primitive_opt::<T>()?.values();
        let mut texts = StringViewBuilder::with_capacity(values.len());
        let mut digits = itoa::Buffer::new();
        for (row, value) in values.iter().enumerate() {
            if nulls.is_none_or(|nulls| nulls.is_valid(row)) {
                texts.append_value(digits.format(*value));
            } else {
                texts.append_null();
            }
        }
        Some(Arc::new(texts.finish()))
    }
    match array.data_type() {
        ArrowType::Int8 => of::<Int8Type>(array, nulls),
        ArrowType::Int16 => of::<Int16Type>(array, nulls),
        ArrowType::Int32 => of::<Int32Type>(array, nulls),
        ArrowType::Int64 => of::<Int64Type>(array, nulls),
        _ => None,
    }
}

/// A column whose values can be written.
struct Printer<'a> {
    array: &'a ArrayRef,
    values: Values<'a>,
}

enum Values<'a> {
    Boolean(&'a BooleanArray),
    TinyInt(&'a PrimitiveArray<Int8Type>),
    SmallInt(&'a PrimitiveArray<Int16Type>),
    Int(&'a PrimitiveArray<Int32Type>),
    BigInt(&'a PrimitiveArray<Int64Type>),
    Float(&'a PrimitiveArray<Float32Type>),
    Double(&'a PrimitiveArray<Float64Type>),
    Decimal(&'a PrimitiveArray<Decimal128Type>, usize),
    Text(TextOf),
    Bytes,
    Date(&'a PrimitiveArray<Date32Type>),
    Time(&'a PrimitiveArray<Time32MillisecondType>, u8),
    Timestamp {
        moments: Moments<'a>,
        precision: u8,
        zone: Zone,
    },
    Array(&'a OffsetBuffer<i32>, Box<Printer<'a>>),
    Map(&'a OffsetBuffer<i32>, Box<(Printer<'a>, Printer<'a>)>),
    Row(Vec<Printer<'a>>),
}

/// Layouts of text and bytes.
#[derive(Clone, Copy)]
enum TextOf {
    View,
    Offset32,
    Offset64,
}

impl<'a> Printer<'a> {
    fn new(array: &'a ArrayRef, kind: &TypeKind, zone: Zone) -> Result<Self> {
        let values = Self::scalar(array, kind, zone);
        let values = match values {
            Some(values) => Some(values),
            None => Self::nested(array, kind, zone)?,
        };
        let values = values.ok_or_else(|| {
            Error::internal(format!("no text of {kind} in {}", array.data_type()))
        })?;
        Ok(Self { array, values })
    }

    fn scalar(array: &'a ArrayRef, kind: &TypeKind, zone: Zone) -> Option<Values<'a>> {
        fn primitive<T: ArrowPrimitiveType>(array: &ArrayRef) -> Option<&PrimitiveArray<T>> {
            array.as_primitive_opt::<T>()
        }
        Some(match kind {
            TypeKind::Boolean => Values::Boolean(array.as_boolean_opt()?),
            TypeKind::TinyInt => Values::TinyInt(primitive(array)?),
            TypeKind::SmallInt => Values::SmallInt(primitive(array)?),
            TypeKind::Int => Values::Int(primitive(array)?),
            TypeKind::BigInt => Values::BigInt(primitive(array)?),
            TypeKind::Float => Values::Float(primitive(array)?),
            TypeKind::Double => Values::Double(primitive(array)?),
            TypeKind::Decimal { scale, .. } => {
                Values::Decimal(primitive(array)?, usize::from(*scale))
            }
            TypeKind::Char(_) | TypeKind::VarChar(_) => Values::Text(match array.data_type() {
                ArrowType::Utf8View => TextOf::View,
                ArrowType::Utf8 => TextOf::Offset32,
                ArrowType::LargeUtf8 => TextOf::Offset64,
                _ => return None,
            }),
            TypeKind::Binary(_) | TypeKind::VarBinary(_) => Values::Bytes,
            TypeKind::Date => Values::Date(primitive(array)?),
            TypeKind::Time(precision) => Values::Time(primitive(array)?, *precision),
            TypeKind::Timestamp(precision) => Values::Timestamp {
                moments: Moments::new(array).ok()?,
                precision: *precision,
                zone: Zone::default(),
            },
            TypeKind::LocalZonedTimestamp(precision) => Values::Timestamp {
                moments: Moments::new(array).ok()?,
                precision: *precision,
                zone,
            },
            _ => return None,
        })
    }

    fn nested(array: &'a ArrayRef, kind: &TypeKind, zone: Zone) -> Result<Option<Values<'a>>> {
        Ok(match kind {
            TypeKind::Array(element) => {
                let list = array
                    .as_list_opt::<i32>()
                    .ok_or_else(|| unexpected(array, &ArrowType::Utf8))?;
                let element = Self::new(list.values(), &element.kind, zone)?;
                Some(Values::Array(list.offsets(), Box::new(element)))
            }
            TypeKind::Map(key, value) => {
                let map = array
                    .as_map_opt()
                    .ok_or_else(|| unexpected(array, &ArrowType::Utf8))?;
                let key = Self::new(map.keys(), &key.kind, zone)?;
                let value = Self::new(map.values(), &value.kind, zone)?;
                Some(Values::Map(map.offsets(), Box::new((key, value))))
            }
            TypeKind::Row(fields) => {
                let row = array
                    .as_struct_opt()
                    .ok_or_else(|| unexpected(array, &ArrowType::Utf8))?;
                let children = row.columns().iter().zip(fields);
                let children = children
                    .map(|(child, field)| Self::new(child, &field.data_type.kind, zone))
                    .collect::<Result<_>>()?;
                Some(Values::Row(children))
            }
            _ => None,
        })
    }

    /// Writes a value inside another: `null` where there is none.
    fn print_nested(&self, row: usize, out: &mut String) {
        if self.array.is_null(row) {
            out.push_str("null");
        } else {
            self.print(row, out);
        }
    }

    /// Writes a value.
    fn print(&self, row: usize, out: &mut String) {
        // Writing to a string cannot fail.
        let _ = match &self.values {
            Values::Boolean(values) => write!(out, "{}", values.value(row)),
            Values::TinyInt(values) => integer(values.value(row), out),
            Values::SmallInt(values) => integer(values.value(row), out),
            Values::Int(values) => integer(values.value(row), out),
            Values::BigInt(values) => integer(values.value(row), out),
            Values::Float(values) => out.write_str(&float_text(values.value(row))),
            Values::Double(values) => out.write_str(&double_text(values.value(row))),
            Values::Decimal(values, scale) => decimal(values.value(row), *scale, out),
            Values::Text(layout) => out.write_str(match layout {
                TextOf::View => self.array.as_string_view().value(row),
                TextOf::Offset32 => self.array.as_string::<i32>().value(row),
                TextOf::Offset64 => self.array.as_string::<i64>().value(row),
            }),
            Values::Bytes => out.write_str(&String::from_utf8_lossy(bytes_of(self.array, row))),
            Values::Date(values) => date(values.value(row).into(), out),
            Values::Time(values, precision) => time(values.value(row), *precision, out),
            Values::Timestamp {
                moments,
                precision,
                zone,
            } => {
                let moment = moments.get(row);
                let millis = zone.to_wall(moment.millis);
                timestamp(Moment { millis, ..moment }, *precision, out)
            }
            Values::Array(offsets, element) => {
                list(out, ['[', ']'], range(offsets, row), |index, out| {
                    element.print_nested(index, out);
                })
            }
            Values::Map(offsets, entry) => {
                list(out, ['{', '}'], range(offsets, row), |index, out| {
                    entry.0.print_nested(index, out);
                    out.push_str(" -> ");
                    entry.1.print_nested(index, out);
                })
            }
            Values::Row(children) => list(out, ['{', '}'], 0..children.len(), |index, out| {
                if let Some(child) = children.get(index) {
                    child.print_nested(row, out);
                }
            }),
        };
    }
}

fn integer(value: impl itoa::Integer, out: &mut String) -> std::fmt::Result {
    out.push_str(itoa::Buffer::new().format(value));
    Ok(())
}

fn range(offsets: &OffsetBuffer<i32>, row: usize) -> std::ops::Range<usize> {
    let offset = |row: usize| {
        offsets
            .get(row)
            .and_then(|offset| usize::try_from(*offset).ok())
    };
    offset(row).unwrap_or(0)..offset(row + 1).unwrap_or(0)
}

fn list(
    out: &mut String,
    [open, close]: [char; 2],
    indices: std::ops::Range<usize>,
    each: impl Fn(usize, &mut String),
) -> std::fmt::Result {
    out.push(open);
    let first = indices.start;
    for index in indices {
        if index > first {
            out.push_str(", ");
        }
        each(index, out);
    }
    out.push(close);
    Ok(())
}

fn bytes_of(array: &ArrayRef, row: usize) -> &[u8] {
    match array.data_type() {
        ArrowType::Binary => array.as_binary::<i32>().value(row),
        ArrowType::LargeBinary => array.as_binary::<i64>().value(row),
        ArrowType::BinaryView => array.as_binary_view().value(row),
        _ => &[],
    }
}

/// Without exponent, with all digits of the scale.
fn decimal(value: i128, scale: usize, out: &mut String) -> std::fmt::Result {
    if value < 0 {
        out.push('-');
    }
    let start = out.len();
    write!(out, "{:0>width$}", value.unsigned_abs(), width = scale + 1)?;
    if scale > 0 {
        let point = out.len().saturating_sub(scale).max(start);
        out.insert(point, '.');
    }
    Ok(())
}

/// A digit as the reference makes it: negative years have characters below `0`.
fn digit(value: i64) -> char {
    let code = i64::from(b'0') + value % 10;
    char::from(u8::try_from(code).unwrap_or(b'0'))
}

fn two(value: i64, out: &mut String) {
    out.extend([digit(value / 10), digit(value)]);
}

/// `yyyy-MM-dd`; of the year the last four digits.
fn date(days: i64, out: &mut String) -> std::fmt::Result {
    let (year, month, day) = date_of(days);
    out.extend([1_000, 100, 10, 1].map(|unit| digit(year / unit)));
    out.push('-');
    two(month, out);
    out.push('-');
    two(day, out);
    Ok(())
}

fn clock(second_of_day: i64, out: &mut String) {
    two(second_of_day / 3_600, out);
    out.push(':');
    two(second_of_day / 60 % 60, out);
    out.push(':');
    two(second_of_day % 60, out);
}

/// `HH:mm:ss`, with at least one digit of the fraction if the type has a precision.
fn time(millis: i32, precision: u8, out: &mut String) -> std::fmt::Result {
    let millis = if millis < 0 {
        i64::from(millis).rem_euclid(MILLIS_PER_DAY)
    } else {
        millis.into()
    };
    clock(millis / 1_000, out);
    let mut rest = millis % 1_000;
    for place in 0..precision {
        if place == 0 {
            out.push('.');
        }
        out.push(digit(rest / 100));
        rest = rest % 100 * 10;
        if rest == 0 {
            break;
        }
    }
    Ok(())
}

/// `yyyy-MM-dd HH:mm:ss`, then the fraction without zeros at the end beyond the precision (TF-095).
fn timestamp(moment: Moment, precision: u8, out: &mut String) -> std::fmt::Result {
    date(moment.millis.div_euclid(MILLIS_PER_DAY), out)?;
    out.push(' ');
    let of_day = moment.millis.rem_euclid(MILLIS_PER_DAY);
    clock(of_day / 1_000, out);
    let start = out.len();
    let nanos = of_day % 1_000 * 1_000_000 + moment.nanos;
    write!(out, ".{nanos:09}")?;
    let least = start + 1 + usize::from(precision);
    while out.len() > least && out.ends_with('0') {
        out.pop();
    }
    if out.len() == start + 1 {
        out.pop();
    }
    Ok(())
}
