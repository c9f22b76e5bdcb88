//! Plans for many machines: codecs for Ballista, and sessions whose queries run on its executors.
//!
//! ```text
//! client: SQL ─▶ logical plan ─ logical codec ─▶ scheduler: tables planned, tasks dealt out
//!             ─ physical codec ─▶ executors: each reads the tasks that it was dealt
//! ```

mod dealt;
mod far;
mod logical_codec;
mod physical_codec;
mod remote;
mod wire;

pub use logical_codec::PaimonLogicalCodec;
pub use physical_codec::PaimonPhysicalCodec;
pub use remote::{remote_session, scheduler_session_state};
