//! The reference as the judge: random histories, written by the kit and read by the reference, and the other way round.
//!
//! Runs with `PAIMON_REFERENCE=require`, and then needs `java` and `mvn`; without, it says how much it skipped.
//! `PAIMON_REFERENCE_HISTORIES` is the number of histories for each axis and writer, `PAIMON_REFERENCE_SEED` the first seed;
//! arguments are names of axes to run.
//!
//! The reference here is 1.4.2. Where 2.1 decides otherwise, `differences` says so, and histories stay clear of it.
//!
//! | file | holds |
//! |---|---|
//! | `axes` | the kinds of histories; one more is one more module and one more line |
//! | `changes`, `crossing` | incremental reads, streams, and splits that cross over, of the tables of `histories` |
//! | `differences` | the closed list of what may differ |
//! | `table`, `values`, `questions` | tables, rows and reads from random numbers |
//! | `oracle` | the kit's oracle as a reader |
//! | `coverage` | what the histories came across |
//! | `suite` | the run |

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
mod axes;

#[cfg(test)]
mod changes;

#[cfg(test)]
mod coverage;

#[cfg(test)]
mod crossing;

#[cfg(test)]
mod differences;

#[cfg(test)]
mod histories;

#[cfg(test)]
mod oracle;

#[cfg(test)]
mod questions;

#[cfg(test)]
mod random;

#[cfg(test)]
mod suite;

#[cfg(test)]
mod table;

#[cfg(test)]
mod values;

#[cfg(test)]
fn main() {
    suite::main();
}

#[cfg(not(test))]
fn main() {}
