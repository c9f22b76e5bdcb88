//! Conditions as SQL text, `--where`, to predicates on a table's columns.
//!
//! ```text
//! condition := condition AND condition │ condition OR condition │ NOT condition │ ( condition )
//!            │ column op literal │ literal op column              op: = <> != < <= > >=
//!            │ column [NOT] IN (literal, …) │ column [NOT] BETWEEN literal AND literal
//!            │ column [NOT] LIKE text [ESCAPE 'c'] │ column IS [NOT] NULL
//!            │ column of type BOOLEAN │ TRUE │ FALSE │ NULL
//! literal   := 5 │ -1.5 │ 1e3 │ 'text' │ TRUE │ NULL │ X'00ff' │ DATE '…' │ TIME '…' │ TIMESTAMP '…' │ CAST(literal AS type)
//! ```
//!
//! Names are case sensitive; they stand bare, in double quotes or in backquotes. A literal is taken for a value of the
//! column's type. A number that the type cannot hold is compared as the number it is: `tiny < 1000` holds for every
//! value, and stays unknown for null.

mod column;
mod decimal;
mod literal;
mod place;

use paimon_meta::{CompareOp, Error, Predicate, Result, TablePredicate, TableSchema};
use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator, Value};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use column::Column;
use literal::Literal;

/// Tokens that may follow each other, in all open parentheses together, without a comma. The parser's tree is at most
/// as deep, and dropping a tree takes stack; text that a person or a program writes stays far below.
const MAX_TOKENS_WITHOUT_COMMA: usize = 10_000;

/// A condition as it was typed.
#[derive(Clone, Debug)]
pub(crate) struct Condition(Expr);

impl Condition {
    /// Reads SQL text.
    ///
    /// # Errors
    /// `InvalidInput` for text that is no SQL.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let tokens = Tokenizer::new(&GenericDialect {}, text)
            .tokenize_with_location()
            .map_err(|error| Error::invalid_input(format!("condition: {error}")))?;
        if longest_run(&tokens) > MAX_TOKENS_WITHOUT_COMMA {
            return Err(Error::invalid_input("the condition is too long")
                .with_hint("use IN for many values"));
        }
        let mut parser = Parser::new(&GenericDialect {}).with_tokens_with_locations(tokens);
        let expr = parser.parse_expr().map_err(syntax_error)?;
        let rest = parser.peek_token_ref();
        if rest.token != Token::EOF {
            return Err(Error::invalid_input(format!(
                "condition: unexpected {}{}",
                rest.token, rest.span.start
            )));
        }
        Ok(Self(expr))
    }

    /// The condition on the columns of a table.
    ///
    /// # Errors
    /// `InvalidInput` for a column that the table does not have and a literal that is no value for its column;
    /// `Unsupported` for SQL that is no such condition, naming what it is.
    pub(crate) fn on(self, schema: &TableSchema) -> Result<TablePredicate> {
        convert(self.0, schema)
    }
}

fn syntax_error(error: ParserError) -> Error {
    Error::invalid_input(match error {
        ParserError::TokenizerError(message) | ParserError::ParserError(message) => {
            format!("condition: {message}")
        }
        ParserError::RecursionLimitExceeded => "condition: nested too deep".to_owned(),
    })
}

/// The largest number of tokens since the last comma, summed over open parentheses.
fn longest_run(tokens: &[TokenWithSpan]) -> usize {
    let (mut open, mut total, mut longest) = (vec![0_usize], 0, 0);
    for token in tokens {
        match &token.token {
            Token::Whitespace(_) => continue,
            Token::LParen => open.push(0),
            Token::RParen => {
                total -= if open.len() > 1 {
                    open.pop().unwrap_or(0)
                } else {
                    0
                }
            }
            Token::Comma => total -= open.last_mut().map_or(0, std::mem::take),
            _ => {}
        }
        total += 1;
        longest = longest.max(total);
        if let Some(here) = open.last_mut() {
            *here += 1;
        }
    }
    longest
}

fn convert(expr: Expr, schema: &TableSchema) -> Result<TablePredicate> {
    match expr {
        Expr::Nested(inner) => convert(*inner, schema),
        Expr::UnaryOp {
            op: UnaryOperator::Not,
            expr,
        } => convert(*expr, schema).map(Predicate::negate),
        Expr::BinaryOp {
            left,
            op: op @ (BinaryOperator::And | BinaryOperator::Or),
            right,
        } => {
            let parts = operands(*left, &op, *right)
                .into_iter()
                .map(|part| convert(part, schema))
                .collect::<Result<Vec<_>>>()?;
            Ok(match op {
                BinaryOperator::And => Predicate::and(parts),
                _ => Predicate::or(parts),
            })
        }
        Expr::BinaryOp { left, op, right } => comparison(&left, &op, &right, schema),
        Expr::Between {
            expr,
            negated,
            low,
            high,
        } => {
            let between = Column::of(&expr, schema)?.between(&low, &high)?;
            Ok(negate_if(negated, between))
        }
        Expr::InList {
            expr,
            list,
            negated,
        } => {
            let is_in = Column::of(&expr, schema)?.is_in(&list)?;
            Ok(negate_if(negated, is_in))
        }
        Expr::Like {
            negated,
            any: false,
            expr,
            pattern,
            escape_char,
        } => {
            let like = Column::of(&expr, schema)?.like(&pattern, escape_char.as_ref())?;
            Ok(negate_if(negated, like))
        }
        Expr::IsNull(expr) => Column::of(&expr, schema).map(|column| column.is_null()),
        Expr::IsNotNull(expr) => Column::of(&expr, schema).map(|column| column.is_null().negate()),
        Expr::Identifier(_) => Column::of(&expr, schema)?.holds(),
        Expr::Value(value) => constant(&value.value),
        other => Err(unsupported(&other)),
    }
}

fn constant(value: &Value) -> Result<TablePredicate> {
    match value {
        Value::Boolean(value) => Ok(Predicate::Constant(Some(*value))),
        Value::Null => Ok(Predicate::Constant(None)),
        other => Err(Error::invalid_input(format!(
            "literal {other} is no condition"
        ))),
    }
}

/// What a chain of one operator joins, in order. Chains lean to the left and may be long.
fn operands(left: Expr, chain: &BinaryOperator, right: Expr) -> Vec<Expr> {
    let mut parts = vec![right];
    let mut next = left;
    loop {
        match next {
            Expr::BinaryOp { left, op, right } if op == *chain => {
                parts.push(*right);
                next = *left;
            }
            first => {
                parts.push(first);
                parts.reverse();
                return parts;
            }
        }
    }
}

fn negate_if(negated: bool, predicate: TablePredicate) -> TablePredicate {
    if negated {
        predicate.negate()
    } else {
        predicate
    }
}

fn comparison(
    left: &Expr,
    op: &BinaryOperator,
    right: &Expr,
    schema: &TableSchema,
) -> Result<TablePredicate> {
    let op = match op {
        BinaryOperator::Eq => CompareOp::Eq,
        BinaryOperator::NotEq => CompareOp::NotEq,
        BinaryOperator::Lt => CompareOp::Lt,
        BinaryOperator::LtEq => CompareOp::LtEq,
        BinaryOperator::Gt => CompareOp::Gt,
        BinaryOperator::GtEq => CompareOp::GtEq,
        other => {
            return Err(Error::unsupported(format!(
                "operator {other} in a condition"
            )));
        }
    };
    match (is_column(left), is_column(right)) {
        (true, true) => Err(Error::unsupported("a comparison of two columns")
            .with_hint("text stands in single quotes")),
        (false, true) => Column::of(right, schema)?.compare(op.swap(), &Literal::of(left)?),
        _ => Column::of(left, schema)?.compare(op, &Literal::of(right)?),
    }
}

fn is_column(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_column(inner),
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => true,
        _ => false,
    }
}

/// SQL that is no condition of the sort above. What is named is short, the expression itself may be long.
fn unsupported(expr: &Expr) -> Error {
    let what = match expr {
        Expr::Function(function) => format!("function {} in a condition", function.name),
        Expr::CompoundIdentifier(_) | Expr::CompoundFieldAccess { .. } => {
            "a path of names in a condition".to_owned()
        }
        Expr::Value(_) | Expr::TypedString(_) => "a literal in place of a column".to_owned(),
        Expr::BinaryOp { op, .. } => format!("operator {op} in a condition"),
        Expr::UnaryOp { op, .. } => format!("operator {op} in a condition"),
        Expr::Subquery(_) | Expr::InSubquery { .. } | Expr::Exists { .. } => {
            "a subquery in a condition".to_owned()
        }
        Expr::Case { .. } => "CASE in a condition".to_owned(),
        Expr::Cast { .. } => "a cast of a column".to_owned(),
        Expr::ILike { .. } => "ILIKE in a condition".to_owned(),
        Expr::IsTrue(_) | Expr::IsNotTrue(_) | Expr::IsFalse(_) | Expr::IsNotFalse(_) => {
            "IS TRUE and IS FALSE in a condition".to_owned()
        }
        Expr::IsUnknown(_) | Expr::IsNotUnknown(_) => "IS UNKNOWN in a condition".to_owned(),
        Expr::IsDistinctFrom(..) | Expr::IsNotDistinctFrom(..) => {
            "IS DISTINCT FROM in a condition".to_owned()
        }
        _ => "an expression of this sort in a condition".to_owned(),
    };
    Error::unsupported(what)
}

#[cfg(test)]
mod tests;
