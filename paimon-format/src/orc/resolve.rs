//! From an asked column to the columns of the file that hold it. Facts: table-format sections 7.5 and 8.1.

use arrow_schema::{DataType as ArrowType, TimeUnit};
use paimon_meta::{DataField, DataType, Error, Frame, Result, ResultExt, TypeKind};

use super::footer::{Kind, OrcType};
use crate::decimal::Rescale;

/// A column to read, whatever the stripe.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Its number in the file.
    pub(super) column: usize,
    /// The asked type.
    pub(super) to: ArrowType,
    pub(super) shape: Shape,
}

/// How the values of a column are laid out.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Boolean,
    /// Integers of one byte.
    Byte,
    /// Other integers, dates and times.
    Integer,
    Float,
    Double,
    /// Floats that are asked for as doubles.
    WidenedFloat,
    Decimal(Rescale),
    /// In a dictionary or not; whether blanks at the end are cut.
    Text {
        trimmed: bool,
    },
    Bytes,
    /// Wall clocks of the writer's zone.
    Timestamp(TimeUnit),
    Instant(TimeUnit),
    List(Box<Node>),
    Map(Box<[Node; 2]>),
    Row(Vec<(String, Node)>),
}

impl Node {
    /// The numbers of the columns that are read for this one.
    pub(super) fn columns(&self, into: &mut Vec<usize>) {
        into.push(self.column);
        match &self.shape {
            Shape::List(element) => element.columns(into),
            Shape::Map(entry) => entry.iter().for_each(|node| node.columns(into)),
            Shape::Row(children) => children.iter().for_each(|(_, node)| node.columns(into)),
            _ => {}
        }
    }
}

/// A column of the file as `asked`, whose Arrow form is `to`.
///
/// # Errors
/// `Corrupt` if the stored type cannot hold values of the asked one, `Unsupported` for types that ORC files do not have.
pub(super) fn node(
    types: &[OrcType],
    column: usize,
    asked: &DataType,
    to: &ArrowType,
) -> Result<Node> {
    let stored = types
        .get(column)
        .ok_or_else(|| Error::corrupt(format!("schema has no type {column}")))?;
    let shape = match &asked.kind {
        TypeKind::Array(_) | TypeKind::Map(..) | TypeKind::Multiset(_) | TypeKind::Row(_) => {
            nested(types, stored, asked, to)?
        }
        kind => scalar(stored.kind, kind, to)?,
    };
    let shape = shape.ok_or_else(|| {
        let kind = stored.kind;
        Error::corrupt(format!(
            "stored as {kind:?}, which cannot be read as {asked}"
        ))
    })?;
    Ok(Node {
        column,
        to: to.clone(),
        shape,
    })
}

/// `None` if the stored type cannot hold the asked one.
fn scalar(stored: Kind, kind: &TypeKind, to: &ArrowType) -> Result<Option<Shape>> {
    let not_there = |name: &str| Err(Error::unsupported(format!("type {name} in ORC files")));
    Ok(Some(match (kind, stored) {
        (TypeKind::Variant, _) => return not_there("VARIANT"),
        (TypeKind::Blob, _) => return not_there("BLOB"),
        (TypeKind::Geometry(_), _) => return not_there("GEOMETRY"),
        (TypeKind::Geography { .. }, _) => return not_there("GEOGRAPHY"),
        (TypeKind::Vector { .. }, _) => return not_there("VECTOR"),
        (TypeKind::Boolean, Kind::Boolean) => Shape::Boolean,
        (kind, Kind::Byte) if kind.integer_bits().is_some() => Shape::Byte,
        (kind, Kind::Short | Kind::Int | Kind::Long) if kind.integer_bits().is_some() => {
            Shape::Integer
        }
        // TF-086.
        (TypeKind::Time(_), Kind::Int) | (TypeKind::Date, Kind::Date) => Shape::Integer,
        (TypeKind::Float, Kind::Float) => Shape::Float,
        (TypeKind::Double, Kind::Double) => Shape::Double,
        (TypeKind::Double, Kind::Float) => Shape::WidenedFloat,
        (TypeKind::Decimal { precision, scale }, Kind::Decimal) => {
            Shape::Decimal(Rescale::new(*precision, *scale))
        }
        (kind, Kind::String | Kind::Varchar | Kind::Char) if kind.is_text() || kind.is_bytes() => {
            Shape::Text {
                trimmed: stored == Kind::Char,
            }
        }
        (kind, Kind::Binary) if kind.is_text() || kind.is_bytes() => Shape::Bytes,
        (TypeKind::Timestamp(_), Kind::Timestamp) => match to {
            ArrowType::Timestamp(unit, _) => Shape::Timestamp(*unit),
            _ => return Ok(None),
        },
        (TypeKind::LocalZonedTimestamp(_), Kind::TimestampInstant) => match to {
            ArrowType::Timestamp(unit, _) => Shape::Instant(*unit),
            _ => return Ok(None),
        },
        _ => return Ok(None),
    }))
}

/// `None` if the stored type cannot hold the asked one.
fn nested(
    types: &[OrcType],
    stored: &OrcType,
    asked: &DataType,
    to: &ArrowType,
) -> Result<Option<Shape>> {
    let count = TypeKind::Int.not_null();
    let (key, value) = match (&asked.kind, stored.kind, to) {
        (TypeKind::Array(element), Kind::List, ArrowType::List(field)) => {
            let [child] = stored.children.as_slice() else {
                return Ok(None);
            };
            let element = node(types, *child, element, field.data_type())?;
            return Ok(Some(Shape::List(Box::new(element))));
        }
        (TypeKind::Row(asked), Kind::Struct, ArrowType::Struct(_)) => {
            return row(types, stored, asked, to).map(Some);
        }
        (TypeKind::Map(key, value), Kind::Map, _) => (key.as_ref(), value.as_ref()),
        (TypeKind::Multiset(element), Kind::Map, _) => (element.as_ref(), &count),
        _ => return Ok(None),
    };
    let ArrowType::Map(entries, _) = to else {
        return Ok(None);
    };
    let ArrowType::Struct(entry) = entries.data_type() else {
        return Ok(None);
    };
    match (stored.children.as_slice(), entry.as_ref()) {
        ([stored_key, stored_value], [to_key, to_value]) => Ok(Some(Shape::Map(Box::new([
            node(types, *stored_key, key, to_key.data_type())?,
            node(types, *stored_value, value, to_value.data_type())?,
        ])))),
        _ => Ok(None),
    }
}

/// The asked children by name; the others are not read.
fn row(types: &[OrcType], stored: &OrcType, asked: &[DataField], to: &ArrowType) -> Result<Shape> {
    let ArrowType::Struct(fields) = to else {
        return Err(Error::internal(format!("row asked as {to}")));
    };
    if asked.is_empty() {
        return Err(Error::invalid_input("row type without fields"));
    }
    let children = asked.iter().zip(fields).map(|(asked, to)| {
        let here = || Frame::Field(asked.name.clone());
        let position = stored.names.iter().position(|name| *name == asked.name);
        let column = position.and_then(|at| stored.children.get(at));
        let column = column.ok_or_else(|| Error::corrupt("nested field is missing").at(here()))?;
        let child = node(types, *column, &asked.data_type, to.data_type()).at(here)?;
        Ok((asked.name.clone(), child))
    });
    Ok(Shape::Row(children.collect::<Result<_>>()?))
}
