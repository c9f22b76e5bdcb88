//! Values of rows in the kit: single ones as [`Datum`], nested ones as JSON in the encoding of the golden tables.

use std::collections::BTreeMap;

use paimon_meta::{DataType, Datum, Error, Result, TypeKind};
use serde_json::Value;

use crate::json::datum_to_json;

/// One value of a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Null,
    Scalar(Datum),
    /// Array, map, multiset or row, in the form that [`Cell::to_json`] gives.
    Nested(Value),
}

impl Cell {
    /// A value of a type from JSON.
    ///
    /// # Errors
    /// `InvalidInput` if it is none of the type, `Unsupported` for types that the kit does not write.
    pub(crate) fn from_json(value: &Value, data_type: &DataType) -> Result<Self> {
        if value.is_null() {
            return Ok(Self::Null);
        }
        if data_type.kind.is_scalar() {
            return scalar(value, data_type).map(Self::Scalar);
        }
        canonical(value, data_type).map(Self::Nested)
    }

    /// The value as the golden tables show it.
    ///
    /// # Errors
    /// `Internal` if the value has no JSON form.
    pub(crate) fn to_json(&self, data_type: &DataType) -> Result<Value> {
        match self {
            Self::Null => Ok(Value::Null),
            Self::Scalar(datum) => datum_to_json(Some(datum), data_type),
            Self::Nested(value) => Ok(value.clone()),
        }
    }

    /// The single value; `None` for null and for nested values.
    pub(crate) fn datum(&self) -> Option<&Datum> {
        match self {
            Self::Scalar(datum) => Some(datum),
            Self::Null | Self::Nested(_) => None,
        }
    }
}

fn scalar(value: &Value, data_type: &DataType) -> Result<Datum> {
    let number = value.as_i64();
    match (&data_type.kind, value, number) {
        (TypeKind::Date | TypeKind::Time(_), _, Some(number)) => {
            let number = i32::try_from(number).map_err(|_| no_value(value, data_type))?;
            Ok(match data_type.kind {
                TypeKind::Date => Datum::Date(number),
                _ => Datum::Time(number),
            })
        }
        (TypeKind::Timestamp(_) | TypeKind::LocalZonedTimestamp(_), _, Some(millis)) => {
            Ok(Datum::Timestamp { millis, nanos: 0 })
        }
        (_, Value::String(text), _) => Datum::parse(text, data_type),
        (_, Value::Bool(_) | Value::Number(_), _) => Datum::parse(&value.to_string(), data_type),
        _ => Err(no_value(value, data_type)),
    }
}

/// A nested value with all its single values in their one form, maps sorted by the text of their keys.
fn canonical(value: &Value, data_type: &DataType) -> Result<Value> {
    let wrong = || no_value(value, data_type);
    let one =
        |value: &Value, data_type: &DataType| Cell::from_json(value, data_type)?.to_json(data_type);
    if !matches!(
        data_type.kind,
        TypeKind::Array(_) | TypeKind::Map(..) | TypeKind::Multiset(_) | TypeKind::Row(_)
    ) {
        return Err(Error::unsupported(format!(
            "values of type {data_type} in the test kit"
        )));
    }
    let items = value.as_array().ok_or_else(wrong)?;
    let count = TypeKind::Int.not_null();
    let (key, item) = match &data_type.kind {
        TypeKind::Array(element) => {
            let items = items.iter().map(|item| one(item, element));
            return items.collect::<Result<Vec<_>>>().map(Value::from);
        }
        TypeKind::Row(fields) if fields.len() == items.len() => {
            let items = items.iter().zip(fields);
            let items = items.map(|(item, field)| one(item, &field.data_type));
            return items.collect::<Result<Vec<_>>>().map(Value::from);
        }
        TypeKind::Map(key, value) => (key.as_ref(), value.as_ref()),
        TypeKind::Multiset(element) => (element.as_ref(), &count),
        _ => return Err(wrong()),
    };
    let mut entries = BTreeMap::new();
    for entry in items {
        let [k, v] = entry.as_array().map(Vec::as_slice).unwrap_or_default() else {
            return Err(wrong());
        };
        let k = one(k, key)?;
        entries.insert(k.to_string(), Value::from(vec![k, one(v, item)?]));
    }
    Ok(entries.into_values().collect())
}

fn no_value(value: &Value, data_type: &DataType) -> Error {
    Error::invalid_input(format!("{value} is no value of type {data_type}"))
}
