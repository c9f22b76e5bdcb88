//! Predicates as SQL text, for people: explanations and error messages.

use std::fmt;

use crate::predicate::{CompareOp, FilePath, LikePattern, LikeToken, Predicate, Test};

impl<C: fmt::Display> fmt::Display for Predicate<C> {
    /// As a SQL condition; what is nested stands in parentheses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(Some(true)) => f.write_str("TRUE"),
            Self::Constant(Some(false)) => f.write_str("FALSE"),
            Self::Constant(None) => f.write_str("NULL"),
            Self::Leaf(leaf) => {
                write!(f, "{} {}", leaf.column, leaf.test)
            }
            Self::And(parts) => join(parts, " AND ", f),
            Self::Or(parts) => join(parts, " OR ", f),
        }
    }
}

fn join<C: fmt::Display>(
    parts: &[Predicate<C>],
    by: &str,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            f.write_str(by)?;
        }
        match part {
            Predicate::And(_) | Predicate::Or(_) => write!(f, "({part})")?,
            Predicate::Constant(_) | Predicate::Leaf(_) => write!(f, "{part}")?,
        }
    }
    Ok(())
}

impl fmt::Display for Test {
    /// What follows the column: `>= 5`, `IS NULL`, `NOT LIKE 'a%'`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IsNull => f.write_str("IS NULL"),
            Self::IsNotNull => f.write_str("IS NOT NULL"),
            Self::Compare(op, value) => write!(f, "{op} {value}"),
            Self::In {
                values,
                has_null,
                negated,
            } => {
                f.write_str(if *negated { "NOT IN (" } else { "IN (" })?;
                for (index, value) in values.iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    write!(f, "{value}")?;
                }
                match (has_null, values.is_empty()) {
                    (true, false) => f.write_str(", NULL)"),
                    (true, true) => f.write_str("NULL)"),
                    (false, _) => f.write_str(")"),
                }
            }
            Self::Like { pattern, negated } => {
                write!(f, "{}LIKE {pattern}", if *negated { "NOT " } else { "" })
            }
        }
    }
}

impl fmt::Display for CompareOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Eq => "=",
            Self::NotEq => "<>",
            Self::Lt => "<",
            Self::LtEq => "<=",
            Self::Gt => ">",
            Self::GtEq => ">=",
        })
    }
}

impl fmt::Display for LikePattern {
    /// In quotes, with `\` as escape.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("'")?;
        for token in &self.0 {
            match token {
                LikeToken::AnyOne => f.write_str("_")?,
                LikeToken::AnyMany => f.write_str("%")?,
                LikeToken::Literal(text) => {
                    for char in text.chars() {
                        match char {
                            '%' | '_' | '\\' => write!(f, "\\{char}")?,
                            '\'' => f.write_str("''")?,
                            _ => write!(f, "{char}")?,
                        }
                    }
                }
            }
        }
        f.write_str("'")
    }
}

impl fmt::Display for FilePath {
    /// The names with dots between.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}
