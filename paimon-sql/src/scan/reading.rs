//! What a scan reads, as data, and the reader that it becomes.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{Schema, SchemaRef};
use datafusion::arrow::compute::filter;
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use futures_util::future::ready;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use paimon_io::Resources;
use paimon_meta::{
    Error, ResolvedTable, RowKind, Split, StringLayout, TablePredicate, arrow_schema,
};
use paimon_read::{
    ChangelogTable, ChangelogView, ReadContext, ReadRequest, ReadTask, RowFilter, RowKinds,
    TableReader, default_providers,
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

    /// Whether rows are changes without their kinds: those that take rows back are left out, as the reference does in SQL.
    pub(crate) fn shows_adds_only(&self) -> bool {
        self.view.is_none() && self.table.changes.is_some()
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
        let adds_only = self.shows_adds_only();
        let mut request = match &view {
            Some(view) => view.request(self.residual.clone()),
            None => ReadRequest {
                predicate: self.residual.clone(),
                ..self.request.clone()
            },
        };
        if adds_only {
            request.row_kinds = RowKinds::Show;
            request.limit = None;
        }
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
            adds_only,
            limit: self.request.limit,
        })
    }
}

/// Reads tasks.
#[derive(Clone, Debug)]
pub(crate) struct RowReader {
    table: TableReader,
    view: Option<Arc<ChangelogView>>,
    adds_only: bool,
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
            None if self.adds_only => without_kind(&self.table.schema()),
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
            if !self.adds_only {
                return Ok(rows.map_err(external).boxed());
            }
            let schema = self.schema();
            let kept = Arc::clone(&schema);
            let rows = rows.and_then(move |batch| ready(adds(&batch, &kept)));
            let rows = paimon_read::BatchStream::new(schema, rows).limited(self.limit);
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

/// The columns behind that of the kinds.
fn without_kind(schema: &Schema) -> SchemaRef {
    let fields: Vec<_> = schema.fields().iter().skip(1).cloned().collect();
    Arc::new(Schema::new(fields))
}

/// Rows that are adds, without the column of their kinds.
fn adds(batch: &RecordBatch, schema: &SchemaRef) -> paimon_meta::Result<RecordBatch> {
    let kinds = batch.columns().first();
    let kinds = kinds.and_then(|column| column.as_primitive_opt::<Int8Type>());
    let kinds = kinds.ok_or_else(|| Error::internal("changes without kinds"))?;
    let is_add = |kind: &i8| RowKind::from_byte(*kind).map(RowKind::is_add);
    let kept = kinds.values().iter().map(is_add);
    let kept = BooleanArray::from(kept.collect::<paimon_meta::Result<Vec<bool>>>()?);
    let rows = kept.true_count();
    let columns = batch.columns().iter().skip(1);
    let columns = columns.map(|column| filter(column, &kept));
    let columns = columns.collect::<std::result::Result<Vec<_>, _>>();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    columns
        .and_then(|columns| {
            RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
        })
        .map_err(|error| Error::internal("cannot leave out rows").with_source(error))
}
