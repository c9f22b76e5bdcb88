//! Merge engine `first-row`.

use paimon_meta::{Error, Options, Result};

use super::merge::{Engine, Record};

/// The first row wins, with its own kind (ME-137).
#[derive(Debug)]
pub(super) struct FirstRow {
    ignore_delete: bool,
}

impl FirstRow {
    /// # Errors
    /// `InvalidInput` for columns that order versions (ME-140).
    pub(super) fn new(options: &Options, ignore_delete: bool) -> Result<Self> {
        if options.sequence_field().is_empty() {
            return Ok(Self { ignore_delete });
        }
        Err(Error::invalid_input(
            "sequence.field with merge engine first-row",
        ))
    }
}

impl Engine for FirstRow {
    fn merge(&self, versions: &[Record]) -> Result<Option<Record>> {
        let retracts = versions.iter().any(|version| !version.kind.is_add());
        if retracts && !self.ignore_delete {
            // ME-138
            return Err(Error::invalid_input("a retract of merge engine first-row"));
        }
        let mut adds = versions.iter().filter(|version| version.kind.is_add());
        Ok(adds.next().cloned())
    }
}
