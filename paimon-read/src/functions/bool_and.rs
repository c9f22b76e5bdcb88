//! `bool_and`: whether all values are true.
//!
//! Rule: conjunction. Nulls: passed over (ME-117). Retraction: refused. BOOLEAN.
//! Source: ME section 4.2, `FieldBoolAndAgg.java`.

use std::cmp::Ordering;

use arrow_array::ArrayRef;
use paimon_meta::{Result, TypeKind};

use super::column::AggregateColumn;
use super::order::{Extreme, extreme};
use super::{AggregateFunction, MergeFault, Merged, Versions};

#[derive(Debug)]
struct BoolAnd;

pub(super) fn new(column: &AggregateColumn<'_>) -> Result<Box<dyn AggregateFunction>> {
    let fits = matches!(column.data_type().kind, TypeKind::Boolean);
    column.require(BoolAnd::NAME, fits, "BOOLEAN")?;
    Ok(Box::new(BoolAnd))
}

impl AggregateFunction for BoolAnd {
    fn merge(&self, values: &ArrayRef, versions: &Versions<'_>) -> Result<Merged, MergeFault> {
        extreme::<Self>(values, versions)
    }
}

/// False below true: the conjunction is the smallest value.
impl Extreme for BoolAnd {
    const NAME: &'static str = "bool_and";

    fn takes(order: Ordering) -> bool {
        order.is_lt()
    }
}
