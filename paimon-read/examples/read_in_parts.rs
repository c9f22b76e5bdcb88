//! Reads every split of a table with several threads, in order: `cargo run -p paimon-read --example read_in_parts [PATH]`.

use std::error::Error;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;

use paimon_io::Resources;
use paimon_plan::{ResolveRequest, ScanRequest, Table, plan};
use paimon_read::{Part, ReadRequest, ReadTask, TableReader, block_on, read_blocking};

/// Two writes with keys in common.
pub(crate) const GOLDEN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../paimon-testkit/golden/lab_r_overlap/table"
);

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1);
    let threads = thread::available_parallelism()?;
    count_rows(
        path.as_deref().unwrap_or(GOLDEN),
        threads,
        &mut io::stdout(),
    )
}

/// Writes how many rows each part has.
pub(crate) fn count_rows(
    path: &str,
    threads: NonZeroUsize,
    out: &mut dyn Write,
) -> Result<(), Box<dyn Error>> {
    let resources = Resources::local();
    let table = block_on(Table::resolve(&resources, path, &ResolveRequest::default()))?;
    let plan = block_on(plan(&resources, &table, &ScanRequest::default()))?;
    let reader = TableReader::new(Arc::new(table), ReadRequest::default(), resources)?;
    for split in 0..plan.len() {
        let task = ReadTask::new(plan.split(split)?);
        let parts = block_on(reader.subdivide(task, threads))?;
        let counts = thread::scope(|scope| {
            let reading = parts.iter().map(|part| {
                let (reader, part) = (&reader, part.clone());
                scope.spawn(move || rows_of(reader, part))
            });
            let reading: Vec<_> = reading.collect();
            let counts = reading.into_iter().map(|thread| thread.join());
            counts.collect::<Result<Vec<_>, _>>()
        });
        let counts = counts.map_err(|_| "a reading thread panicked")?;
        for (part, rows) in parts.iter().zip(counts) {
            let what = match &part.part {
                None => "all",
                Some(Part::Keys(_)) => "a range of keys",
                Some(Part::Rows(_)) => "ranges of rows",
                Some(_) => "a part",
            };
            writeln!(out, "split {split}, {what}: {} rows", rows?)?;
        }
    }
    Ok(())
}

fn rows_of(reader: &TableReader, task: ReadTask) -> paimon_meta::Result<usize> {
    let mut batches = read_blocking(reader.read(task)?);
    let mut rows = 0;
    while let Some(batch) = batches.next_batch() {
        rows += batch?.num_rows();
    }
    Ok(rows)
}
