//! Data for the benches.
