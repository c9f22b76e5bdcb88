use std::fs;
use std::path::Path;

use paimon_io::{Resources, join};
use paimon_meta::ErrorKind;
use tempfile::TempDir;

use crate::run;

/// Names that an encoding or a decoding anywhere would change.
const ODD_NAMES: [&str; 11] = [
    "dt=a%2Fb c",
    "dt=%3A",
    "ü#?",
    ".hidden",
    "a b&c=d+e",
    "%",
    "%zz",
    "back\\slash",
    "[x]{y}|^`~",
    "-dash",
    "日本語",
];

fn location(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

fn table() -> (TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let table = location(dir.path());
    (dir, table)
}

// Architecture section 5, "paths": object paths are never decoded or re-encoded.
#[test]
fn names_are_literal_in_paths_and_listings() {
    let (dir, table) = table();
    let resources = Resources::local();
    for name in ODD_NAMES {
        fs::create_dir(dir.path().join(name)).unwrap();
        fs::write(dir.path().join(name).join(name), name).unwrap();
    }
    let mut sorted = ODD_NAMES.map(str::to_owned);
    sorted.sort_unstable();
    assert_eq!(run(resources.list_directories(&table)).unwrap(), sorted);
    for name in ODD_NAMES {
        let directory = join(&table, name);
        let file = join(&directory, name);
        assert_eq!(run(resources.get(&file)).unwrap(), name, "{file}");
        assert_eq!(
            run(resources.get(&format!("file://{file}"))).unwrap(),
            name,
            "{file}"
        );
        assert_eq!(
            run(resources.list_names(&directory)).unwrap(),
            [(name.to_owned(), name.len() as u64)]
        );
        let source = resources.source(&file, 1).unwrap();
        assert_eq!(
            run(source.read(vec![0..1])).unwrap()[0],
            name.as_bytes()[..1],
            "{file}"
        );
    }
}

#[test]
fn listing_shows_direct_children_by_name() {
    let (dir, table) = table();
    for name in ["snapshot-2", "snapshot-10", "LATEST"] {
        fs::write(dir.path().join(name), name).unwrap();
    }
    fs::create_dir_all(dir.path().join("b/deep")).unwrap();
    fs::write(dir.path().join("b/deep/file"), "").unwrap();
    fs::create_dir(dir.path().join("a")).unwrap();
    let resources = Resources::local();
    let names = [
        ("LATEST".to_owned(), 6),
        ("snapshot-10".to_owned(), 11),
        ("snapshot-2".to_owned(), 10),
    ];
    assert_eq!(run(resources.list_names(&table)).unwrap(), names);
    assert_eq!(run(resources.list_directories(&table)).unwrap(), ["a", "b"]);
}

#[test]
fn missing_directory_and_file_in_its_place_list_nothing() {
    let (dir, table) = table();
    fs::write(dir.path().join("file"), "x").unwrap();
    let resources = Resources::local();
    for directory in ["missing", "missing/deeper", "file", "file/deeper"] {
        let directory = join(&table, directory);
        assert!(
            run(resources.list_names(&directory)).unwrap().is_empty(),
            "{directory}"
        );
        assert!(
            run(resources.list_directories(&directory))
                .unwrap()
                .is_empty(),
            "{directory}"
        );
    }
}

#[test]
fn directory_is_no_file() {
    let (dir, table) = table();
    fs::create_dir(dir.path().join("d")).unwrap();
    let directory = join(&table, "d");
    let resources = Resources::local();
    assert!(!run(resources.exists(&directory)).unwrap());
    let error = run(resources.get(&directory)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(
        error.message(),
        format!("{directory} is a directory, expected a file")
    );
    let error = run(resources.source(&directory, 10).unwrap().read(vec![0..10])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[test]
fn file_below_a_file_is_not_found() {
    let (dir, table) = table();
    fs::write(dir.path().join("file"), "x").unwrap();
    let resources = Resources::local();
    assert_eq!(
        run(resources.get_if_exists(&join(&table, "file/x"))).unwrap(),
        None
    );
}

#[test]
fn file_shorter_than_said_is_corrupt() {
    let (dir, table) = table();
    fs::write(dir.path().join("data"), "12345").unwrap();
    let resources = Resources::local();
    let file = join(&table, "data");
    for range in [0..8, 2..4, 6..8] {
        let error = run(resources.source(&file, 8).unwrap().read(vec![range])).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("corrupt: {file} is shorter than the manifest says: expected 8 bytes, found 5")
        );
    }
}

#[test]
fn name_that_the_store_cannot_open_is_refused_by_name() {
    let (dir, table) = table();
    fs::write(dir.path().join("tag-v#1"), "x").unwrap();
    let error = run(Resources::local().get(&join(&table, "tag-v#1"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.feature().unwrap().contains("tag-v#1"));
}

#[test]
fn relative_location_is_refused_with_a_hint() {
    let error = run(Resources::local().get("warehouse/db/t")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.hint().unwrap().contains("absolute"));
}
