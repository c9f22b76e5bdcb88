//! Changes of a table's schema.

use paimon_meta::DataType;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use super::definition::{type_from_json, type_to_json};

/// One change of a schema; in JSON an array that begins with its name. A column is named by its path: `a`, or `a.b` for
/// the field `b` of the row `a`.
#[derive(Clone, Debug, PartialEq)]
pub enum SchemaChange {
    /// `["add", column, type]`, with `"first"` or `"after x"` behind it: a new column, at the end without a place.
    Add {
        /// Path of the column.
        column: String,
        /// Its type.
        data_type: DataType,
        /// Where it comes.
        place: Option<ColumnPlace>,
    },
    /// `["drop", column]`.
    Drop {
        /// Path of the column.
        column: String,
    },
    /// `["rename", column, name]`.
    Rename {
        /// Path of the column.
        column: String,
        /// Its new name.
        name: String,
    },
    /// `["type", column, type]`: nullability stays.
    Type {
        /// Path of the column.
        column: String,
        /// Its new type.
        data_type: DataType,
    },
    /// `["nullability", column, nullable]`.
    Nullability {
        /// Path of the column.
        column: String,
        /// Whether it may be null.
        nullable: bool,
    },
    /// `["move_first", column]` or `["move_after", column, other]`.
    Move {
        /// Name of the column.
        column: String,
        /// Where it comes.
        place: ColumnPlace,
    },
    /// `["default", column, text]`.
    Default {
        /// Path of the column.
        column: String,
        /// The default that writers put in.
        value: String,
    },
    /// `["set", option, value]`.
    Set {
        /// Key of the option.
        key: String,
        /// Its value.
        value: String,
    },
    /// `["unset", option]`.
    Unset {
        /// Key of the option.
        key: String,
    },
}

/// Where a column comes among the others of its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnPlace {
    /// Before all others.
    First,
    /// Behind the column of this name.
    After(String),
}

impl Serialize for SchemaChange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let to_json = |data_type| type_to_json(data_type).map_err(serde::ser::Error::custom);
        let parts = match self {
            Self::Add {
                column,
                data_type,
                place,
            } => {
                let mut parts = json!(["add", column, to_json(data_type)?]);
                let place = match place {
                    None => None,
                    Some(ColumnPlace::First) => Some("first".to_owned()),
                    Some(ColumnPlace::After(other)) => Some(format!("after {other}")),
                };
                if let (Some(list), Some(place)) = (parts.as_array_mut(), place) {
                    list.push(Value::from(place));
                }
                parts
            }
            Self::Drop { column } => json!(["drop", column]),
            Self::Rename { column, name } => json!(["rename", column, name]),
            Self::Type { column, data_type } => json!(["type", column, to_json(data_type)?]),
            Self::Nullability { column, nullable } => json!(["nullability", column, nullable]),
            Self::Move { column, place } => match place {
                ColumnPlace::First => json!(["move_first", column]),
                ColumnPlace::After(other) => json!(["move_after", column, other]),
            },
            Self::Default { column, value } => json!(["default", column, value]),
            Self::Set { key, value } => json!(["set", key, value]),
            Self::Unset { key } => json!(["unset", key]),
        };
        parts.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SchemaChange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wrong = |what: String| serde::de::Error::custom(what);
        let parts = Vec::<Value>::deserialize(deserializer)?;
        let parsed = parse(&parts).map_err(|error| wrong(error.to_string()))?;
        parsed.ok_or_else(|| wrong(format!("unknown schema change {}", Value::from(parts))))
    }
}

/// `None` if it is no change that is known.
fn parse(parts: &[Value]) -> serde_json::Result<Option<SchemaChange>> {
    let [Value::String(name), subject, rest @ ..] = parts else {
        return Ok(None);
    };
    let Some(column) = path(subject) else {
        return Ok(None);
    };
    Ok(match (name.as_str(), rest) {
        ("add", [data_type]) => Some(SchemaChange::Add {
            column,
            data_type: type_from_json(data_type)?,
            place: None,
        }),
        ("add", [data_type, Value::String(place)]) => {
            let after = place
                .strip_prefix("after ")
                .or_else(|| place.strip_prefix("after:"));
            let place = match after {
                Some(other) => ColumnPlace::After(other.to_owned()),
                None if place == "first" => ColumnPlace::First,
                None => return Ok(None),
            };
            Some(SchemaChange::Add {
                column,
                data_type: type_from_json(data_type)?,
                place: Some(place),
            })
        }
        ("type", [data_type]) => Some(SchemaChange::Type {
            column,
            data_type: type_from_json(data_type)?,
        }),
        (name, rest) => parse_plain(name, column, rest),
    })
}

/// Changes without a type.
fn parse_plain(name: &str, column: String, rest: &[Value]) -> Option<SchemaChange> {
    Some(match (name, rest) {
        ("drop", []) => SchemaChange::Drop { column },
        ("rename", [Value::String(name)]) => SchemaChange::Rename {
            column,
            name: name.clone(),
        },
        ("nullability", [Value::Bool(nullable)]) => SchemaChange::Nullability {
            column,
            nullable: *nullable,
        },
        ("move_first", []) => SchemaChange::Move {
            column,
            place: ColumnPlace::First,
        },
        ("move_after", [Value::String(other)]) => SchemaChange::Move {
            column,
            place: ColumnPlace::After(other.clone()),
        },
        ("default", [Value::String(value)]) => SchemaChange::Default {
            column,
            value: value.clone(),
        },
        ("set", [Value::String(value)]) => SchemaChange::Set {
            key: column,
            value: value.clone(),
        },
        ("unset", []) => SchemaChange::Unset { key: column },
        _ => return None,
    })
}

/// A path as text, or as the array of its names.
fn path(json: &Value) -> Option<String> {
    match json {
        Value::String(path) => Some(path.clone()),
        Value::Array(names) => {
            let names: Option<Vec<&str>> = names.iter().map(Value::as_str).collect();
            Some(names?.join("."))
        }
        _ => None,
    }
}
