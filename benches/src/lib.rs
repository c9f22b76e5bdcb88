//! Data for the benches.
//!
//! A merge table has one bucket and nine columns (key, int, bigint, 2 doubles, 3 strings, timestamp), Parquet, ORC or
//! Avro, zstd, one level-0 file a run. `two_runs` holds keys 0..n and n/2..3n/2; `five_runs` holds keys 0..n and four times a tenth of
//! them at random.

mod columns;
mod files;
pub mod formats;
mod key;
pub mod manifest;
mod memory;
mod merge_table;
pub mod ratios;
pub mod reads;
mod runs;
pub mod setup;
pub mod table;

pub use columns::{VALUES, arrow_schema, batch, paimon_fields};
pub use files::FileFormat;
pub use key::Key;
pub use memory::Memory;
pub use merge_table::{Layout, MergeTable, create, schema_json};
pub use runs::{Run, five_runs, two_runs};

/// Whether the bench only shows that it runs, as under `cargo test --benches`: it then takes small data.
pub fn once() -> bool {
    let has = |flag: &str| std::env::args().any(|argument| argument == flag);
    has("--test") || !has("--bench")
}
