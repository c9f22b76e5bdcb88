//! `max`: the largest value.
//!
//! Rule: the largest value by the order of merge-engines section 1.2, the older one of equal ones. Nulls: passed over
//! (ME-106). Retraction: refused. Any type that has an order (ME-107).
//! Source: ME section 4.2, `FieldMaxAgg.java`.

use std::cmp::Ordering;

use arrow_array::ArrayRef;
use paimon_meta::Result;

use super::column::AggregateColumn;
use super::order::{Extreme, extreme, require_order};
use super::{AggregateFunction, MergeFault, Merged, Versions};

#[derive(Debug)]
struct Max;

pub(super) fn new(column: &AggregateColumn<'_>) -> Result<Box<dyn AggregateFunction>> {
    require_order(Max::NAME, column)?;
    Ok(Box::new(Max))
}

impl AggregateFunction for Max {
    fn merge(&self, values: &ArrayRef, versions: &Versions<'_>) -> Result<Merged, MergeFault> {
        extreme::<Self>(values, versions)
    }
}

impl Extreme for Max {
    const NAME: &'static str = "max";

    fn takes(order: Ordering) -> bool {
        order.is_gt()
    }
}
