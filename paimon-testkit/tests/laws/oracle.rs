//! What is read is what the oracle knows.

use paimon_meta::Options;
use paimon_testkit::{History, HistoryShape, Layout, Query};
use serde_json::json;

use super::coverage::Coverage;
use super::table::{Case, Route, law, options, same};

#[test]
fn reader_equals_oracle() {
    let coverage = Coverage::default();
    law(file!(), HistoryShape::ALL, |case, query| {
        let query = Query {
            limit: None,
            ..query.clone()
        };
        let route = Route::default();
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
                ..Route::default()
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
fn any_compaction_leaves_the_rows() {
    // Without columns that order versions: there a delete that is compacted away no longer hides what comes late.
    let shape = HistoryShape {
        sequence_fields: false,
        deletion_vectors: false,
        ..HistoryShape::ALL
    };
    law(file!(), shape, |case, query| {
        let query = Query {
            limit: None,
            ..query.clone()
        };
        let plain = Case::new(without_compaction(&case.history), &Layout::default());
        let (found, expected) = match (
            case.read(&query, &Route::default()),
            plain.read(&query, &Route::default()),
        ) {
            (Ok(found), Ok(expected)) => (found, expected),
            (Err(refused), _) | (_, Err(refused)) => return Ok(Err(refused)),
        };
        same(case, &query, &expected, &found)?;
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
            let found = match case.read(&query, &Route::default()) {
                Ok(found) => found,
                Err(refused) => return Ok(Err(refused)),
            };
            same(case, &query, &case.answer(&query), &found)?;
        }
        Ok(Ok(()))
    });
}

fn without_compaction(history: &History) -> History {
    let mut history = history.clone();
    for step in &mut history.steps {
        if let paimon_testkit::Action::Commit(commit) = &mut step.action {
            commit.compact = None;
        }
    }
    history
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
