//! Every route gives the same rows.

use paimon_meta::{Options, StringLayout};
use paimon_read::RowKinds;
use paimon_testkit::{History, HistoryShape, JsonRow, Layout, Query};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::table::{Case, Refusable, Route, law, same};

/// A law: these routes give the answer of the query.
fn by(routes: impl Fn(&Case) -> Vec<Route>) {
    law(file!(), HistoryShape::ALL, |case, query| {
        let query = unlimited(query);
        let expected = case.answer(&query);
        for route in routes(case) {
            let route = Route {
                parts: Route::in_parts_by(case).parts,
                ..route
            };
            match case.read(&query, &route) {
                Ok(found) => same(case, &query, &expected, &found)?,
                Err(refused) => return Ok(Err(refused)),
            }
        }
        Ok(Ok(()))
    });
}

fn unlimited(query: &Query) -> Query {
    Query {
        limit: None,
        ..query.clone()
    }
}

#[test]
fn any_batch_size_and_window() {
    by(|_| {
        let sizes = [(1, 1 << 20), (2, 0), (7, 64), (1000, 1 << 20)];
        let routes = sizes.map(|(batch_size, window_bytes)| Route {
            batch_size,
            window_bytes,
            ..Route::default()
        });
        routes.to_vec()
    });
}

#[test]
fn any_order_of_tasks() {
    by(|_| {
        vec![Route {
            backwards: true,
            ..Route::default()
        }]
    });
}

#[test]
fn any_target_size_of_splits() {
    by(|_| {
        let sizes = [
            ("1 b", "0 b"),
            ("1 b", "1 b"),
            ("3 kb", "1 kb"),
            ("1 gb", "4 mb"),
        ];
        let routes = sizes.map(|(target, open)| Route {
            options: vec![
                (Options::SOURCE_SPLIT_TARGET_SIZE.key, target.to_owned()),
                (Options::SOURCE_SPLIT_OPEN_FILE_COST.key, open.to_owned()),
            ],
            ..Route::default()
        });
        routes.to_vec()
    });
}

#[test]
fn any_layout_of_strings() {
    by(|_| {
        let layouts = [StringLayout::Offset32, StringLayout::Offset64];
        let routes = layouts.map(|strings| Route {
            strings,
            ..Route::default()
        });
        routes.to_vec()
    });
}

#[test]
fn filters_may_be_pushed_or_applied_afterwards() {
    by(|_| {
        vec![Route {
            unplanned: true,
            ..Route::default()
        }]
    });
}

#[test]
fn a_plan_alone_prunes_no_row_that_matches() {
    // What the plan leaves out of a condition, asked of no row while reading, is nothing of the answer.
    law(file!(), HistoryShape::ALL, |case, query| {
        let query = unlimited(query);
        let route = Route {
            unasked: true,
            ..Route::in_parts_by(case)
        };
        let all = Query {
            columns: None,
            ..query.clone()
        };
        let found = match case.read(&all, &route) {
            Ok(found) => query.answer(case.fields(), &found).unwrap(),
            Err(refused) => return Ok(Err(refused)),
        };
        same(case, &query, &case.answer(&query), &found)?;
        Ok(Ok(()))
    });
}

#[test]
fn plans_and_tasks_go_through_text() {
    by(|_| {
        vec![Route {
            serialised: true,
            ..Route::default()
        }]
    });
}

#[test]
fn what_is_raw_may_be_merged() {
    by(|_| {
        vec![Route {
            never_raw: true,
            ..Route::default()
        }]
    });
}

#[test]
fn projection_commutes() {
    // The columns of a read of all columns are those of a read of some.
    law(file!(), HistoryShape::ALL, |case, query| {
        let query = unlimited(query);
        let all = Query {
            columns: None,
            ..query.clone()
        };
        let route = Route::in_parts_by(case);
        let (found, all) = match (case.read(&query, &route), case.read(&all, &route)) {
            (Ok(found), Ok(all)) => (found, all),
            (Err(refused), _) | (_, Err(refused)) => return Ok(Err(refused)),
        };
        let expected = query.projected(case.fields(), &all).unwrap();
        same(case, &query, &expected, &found)?;
        Ok(Ok(()))
    });
}

#[test]
fn count_is_the_number_of_rows() {
    law(file!(), HistoryShape::ALL, |case, query| {
        let counted = Query {
            columns: Some(Vec::new()),
            ..unlimited(query)
        };
        let expected = case.answer(&counted).len();
        let route = Route::in_parts_by(case);
        let found = match case.read(&counted, &route) {
            Ok(found) => found.len(),
            Err(refused) => return Ok(Err(refused)),
        };
        prop_assert_eq!(found, expected, "{:?}\n{}", counted, &case.history);
        // What metadata says alone, it says rightly.
        let table = case.resolve(&route).unwrap();
        let plan = case.plan(&table, &counted, &route).unwrap();
        if let (None, Some(rows)) = (plan.residual(), plan.exact_row_count()) {
            prop_assert_eq!(rows, expected as u64, "{:?}\n{}", counted, &case.history);
        }
        Ok(Ok(()))
    });
}

#[test]
fn metadata_without_counts_of_deletes_counts_nothing() {
    // RP-181, RP-700: of a file whose delete rows nobody counted, metadata alone does not tell the rows.
    let text = json!({
        "columns": [["k", "INT NOT NULL"], ["v", "INT"]], "primary_key": ["k"],
        "options": {"bucket": "1", "write-only": "true"},
        "steps": [{"write": [["+I", 1, 5], ["-D", 2, null]]}],
    });
    let history = History::from_json(text.to_string().as_bytes()).unwrap();
    let layout = Layout {
        delete_row_counts: false,
        ..Layout::default()
    };
    let case = Case::new(history, &layout);
    let counted = Query {
        columns: Some(Vec::new()),
        ..Query::default()
    };
    let route = Route::default();
    assert_eq!(case.read(&counted, &route).unwrap().len(), 1);
    let table = case.resolve(&route).unwrap();
    let plan = case.plan(&table, &counted, &route).unwrap();
    assert_eq!(plan.exact_row_count(), None);
}

#[test]
fn limit_gives_as_many_of_the_right_rows() {
    law(file!(), HistoryShape::ALL, |case, query| {
        let limit = query.limit.unwrap_or(3);
        let limited = Query {
            limit: Some(limit),
            ..query.clone()
        };
        let all = case.answer(&unlimited(query));
        for unplanned in [false, true] {
            let route = Route {
                unplanned,
                ..Route::in_parts_by(case)
            };
            let found = match case.read(&limited, &route) {
                Ok(found) => found,
                Err(refused) => return Ok(Err(refused)),
            };
            let wanted = all.len().min(usize::try_from(limit).unwrap());
            prop_assert_eq!(found.len(), wanted, "{:?}\n{}", limited, &case.history);
            let types = super::table::query_types(case, &limited);
            let types: Vec<_> = types.iter().collect();
            if let Some(diff) = paimon_testkit::diff_rows(&types, &all, &found) {
                prop_assert!(diff.extra.is_empty(), "{}\n{}", diff, &case.history);
            }
        }
        Ok(Ok(()))
    });
}

#[test]
fn kept_kinds_only_add_rows_that_retract() {
    law(file!(), HistoryShape::ALL, |case, query| {
        let query = unlimited(query);
        let found = match kept(case, &query) {
            Ok(found) => found,
            Err(refused) => return Ok(Err(refused)),
        };
        let adds = found
            .into_iter()
            .filter(|row| matches!(row.first().and_then(Value::as_str), Some("+I" | "+U")));
        let adds: Vec<JsonRow> = adds.map(|row| row.into_iter().skip(1).collect()).collect();
        same(case, &query, &case.answer(&query), &adds)?;
        Ok(Ok(()))
    });
}

/// Rows with their kinds in front.
fn kept(case: &Case, query: &Query) -> Refusable<Vec<JsonRow>> {
    let route = Route {
        row_kinds: RowKinds::Keep,
        ..Route::in_parts_by(case)
    };
    case.read(query, &route)
}
