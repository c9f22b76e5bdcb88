//! This reader below DataFusion 55.

use std::error::Error;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use datafusion::prelude::SessionConfig;
use futures::TryStreamExt;
use paimon_io::{Caches, ResourceParts, Resources};
use paimon_plan::ResolveRequest;
use paimon_sql::{SessionRequest, open_table, session};
use tokio::runtime::Builder;

use crate::case::Case;
use crate::place::place;
use crate::serve::Rows;

/// Opens a table, and asks it.
pub fn read(case: Case, threads: usize, location: &str) -> Result<Rows, Box<dyn Error>> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()?;
    runtime.block_on(read_async(case, threads, location))
}

async fn read_async(case: Case, threads: usize, location: &str) -> Result<Rows, Box<dyn Error>> {
    let resources = Resources::new(ResourceParts {
        caches: Caches::disabled(),
        ..ResourceParts::default()
    });
    let request = ResolveRequest::default();
    let table = open_table(&resources, place(location)?.path, &request).await?;
    let request = SessionRequest {
        config: SessionConfig::new().with_target_partitions(threads),
        ..SessionRequest::new(resources)
    };
    let context = session(&request).await?;
    context.register_table("t", table)?;
    let mut batches = context.sql(case.sql()).await?.execute_stream().await?;
    let mut rows = Rows::default();
    while let Some(batch) = batches.try_next().await? {
        rows += match case.columns() {
            None => all(&batch),
            Some(_) => one(&batch),
        };
    }
    Ok(rows)
}

/// Rows of the table.
fn all(batch: &RecordBatch) -> Rows {
    let numbers = batch.column_by_name("i1");
    let numbers = numbers.map(|column| column.as_primitive::<Int32Type>());
    Rows {
        rows: batch.num_rows(),
        sum: numbers.map_or(0, |numbers| numbers.iter().flatten().map(i64::from).sum()),
    }
}

/// The row that says how many there are, and the sum.
fn one(batch: &RecordBatch) -> Rows {
    let value = |column: usize| {
        let numbers = batch
            .columns()
            .get(column)?
            .as_primitive_opt::<Int64Type>()?;
        (!numbers.is_empty()).then(|| numbers.value(0))
    };
    Rows {
        rows: value(0)
            .and_then(|rows| usize::try_from(rows).ok())
            .unwrap_or(0),
        sum: value(1).unwrap_or(0),
    }
}
