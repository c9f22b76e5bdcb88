//! Parts of tasks: a merge is cut at keys, files that are read as they are at rows.
//!
//! ```text
//! section  run 0  ├──────── file ────────┤├──── file ────┤      cut at a key: every version of a key is on one side
//!          run 1          ├───────── file ──┊──────┤
//!                            part 0         ┊   part 1
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `span` | ranges of keys: what files they meet, what they rule out |
//! | `balance` | which keys to cut at, so that parts have about equal work |
//! | `samples` | keys of a file at some of its rows |
//! | `keys` | parts of a merge |
//! | `rows` | parts of files that are read as they are |
//!
//! Two states that are compared are cut at keys too, both at the same ones (`changes::diff`).
//!
//! Where to cut is an estimate, and wrong statistics make parts of unequal work; which side of a cut a row is on is
//! decided by its own key or position, so that no statistics can lose or repeat a row. Where nothing is known to cut at,
//! there are fewer parts.

mod balance;
mod keys;
mod rows;
mod samples;
mod span;

use paimon_meta::DataSplit;

pub(crate) use keys::key_parts;
pub(crate) use rows::{check_rows, files_with_rows, row_parts};
pub(crate) use span::SpanOf;

/// The split with those of its files that `keep` gives something for, and what it gives.
pub(crate) fn narrowed<T>(
    split: &DataSplit,
    mut keep: impl FnMut(usize) -> Option<T>,
) -> (DataSplit, Vec<T>) {
    let mut kept = Vec::new();
    let mut files = Vec::new();
    let mut vectors = Vec::new();
    for (index, file) in split.files.iter().enumerate() {
        let Some(what) = keep(index) else { continue };
        kept.push(what);
        files.push(file.clone());
        let vector = split.deletion_files.as_deref().map(|all| all.get(index));
        vectors.push(vector.flatten().and_then(|vector| vector.clone()));
    }
    let split = DataSplit {
        files,
        deletion_files: split.deletion_files.is_some().then_some(vectors),
        partition: split.partition.clone(),
        bucket_path: split.bucket_path.clone(),
        ..*split
    };
    (split, kept)
}
