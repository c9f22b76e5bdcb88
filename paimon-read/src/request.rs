//! What a caller asks of a read.

use paimon_meta::{Error, FieldId, Result, StringLayout, TablePredicate, TableSchema};
use serde::{Deserialize, Serialize};

/// Whether the kinds of rows are part of the result, and which rows there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RowKinds {
    /// Rows without their kinds; retracts are dropped after merging. Rows of changes are not merged (RP-303), so that
    /// retracts stay among them.
    #[default]
    Drop,
    /// The same rows, each with its kind: a leading column `_ROW_KIND` (Int8, RP-003). Rows that are read without a merge
    /// are inserts (RP-218).
    Show,
    /// Merged rows with their kind, retracts too: a leading column `_ROW_KIND` (Int8, RP-003). Turns raw reading off
    /// where it would lose the kind (RP-210).
    Keep,
}

/// The order in which a task's rows are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RowOrder {
    /// Whatever costs least.
    #[default]
    Any,
    /// By trimmed primary key, ascending, nulls first.
    Key,
}

/// The unit of timestamps of 7 to 9 digits, which 64 bits of nanoseconds hold for the years 1677 to 2262 alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FineTimestamps {
    /// Nanoseconds. A value outside their range is an error that names the column and the value.
    #[default]
    Nanoseconds,
    /// Microseconds, with the digits beyond them cut. Conditions and keys still compare nanoseconds, and fail on what is
    /// outside their range; partition columns stay as they are.
    Microseconds,
}

/// What to read. Data: it can be sent to where the tasks are read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadRequest {
    /// Columns in the order of the output; `None` is all of the table. May be empty: batches then only count rows.
    pub projection: Option<Vec<FieldId>>,
    /// Condition on rows. It may use columns that are not projected; those are read and dropped. Only rows for which it
    /// is true come out, raw and merged.
    pub predicate: Option<TablePredicate>,
    /// At most this many rows from one stream.
    pub limit: Option<u64>,
    /// Most rows in a batch, at least 1.
    pub batch_size: usize,
    /// Layout of text and bytes in the output.
    pub strings: StringLayout,
    /// Unit of timestamps of 7 to 9 digits in the output.
    #[serde(default)]
    pub fine_timestamps: FineTimestamps,
    /// Row kinds dropped or kept.
    pub row_kinds: RowKinds,
    /// Order wanted within a task.
    pub order: RowOrder,
    /// Bytes of keys and picks that a merge may hold ahead of its output. A merge holds at least the keys of one batch
    /// of every open run, whatever the budget. Row groups of four eighths of it and more come in windows of an eighth, of
    /// which an open file holds two at most.
    pub window_bytes: usize,
}

/// A store is not asked for less at a time, unless it is all there is.
const LEAST_FILE_WINDOW: u64 = 64 << 10;

impl ReadRequest {
    /// Bytes of a row group that are asked for at a time.
    pub(crate) fn file_window_bytes(&self) -> u64 {
        (self.window_bytes as u64 / 8).max(LEAST_FILE_WINDOW)
    }
}

impl Default for ReadRequest {
    fn default() -> Self {
        Self {
            projection: None,
            predicate: None,
            limit: None,
            batch_size: 8192,
            strings: StringLayout::default(),
            fine_timestamps: FineTimestamps::default(),
            row_kinds: RowKinds::default(),
            order: RowOrder::default(),
            window_bytes: 32 << 20,
        }
    }
}

impl ReadRequest {
    /// This request with columns by name.
    ///
    /// # Errors
    /// `InvalidInput` for a name that the schema does not have.
    pub fn with_columns<S: AsRef<str>>(
        mut self,
        schema: &TableSchema,
        names: &[S],
    ) -> Result<Self> {
        let ids = names
            .iter()
            .map(|name| schema.field(name.as_ref()).map(|field| field.id));
        self.projection = Some(ids.collect::<Result<_>>()?);
        Ok(self)
    }

    /// # Errors
    /// `InvalidInput` for a batch size of 0.
    pub(crate) fn check(&self) -> Result<()> {
        if self.batch_size == 0 {
            return Err(Error::invalid_input("batch size is 0, expected at least 1"));
        }
        Ok(())
    }
}
