//! Functions whose result is one of the values, or null: they choose rows and copy nothing.

use arrow_array::builder::UInt32Builder;
use arrow_array::{Array, ArrayRef, UInt32Array};
use arrow_buffer::NullBuffer;
use paimon_meta::Result;

use super::fold::{Fold, fold_groups};
use super::versions::Versions;
use super::{MergeFault, Merged};

/// Chooses a row; `None` stands for null, on both sides.
pub(super) trait Selector {
    /// At the start of each group.
    #[inline]
    fn reset(&mut self) {}

    /// What is chosen when `input` comes after `accumulated`.
    fn add(&mut self, accumulated: Option<u32>, input: Option<u32>) -> Option<u32>;

    /// What is chosen when `input` is taken back.
    fn retract(&mut self, accumulated: Option<u32>, input: Option<u32>) -> Result<Option<u32>>;
}

/// What a selector makes of values.
pub(super) fn select(
    values: &ArrayRef,
    versions: &Versions<'_>,
    selector: impl Selector,
) -> Result<Merged, MergeFault> {
    versions.check_length(values.len())?;
    let nulls = values.logical_nulls();
    choose(nulls.as_ref(), versions, selector).map(Merged::Chosen)
}

/// The rows that a selector chooses.
pub(super) fn choose(
    nulls: Option<&NullBuffer>,
    versions: &Versions<'_>,
    selector: impl Selector,
) -> Result<UInt32Array, MergeFault> {
    match nulls.filter(|nulls| nulls.null_count() > 0) {
        None => choose_valid(versions, selector, |_| true),
        Some(nulls) => {
            versions.check_length(nulls.len())?;
            choose_valid(versions, selector, |row| nulls.is_valid(row as usize))
        }
    }
}

fn choose_valid(
    versions: &Versions<'_>,
    selector: impl Selector,
    is_valid: impl Fn(u32) -> bool,
) -> Result<UInt32Array, MergeFault> {
    let mut chosen = UInt32Builder::with_capacity(versions.group_count());
    let mut rows = Rows { selector, is_valid };
    fold_groups(&mut rows, versions, |row| chosen.append_option(row))?;
    Ok(chosen.finish())
}

/// Rows of values, where `is_valid` tells which are not null.
struct Rows<S, V> {
    selector: S,
    is_valid: V,
}

impl<S: Selector, V: Fn(u32) -> bool> Fold for Rows<S, V> {
    type Value = u32;

    fn reset(&mut self) {
        self.selector.reset();
    }

    fn value(&self, row: u32) -> Result<Option<u32>> {
        Ok((self.is_valid)(row).then_some(row))
    }

    fn add(&mut self, accumulated: Option<u32>, input: Option<u32>) -> Result<Option<u32>> {
        Ok(self.selector.add(accumulated, input))
    }

    fn retract(&mut self, accumulated: Option<u32>, input: Option<u32>) -> Result<Option<u32>> {
        self.selector.retract(accumulated, input)
    }
}
