//! Tables written by the reference, with what it plans and reads: `golden/` beside this crate, described in its README.
//!
//! A [`GoldenCase`] is one table and its [reads](GoldenRead). [`check_read`] takes one of them through any
//! [`Reader`](crate::Reader) and compares by the rules of the README; [`NotYet`] knows which are still refused.

mod case;
mod check;
mod filter;
mod not_yet;
mod rows;
mod split;
mod sql_type;

pub use case::{GoldenCase, GoldenColumn, GoldenRead, GoldenRequest};
#[cfg(all(test, feature = "writer"))]
pub(crate) use check::in_one_order;
pub use check::{GoldenRows, Verdict, check_read};
pub use filter::filter_to_predicate;
pub use not_yet::NotYet;
pub use rows::{RowDiff, diff_rows};
pub use split::{
    GoldenDataSplit, GoldenDeletionVector, GoldenFallbackSplit, GoldenFile, GoldenIncrementalSplit,
    GoldenSplit,
};
pub use sql_type::parse_sql_type;

/// The directory of the golden tables.
pub const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/golden");

/// The directory of tables about what was found to differ, in the same form (its README says how a case gets there).
pub const GOLDEN_FOUND: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/golden-found");

#[cfg(test)]
mod tests;
