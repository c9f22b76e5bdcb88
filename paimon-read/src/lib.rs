#![doc = include_str!("../README.md")]

mod blocking;
mod cast;
mod changelog_view;
mod changes;
mod columns;
mod compact;
mod context;
mod deletions;
mod describe;
mod difference;
mod estimate;
mod evolve;
mod fallback;
mod fetches;
mod file_indexes;
mod files;
mod filter;
mod filter_pass;
mod fold;
pub mod functions;
mod gather;
mod given;
mod group_rows;
mod merge;
mod open;
mod opens;
mod output;
mod parts;
mod piece_values;
mod positions;
mod provider;
mod raw;
mod read_queue;
mod reader;
mod request;
mod source;
mod split_read;
mod stream;
mod task;
mod ungathered;
mod value_pass;
mod window;

pub use blocking::{BlockingReader, block_on, read_blocking};
pub use changelog_view::{ChangelogTable, ChangelogView};
pub use changes::{AppendChangesProvider, AsWrittenProvider, DiffProvider, OverwriteProvider};
pub use columns::ROW_KIND_COLUMN;
pub use context::ReadContext;
pub use describe::{
    KeyPassDescription, KeyPassFile, ReadDescription, SectionDescription, describe,
};
pub use difference::DifferenceReader;
pub use estimate::Estimate;
pub use fallback::FallbackProvider;
pub use filter::{PredicateFilter, RowFilter, evaluate};
pub use given::read_rows;
pub use merge::{MergeProvider, Stretch};
#[cfg(any(feature = "orc", feature = "parquet"))]
pub use paimon_format::ManifestFormats;
pub use paimon_format::RowRanges;
pub use provider::{Claim, SplitReadProvider, provider_of, read_task};
pub use raw::RawProvider;
pub use read_queue::ReadQueue;
pub use reader::{TableReader, default_providers};
pub use request::{FineTimestamps, ReadRequest, RowKinds, RowOrder};
pub use stream::BatchStream;
pub use task::{KeySpan, Part, ReadTask, TaskOrdering};
