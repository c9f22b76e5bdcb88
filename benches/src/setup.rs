//! Tables of the benches of reading, made once and kept.

use std::env;
use std::io;
use std::sync::Arc;

use crate::files::FileFormat;
use crate::key::Key;
use crate::merge_table::{Layout, MergeTable, create};
use crate::runs::{Run, five_runs, two_runs};

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
    let mut tables = Vec::new();
    for (prefix, megabytes, nulls) in [("", 128, false), ("", 8, false), ("nulls_", 128, true)] {
        for shape in SHAPES {
            let title = format!("{prefix}{}, row groups of {megabytes} MB", shape.0);
            if wanted(&title) {
                let layout = Layout {
                    key: Key::BigInt,
                    row_group_bytes: megabytes << 20,
                    nulls,
                    format: FileFormat::Parquet,
                };
                tables.push((title, Arc::new(table(prefix, shape, keys, layout)?)));
            }
        }
    }
    Ok(tables)
}

/// The runs of a table by name, for a number of keys of the largest.
pub type Shape = (&'static str, fn(i64) -> Vec<Run>);

/// The shapes of tables.
pub const SHAPES: [Shape; 2] = [("two_runs", two_runs), ("five_runs", five_runs)];

/// One table, made once and kept; the prefix tells its layout from others of the same shape.
///
/// # Errors
/// Those of the file system.
pub fn table(prefix: &str, shape: Shape, keys: i64, layout: Layout) -> io::Result<MergeTable> {
    let megabytes = layout.row_group_bytes >> 20;
    let (name, runs) = shape;
    let directory = format!("{prefix}{name}-{keys}-{megabytes}");
    let path = env::temp_dir().join("paimon-benches").join(directory);
    create(&path, &runs(keys), layout)
}

/// `two_runs` in a format, made once and kept.
///
/// # Errors
/// Those of the file system.
pub fn table_in(format: FileFormat, keys: i64) -> io::Result<Named> {
    let layout = Layout {
        key: Key::BigInt,
        row_group_bytes: 64 << 20,
        nulls: false,
        format,
    };
    let prefix = format!("{}_", format.name());
    let name = format!("two_runs in {}", format.name());
    Ok((name, Arc::new(table(&prefix, SHAPES[0], keys, layout)?)))
}
