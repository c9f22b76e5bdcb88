//! Compactions leave the rows, where the reference promises it.

use std::cell::Cell;

use paimon_meta::{MergeEngine, RowKind, TypeKind};
use paimon_testkit::{Action, ColumnDefinition, History, HistoryShape, Layout, Query};

use super::table::{Case, Route, law, same};

/// With and without its compactions a history has the same rows, if it is promised; a fifth of the histories must be.
///
/// Nowhere with columns that order versions: a delete that is compacted away no longer hides what comes late. Nor where
/// compactions look up, which hides level 0 or merges a lone version (ME 1.6).
fn leaves_the_rows(engine: MergeEngine, promised: impl Fn(&History) -> bool) {
    let shape = HistoryShape {
        merge_engine: Some(engine),
        sequence_fields: false,
        option_changes: false,
        deletion_vectors: false,
        ..HistoryShape::ALL
    };
    let (all, tested) = (Cell::new(0), Cell::new(0));
    law(file!(), shape, |case, query| {
        all.set(all.get() + 1);
        if !promised(&case.history) {
            return Ok(Ok(()));
        }
        tested.set(tested.get() + 1);
        let query = Query {
            limit: None,
            ..query.clone()
        };
        let plain = Case::new(without_compaction(&case.history), &Layout::default());
        let (found, expected) = match (
            case.read(&query, &Route::in_parts_by(case)),
            plain.read(&query, &Route::in_parts_by(case)),
        ) {
            (Ok(found), Ok(expected)) => (found, expected),
            (Err(refused), _) | (_, Err(refused)) => return Ok(Err(refused)),
        };
        same(case, &query, &expected, &found)?;
        Ok(Ok(()))
    });
    assert!(
        tested.get() * 5 >= all.get(),
        "{} of {}",
        tested.get(),
        all.get()
    );
}

fn without_compaction(history: &History) -> History {
    let mut history = history.clone();
    for step in &mut history.steps {
        if let Action::Commit(commit) = &mut step.action {
            commit.compact = None;
        }
    }
    history
}

#[test]
fn any_compaction_leaves_the_rows() {
    leaves_the_rows(MergeEngine::Deduplicate, |_| true);
}

#[test]
fn any_compaction_leaves_the_rows_of_partial_updates() {
    // Not with sequence groups, whose null tuples a lone version shows and a merged one does not (ME-063); nor where deletes
    // remove rows: what comes behind goes on from their values, unless they are compacted away (ME-051).
    leaves_the_rows(MergeEngine::PartialUpdate, |history| {
        let mut keys = history.table.options.keys();
        !keys.any(|key| key.ends_with("sequence-group") || key.contains("remove-record"))
    });
}

#[test]
fn any_compaction_leaves_the_rows_of_aggregations() {
    // Not with retracts: a lone one is gone, and two of them make a row (ME-087, ME-088).
    leaves_the_rows(MergeEngine::Aggregation, |history| {
        let ignores = history.table.options.contains_key("ignore-delete");
        (ignores || adds_only(history))
            && history
                .table
                .columns
                .iter()
                .all(|column| is_associative(history, column))
    });
}

fn adds_only(history: &History) -> bool {
    let kinds = history.steps.iter().flat_map(|step| match &step.action {
        Action::Commit(commit) => commit
            .files
            .iter()
            .chain([&commit.write])
            .flatten()
            .map(|row| row.kind)
            .collect(),
        _ => Vec::<RowKind>::new(),
    });
    kinds.into_iter().all(RowKind::is_add)
}

/// Whether a column's function may merge the newer versions first. Not sums and products that are rounded, nor those that
/// stop at a limit, nor those for which a null in a newer value takes an older one away.
fn is_associative(history: &History, column: &ColumnDefinition) -> bool {
    let option = |name: &str| {
        let key = format!("fields.{}.{name}", column.name);
        history.table.options.get(&key).map(String::as_str)
    };
    match option("aggregate-function") {
        Some("sum") => matches!(column.data_type.kind, TypeKind::Int | TypeKind::BigInt),
        Some("product" | "merge_map_with_keytime") => false,
        Some("nested_update") => option("count-limit").is_none(),
        _ => true,
    }
}
