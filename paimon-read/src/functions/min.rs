//! `min`: the smallest value.
//!
//! Rule: the smallest value by the order of merge-engines section 1.2, the newer one of equal ones. Nulls: passed over
//! (ME-106). Retraction: refused. Any type that has an order (ME-107).
//! Source: ME section 4.2, `FieldMinAgg.java`.

use std::cmp::Ordering;

use arrow_array::ArrayRef;
use paimon_meta::Result;

use super::column::AggregateColumn;
use super::order::{Extreme, extreme, require_order};
use super::{AggregateFunction, MergeFault, Merged, Versions};

#[derive(Debug)]
struct Min;

pub(super) fn new(column: &AggregateColumn<'_>) -> Result<Box<dyn AggregateFunction>> {
    require_order(Min::NAME, column)?;
    Ok(Box::new(Min))
}

impl AggregateFunction for Min {
    fn merge(&self, values: &ArrayRef, versions: &Versions<'_>) -> Result<Merged, MergeFault> {
        extreme::<Self>(values, versions)
    }
}

impl Extreme for Min {
    const NAME: &'static str = "min";

    fn takes(order: Ordering) -> bool {
        order.is_le()
    }
}
