#![doc = include_str!("../README.md")]

#[cfg(feature = "fs")]
mod buffers;
mod cache;
mod clock;
mod cloud;
mod coalesce;
#[cfg(feature = "fs")]
mod local_file;
mod location;
mod memory;
mod metrics;
mod object;
mod resources;
mod source;
mod spawn;
mod storage_error;
mod stores;

pub use cache::{Cache, Caches};
pub use clock::{Clock, SystemClock};
pub use coalesce::Coalesce;
pub use location::join;
pub use memory::{MemoryBudget, MemoryPool, Reservation};
pub use metrics::{Counter, Metrics, MetricsSnapshot};
pub use object::Object;
pub use resources::{ResourceParts, Resources};
pub use source::ObjectSource;
pub use spawn::{Spawn, Spawned};
pub use stores::{StoreRegistry, Stores};
