//! Types and fields in schema JSON: a text for scalars, an object for the others. Facts: table-format section 2.2.

use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::schema::{DataField, FieldId};
use crate::types::parse::{parse_type, vector_of};
use crate::types::{DataType, TypeKind};

/// Deepest nesting of types that is read, so that a hostile schema cannot exhaust the stack.
const MAX_DEPTH: usize = 100;

impl Serialize for DataType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let name = match &self.kind {
            TypeKind::Array(_) => "ARRAY",
            TypeKind::Vector { .. } => "VECTOR",
            TypeKind::Multiset(_) => "MULTISET",
            TypeKind::Map(..) => "MAP",
            TypeKind::Row(_) => "ROW",
            _ => return serializer.collect_str(self),
        };
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry(
            "type",
            &format_args!("{name}{}", if self.nullable { "" } else { " NOT NULL" }),
        )?;
        match &self.kind {
            TypeKind::Array(element) | TypeKind::Multiset(element) => {
                object.serialize_entry("element", element)?;
            }
            TypeKind::Vector { element, length } => {
                object.serialize_entry("element", element)?;
                object.serialize_entry("length", length)?;
            }
            TypeKind::Map(key, value) => {
                object.serialize_entry("key", key)?;
                object.serialize_entry("value", value)?;
            }
            TypeKind::Row(fields) => object.serialize_entry("fields", fields)?,
            _ => {}
        }
        object.end()
    }
}

impl<'de> Deserialize<'de> for DataType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        type_of(&value, 0).map_err(|error| serde::de::Error::custom(error.message()))
    }
}

impl<'de> Deserialize<'de> for DataField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        field_of(&value, 0).map_err(|error| serde::de::Error::custom(error.message()))
    }
}

fn type_of(value: &Value, depth: usize) -> Result<DataType> {
    let object = match value {
        Value::String(text) => return parse_type(text),
        Value::Object(object) => object,
        other => {
            return Err(Error::invalid_input(format!(
                "type is {other}, expected a text or an object"
            )));
        }
    };
    if depth == MAX_DEPTH {
        return Err(Error::invalid_input(format!(
            "type is nested more than {MAX_DEPTH} deep"
        )));
    }
    let inner = |name: &str| type_of(member(object, name)?, depth + 1);
    let name = text(object, "type")?;
    let kind = if name.starts_with("ARRAY") {
        TypeKind::Array(Box::new(inner("element")?))
    } else if name.starts_with("VECTOR") {
        let length = member(object, "length")?;
        let length = length
            .as_u64()
            .and_then(|length| u32::try_from(length).ok())
            .ok_or_else(|| {
                Error::invalid_input(format!(
                    "length of a vector type is {length}, expected a 32-bit number"
                ))
            })?;
        vector_of(inner("element")?, length)?
    } else if name.starts_with("MULTISET") {
        TypeKind::Multiset(Box::new(inner("element")?))
    } else if name.starts_with("MAP") {
        TypeKind::Map(Box::new(inner("key")?), Box::new(inner("value")?))
    } else if name.starts_with("ROW") {
        let Value::Array(fields) = member(object, "fields")? else {
            return Err(Error::invalid_input("fields of a row type are no array"));
        };
        TypeKind::Row(
            fields
                .iter()
                .map(|field| field_of(field, depth + 1))
                .collect::<Result<_>>()?,
        )
    } else {
        return Err(Error::invalid_input(format!("no nested type {name:?}")));
    };
    // TF-027: the text of the member says it, nothing else.
    Ok(DataType {
        kind,
        nullable: !name.contains("NOT NULL"),
    })
}

fn field_of(value: &Value, depth: usize) -> Result<DataField> {
    let Value::Object(object) = value else {
        return Err(Error::invalid_input(format!(
            "field is {value}, expected an object"
        )));
    };
    let name = text(object, "name")?;
    let id = member(object, "id")?;
    let id = id
        .as_i64()
        .and_then(|id| i32::try_from(id).ok())
        .ok_or_else(|| {
            Error::invalid_input(format!(
                "id of field {name:?} is {id}, expected a 32-bit number"
            ))
        })?;
    let optional = |name| object.get(name).and_then(Value::as_str).map(str::to_owned);
    Ok(DataField {
        id: FieldId(id),
        name: name.to_owned(),
        data_type: type_of(member(object, "type")?, depth).map_err(|error| {
            Error::invalid_input(format!("field {name:?}: {}", error.message()))
        })?,
        description: optional("description"),
        default_value: optional("defaultValue"),
    })
}

fn member<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a Value> {
    object
        .get(name)
        .ok_or_else(|| Error::invalid_input(format!("missing member `{name}`")))
}

fn text<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a str> {
    member(object, name)?
        .as_str()
        .ok_or_else(|| Error::invalid_input(format!("member `{name}` is no text")))
}
