//! `primary-key`: the columns of the key.
//!
//! Rule: the last value, as it is. Nulls: kept. Retraction: the value that is taken back. Any type.
//! Source: ME section 4.2, `FieldPrimaryKeyAgg.java`.

use arrow_array::{ArrayRef, UInt32Array};
use arrow_buffer::NullBuffer;
use paimon_meta::Result;

use super::column::AggregateColumn;
use super::select::{Selector, choose, select};
use super::{AggregateFunction, MergeFault, Merged, Newest, Versions};

#[derive(Debug)]
struct PrimaryKey;

pub(super) fn new(_: &AggregateColumn<'_>) -> Result<Box<dyn AggregateFunction>> {
    Ok(Box::new(PrimaryKey))
}

impl AggregateFunction for PrimaryKey {
    fn merge(&self, values: &ArrayRef, versions: &Versions<'_>) -> Result<Merged, MergeFault> {
        select(values, versions, Last)
    }

    fn choose(
        &self,
        nulls: Option<&NullBuffer>,
        versions: &Versions<'_>,
    ) -> Option<Result<UInt32Array, MergeFault>> {
        Some(choose(nulls, versions, Last))
    }

    fn newest(&self) -> Option<Newest> {
        Some(Newest::Value)
    }
}

struct Last;

impl Selector for Last {
    fn add(&mut self, _: Option<u32>, input: Option<u32>) -> Option<u32> {
        input
    }

    fn retract(&mut self, _: Option<u32>, input: Option<u32>) -> Result<Option<u32>> {
        Ok(input)
    }
}
