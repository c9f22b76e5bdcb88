//! Reads of Parquet, ORC and Avro files beside decode alone, and reads under an evolved schema beside those under the files' own.
//!
//! `cargo bench -p benches --bench formats -- --ratios` prints the ratios to the first line of each table (minimum and median).
//! `PAIMON_BENCH_KEYS=400000` makes it quick.

#![expect(clippy::expect_used, reason = "a bench that cannot go on stops")]

use benches::formats::{cases, evolutions};
use benches::ratios::ratios;
use benches::setup::{keys, table_in};
use benches::{FileFormat, once};

fn main() {
    let keys = if once() { 20_000 } else { keys() };
    for format in [FileFormat::Parquet, FileFormat::Orc, FileFormat::Avro] {
        let (name, table) = table_in(format, keys).expect("tables can be written");
        let reads = cases(&table, format).expect("the schema is one");
        let evolved = evolutions(&table).expect("the schemas are some");
        for (name, cases) in [(name.clone(), reads), (format!("{name}, evolved"), evolved)] {
            if once() {
                for case in &cases {
                    let done = (case.run)().expect("it reads");
                    assert!(done.rows > 0, "{}: no rows", case.name);
                }
            } else {
                ratios(&name, &cases).expect("it reads");
            }
        }
    }
}
