//! Tests over whole tables.

#[cfg(test)]
mod suite;
