//! The fold over the versions of each group that all functions share.

use arrow_array::{Array, ArrayRef};
use paimon_meta::Result;

use super::MergeFault;
use super::versions::{Step, Versions};

/// What versions do to what is accumulated; `None` stands for null.
pub(super) trait Fold {
    /// What is accumulated.
    type Value;

    /// At the start of each group.
    #[inline]
    fn reset(&mut self) {}

    /// The value of a row.
    fn value(&self, row: u32) -> Result<Option<Self::Value>>;

    /// An add: `agg` of the reference.
    fn add(
        &mut self,
        accumulated: Option<Self::Value>,
        input: Option<Self::Value>,
    ) -> Result<Option<Self::Value>>;

    /// An add that is older than what is accumulated: `aggReversed` of the reference.
    #[inline]
    fn add_reversed(
        &mut self,
        accumulated: Option<Self::Value>,
        input: Option<Self::Value>,
    ) -> Result<Option<Self::Value>> {
        self.add(input, accumulated)
    }

    /// A retraction.
    fn retract(
        &mut self,
        accumulated: Option<Self::Value>,
        input: Option<Self::Value>,
    ) -> Result<Option<Self::Value>>;
}

/// Folds each group and hands its result over, in the order of the groups.
pub(super) fn fold<F: Fold>(
    function: &mut F,
    values: &ArrayRef,
    versions: &Versions<'_>,
    result: impl FnMut(Option<F::Value>),
) -> Result<(), MergeFault> {
    versions.check_length(values.len())?;
    fold_groups(function, versions, result)
}

/// The same where it is known that there is a value for each step.
pub(super) fn fold_groups<F: Fold>(
    function: &mut F,
    versions: &Versions<'_>,
    mut result: impl FnMut(Option<F::Value>),
) -> Result<(), MergeFault> {
    for group in versions.groups() {
        function.reset();
        let mut accumulated = None;
        for (row, step) in group.rows() {
            accumulated = apply(function, accumulated, row, step)
                .map_err(|error| MergeFault::new(row as usize, error))?;
        }
        result(accumulated);
    }
    Ok(())
}

#[inline]
fn apply<F: Fold>(
    function: &mut F,
    accumulated: Option<F::Value>,
    row: u32,
    step: Step,
) -> Result<Option<F::Value>> {
    match step {
        Step::Skip => Ok(accumulated),
        Step::Add => {
            let input = function.value(row)?;
            function.add(accumulated, input)
        }
        Step::AddReversed => {
            let input = function.value(row)?;
            function.add_reversed(accumulated, input)
        }
        Step::Retract => {
            let input = function.value(row)?;
            function.retract(accumulated, input)
        }
        Step::Replace => function.value(row),
        Step::ReplaceThenRetract => {
            let (base, input) = (function.value(row)?, function.value(row)?);
            function.retract(base, input)
        }
    }
}
