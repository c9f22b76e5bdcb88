//! Evaluating predicates on single rows: the meaning that every other evaluation keeps.

use std::cmp::Ordering;

use crate::predicate::{CompareOp, Predicate, Test};
use crate::value::Datum;

impl<C> Predicate<C> {
    /// Whether a row satisfies the predicate; `None` is unknown. `value` gives the row's value of a column, `None`
    /// for null.
    pub fn evaluate_row(&self, value: &mut dyn FnMut(&C) -> Option<Datum>) -> Option<bool> {
        match self {
            Self::Constant(constant) => *constant,
            Self::Leaf(leaf) => leaf.test.evaluate(value(&leaf.column).as_ref()),
            Self::And(parts) => kleene(parts, false, value),
            Self::Or(parts) => kleene(parts, true, value),
        }
    }
}

/// `AND` if `decisive` is false, `OR` if it is true: one decisive part decides, else one unknown makes it unknown.
fn kleene<C>(
    parts: &[Predicate<C>],
    decisive: bool,
    value: &mut dyn FnMut(&C) -> Option<Datum>,
) -> Option<bool> {
    let mut result = Some(!decisive);
    for part in parts {
        match part.evaluate_row(value) {
            Some(found) if found == decisive => return Some(decisive),
            Some(_) => {}
            None => result = None,
        }
    }
    result
}

impl Test {
    /// Whether a value passes; `None` is unknown: a null outside the null tests, or a value of another type.
    pub fn evaluate(&self, value: Option<&Datum>) -> Option<bool> {
        match self {
            Self::IsNull => Some(value.is_none()),
            Self::IsNotNull => Some(value.is_some()),
            Self::Compare(op, literal) => Some(op.holds(value?.compare(literal)?)),
            Self::In {
                values,
                has_null,
                negated,
            } => {
                let value = value?;
                let found = values
                    .iter()
                    .any(|literal| value.compare(literal) == Some(Ordering::Equal));
                (found || !has_null).then_some(found != *negated)
            }
            Self::Like { pattern, negated } => match value? {
                Datum::String(text) => Some(pattern.matches(text) != *negated),
                _ => None,
            },
        }
    }
}

impl CompareOp {
    /// Whether `value op literal` holds, given how the value compares to the literal.
    pub fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Eq => order.is_eq(),
            Self::NotEq => order.is_ne(),
            Self::Lt => order.is_lt(),
            Self::LtEq => order.is_le(),
            Self::Gt => order.is_gt(),
            Self::GtEq => order.is_ge(),
        }
    }
}
