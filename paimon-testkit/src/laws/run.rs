//! One law for one table.

use std::fs;
use std::path::Path;

use paimon_meta::{DataField, DataType, Error, ErrorKind, Result};
use proptest::test_runner::TestCaseError;

use crate::golden::{GoldenRequest, diff_rows};
use crate::history::History;
use crate::json::JsonRow;
use crate::query::Query;
use crate::reader::Reader;
use crate::strategies::QuerySeed;
use crate::writer::{Layout, write_table};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Law {
    Oracle,
    Filter,
    Projection,
    Count,
    Limit,
}

pub(super) const LAWS: [Law; 5] = [
    Law::Oracle,
    Law::Filter,
    Law::Projection,
    Law::Count,
    Law::Limit,
];

impl Law {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Oracle => "reader_equals_oracle",
            Self::Filter => "filters_may_be_applied_afterwards",
            Self::Projection => "projection_commutes",
            Self::Count => "count_is_the_number_of_rows",
            Self::Limit => "limit_gives_as_many_of_the_right_rows",
        }
    }
}

/// Why a law does not hold for a table, or could not be tried.
enum Wrong {
    Failed(Error),
    Differs(String),
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// A written table and who reads it.
struct Trial<'a> {
    reader: &'a dyn Reader,
    table: &'a Path,
    fields: &'a [DataField],
    /// The right rows, with all columns.
    rows: &'a [JsonRow],
}

/// Whether a law holds for a table; `false` if the reader refuses it.
pub(super) fn prove(
    reader: &dyn Reader,
    directory: &Path,
    law: Law,
    history: &History,
    layout: &Layout,
    query: &QuerySeed,
) -> Result<bool, TestCaseError> {
    let kit = |error: Error| TestCaseError::fail(format!("the kit itself fails: {error}"));
    let written = write_table(history, layout).map_err(kit)?;
    let table = directory.join("table");
    if table.exists() {
        fs::remove_dir_all(&table).map_err(|error| TestCaseError::fail(error.to_string()))?;
    }
    written.save(&table).map_err(kit)?;
    let schema = written.main().and_then(|main| main.schema()).map_err(kit)?;
    let trial = Trial {
        reader,
        table: &table,
        fields: &schema.fields,
        rows: &written.rows().map_err(kit)?,
    };
    let query = query.of(&schema.fields);
    match trial.holds(law, &query) {
        Ok(()) => Ok(true),
        Err(Wrong::Failed(error)) if error.kind() == ErrorKind::Unsupported => Ok(false),
        Err(Wrong::Failed(error)) => {
            Err(told(&format!("the reader fails: {error}"), &query, history))
        }
        Err(Wrong::Differs(what)) => Err(told(&what, &query, history)),
    }
}

fn told(what: &str, query: &Query, history: &History) -> TestCaseError {
    let query = serde_json::to_string(query).unwrap_or_default();
    TestCaseError::fail(format!("{what}\nquery {query}\n{history}"))
}

impl Trial<'_> {
    fn holds(&self, law: Law, query: &Query) -> Result<(), Wrong> {
        let query = match law {
            Law::Limit => Query {
                limit: Some(query.limit.unwrap_or(3)),
                ..query.clone()
            },
            _ => Query {
                limit: None,
                ..query.clone()
            },
        };
        let right = query.answer(self.fields, self.rows)?;
        match law {
            Law::Oracle => self.same(&query, &right, &self.read(&query)?),
            Law::Filter => {
                let all = self.read(&Query::default())?;
                let expected = query.answer(self.fields, &all)?;
                self.same(&query, &expected, &self.read(&query)?)
            }
            Law::Projection => {
                let wide = Query {
                    columns: None,
                    ..query.clone()
                };
                let expected = query.projected(self.fields, &self.read(&wide)?)?;
                self.same(&query, &expected, &self.read(&query)?)
            }
            Law::Count => {
                let none = Query {
                    columns: Some(Vec::new()),
                    ..query
                };
                number(self.read(&none)?.len(), right.len())
            }
            Law::Limit => {
                let found = self.read(&query)?;
                let limit = query.limit.and_then(|limit| usize::try_from(limit).ok());
                number(found.len(), right.len().min(limit.unwrap_or(usize::MAX)))?;
                match diff_rows(&self.types(&query), &right, &found) {
                    Some(diff) if !diff.extra.is_empty() => Err(Wrong::Differs(diff.to_string())),
                    _ => Ok(()),
                }
            }
        }
    }

    fn read(&self, query: &Query) -> Result<Vec<JsonRow>, Wrong> {
        let request = GoldenRequest {
            columns: query.columns.clone(),
            filter: query.filter.clone(),
            limit: query.limit,
            ..GoldenRequest::default()
        };
        let found = self.reader.rows(self.table, &request)?;
        let names = query.columns.clone().unwrap_or_else(|| {
            let fields = self.fields.iter();
            fields.map(|field| field.name.clone()).collect()
        });
        if found.columns == names {
            Ok(found.rows)
        } else {
            Err(Wrong::Differs(format!(
                "columns are {:?}, expected {names:?}",
                found.columns
            )))
        }
    }

    fn same(&self, query: &Query, expected: &[JsonRow], found: &[JsonRow]) -> Result<(), Wrong> {
        match diff_rows(&self.types(query), expected, found) {
            None => Ok(()),
            Some(diff) => Err(Wrong::Differs(diff.to_string())),
        }
    }

    /// Types of the columns of a query's rows.
    fn types(&self, query: &Query) -> Vec<&DataType> {
        let field = |name: &String| self.fields.iter().find(|field| field.name == *name);
        match &query.columns {
            None => self.fields.iter().map(|field| &field.data_type).collect(),
            Some(names) => {
                let fields = names.iter().filter_map(field);
                fields.map(|field| &field.data_type).collect()
            }
        }
    }
}

fn number(found: usize, expected: usize) -> Result<(), Wrong> {
    if found == expected {
        Ok(())
    } else {
        Err(Wrong::Differs(format!("{found} rows, expected {expected}")))
    }
}
