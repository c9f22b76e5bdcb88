//! One read through a reader, compared with what the reference answers.

mod plan;
mod sketch;
mod unordered;

use std::collections::BTreeMap;

use paimon_meta::{DataType, Error, ErrorKind};
use serde_json::Value;

use super::case::{GoldenCase, GoldenRead, GoldenRequest};
use super::rows::{canonical, canonical_row, diff_rows};
use crate::json::JsonRow;
use crate::reader::Reader;
use plan::check_plan;
use sketch::check_sketches;
pub(crate) use unordered::in_one_order;

/// The answer of a [`Reader`].
#[derive(Clone, Debug, Default)]
pub struct GoldenRows {
    /// Names of the columns, without the row kind.
    pub columns: Vec<String>,
    /// The rows; their kind comes first if the request [has kinds](GoldenRequest::has_kinds).
    pub rows: Vec<JsonRow>,
}

/// How a read compares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Rows and plan are the reference's, or both fail.
    Same,
    /// Not compared, and why.
    Skipped(&'static str),
    /// Refused as not supported: the feature. Never counts as an expected failure.
    Refused(String),
    /// Wrong, and how.
    Different(String),
}

/// Compares one read of a case by the rules of `golden/README.md`.
pub fn check_read(case: &GoldenCase, read: &GoldenRead, reader: &dyn Reader) -> Verdict {
    let request = &read.request;
    if request.all_levels {
        return Verdict::Skipped("reads of all levels are not part of a table read");
    }
    if request.filter.is_some()
        && matches!(
            request.system_table.as_deref(),
            Some("audit_log" | "binlog")
        )
    {
        return Verdict::Skipped("the reference ignores filters on audit_log and binlog (RP-651)");
    }
    let outcome = check_rows(case, read, reader).and_then(|()| check_plan(case, read, reader));
    match outcome {
        Ok(()) => Verdict::Same,
        Err(Wrong::Failed(error)) => match error.feature() {
            Some(feature) if error.kind() == ErrorKind::Unsupported => {
                Verdict::Refused(feature.to_owned())
            }
            _ => Verdict::Different(format!("fails: {error}")),
        },
        Err(Wrong::Differs(difference)) => Verdict::Different(difference),
    }
}

/// Why a read is not the same.
enum Wrong {
    Failed(Error),
    Differs(String),
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

fn differs(difference: impl Into<String>) -> Wrong {
    Wrong::Differs(difference.into())
}

fn check_rows(case: &GoldenCase, read: &GoldenRead, reader: &dyn Reader) -> Result<(), Wrong> {
    let found = reader.rows(&case.table(), &read.request);
    let expected = match &read.rows {
        Ok(rows) => rows,
        Err(reason) => {
            return match found {
                Err(error) if error.kind() == ErrorKind::Unsupported => Err(error.into()),
                Err(_) => Ok(()),
                Ok(found) => Err(differs(format!(
                    "{} rows, expected a failure: {reason}",
                    found.rows.len()
                ))),
            };
        }
    };
    let mut found = found?;
    if read.request.system_table.is_some() {
        name_table(case, &mut found.rows);
    }
    let names: Vec<&str> = read
        .columns
        .iter()
        .map(|column| column.name.as_str())
        .collect();
    if found.columns != names {
        return Err(differs(format!(
            "columns are {:?}, expected {names:?}",
            found.columns
        )));
    }
    let types: Vec<&DataType> = read
        .columns
        .iter()
        .map(|column| &column.data_type)
        .collect();
    let width = types.len() + usize::from(read.request.has_kinds());
    if let Some(row) = found.rows.iter().find(|row| row.len() != width) {
        return Err(differs(format!(
            "row of {} values, expected {width}",
            row.len()
        )));
    }
    if let Some(limit) = read.request.limit {
        return check_limit(case, read, limit, &found.rows, expected);
    }
    if !read.request.decode.is_empty() {
        return check_sketches(read, reader, &found.rows, expected);
    }
    let (wanted, rows) = (
        in_one_order(case, read, expected),
        in_one_order(case, read, &found.rows),
    );
    if let Some(diff) = diff_rows(&types, &wanted, &rows) {
        return Err(differs(diff.to_string()));
    }
    check_order(case, read, &found.rows, expected)
}

/// Paths inside the table begin with `{table}`, wherever it is.
fn name_table(case: &GoldenCase, rows: &mut [JsonRow]) {
    let table = case.table().display().to_string();
    for value in rows.iter_mut().flatten() {
        if let Value::String(text) = value
            && let Some(rest) = text.strip_prefix(&table)
        {
            *text = format!("{{table}}{rest}");
        }
    }
}

/// Under a limit: min(limit, all) rows out of the rows without it. Where no read of the case has those, they are the
/// rows of the splits that the reference's own limit left.
fn check_limit(
    case: &GoldenCase,
    read: &GoldenRead,
    limit: u64,
    found: &[JsonRow],
    expected: &[JsonRow],
) -> Result<(), Wrong> {
    let without = |request: &GoldenRequest| GoldenRequest {
        limit: None,
        any_of: false,
        ..request.clone()
    };
    let unlimited = case.reads.iter().find(|other| {
        other.request.limit.is_none() && without(&other.request) == without(&read.request)
    });
    let all = unlimited
        .and_then(|read| read.rows.as_ref().ok())
        .map_or(expected, Vec::as_slice);
    let wanted = usize::try_from(limit).unwrap_or(usize::MAX).min(all.len());
    if found.len() != wanted {
        return Err(differs(format!(
            "{} rows under limit {limit}, expected {wanted}",
            found.len()
        )));
    }
    let types: Vec<&DataType> = read
        .columns
        .iter()
        .map(|column| &column.data_type)
        .collect();
    match diff_rows(&types, all, found) {
        Some(diff) if !diff.extra.is_empty() => Err(differs(format!(
            "rows that the table does not have: {}",
            diff.extra.join(" ")
        ))),
        _ => Ok(()),
    }
}

/// Rows of one key of a stream or a read with kinds are in the order of the reference.
fn check_order(
    case: &GoldenCase,
    read: &GoldenRead,
    found: &[JsonRow],
    expected: &[JsonRow],
) -> Result<(), Wrong> {
    let request = &read.request;
    if !request.has_kinds() || request.system_table.is_some() || request.any_of {
        return Ok(());
    }
    let position = |name| read.columns.iter().position(|column| column.name == name);
    let key = case.primary_key()?;
    let positions: Option<Vec<usize>> = key.into_iter().map(position).collect();
    let Some(positions) = positions.filter(|positions| !positions.is_empty()) else {
        return Ok(());
    };
    let types: Vec<&DataType> = read
        .columns
        .iter()
        .map(|column| &column.data_type)
        .collect();
    let by_key = |rows: &[JsonRow]| {
        let mut keys: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
        for row in rows {
            let cell = |at: &usize| Some(canonical(row.get(at + 1)?, types.get(*at)?));
            let key = positions
                .iter()
                .map(|at| cell(at).unwrap_or_default())
                .collect();
            keys.entry(key)
                .or_default()
                .push(canonical_row(row, &types));
        }
        keys
    };
    let (found, expected) = (by_key(found), by_key(expected));
    match found
        .iter()
        .find(|(key, rows)| expected.get(*key) != Some(rows))
    {
        None => Ok(()),
        Some((key, rows)) => Err(differs(format!(
            "order of key {key:?} is {rows:?}, expected {:?}",
            expected.get(key)
        ))),
    }
}
