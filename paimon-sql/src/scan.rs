//! Reading a planned table, as a node of a physical plan.

mod counters;
mod explain;
mod partitions;
mod reading;

use std::fmt;
use std::sync::Arc;

use arrow_schema::{DataType, Schema, SchemaRef, SortOptions};
use datafusion::common::Statistics;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::config::ConfigOptions;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::utils::{collect_columns, reassign_expr_columns};
use datafusion::physical_expr::{
    EquivalenceProperties, LexOrdering, Partitioning, PhysicalExpr, PhysicalSortExpr,
};
use datafusion::physical_expr_common::physical_expr::is_volatile;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::filter_pushdown::{
    ChildPushdownResult, FilterPushdownPhase, FilterPushdownPropagation, PushedDown,
};
use datafusion::physical_plan::metrics::{
    BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet, RecordOutput,
};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures_util::TryStreamExt;
use paimon_io::Resources;
use paimon_read::ReadTask;

use crate::error::external;
use crate::memory::PoolBudget;

pub(crate) use explain::Explained;
pub(crate) use partitions::{Division, Partitions, divide};
pub(crate) use reading::Reading;

/// What a scan is made of.
#[derive(Clone, Debug)]
pub(crate) struct ScanParts {
    /// What is read.
    pub(crate) reading: Reading,
    /// By which partition.
    pub(crate) partitions: Partitions,
    /// Of all rows.
    pub(crate) statistics: Arc<Statistics>,
    /// Whether filters that operators hand down are those of its rows.
    pub(crate) takes_filters: bool,
    /// For people.
    pub(crate) explained: Explained,
}

/// Reads the splits of a plan: each partition is some of its tasks.
#[derive(Clone, Debug)]
pub struct PaimonScan {
    parts: ScanParts,
    resources: Resources,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl PaimonScan {
    /// A scan whose reads are counted in the metrics of these resources.
    pub(crate) fn new(parts: ScanParts, resources: Resources) -> Result<Self> {
        let schema = parts.reading.reader(resources.clone())?.schema();
        let properties = properties(&parts, schema)?;
        Ok(Self {
            parts,
            resources,
            properties: Arc::new(properties),
            metrics: ExecutionPlanMetricsSet::new(),
        })
    }

    /// The tasks of each partition.
    pub fn tasks(&self) -> &[Vec<ReadTask>] {
        &self.parts.partitions.tasks
    }

    /// Conditions evaluated on rows beside the predicate, those included that an operator above keeps narrowing.
    pub fn filters(&self) -> &[Arc<dyn PhysicalExpr>] {
        &self.parts.reading.filters
    }

    pub(crate) fn parts(&self) -> &ScanParts {
        &self.parts
    }

    fn schema_of_rows(&self) -> SchemaRef {
        Arc::clone(self.properties.eq_properties.schema())
    }

    /// The rows of some tasks, as those of a partition.
    ///
    /// # Errors
    /// What is not supported.
    pub(crate) fn read(
        &self,
        tasks: Vec<ReadTask>,
        partition: usize,
        context: &TaskContext,
    ) -> Result<SendableRecordBatchStream> {
        let memory = PoolBudget::new(context.memory_pool(), partition);
        let resources = self.resources.with_memory(Arc::new(memory));
        let batches = self.parts.reading.reader(resources)?.read(tasks)?;
        let measured = BaselineMetrics::new(&self.metrics, partition);
        let batches = batches.map_ok(move |batch| batch.record_output(&measured));
        let schema = self.schema_of_rows();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
    }

    /// The same with another limit.
    pub(crate) fn with_limit(&self, limit: Option<usize>) -> Self {
        let limit = limit.and_then(|rows| u64::try_from(rows).ok());
        self.with_fewer_rows(|reading| reading.request.limit = limit)
    }

    /// The same for so many partitions that are given their tasks later. If they are not all that there are, nothing is
    /// known of their rows.
    ///
    /// # Errors
    /// As [`Self::new`].
    #[cfg(feature = "ballista")]
    pub(crate) fn with_partitions(&self, partitions: usize) -> Result<Self> {
        let mut parts = self.parts.clone();
        let had = std::mem::replace(&mut parts.partitions.tasks, vec![Vec::new(); partitions]);
        if had.len() != partitions {
            parts.statistics = Arc::new(Statistics::new_unknown(&self.schema_of_rows()));
        }
        Self::new(parts, self.resources.clone())
    }

    /// The same with other conditions or another limit: of the rows that are known, fewer come out.
    fn with_fewer_rows(&self, change: impl FnOnce(&mut Reading)) -> Self {
        let mut scan = self.clone();
        change(&mut scan.parts.reading);
        let statistics = self.parts.statistics.as_ref().clone();
        scan.parts.statistics = Arc::new(statistics.to_inexact());
        scan
    }
}

fn properties(parts: &ScanParts, schema: SchemaRef) -> Result<PlanProperties> {
    let mut equivalences = EquivalenceProperties::new(Arc::clone(&schema));
    let reading = &parts.reading;
    if parts.partitions.in_order && reading.view.is_none() {
        let key = reading.table.schema.key_fields().map_err(external)?;
        let ascending = SortOptions {
            descending: false,
            nulls_first: true,
        };
        // An order by the first columns of the key is one too.
        let columns = key.iter().map_while(|field| {
            let index = schema.index_of(&field.name).ok()?;
            let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new(&field.name, index));
            Some(PhysicalSortExpr::new(column, ascending))
        });
        equivalences.add_orderings(LexOrdering::new(columns));
    }
    Ok(PlanProperties::new(
        equivalences,
        Partitioning::UnknownPartitioning(parts.partitions.tasks.len()),
        EmissionType::Incremental,
        Boundedness::Bounded,
    ))
}

/// Whether equal values of a filter's columns are the same bits. Of floating-point numbers they are not: a join takes zeros of
/// both signs for one value, the set of its keys that it hands down for two.
fn has_one_equality(filter: &Arc<dyn PhysicalExpr>, schema: &Schema) -> bool {
    let columns = collect_columns(filter).into_iter();
    let types = columns.filter_map(|column| schema.fields().get(column.index()));
    let types: Vec<&DataType> = types.map(|field| field.data_type()).collect();
    !types
        .iter()
        .any(|data_type| data_type.is_floating() || data_type.is_nested())
}

impl DisplayAs for PaimonScan {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.explain(format, f)
    }
}

impl ExecutionPlan for PaimonScan {
    fn name(&self) -> &'static str {
        "PaimonScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let mut recursion = TreeNodeRecursion::Continue;
        for filter in self.filters() {
            recursion = recursion.visit_sibling(|| f(filter))?;
        }
        Ok(recursion)
    }

    fn with_new_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let tasks = self.tasks().get(partition).cloned().unwrap_or_default();
        self.read(tasks, partition, &context)
    }

    fn metrics(&self) -> Option<MetricsSet> {
        let mut metrics = self.metrics.clone_inner();
        for metric in counters::counters(self.resources.metrics()) {
            metrics.push(metric);
        }
        Some(metrics)
    }

    fn statistics_from_inputs(
        &self,
        _: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        Ok(match args.partition() {
            Some(_) if self.tasks().len() > 1 => {
                Arc::new(Statistics::new_unknown(&self.schema_of_rows()))
            }
            _ => Arc::clone(&self.parts.statistics),
        })
    }

    fn with_fetch(&self, limit: Option<usize>) -> Option<Arc<dyn ExecutionPlan>> {
        Some(Arc::new(self.with_limit(limit)))
    }

    fn fetch(&self) -> Option<usize> {
        let limit = self.parts.reading.request.limit;
        limit.and_then(|rows| usize::try_from(rows).ok())
    }

    fn handle_child_pushdown_result(
        &self,
        _: FilterPushdownPhase,
        pushed: ChildPushdownResult,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        let filters = pushed.parent_filters.into_iter();
        let filters: Vec<Arc<dyn PhysicalExpr>> = filters.map(|result| result.filter).collect();
        let reading = &self.parts.reading;
        // Under a limit a filter would have to come after it.
        let takes =
            self.parts.takes_filters && reading.request.limit.is_none() && reading.view.is_none();
        let schema = self.schema_of_rows();
        let taken = |filter: &Arc<dyn PhysicalExpr>| {
            takes && !is_volatile(filter) && has_one_equality(filter, &schema)
        };
        let answers = filters.iter().map(|filter| match taken(filter) {
            true => PushedDown::Yes,
            false => PushedDown::No,
        });
        let answers = FilterPushdownPropagation::with_parent_pushdown_result(answers.collect());
        let filters: Vec<_> = filters.into_iter().filter(taken).collect();
        if filters.is_empty() {
            return Ok(answers);
        }
        // Like those that the table took: by its columns, not by those of the output.
        let columns = reading.columns()?;
        let by_table = |filter| reassign_expr_columns(filter, &columns);
        let filters: Vec<_> = filters.into_iter().map(by_table).collect::<Result<_>>()?;
        let scan = self.with_fewer_rows(|reading| reading.filters.extend(filters));
        // A filter that cannot be one is told before anything is read.
        scan.parts.reading.reader(self.resources.clone())?;
        let scan: Arc<dyn ExecutionPlan> = Arc::new(scan);
        Ok(answers.with_updated_node(scan))
    }
}
