//! A Paimon table as a table of DataFusion.

use std::sync::Arc;

use arrow_schema::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Statistics, ToDFSchema, not_impl_err};
use datafusion::error::Result;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use paimon_io::Resources;
use paimon_meta::{FieldId, Predicate, ResolvedTable, StringLayout, TablePredicate, TableSchema};
use paimon_plan::{Plan, ScanRequest, plan};
use paimon_read::{ChangelogTable, ChangelogView, ReadRequest, ReadTask};

use crate::condition::to_predicate;
use crate::error::external;
use crate::limits::keep_limits;
use crate::scan::{Division, Explained, PaimonScan, Reading, ScanParts, divide};
use crate::statistics::to_sql;

/// Which rows of a table there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "ballista", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Shown {
    /// All of them, merged.
    Rows,
    /// `$ro`: those of the top level.
    TopLevel,
    /// `$audit_log` and `$binlog`: behind their kinds.
    Changelog(ChangelogTable),
}

impl Shown {
    fn view(self) -> Option<ChangelogTable> {
        match self {
            Self::Changelog(which) => Some(which),
            Self::Rows | Self::TopLevel => None,
        }
    }
}

/// What a query asks of rows.
struct Conditions {
    predicate: Option<TablePredicate>,
    /// What no predicate can say.
    expressions: Vec<Arc<dyn PhysicalExpr>>,
}

/// One state of a Paimon table: its rows do not change while it is registered.
///
/// Conditions are answered exactly by the scan: as predicates that prune and filter where they can be said so, as
/// expressions on the rows that win otherwise. A scan of a primary-key table keeps the order of the key within each
/// partition where each is one task. In sessions that have [`physical_optimizer_rules`](crate::physical_optimizer_rules) it
/// declares that order, and takes dynamic filters. That no two rows share a key is not told: DataFusion 55.2
/// takes the key for one of what joins and `DISTINCT` make of the rows too (`aggregate_functional_dependencies`), and leaves
/// columns out of `GROUP BY` and `ORDER BY`.
#[derive(Debug)]
pub struct PaimonTable {
    table: Arc<ResolvedTable>,
    shown: Shown,
    resources: Resources,
    /// The columns: those of the table, or of the view.
    fields: TableSchema,
    schema: SchemaRef,
}

impl PaimonTable {
    /// A table that was resolved before.
    ///
    /// # Errors
    /// `Unsupported`, as the cause, for a column type without an Arrow type.
    pub fn new(table: ResolvedTable, resources: Resources) -> Result<Self> {
        Self::with_shown(table, Shown::Rows, resources)
    }

    /// The same for any of the sets of rows.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn with_shown(
        table: ResolvedTable,
        shown: Shown,
        resources: Resources,
    ) -> Result<Self> {
        let fields = match shown {
            Shown::Rows | Shown::TopLevel => table.schema.clone(),
            Shown::Changelog(which) => which.schema(&table.schema),
        };
        let table = Arc::new(table);
        // That of the reader: what older schemas did not have may be null, whatever the table says now.
        let reading = Reading {
            table: Arc::clone(&table),
            view: shown.view(),
            request: ReadRequest {
                strings: StringLayout::View,
                ..ReadRequest::default()
            },
            residual: None,
            filters: Vec::new(),
        };
        let schema = reading.reader(resources.clone())?.schema();
        Ok(Self {
            table,
            shown,
            resources,
            fields,
            schema,
        })
    }

    /// The resolved table.
    pub fn resolved(&self) -> &Arc<ResolvedTable> {
        &self.table
    }

    /// Which of its rows.
    #[cfg(feature = "ballista")]
    pub(crate) fn shown(&self) -> Shown {
        self.shown
    }

    /// Divides conditions into what a predicate can say and what it cannot.
    fn divide(&self, state: &dyn Session, filters: &[Expr]) -> Result<Conditions> {
        let mut predicates = Vec::new();
        let mut expressions = Vec::new();
        for filter in filters {
            match to_predicate(filter, &self.fields) {
                Some(predicate) => predicates.push(predicate),
                None => {
                    let schema = Arc::clone(&self.schema).to_dfschema()?;
                    expressions.push(state.create_physical_expr(filter.clone(), &schema)?);
                }
            }
        }
        Ok(Conditions {
            predicate: (!predicates.is_empty()).then(|| Predicate::and(predicates)),
            expressions,
        })
    }

    /// Ids of columns by their place in the schema.
    fn ids(&self, projection: Option<&Vec<usize>>) -> Option<Vec<FieldId>> {
        let fields = &self.fields.fields;
        let id = |column: &usize| fields.get(*column).map(|field| field.id);
        projection.map(|columns| columns.iter().filter_map(id).collect())
    }

    /// Plans what is asked; splits may be left out under a limit only if all of their rows count.
    async fn plan(&self, asked: &ReadRequest, has_filters: bool) -> paimon_meta::Result<Plan> {
        let (predicate, limit) = match self.shown {
            Shown::Changelog(which) => {
                let view = ChangelogView::new(which, &self.table.schema, asked)?;
                (view.predicate().cloned(), view.limit())
            }
            Shown::Rows | Shown::TopLevel => (asked.predicate.clone(), asked.limit),
        };
        let request = ScanRequest {
            predicate,
            // Changes that take rows back are left out.
            limit: limit.filter(|_| !has_filters && self.table.changes.is_none()),
            keep_statistics: true,
            read_optimized: self.shown == Shown::TopLevel,
            ..ScanRequest::default()
        };
        plan(&self.resources, &self.table, &request).await
    }

    /// What is known of the rows of a plan.
    fn statistics(&self, plan: &Plan, reading: &Reading, schema: &SchemaRef) -> Result<Statistics> {
        if reading.view.is_some() || reading.shows_adds_only() {
            return Ok(Statistics::new_unknown(schema));
        }
        let all_rows = reading.filters.is_empty()
            && reading.request.limit.is_none()
            && reading.residual.is_none();
        let known = plan.statistics(&self.table).map_err(external)?;
        Ok(to_sql(&known, &self.table.schema, schema, all_rows))
    }
}

#[async_trait]
impl TableProvider for PaimonTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        match self.shown {
            Shown::Rows => TableType::Base,
            Shown::TopLevel | Shown::Changelog(_) => TableType::View,
        }
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let conditions = self.divide(state, filters)?;
        let filters = conditions.expressions;
        let request = ReadRequest {
            projection: self.ids(projection),
            predicate: conditions.predicate,
            limit: limit.and_then(|rows| u64::try_from(rows).ok()),
            batch_size: state.config().batch_size(),
            strings: StringLayout::View,
            ..ReadRequest::default()
        };
        let plan = self.plan(&request, !filters.is_empty()).await;
        let plan = plan.map_err(external)?;
        let reading = Reading {
            table: Arc::clone(&self.table),
            view: self.shown.view(),
            request,
            residual: plan.residual(),
            filters,
        };
        let resources = self.resources.measured();
        let reader = reading.reader(resources.clone())?;
        let splits = (0..plan.len()).map(|split| plan.split(split).map(ReadTask::new));
        let tasks: Vec<ReadTask> = splits
            .collect::<paimon_meta::Result<_>>()
            .map_err(external)?;
        let raw = plan.iter().filter(|split| split.raw_convertible()).count();
        let division = Division {
            partitions: state.config().target_partitions(),
            least_bytes: state.config_options().optimizer.repartition_file_min_size,
        };
        let mut partitions = divide(reader.table(), tasks, division).await?;
        let keeps_limits = keep_limits(state.physical_optimizers());
        partitions.in_order &= keeps_limits;
        let parts = ScanParts {
            partitions,
            takes_filters: keeps_limits,
            statistics: Arc::new(self.statistics(&plan, &reading, &reader.schema())?),
            explained: Explained {
                conjuncts: plan.conjuncts().to_vec(),
                raw,
                merged: plan.len() - raw,
            },
            reading,
        };
        Ok(Arc::new(PaimonScan::new(parts, resources)?))
    }

    async fn insert_into(
        &self,
        _: &dyn Session,
        _: Arc<dyn ExecutionPlan>,
        _: InsertOp,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let location = &self.table.location;
        not_impl_err!("INSERT INTO the table {location}: tables are only read")
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        let is_view = matches!(self.shown, Shown::Changelog(_));
        let exact = |filter: &&Expr| {
            if to_predicate(filter, &self.fields).is_some() || !is_view && is_per_row(filter) {
                TableProviderFilterPushDown::Exact
            } else {
                TableProviderFilterPushDown::Unsupported
            }
        };
        Ok(filters.iter().map(exact).collect())
    }
}

/// Whether an expression depends on nothing but the row: no sub-queries, nothing volatile.
fn is_per_row(expression: &Expr) -> bool {
    let mut per_row = !expression.is_volatile();
    let visited = expression.apply(|part| {
        let outside = matches!(
            part,
            Expr::ScalarSubquery(_)
                | Expr::InSubquery(_)
                | Expr::Exists(_)
                | Expr::OuterReferenceColumn(..)
                | Expr::Placeholder(_)
        );
        per_row &= !outside;
        Ok(TreeNodeRecursion::Continue)
    });
    per_row && visited.is_ok()
}
