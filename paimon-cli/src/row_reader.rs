//! The rows of a read's splits, seen through the view that the table's name asks for: `TABLE$audit_log`, `TABLE$binlog`.

use std::sync::Arc;

use arrow_schema::SchemaRef;
use paimon_meta::{Result, Split};
use paimon_read::{BatchStream, ChangelogView, ReadTask, TableReader};

/// Reads tasks.
#[derive(Debug)]
pub(crate) struct RowReader {
    table: TableReader,
    view: Option<Arc<ChangelogView>>,
}

impl RowReader {
    pub(crate) fn new(table: TableReader, view: Option<ChangelogView>) -> Self {
        Self {
            table,
            view: view.map(Arc::new),
        }
    }

    /// The reader below the view.
    pub(crate) fn table(&self) -> &TableReader {
        &self.table
    }

    /// As [`Self::table`], alone.
    pub(crate) fn into_table(self) -> TableReader {
        self.table
    }

    /// Schema of the batches.
    pub(crate) fn schema(&self) -> SchemaRef {
        match &self.view {
            None => self.table.schema(),
            Some(view) => view.schema(),
        }
    }

    /// The rows of a task.
    ///
    /// # Errors
    /// What is not supported.
    pub(crate) fn read(&self, task: ReadTask) -> Result<BatchStream> {
        let Some(view) = &self.view else {
            return self.table.read(task);
        };
        let streaming = match &task.split {
            Split::Data(split) => split.streaming,
            Split::Incremental(split) => split.streaming,
            _ => false,
        };
        Ok(view.read(self.table.read(task)?, streaming))
    }
}
