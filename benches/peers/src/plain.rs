//! The Parquet library alone: decodes the value columns of all versions of all rows, and merges nothing.

use std::error::Error;
use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use benches::reads::plain_decode;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::errors::Result as ParquetResult;

use crate::case::Case;
use crate::place::place;
use crate::serve::Rows;

/// Decodes the files of bucket 0, row groups side by side on `threads` threads; rows that came out. Whatever the case is.
pub fn read(_: Case, threads: usize, location: &str) -> Result<Rows, Box<dyn Error>> {
    let mut groups = Vec::new();
    for entry in fs::read_dir(Path::new(place(location)?.path).join("bucket-0"))? {
        let path = entry?.path();
        let metadata = ArrowReaderMetadata::load(&File::open(&path)?, ArrowReaderOptions::new())?;
        for (group, of) in metadata.metadata().row_groups().iter().enumerate() {
            groups.push((of.num_rows(), path.clone(), group));
        }
    }
    // The largest first, so that threads end together.
    groups.sort_by_key(|(rows, ..)| std::cmp::Reverse(*rows));
    let next = AtomicUsize::new(0);
    let work = || -> ParquetResult<usize> {
        let mut rows = 0;
        while let Some((_, path, group)) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
            rows += plain_decode(path, Some(vec![*group]))?;
        }
        Ok(rows)
    };
    let rows = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let rows = workers.into_iter().map(|worker| {
            worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        rows.sum::<ParquetResult<usize>>()
    })?;
    Ok(Rows { rows, sum: 0 })
}
