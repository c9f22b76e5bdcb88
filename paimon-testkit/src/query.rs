//! What is asked of a table, and the plain answer: every row is looked at.

use std::cmp::Ordering;

use paimon_meta::{DataField, Datum, Error, Result, TablePredicate};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cell::Cell;
use crate::golden::filter_to_predicate;
use crate::json::JsonRow;

/// A question: columns, condition, limit, in the form of the golden tables.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Query {
    /// Names of the columns in order; all without.
    pub columns: Option<Vec<String>>,
    /// Condition, such as `["and", ["=", "k", 1], ["is_null", "v"]]`.
    pub filter: Option<Value>,
    /// At most so many rows.
    pub limit: Option<u64>,
}

impl Query {
    /// The condition as a reader takes it.
    ///
    /// # Errors
    /// `InvalidInput` if it names no column, or a literal is none of its column's type.
    pub fn predicate(&self, fields: &[DataField]) -> Result<Option<TablePredicate>> {
        let filter = self.filter.as_ref();
        filter
            .map(|filter| filter_to_predicate(filter, fields))
            .transpose()
    }

    /// Of rows with all columns, those for which the condition is true.
    ///
    /// # Errors
    /// `InvalidInput` if the condition is none, or a value is none of its column's type.
    pub fn matching(&self, fields: &[DataField], rows: &[JsonRow]) -> Result<Vec<JsonRow>> {
        let mut kept = Vec::new();
        for row in rows {
            if holds(self.filter.as_ref(), fields, row)? {
                kept.push(row.clone());
            }
        }
        Ok(kept)
    }

    /// Of rows with all columns, the columns asked for.
    ///
    /// # Errors
    /// `InvalidInput` for a name that is no column.
    pub fn projected(&self, fields: &[DataField], rows: &[JsonRow]) -> Result<Vec<JsonRow>> {
        let Some(columns) = &self.columns else {
            return Ok(rows.to_vec());
        };
        let places = columns.iter().map(|name| Ok(place(fields, name)?.0));
        let places = places.collect::<Result<Vec<_>>>()?;
        let row = |row: &JsonRow| places.iter().map(|at| value(row, *at).clone()).collect();
        Ok(rows.iter().map(row).collect())
    }

    /// The answer for rows with all columns, in their order and without the limit.
    ///
    /// # Errors
    /// Those of [`Self::matching`] and [`Self::projected`].
    pub fn answer(&self, fields: &[DataField], rows: &[JsonRow]) -> Result<Vec<JsonRow>> {
        self.projected(fields, &self.matching(fields, rows)?)
    }
}

/// Whether a condition is true for a row with all columns, as it is for all without one.
///
/// # Errors
/// As [`Query::matching`].
pub(crate) fn holds(filter: Option<&Value>, fields: &[DataField], row: &JsonRow) -> Result<bool> {
    match filter {
        None => Ok(true),
        Some(filter) => Ok(truth(filter, fields, row)? == Some(true)),
    }
}

fn place<'a>(fields: &'a [DataField], name: &str) -> Result<(usize, &'a DataField)> {
    let mut fields = fields.iter().enumerate();
    let found = fields.find(|(_, field)| field.name == name);
    found.ok_or_else(|| Error::invalid_input(format!("no column {name:?}")))
}

fn value(row: &JsonRow, at: usize) -> &Value {
    row.get(at).unwrap_or(&Value::Null)
}

/// Whether a condition holds, `None` is unknown (SQL's three values).
fn truth(filter: &Value, fields: &[DataField], row: &JsonRow) -> Result<Option<bool>> {
    let wrong = || Error::invalid_input(format!("no condition: {filter}"));
    let parts = filter.as_array().map(Vec::as_slice).unwrap_or_default();
    let [Value::String(operator), arguments @ ..] = parts else {
        return Err(wrong());
    };
    if let "and" | "or" = operator.as_str() {
        let decisive = operator == "or";
        let mut all = Some(!decisive);
        for part in arguments {
            match truth(part, fields, row)? {
                Some(value) if value == decisive => return Ok(Some(decisive)),
                Some(_) => {}
                None => all = None,
            }
        }
        return Ok(all);
    }
    test(operator, arguments, fields, row)?.ok_or_else(wrong)
}

/// What a condition on one column gives; `None` if it is none.
fn test(
    operator: &str,
    arguments: &[Value],
    fields: &[DataField],
    row: &JsonRow,
) -> Result<Option<Option<bool>>> {
    let [Value::String(column), literals @ ..] = arguments else {
        return Ok(None);
    };
    let (at, field) = place(fields, column)?;
    let cell = Cell::from_json(value(row, at), &field.data_type)?;
    let literal = |value: &Value| Cell::from_json(value, &field.data_type);
    let found = cell.datum();
    Ok(Some(match (operator, literals) {
        ("is_null", []) => Some(cell == Cell::Null),
        ("is_not_null", []) => Some(cell != Cell::Null),
        ("between", [from, to]) => {
            let (from, to) = (literal(from)?, literal(to)?);
            both(
                order(found, &from).map(Ordering::is_ge),
                order(found, &to).map(Ordering::is_le),
            )
        }
        ("in" | "not_in", [Value::Array(values)]) => {
            let values = values
                .iter()
                .map(|value| Ok(order(found, &literal(value)?)));
            let orders = values.collect::<Result<Vec<_>>>()?;
            let found = if orders.contains(&Some(Ordering::Equal)) {
                Some(true)
            } else if orders.contains(&None) {
                None
            } else {
                Some(false)
            };
            found.map(|found| found == (operator == "in"))
        }
        (operator, [value]) => {
            let order = order(found, &literal(value)?);
            let test = match operator {
                "=" => Ordering::is_eq,
                "!=" => Ordering::is_ne,
                "<" => Ordering::is_lt,
                "<=" => Ordering::is_le,
                ">" => Ordering::is_gt,
                ">=" => Ordering::is_ge,
                _ => return Ok(None),
            };
            order.map(test)
        }
        _ => return Ok(None),
    }))
}

fn both(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

/// `None` if one of both is null.
fn order(value: Option<&Datum>, literal: &Cell) -> Option<Ordering> {
    value?.compare(literal.datum()?)
}
