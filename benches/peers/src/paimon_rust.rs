//! The crate `paimon` 0.4.0.

use std::error::Error;

use arrow_array_58::cast::AsArray;
use arrow_array_58::types::Int32Type;
use futures::TryStreamExt;
use paimon::catalog::Identifier;
use paimon::spec::{Datum, PredicateBuilder};
use paimon::{Catalog, CatalogOptions, FileSystemCatalog, Options};
use tokio::runtime::Builder;

use crate::case::Case;
use crate::place::{ACCESS_KEY, REGION, SECRET_KEY, place};
use crate::serve::Rows;

/// Plans and reads a table.
pub fn read(case: Case, threads: usize, location: &str) -> Result<Rows, Box<dyn Error>> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()?;
    runtime.block_on(read_async(case, location))
}

async fn read_async(case: Case, location: &str) -> Result<Rows, Box<dyn Error>> {
    let place = place(location)?;
    let mut options = Options::new();
    options.set(CatalogOptions::WAREHOUSE, place.warehouse);
    if let Some(endpoint) = place.endpoint {
        options.set("s3.endpoint", endpoint);
        options.set("s3.access-key", ACCESS_KEY);
        options.set("s3.secret-key", SECRET_KEY);
        options.set("s3.region", REGION);
        options.set("s3.path-style-access", "true");
    }
    let catalog = FileSystemCatalog::new(options)?;
    let table = catalog
        .get_table(&Identifier::new(place.database, place.table))
        .await?;
    let mut builder = table.new_read_builder();
    if let Some(columns) = case.columns() {
        // A read of no column has no rows there; the key is the least that counts them.
        builder.with_projection(if columns.is_empty() { &["k"] } else { columns })?;
    }
    if case.is_filtered() {
        let fields = PredicateBuilder::new(table.schema().fields());
        builder.with_filter(fields.less_than("i1", Datum::Int(10))?);
    }
    let plan = builder.new_scan().plan().await?;
    if case == Case::Plan {
        let files = plan.splits().iter().map(|split| split.data_files().len());
        return Ok(Rows {
            rows: files.sum(),
            sum: 0,
        });
    }
    let mut batches = builder.new_read()?.to_arrow(plan.splits())?;
    let mut rows = Rows::default();
    while let Some(batch) = batches.try_next().await? {
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
