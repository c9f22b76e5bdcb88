//! Functions whose result is one of the values, or null (ME 4.2).

use std::cmp::Ordering;

use paimon_meta::{Datum, Result, TypeKind};

use super::{no_retraction, of_another_type};
use crate::cell::Cell;

/// Which value it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Choice {
    /// Columns of the key have the same value in all versions.
    PrimaryKey,
    LastValue,
    LastNonNullValue,
    FirstValue,
    FirstNonNullValue,
    Max,
    Min,
    BoolAnd,
    BoolOr,
}

impl Choice {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "primary-key" => Self::PrimaryKey,
            "last_value" => Self::LastValue,
            "last_non_null_value" => Self::LastNonNullValue,
            "first_value" => Self::FirstValue,
            "first_non_null_value" | "first_not_null_value" => Self::FirstNonNullValue,
            "max" => Self::Max,
            "min" => Self::Min,
            "bool_and" => Self::BoolAnd,
            "bool_or" => Self::BoolOr,
            _ => return None,
        })
    }

    /// ME-107
    pub(super) fn takes(self, kind: &TypeKind) -> bool {
        match self {
            Self::Max | Self::Min => {
                kind.is_scalar()
                    && !matches!(
                        kind,
                        TypeKind::Blob | TypeKind::Geometry(_) | TypeKind::Geography { .. }
                    )
            }
            Self::BoolAnd | Self::BoolOr => *kind == TypeKind::Boolean,
            _ => true,
        }
    }

    pub(super) fn add(self, found: &mut bool, old: Cell, input: Cell) -> Result<Cell> {
        Ok(match self {
            Self::PrimaryKey | Self::LastValue => input,
            // ME-110, ME-111
            Self::FirstValue | Self::FirstNonNullValue => {
                let counts = self == Self::FirstValue || input != Cell::Null;
                if *found || !counts {
                    old
                } else {
                    *found = true;
                    input
                }
            }
            _ if input == Cell::Null => old,
            Self::LastNonNullValue => input,
            _ if old == Cell::Null => input,
            Self::Max => larger(old, input, Ordering::Less)?,
            Self::Min => larger(old, input, Ordering::Greater)?,
            Self::BoolAnd => boolean(truth(&old)? && truth(&input)?),
            Self::BoolOr => boolean(truth(&old)? || truth(&input)?),
        })
    }

    pub(super) fn retract(self, old: Cell, input: &Cell) -> Result<Cell> {
        match self {
            Self::PrimaryKey => Ok(input.clone()),
            Self::LastValue => Ok(Cell::Null),
            // ME-109
            Self::LastNonNullValue if *input == Cell::Null => Ok(old),
            Self::LastNonNullValue => Ok(Cell::Null),
            _ => Err(no_retraction()),
        }
    }
}

/// The other value where the old one stands on that side of it.
fn larger(old: Cell, input: Cell, side: Ordering) -> Result<Cell> {
    let (Some(a), Some(b)) = (old.datum(), input.datum()) else {
        return Err(of_another_type(&input));
    };
    let order = a.compare(b).ok_or_else(|| of_another_type(&input))?;
    Ok(if order == side { input } else { old })
}

fn truth(cell: &Cell) -> Result<bool> {
    match cell {
        Cell::Scalar(Datum::Boolean(value)) => Ok(*value),
        other => Err(of_another_type(other)),
    }
}

fn boolean(value: bool) -> Cell {
    Cell::Scalar(Datum::Boolean(value))
}
