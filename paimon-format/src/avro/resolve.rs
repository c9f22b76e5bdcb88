//! From the asked columns to what is done with the fields of a record. Facts: table-format sections 7.5, 8.1 and 8.2.

use arrow_buffer::BooleanBufferBuilder;
use arrow_schema::{DataType as ArrowType, Field as ArrowField, TimeUnit};
use paimon_meta::{DataField, DataType, Error, Frame, Result, ResultExt, TypeKind};

use super::column::{Branches, Column, Row, Step};
use super::schema::{Field, Meaning, Type};
use super::values::{Length, Scale, Values};
use crate::assemble::per_second;
use crate::decimal::Rescale;

/// The column that takes the values of `written` as `asked`, whose Arrow form is `to`.
///
/// # Errors
/// `Corrupt` if the written type cannot hold values of the asked one, `Unsupported` for types that Avro files do not
/// have.
pub(super) fn column(written: &Type, asked: &DataType, to: &ArrowType) -> Result<Column> {
    let (branches, written) = value_of(written)?;
    let values = match &asked.kind {
        TypeKind::Array(_)
        | TypeKind::Vector { .. }
        | TypeKind::Map(..)
        | TypeKind::Multiset(_)
        | TypeKind::Row(_) => nested(written, asked, to)?,
        kind => scalar(written, kind, to)?,
    };
    let values = values.ok_or_else(|| {
        let name = written.name();
        Error::corrupt(format!("stored as {name}, which cannot be read as {asked}"))
    })?;
    Ok(Column::new(branches, values, to))
}

/// The columns for some fields of a record, each by the name it has there.
///
/// # Errors
/// As [`column`], with the field at fault.
pub(super) fn row<'a>(
    written: &[Field],
    asked: impl Iterator<Item = (&'a str, &'a DataType, &'a ArrowType)>,
) -> Result<Row> {
    let mut places = vec![None; written.len()];
    let mut row = Row {
        steps: Vec::with_capacity(written.len()),
        columns: Vec::new(),
        names: Vec::new(),
    };
    for (name, data_type, to) in asked {
        let here = || Frame::Field(name.to_owned());
        let position = written.iter().position(|field| field.name == name);
        let found = position.and_then(|at| written.get(at).zip(places.get_mut(at)));
        let (field, place) =
            found.ok_or_else(|| Error::corrupt("nested field is missing").at(here()))?;
        *place = Some(row.columns.len());
        row.columns
            .push(column(&field.data_type, data_type, to).at(here)?);
        row.names.push(name.to_owned());
    }
    let steps = written.iter().zip(places);
    row.steps.extend(steps.map(|(field, place)| {
        place.map_or_else(|| Step::Skip(field.data_type.clone()), Step::Read)
    }));
    Ok(row)
}

/// The type of the values themselves, and how they are told from nulls.
fn value_of(written: &Type) -> Result<(Branches, &Type)> {
    let Type::Union(branches) = written else {
        return Ok((Branches::None, written));
    };
    let found = match branches.as_slice() {
        [Type::Null, value] => Some((Some(0), 1, value)),
        [value, Type::Null] => Some((Some(1), 0, value)),
        [value] => Some((None, 0, value)),
        _ => None,
    };
    let (null, index, value) = found.ok_or_else(|| {
        let count = branches.len();
        Error::corrupt(format!(
            "stored as a union of {count} types, expected null and another"
        ))
    })?;
    Ok((Branches::Union { null, value: index }, value))
}

/// `None` if the stored type cannot hold the asked one.
fn scalar(written: &Type, kind: &TypeKind, to: &ArrowType) -> Result<Option<Values>> {
    let not_there = |name: &str| Err(Error::unsupported(format!("type {name} in Avro files")));
    Ok(Some(match (kind, written) {
        (TypeKind::Variant, _) => return not_there("VARIANT"),
        (TypeKind::Blob, _) => return not_there("BLOB"),
        (TypeKind::Geometry(_), _) => return not_there("GEOMETRY"),
        (TypeKind::Geography { .. }, _) => return not_there("GEOGRAPHY"),
        (TypeKind::Boolean, Type::Boolean) => Values::Boolean(BooleanBufferBuilder::new(0)),
        (TypeKind::TinyInt, Type::Int(_) | Type::Long(_)) => Values::TinyInt(Vec::new()),
        (TypeKind::SmallInt, Type::Int(_) | Type::Long(_)) => Values::SmallInt(Vec::new()),
        (TypeKind::Int, Type::Int(_) | Type::Long(_)) => Values::Int(Vec::new()),
        (TypeKind::BigInt, Type::Int(_) | Type::Long(_)) => Values::BigInt(Vec::new()),
        (TypeKind::Date | TypeKind::Time(_), Type::Int(_)) => Values::Int(Vec::new()),
        (TypeKind::Float, Type::Float) => Values::Float(Vec::new()),
        (TypeKind::Double, Type::Double) => Values::Double(Vec::new()),
        (TypeKind::Double, Type::Float) => Values::WidenedFloat(Vec::new()),
        (TypeKind::Decimal { precision, scale }, _) => {
            return Ok(decimal(written, *precision, *scale));
        }
        (TypeKind::Timestamp(precision) | TypeKind::LocalZonedTimestamp(precision), _) => {
            return Ok(timestamp(written, *precision, to));
        }
        (kind, _) if kind.is_text() || kind.is_bytes() => {
            return Ok(length(written).map(|bytes| Values::Bytes {
                ends: Vec::new(),
                data: Vec::new(),
                bytes,
            }));
        }
        _ => return Ok(None),
    }))
}

fn length(written: &Type) -> Option<Length> {
    match written {
        Type::Bytes(_) | Type::Text => Some(Length::Stored),
        Type::Fixed(size, _) => Some(Length::Fixed(*size)),
        _ => None,
    }
}

fn decimal(written: &Type, precision: u8, scale: u8) -> Option<Values> {
    let stored_scale = match written {
        Type::Bytes(Meaning::Decimal(stored)) | Type::Fixed(_, Meaning::Decimal(stored)) => *stored,
        Type::Bytes(_) | Type::Fixed(..) => i32::from(scale),
        _ => return None,
    };
    Some(Values::Decimal {
        values: Vec::new(),
        bytes: length(written)?,
        scale: stored_scale,
        rescale: Rescale::new(precision, scale),
    })
}

/// The unit is that of the logical type, else milliseconds or microseconds by the declared precision.
fn timestamp(written: &Type, precision: u8, to: &ArrowType) -> Option<Values> {
    let Type::Long(meaning) = written else {
        return None;
    };
    let stored = match meaning {
        Meaning::Millis => TimeUnit::Millisecond,
        Meaning::Micros => TimeUnit::Microsecond,
        Meaning::Nanos => TimeUnit::Nanosecond,
        _ if precision <= 3 => TimeUnit::Millisecond,
        _ => TimeUnit::Microsecond,
    };
    let ArrowType::Timestamp(unit, _) = to else {
        return None;
    };
    let (from, to) = (per_second(stored), per_second(*unit));
    let scale = match from.cmp(&to) {
        std::cmp::Ordering::Equal => Scale::Same,
        std::cmp::Ordering::Less => Scale::Times(to / from),
        std::cmp::Ordering::Greater => Scale::Per(from / to),
    };
    Some(Values::Timestamp {
        values: Vec::new(),
        scale,
    })
}

/// `None` if the stored type cannot hold the asked one.
fn nested(written: &Type, asked: &DataType, to: &ArrowType) -> Result<Option<Values>> {
    Ok(Some(match (&asked.kind, written, to) {
        (TypeKind::Array(element), Type::Array(item), ArrowType::List(field)) => Values::List {
            offsets: vec![0],
            element: Box::new(column(item, element, field.data_type())?),
            least: item.least_bytes(),
        },
        (
            TypeKind::Vector { element, length },
            Type::Array(item),
            ArrowType::FixedSizeList(field, _),
        ) => Values::Vector {
            length: usize::try_from(*length).unwrap_or(usize::MAX),
            element: Box::new(column(item, element, field.data_type())?),
            least: item.least_bytes(),
        },
        (TypeKind::Map(key, value), _, ArrowType::Map(entries, _)) => {
            return map(written, (key, value), entries);
        }
        (TypeKind::Multiset(element), _, ArrowType::Map(entries, _)) => {
            return map(written, (element, &TypeKind::Int.not_null()), entries);
        }
        (TypeKind::Row(asked), Type::Record(fields), ArrowType::Struct(to)) => {
            if asked.is_empty() {
                return Err(Error::invalid_input("row type without fields"));
            }
            let asked = asked.iter().zip(to);
            Values::Row(row(
                fields,
                asked.map(|(field, to): (&DataField, _)| {
                    (field.name.as_str(), &field.data_type, to.data_type())
                }),
            )?)
        }
        _ => return Ok(None),
    }))
}

/// A map with text for keys, or an array of records of `key` and `value` (TF-082). The bytes of both are the same.
fn map(
    written: &Type,
    asked: (&DataType, &DataType),
    entries: &ArrowField,
) -> Result<Option<Values>> {
    let ArrowType::Struct(to) = entries.data_type() else {
        return Ok(None);
    };
    let [to_key, to_value] = to.as_ref() else {
        return Ok(None);
    };
    let named = |name: &str, data_type: &Type| Field {
        name: name.to_owned(),
        data_type: data_type.clone(),
    };
    let fields = match written {
        Type::Map(value) => vec![named("key", &Type::Text), named("value", value)],
        Type::Array(item) => match item.as_ref() {
            Type::Record(fields) => fields.clone(),
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    let asked = [
        ("key", asked.0, to_key.data_type()),
        ("value", asked.1, to_value.data_type()),
    ];
    Ok(Some(Values::Map {
        offsets: vec![0],
        entries: row(&fields, asked.into_iter())?,
        least: Type::Record(fields).least_bytes(),
    }))
}
