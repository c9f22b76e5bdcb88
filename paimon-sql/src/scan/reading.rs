//! What a scan reads, as data, and the reader that it becomes.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use paimon_io::Resources;
use paimon_meta::{ResolvedTable, Split, StringLayout, TablePredicate, arrow_schema};
use paimon_read::{
    ChangelogTable, ChangelogView, ReadContext, ReadRequest, ReadTask, RowFilter, TableReader,
    default_providers,
};

use crate::error::external;
use crate::expression_filter::ExpressionFilter;

/// What is read of a table.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "ballista", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Reading {
    /// The table.
    pub(crate) table: Arc<ResolvedTable>,
    /// The view that its rows are seen through.
    pub(crate) view: Option<ChangelogTable>,
    /// What is asked of the table or of its view, with the whole condition.
    pub(crate) request: ReadRequest,
    /// What the plan has left of the condition.
    pub(crate) residual: Option<TablePredicate>,
    /// Conditions that the request does not hold, over [`Self::columns`]. Views have none.
    #[cfg_attr(feature = "ballista", serde(skip))]
    pub(crate) filters: Vec<Arc<dyn PhysicalExpr>>,
}

impl Reading {
    /// All columns of the table.
    ///
    /// # Errors
    /// `Unsupported` for a column type without an Arrow type.
    pub(crate) fn columns(&self) -> Result<Schema> {
        let fields = &self.table.schema.fields;
        arrow_schema(fields, StringLayout::View).map_err(external)
    }

    /// A reader through these resources.
    ///
    /// # Errors
    /// Those of the request.
    pub(crate) fn reader(&self, resources: Resources) -> Result<RowReader> {
        let schema = &self.table.schema;
        let view = self
            .view
            .map(|which| ChangelogView::new(which, schema, &self.request));
        let view = view.transpose().map_err(external)?;
        let request = match &view {
            Some(view) => view.request(self.residual.clone()),
            None => ReadRequest {
                predicate: self.residual.clone(),
                ..self.request.clone()
            },
        };
        let filter = ExpressionFilter::new(&self.filters, schema)?;
        let table = TableReader::from_context(ReadContext {
            table: Arc::clone(&self.table),
            request,
            filter: filter.map(|filter| Arc::new(filter) as Arc<dyn RowFilter>),
            resources,
            providers: default_providers(),
        });
        Ok(RowReader {
            table: table.map_err(external)?,
            view: view.map(Arc::new),
            limit: self.request.limit,
        })
    }
}

/// Reads tasks.
#[derive(Clone, Debug)]
pub(crate) struct RowReader {
    table: TableReader,
    view: Option<Arc<ChangelogView>>,
    limit: Option<u64>,
}

impl RowReader {
    /// The reader below the view.
    pub(crate) fn table(&self) -> &TableReader {
        &self.table
    }

    /// Schema of the batches.
    pub(crate) fn schema(&self) -> SchemaRef {
        match &self.view {
            None => self.table.schema(),
            Some(view) => view.schema(),
        }
    }

    /// The rows of tasks, one after the other, up to the limit over all of them.
    ///
    /// # Errors
    /// What is not supported.
    pub(crate) fn read(
        &self,
        tasks: Vec<ReadTask>,
    ) -> Result<BoxStream<'static, Result<RecordBatch>>> {
        let Some(view) = &self.view else {
            let rows = self.table.read_all(tasks).map_err(external)?;
            return Ok(rows.map_err(external).boxed());
        };
        let through = |task: ReadTask| {
            let changes = is_changes(&task.split);
            Ok(view.read(self.table.read(task)?, changes))
        };
        let streams: paimon_meta::Result<Vec<_>> = tasks.into_iter().map(through).collect();
        let streams = streams.map_err(external)?.into_iter().map(Ok);
        let rows = stream::iter(streams).try_flatten();
        let rows = paimon_read::BatchStream::new(self.schema(), rows).limited(self.limit);
        Ok(rows.map_err(external).boxed())
    }
}

/// Whether rows of a split are changes.
fn is_changes(split: &Split) -> bool {
    match split {
        Split::Data(split) => split.streaming,
        Split::Incremental(split) => split.streaming,
        _ => false,
    }
}
