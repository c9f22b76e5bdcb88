//! Conditions as JSON: `["=", column, value]`, `["and", ..]` and so on.

use paimon_meta::{
    CompareOp, DataField, DataType, Datum, Error, LikePattern, Predicate, Result, TablePredicate,
};
use serde_json::Value;

/// The predicate of a condition over these columns. Literals are in the golden tables' JSON form of the column's type.
///
/// # Errors
/// `InvalidInput` if the condition is malformed, names no column, or a literal is none of its column's type.
pub fn filter_to_predicate(filter: &Value, fields: &[DataField]) -> Result<TablePredicate> {
    let malformed = || Error::invalid_input(format!("no condition: {filter}"));
    let parts = filter.as_array().ok_or_else(malformed)?;
    let (operator, arguments) = parts.split_first().ok_or_else(malformed)?;
    let operator = operator.as_str().ok_or_else(malformed)?;
    let children = || {
        arguments
            .iter()
            .map(|part| filter_to_predicate(part, fields))
    };
    match operator {
        "and" => return Ok(Predicate::and(children().collect::<Result<Vec<_>>>()?)),
        "or" => return Ok(Predicate::or(children().collect::<Result<Vec<_>>>()?)),
        _ => {}
    }
    let (column, literals) = arguments.split_first().ok_or_else(malformed)?;
    let name = column.as_str().ok_or_else(malformed)?;
    let field = fields
        .iter()
        .find(|field| field.name == name)
        .ok_or_else(|| Error::invalid_input(format!("no column {name:?} for {filter}")))?;
    leaf(operator, field, literals)?.ok_or_else(malformed)
}

/// `None` for an unknown operator or a wrong number of literals.
fn leaf(operator: &str, field: &DataField, literals: &[Value]) -> Result<Option<TablePredicate>> {
    let (column, data_type) = (field.id, field.data_type.clone());
    Ok(Some(match (operator, literals) {
        ("is_null", []) => Predicate::is_null(column, data_type),
        ("is_not_null", []) => Predicate::is_not_null(column, data_type),
        ("between", [low, high]) => Predicate::and([
            compare(field, CompareOp::GtEq, low)?,
            compare(field, CompareOp::LtEq, high)?,
        ]),
        ("in" | "not_in", [Value::Array(list)]) => {
            let list = list.iter().map(|value| literal(value, &data_type));
            let found =
                Predicate::is_in(column, data_type.clone(), list.collect::<Result<Vec<_>>>()?);
            if operator == "in" {
                found
            } else {
                found.negate()
            }
        }
        ("starts_with", [Value::String(text)]) => Predicate::starts_with(column, data_type, text),
        ("ends_with", [Value::String(text)]) => Predicate::ends_with(column, data_type, text),
        ("contains", [Value::String(text)]) => Predicate::contains(column, data_type, text),
        ("like", [Value::String(text)]) => {
            Predicate::like(column, data_type, LikePattern::parse(text, Some('\\'))?)
        }
        (operator, [value]) => match comparison(operator) {
            Some(operator) => compare(field, operator, value)?,
            None => return Ok(None),
        },
        _ => return Ok(None),
    }))
}

fn comparison(operator: &str) -> Option<CompareOp> {
    Some(match operator {
        "=" => CompareOp::Eq,
        "!=" => CompareOp::NotEq,
        "<" => CompareOp::Lt,
        "<=" => CompareOp::LtEq,
        ">" => CompareOp::Gt,
        ">=" => CompareOp::GtEq,
        _ => return None,
    })
}

/// A comparison with null is unknown for every row.
fn compare(field: &DataField, operator: CompareOp, value: &Value) -> Result<TablePredicate> {
    Ok(match literal(value, &field.data_type)? {
        Some(value) => Predicate::compare(field.id, field.data_type.clone(), operator, value),
        None => Predicate::Constant(None),
    })
}

fn literal(value: &Value, data_type: &DataType) -> Result<Option<Datum>> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Datum::parse(text, data_type).map(Some),
        Value::Bool(_) | Value::Number(_) => Datum::parse(&value.to_string(), data_type).map(Some),
        _ => Err(Error::invalid_input(format!("no literal: {value}"))),
    }
}
