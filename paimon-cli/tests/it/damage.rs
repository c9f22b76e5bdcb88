//! Copies of golden tables to be damaged.

use std::path::{Path, PathBuf};

use crate::command::golden;

/// A copy of a golden table to be damaged.
pub(crate) fn copy(case: &str) -> tempfile::TempDir {
    fn copy_all(from: &Path, to: &Path) {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let target = to.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                copy_all(&entry.path(), &target);
            } else {
                std::fs::write(target, std::fs::read(entry.path()).unwrap()).unwrap();
            }
        }
    }
    let directory = tempfile::tempdir().unwrap();
    copy_all(Path::new(&golden(case)), directory.path());
    directory
}

/// The file of a directory whose name begins so, the last in order.
pub(crate) fn last_file(directory: &Path, prefix: &str) -> PathBuf {
    let names = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = names
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with(prefix)
        })
        .collect();
    names.sort();
    names.pop().unwrap()
}
