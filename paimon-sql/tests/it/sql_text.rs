//! Conditions of golden tables and of random queries as SQL.

use paimon_meta::{DataField, DataType, StringLayout, TypeKind};
use serde_json::Value;

/// A name in quotes.
pub(crate) fn name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text in quotes.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A condition in the form of the golden tables.
pub(crate) fn condition(filter: &Value, fields: &[DataField]) -> String {
    let parts = filter.as_array().unwrap();
    let operator = parts[0].as_str().unwrap();
    if let "and" | "or" = operator {
        let parts = parts[1..].iter().map(|part| condition(part, fields));
        let between = format!(" {operator} ");
        return format!("({})", parts.collect::<Vec<_>>().join(&between));
    }
    let column = parts[1].as_str().unwrap();
    let field = fields.iter().find(|field| field.name == column);
    let data_type = &field
        .unwrap_or_else(|| panic!("no column {column}"))
        .data_type;
    let column = name(column);
    let value = |at: usize| literal(&parts[at], data_type);
    let list = |at: usize| {
        let values = parts[at].as_array().unwrap().iter();
        let values = values.map(|value| literal(value, data_type));
        values.collect::<Vec<_>>().join(", ")
    };
    let like = |pattern: String| format!("{column} like {}", quoted(&pattern));
    let part = || parts[2].as_str().unwrap();
    match operator {
        "is_null" => format!("{column} is null"),
        "is_not_null" => format!("{column} is not null"),
        "between" => format!("{column} between {} and {}", value(2), value(3)),
        "in" | "not_in" if is_float(data_type) => {
            one_by_one(operator, &column, &parts[2], data_type)
        }
        "in" => format!("{column} in ({})", list(2)),
        "not_in" => format!("{column} not in ({})", list(2)),
        "starts_with" => like(format!("{}%", escaped(part()))),
        "ends_with" => like(format!("%{}", escaped(part()))),
        "contains" => like(format!("%{}%", escaped(part()))),
        "like" => like(part().to_owned()),
        operator => format!("{column} {operator} {}", value(2)),
    }
}

pub(crate) fn is_float(data_type: &DataType) -> bool {
    matches!(data_type.kind, TypeKind::Float | TypeKind::Double)
}

/// A list of floating-point numbers as comparisons: in long lists DataFusion takes zeros of both signs for two values, in
/// short ones and comparisons for one.
fn one_by_one(operator: &str, column: &str, values: &Value, data_type: &DataType) -> String {
    let (compare, between) = match operator {
        "in" => ("=", " or "),
        _ => ("<>", " and "),
    };
    let values = values.as_array().unwrap().iter();
    let values = values.map(|value| format!("{column} {compare} {}", literal(value, data_type)));
    let values: Vec<String> = values.collect();
    format!("({})", values.join(between))
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('%', "\\%")
        .replace('_', "\\_")
}

/// A literal of a type: as people write it where SQL has a way, else cast to the type of the column.
fn literal(value: &Value, data_type: &DataType) -> String {
    let arrow = data_type.to_arrow(StringLayout::View).unwrap();
    match (value, &data_type.kind) {
        (Value::Null, _) => "null".to_owned(),
        (Value::Number(number), kind) if kind.integer_bits().is_some() => number.to_string(),
        (Value::Bool(value), _) => value.to_string(),
        (Value::String(text), TypeKind::Char(_) | TypeKind::VarChar(_)) => quoted(text),
        (Value::String(text), TypeKind::Binary(_) | TypeKind::VarBinary(_)) => format!("X'{text}'"),
        (Value::String(text), TypeKind::Date) => format!("date {}", quoted(text)),
        (Value::String(text), _) => format!("arrow_cast({}, '{arrow}')", quoted(text)),
        (value, _) => format!("arrow_cast('{value}', '{arrow}')"),
    }
}
