//! What `expected.json` says.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use paimon_meta::{DataField, DataType, Error, Frame, Result, ResultExt, TablePredicate};
use serde::Deserialize;
use serde_json::Value;

use super::GOLDEN;
use super::filter::filter_to_predicate;
use super::split::GoldenSplit;
use super::sql_type::parse_sql_type;
use crate::json::JsonRow;

/// One table of the reference and its answers.
#[derive(Clone, Debug, Deserialize)]
pub struct GoldenCase {
    /// Name of the case and of its folder.
    pub case: String,
    /// What it pins, with RP-, TF- or ME-numbers.
    pub about: String,
    /// Version of the writer.
    pub written_by: String,
    /// How it was made: columns, keys, options, steps.
    pub definition: Value,
    /// The reads, in the order that [`NotYet`](super::NotYet) counts them.
    pub reads: Vec<GoldenRead>,
    /// The case's folder.
    #[serde(skip)]
    folder: PathBuf,
}

impl GoldenCase {
    /// The case of a folder, which holds `expected.json` and `table/`.
    ///
    /// # Errors
    /// `NotFound` if there is no `expected.json`, `Corrupt` if it does not say what the README of `golden/` says.
    pub fn load(folder: &Path) -> Result<Self> {
        let expected = folder.join("expected.json");
        let file = || Frame::File(expected.display().to_string());
        let text = fs::read(&expected)
            .map_err(|error| Error::not_found("cannot read it").with_source(error))
            .at(file)?;
        let case: Self = serde_json::from_slice(&text)
            .map_err(|error| Error::corrupt("it is no golden case").with_source(error))
            .at(file)?;
        Ok(Self {
            folder: folder.to_owned(),
            ..case
        })
    }

    /// All cases of [`GOLDEN`], by name.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn load_all() -> Result<Vec<Self>> {
        Self::load_from(Path::new(GOLDEN))
    }

    /// All cases of a directory, by name.
    ///
    /// # Errors
    /// `NotFound` if it cannot be listed, and as [`Self::load`].
    pub fn load_from(directory: &Path) -> Result<Vec<Self>> {
        let entries = fs::read_dir(directory).map_err(|error| {
            let shown = directory.display();
            Error::not_found(format!("cannot list {shown}")).with_source(error)
        })?;
        let mut folders: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.is_dir())
            .collect();
        folders.sort_unstable();
        folders.iter().map(|folder| Self::load(folder)).collect()
    }

    /// The table's directory.
    pub fn table(&self) -> PathBuf {
        self.folder.join("table")
    }

    /// The names of the primary key's columns in the table's last schema; empty for append tables.
    ///
    /// # Errors
    /// `NotFound` without a schema file, `Corrupt` if it is no schema.
    pub fn primary_key(&self) -> Result<Vec<String>> {
        let folder = self.table().join("schema");
        let wrong = || Error::not_found(format!("no schema in {}", folder.display()));
        let entries = fs::read_dir(&folder).map_err(|error| wrong().with_source(error))?;
        let ids = entries.filter_map(|entry| {
            let name = entry.ok()?.file_name();
            name.to_str()?.strip_prefix("schema-")?.parse::<u64>().ok()
        });
        let last = folder.join(format!("schema-{}", ids.max().ok_or_else(wrong)?));
        let text = fs::read(&last).map_err(|error| wrong().with_source(error))?;
        let schema: Value = serde_json::from_slice(&text)
            .map_err(|error| Error::corrupt("no schema").with_source(error))
            .at(|| Frame::File(last.display().to_string()))?;
        let names = schema.get("primaryKeys").and_then(Value::as_array);
        let names = names.into_iter().flatten().filter_map(Value::as_str);
        Ok(names.map(str::to_owned).collect())
    }
}

/// One read and what the reference answers.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "RawRead")]
pub struct GoldenRead {
    /// What is asked.
    pub request: GoldenRequest,
    /// The splits of each plan: one plan, or several for a stream. `None` where the reference has none to show.
    pub plans: Option<Vec<Vec<GoldenSplit>>>,
    /// The output columns, without the row kind.
    pub columns: Vec<GoldenColumn>,
    /// The rows, or how the reference fails.
    pub rows: Result<Vec<JsonRow>, String>,
    /// The rows again, with the content of sketch columns in place of their bytes.
    pub decoded: Option<Vec<JsonRow>>,
}

/// What is asked of a table.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldenRequest {
    /// Names of the columns; `None` for all.
    pub columns: Option<Vec<String>>,
    /// The condition as JSON, see [`GoldenRequest::predicate`].
    pub filter: Option<Value>,
    /// Dynamic options.
    #[serde(default)]
    pub options: BTreeMap<String, String>,
    /// Table options past validation; `None` removes one.
    #[serde(default)]
    pub raw_options: BTreeMap<String, Option<String>>,
    /// Limit on rows.
    pub limit: Option<u64>,
    /// Partition values as text; may name only some of the partition columns.
    #[serde(default)]
    pub partition: BTreeMap<String, String>,
    /// The only bucket to read.
    pub bucket: Option<i32>,
    /// Branch to read.
    pub branch: Option<String>,
    /// System table to read, by the name behind the `$`.
    pub system_table: Option<String>,
    /// All plans of a stream scan, up to this many.
    pub stream: Option<usize>,
    /// Row kinds come first in each row.
    #[serde(default)]
    pub kinds: bool,
    /// Order and, under a limit, choice of rows are free.
    #[serde(default)]
    pub any_of: bool,
    /// Level 0 is shown too.
    #[serde(default)]
    pub all_levels: bool,
    /// Time zone of the reading process; UTC without.
    pub zone: Option<String>,
    /// Sketch columns and the kind of sketch in them.
    #[serde(default)]
    pub decode: BTreeMap<String, String>,
}

impl GoldenRequest {
    /// Whether each row begins with its kind.
    pub fn has_kinds(&self) -> bool {
        self.kinds || self.stream.is_some()
    }

    /// The condition over the columns of a schema.
    ///
    /// # Errors
    /// `InvalidInput` if it names no column of the schema, or a literal is none of its column's type.
    pub fn predicate(&self, fields: &[DataField]) -> Result<Option<TablePredicate>> {
        self.filter
            .as_ref()
            .map(|filter| filter_to_predicate(filter, fields))
            .transpose()
    }
}

/// An output column.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct GoldenColumn {
    /// Its name.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
}

impl TryFrom<String> for GoldenColumn {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        let (name, data_type) = text
            .split_once(' ')
            .ok_or_else(|| Error::corrupt(format!("column {text:?} has no type")))?;
        Ok(Self {
            name: name.to_owned(),
            data_type: parse_sql_type(data_type)?,
        })
    }
}

/// A read as the file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRead {
    read: GoldenRequest,
    plan: Option<Value>,
    #[serde(default)]
    columns: Vec<GoldenColumn>,
    rows: Option<Vec<JsonRow>>,
    decoded: Option<Vec<JsonRow>>,
    error: Option<String>,
}

impl TryFrom<RawRead> for GoldenRead {
    type Error = String;

    fn try_from(raw: RawRead) -> Result<Self, String> {
        let wrong = |error: serde_json::Error| format!("plan: {error}");
        let plans = match raw.plan {
            None => None,
            Some(plans) if raw.read.stream.is_some() => {
                Some(serde_json::from_value(plans).map_err(wrong)?)
            }
            Some(plan) => Some(vec![serde_json::from_value(plan).map_err(wrong)?]),
        };
        let rows = match (raw.rows, raw.error) {
            (Some(rows), None) => Ok(rows),
            (None, Some(error)) => Err(error),
            _ => return Err("a read has either rows or an error".to_owned()),
        };
        Ok(Self {
            request: raw.read,
            plans,
            columns: raw.columns,
            rows,
            decoded: raw.decoded,
        })
    }
}
