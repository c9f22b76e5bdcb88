//! Writes random tables, for other readers to be tried on.
//!
//! `random_tables OUT COUNT` makes `OUT/<number>/table`, with `history.json` (how it came to be) and `rows.json` (what a read
//! of it must give) beside it. The same number always gives the same table.

use std::error::Error;
use std::fs;
use std::path::Path;

use paimon_testkit::{HistoryShape, histories, layouts, write_table};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let usage = "random_tables OUT COUNT";
    let out = arguments.next().ok_or(usage)?;
    let count: u32 = arguments.next().ok_or(usage)?.parse()?;
    for number in 0..count {
        let mut seed = [0; 32];
        seed[..4].copy_from_slice(&number.to_le_bytes());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        let mut runner = TestRunner::new_with_rng(Config::default(), rng);
        let input = (histories(HistoryShape::ALL), layouts());
        let tree = input.new_tree(&mut runner);
        let (history, layout) = tree.map_err(|reason| reason.to_string())?.current();
        let table = write_table(&history, &layout)?;
        let folder = Path::new(&out).join(number.to_string());
        table.save(&folder.join("table"))?;
        fs::write(folder.join("history.json"), history.to_string())?;
        fs::write(
            folder.join("rows.json"),
            serde_json::to_vec(&table.rows()?)?,
        )?;
    }
    Ok(())
}
