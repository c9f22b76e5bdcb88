//! `last_non_null_value`: the newest value that is not null. The default of the engine `aggregation`.
//!
//! Rule: the last value that is not null. Nulls: passed over. Retraction: null if the value that is taken back is not
//! null, whatever it is; nothing otherwise (ME-109). Any type.
//! Source: ME section 4.2, `FieldLastNonNullValueAgg.java`.

use arrow_array::{ArrayRef, UInt32Array};
use arrow_buffer::NullBuffer;
use paimon_meta::Result;

use super::column::AggregateColumn;
use super::select::{Selector, choose, select};
use super::{AggregateFunction, MergeFault, Merged, Newest, Versions};

#[derive(Debug)]
struct LastNonNullValue;

pub(super) fn new(_: &AggregateColumn<'_>) -> Result<Box<dyn AggregateFunction>> {
    Ok(Box::new(LastNonNullValue))
}

impl AggregateFunction for LastNonNullValue {
    fn merge(&self, values: &ArrayRef, versions: &Versions<'_>) -> Result<Merged, MergeFault> {
        select(values, versions, LastNonNull)
    }

    fn choose(
        &self,
        nulls: Option<&NullBuffer>,
        versions: &Versions<'_>,
    ) -> Option<Result<UInt32Array, MergeFault>> {
        Some(choose(nulls, versions, LastNonNull))
    }

    fn newest(&self) -> Option<Newest> {
        Some(Newest::NonNull)
    }
}

struct LastNonNull;

impl Selector for LastNonNull {
    fn add(&mut self, accumulated: Option<u32>, input: Option<u32>) -> Option<u32> {
        input.or(accumulated)
    }

    fn retract(&mut self, accumulated: Option<u32>, input: Option<u32>) -> Result<Option<u32>> {
        Ok(if input.is_some() { None } else { accumulated })
    }
}
