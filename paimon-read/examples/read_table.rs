//! Reads a table and writes its rows: `cargo run -p paimon-read --example read_table [PATH]`.

use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;

use paimon_io::Resources;
use paimon_meta::datum_at;
use paimon_plan::{ResolveRequest, ScanRequest, Table, plan};
use paimon_read::{ReadRequest, TableReader, block_on, read_blocking};

/// Two writes with keys in common, so its only split must be merged.
pub(crate) const GOLDEN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../paimon-testkit/golden/lab_r_overlap/table"
);

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1);
    write_rows(path.as_deref().unwrap_or(GOLDEN), &mut io::stdout())
}

/// Writes the rows of a table, a line each.
pub(crate) fn write_rows(path: &str, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let resources = Resources::local();
    let table = block_on(Table::resolve(&resources, path, &ResolveRequest::default()))?;
    let plan = block_on(plan(&resources, &table, &ScanRequest::default()))?;
    let fields = table.schema.fields.clone();
    let reader = TableReader::new(Arc::new(table), ReadRequest::default(), resources)?;
    for split in 0..plan.len() {
        for task in reader.tasks([plan.split(split)?]) {
            writeln!(out, "split {split}, {} reader", reader.provider(&task)?)?;
            let mut batches = read_blocking(reader.read(task)?);
            while let Some(batch) = batches.next_batch() {
                let batch = batch?;
                for row in 0..batch.num_rows() {
                    for (column, field) in batch.columns().iter().zip(&fields) {
                        let value = datum_at(column, row, &field.data_type)?;
                        write!(out, "{} = {value:?}  ", field.name)?;
                    }
                    writeln!(out)?;
                }
            }
        }
    }
    Ok(())
}
