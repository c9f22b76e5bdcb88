//! What merges columns, what comes out, and why it may fail.

use arrow_array::ArrayRef;
use paimon_meta::{DataField, Error, Frame};

use crate::functions::MergeFault;

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
    /// The version at fault, if one is: its number among the merged ones.
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
