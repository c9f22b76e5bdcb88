//! Changes in place of a state: incremental reads (RP-152, RP-153).
//!
//! | file | holds |
//! |---|---|
//! | `bounds` | options to bounds |
//! | `auto_tag` | names of tags that were made automatically |
//! | `find` | bounds to snapshots |
//! | `hash_order` | buckets in the order of the reference |
//! | `range` | files of the snapshots of a range to splits |
//! | `diff` | two states to splits of what they do not share |

mod auto_tag;
mod bounds;
mod diff;
mod find;
mod hash_order;
mod range;

pub(crate) use bounds::Incremental;
pub(crate) use diff::{plan_diff, plan_overwrite};
pub(crate) use find::{find, latest_delta};
pub(crate) use hash_order::in_hash_order;
pub(crate) use range::plan_range;
