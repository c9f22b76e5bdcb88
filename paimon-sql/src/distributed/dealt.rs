//! A scan whose tasks come from below, so that a scheduler can deal them out.
//!
//! Ballista gives each task of a query some partitions of a plan: it cuts the leaves that it knows down to them, and only
//! those. Tables in memory are such leaves; this scan has one below it, with a row for each task of the reader. Its
//! partitions are those of the table below, and each machine is sent the tasks that it reads and no others.

use std::fmt;
use std::io;
use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use datafusion::common::Statistics;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties,
};
use futures_util::{TryStreamExt, stream};
use paimon_meta::Error;
use paimon_read::ReadTask;

use super::wire;
use crate::error::external;
use crate::scan::PaimonScan;

/// The scan, without tasks of its own, over the table of them.
#[derive(Clone, Debug)]
pub(crate) struct DealtScan {
    scan: PaimonScan,
    tasks: Arc<dyn ExecutionPlan>,
}

impl DealtScan {
    /// The scan with its tasks as a table below it.
    ///
    /// # Errors
    /// Those of writing tasks.
    pub(crate) fn of(scan: &PaimonScan) -> Result<Self> {
        let partitions = scan.tasks().iter();
        let partitions = partitions.map(|tasks| Ok(vec![to_batch(tasks)?]));
        let partitions: Vec<_> = partitions.collect::<Result<_>>()?;
        let tasks = MemorySourceConfig::try_new_exec(&partitions, task_schema(), None)?;
        Self::new(scan, tasks)
    }

    /// The scan over a table of tasks.
    ///
    /// # Errors
    /// Those of the scan.
    pub(crate) fn new(scan: &PaimonScan, tasks: Arc<dyn ExecutionPlan>) -> Result<Self> {
        let partitions = tasks.output_partitioning().partition_count();
        let scan = scan.with_partitions(partitions)?;
        Ok(Self { scan, tasks })
    }

    /// What is read of each task.
    pub(crate) fn scan(&self) -> &PaimonScan {
        &self.scan
    }
}

fn task_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new(
        "task",
        DataType::Binary,
        false,
    )]))
}

fn to_batch(tasks: &[ReadTask]) -> Result<RecordBatch> {
    let mut column = BinaryBuilder::new();
    for task in tasks {
        column.append_value(wire::pack(&wire::to_json(task)?)?);
    }
    let column: ArrayRef = Arc::new(column.finish());
    Ok(RecordBatch::try_new(task_schema(), vec![column])?)
}

fn from_batch(batch: &RecordBatch) -> Result<Vec<ReadTask>> {
    let column = batch.columns().first();
    let column = column.and_then(|column| column.as_binary_opt::<i32>());
    let column = column
        .ok_or_else(|| external(Error::corrupt("a sent table of tasks without its column")))?;
    let tasks = column.iter().flatten();
    let tasks = tasks.map(|task| wire::from_json(&wire::unpack(task)?));
    tasks.collect()
}

/// An error as Ballista understands it: what may succeed elsewhere or later is one of I/O, and is tried again.
fn to_scheduler(error: DataFusionError) -> DataFusionError {
    let cause = match error.find_root() {
        DataFusionError::External(cause) => cause.downcast_ref::<Error>(),
        _ => None,
    };
    match cause {
        Some(cause) if cause.is_retryable() => {
            DataFusionError::IoError(io::Error::other(cause.clone()))
        }
        _ => error,
    }
}

impl DisplayAs for DealtScan {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.scan.fmt_as(format, f)
    }
}

impl ExecutionPlan for DealtScan {
    fn name(&self) -> &'static str {
        "PaimonScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.scan.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.tasks]
    }

    /// Tasks stay where they are dealt.
    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.scan.apply_expressions(f)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let tasks = children.into_iter().next();
        let tasks = tasks.unwrap_or_else(|| Arc::clone(&self.tasks));
        Ok(Arc::new(Self::new(&self.scan, tasks)?))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let tasks = self.tasks.execute(partition, Arc::clone(&context))?;
        let scan = self.scan.clone();
        let rows = async move {
            let batches: Vec<RecordBatch> = tasks.try_collect().await?;
            let tasks = batches.iter().map(from_batch);
            let tasks: Vec<Vec<ReadTask>> = tasks.collect::<Result<_>>()?;
            scan.read(tasks.concat(), partition, &context)
        };
        let rows = stream::once(rows).try_flatten().map_err(to_scheduler);
        let schema = self.schema();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        self.scan.metrics()
    }

    fn statistics_from_inputs(
        &self,
        _: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        self.scan.statistics_from_inputs(&[], args)
    }

    fn with_fetch(&self, limit: Option<usize>) -> Option<Arc<dyn ExecutionPlan>> {
        let scan = self.scan.with_limit(limit);
        let tasks = Arc::clone(&self.tasks);
        Some(Arc::new(Self { scan, tasks }))
    }

    fn fetch(&self) -> Option<usize> {
        self.scan.fetch()
    }
}
