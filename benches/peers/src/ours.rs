//! This reader.

use std::error::Error;
use std::num::NonZeroUsize;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use futures::future::BoxFuture;
use futures::{StreamExt, TryStreamExt, stream};
use paimon_io::{Caches, ResourceParts, Resources, Spawn, StoreRegistry};
use paimon_meta::{Datum, Predicate, Result};
use paimon_plan::{ResolveRequest, ScanRequest, Table, plan};
use paimon_read::{ReadRequest, ReadTask, TableReader};
use tokio::runtime::{Builder, Handle};

use crate::case::Case;
use crate::place::{ACCESS_KEY, REGION, SECRET_KEY, place};
use crate::serve::Rows;

/// Tasks of a store that answers slowly, for each thread.
const TASKS_A_THREAD: usize = 16;

/// The runtime's threads.
#[derive(Debug)]
struct Threads(Handle);

impl Spawn for Threads {
    fn spawn(&self, work: BoxFuture<'static, ()>) {
        self.0.spawn(work);
    }
}

/// Plans and reads a table.
pub fn read(
    case: Case,
    threads: usize,
    location: &str,
) -> std::result::Result<Rows, Box<dyn Error>> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()?;
    let place = place(location)?;
    let mut stores = StoreRegistry::new();
    let mut concurrent = threads;
    if let Some(endpoint) = place.endpoint {
        let options = [
            ("endpoint", endpoint),
            ("access_key_id", ACCESS_KEY),
            ("secret_access_key", SECRET_KEY),
            ("region", REGION),
            ("allow_http", "true"),
        ];
        stores = stores.with_options("s3", options);
        concurrent *= TASKS_A_THREAD;
    }
    let resources = Resources::new(ResourceParts {
        stores: Arc::new(stores),
        caches: Caches::disabled(),
        // One thread reads as an engine does that gives a task no threads of its own.
        spawn: (threads > 1 || place.endpoint.is_some())
            .then(|| Arc::new(Threads(runtime.handle().clone())) as Arc<dyn Spawn>),
        ..ResourceParts::default()
    });
    Ok(runtime.block_on(read_async(case, threads, concurrent, place.path, resources))?)
}

async fn read_async(
    case: Case,
    threads: usize,
    concurrent: usize,
    location: &str,
    resources: Resources,
) -> Result<Rows> {
    let table = Table::resolve(&resources, location, &ResolveRequest::default()).await?;
    let mut scan = ScanRequest::default();
    if case.is_filtered() {
        let field = table.schema.field("i1")?;
        let condition = Predicate::lt(field.id, field.data_type.clone(), Datum::Int(10));
        scan.predicate = Some(condition);
    }
    let plan = plan(&resources, &table, &scan).await?;
    if case == Case::Plan {
        return Ok(Rows {
            rows: plan.files().len(),
            sum: 0,
        });
    }
    let mut request = ReadRequest {
        predicate: plan.residual(),
        ..ReadRequest::default()
    };
    if let Some(columns) = case.columns() {
        request = request.with_columns(&table.schema, columns)?;
    }
    let reader = Arc::new(TableReader::new(Arc::new(table), request, resources)?);
    let splits = (0..plan.len()).map(|index| plan.split(index));
    let mut tasks = reader.tasks(splits.collect::<Result<Vec<_>>>()?);
    if let Some(parts) = NonZeroUsize::new(threads.div_ceil(tasks.len().max(1))) {
        let mut divided = Vec::new();
        for task in tasks {
            divided.extend(reader.subdivide(task, parts).await?);
        }
        tasks = divided;
    }
    let counts = stream::iter(tasks).map(|task| {
        let reader = Arc::clone(&reader);
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the caller that owns the threads"
        )]
        async move {
            let counted = tokio::spawn(count(reader, task)).await;
            counted.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
        }
    });
    counts
        .buffer_unordered(concurrent)
        .try_fold(Rows::default(), |mut sum, rows| async move {
            sum += rows;
            Ok(sum)
        })
        .await
}

async fn count(reader: Arc<TableReader>, task: ReadTask) -> Result<Rows> {
    let mut batches = reader.read(task)?;
    let mut rows = Rows::default();
    while let Some(batch) = batches.next().await {
        let batch = batch?;
        let numbers = batch.column_by_name("i1");
        let numbers = numbers.map(|column| column.as_primitive::<Int32Type>());
        let sum = numbers.map_or(0, |numbers| numbers.iter().flatten().map(i64::from).sum());
        rows += Rows {
            rows: batch.num_rows(),
            sum,
        };
    }
    Ok(rows)
}
