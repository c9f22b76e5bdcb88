//! Conditions on rows, with SQL's three-valued logic.
//!
//! A [`Predicate`] is generic over how it names columns: `Predicate<FieldId>` is written against a table,
//! `Predicate<FilePath>` against one file. A row passes if the predicate is *true*; unknown (a comparison with null)
//! does not pass. There is no negation node: [`Predicate::negate`] pushes it down, which is exact in three-valued
//! logic because every test has its complement.
//!
//! ```
//! use paimon_meta::{Datum, FieldId, Predicate, TypeKind};
//! let (k, v) = (FieldId(0), FieldId(1));
//! let bigint = TypeKind::BigInt.nullable();
//! let predicate = Predicate::and([
//!     Predicate::between(k, bigint.clone(), Datum::BigInt(2), Datum::BigInt(4)),
//!     Predicate::is_null(v, TypeKind::Int.nullable()),
//! ]);
//! let row = [Some(Datum::BigInt(3)), None];
//! assert_eq!(predicate.evaluate_row(&mut |id| row[usize::from(id == &v)].clone()), Some(true));
//! assert_eq!(predicate.evaluate_row(&mut |_| None), None);
//! ```

mod bind;
mod bucket;
mod build;
mod check;
mod display;
mod like;
mod row;
mod split;
mod stats;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::schema::FieldId;
use crate::types::DataType;
use crate::value::Datum;

pub use stats::{ArrayBounds, ColumnBounds, may_match, may_match_many};

/// A condition over columns named by `C`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Predicate<C> {
    /// True, false or (`None`) unknown for every row.
    Constant(Option<bool>),
    /// A test of one column.
    Leaf(Leaf<C>),
    /// All must be true.
    And(Vec<Predicate<C>>),
    /// One must be true.
    Or(Vec<Predicate<C>>),
}

/// A test of one column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Leaf<C> {
    /// The column.
    pub column: C,
    /// Type of the column; literals are of it.
    pub data_type: DataType,
    /// What is asked.
    pub test: Test,
}

/// What a [`Leaf`] asks of its column. Null gives unknown for all but the null tests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Test {
    /// `IS NULL`.
    IsNull,
    /// `IS NOT NULL`.
    IsNotNull,
    /// A comparison with a literal that is not null.
    Compare(CompareOp, Datum),
    /// `IN` a list of literals that are not null, or, negated, `NOT IN`.
    In {
        /// The literals, none null, possibly none at all.
        values: Vec<Datum>,
        /// Whether the list held a null too: what is not found is then unknown.
        has_null: bool,
        /// `NOT IN`.
        negated: bool,
    },
    /// `LIKE`, or, negated, `NOT LIKE`, of text.
    Like {
        /// The pattern, parsed.
        pattern: LikePattern,
        /// `NOT LIKE`.
        negated: bool,
    },
}

/// Comparison operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CompareOp {
    /// `=`
    Eq,
    /// `<>`
    NotEq,
    /// `<`
    Lt,
    /// `<=`
    LtEq,
    /// `>`
    Gt,
    /// `>=`
    GtEq,
}

/// A `LIKE` pattern as its pieces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LikePattern(pub Vec<LikeToken>);

/// One piece of a [`LikePattern`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LikeToken {
    /// These characters.
    Literal(String),
    /// `_`: any one character.
    AnyOne,
    /// `%`: any characters, also none.
    AnyMany,
}

/// A column of a data file, by the path of names in that file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FilePath(pub Vec<String>);

/// A condition on a table, as callers write it.
pub type TablePredicate = Predicate<FieldId>;
