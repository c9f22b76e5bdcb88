//! A table as it is created.

use std::collections::BTreeMap;

use paimon_meta::DataType;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Columns, keys and options of a new table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableDefinition {
    /// The columns, in order.
    pub columns: Vec<ColumnDefinition>,
    /// Columns of the primary key, in order; none for an append table.
    #[serde(default)]
    pub primary_key: Vec<String>,
    /// Partition columns, in order.
    #[serde(default)]
    pub partition_by: Vec<String>,
    /// Table options.
    #[serde(default)]
    pub options: BTreeMap<String, String>,
}

/// A column of a new table: `[name, type]`, then a comment or null and a default, if there are any.
///
/// Fields inside a row type have no id in the JSON form: the writer numbers them, as the reference does.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDefinition {
    /// Name.
    pub name: String,
    /// Type and nullability.
    pub data_type: DataType,
    /// Comment.
    pub comment: Option<String>,
    /// Default that writers put in.
    pub default_value: Option<String>,
}

impl ColumnDefinition {
    /// A column without comment and default.
    pub fn new(name: impl Into<String>, data_type: DataType) -> Self {
        Self {
            name: name.into(),
            data_type,
            comment: None,
            default_value: None,
        }
    }
}

impl Serialize for ColumnDefinition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut parts = vec![
            Value::from(self.name.as_str()),
            type_to_json(&self.data_type).map_err(serde::ser::Error::custom)?,
        ];
        if self.comment.is_some() || self.default_value.is_some() {
            parts.push(self.comment.as_deref().map_or(Value::Null, Value::from));
        }
        parts.extend(self.default_value.as_deref().map(Value::from));
        parts.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ColumnDefinition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wrong = |what: String| serde::de::Error::custom(what);
        let parts = Vec::<Value>::deserialize(deserializer)?;
        let (name, data_type, rest) = match parts.as_slice() {
            [Value::String(name), data_type, rest @ ..] if rest.len() <= 2 => {
                (name, data_type, rest)
            }
            _ => {
                return Err(wrong(format!(
                    "column is {}, expected [name, type]",
                    Value::from(parts)
                )));
            }
        };
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Ok(Self {
            name: name.clone(),
            data_type: type_from_json(data_type)
                .map_err(|error| wrong(format!("column {name:?}: {error}")))?,
            comment: rest.first().and_then(text),
            default_value: rest.get(1).and_then(text),
        })
    }
}

/// A type whose row fields have no ids.
pub(super) fn type_to_json(data_type: &DataType) -> serde_json::Result<Value> {
    let mut json = serde_json::to_value(data_type)?;
    each_field(&mut json, &mut |field| {
        field.remove("id");
    });
    Ok(json)
}

/// A type whose row fields have no ids; they get some that nobody may rely on.
pub(super) fn type_from_json(json: &Value) -> serde_json::Result<DataType> {
    let mut json = json.clone();
    let mut next = 0;
    each_field(&mut json, &mut |field| {
        field.insert("id".to_owned(), Value::from(next));
        next += 1;
    });
    serde_json::from_value(json)
}

/// Visits the fields of the row types in a type.
fn each_field(json: &mut Value, visit: &mut impl FnMut(&mut serde_json::Map<String, Value>)) {
    let Value::Object(object) = json else {
        return;
    };
    for (name, member) in object.iter_mut() {
        match (name.as_str(), member) {
            ("fields", Value::Array(fields)) => {
                for field in fields.iter_mut().filter_map(Value::as_object_mut) {
                    visit(field);
                    if let Some(data_type) = field.get_mut("type") {
                        each_field(data_type, visit);
                    }
                }
            }
            ("element" | "key" | "value", inner) => each_field(inner, visit),
            _ => {}
        }
    }
}
