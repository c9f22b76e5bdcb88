//! Which rows of a batch satisfy a condition.
//!
//! A predicate is compiled once: columns are numbered, long `IN` lists are indexed. Per batch each test makes two
//! bitmaps, the rows where it is true and the rows where it is false; what is in neither is unknown. `AND` and `OR` are
//! then two bit operations each, and stop where the outcome is known for every row:
//!
//! ```text
//!            true            false
//! a AND b    ta & tb         fa | fb
//! a OR b     ta | tb         fa & fb
//! ```
//!
//! The meaning is that of [`Predicate::evaluate_row`], in every layout of text and bytes.

mod compare;
mod membership;
mod pattern;

use std::fmt::Debug;

use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use paimon_meta::{
    CompareOp, Datum, Error, FieldId, LikePattern, Predicate, Result, TablePredicate, Test,
};

use membership::Members;

/// A condition on rows, evaluated where the reader needs it: on the winners of a merge before their other columns are
/// decoded. Engines hand in their own expressions as one.
pub trait RowFilter: Debug + Send + Sync {
    /// The columns that [`Self::evaluate`] wants.
    fn columns(&self) -> &[FieldId];

    /// Which rows pass: one value a row of `batch`, which holds exactly [`Self::columns`] in their order. Null drops the
    /// row, as false does.
    ///
    /// # Errors
    /// Whatever keeps the condition from an answer; the read ends with it.
    fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanArray>;
}

/// A [`RowFilter`] made of a predicate.
#[derive(Debug)]
pub struct PredicateFilter {
    columns: Vec<FieldId>,
    root: Node,
}

impl PredicateFilter {
    /// A filter for rows that satisfy `predicate`.
    ///
    /// # Errors
    /// `Unsupported` for a predicate of a sort that is not known here.
    pub fn new(predicate: &TablePredicate) -> Result<Self> {
        let mut columns = Vec::new();
        let root = Node::new(predicate, &mut columns)?;
        Ok(Self {
            columns: columns.into_iter().copied().collect(),
            root,
        })
    }
}

impl RowFilter for PredicateFilter {
    fn columns(&self) -> &[FieldId] {
        &self.columns
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanArray> {
        let truth = self.root.evaluate(batch.num_rows(), &mut |column| {
            batch.columns().get(column).cloned().ok_or_else(|| {
                Error::internal(format!(
                    "a filter over {} columns got {}",
                    self.columns.len(),
                    batch.num_columns()
                ))
            })
        })?;
        Ok(BooleanArray::new(truth.yes, None))
    }
}

/// Evaluates a predicate on `rows` rows; null is unknown. `column` gives a column's values, and is asked at most once
/// for each.
///
/// # Errors
/// Those of `column`; `Internal` if an array has another length, or another type than the predicate's literals;
/// `Unsupported` as [`PredicateFilter::new`].
pub fn evaluate<C: PartialEq>(
    predicate: &Predicate<C>,
    rows: usize,
    column: &mut dyn FnMut(&C) -> Result<ArrayRef>,
) -> Result<BooleanArray> {
    let mut columns = Vec::new();
    let root = Node::new(predicate, &mut columns)?;
    let mut arrays: Vec<(&C, Option<ArrayRef>)> =
        columns.into_iter().map(|column| (column, None)).collect();
    let truth = root.evaluate(rows, &mut |index| match arrays.get_mut(index) {
        Some((_, Some(array))) => Ok(ArrayRef::clone(array)),
        Some((name, slot)) => Ok(ArrayRef::clone(slot.insert(column(name)?))),
        None => Err(Error::internal(format!("no column {index} in a filter"))),
    })?;
    let known = &truth.yes | &truth.no;
    let nulls = known.has_false().then(|| NullBuffer::new(known));
    Ok(BooleanArray::new(truth.yes, nulls))
}

/// A compiled predicate; columns are numbers.
#[derive(Debug)]
enum Node {
    Constant(Option<bool>),
    Leaf(usize, Compiled),
    And(Vec<Node>),
    Or(Vec<Node>),
}

/// A compiled [`Test`].
#[derive(Debug)]
enum Compiled {
    IsNull,
    IsNotNull,
    Compare(CompareOp, Datum),
    In {
        members: Members,
        has_null: bool,
        negated: bool,
    },
    Like {
        pattern: LikePattern,
        negated: bool,
    },
}

impl Node {
    fn new<'a, C: PartialEq>(
        predicate: &'a Predicate<C>,
        columns: &mut Vec<&'a C>,
    ) -> Result<Self> {
        let mut all = |parts: &'a [Predicate<C>]| -> Result<Vec<Self>> {
            parts.iter().map(|part| Self::new(part, columns)).collect()
        };
        match predicate {
            Predicate::Constant(value) => Ok(Self::Constant(*value)),
            Predicate::And(parts) => all(parts).map(Self::And),
            Predicate::Or(parts) => all(parts).map(Self::Or),
            Predicate::Leaf(leaf) => {
                let known = columns.iter().position(|column| *column == &leaf.column);
                let index = known.unwrap_or_else(|| {
                    columns.push(&leaf.column);
                    columns.len() - 1
                });
                Compiled::new(&leaf.test).map(|test| Self::Leaf(index, test))
            }
            _ => Err(Error::unsupported("this sort of predicate in a filter")),
        }
    }

    fn evaluate(
        &self,
        rows: usize,
        column: &mut dyn FnMut(usize) -> Result<ArrayRef>,
    ) -> Result<Truth> {
        match self {
            Self::Constant(value) => Ok(Truth::constant(*value, rows)),
            Self::Leaf(index, test) => {
                let array = column(*index)?;
                if array.len() != rows {
                    let found = array.len();
                    return Err(Error::internal(format!(
                        "expected {rows} rows, found {found}"
                    )));
                }
                test.evaluate(&array)
            }
            Self::And(parts) => {
                let mut result = Truth::constant(Some(true), rows);
                for part in parts {
                    if !result.no.has_false() {
                        break;
                    }
                    let part = part.evaluate(rows, column)?;
                    result = Truth {
                        yes: &result.yes & &part.yes,
                        no: &result.no | &part.no,
                    };
                }
                Ok(result)
            }
            Self::Or(parts) => {
                let mut result = Truth::constant(Some(false), rows);
                for part in parts {
                    if !result.yes.has_false() {
                        break;
                    }
                    let part = part.evaluate(rows, column)?;
                    result = Truth {
                        yes: &result.yes | &part.yes,
                        no: &result.no & &part.no,
                    };
                }
                Ok(result)
            }
        }
    }
}

impl Compiled {
    fn new(test: &Test) -> Result<Self> {
        Ok(match test {
            Test::IsNull => Self::IsNull,
            Test::IsNotNull => Self::IsNotNull,
            Test::Compare(op, value) => Self::Compare(*op, value.clone()),
            Test::In {
                values,
                has_null,
                negated,
            } => Self::In {
                members: Members::new(values),
                has_null: *has_null,
                negated: *negated,
            },
            Test::Like { pattern, negated } => Self::Like {
                pattern: pattern.clone(),
                negated: *negated,
            },
            _ => return Err(Error::unsupported("this sort of test in a filter")),
        })
    }

    fn evaluate(&self, array: &dyn Array) -> Result<Truth> {
        let valid = array.logical_nulls().map(NullBuffer::into_inner);
        match self {
            Self::IsNull => Ok(Truth::null_test(valid, array.len()).negate_if(true)),
            Self::IsNotNull => Ok(Truth::null_test(valid, array.len())),
            Self::Compare(op, literal) => Ok(Truth::of(
                compare::compare(*op, literal, array)?,
                valid.as_ref(),
            )),
            Self::In {
                members,
                has_null,
                negated,
            } => {
                let mut truth = Truth::of(members.contains(array)?, valid.as_ref());
                if *has_null {
                    truth.no = BooleanBuffer::new_unset(array.len());
                }
                Ok(truth.negate_if(*negated))
            }
            Self::Like { pattern, negated } => {
                let matches = pattern::matches(pattern, array)?;
                Ok(Truth::of(matches, valid.as_ref()).negate_if(*negated))
            }
        }
    }
}

/// Where a condition is true and where it is false; the other rows are unknown.
struct Truth {
    yes: BooleanBuffer,
    no: BooleanBuffer,
}

impl Truth {
    fn constant(value: Option<bool>, rows: usize) -> Self {
        let fill = |set| {
            if set {
                BooleanBuffer::new_set(rows)
            } else {
                BooleanBuffer::new_unset(rows)
            }
        };
        Self {
            yes: fill(value == Some(true)),
            no: fill(value == Some(false)),
        }
    }

    /// True where a bit is set, unknown where the value is not valid.
    fn of(passed: BooleanBuffer, valid: Option<&BooleanBuffer>) -> Self {
        match valid {
            None => Self {
                no: !&passed,
                yes: passed,
            },
            Some(valid) => {
                let yes = &passed & valid;
                Self {
                    no: valid ^ &yes,
                    yes,
                }
            }
        }
    }

    /// `IS NOT NULL`.
    fn null_test(valid: Option<BooleanBuffer>, rows: usize) -> Self {
        Self::of(valid.unwrap_or_else(|| BooleanBuffer::new_set(rows)), None)
    }

    fn negate_if(self, negated: bool) -> Self {
        if negated {
            Self {
                yes: self.no,
                no: self.yes,
            }
        } else {
            self
        }
    }
}

#[cfg(test)]
mod tests;
