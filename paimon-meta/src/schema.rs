//! Table schemas: fields with ids, keys, options. Facts: table-format sections 2.1 and 2.3.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Frame, Result};
use crate::json;
use crate::types::{DataType, TypeKind};

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
    #[serde(deserialize_with = "json::texts")]
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
    /// A schema from its file, checked: field names are not blank and unique in their row, field ids are unique in the
    /// schema, partition and primary keys are columns, and a primary key has more than partition columns. Options that
    /// old versions took for granted are put in (TF-023, TF-024).
    ///
    /// # Errors
    /// `Corrupt`, naming the member at fault.
    pub fn from_json(bytes: &[u8]) -> Result<Self> {
        let mut schema: Self = json::from_json(bytes)?;
        if schema.version <= 1 {
            schema
                .options
                .entry("bucket".to_owned())
                .or_insert_with(|| "1".to_owned());
        }
        if schema.version <= 2 {
            schema
                .options
                .entry("file.format".to_owned())
                .or_insert_with(|| "orc".to_owned());
        }
        schema.validate()?;
        Ok(schema)
    }

    /// Names of the options in the order of the schema's file; those that old versions took for granted come last.
    ///
    /// # Errors
    /// `Corrupt` if the file is not the one of this schema.
    pub fn option_order(&self, file: &[u8]) -> Result<Vec<String>> {
        #[derive(Deserialize)]
        struct Options {
            #[serde(deserialize_with = "json::members::deserialize")]
            options: Vec<(String, IgnoredAny)>,
        }
        let file: Options = json::from_json(file)?;
        let mut names: Vec<String> = file.options.into_iter().map(|(name, _)| name).collect();
        names.retain(|name| self.options.contains_key(name));
        let absent = self.options.keys().filter(|name| !names.contains(name));
        let absent: Vec<String> = absent.cloned().collect();
        names.extend(absent);
        Ok(names)
    }

    /// The text of a schema file.
    ///
    /// # Errors
    /// `Internal` if there is none.
    pub fn to_json_pretty(&self) -> Result<String> {
        json::to_json(self)
    }

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
        self.named(
            self.partition_keys.iter().map(String::as_str),
            "partitionKeys",
        )
    }

    /// The *trimmed* primary key: primary key columns without partition columns, in declared order (RP-002).
    ///
    /// # Errors
    /// `Corrupt` if one of them is no column.
    pub fn key_fields(&self) -> Result<Vec<&DataField>> {
        let names = self
            .primary_keys
            .iter()
            .filter(|name| !self.partition_keys.contains(name));
        self.named(names.map(String::as_str), "primaryKeys")
    }

    /// The columns that a row's bucket is made of: option `bucket-key`, split at commas and not trimmed (TF-030), or
    /// else the trimmed primary key. None for append tables without the option.
    ///
    /// # Errors
    /// `Corrupt` if one of them is no column, a partition column, or not part of the primary key that there is.
    pub fn bucket_fields(&self) -> Result<Vec<&DataField>> {
        let Some(names) = self
            .options
            .get("bucket-key")
            .filter(|names| !names.trim().is_empty())
        else {
            return self.key_fields();
        };
        let fields = self.named(names.split(','), "options")?;
        let misplaced = fields.iter().find(|field| {
            self.partition_keys.contains(&field.name)
                || self.has_primary_key() && !self.primary_keys.contains(&field.name)
        });
        match misplaced {
            None => Ok(fields),
            Some(field) => {
                let problem = format!(
                    "bucket key {:?} is not in the primary key without partition columns",
                    field.name
                );
                Err(Error::corrupt(problem).at(Frame::Option("bucket-key".to_owned())))
            }
        }
    }

    fn named<'a>(
        &self,
        names: impl Iterator<Item = &'a str>,
        member: &str,
    ) -> Result<Vec<&DataField>> {
        names
            .map(|name| {
                let field = self.fields.iter().find(|field| field.name == name);
                field.ok_or_else(|| fault(member, format!("{name:?} is not a column")))
            })
            .collect()
    }

    fn validate(&self) -> Result<()> {
        validate_row(&self.fields, &mut BTreeSet::new())?;
        self.partition_fields()?;
        self.bucket_fields()?;
        if self.has_primary_key() && self.key_fields()?.is_empty() {
            return Err(fault(
                "primaryKeys",
                "primary key has only partition columns".to_owned(),
            ));
        }
        Ok(())
    }
}

fn fault(member: &str, problem: String) -> Error {
    Error::corrupt(problem).at(Frame::Field(member.to_owned()))
}

/// Checks names and ids of a row and of the rows inside it.
fn validate_row(fields: &[DataField], ids: &mut BTreeSet<FieldId>) -> Result<()> {
    let mut names = BTreeSet::new();
    for field in fields {
        if field.name.trim().is_empty() {
            return Err(fault(
                "fields",
                format!("name of field {} is blank", field.id),
            ));
        }
        if !names.insert(field.name.as_str()) {
            return Err(fault(
                "fields",
                format!("two fields are named {:?}", field.name),
            ));
        }
        if !ids.insert(field.id) {
            return Err(fault(
                "fields",
                format!("field {:?} has id {}, like another", field.name, field.id),
            ));
        }
        validate_type(&field.data_type, ids)?;
    }
    Ok(())
}

fn validate_type(data_type: &DataType, ids: &mut BTreeSet<FieldId>) -> Result<()> {
    match &data_type.kind {
        TypeKind::Row(fields) => validate_row(fields, ids),
        TypeKind::Array(element) | TypeKind::Multiset(element) => validate_type(element, ids),
        TypeKind::Map(key, value) => {
            validate_type(key, ids)?;
            validate_type(value, ids)
        }
        _ => Ok(()),
    }
}
