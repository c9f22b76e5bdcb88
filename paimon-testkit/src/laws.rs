//! Laws that hold for every table, for any reader.

mod run;

use std::path::PathBuf;

use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

use crate::reader::Reader;
use crate::strategies::{HistoryShape, histories, layouts, query_seeds};

use run::{LAWS, Law, prove};

/// How laws are run.
#[derive(Clone, Debug)]
pub struct LawSettings {
    /// Where the tables are written, one after the other under the same name.
    pub directory: PathBuf,
    /// What may happen in the histories.
    pub shape: HistoryShape,
    /// Random tables for each law.
    pub cases: u32,
    /// Another seed gives other tables; the same one gives the same.
    pub seed: u64,
}

/// What became of a law.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LawOutcome {
    /// The law.
    pub law: &'static str,
    /// Tables for which it holds.
    pub proved: u32,
    /// Tables that the reader refused by name, so that they say nothing.
    pub refused: u32,
    /// The smallest case found for which it does not hold: what differs, the query, and the history that writes the table.
    pub failure: Option<String>,
}

/// Proves a reader by every law: random histories, written by this kit, with random queries.
///
/// | law | says |
/// |---|---|
/// | `reader_equals_oracle` | any query gives the rows that the history says |
/// | `filters_may_be_applied_afterwards` | a condition that is pushed down gives what it gives of all rows |
/// | `projection_commutes` | the columns of a read of all columns are those of a read of some |
/// | `count_is_the_number_of_rows` | a read of no column has as many rows |
/// | `limit_gives_as_many_of_the_right_rows` | min(limit, rows) rows out of the right ones |
pub fn check_laws(reader: &dyn Reader, settings: &LawSettings) -> Vec<LawOutcome> {
    LAWS.into_iter()
        .map(|law| check_law(reader, settings, law))
        .collect()
}

fn check_law(reader: &dyn Reader, settings: &LawSettings, law: Law) -> LawOutcome {
    let config = Config {
        cases: settings.cases,
        // Whatever the number of cases: a small history is worth some seconds.
        max_shrink_iters: 1024,
        failure_persistence: None,
        ..Config::default()
    };
    let mut seed = [0; 32];
    seed.iter_mut()
        .zip(settings.seed.to_le_bytes())
        .for_each(|(to, from)| *to = from);
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(config, random);
    let counts = std::cell::Cell::new((0, 0));
    let input = (histories(settings.shape), layouts(), query_seeds());
    let outcome = runner.run(&input, |(history, layout, query)| {
        let proved = prove(reader, &settings.directory, law, &history, &layout, &query)?;
        let (yes, no) = counts.get();
        counts.set(if proved { (yes + 1, no) } else { (yes, no + 1) });
        Ok(())
    });
    let (proved, refused) = counts.get();
    LawOutcome {
        law: law.name(),
        proved,
        refused,
        failure: outcome.err().map(|error| match error {
            TestError::Abort(reason) | TestError::Fail(reason, _) => reason.message().to_owned(),
        }),
    }
}
