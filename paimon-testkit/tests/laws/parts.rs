//! Tasks may be subdivided.

use std::cell::Cell;
use std::num::NonZeroUsize;

use paimon_meta::Result;
use paimon_read::{ReadTask, RowKinds, TableReader, block_on};
use paimon_testkit::{HistoryShape, JsonRow, Query};

use super::table::{Case, Refusable, Route, drain, law, refused, same, through_text};

/// Numbers of parts; where there are several, parts are subdivided again.
const SUBDIVISIONS: [&[usize]; 4] = [&[2], &[8], &[2, 3], &[3, 8, 2]];

/// Ways to read; each case takes one of them.
fn routes() -> [Route; 4] {
    let plain = Route::default();
    [
        Route {
            never_raw: true,
            ..plain.clone()
        },
        Route {
            row_kinds: RowKinds::Keep,
            window_bytes: 1 << 20,
            ..plain.clone()
        },
        Route {
            batch_size: 1000,
            unplanned: true,
            ..plain.clone()
        },
        plain,
    ]
}

#[test]
fn any_subdivision_of_tasks() {
    // Whatever the parts are, one after the other they give what their task gives, in its order.
    let (cases, divided) = (Cell::new(0u32), Cell::new(0u32));
    law(file!(), HistoryShape::ALL, |case, query| {
        // By the case alone, so that it stays the same while it is made smaller for showing.
        let number = case.history.to_string().len();
        let (first, second) = (number % 2, 2 + number / 2 % 2);
        let route = &routes()[number / 4 % 4];
        let mut met = false;
        for numbers in [SUBDIVISIONS[first], SUBDIVISIONS[second]] {
            match in_parts(case, query, route, numbers) {
                Ok(parts) => {
                    met |= parts.divided > 0;
                    if query.limit.is_none() && route.row_kinds == RowKinds::Drop {
                        same(case, query, &case.answer(query), &parts.rows)?;
                    }
                }
                Err(refused) => return Ok(Err(refused)),
            }
        }
        cases.set(cases.get() + 1);
        divided.set(divided.get() + u32::from(met));
        Ok(Ok(()))
    });
    // Few rows, but cuts: a law about parts that never meets any proves nothing.
    assert!(divided.get() * 2 >= cases.get(), "{divided:?} of {cases:?}");
}

#[test]
fn two_states_that_are_compared_may_be_subdivided() {
    let (cases, divided) = (Cell::new(0u32), Cell::new(0u32));
    law(file!(), HistoryShape::ALL, |case, query| {
        let snapshots = case.written.main().unwrap().snapshots();
        let ids: Vec<i64> = snapshots.map(|snapshot| snapshot.id).collect();
        let number = case.history.to_string().len();
        let (Some(last), Some(first)) = (ids.last(), ids.get(number % ids.len().max(1))) else {
            return Ok(Ok(()));
        };
        if first == last {
            return Ok(Ok(()));
        }
        let route = Route {
            row_kinds: [RowKinds::Drop, RowKinds::Keep][number % 2],
            options: vec![
                ("incremental-between", format!("{first},{last}")),
                ("incremental-between-scan-mode", "diff".to_owned()),
            ],
            ..Route::default()
        };
        match in_parts(case, query, &route, SUBDIVISIONS[number % 4]) {
            Ok(parts) => divided.set(divided.get() + u32::from(parts.divided > 0)),
            Err(refused) => return Ok(Err(refused)),
        }
        cases.set(cases.get() + 1);
        Ok(Ok(()))
    });
    assert!(divided.get() * 3 >= cases.get(), "{divided:?} of {cases:?}");
}

/// What the parts of a read came to.
#[derive(Debug)]
struct Parts {
    /// Tasks that have several.
    divided: usize,
    rows: Vec<JsonRow>,
}

/// The rows of all parts of all tasks.
fn in_parts(case: &Case, query: &Query, route: &Route, numbers: &[usize]) -> Refusable<Parts> {
    try_in_parts(case, query, route, numbers).or_else(refused)
}

fn try_in_parts(case: &Case, query: &Query, route: &Route, numbers: &[usize]) -> Result<Parts> {
    let (reader, tasks, types) = case.tasks(query, route)?;
    let mut divided = 0;
    let mut all = Vec::new();
    for task in tasks {
        let whole = drain(&reader, vec![task.clone()], &types)?;
        let mut parts = vec![task];
        for number in numbers {
            parts = through_text(&subdivided(&reader, parts, *number)?);
        }
        divided += usize::from(parts.len() > 1);
        let mut found = Vec::new();
        if query.limit.is_some() {
            // A limit counts over tasks that are read together.
            found = drain(&reader, parts.clone(), &types)?;
        } else {
            for part in &parts {
                found.extend(drain(&reader, vec![part.clone()], &types)?);
            }
        }
        assert_eq!(found, whole, "{parts:?}\n{}", case.history);
        all.extend(whole);
    }
    Ok(Parts { divided, rows: all })
}

fn subdivided(reader: &TableReader, tasks: Vec<ReadTask>, parts: usize) -> Result<Vec<ReadTask>> {
    let parts = NonZeroUsize::new(parts).unwrap();
    let mut all = Vec::new();
    for task in tasks {
        let found = block_on(reader.subdivide(task.clone(), parts))?;
        assert!((1..=parts.get()).contains(&found.len()));
        for part in &found {
            let of_task = match reader.provider(&task)? {
                // Files of the later state are read as any others.
                "later files" if *part != task => "raw",
                name => name,
            };
            assert_eq!(reader.provider(part)?, of_task);
        }
        all.extend(found);
    }
    Ok(all)
}
