//! What a read of a task will do, told from metadata alone: for explanations, and for engines that place work.

use std::sync::Arc;

use paimon_meta::{FieldId, Result, TablePredicate};
use serde::{Deserialize, Serialize};

use crate::columns::ColumnPlan;
use crate::context::ReadContext;
use crate::evolve::Wanted;
use crate::provider::provider_of;
use crate::task::ReadTask;

/// How a task will be read. Files are told by their position in the split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadDescription {
    /// Name of the provider that reads it.
    pub provider: String,
    /// Its sections in the order of reading; one for a raw read, none if the provider tells nothing.
    pub sections: Vec<SectionDescription>,
}

/// How the files of one section are read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SectionDescription {
    /// The sorted runs, each with its files in key order; one run of all files for a raw read.
    pub runs: Vec<Vec<usize>>,
    /// What is read to decide between the versions of a key; `None` where every row of the files is one of the result.
    pub key_pass: Option<KeyPassDescription>,
    /// The engine that makes a row of several versions. Then the key pass picks every version that takes part, the value
    /// columns are read of all of them, and the condition is asked of the rows that come out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fold: Option<String>,
    /// What is left of the condition for whole rows of this section; after the key pass only winners are asked.
    pub condition: Option<TablePredicate>,
    /// Columns read for the condition alone, of rows that the key pass picked.
    pub condition_columns: Vec<FieldId>,
    /// Columns read last, of rows that satisfy the condition.
    pub value_columns: Vec<FieldId>,
    /// The condition cannot hold for any row: nothing is read.
    pub nothing_passes: bool,
}

/// What a key pass reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeyPassDescription {
    /// Key columns, in key order.
    pub keys: Vec<FieldId>,
    /// Columns of `sequence.field`, where several runs meet.
    pub sequence_fields: Vec<FieldId>,
    /// Condition on key columns alone: it prunes every run, for all versions of a key pass or fail together (RP-323).
    pub condition: Option<TablePredicate>,
    /// The files, in the order of the runs.
    pub files: Vec<KeyPassFile>,
}

/// What a key pass reads of one file beside the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyPassFile {
    /// The file.
    pub file: usize,
    /// `_SEQUENCE_NUMBER`, unless the files' ranges tell which is newer.
    pub sequence_number: bool,
    /// `_VALUE_KIND`, unless the file is known to hold no retracts and kinds are not asked for.
    pub row_kind: bool,
}

/// How a task will be read. Requests nothing.
///
/// # Errors
/// As [`provider_of`], and `Corrupt` for keys and partitions that do not decode.
pub fn describe(task: &ReadTask, context: &Arc<ReadContext>) -> Result<ReadDescription> {
    let provider = provider_of(task, context)?;
    Ok(ReadDescription {
        provider: provider.name().to_owned(),
        sections: provider.describe(task, context)?,
    })
}

impl SectionDescription {
    /// A section by its columns.
    pub(crate) fn new(
        runs: Vec<Vec<usize>>,
        columns: &ColumnPlan,
        key_pass: Option<KeyPassDescription>,
    ) -> Self {
        let filter = columns.filter.as_ref();
        Self {
            runs,
            key_pass,
            fold: None,
            condition: filter.and_then(|filter| filter.predicate.clone()),
            condition_columns: filter.map_or_else(Vec::new, |filter| field_ids(&filter.read)),
            value_columns: field_ids(&columns.late),
            nothing_passes: columns.nothing_passes,
        }
    }
}

/// The columns of the table among those wanted.
pub(crate) fn field_ids(wanted: &[Wanted]) -> Vec<FieldId> {
    let fields = wanted.iter().filter_map(|column| match column {
        Wanted::Field(field) => Some(field.id),
        Wanted::Sequence | Wanted::Kind => None,
    });
    fields.collect()
}

#[cfg(test)]
mod tests;
