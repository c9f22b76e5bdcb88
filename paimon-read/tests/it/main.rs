//! Tests of reading: tables that the reference wrote, and files that a test writes by hand.

#[cfg(test)]
mod suite;
