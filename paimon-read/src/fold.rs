//! Folding: versions of keys in, rows out, column by column.
//!
//! ```text
//! key pass ──▶ value pass ──▶ batch of versions ──▶ engine ──▶ batch of rows ──▶ condition ──▶ output batches
//!  (picks every   (their        k1 a1 . .            column by     k1 a2 b1
//!   version)       columns,     k1 a2 b1 .           column        k2 a3 .
//!                  ungathered)  k2 a3 . .
//! ```
//!
//! For engines whose row is made of several versions. A condition on values is asked about their results alone. Versions
//! stay where they were decoded until it is known which of them are rows of the result.
//!
//! | file | holds |
//! |---|---|
//! | `options` | what the options say of merging |
//! | `plan` | which columns are read, and what becomes of each |
//! | `versions` | the columns of versions, and what is gathered of them |
//! | `columns` | what merges columns, what comes out, and why it may fail |
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
mod versions;

use std::sync::Arc;

use arrow_array::RecordBatch;
use paimon_meta::{Error, Frame, Result};

use columns::{Fault, Folded};
use rows::Rows;
use versions::VersionColumns;

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
        while let Some((versions, groups)) = self.versions.next_versions().await? {
            let columns = VersionColumns::new(&versions, &groups, self.plan.before());
            let folded = self.fold(&columns);
            let folded = folded.map_err(|fault| self.explain(fault, &columns))?;
            let kinds = self.plan.kinds.then(|| columns.newest_before(0));
            let kinds = kinds.transpose()?;
            let sources = versions.source_count();
            let added = self
                .rows
                .add(&self.plan, kinds, folded, (&groups, sources))?;
            if added.is_some() {
                return Ok(added);
            }
        }
        self.rows.finish()
    }

    fn fold(&self, columns: &VersionColumns<'_>) -> Result<Folded, Fault> {
        if columns.groups().are_lone() {
            let merged = (0..self.plan.merged).map(|column| columns.newest(column));
            return Ok(Folded {
                columns: merged.collect::<Result<_>>()?,
                retracted: Vec::new(),
            });
        }
        self.plan.engine.merge(columns)
    }

    /// Says of which file and key a version at fault is.
    fn explain(&self, fault: Fault, columns: &VersionColumns<'_>) -> Error {
        let Some(version) = fault.row else {
            return fault.error;
        };
        let error = match self.plan.key_text(columns, version) {
            Some(key) => fault.error.with_detail(format_args!("key ({key})")),
            None => fault.error,
        };
        let row = u32::try_from(version).ok();
        let row = row.and_then(|version| columns.groups().row_of(version));
        match row.and_then(|row| self.versions.file_of(row as usize)) {
            Some(file) => error.at(Frame::File(file.to_owned())),
            None => error,
        }
    }
}
