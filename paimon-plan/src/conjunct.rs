//! Where the parts of a read's condition act.

use paimon_meta::{Predicate, TablePredicate};
use serde::{Deserialize, Serialize};

use crate::pruning::PruneStep;

/// What one conjunct of a read's condition does to its plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConjunctUse {
    /// The conjunct.
    pub predicate: TablePredicate,
    /// Whether the plan answers it: every row of the splits satisfies it. If not, it must be evaluated on rows.
    pub exact: bool,
    /// The steps that prune by it.
    pub prunes: Vec<PruneStep>,
}

/// The conjuncts that a plan does not answer, as one condition.
pub(crate) fn residual(uses: &[ConjunctUse]) -> Option<TablePredicate> {
    let left = uses.iter().filter(|conjunct| !conjunct.exact);
    let left: Vec<_> = left.map(|conjunct| conjunct.predicate.clone()).collect();
    (!left.is_empty()).then(|| Predicate::and(left))
}
