#![doc = include_str!("../README.md")]

mod catalog;
mod condition;
#[cfg(feature = "ballista")]
mod distributed;
mod error;
mod expression_filter;
mod function;
mod limits;
mod map_entry;
mod memory;
mod metadata_table;
mod open;
mod scan;
mod session;
mod statistics;
mod table;

pub use catalog::{DEFAULT_DATABASE, PaimonCatalog, PaimonDatabase};
#[cfg(feature = "ballista")]
pub use distributed::{
    PaimonLogicalCodec, PaimonPhysicalCodec, remote_session, scheduler_session_state,
};
pub use function::PaimonTableFunction;
pub use limits::physical_optimizer_rules;
pub use open::{Source, open_table};
pub use scan::PaimonScan;
pub use session::{CATALOG, SessionRequest, session};
pub use table::PaimonTable;
