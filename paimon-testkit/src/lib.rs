#![doc = include_str!("../README.md")]

#[cfg(feature = "writer")]
mod cell;
#[cfg(feature = "writer")]
mod evolution;
mod golden;
mod history;
mod json;
#[cfg(feature = "strategies")]
mod laws;
#[cfg(feature = "writer")]
mod oracle;
#[cfg(feature = "writer")]
mod query;
mod reader;
mod reference;
mod stores;
#[cfg(feature = "strategies")]
mod strategies;
mod vectors;
#[cfg(feature = "writer")]
mod writer;

pub use golden::{
    GOLDEN, GOLDEN_FOUND, GoldenCase, GoldenColumn, GoldenDataSplit, GoldenDeletionVector,
    GoldenFallbackSplit, GoldenFile, GoldenIncrementalSplit, GoldenRead, GoldenRequest, GoldenRows,
    GoldenSplit, NotYet, RowDiff, Verdict, check_read, diff_rows, filter_to_predicate,
    parse_sql_type,
};
pub use history::{
    Action, ColumnDefinition, ColumnPlace, Commit, Compaction, History, HistoryRow, RangeRows,
    RangeValue, RollbackTo, SchemaChange, Step, TableDefinition,
};
pub use json::{JsonRow, JsonRows, datum_to_json};
pub use reader::Reader;
pub use reference::{Reference, ReferenceJob, ReferenceTable};
pub use stores::{
    CountingStore, Fault, FaultKind, FaultyStore, Latency, RequestKind, RequestOutcome,
    StoreRequest,
};
pub use vectors::{VectorFile, VectorWidth};

#[cfg(feature = "strategies")]
pub use laws::{LawOutcome, LawSettings, check_laws};
#[cfg(feature = "writer")]
pub use query::Query;
#[cfg(feature = "strategies")]
pub use strategies::{HistoryShape, QuerySeed, histories, layouts, query_seeds};
#[cfg(feature = "writer")]
pub use writer::{Layout, StoredRow, WriterVersion, WrittenBranch, WrittenTable, write_table};

/// The examples of the repository's README.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
