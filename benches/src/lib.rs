//! Data for the benches.

pub mod manifest;
