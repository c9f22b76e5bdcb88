//! The files of a merge in the order of its sections, and how each is read first.

use std::sync::Arc;

use paimon_meta::{DataSplit, Result};

use super::legs::SplitPlans;
use super::section::SectionPlan;
use crate::columns::{PartitionValues, Shape};
use crate::estimate::{FileToRead, FirstPass};
use crate::opens::Opens;
use crate::task::KeySpan;

/// The files of a merge split, by the rules that read it.
///
/// # Errors
/// As [`super::legs::merge_legs`].
pub(super) fn files_to_read(
    opens: Opens,
    shape: &Arc<Shape>,
    split: DataSplit,
    partition: PartitionValues,
    span: Option<&KeySpan>,
) -> Result<Vec<FileToRead>> {
    let plans = SplitPlans::new(opens, shape, partition, span)?;
    let mut found = Vec::new();
    for runs in plans.rows.sections(split.files)? {
        let merge = plans.merge_of(plans.fold_of(&runs));
        let SectionPlan { columns, key_pass } = merge.plan_section(&runs)?;
        let keys = merge.keys_wanted()?;
        found.extend(runs.into_iter().flatten().map(|file| FileToRead {
            meta: file.meta,
            columns: Arc::clone(&columns),
            first: match key_pass {
                Some(_) => FirstPass::Keys(keys.clone()),
                None => FirstPass::Rows(None),
            },
        }));
    }
    Ok(found)
}
