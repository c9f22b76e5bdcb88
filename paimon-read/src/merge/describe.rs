//! What a merge read will do, by the same rules that do it.

use std::sync::Arc;

use paimon_meta::{DataSplit, Result};

use super::legs::SplitPlans;
use super::section::{KeyedFile, SectionPlan};
use crate::columns::{PartitionValues, Shape};
use crate::describe::{KeyPassDescription, KeyPassFile, SectionDescription, field_ids};
use crate::opens::Opens;
use crate::task::KeySpan;

/// The sections of a merge split.
///
/// # Errors
/// As [`super::section::merge_sections`].
pub(crate) fn describe_sections(
    opens: Opens,
    shape: &Arc<Shape>,
    split: &DataSplit,
    partition: PartitionValues,
    span: Option<&KeySpan>,
) -> Result<Vec<SectionDescription>> {
    let plans = SplitPlans::new(opens, shape, partition, span)?;
    let position = |file: &KeyedFile| {
        let name = &file.meta.file_name;
        let found = split
            .files
            .iter()
            .position(|other| other.file_name == *name);
        found.unwrap_or_default()
    };
    let sections = plans.rows.sections(split.files.clone())?;
    let describe = |runs: Vec<Vec<KeyedFile>>| {
        let fold = plans.fold_of(&runs);
        let merge = plans.merge_of(fold);
        let SectionPlan { columns, key_pass } = merge.plan_section(&runs)?;
        let runs: Vec<Vec<usize>> = runs
            .iter()
            .map(|run| run.iter().map(position).collect())
            .collect();
        let key_pass = key_pass.map(|key_pass| {
            let (keys, sequence_fields) = merge.split_decoded(&key_pass.decoded);
            let files = runs.iter().flatten().zip(&key_pass.needs);
            KeyPassDescription {
                keys: field_ids(keys),
                sequence_fields: field_ids(sequence_fields),
                condition: merge.key_predicate().cloned(),
                files: files
                    .map(|(file, needs)| KeyPassFile {
                        file: *file,
                        sequence_number: needs.sequence,
                        row_kind: needs.kind,
                    })
                    .collect(),
            }
        });
        let section = SectionDescription::new(runs, &columns, key_pass);
        Ok(match fold {
            None => section,
            Some(fold) => SectionDescription {
                fold: Some(fold.plan.engine_name().to_owned()),
                condition: fold.plan.condition.clone(),
                ..section
            },
        })
    };
    sections.into_iter().map(describe).collect()
}
