//! Any function, deaf to retractions: `fields.<column>.ignore-retract`.
//!
//! Rule: that of the function. Retraction: nothing happens (ME-096).
//! Source: ME section 4.1, `FieldIgnoreRetractAgg.java`.

use arrow_array::{ArrayRef, UInt32Array};
use arrow_buffer::NullBuffer;

use super::versions::Step;
use super::{AggregateFunction, MergeFault, Merged, Newest, Versions};

/// The wrapped function.
#[derive(Debug)]
pub(super) struct IgnoreRetract(pub(super) Box<dyn AggregateFunction>);

impl AggregateFunction for IgnoreRetract {
    fn merge(&self, values: &ArrayRef, versions: &Versions<'_>) -> Result<Merged, MergeFault> {
        match deaf_steps(versions) {
            None => self.0.merge(values, versions),
            Some(steps) => self.0.merge(values, &versions.with_steps(&steps)),
        }
    }

    fn choose(
        &self,
        nulls: Option<&NullBuffer>,
        versions: &Versions<'_>,
    ) -> Option<Result<UInt32Array, MergeFault>> {
        match deaf_steps(versions) {
            None => self.0.choose(nulls, versions),
            Some(steps) => self.0.choose(nulls, &versions.with_steps(&steps)),
        }
    }

    fn newest(&self) -> Option<Newest> {
        self.0.newest()
    }
}

/// The steps without retractions; `None` if there are none.
fn deaf_steps(versions: &Versions<'_>) -> Option<Vec<Step>> {
    if !versions.steps().iter().any(|step| step.retracts()) {
        return None;
    }
    let deaf = |step: &Step| match step {
        Step::Retract => Step::Skip,
        Step::ReplaceThenRetract => Step::Replace,
        other => *other,
    };
    Some(versions.steps().iter().map(deaf).collect())
}
