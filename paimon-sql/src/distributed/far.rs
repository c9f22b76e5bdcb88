//! Tables that another process planned a query over.

use std::sync::Arc;

use arrow_schema::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::{ExecutionPlan, collect_partitioned};

use super::dealt::DealtScan;
use crate::scan::PaimonScan;

/// A table of this crate, scanned so that Ballista can deal the scan out.
#[derive(Debug)]
pub(crate) struct FarTable(pub(crate) Arc<dyn TableProvider>);

#[async_trait]
impl TableProvider for FarTable {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }

    fn table_type(&self) -> TableType {
        self.0.table_type()
    }

    /// Rows are read where they are dealt to; those of metadata are read here, and go with the plan.
    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let scan = self.0.scan(state, projection, filters, limit).await?;
        if let Some(scan) = scan.downcast_ref::<PaimonScan>() {
            return Ok(Arc::new(DealtScan::of(scan)?));
        }
        let schema = scan.schema();
        let rows = collect_partitioned(scan, state.task_ctx()).await?;
        let rows = MemorySourceConfig::try_new_exec(&rows, schema, None)?;
        Ok(rows)
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        self.0.supports_filters_pushdown(filters)
    }
}
