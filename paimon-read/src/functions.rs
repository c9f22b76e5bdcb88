//! Aggregate functions: what the versions of a key make of a column.
//!
//! Each function is one file that states its rule, its null rule, its retraction rule and the source. It is known by one
//! line of the table in `registry`. Nothing here knows of tables, files or plans: values, groups and steps come in, an
//! array goes out, one row a group. Facts: merge-engines section 4.
//!
//! | file | holds |
//! |---|---|
//! | `versions` | groups of versions and what each of them does |
//! | `fold` | the fold over the versions of each group |
//! | `registry` | names and constructors |
//! | `column` | the column that a function is for, and its options |
//! | `ignore_retract` | any function, deaf to retractions |
//! | `select` | functions that choose one of the values |
//! | `order` | the order of values, for `max` and `min` |
//! | `arithmetic`, `decimal` | functions that compute numbers |
//! | `elements` | functions on lists and maps, which choose elements |
//! | `nested` | the keys of nested rows |
//! | `sketch` | functions on sketches and bitmaps in bytes |
//! | all others | the function of that name |

mod arithmetic;
mod bool_and;
mod bool_or;
mod collect;
mod column;
mod decimal;
mod elements;
mod first_non_null_value;
mod first_value;
mod fold;
mod hll_sketch;
mod ignore_retract;
mod last_non_null_value;
mod last_value;
mod listagg;
mod max;
mod merge_map;
mod merge_map_with_keytime;
mod min;
mod nested;
mod nested_partial_update;
mod nested_update;
mod order;
mod primary_key;
mod product;
mod rbm32;
mod rbm64;
mod registry;
mod select;
mod sketch;
mod sum;
mod theta_sketch;
mod versions;

#[cfg(test)]
mod tests;

use std::fmt;

use arrow_array::{ArrayRef, UInt32Array};
use arrow_buffer::NullBuffer;
use paimon_meta::Error;

pub use rbm64::rbm64_values;
pub use registry::aggregate_function;
pub use versions::{Step, Versions};

/// What the versions of keys make of a column.
#[derive(Clone, Debug)]
pub enum Merged {
    /// Row of the value array per group, null where the result is null.
    Chosen(UInt32Array),
    /// The results, one row a group, in the type of the value array.
    Computed(ArrayRef),
}

/// The value that a function takes of adds. Either way it is the newest one wherever that is not null, whatever came
/// before it, retractions too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Newest {
    /// The newest value, also where it is null.
    Value,
    /// The newest value that is not null; null if there is none.
    NonNull,
}

/// A function over the versions of keys.
pub trait AggregateFunction: fmt::Debug + Send + Sync {
    /// The results of all groups.
    ///
    /// # Errors
    /// The value row at which the merge fails, and why: `Corrupt` for a retraction that the function does not take
    /// (ME-135), for numbers that do not fit (ME-099), and for values that are malformed; `InvalidInput` for an array of
    /// another length or type than was agreed.
    fn merge(&self, values: &ArrayRef, versions: &Versions<'_>) -> Result<Merged, MergeFault>;

    /// The same without values, where it is enough to know which of them are null (`nulls`; none if absent); `None` if
    /// the function asks more.
    fn choose(
        &self,
        _nulls: Option<&NullBuffer>,
        _versions: &Versions<'_>,
    ) -> Option<Result<UInt32Array, MergeFault>> {
        None
    }

    /// Which value the result is where all versions are adds; `None` if the function asks more.
    fn newest(&self) -> Option<Newest> {
        None
    }
}

/// Why versions cannot be merged, and at which of them.
#[derive(Clone, Debug)]
pub struct MergeFault {
    /// Row of the value array; the caller knows its file and key.
    pub row: usize,
    /// What is wrong with it.
    pub error: Error,
}

impl MergeFault {
    fn new(row: usize, error: Error) -> Self {
        Self { row, error }
    }

    /// The error with the row in its message, for callers that know no better place.
    pub fn into_error(self) -> Error {
        self.error.with_detail(format_args!("row {}", self.row))
    }
}

impl fmt::Display for MergeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (row {})", self.error, self.row)
    }
}

impl std::error::Error for MergeFault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}
