//! `first_value`: the oldest value, also where it is null.
//!
//! Rule: the first value that is added. Nulls: taken like any value (ME-110). Retraction: refused. An older value that
//! comes late takes the place. Any type.
//! Source: ME section 4.2, `FieldFirstValueAgg.java`.

use arrow_array::{ArrayRef, UInt32Array};
use arrow_buffer::NullBuffer;
use paimon_meta::Result;

use super::column::AggregateColumn;
use super::select::{Selector, choose, select};
use super::versions::retraction_refused;
use super::{AggregateFunction, MergeFault, Merged, Versions};

#[derive(Debug)]
struct FirstValue;

pub(super) fn new(_: &AggregateColumn<'_>) -> Result<Box<dyn AggregateFunction>> {
    Ok(Box::new(FirstValue))
}

impl AggregateFunction for FirstValue {
    fn merge(&self, values: &ArrayRef, versions: &Versions<'_>) -> Result<Merged, MergeFault> {
        select(values, versions, First::default())
    }

    fn choose(
        &self,
        nulls: Option<&NullBuffer>,
        versions: &Versions<'_>,
    ) -> Option<Result<UInt32Array, MergeFault>> {
        Some(choose(nulls, versions, First::default()))
    }
}

/// A value that takes the place of what is accumulated does not count as an add.
#[derive(Default)]
struct First {
    added: bool,
}

impl Selector for First {
    fn reset(&mut self) {
        self.added = false;
    }

    fn add(&mut self, accumulated: Option<u32>, input: Option<u32>) -> Option<u32> {
        if std::mem::replace(&mut self.added, true) {
            accumulated
        } else {
            input
        }
    }

    fn retract(&mut self, _: Option<u32>, _: Option<u32>) -> Result<Option<u32>> {
        Err(retraction_refused("first_value"))
    }
}
