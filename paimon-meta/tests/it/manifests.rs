//! Manifests of the golden tables decode, agree with their lists, and say of files what the reference's plans say.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use paimon_meta::{
    DeletionVectorRange, EntryKind, Error, ErrorKind, FileTableBuilder, IndexManifestEntry,
    KeepStats, ManifestBatch, ManifestColumns, ManifestEntry, ManifestReader,
    decode_index_manifest, decode_manifest, decode_manifest_list,
};
use serde_json::Value;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../paimon-testkit/golden");

/// Written by a version that can have manifests in ORC.
const ORC_CASE: &str = "fmt_manifest_format_orc_142_only";

/// The manifest directories of all cases but [`ORC_CASE`].
fn manifest_directories() -> Vec<PathBuf> {
    let cases = fs::read_dir(GOLDEN).unwrap().map(|case| case.unwrap());
    let cases = cases.filter(|case| case.file_name() != ORC_CASE);
    let directories = cases.map(|case| case.path().join("table/manifest"));
    directories.filter(|directory| directory.is_dir()).collect()
}

/// Files of a directory whose names have the prefix and no other prefix of metadata.
fn files(directory: &Path, prefix: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(directory)
        .unwrap()
        .map(|file| file.unwrap().path());
    let named = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with(prefix) && (prefix != "manifest-" || !name.starts_with("manifest-list-"))
    };
    files.filter(named).collect()
}

#[track_caller]
fn decode<T>(path: &Path, decode: impl FnOnce(&[u8]) -> Result<T, Error>) -> T {
    let decoded = decode(&fs::read(path).unwrap());
    decoded.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn batches(path: &Path, columns: ManifestColumns) -> Vec<ManifestBatch> {
    decode(path, |file| ManifestReader::new(file, columns)?.collect())
}

#[test]
fn every_manifest_has_what_its_list_says() {
    let mut seen = 0;
    for directory in manifest_directories() {
        for list in files(&directory, "manifest-list-") {
            for meta in decode(&list, decode_manifest_list) {
                let path = directory.join(&meta.file_name);
                // Snapshots that are gone took theirs along.
                let Ok(size) = fs::metadata(&path) else {
                    continue;
                };
                assert_eq!(meta.file_size, size.len(), "{}", path.display());
                let entries = decode(&path, decode_manifest);
                let count = |kind| entries.iter().filter(|entry| entry.kind == kind).count() as u64;
                assert_eq!(
                    count(EntryKind::Add),
                    meta.num_added_files,
                    "{}",
                    path.display()
                );
                assert_eq!(count(EntryKind::Delete), meta.num_deleted_files);
                assert_eq!(meta.entry_count(), entries.len() as u64);
                check_bounds(&meta.min_bucket, &meta.max_bucket, &entries, |entry| {
                    entry.bucket
                });
                check_bounds(&meta.min_level, &meta.max_level, &entries, |entry| {
                    entry.file.level
                });
                assert_eq!(
                    entries.iter().map(|entry| entry.file.schema_id).max(),
                    Some(meta.schema_id)
                );
                seen += 1;
            }
        }
    }
    assert!(seen > 1000, "{seen} manifests");
}

fn check_bounds(
    min: &Option<i32>,
    max: &Option<i32>,
    entries: &[ManifestEntry],
    value: impl Fn(&ManifestEntry) -> i32,
) {
    if min.is_some() {
        assert_eq!(*min, entries.iter().map(&value).min());
        assert_eq!(*max, entries.iter().map(&value).max());
    }
}

#[test]
fn every_manifest_decodes_the_same_by_column_and_through_a_table() {
    let mut seen = 0;
    for directory in manifest_directories() {
        for path in files(&directory, "manifest-") {
            let entries = decode(&path, decode_manifest);
            let mut builder = FileTableBuilder::new();
            for batch in batches(&path, ManifestColumns::ALL) {
                for row in 0..batch.len() {
                    builder.push(&batch, row, KeepStats::ALL).unwrap();
                }
            }
            let table = builder.finish();
            assert_eq!(table.len(), entries.len());
            for (index, entry) in entries.iter().enumerate() {
                assert_eq!(table.file(index).unwrap(), entry.file, "{}", path.display());
                assert_eq!(table.partition(index), &entry.partition);
                assert_eq!(table.bucket(index), entry.bucket);
                assert_eq!(table.total_buckets(index), entry.total_buckets);
            }
            seen += entries.len();
        }
    }
    assert!(seen > 1000, "{seen} entries");
}

#[test]
fn columns_that_are_not_decoded_change_no_other_column() {
    for directory in manifest_directories() {
        for path in files(&directory, "manifest-") {
            let entries = decode(&path, decode_manifest);
            let planner = batches(&path, ManifestColumns::default());
            let rows = planner
                .iter()
                .flat_map(|batch| (0..batch.len()).map(move |row| (batch, row)));
            let planned: Vec<_> = rows.map(|(batch, row)| batch.entry(row).unwrap()).collect();
            let without_stats: Vec<_> = entries.into_iter().map(drop_stats).collect();
            assert_eq!(planned, without_stats, "{}", path.display());
        }
    }
}

/// RP-089, RP-090: dropped value statistics are empty and of no columns.
fn drop_stats(mut entry: ManifestEntry) -> ManifestEntry {
    entry.file.key_stats = paimon_meta::SimpleStats::default();
    entry.file.value_stats = paimon_meta::SimpleStats::default();
    entry.file.value_stats_cols = Some(Vec::new());
    entry
}

/// The files of a plan in `expected.json`, wherever they stand in it.
fn planned_files<'a>(plan: &'a Value, found: &mut Vec<&'a Value>) {
    match plan {
        Value::Array(items) => items.iter().for_each(|item| planned_files(item, found)),
        Value::Object(members) if members.contains_key("min_seq") => found.push(plan),
        Value::Object(members) => members.values().for_each(|item| planned_files(item, found)),
        _ => {}
    }
}

#[test]
fn entries_say_what_the_plans_of_the_reference_say() {
    let mut seen = 0;
    for directory in manifest_directories() {
        let mut entries = HashMap::new();
        for entry in files(&directory, "manifest-")
            .iter()
            .flat_map(|path| decode(path, decode_manifest))
        {
            let name_and_level = (entry.file.file_name.clone(), entry.file.level);
            entries.insert(name_and_level, entry.file);
        }
        let vectors = deletion_vectors(&directory);
        let expected = fs::read(directory.join("../../expected.json")).unwrap();
        let expected: Value = serde_json::from_slice(&expected).unwrap();
        let mut planned = Vec::new();
        for read in expected["reads"].as_array().unwrap() {
            planned_files(&read["plan"], &mut planned);
        }
        for file in planned {
            let name = file["name"].as_str().unwrap();
            let level = i32::try_from(file["level"].as_i64().unwrap()).unwrap();
            let place = || format!("{}: {name} at level {level}", directory.display());
            let meta = entries
                .get(&(name.to_owned(), level))
                .unwrap_or_else(|| panic!("{}", place()));
            assert_eq!(file["rows"], meta.row_count, "{}", place());
            assert_eq!(
                file["delete_rows"],
                serde_json::json!(meta.delete_row_count),
                "{}",
                place()
            );
            assert_eq!(file["size"], meta.file_size, "{}", place());
            assert_eq!(file["min_seq"], meta.min_sequence_number, "{}", place());
            assert_eq!(file["max_seq"], meta.max_sequence_number, "{}", place());
            assert_eq!(file["schema"], meta.schema_id, "{}", place());
            if let Some(vector) = file
                .get("deletion_vector")
                .filter(|vector| !vector.is_null())
            {
                check_deletion_vector(vector, name, &vectors);
            }
            seen += 1;
        }
    }
    assert!(seen > 3000, "{seen} files");
}

/// The deletion vectors of all index manifests of a table, with the names of their index files.
fn deletion_vectors(directory: &Path) -> Vec<(String, DeletionVectorRange)> {
    let manifests = files(directory, "index-manifest-");
    let entries = manifests
        .iter()
        .flat_map(|path| decode(path, decode_index_manifest));
    let ranges = |entry: IndexManifestEntry| {
        let file = entry.file_name;
        let ranges = entry.deletion_vectors.unwrap_or_default();
        ranges.into_iter().map(move |range| (file.clone(), range))
    };
    entries.flat_map(ranges).collect()
}

fn check_deletion_vector(
    vector: &Value,
    data_file: &str,
    vectors: &[(String, DeletionVectorRange)],
) {
    let (_, range) = vectors
        .iter()
        .find(|(file, range)| vector["file"] == file.as_str() && range.data_file == data_file)
        .unwrap_or_else(|| panic!("no deletion vector of {data_file} in {vector}"));
    assert_eq!(vector["offset"], range.offset);
    assert_eq!(vector["length"], range.length);
    assert_eq!(vector["cardinality"], serde_json::json!(range.cardinality));
}

#[test]
fn every_index_manifest_decodes() {
    let mut types = HashMap::<String, u64>::new();
    for directory in manifest_directories() {
        for path in files(&directory, "index-manifest-") {
            for entry in decode(&path, decode_index_manifest) {
                assert_eq!(entry.kind, EntryKind::Add, "{}", path.display());
                if entry.index_type == "DELETION_VECTORS" {
                    let ranges = entry.deletion_vectors.unwrap();
                    assert_eq!(ranges.len() as u64, entry.row_count, "{}", path.display());
                } else {
                    assert_eq!(entry.deletion_vectors, None, "{}", path.display());
                }
                *types.entry(entry.index_type).or_default() += 1;
            }
        }
    }
    assert!(
        types.contains_key("DELETION_VECTORS") && types.contains_key("HASH"),
        "{types:?}"
    );
}

#[test]
fn manifests_in_orc_are_refused_by_name() {
    let directory = Path::new(GOLDEN).join(ORC_CASE).join("table/manifest");
    for path in files(&directory, "manifest-list-") {
        let error = decode_manifest_list(&fs::read(&path).unwrap()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert_eq!(error.feature(), Some("manifest format orc"));
    }
}
