//! What is read is what the oracle knows.

use paimon_meta::{MergeEngine, Options};
use paimon_read::RowKinds;
use paimon_testkit::{History, HistoryShape, JsonRow, Layout, Query};
use serde_json::json;

use super::coverage::Coverage;
use super::table::{Case, Route, law, options, same};

/// Any query of any table of an engine gives the rows that the oracle knows.
fn reader_equals_oracle_for(engine: MergeEngine) {
    let shape = HistoryShape {
        merge_engine: Some(engine),
        append: engine == MergeEngine::Deduplicate,
        ..HistoryShape::ALL
    };
    let coverage = Coverage::of(engine);
    law(file!(), shape, |case, query| {
        let query = Query {
            limit: None,
            ..query.clone()
        };
        let route = Route::in_parts_by(case);
        let found = match case.read(&query, &route) {
            Ok(found) => found,
            Err(refused) => return Ok(Err(refused)),
        };
        same(case, &query, &case.answer(&query), &found)?;
        coverage.add(case, &query);
        Ok(Ok(()))
    });
    coverage.check();
}

#[test]
fn reader_equals_oracle() {
    reader_equals_oracle_for(MergeEngine::Deduplicate);
}

#[test]
fn reader_equals_oracle_in_partial_updates() {
    reader_equals_oracle_for(MergeEngine::PartialUpdate);
}

#[test]
fn reader_equals_oracle_in_aggregations() {
    reader_equals_oracle_for(MergeEngine::Aggregation);
}

#[test]
fn reader_equals_oracle_in_first_rows() {
    reader_equals_oracle_for(MergeEngine::FirstRow);
}

#[test]
fn every_snapshot_and_tag_keeps_its_rows() {
    law(file!(), HistoryShape::ALL, |case, _| {
        let main = case.written.main().unwrap();
        let snapshots = main.snapshots().map(|snapshot| {
            let id = snapshot.id;
            let rows = main.rows_at(id).unwrap();
            (Options::SCAN_SNAPSHOT_ID.key, id.to_string(), rows)
        });
        let tags = main.tags().map(|tag| {
            let rows = main.rows_of_tag(tag).unwrap();
            (Options::SCAN_TAG_NAME.key, tag.to_owned(), rows)
        });
        for (key, value, expected) in snapshots.chain(tags) {
            let route = Route {
                options: vec![(key, value)],
                ..Route::in_parts_by(case)
            };
            let fields = case.resolve(&route).map(|table| table.schema.fields);
            let found = match case.read(&Query::default(), &route) {
                Ok(found) => found,
                Err(refused) => return Ok(Err(refused)),
            };
            // The columns are those of the snapshot's schema, which may be another.
            let types: Vec<_> = fields
                .unwrap()
                .into_iter()
                .map(|field| field.data_type)
                .collect();
            let types: Vec<_> = types.iter().collect();
            let diff = paimon_testkit::diff_rows(&types, &expected, &found);
            proptest::prop_assert!(
                diff.is_none(),
                "{:?}: {}\n{}",
                route.options,
                diff.unwrap(),
                case.history
            );
        }
        Ok(Ok(()))
    });
}

#[test]
fn hints_may_be_stale() {
    // TF-002: LATEST is believed only while no newer snapshot is there.
    let shape = HistoryShape {
        deletion_vectors: false,
        ..HistoryShape::ALL
    };
    law(file!(), shape, |case, _| {
        let query = Query::default();
        let ids = case
            .written
            .main()
            .unwrap()
            .snapshots()
            .map(|snapshot| snapshot.id);
        for id in ids {
            case.put("snapshot/LATEST", &id.to_string());
            let found = match case.read(&query, &Route::in_parts_by(case)) {
                Ok(found) => found,
                Err(refused) => return Ok(Err(refused)),
            };
            same(case, &query, &case.answer(&query), &found)?;
        }
        Ok(Ok(()))
    });
}

#[test]
fn a_file_that_rises_as_it_is_keeps_its_deletes() {
    // The reference writes a single file anew only on its way to the highest level: the delete is still there, and by the
    // sequence field newer than the row that comes late.
    let text = json!({
        "columns": [["k", "INT NOT NULL"], ["s", "INT"]], "primary_key": ["k"],
        "options": {"bucket": "1", "write-only": "true", "sequence.field": "s"},
        "steps": [{"write": [["-D", 1, 5]]}, {"compact": {"up_to": 2}}, {"write": [["+I", 1, 4]]}],
    });
    let history = History::from_json(text.to_string().as_bytes()).unwrap();
    let case = Case::new(history, &Layout::default());
    assert!(case.answer(&Query::default()).is_empty());
    assert!(
        case.read(&Query::default(), &Route::default())
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_bucket_on_two_levels_is_merged() {
    // ME 1.7: a bucket without level 0 is raw only where all its files are on one level.
    let text = json!({
        "columns": [["k", "INT NOT NULL"], ["v", "INT"]], "primary_key": ["k"],
        "options": {"bucket": "1", "write-only": "true"},
        "steps": [{"write": [["+I", 1, 5], ["+I", 2, 6]]}, {"compact": "full"},
            {"write": [["+I", 1, 4], ["+I", 3, 4]]}, {"compact": {"up_to": 1}}],
    });
    let history = History::from_json(text.to_string().as_bytes()).unwrap();
    let case = Case::new(history, &Layout::default());
    let expected = [[1, 4], [2, 6], [3, 4]].map(|row| row.map(serde_json::Value::from).to_vec());
    let found = case.read(&Query::default(), &Route::default()).unwrap();
    same(&case, &Query::default(), &expected, &found).unwrap();
}

#[test]
fn ties_of_sequence_numbers_go_to_the_add() {
    // ME 1.3: equal keys and sequence numbers: a retract comes before an add, whichever writer had it.
    let text = json!({
        "columns": [["k", "INT NOT NULL"], ["v", "INT"]], "primary_key": ["k"],
        "options": {"bucket": "1", "write-only": "true"},
        "steps": [{"parallel": [[["+I", 1, 1], ["-D", 2, 1]], [["-D", 1, 1], ["+I", 2, 2]]]}],
    });
    let history = History::from_json(text.to_string().as_bytes()).unwrap();
    let case = Case::new(history, &Layout::default());
    let expected = vec![vec![json!(1), json!(1)], vec![json!(2), json!(2)]];
    assert_eq!(case.answer(&Query::default()), expected);
    let found = case.read(&Query::default(), &Route::default()).unwrap();
    same(&case, &Query::default(), &expected, &found).unwrap();
    assert!(options(&case).get("write-only").is_some());
}

#[test]
fn compactions_say_what_changed() {
    // ME 6.1: before and after of a key, by what is looked up or by the highest level.
    for (producer, compaction) in [("lookup", "level0"), ("full-compaction", "full")] {
        let text = json!({
            "columns": [["k", "INT NOT NULL"], ["v", "INT"], ["w", "INT"]], "primary_key": ["k"],
            "options": {"bucket": "1", "write-only": "true", "merge-engine": "aggregation",
                "fields.v.aggregate-function": "sum", "aggregation.remove-record-on-delete": "true",
                "changelog-producer": producer},
            "steps": [{"write": [["+I", 1, 1, 7], ["+I", 2, 1, 7]]}, {"compact": compaction},
                {"write": [["+U", 1, 2, null], ["-D", 2, 1, 8], ["+I", 3, 3, 3], ["-D", 4, 1, 1]]}, {"compact": compaction}],
        });
        let history = History::from_json(text.to_string().as_bytes()).unwrap();
        let case = Case::new(history, &Layout::default());
        let route = |between: &str| Route {
            row_kinds: RowKinds::Keep,
            options: vec![
                (Options::INCREMENTAL_BETWEEN.key, between.to_owned()),
                (
                    Options::INCREMENTAL_BETWEEN_SCAN_MODE.key,
                    "changelog".to_owned(),
                ),
            ],
            ..Route::default()
        };
        let first = case.read(&Query::default(), &route("0,2")).unwrap();
        let second = case.read(&Query::default(), &route("2,4")).unwrap();
        let rows = |rows: serde_json::Value| serde_json::from_value::<Vec<JsonRow>>(rows).unwrap();
        assert_eq!(
            first,
            rows(json!([["+I", 1, 1, 7], ["+I", 2, 1, 7]])),
            "{producer}"
        );
        let expected = json!([
            ["-U", 1, 1, 7],
            ["+U", 1, 3, 7],
            ["-D", 2, 1, 7],
            ["+I", 3, 3, 3]
        ]);
        assert_eq!(second, rows(expected), "{producer}");
    }
}
