//! Literals as they stand in SQL text, before it is known what column they are for.

use std::fmt;

use paimon_meta::{Datum, Error, Result, parse_type};
use sqlparser::ast::{CastKind, DataType as SqlType, Expr, UnaryOperator, Value, ValueWithSpan};

use super::place::{Place, place};

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Null,
    Boolean(bool),
    /// A number as written, perhaps with a sign, a point and an exponent.
    Number(String),
    /// A binary floating-point number, which only a cast makes.
    Float(f64),
    Text(String),
    /// Hex digits.
    Bytes(String),
    /// `DATE '…'`.
    Date(String),
    /// `TIME '…'`.
    Time(String),
    /// `TIMESTAMP '…'`.
    Timestamp(String),
}

impl Literal {
    /// # Errors
    /// `Unsupported` for an expression that is no literal, `InvalidInput` for a cast that would lose something.
    pub(super) fn of(expr: &Expr) -> Result<Self> {
        match expr {
            Expr::Nested(inner) => Self::of(inner),
            Expr::Value(value) => Self::of_value(value),
            Expr::TypedString(typed) => {
                let text = quoted(&typed.value)?;
                match &typed.data_type {
                    SqlType::Date => Ok(Self::Date(text)),
                    SqlType::Time(..) => Ok(Self::Time(text)),
                    SqlType::Timestamp(..) => Ok(Self::Timestamp(text)),
                    other => Err(Error::unsupported(format!("a literal {other} '…'"))),
                }
            }
            Expr::UnaryOp { op, expr } => Self::of(expr)?.signed(*op),
            Expr::Cast {
                kind: CastKind::Cast,
                expr,
                data_type,
                ..
            } => Self::of(expr)?.cast(data_type),
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => {
                Err(Error::unsupported("a column in place of a literal"))
            }
            other => Err(super::unsupported(other)),
        }
    }

    fn of_value(value: &ValueWithSpan) -> Result<Self> {
        Ok(match &value.value {
            Value::Null => Self::Null,
            Value::Boolean(value) => Self::Boolean(*value),
            Value::Number(text, _) => Self::Number(text.clone()),
            Value::HexStringLiteral(digits) => Self::Bytes(digits.clone()),
            _ => Self::Text(quoted(value)?),
        })
    }

    fn signed(self, op: UnaryOperator) -> Result<Self> {
        match (op, self) {
            (UnaryOperator::Plus, number @ (Self::Number(_) | Self::Float(_) | Self::Null)) => {
                Ok(number)
            }
            (UnaryOperator::Minus, Self::Null) => Ok(Self::Null),
            (UnaryOperator::Minus, Self::Float(value)) => Ok(Self::Float(-value)),
            (UnaryOperator::Minus, Self::Number(text)) => {
                Ok(Self::Number(match text.strip_prefix('-') {
                    Some(positive) => positive.to_owned(),
                    None => format!("-{text}"),
                }))
            }
            (op, literal) => Err(Error::unsupported(format!(
                "operator {op} before {literal}"
            ))),
        }
    }

    /// The value that the type has for this literal, as a literal again.
    fn cast(self, to: &SqlType) -> Result<Self> {
        let data_type = parse_type(&to.to_string())
            .map_err(|_| Error::unsupported(format!("a cast to {to}")))?;
        let value = match place(&self, &data_type)? {
            None => return Ok(Self::Null),
            Some(Place::At(value)) => value,
            Some(_) => {
                return Err(Error::invalid_input(format!(
                    "type {data_type} has no value {self}"
                )));
            }
        };
        Ok(match value {
            Datum::Boolean(value) => Self::Boolean(value),
            Datum::Float(value) => Self::Float(value.into()),
            Datum::Double(value) => Self::Float(value),
            Datum::String(text) => Self::Text(text),
            Datum::Binary(_) => Self::Bytes(value.to_string()),
            Datum::Date(_) => Self::Date(value.to_string()),
            Datum::Time(_) => Self::Time(value.to_string()),
            Datum::Timestamp { .. } => Self::Timestamp(value.to_string()),
            number => Self::Number(number.to_string()),
        })
    }

    /// The text of a text literal, `None` for null.
    pub(super) fn into_text(self) -> Result<Option<String>> {
        match self {
            Self::Null => Ok(None),
            Self::Text(text) => Ok(Some(text)),
            other => Err(Error::invalid_input(format!(
                "expected text, found {other}"
            ))),
        }
    }
}

fn quoted(value: &ValueWithSpan) -> Result<String> {
    match &value.value {
        Value::SingleQuotedString(text) => Ok(text.clone()),
        other => Err(Error::unsupported(format!("literal {other}"))),
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (prefix, text) = match self {
            Self::Null => return f.write_str("NULL"),
            Self::Boolean(value) => return f.write_str(if *value { "TRUE" } else { "FALSE" }),
            Self::Number(text) => return f.write_str(text),
            Self::Float(value) => return write!(f, "{value:?}"),
            Self::Text(text) => ("", text),
            Self::Bytes(digits) => ("X", digits),
            Self::Date(text) => ("DATE ", text),
            Self::Time(text) => ("TIME ", text),
            Self::Timestamp(text) => ("TIMESTAMP ", text),
        };
        write!(f, "{prefix}'{}'", text.replace('\'', "''"))
    }
}
