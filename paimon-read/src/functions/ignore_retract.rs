//! Any function, deaf to retractions: `fields.<column>.ignore-retract`.
//!
//! Rule: that of the function. Retraction: nothing happens (ME-096).
//! Source: ME section 4.1, `FieldIgnoreRetractAgg.java`.

use arrow_array::ArrayRef;

use super::versions::Step;
use super::{AggregateFunction, MergeFault, Merged, Versions};

/// The wrapped function.
#[derive(Debug)]
pub(super) struct IgnoreRetract(pub(super) Box<dyn AggregateFunction>);

impl AggregateFunction for IgnoreRetract {
    fn merge(&self, values: &ArrayRef, versions: &Versions<'_>) -> Result<Merged, MergeFault> {
        if !versions.steps().iter().any(|step| step.retracts()) {
            return self.0.merge(values, versions);
        }
        let deaf = |step: &Step| match step {
            Step::Retract => Step::Skip,
            Step::ReplaceThenRetract => Step::Replace,
            other => *other,
        };
        let steps: Vec<_> = versions.steps().iter().map(deaf).collect();
        self.0.merge(values, &versions.with_steps(&steps))
    }
}
