//! Tables of the benches of reading, made once and kept.

use std::env;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::merge_table::{Layout, MergeTable, create};
use crate::runs::{five_runs, two_runs};

/// Keys of the largest run, unless `PAIMON_BENCH_KEYS` says otherwise.
const KEYS: i64 = 4_000_000;

/// Keys of the largest run: 4 M, or `PAIMON_BENCH_KEYS`.
#[expect(
    clippy::disallowed_methods,
    reason = "a bench is told its size by its environment"
)]
pub fn keys() -> i64 {
    env::var("PAIMON_BENCH_KEYS")
        .ok()
        .and_then(|keys| keys.parse().ok())
        .unwrap_or(KEYS)
}

/// A table with its name: shape of the runs and size of the row groups.
pub type Named = (String, Arc<MergeTable>);

/// `two_runs` and `five_runs`, each with row groups of about 128 MB and of 8 MB uncompressed, and `nulls_two_runs` and
/// `nulls_five_runs`, where a third of the values is null; those whose title is wanted. They are kept in the system's
/// directory for temporary files.
///
/// # Errors
/// Those of the file system.
pub fn tables(keys: i64, wanted: impl Fn(&str) -> bool) -> io::Result<Vec<Named>> {
    let root: PathBuf = env::temp_dir().join("paimon-benches");
    let mut tables = Vec::new();
    for (prefix, megabytes, nulls) in [("", 128, false), ("", 8, false), ("nulls_", 128, true)] {
        for (name, runs) in [("two_runs", two_runs(keys)), ("five_runs", five_runs(keys))] {
            let title = format!("{prefix}{name}, row groups of {megabytes} MB");
            if !wanted(&title) {
                continue;
            }
            let layout = Layout {
                row_group_bytes: megabytes << 20,
                nulls,
            };
            let path = root.join(format!("{prefix}{name}-{keys}-{megabytes}"));
            tables.push((title, Arc::new(create(&path, &runs, layout)?)));
        }
    }
    Ok(tables)
}
