//! Tables of the benches, read by this reader and by others in turn.
//!
//! `peers merge` compares reads of merge tables from local files, `peers memory` the memory that one takes, `peers plan` the
//! planning of a million files, `peers sql` queries of the merge tables, and `peers store` the read of 2 000 small files
//! behind an object store that answers after 30 ms. Each reader is a process of its own and is asked in turn, so that a busy machine slows all alike; results are
//! Markdown.

mod case;
mod modes;
mod ours;
#[cfg(feature = "sql")]
mod ours_sql;
#[cfg(feature = "sql")]
mod paimon_datafusion;
mod paimon_rust;
mod peer;
mod place;
mod plain;
mod readers;
mod report;
mod serve;
mod server;
mod tables;

use std::env;
use std::error::Error;

use crate::readers::Reader;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let mode = arguments.next().unwrap_or_default();
    let names: Vec<String> = arguments.collect();
    match mode.as_str() {
        "merge" => modes::merge(&names),
        "memory" => modes::memory(&names),
        "plan" => modes::plan(),
        "sql" => modes::sql(&names),
        "store" => modes::store(),
        reader => match Reader::of(reader) {
            Some(Reader::Ours) => serve::serve(ours::read),
            Some(Reader::PaimonRust) => serve::serve(paimon_rust::read),
            #[cfg(feature = "sql")]
            Some(Reader::OursSql) => serve::serve(ours_sql::read),
            #[cfg(feature = "sql")]
            Some(Reader::PaimonDataFusion) => serve::serve(paimon_datafusion::read),
            Some(Reader::Plain) => serve::serve(plain::read),
            _ => Err("peers merge [NAME…] | memory [NAME…] | plan | sql | store".into()),
        },
    }
}
