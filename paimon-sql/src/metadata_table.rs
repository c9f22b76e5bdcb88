//! System tables whose rows are made of metadata: `$files`, `$snapshots` and so on.

use std::sync::Arc;

use arrow_schema::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use futures_util::TryStreamExt;
use futures_util::stream;
use paimon_io::Resources;
use paimon_meta::{
    FieldId, Predicate, ResolvedTable, StringLayout, TablePredicate, TableSchema, arrow_schema,
};
use paimon_plan::{MetadataRows, MetadataTable, metadata_rows};
use paimon_read::{BatchStream, ReadRequest, read_rows};

use crate::condition::to_predicate;
use crate::error::external;

/// A metadata table in the state that its table was resolved in. Its metadata is read anew for each scan.
#[derive(Debug)]
pub(crate) struct MetadataProvider {
    table: ResolvedTable,
    which: MetadataTable,
    resources: Resources,
    fields: TableSchema,
    schema: SchemaRef,
}

impl MetadataProvider {
    /// # Errors
    /// Those of making the Arrow schema.
    pub(crate) fn new(
        table: ResolvedTable,
        which: MetadataTable,
        resources: Resources,
    ) -> Result<Self> {
        let fields = which.schema();
        let schema = arrow_schema(&fields.fields, StringLayout::View).map_err(external)?;
        Ok(Self {
            table,
            which,
            resources,
            fields,
            schema: Arc::new(schema),
        })
    }

    /// The table that the metadata is of.
    #[cfg(feature = "ballista")]
    pub(crate) fn resolved(&self) -> &ResolvedTable {
        &self.table
    }

    /// Which metadata.
    #[cfg(feature = "ballista")]
    pub(crate) fn which(&self) -> MetadataTable {
        self.which
    }
}

#[async_trait]
impl TableProvider for MetadataProvider {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::View
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let predicates = filters
            .iter()
            .filter_map(|filter| to_predicate(filter, &self.fields));
        let predicates: Vec<TablePredicate> = predicates.collect();
        let ids = projection.map(|columns| {
            let fields = columns.iter().filter_map(|at| self.fields.fields.get(*at));
            fields.map(|field| field.id).collect::<Vec<FieldId>>()
        });
        let request = ReadRequest {
            projection: ids,
            predicate: (!predicates.is_empty()).then(|| Predicate::and(predicates)),
            limit: limit.and_then(|rows| u64::try_from(rows).ok()),
            batch_size: state.config().batch_size(),
            strings: StringLayout::View,
            ..ReadRequest::default()
        };
        let rows = metadata_rows(&self.resources, &self.table, self.which)
            .await
            .map_err(external)?;
        let listed = Listed {
            schema: match projection {
                Some(columns) => Arc::new(self.schema.project(columns)?),
                None => Arc::clone(&self.schema),
            },
            rows: Arc::new(rows),
            request,
        };
        let schema = Arc::clone(&listed.schema);
        let plan =
            StreamingTableExec::try_new(schema, vec![Arc::new(listed)], None, [], false, None)?;
        Ok(Arc::new(plan))
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        let exact = |filter: &&Expr| match to_predicate(filter, &self.fields) {
            Some(_) => TableProviderFilterPushDown::Exact,
            None => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(exact).collect())
    }
}

/// Rows of metadata, and what is asked of them.
#[derive(Debug)]
struct Listed {
    schema: SchemaRef,
    rows: Arc<MetadataRows>,
    request: ReadRequest,
}

impl Listed {
    fn read(&self) -> paimon_meta::Result<BatchStream> {
        let rows = Arc::clone(&self.rows);
        let fields = &self.rows.schema().fields;
        read_rows(
            fields,
            self.rows.len(),
            &self.request,
            move |range, columns| rows.batch(range, columns, StringLayout::View),
        )
    }
}

impl PartitionStream for Listed {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let rows = stream::once(std::future::ready(self.read())).try_flatten();
        let schema = Arc::clone(&self.schema);
        Box::pin(RecordBatchStreamAdapter::new(
            schema,
            rows.map_err(external),
        ))
    }
}
