#![doc = include_str!("../README.md")]

mod filter;

pub use filter::{PredicateFilter, RowFilter, evaluate};
