//! What a read comes to is told before: never less than it then keeps, and exactly that where it runs to its end.

use std::cell::Cell;

use paimon_io::{Counter, Metrics};
use paimon_meta::Result;
use paimon_read::{Estimate, ReadContext, ReadTask, TableReader, block_on};
use paimon_testkit::{HistoryShape, JsonRow, Query};
use proptest::prelude::*;

use super::table::{Case, Refusable, Route, drain, law, refused};

/// A task, read and estimated.
struct Both {
    rows: Vec<JsonRow>,
    measured: Metrics,
    /// `None` where nothing is told.
    estimate: Option<Estimate>,
    is_whole: bool,
}

fn both(case: &Case, query: &Query, route: &Route) -> Result<Vec<Both>> {
    let (reader, tasks, types) = case.tasks(query, route)?;
    let one = |task: ReadTask| {
        let context = ReadContext::clone(reader.context());
        let resources = context.resources.measured();
        let counted = TableReader::from_context(ReadContext {
            resources: resources.clone(),
            ..context
        })?;
        Ok(Both {
            rows: drain(&counted, vec![task.clone()], &types)?,
            measured: resources.metrics().clone(),
            is_whole: task.part.is_none(),
            estimate: block_on(reader.estimate(task, usize::MAX))?,
        })
    };
    tasks.into_iter().map(one).collect()
}

/// Row groups, pages and rows: all that the read came to, and those that it kept.
fn kept(measured: &Metrics) -> [u64; 4] {
    let of = |all, skipped| measured.get(all) - measured.get(skipped);
    [
        measured.get(Counter::RowGroups),
        of(Counter::RowGroups, Counter::RowGroupsSkipped),
        of(Counter::Pages, Counter::PagesSkipped),
        measured.get(Counter::RowsSkipped),
    ]
}

fn told(estimate: &Estimate) -> [u64; 4] {
    [
        estimate.row_groups,
        estimate.row_groups_kept,
        estimate.pages_kept,
        estimate.rows - estimate.rows_kept - estimate.rows_deleted,
    ]
}

fn check(case: &Case, both: &Both, query: &Query) -> Result<(), TestCaseError> {
    let Some(estimate) = &both.estimate else {
        return Ok(());
    };
    let text = || {
        format!(
            "{query:?}\n{estimate:?}\n{:?}\n{}",
            both.measured, case.history
        )
    };
    let rows = both.rows.len() as u64;
    prop_assert!(rows <= estimate.rows_kept, "{rows} rows, {}", text());
    let opened = both.measured.get(Counter::FilesOpened);
    prop_assert!(opened <= estimate.files_kept, "{}", text());
    prop_assert_eq!(estimate.files, estimate.files_seen);
    let (found, expected) = (kept(&both.measured), told(estimate));
    if query.limit.is_none() && both.is_whole {
        prop_assert_eq!(found, expected, "{}", text());
    } else {
        // A read that ends early comes to less; of a part of a merge the last files may stay unread.
        let most = expected[..3].iter().zip(found);
        prop_assert!(
            most.into_iter().all(|(most, found)| found <= *most),
            "{}",
            text()
        );
    }
    Ok(())
}

#[test]
fn reads_keep_no_more_than_was_estimated() {
    // Whole tasks and parts, every engine, append tables, vectors, under any condition, with and without a limit.
    let (tasks, pruned, merged, deleted) = (Cell::new(0), Cell::new(0), Cell::new(0), Cell::new(0));
    let add = |cell: &Cell<u32>, met: bool| cell.set(cell.get() + u32::from(met));
    law(file!(), HistoryShape::ALL, |case, query| {
        let found: Refusable<Vec<Both>> =
            both(case, query, &Route::in_parts_by(case)).or_else(refused);
        let found = match found {
            Ok(found) => found,
            Err(refused) => return Ok(Err(refused)),
        };
        for both in found {
            check(case, &both, query)?;
            let Some(estimate) = both.estimate else {
                continue;
            };
            add(&tasks, true);
            add(
                &pruned,
                estimate.rows_kept + estimate.rows_deleted < estimate.rows,
            );
            add(&merged, estimate.key_rows > 0);
            add(&deleted, estimate.rows_deleted > 0);
        }
        Ok(Ok(()))
    });
    let least = |met: &Cell<u32>, one_in| {
        let (met, tasks) = (met.get(), tasks.get());
        assert!(met * one_in >= tasks, "{met} of {tasks}");
    };
    least(&pruned, 5);
    least(&merged, 5);
    least(&deleted, 100);
}
