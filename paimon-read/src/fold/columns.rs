//! Columns of versions in, columns of rows out.

use arrow_array::{ArrayRef, UInt32Array};
use arrow_select::take::take;
use paimon_meta::{DataField, Error, Frame, Result};

use crate::functions::{AggregateFunction, MergeFault, Merged, Step, Versions};

/// A column that is merged, and how.
#[derive(Debug)]
pub(super) struct Column<R> {
    pub(super) field: DataField,
    pub(super) role: R,
}

/// Rows of keys.
#[derive(Debug)]
pub(super) struct Folded {
    /// The columns that were merged, in their order.
    pub(super) columns: Vec<ArrayRef>,
    /// The merged keys whose row is a retract, ascending.
    pub(super) retracted: Vec<usize>,
}

/// Why versions cannot be merged.
#[derive(Debug)]
pub(super) struct Fault {
    /// The version at fault, if one is: its row.
    pub(super) row: Option<usize>,
    pub(super) error: Error,
}

impl Fault {
    /// Says which column is at fault.
    pub(super) fn in_column(self, field: &DataField) -> Self {
        Self {
            error: self.error.at(Frame::Column(field.name.clone())),
            ..self
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self { row: None, error }
    }
}

impl From<MergeFault> for Fault {
    fn from(fault: MergeFault) -> Self {
        Self {
            row: Some(fault.row),
            error: fault.error,
        }
    }
}

/// One row of the values for each key.
pub(super) fn gather(values: &ArrayRef, rows: &UInt32Array) -> Result<ArrayRef> {
    take(values, rows, None)
        .map_err(|error| Error::internal("cannot gather a column").with_source(error))
}

/// What a function makes of the versions.
pub(super) fn apply(
    function: &dyn AggregateFunction,
    values: &ArrayRef,
    offsets: &[u32],
    steps: &[Step],
) -> Result<ArrayRef, Fault> {
    let versions = Versions::new(offsets, steps)?;
    match function.merge(values, &versions)? {
        Merged::Chosen(rows) => Ok(gather(values, &rows)?),
        Merged::Computed(column) => Ok(column),
    }
}
