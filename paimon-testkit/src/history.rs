//! What happened to a table, as data: its definition and the steps that filled it.
//!
//! The same [`History`] is written by this crate's writer, replayed by its oracle, and can be run by another
//! implementation of Paimon. Its JSON form is that of the golden tables' `definition`; `docs/history.md` describes it.
//!
//! ```text
//! History ─┬─ TableDefinition   columns, primary key, partition columns, options
//!          └─ Step …            what is done (Action), on which branch, with which dynamic options
//! ```

mod change;
mod definition;
mod range;
mod step;

#[cfg(test)]
mod tests;

use std::fmt;

use paimon_meta::{Error, Result};
use serde::{Deserialize, Serialize};

pub use change::{ColumnPlace, SchemaChange};
pub use definition::{ColumnDefinition, TableDefinition};
pub use range::{RangeRows, RangeValue};
#[cfg(feature = "writer")]
pub(crate) use step::kind_of;
pub use step::{Action, Commit, Compaction, HistoryRow, RollbackTo, Step};

/// A table and all that happened to it, in order.
///
/// Prints as JSON with one step on a line, which is what a failing test shows and a seed file keeps.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// The table as it was created.
    #[serde(flatten)]
    pub table: TableDefinition,
    /// What was done to it.
    #[serde(default)]
    pub steps: Vec<Step>,
}

impl History {
    /// A history from its JSON form. Members that are no part of a history (`name`, `reads`) are passed over, so that
    /// the definition of a golden table is read as it stands.
    ///
    /// # Errors
    /// `InvalidInput` if it is no history, or has a step that the model does not know.
    pub fn from_json(text: &[u8]) -> Result<Self> {
        serde_json::from_slice(text)
            .map_err(|error| Error::invalid_input(format!("no history: {error}")))
    }
}

impl fmt::Debug for History {
    /// As it is displayed: failing tests show histories that can be run.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = serde_json::to_string(&self.table).map_err(|_| fmt::Error)?;
        let open = table.strip_suffix('}').unwrap_or_default();
        write!(f, "{open}, \"steps\": [")?;
        for (index, step) in self.steps.iter().enumerate() {
            let step = serde_json::to_string(step).map_err(|_| fmt::Error)?;
            write!(f, "{}\n {step}", if index > 0 { "," } else { "" })?;
        }
        f.write_str("\n]}")
    }
}
