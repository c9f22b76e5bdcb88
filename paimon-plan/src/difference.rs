//! The exact difference of two states of a table, as data: which files of both must be read to tell it, and no others.
//!
//! ```text
//! key          1        12    21       40      50    60
//! both states  a─────────     c─────────       e─────       a and d are opened, for they share keys with b
//!              ┊    d──────
//! from alone   b───                                         b went, f came: what is in 1 to 5 and 45 to 52 may differ
//! to alone                             f────────            c, e and what else the states have in common: c shares none
//! splits       └─ one ─────┘           └── two ─────┘
//! ```
//!
//! Keys that no changed file can hold have the same rows in both states. A file that both states have is opened only if it
//! may hold a key of a changed one: of rows outside the changed ranges both sides then have the same part, which is no
//! difference. Tables without keys have rows and no identity: only files of one state are read there.
//!
//! | file | holds |
//! |---|---|
//! | `state` | the files of one state |
//! | `pairs` | which files of a bucket both states have |
//! | `select` | which of them must be read |
//! | `splits` | places to splits |

#[cfg(feature = "store")]
mod pairs;
#[cfg(feature = "store")]
mod select;
#[cfg(feature = "store")]
mod splits;
#[cfg(feature = "store")]
mod state;

use paimon_meta::{BinaryRow, DataSplit, TablePredicate};
use serde::{Deserialize, Serialize};

use crate::pruning::FileTotals;

#[cfg(feature = "store")]
pub use plan::exact_diff;

/// What must be read to tell the exact difference of two states. Made by [`exact_diff`](crate::exact_diff).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The snapshot that rows are taken from; `None` is a table without rows.
    pub from: Option<i64>,
    /// The snapshot that they are brought to.
    pub to: Option<i64>,
    /// Each is read alone, in any order: no key is in two of them, and no row of a table without keys.
    pub splits: Vec<DifferenceSplit>,
    /// Files that both states have and that are not opened, as the later state has them.
    pub common: FileTotals,
    /// What is left of the condition, to be evaluated on the rows of both states.
    pub residual: Option<TablePredicate>,
}

/// Two states of some keys, or of a bucket or partition without keys. Self-contained, to read here or elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DifferenceSplit {
    /// Files of the earlier state by bucket: several where the number of buckets changed or keys may change their bucket.
    pub before: Vec<DataSplit>,
    /// Files of the later state by bucket.
    pub after: Vec<DataSplit>,
    /// Keys below the first and above the second have not changed, both trimmed primary keys; `None` without keys.
    pub keys: Option<(BinaryRow, BinaryRow)>,
}

impl DifferenceSplit {
    /// Physical rows of both states.
    pub fn row_count(&self) -> u64 {
        let splits = self.before.iter().chain(&self.after);
        splits
            .map(DataSplit::row_count)
            .fold(0, u64::saturating_add)
    }
}

#[cfg(feature = "store")]
mod plan {
    use futures_util::future::try_join;
    use paimon_io::Resources;
    use paimon_meta::{Error, FileTable, Frame, ResolvedTable, Result, ResultExt};

    use super::Difference;
    use super::pairs::Pairs;
    use super::select::select;
    use super::splits::Splits;
    use super::state::State;
    use crate::scan::{Scan, ScanRequest, created_since};
    use crate::view::View;

    /// Plans the exact difference from one state of a table to another: of each key whose row is not the same in both, and of
    /// each row of a table without keys that one state has more often than the other.
    ///
    /// Both are resolved as for a batch read, with whatever time travel. Rows are compared under the schema of `to`: a column
    /// that only `from` has does not count, one that only `to` has is null before. The condition and the columns of a read
    /// make the difference of the two results: a row that comes to satisfy a condition is new. A key in another partition is
    /// another row. Manifests of both snapshots are read, and data files not at all.
    ///
    /// # Errors
    /// `InvalidInput` if the two are not states of one branch of one table, or the request is for a share of a plan;
    /// `Unsupported` for tables with a fallback branch; else those of [`plan`](crate::plan).
    pub async fn exact_diff(
        resources: &Resources,
        from: &ResolvedTable,
        to: &ResolvedTable,
        request: &ScanRequest,
    ) -> Result<Difference> {
        let planned = async {
            check(from, to, request)?;
            let request = ScanRequest {
                limit: None,
                ..request.clone()
            };
            let scan = Scan::new(to, &request, View::Batch)?;
            let id = |table: &ResolvedTable| table.snapshot.as_ref().map(|snapshot| snapshot.id);
            let mut difference = Difference {
                from: id(from),
                to: id(to),
                residual: scan.plan_of(None, FileTable::default())?.residual(),
                ..Difference::default()
            };
            if from.snapshot == to.snapshot {
                return Ok(difference);
            }
            let read =
                |table: &'_ ResolvedTable| State::read(&scan, resources, table.snapshot.clone());
            let (before, after) = try_join(read(from), read(to)).await?;
            let states = [before, after];
            let mut pairs = Pairs::new(&scan, &states)?;
            pairs.compare_vectors(resources, &states).await?;
            let selected = select(&scan, &states, pairs)?;
            difference.common = selected.common;
            difference.splits = Splits::new(&scan, &states)?.of(selected.groups)?;
            Ok(difference)
        };
        planned.await.at(|| Frame::Table(to.location.clone()))
    }

    fn check(from: &ResolvedTable, to: &ResolvedTable, request: &ScanRequest) -> Result<()> {
        if from.location != to.location || from.branch != to.branch {
            return Err(Error::invalid_input(format!(
                "the difference of branch {} of {} and branch {} of {}, expected two states of one branch",
                from.branch, from.location, to.branch, to.location
            )));
        }
        if from.fallback.is_some() || to.fallback.is_some() {
            return Err(Error::unsupported(
                "difference of a table with a fallback branch",
            ));
        }
        let mut no_state = from.changes.is_some() || to.changes.is_some();
        no_state |= created_since(from)?.is_some() || created_since(to)?.is_some();
        if no_state {
            return Err(Error::invalid_input(
                "a difference is that of two states, not of changes or of files since a time",
            ));
        }
        if request.shard.is_some() {
            return Err(Error::invalid_input(
                "a difference has no shares, its splits may be shared out",
            ));
        }
        Ok(())
    }
}
