//! The tables that are read, in a warehouse, where other readers look for them.

use std::error::Error;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use benches::setup::{SHAPES, table};
use benches::table::Files;
use benches::{FileFormat, Key, Layout};
use futures::TryStreamExt;
use object_store::{ObjectStore, ObjectStoreExt};
use paimon_testkit::{History, write_table};
use tokio::runtime::Builder;

/// The database of all tables.
pub const DATABASE: &str = "bench.db";
/// The table of many small files.
pub const SMALL_FILES: &str = "small_files";
/// Its commits, each of which writes a file in each of its 100 buckets.
const COMMITS: u32 = 20;

/// A table of several runs.
pub struct MergeTable {
    /// Its name: what the key is made of, where that is not one BIGINT, and the shape of the runs.
    pub name: String,
    /// Its directory.
    pub location: String,
}

/// `two_runs` and `five_runs` of the benches of reading, row groups of 128 MB, and the same with other keys: all, or those
/// named.
pub fn merge_tables(
    warehouse: &Path,
    keys: i64,
    names: &[String],
) -> Result<Vec<MergeTable>, Box<dyn Error>> {
    let database = warehouse.join(DATABASE);
    fs::create_dir_all(&database)?;
    let mut tables = Vec::new();
    for (prefix, key) in [
        ("", Key::BigInt),
        ("composite_", Key::Composite),
        ("text_", Key::Text),
    ] {
        for shape in SHAPES {
            let name = format!("{prefix}{}", shape.0);
            if !names.is_empty() && !names.contains(&name) {
                continue;
            }
            let layout = Layout {
                key,
                row_group_bytes: 128 << 20,
                nulls: false,
                format: FileFormat::Parquet,
            };
            let table = table(prefix, shape, keys, layout)?;
            let link = database.join(&name);
            if fs::read_link(&link).is_ok() {
                fs::remove_file(&link)?;
            }
            symlink(&table.path, &link)?;
            tables.push(MergeTable {
                name,
                location: link.display().to_string(),
            });
        }
    }
    Ok(tables)
}

/// The metadata of a table of a million compacted files; its location.
pub fn many_files(warehouse: &Path) -> Result<String, Box<dyn Error>> {
    metadata(warehouse, "many_files", 1_000_000)
}

/// The same of ten files.
pub fn few_files(warehouse: &Path) -> Result<String, Box<dyn Error>> {
    metadata(warehouse, "few_files", 10)
}

fn metadata(warehouse: &Path, name: &str, files: u64) -> Result<String, Box<dyn Error>> {
    let directory = warehouse.join(DATABASE).join(name);
    if !directory.join("snapshot/snapshot-1").exists() {
        let files = Files {
            added: files,
            deleted: 0,
            level_zero_each: 0,
        };
        let runtime = Builder::new_current_thread().build()?;
        runtime.block_on(async {
            let store = benches::table::table(files).await?;
            save(store.as_ref(), &directory).await
        })?;
    }
    Ok(directory.display().to_string())
}

/// Writes the objects under `table/` as files.
async fn save(store: &dyn ObjectStore, directory: &Path) -> Result<(), Box<dyn Error>> {
    let objects: Vec<_> = store.list(None).try_collect().await?;
    for object in objects {
        let name = object.location.as_ref();
        let path = directory.join(name.strip_prefix("table/").unwrap_or(name));
        fs::create_dir_all(path.parent().unwrap_or(directory))?;
        let bytes = store.get(&object.location).await?.bytes().await?;
        fs::write(path, bytes)?;
    }
    Ok(())
}

/// 2 000 files of 100 rows, in 100 buckets of 20 files that share their keys.
pub fn small_files(warehouse: &Path) -> Result<(), Box<dyn Error>> {
    let directory = warehouse.join(DATABASE).join(SMALL_FILES);
    if directory.join("snapshot/LATEST").exists() {
        return Ok(());
    }
    let steps: Vec<_> = (0..COMMITS)
        .map(|commit| {
            format!(
                r#"{{"range": {{"from": 1, "to": 10000, "step": 1, "kind": "+I",
                    "values": [{{"n": [1, 0]}}, {{"n": [7, {commit}, 1000]}}, {{"s": "value "}}]}}}}"#
            )
        })
        .collect();
    let history = format!(
        r#"{{"columns": [["k", "BIGINT NOT NULL"], ["i1", "INT"], ["s1", "STRING"]],
            "primary_key": ["k"], "options": {{"bucket": "100"}}, "steps": [{}]}}"#,
        steps.join(",")
    );
    let history = History::from_json(history.as_bytes())?;
    write_table(&history, &paimon_testkit::Layout::default())?.save(&directory)?;
    Ok(())
}
