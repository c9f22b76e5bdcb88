//! `bool_or`: whether any value is true.
//!
//! Rule: disjunction. Nulls: passed over (ME-117). Retraction: refused. BOOLEAN.
//! Source: ME section 4.2, `FieldBoolOrAgg.java`.

use std::cmp::Ordering;

use arrow_array::ArrayRef;
use paimon_meta::{Result, TypeKind};

use super::column::AggregateColumn;
use super::order::{Extreme, extreme};
use super::{AggregateFunction, MergeFault, Merged, Versions};

#[derive(Debug)]
struct BoolOr;

pub(super) fn new(column: &AggregateColumn<'_>) -> Result<Box<dyn AggregateFunction>> {
    let fits = matches!(column.data_type().kind, TypeKind::Boolean);
    column.require(BoolOr::NAME, fits, "BOOLEAN")?;
    Ok(Box::new(BoolOr))
}

impl AggregateFunction for BoolOr {
    fn merge(&self, values: &ArrayRef, versions: &Versions<'_>) -> Result<Merged, MergeFault> {
        extreme::<Self>(values, versions)
    }
}

/// False below true: the disjunction is the largest value.
impl Extreme for BoolOr {
    const NAME: &'static str = "bool_or";

    fn takes(order: Ordering) -> bool {
        order.is_gt()
    }
}
