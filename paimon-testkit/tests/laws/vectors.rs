//! Deletion vectors of older tables, and those that no longer fit their files: read through the whole table.

use object_store::ObjectStoreExt;
use object_store::path::Path;
use paimon_meta::{Error, ErrorKind, Frame, Result};
use paimon_read::block_on;
use paimon_testkit::{History, JsonRow, Layout, Query, VectorFile, VectorWidth, WriterVersion};
use serde_json::{Value, json};

use super::table::{Case, Route, drain, same};

/// Ten keys on the top level, of which the second commit replaces two and deletes one.
fn history(options: &Value, last: &[Value]) -> History {
    let rows = |keys: std::ops::Range<i32>, value: &str| {
        let row = |key: i32| json!(["+I", key, format!("{value}{key}")]);
        keys.map(row).collect::<Vec<_>>()
    };
    let mut second = rows(2..4, "new");
    second.push(json!(["-D", 7, null]));
    let mut steps = vec![
        json!({"write": rows(0..10, "old"), "compact": "full"}),
        json!({"write": second, "compact": "level0"}),
    ];
    steps.extend_from_slice(last);
    let mut options = options.clone();
    options["bucket"] = json!("1");
    options["deletion-vectors.enabled"] = json!("true");
    let text = json!({
        "columns": [["k", "INT NOT NULL"], ["v", "STRING"]], "primary_key": ["k"], "options": options,
        "steps": steps,
    });
    History::from_json(text.to_string().as_bytes()).unwrap()
}

/// The table as version 0.8 wrote it.
fn old() -> Case {
    let layout = Layout {
        version: WriterVersion::V0_8,
        row_group_rows: 4,
        page_rows: 2,
        ..Layout::default()
    };
    Case::new(history(&json!({}), &[]), &layout)
}

/// The rows, or what stands in their way.
fn read(case: &Case, query: &Query, never_raw: bool) -> Result<Vec<JsonRow>> {
    let route = Route {
        never_raw,
        ..Route::default()
    };
    let (reader, tasks, types) = case.tasks(query, &route)?;
    drain(&reader, tasks, &types)
}

/// A file of a directory, the last one by name.
fn file(case: &Case, directory: &str) -> (String, Vec<u8>) {
    let files = case.written.files();
    let (path, bytes) = files
        .filter(|(path, _)| path.starts_with(directory))
        .last()
        .unwrap();
    (path.to_owned(), bytes.to_vec())
}

/// The error of a table of which a file is another one, before anything was read; the file's name is among its frames.
fn error_with(case: &Case, path: &str, bytes: Vec<u8>) -> Error {
    block_on(
        case.store
            .put(&Path::from(format!("t/{path}")), bytes.into()),
    )
    .unwrap();
    let error = read(case, &Query::default(), false).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    let name = path.rsplit('/').next().unwrap();
    let is_it = |frame: &Frame| matches!(frame, Frame::File(found) if found.ends_with(name));
    assert!(error.frames().any(is_it), "{error:?}");
    error
}

#[test]
fn version_1_payloads_of_older_tables_are_read_through() {
    // TF-068, RP-263: metas without cardinality, vectors of one bitmap.
    let case = old();
    let route = Route::default();
    for filter in [
        None,
        Some(json!(["<", "k", 5])),
        Some(json!(["=", "v", "old3"])),
    ] {
        let query = Query {
            filter,
            ..Query::default()
        };
        for never_raw in [false, true] {
            let found = read(&case, &query, never_raw).unwrap();
            same(&case, &query, &case.answer(&query), &found).unwrap();
        }
    }
    // Nobody counted the deleted rows, so that metadata does not tell how many are left.
    let table = case.resolve(&route).unwrap();
    let plan = case.plan(&table, &Query::default(), &route).unwrap();
    assert!(
        plan.iter()
            .any(|split| split.files().any(|file| plan.deletion_file(file).is_some()))
    );
    assert_eq!(plan.exact_row_count(), None);
    let counted = Query {
        columns: Some(Vec::new()),
        ..Query::default()
    };
    assert_eq!(read(&case, &counted, false).unwrap().len(), 9);
}

#[test]
fn version_1_payloads_that_are_damaged_are_errors_that_name_the_file() {
    // Behind the version byte: length, magic, bitmap, checksum.
    type Damage = fn(&mut Vec<u8>);
    let damages: [(&str, Damage); 4] = [
        ("the index manifest says", |bytes| bytes[4] += 1),
        ("magic number", |bytes| bytes[5] ^= 1),
        ("checksum", |bytes| bytes[9] ^= 1),
        ("cut short", |bytes| bytes.truncate(bytes.len() - 1)),
    ];
    for (expected, damage) in damages {
        let case = old();
        let (path, mut bytes) = file(&case, "index/");
        damage(&mut bytes);
        let error = error_with(&case, &path, bytes);
        assert!(error.message().contains(expected), "{error}");
    }
}

#[test]
fn a_cardinality_that_is_not_that_of_the_vector_is_an_error() {
    let case = Case::new(history(&json!({}), &[]), &Layout::default());
    let mut other = VectorFile::new("i");
    other.push([2, 3], VectorWidth::Bits32);
    let mut bytes = other.into_bytes();
    let (path, whole) = file(&case, "index/");
    // Of the same length, so that the index manifest's place still fits.
    bytes.resize(whole.len(), 0);
    let error = error_with(&case, &path, bytes);
    assert!(
        error.message().contains("the index manifest says"),
        "{error}"
    );
}

#[test]
fn a_vector_that_outlives_its_file_is_tolerated() {
    // RP-100, TF-073: the last snapshot is given the vectors of the one before, whose files a compaction has taken.
    let case = Case::new(
        history(
            &json!({"file.format": "avro"}),
            &[json!({"compact": "full"})],
        ),
        &Layout::default(),
    );
    let snapshot = |id: i64| {
        let path = format!("snapshot/snapshot-{id}");
        let mut files = case.written.files();
        let (_, text) = files.find(|(found, _)| *found == path).unwrap();
        serde_json::from_slice::<Value>(text).unwrap()
    };
    let last = case.written.main().unwrap().snapshots().last().unwrap().id;
    let (mut newest, before) = (snapshot(last), snapshot(last - 1));
    assert!(newest["indexManifest"].is_null() && before["indexManifest"].is_string());
    newest["indexManifest"] = before["indexManifest"].clone();
    case.put(&format!("snapshot/snapshot-{last}"), &newest.to_string());
    let query = Query::default();
    let found = read(&case, &query, false).unwrap();
    same(&case, &query, &case.answer(&query), &found).unwrap();
}

#[test]
fn a_vector_that_points_past_the_end_of_its_file_is_an_error() {
    let case = Case::new(history(&json!({}), &[]), &Layout::default());
    let (path, whole) = file(&case, "index/");
    let mut other = VectorFile::new("i");
    // As many rows as the vector has that is there, the last of them behind the ten of the data file.
    other.push([2, 3, 10], VectorWidth::Bits32);
    let bytes = other.into_bytes();
    assert_eq!(bytes.len(), whole.len());
    let error = error_with(&case, &path, bytes);
    assert_eq!(
        error.message(),
        "the deletion vector marks row 10, the file has 10 rows"
    );
}
