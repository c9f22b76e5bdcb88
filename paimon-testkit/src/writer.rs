//! Writes tables for tests. **Not for production**: all of a table is in memory, nothing is atomic, nobody else may write.
//!
//! A [`History`] and a [`Layout`] give a [`WrittenTable`]: every file of the table, and the rows that each of its
//! snapshots has. The same history, layout and seed give the same bytes.
//!
//! ```text
//! Step ─▶ table ─┬─ batch    rows by partition and bucket, sequence numbers
//!                ├─ flush    level-0 files: data_file (Parquet, orc, Avro), stats
//!                ├─ compact  runs to choose, rewrite or upgrade, deletion vectors
//!                ├─ delete   rows of append tables, by deletion vectors
//!                └─ commit   manifest, index manifest (avro), snapshot, hints
//! ```

mod avro;
mod batch;
mod changes;
mod commit;
mod compact;
mod data_file;
mod delete;
mod deletion;
mod flush;
mod format;
mod layout;
mod names;
mod nested;
mod orc;
mod state;
mod stats;
mod stored;
mod table;
mod written;

#[cfg(test)]
mod tests;

use paimon_meta::Result;

pub use layout::{Layout, WriterVersion};
pub use written::{StoredRow, WrittenBranch, WrittenTable};

use crate::history::History;

/// Writes the table of a history.
///
/// # Errors
/// `InvalidInput` for a history that cannot be run, `Unsupported` for what the writer does not write: aggregate functions
/// `rbm64`, `hll_sketch` and `theta_sketch`, sequence groups by nested values, file formats but Parquet, ORC and Avro,
/// `TIMESTAMP(7)` and finer but in ORC, variants, compactions over a changed type, the postpone bucket, minor
/// compactions.
pub fn write_table(history: &History, layout: &Layout) -> Result<WrittenTable> {
    let mut table = table::Table::create(&history.table, layout)?;
    for (number, step) in (1..).zip(&history.steps) {
        table.run(step, number)?;
    }
    Ok(table.finish())
}
