//! Evaluating predicates on bounds. Facts: RP-064 to RP-066, RP-553.
//!
//! The answer for one file is the reference's, so that plans are equal; it may say that rows match where a closer look
//! would rule it out, never the other way round. Bounds need not be values that occur (text is cut, RP-066).

mod arrays;

use std::cmp::Ordering;

use crate::predicate::{CompareOp, Predicate, Test};
use crate::value::Datum;

pub use arrays::{ArrayBounds, may_match_many};

/// What statistics say of one column over some rows.
///
/// Bounds of `FLOAT` and `DOUBLE` count NaN as largest and -0.0 as below 0.0. Whoever reads them from a writer that
/// skips NaN (ORC, and Parquet that was not written by Java) gives NaN as `max`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnBounds {
    /// No value is smaller; `None` is unknown.
    pub min: Option<Datum>,
    /// No value is larger; `None` is unknown.
    pub max: Option<Datum>,
    /// Nulls among the rows; `None` is unknown.
    pub null_count: Option<u64>,
    /// Rows the bounds speak of.
    pub row_count: u64,
}

impl ColumnBounds {
    /// Bounds of a column that is null in every row, as one that the file does not have (RP-087).
    pub fn all_null(row_count: u64) -> Self {
        Self {
            min: None,
            max: None,
            null_count: Some(row_count),
            row_count,
        }
    }

    /// Bounds of a column nothing is known of.
    pub fn unknown(row_count: u64) -> Self {
        Self {
            row_count,
            ..Self::default()
        }
    }

    fn is_all_null(&self) -> bool {
        self.null_count == Some(self.row_count)
    }
}

/// Whether some row may satisfy the predicate. `bounds` gives what is known of a column; a column without statistics
/// gets [`ColumnBounds::unknown`]. Never false for rows that hold a match.
///
/// Also the test of a manifest's partition statistics, with added and deleted files as the rows (RP-558).
pub fn may_match<C>(predicate: &Predicate<C>, bounds: &mut dyn FnMut(&C) -> ColumnBounds) -> bool {
    match predicate {
        Predicate::Constant(value) => *value == Some(true),
        Predicate::Leaf(leaf) => leaf_may_match(&leaf.test, &bounds(&leaf.column)),
        Predicate::And(parts) => parts.iter().all(|part| may_match(part, bounds)),
        Predicate::Or(parts) => parts.iter().any(|part| may_match(part, bounds)),
    }
}

/// The reference's test of one column: without bounds anything may match unless every value is null.
fn leaf_may_match(test: &Test, bounds: &ColumnBounds) -> bool {
    if bounds.is_all_null() {
        return matches!(test, Test::IsNull) && bounds.row_count > 0;
    }
    let (Some(min), Some(max)) = (&bounds.min, &bounds.max) else {
        return true;
    };
    match test {
        Test::IsNull => bounds.null_count.is_none_or(|nulls| nulls > 0),
        Test::IsNotNull => bounds
            .null_count
            .is_none_or(|nulls| nulls < bounds.row_count),
        _ => range_may_match(test, min, max),
    }
}

/// Whether some value from `min` to `max` may pass a test that rejects null.
fn range_may_match(test: &Test, min: &Datum, max: &Datum) -> bool {
    match test {
        Test::IsNull | Test::IsNotNull => true,
        Test::Compare(op, value) => compare_may_match(*op, value, min, max),
        Test::In {
            values,
            negated: false,
            ..
        } => values
            .iter()
            .any(|value| compare_may_match(CompareOp::Eq, value, min, max)),
        Test::In {
            values,
            has_null,
            negated: true,
        } => {
            !has_null
                && values
                    .iter()
                    .all(|value| compare_may_match(CompareOp::NotEq, value, min, max))
        }
        Test::Like { negated: true, .. } => true,
        Test::Like { pattern, .. } => match (pattern.as_prefix(), min, max) {
            (Some(prefix), Datum::String(min), Datum::String(max)) => {
                prefix_may_match(prefix, min, max)
            }
            _ => true,
        },
    }
}

/// A value that does not compare with the bounds, being of another type, rules out nothing.
fn compare_may_match(op: CompareOp, value: &Datum, min: &Datum, max: &Datum) -> bool {
    let (Some(low), Some(high)) = (min.compare(value), max.compare(value)) else {
        return true;
    };
    match op {
        CompareOp::Eq => low.is_le() && high.is_ge(),
        CompareOp::NotEq => (low, high) != (Ordering::Equal, Ordering::Equal),
        CompareOp::Lt | CompareOp::LtEq => op.holds(low),
        CompareOp::Gt | CompareOp::GtEq => op.holds(high),
    }
}

fn prefix_may_match(prefix: &str, min: &str, max: &str) -> bool {
    (min.starts_with(prefix) || min <= prefix) && (max.starts_with(prefix) || max >= prefix)
}

#[cfg(test)]
mod tests;
