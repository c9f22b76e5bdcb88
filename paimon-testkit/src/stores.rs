//! Object stores for tests: one that writes down what it is asked, one that fails and stalls as it is told.
//!
//! Both wrap another store, and each other. A test registers the outermost one for the prefix of its tables
//! (`StoreRegistry::register`), so that a read goes through it and through nothing else. None needs a runtime: a request
//! that waits is a future that is pending.

mod counting;
mod faulty;
mod latency;

pub use counting::{CountingStore, RequestKind, RequestOutcome, StoreRequest};
pub use faulty::{Fault, FaultKind, FaultyStore};
pub use latency::Latency;
