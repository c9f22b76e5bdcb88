//! Folding: versions of keys in, rows out, column by column.
//!
//! ```text
//! key pass ──▶ value pass ──▶ batch of versions ──▶ engine ──▶ batch of rows ──▶ condition ──▶ output batches
//!  (picks every   (their        k1 a1 . .            column by     k1 a2 b1
//!   version)       columns)     k1 a2 b1 .           column        k2 a3 .
//!                               k2 a3 . .
//! ```
//!
//! For engines whose row is made of several versions. A condition on values is asked about their results alone. Keys
//! that have one version in all of a batch pass through without a copy.
//!
//! | file | holds |
//! |---|---|
//! | `options` | what the options say of merging |
//! | `plan` | which columns are read, and what becomes of each |
//! | `columns` | columns of versions to columns of rows |
//! | `partial_update`, `aggregation` | the engines |
//! | `steps` | what each version does in `partial-update` |
//! | `sequence` | sequence groups |
//! | `rows` | from merged columns to output batches |

mod aggregation;
mod columns;
mod options;
mod partial_update;
mod plan;
mod rows;
mod sequence;
mod steps;

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use paimon_meta::{Error, Frame, Result};

use columns::{Fault, Folded};
use rows::Rows;

use crate::merge::KeyGroups;
use crate::value_pass::ValuePass;

pub(crate) use plan::{FoldPlan, check_options, refuses_retracts};

/// Makes rows of batches of versions.
pub(crate) struct FoldPass {
    versions: ValuePass,
    plan: Arc<FoldPlan>,
    rows: Rows,
}

impl FoldPass {
    /// Folds what `versions` gives, whose shape is that of the plan.
    pub(crate) fn new(versions: ValuePass, plan: Arc<FoldPlan>) -> Self {
        Self {
            rows: Rows::new(&plan),
            versions: versions.traced(),
            plan,
        }
    }

    /// The next batch; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<RecordBatch>> {
        while let Some(batch) = self.versions.next().await? {
            let groups = self.versions.take_groups(batch.num_rows())?;
            let (kinds, values) = self.plan.divide(&batch);
            let folded = self.fold(values, &groups);
            let folded = folded.map_err(|fault| self.explain(fault, values))?;
            if let Some(batch) = self.rows.add(&self.plan, kinds, folded, &groups)? {
                return Ok(Some(batch));
            }
        }
        self.rows.finish()
    }

    fn fold(&self, values: &[ArrayRef], groups: &KeyGroups) -> Result<Folded, Fault> {
        if groups.are_lone() {
            let merged = values.iter().take(self.plan.merged);
            return Ok(Folded {
                columns: merged.cloned().collect(),
                retracted: Vec::new(),
            });
        }
        self.plan.engine.merge(values, groups)
    }

    /// Says of which file and key a version at fault is.
    fn explain(&self, fault: Fault, values: &[ArrayRef]) -> Error {
        let Some(row) = fault.row else {
            return fault.error;
        };
        let error = match self.plan.key_text(values, row) {
            Some(key) => fault.error.with_detail(format_args!("key ({key})")),
            None => fault.error,
        };
        match self.versions.file_of(row) {
            Some(file) => error.at(Frame::File(file.to_owned())),
            None => error,
        }
    }
}
