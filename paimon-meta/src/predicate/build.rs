//! Building and negating predicates.
//!
//! Constructors keep predicates small: nested `AND`s and `OR`s are flattened, constants are folded, a list of one
//! literal is a comparison. Each keeps the meaning for every row, unknown included.

use crate::predicate::{CompareOp, Leaf, LikePattern, LikeToken, Predicate, Test};
use crate::types::DataType;
use crate::value::Datum;

impl<C> Predicate<C> {
    /// `column test`.
    pub fn leaf(column: C, data_type: DataType, test: Test) -> Self {
        Self::Leaf(Leaf {
            column,
            data_type,
            test,
        })
    }

    /// `column op value`.
    pub fn compare(column: C, data_type: DataType, op: CompareOp, value: Datum) -> Self {
        Self::leaf(column, data_type, Test::Compare(op, value))
    }

    /// `column = value`.
    pub fn eq(column: C, data_type: DataType, value: Datum) -> Self {
        Self::compare(column, data_type, CompareOp::Eq, value)
    }

    /// `column <> value`.
    pub fn not_eq(column: C, data_type: DataType, value: Datum) -> Self {
        Self::compare(column, data_type, CompareOp::NotEq, value)
    }

    /// `column < value`.
    pub fn lt(column: C, data_type: DataType, value: Datum) -> Self {
        Self::compare(column, data_type, CompareOp::Lt, value)
    }

    /// `column <= value`.
    pub fn lt_eq(column: C, data_type: DataType, value: Datum) -> Self {
        Self::compare(column, data_type, CompareOp::LtEq, value)
    }

    /// `column > value`.
    pub fn gt(column: C, data_type: DataType, value: Datum) -> Self {
        Self::compare(column, data_type, CompareOp::Gt, value)
    }

    /// `column >= value`.
    pub fn gt_eq(column: C, data_type: DataType, value: Datum) -> Self {
        Self::compare(column, data_type, CompareOp::GtEq, value)
    }

    /// `column BETWEEN low AND high`: both ends belong to it, and nothing does if `low` is above `high`.
    pub fn between(column: C, data_type: DataType, low: Datum, high: Datum) -> Self
    where
        C: Clone,
    {
        Self::And(vec![
            Self::gt_eq(column.clone(), data_type.clone(), low),
            Self::lt_eq(column, data_type, high),
        ])
    }

    /// `column IS NULL`.
    pub fn is_null(column: C, data_type: DataType) -> Self {
        Self::leaf(column, data_type, Test::IsNull)
    }

    /// `column IS NOT NULL`.
    pub fn is_not_null(column: C, data_type: DataType) -> Self {
        Self::leaf(column, data_type, Test::IsNotNull)
    }

    /// `column IN (values)`, `None` being a null literal. `NOT IN` is its [negation](Self::negate).
    ///
    /// Without any literal the test is false, and still unknown where the column is null.
    pub fn is_in(
        column: C,
        data_type: DataType,
        values: impl IntoIterator<Item = Option<Datum>>,
    ) -> Self {
        let mut has_null = false;
        let mut literals: Vec<Datum> = Vec::new();
        for value in values {
            match value {
                Some(value) => literals.push(value),
                None => has_null = true,
            }
        }
        if literals.is_empty() && has_null {
            return Self::Constant(None);
        }
        if literals.len() == 1
            && !has_null
            && let Some(value) = literals.pop()
        {
            return Self::eq(column, data_type, value);
        }
        let test = Test::In {
            values: literals,
            has_null,
            negated: false,
        };
        Self::leaf(column, data_type, test)
    }

    /// `column LIKE pattern`; a pattern without wildcards is a comparison, as in the reference.
    pub fn like(column: C, data_type: DataType, pattern: LikePattern) -> Self {
        match pattern.0.as_slice() {
            [LikeToken::Literal(text)] => Self::eq(column, data_type, Datum::String(text.clone())),
            _ => Self::leaf(
                column,
                data_type,
                Test::Like {
                    pattern,
                    negated: false,
                },
            ),
        }
    }

    /// The text begins with `prefix`.
    pub fn starts_with(column: C, data_type: DataType, prefix: impl Into<String>) -> Self {
        let tokens = vec![LikeToken::Literal(prefix.into()), LikeToken::AnyMany];
        Self::like(column, data_type, LikePattern(tokens))
    }

    /// The text ends with `suffix`.
    pub fn ends_with(column: C, data_type: DataType, suffix: impl Into<String>) -> Self {
        let tokens = vec![LikeToken::AnyMany, LikeToken::Literal(suffix.into())];
        Self::like(column, data_type, LikePattern(tokens))
    }

    /// The text holds `part`.
    pub fn contains(column: C, data_type: DataType, part: impl Into<String>) -> Self {
        let part = LikeToken::Literal(part.into());
        let tokens = vec![LikeToken::AnyMany, part, LikeToken::AnyMany];
        Self::like(column, data_type, LikePattern(tokens))
    }

    /// All of `parts`; true for none. Nested `AND`s become one, in order.
    pub fn and(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Self::Constant(Some(true)) => {}
                Self::Constant(Some(false)) => return Self::Constant(Some(false)),
                Self::And(inner) => match Self::and(inner) {
                    Self::Constant(Some(false)) => return Self::Constant(Some(false)),
                    Self::Constant(Some(true)) => {}
                    Self::And(inner) => kept.extend(inner),
                    other => kept.push(other),
                },
                other => kept.push(other),
            }
        }
        match kept.pop() {
            None => Self::Constant(Some(true)),
            Some(only) if kept.is_empty() => only,
            Some(last) => {
                kept.push(last);
                Self::And(kept)
            }
        }
    }

    /// Any of `parts`; false for none. Nested `OR`s become one, in order.
    pub fn or(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Self::Constant(Some(false)) => {}
                Self::Constant(Some(true)) => return Self::Constant(Some(true)),
                Self::Or(inner) => match Self::or(inner) {
                    Self::Constant(Some(true)) => return Self::Constant(Some(true)),
                    Self::Constant(Some(false)) => {}
                    Self::Or(inner) => kept.extend(inner),
                    other => kept.push(other),
                },
                other => kept.push(other),
            }
        }
        match kept.pop() {
            None => Self::Constant(Some(false)),
            Some(only) if kept.is_empty() => only,
            Some(last) => {
                kept.push(last);
                Self::Or(kept)
            }
        }
    }

    /// `NOT` of this: true where it is false, false where it is true, unknown where it is unknown.
    #[must_use]
    pub fn negate(self) -> Self {
        match self {
            Self::Constant(value) => Self::Constant(value.map(|value| !value)),
            Self::Leaf(leaf) => Self::Leaf(Leaf {
                test: leaf.test.negate(),
                ..leaf
            }),
            Self::And(parts) => Self::or(parts.into_iter().map(Self::negate)),
            Self::Or(parts) => Self::and(parts.into_iter().map(Self::negate)),
        }
    }
}

impl Test {
    fn negate(self) -> Self {
        match self {
            Self::IsNull => Self::IsNotNull,
            Self::IsNotNull => Self::IsNull,
            Self::Compare(op, value) => Self::Compare(op.negate(), value),
            Self::In {
                values,
                has_null,
                negated,
            } => Self::In {
                values,
                has_null,
                negated: !negated,
            },
            Self::Like { pattern, negated } => Self::Like {
                pattern,
                negated: !negated,
            },
        }
    }
}

impl CompareOp {
    /// The operator that is true where this one is false.
    #[must_use]
    pub fn negate(self) -> Self {
        match self {
            Self::Eq => Self::NotEq,
            Self::NotEq => Self::Eq,
            Self::Lt => Self::GtEq,
            Self::LtEq => Self::Gt,
            Self::Gt => Self::LtEq,
            Self::GtEq => Self::Lt,
        }
    }

    /// The operator with its sides exchanged: `5 < k` is `k > 5`.
    #[must_use]
    pub fn swap(self) -> Self {
        match self {
            Self::Lt => Self::Gt,
            Self::LtEq => Self::GtEq,
            Self::Gt => Self::Lt,
            Self::GtEq => Self::LtEq,
            Self::Eq | Self::NotEq => self,
        }
    }
}
