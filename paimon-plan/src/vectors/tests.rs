use std::collections::BTreeMap;

use paimon_meta::{DeletionFile, ErrorKind, Options};

use super::*;
use crate::testing::{ROOT, file, files, ints, schema};

fn table(options: &[(&str, &str)]) -> ResolvedTable {
    let schema = schema(0, &[(0, "p", "INT"), (1, "k", "INT")], &["p", "k"], &["p"]);
    let options = options
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    ResolvedTable {
        location: ROOT.to_owned(),
        branch: "main".to_owned(),
        options: Options(options.collect()),
        snapshot: None,
        schemas: BTreeMap::from([(0, schema.clone())]),
        schema,
        time_zone: "UTC".to_owned(),
        changes: None,
        fallback: None,
    }
}

fn entry(partition: i32, bucket: i32, name: &str, data_files: &[&str]) -> IndexManifestEntry {
    let range = |data_file: &&str| DeletionVectorRange {
        data_file: (*data_file).to_owned(),
        offset: 1,
        length: 26,
        cardinality: Some(3),
    };
    IndexManifestEntry {
        kind: EntryKind::Add,
        partition: ints(&[Some(partition)]),
        bucket,
        index_type: DELETION_VECTORS.to_owned(),
        file_name: name.to_owned(),
        file_size: 100,
        row_count: 1,
        deletion_vectors: Some(data_files.iter().map(range).collect()),
        external_path: None,
    }
}

fn manifest(entries: &[IndexManifestEntry]) -> VectorEntries {
    VectorEntries {
        manifest: "m".to_owned(),
        entries: entries.to_vec(),
    }
}

/// Paths of the vectors of files `a` in (1, 0), `b` in (1, 0), `a` in (1, 1), `a` in (2, 0).
fn paths(entries: &[IndexManifestEntry], table: &ResolvedTable) -> Result<Vec<Option<String>>> {
    let places = [(1, 0, "a"), (1, 0, "b"), (1, 1, "a"), (2, 0, "a")];
    let files =
        files(&places.map(|(partition, bucket, name)| (partition, bucket, file(name, 5, 1, 9))));
    let buckets = [vec![0, 1], vec![2], vec![3]];
    let vectors = attach(&manifest(entries), &files, &buckets, table)?.permuted(&[0, 1, 2, 3]);
    let path = |file| vectors.get(file).map(|found: DeletionFile| found.path);
    Ok((0..4).map(path).collect())
}

fn some(path: &str) -> Option<String> {
    Some(path.to_owned())
}

#[test]
fn a_vector_belongs_to_one_file_of_one_bucket() {
    // TF 6.1: the same file name in another bucket or partition is another file.
    let entries = [entry(1, 0, "i", &["b", "gone"]), entry(2, 0, "j", &["a"])];
    let expected = [None, some("index/i"), None, some("index/j")];
    assert_eq!(paths(&entries, &table(&[])).unwrap(), expected);
}

#[test]
fn several_index_files_of_a_bucket_count_together() {
    let entries = [entry(1, 0, "i", &["b"]), entry(1, 0, "j", &["a"])];
    let expected = [some("index/j"), some("index/i"), None, None];
    assert_eq!(paths(&entries, &table(&[])).unwrap(), expected);
}

#[test]
fn index_files_are_beside_the_data_or_anywhere() {
    // TF-021
    let mut entries = [entry(1, 1, "i", &["a"]), entry(2, 0, "j", &["a"])];
    entries[1].external_path = some("s3://far/j");
    let beside = table(&[("index-file-in-data-file-dir", "true")]);
    let expected = [None, None, some("p=1/bucket-1/i"), some("s3://far/j")];
    assert_eq!(paths(&entries, &beside).unwrap(), expected);
}

#[test]
fn vectors_in_another_order_of_files_stay_with_their_files() {
    let entries = [entry(1, 0, "i", &["b"]), entry(2, 0, "j", &["a"])];
    let names = [(1, 0, "a"), (1, 0, "b"), (2, 0, "a")];
    let files =
        files(&names.map(|(partition, bucket, name)| (partition, bucket, file(name, 5, 1, 9))));
    let buckets = [vec![2], vec![0, 1]];
    let vectors = attach(&manifest(&entries), &files, &buckets, &table(&[])).unwrap();
    let moved = vectors.permuted(&[2, 0, 1]);
    let paths = (0..3).map(|file| moved.get(file).map(|found| found.path));
    assert_eq!(
        paths.collect::<Vec<_>>(),
        [some("index/j"), None, some("index/i")]
    );
    assert_eq!(moved.deleted_rows(1), Some(0));
}

#[test]
fn damaged_index_entries_name_the_file() {
    let message = |entries: &[IndexManifestEntry]| {
        let error = paths(entries, &table(&[])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        error.to_string()
    };
    // TF-073
    let twice = [entry(1, 0, "i", &["a"]), entry(1, 0, "j", &["a"])];
    assert_eq!(
        message(&twice),
        "corrupt: a data file has two deletion vectors [index manifest m > file a]"
    );
    let mut outside = [entry(1, 0, "i", &["a"])];
    outside[0].file_size = 26;
    assert_eq!(
        message(&outside),
        "corrupt: a deletion vector of 26 bytes at 1 is not inside its index file of 26 bytes [index manifest m > file i > file a]"
    );
    assert!(message(&[entry(1, 0, "../i", &["a"])]).contains("\"../i\""));
}

#[test]
fn vectors_that_outlive_their_files_are_passed_over() {
    let mut entries = [entry(1, 0, "i", &["gone"]), entry(7, 7, "../j", &["a"])];
    entries[0].file_size = 0;
    assert_eq!(paths(&entries, &table(&[])).unwrap(), vec![None; 4]);
}
