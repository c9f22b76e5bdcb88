//! `first_non_null_value` (also `first_not_null_value`): the oldest value that is not null.
//!
//! Rule: the first value that is added and not null. Nulls: passed over (ME-111). Retraction: refused. An older value
//! that comes late takes the place of a first one, even if it is null (ME-112). Any type.
//! Source: ME section 4.2, `FieldFirstNonNullValueAgg.java`.

use arrow_array::{ArrayRef, UInt32Array};
use arrow_buffer::NullBuffer;
use paimon_meta::Result;

use super::column::AggregateColumn;
use super::select::{Selector, choose, select};
use super::versions::retraction_refused;
use super::{AggregateFunction, MergeFault, Merged, Versions};

#[derive(Debug)]
struct FirstNonNullValue;

pub(super) fn new(_: &AggregateColumn<'_>) -> Result<Box<dyn AggregateFunction>> {
    Ok(Box::new(FirstNonNullValue))
}

impl AggregateFunction for FirstNonNullValue {
    fn merge(&self, values: &ArrayRef, versions: &Versions<'_>) -> Result<Merged, MergeFault> {
        select(values, versions, FirstNonNull::default())
    }

    fn choose(
        &self,
        nulls: Option<&NullBuffer>,
        versions: &Versions<'_>,
    ) -> Option<Result<UInt32Array, MergeFault>> {
        Some(choose(nulls, versions, FirstNonNull::default()))
    }
}

/// A value that takes the place of what is accumulated does not count as an add.
#[derive(Default)]
struct FirstNonNull {
    added: bool,
}

impl Selector for FirstNonNull {
    fn reset(&mut self) {
        self.added = false;
    }

    fn add(&mut self, accumulated: Option<u32>, input: Option<u32>) -> Option<u32> {
        if self.added || input.is_none() {
            return accumulated;
        }
        self.added = true;
        input
    }

    fn retract(&mut self, _: Option<u32>, _: Option<u32>) -> Result<Option<u32>> {
        Err(retraction_refused("first_non_null_value"))
    }
}
