//! Data for the benches.

pub mod manifest;
pub mod table;
