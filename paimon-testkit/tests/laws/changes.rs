//! The exact difference of two states leads from the one to the other.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::Int8Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use paimon_meta::{Options, ResolvedTable, Result, RowKind};
use paimon_plan::{Plan, ScanRequest, exact_diff, plan};
use paimon_read::{
    BatchStream, DifferenceReader, ReadRequest, TableReader, block_on, read_blocking,
};
use paimon_testkit::{HistoryShape, JsonRow, JsonRows, Layout, Query};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::table::{Case, Route, law, refused, rewritten};

/// How often each row is there.
pub(crate) type Bag = BTreeMap<String, i64>;

pub(crate) fn text(row: &JsonRow) -> String {
    serde_json::to_string(row).unwrap()
}

pub(crate) fn bag<'a>(rows: impl IntoIterator<Item = &'a JsonRow>) -> Bag {
    let mut bag = Bag::new();
    for row in rows {
        *bag.entry(text(row)).or_default() += 1;
    }
    bag
}

pub(crate) fn request(table: &ResolvedTable, query: &Query) -> Result<ReadRequest> {
    let request = ReadRequest {
        predicate: query.predicate(&table.schema.fields)?,
        batch_size: 3,
        window_bytes: 7,
        ..ReadRequest::default()
    };
    match &query.columns {
        None => Ok(request),
        Some(columns) => request.with_columns(&table.schema, columns),
    }
}

/// Rows with their kinds; those of a stream without kinds are inserts.
pub(crate) fn drain(
    stream: BatchStream,
    table: &ResolvedTable,
    query: &Query,
    kinds: bool,
) -> Result<Vec<(RowKind, JsonRow)>> {
    let schema = &table.schema;
    let types = match &query.columns {
        None => schema
            .fields
            .iter()
            .map(|field| field.data_type.clone())
            .collect(),
        Some(names) => {
            let types = names
                .iter()
                .map(|name| Ok(schema.field(name)?.data_type.clone()));
            types.collect::<Result<Vec<_>>>()?
        }
    };
    let mut batches = read_blocking(stream);
    let mut rows = Vec::new();
    while let Some(batch) = batches.next_batch() {
        let batch = batch?;
        assert!((1..=3).contains(&batch.num_rows()));
        let of: Int8Array = match kinds {
            true => batch.column(0).as_primitive::<Int8Type>().clone(),
            false => vec![0; batch.num_rows()].into(),
        };
        let values: Vec<usize> = (usize::from(kinds)..batch.num_columns()).collect();
        let values = JsonRows::new(&batch.project(&values).unwrap(), &types)?.rows()?;
        let of = of
            .values()
            .iter()
            .map(|kind| RowKind::from_byte(*kind).unwrap());
        rows.extend(of.zip(values));
    }
    Ok(rows)
}

/// The rows of a query as a batch read gives them.
fn state(case: &Case, table: &ResolvedTable, query: &Query) -> Result<Vec<JsonRow>> {
    let planned = block_on(plan(&case.resources, table, &ScanRequest::default()))?;
    planned_state(case, table, &planned, query)
}

/// The rows of a query by a plan of a state.
pub(crate) fn planned_state(
    case: &Case,
    table: &ResolvedTable,
    planned: &Plan,
    query: &Query,
) -> Result<Vec<JsonRow>> {
    let reader = TableReader::new(
        Arc::new(table.clone()),
        request(table, query)?,
        case.resources.clone(),
    )?;
    let rows = read(&reader, planned)?;
    let rows = drain(rows, table, query, false)?;
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

pub(crate) fn read(reader: &TableReader, plan: &Plan) -> Result<BatchStream> {
    let splits = (0..plan.len()).map(|index| plan.split(index));
    reader.read_all(reader.tasks(splits.collect::<Result<Vec<_>>>()?))
}

pub(crate) fn at(case: &Case, snapshot: i64) -> Result<ResolvedTable> {
    case.resolve(&Route {
        options: vec![(Options::SCAN_SNAPSHOT_ID.key, snapshot.to_string())],
        ..Route::default()
    })
}

/// The earlier rows of a query under the later schema, the later rows, and the difference.
struct Compared {
    before: Vec<JsonRow>,
    after: Vec<JsonRow>,
    changes: Vec<(RowKind, JsonRow)>,
}

fn compare(case: &Case, (a, b): (i64, i64), query: &Query) -> Result<Compared> {
    let (from, to) = (at(case, a)?, at(case, b)?);
    let scan = ScanRequest {
        predicate: query.predicate(&to.schema.fields)?,
        ..ScanRequest::default()
    };
    let difference = block_on(exact_diff(&case.resources, &from, &to, &scan))?;
    // As another process would get it.
    let sent = serde_json::to_string(&difference.splits).unwrap();
    let request = ReadRequest {
        predicate: difference.residual,
        ..request(&to, query)?
    };
    let reader = DifferenceReader::new(Arc::new(to.clone()), request, case.resources.clone())?;
    let rows = reader.read_all(serde_json::from_str(&sent).unwrap())?;
    let changes = drain(rows, &to, query, true)?;
    let main = case.written.main()?;
    let after = query.answer(&to.schema.fields, &main.rows_at(b)?)?;
    let before = if from.schema.fields == to.schema.fields {
        query.answer(&to.schema.fields, &main.rows_at(a)?)?
    } else {
        let earlier = ResolvedTable {
            snapshot: from.snapshot,
            ..to
        };
        state(case, &earlier, query)?
    };
    Ok(Compared {
        before,
        after,
        changes,
    })
}

/// Applied to the earlier rows the changes give the later ones; with all columns nothing comes and goes at once.
fn check(
    case: &Case,
    pair: (i64, i64),
    query: &Query,
    found: &Compared,
) -> Result<(), TestCaseError> {
    let kept = |add: bool| {
        let changes = found.changes.iter();
        bag(changes
            .filter(|(kind, _)| kind.is_add() == add)
            .map(|(_, row)| row))
    };
    let (gone, came) = (kept(false), kept(true));
    let mut rows = bag(&found.before);
    for (row, times) in &gone {
        *rows.entry(row.clone()).or_default() -= times;
    }
    let said = || format!("{pair:?} {query:?} {:?}\n{}", found.changes, case.history);
    prop_assert!(
        rows.values().all(|times| *times >= 0),
        "gone without being there: {}",
        said()
    );
    for (row, times) in &came {
        *rows.entry(row.clone()).or_default() += times;
    }
    rows.retain(|_, times| *times != 0);
    prop_assert_eq!(rows, bag(&found.after), "{}", said());
    if query.columns.is_none() {
        let idle = gone.keys().find(|row| came.contains_key(*row));
        prop_assert!(idle.is_none(), "{idle:?} did not change: {}", said());
    }
    for (place, (kind, _)) in found.changes.iter().enumerate() {
        let next = found.changes.get(place + 1).map(|(kind, _)| *kind);
        let paired = *kind != RowKind::UpdateBefore || next == Some(RowKind::UpdateAfter);
        prop_assert!(paired, "an update without its later row: {}", said());
    }
    Ok(())
}

#[test]
fn exact_difference_leads_from_one_state_to_the_other() {
    law(file!(), HistoryShape::ALL, |case, query| {
        let ids: Vec<i64> = case
            .written
            .main()
            .unwrap()
            .snapshots()
            .map(|snapshot| snapshot.id)
            .collect();
        let steps = ids.windows(2).map(|pair| (pair[0], pair[1]));
        let mut pairs: Vec<(i64, i64)> = steps.take(4).collect();
        if let (Some(first), Some(last)) = (ids.first(), ids.last()) {
            pairs.extend([(*first, *last), (*last, *first)]);
        }
        for pair in pairs {
            // A query may name columns that an older schema does not have.
            let fits = |query: &Query| at(case, pair.1).is_ok_and(|to| request(&to, query).is_ok());
            let whole = Query {
                columns: None,
                limit: None,
                ..query.clone()
            };
            let some = Query {
                limit: None,
                ..query.clone()
            };
            for query in [whole, some] {
                if !fits(&query) {
                    continue;
                }
                let found = match compare(case, pair, &query).or_else(refused) {
                    Ok(found) => found,
                    Err(refused) => return Ok(Err(refused)),
                };
                check(case, pair, &query, &found)?;
            }
        }
        Ok(Ok(()))
    });
}

/// All rows that a history writes.
fn rows_of(history: &Value) -> Vec<Value> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let steps = list(&history["steps"]);
    let files = steps.iter().flat_map(|step| list(&step["files"]));
    let files = files.flat_map(|file| list(&file));
    let written = steps.iter().flat_map(|step| list(&step["write"]));
    files.chain(written).collect()
}

/// One more step: another number of buckets.
fn rescaled(history: &mut Value) {
    let more = match history["options"]["bucket"].as_str().unwrap_or("-1") {
        "1" => "3",
        "-1" => return,
        _ => "1",
    };
    let steps = history["steps"].as_array_mut().unwrap();
    steps.push(json!({"alter": [["set", "bucket", more]]}));
}

/// More steps: an overwrite of everything, rows over it, and a compaction.
pub(crate) fn overwritten(history: &mut Value) {
    let (early, late): (Vec<_>, Vec<_>) = rows_of(history)
        .into_iter()
        .enumerate()
        .partition(|(number, _)| number % 3 == 0);
    let values = |rows: Vec<(usize, Value)>| rows.into_iter().map(|(_, row)| row).collect();
    let (early, late): (Vec<Value>, Vec<Value>) = (values(early), values(late));
    let steps = history["steps"].as_array_mut().unwrap();
    let whole = json!({"dynamic-partition-overwrite": "false"});
    steps.push(json!({"write": late, "overwrite": {}, "options": whole}));
    steps.push(json!({"write": early}));
    steps.push(json!({"compact": "full"}));
}

#[test]
fn exact_difference_crosses_overwrites_and_other_numbers_of_buckets() {
    let shape = HistoryShape {
        evolution: false,
        ..HistoryShape::ALL
    };
    law(file!(), shape, |case, query| {
        let before = case.written.main().unwrap().snapshots().last();
        let Some(before) = before.map(|snapshot| snapshot.id) else {
            return Ok(Ok(()));
        };
        let case = &Case::new(
            rewritten(&case.history, |history| {
                rescaled(history);
                overwritten(history);
            }),
            &Layout::default(),
        );
        let snapshots = case.written.main().unwrap().snapshots();
        let after = snapshots
            .map(|snapshot| snapshot.id)
            .filter(|id| *id > before);
        let after: Vec<i64> = after.collect();
        let whole = Query {
            columns: None,
            limit: None,
            ..query.clone()
        };
        let there = after.iter().map(|id| (before, *id));
        let back = after.last().map(|last| (*last, before));
        for pair in there.chain(back) {
            let found = match compare(case, pair, &whole).or_else(refused) {
                Ok(found) => found,
                Err(refused) => return Ok(Err(refused)),
            };
            check(case, pair, &whole, &found)?;
        }
        Ok(Ok(()))
    });
}
