//! The reference as the judge: random histories, written by the kit and read by the reference, and the other way round.
//!
//! Runs with `PAIMON_REFERENCE=require`, and then needs `java` and `mvn`; without, it says how much it skipped.
//! `PAIMON_REFERENCE_HISTORIES` is the number of histories each way, `PAIMON_REFERENCE_SEED` the first seed.
//!
//! The reference here is 1.4.2. Where 2.1 differs, histories stay clear of it: binaries are compared by signed bytes in
//! its conditions (TF, section 4.6), so theirs are below 0x80.

#[cfg(test)]
#[path = "../golden/library.rs"]
mod library;

#[cfg(test)]
#[path = "../golden/sketches.rs"]
mod sketches;

#[cfg(test)]
#[path = "../golden/system.rs"]
mod system;

#[cfg(test)]
mod changes;

#[cfg(test)]
mod crossing;

#[cfg(test)]
mod evolutions;

#[cfg(test)]
mod histories;

#[cfg(test)]
mod suite;

#[cfg(test)]
fn main() {
    suite::main();
}

#[cfg(not(test))]
fn main() {}
