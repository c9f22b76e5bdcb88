//! What tests over golden tables share.

use std::fs;
use std::path::{Path, PathBuf};

use paimon_io::Resources;
use paimon_meta::{ResolvedTable, Result};
use paimon_plan::{Plan, ResolveRequest, ScanRequest, Table, plan};
use paimon_testkit::GOLDEN;

/// Runs a future of a test to its end.
#[expect(
    clippy::disallowed_methods,
    reason = "tests have no runtime, and nothing else to do meanwhile"
)]
pub(crate) fn run<F: Future>(future: F) -> F::Output {
    futures::executor::block_on(future)
}

/// The table of a golden case.
pub(crate) fn golden(case: &str) -> PathBuf {
    Path::new(GOLDEN).join(case).join("table")
}

pub(crate) fn resolve(table: &Path, request: &ResolveRequest) -> Result<ResolvedTable> {
    run(Table::resolve(
        &Resources::local(),
        table.to_str().unwrap(),
        request,
    ))
}

/// Resolves and plans with options and a request made from the table.
pub(crate) fn planned(
    table: &Path,
    options: &[(&str, &str)],
    request: impl FnOnce(&ResolvedTable) -> ScanRequest,
) -> Result<Plan> {
    let options = options
        .iter()
        .map(|(key, value)| ((*key).to_owned(), Some((*value).to_owned())));
    let table = resolve(
        table,
        &ResolveRequest {
            options: options.collect(),
            ..ResolveRequest::default()
        },
    )?;
    run(plan(&Resources::local(), &table, &request(&table)))
}

/// A copy of a golden table that a test may damage.
pub(crate) fn copy(case: &str) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    copy_directory(&golden(case), copy.path());
    copy
}

fn copy_directory(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_directory(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The files of a directory whose name begins so, by name.
pub(crate) fn files(directory: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let named = |path: &PathBuf| {
        path.file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with(prefix)
    };
    let mut files: Vec<PathBuf> = entries.filter(named).collect();
    files.sort();
    files
}
