//! Table schemas: fields with ids, keys, options. Facts: table-format sections 2.1 and 2.3.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Frame, Result};
use crate::types::DataType;

/// Id of a field: stable over renames and moves, never given twice in one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FieldId(pub i32);

impl fmt::Display for FieldId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One field of a table or of a nested row.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct DataField {
    /// Stable id.
    pub id: FieldId,
    /// Name; unique in its row, case sensitive.
    pub name: String,
    /// Type and nullability.
    #[serde(rename = "type")]
    pub data_type: DataType,
    /// Comment of the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Default that *writers* put in; readers never use it (TF-032).
    #[serde(rename = "defaultValue", skip_serializing_if = "Option::is_none")]
    pub default_value: Option<String>,
}

/// One schema file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TableSchema {
    /// Version of the file: 1 up to 0.7, 2 for 0.8, 3 now.
    #[serde(default = "version_one")]
    pub version: i32,
    /// Id of the schema, the number in its file name.
    pub id: i64,
    /// Columns, in order.
    pub fields: Vec<DataField>,
    /// Largest id given to any field, dropped and nested ones included; -1 for none.
    pub highest_field_id: i32,
    /// Partition columns, in order.
    pub partition_keys: Vec<String>,
    /// Primary key columns, in declared order; empty for append tables.
    pub primary_keys: Vec<String>,
    /// Options as text.
    pub options: BTreeMap<String, String>,
    /// Comment of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Creation, milliseconds since the epoch; 0 if unknown.
    #[serde(default)]
    pub time_millis: i64,
}

fn version_one() -> i32 {
    1
}

impl TableSchema {
    /// The column of that name.
    ///
    /// # Errors
    /// `InvalidInput` that lists the columns there are.
    pub fn field(&self, name: &str) -> Result<&DataField> {
        self.fields
            .iter()
            .find(|field| field.name == name)
            .ok_or_else(|| {
                let names: Vec<&str> = self
                    .fields
                    .iter()
                    .map(|field| field.name.as_str())
                    .collect();
                Error::invalid_input(format!(
                    "no column {name:?}, the table has {}",
                    names.join(", ")
                ))
                .at(Frame::Column(name.to_owned()))
            })
    }

    /// The column of that id, if this schema has it.
    pub fn field_by_id(&self, id: FieldId) -> Option<&DataField> {
        self.fields.iter().find(|field| field.id == id)
    }

    /// Whether the table has a primary key (merge tree) or not (append).
    pub fn has_primary_key(&self) -> bool {
        !self.primary_keys.is_empty()
    }

    /// Partition columns, in partition order.
    ///
    /// # Errors
    /// `Corrupt` if one of them is no column.
    pub fn partition_fields(&self) -> Result<Vec<&DataField>> {
        self.named(&self.partition_keys, "partitionKeys")
    }

    /// The *trimmed* primary key: primary key columns without partition columns, in declared order (RP-002).
    ///
    /// # Errors
    /// `Corrupt` if one of them is no column.
    pub fn key_fields(&self) -> Result<Vec<&DataField>> {
        let names: Vec<String> = self
            .primary_keys
            .iter()
            .filter(|name| !self.partition_keys.contains(name))
            .cloned()
            .collect();
        self.named(&names, "primaryKeys")
    }

    fn named(&self, names: &[String], member: &str) -> Result<Vec<&DataField>> {
        names
            .iter()
            .map(|name| {
                self.fields
                    .iter()
                    .find(|field| &field.name == name)
                    .ok_or_else(|| {
                        Error::corrupt(format!("{name:?} is not a column"))
                            .at(Frame::Field(member.to_owned()))
                            .at(Frame::Schema(self.id))
                    })
            })
            .collect()
    }
}
