//! Laws that hold for every table: random histories, written by the kit, read by the library along many routes, and compared
//! with the oracle or with each other.
//!
//! Each law runs 256 cases, or as many as `PAIMON_LAW_CASES` says. What failed once is in `*.seeds` and runs
//! first. `PAIMON_LAW_SEED` (a number) gives other cases.

#[cfg(test)]
mod changes;
#[cfg(test)]
mod compaction;
#[cfg(test)]
mod coverage;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod difference;
#[cfg(test)]
mod estimates;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod file_indexes;
#[cfg(test)]
mod latency;
#[cfg(test)]
mod long_histories;
#[cfg(test)]
mod matrix;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod parts;
#[cfg(test)]
mod pruning;
#[cfg(test)]
mod routes;
#[cfg(test)]
mod streams;
#[cfg(test)]
mod table;
#[cfg(test)]
mod vectors;
