//! What streams and changelogs say leads from state to state.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use paimon_meta::{CommitKind, MergeEngine, Options, ResolvedTable, Result, RowKind, TableSchema};
use paimon_plan::{Plan, ResolveRequest, ScanRequest, StreamScan, StreamStep, Table, plan};
use paimon_read::{ReadRequest, RowKinds, TableReader, block_on};
use paimon_testkit::{HistoryShape, JsonRow, Layout, Query};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::changes::{Bag, at, bag, drain, overwritten, planned_state, read, request, text};
use super::table::{Case, Refusable, Route, law, options, refused, rewritten};

type Change = (RowKind, JsonRow);

/// The newest row of each key.
#[derive(Clone, Default)]
struct Folded(BTreeMap<String, String>);

impl Folded {
    fn of(schema: &TableSchema, rows: Vec<JsonRow>) -> Self {
        let mut folded = Self::default();
        for row in rows {
            folded.take(schema, &(RowKind::Insert, row));
        }
        folded
    }

    fn take(&mut self, schema: &TableSchema, (kind, row): &Change) {
        let key = key_of(schema, row);
        match kind.is_add() {
            true => self.0.insert(key, text(row)),
            false => self.0.remove(&key),
        };
    }

    fn bag(&self) -> Bag {
        self.0.values().map(|row| (row.clone(), 1)).collect()
    }
}

fn key_of(schema: &TableSchema, row: &JsonRow) -> String {
    let names = schema.fields.iter().map(|field| &field.name).zip(row);
    let key: JsonRow = names
        .filter(|(name, _)| schema.primary_keys.contains(name))
        .map(|(_, value)| value.clone())
        .collect();
    text(&key)
}

/// The rows of a plan of changes, with their kinds.
fn changes(case: &Case, table: &Arc<ResolvedTable>, plan: &Plan) -> Result<Vec<Change>> {
    let query = Query::default();
    let request = ReadRequest {
        row_kinds: RowKinds::Keep,
        ..request(table, &query)?
    };
    let reader = TableReader::new(Arc::clone(table), request, case.resources.clone())?;
    drain(read(&reader, plan)?, table, &query, true)
}

/// The rows of a state, if what was written is settled there: all rows have come to where changelogs tell of them.
fn settled_state(
    case: &Case,
    table: &ResolvedTable,
    settled: impl Fn(&Plan) -> bool,
) -> Result<Option<Vec<JsonRow>>> {
    let planned = block_on(plan(&case.resources, table, &ScanRequest::default()))?;
    match settled(&planned) {
        false => Ok(None),
        true => planned_state(case, table, &planned, &Query::default()).map(Some),
    }
}

/// All files are on one of these levels.
fn on_levels(plan: &Plan, from: i32) -> bool {
    let files = plan.files();
    (0..files.len()).all(|file| files.level(file) >= from)
}

/// The stream's plans from the first snapshot on; after each the rows that it gave are those of its snapshot, if that is
/// settled. Gives the number of states that were compared, or what differs.
fn follow(
    case: &Case,
    more: &[(&str, &str)],
    settled: impl Fn(&Plan) -> bool,
) -> Result<std::result::Result<u32, String>> {
    let options = [("scan.mode", "from-snapshot"), ("scan.snapshot-id", "1")];
    let options = options.iter().chain(more);
    let options = options.map(|(key, value)| ((*key).to_owned(), Some((*value).to_owned())));
    let asked = ResolveRequest {
        options: options.collect(),
        stream: true,
        ..ResolveRequest::default()
    };
    let table = block_on(Table::resolve(&case.resources, "memory:///t", &asked))?;
    let mut stream = StreamScan::new(case.resources.clone(), table, ScanRequest::default())?;
    let mut folded = Folded::default();
    let mut compared = 0;
    while let StreamStep::Plan(plan) = block_on(stream.next_step())? {
        let table = Arc::clone(stream.table());
        for change in changes(case, &table, &plan)? {
            folded.take(&table.schema, &change);
        }
        let id = plan.snapshot_id().unwrap_or_default();
        let then = ResolvedTable {
            snapshot: at(case, id)?.snapshot,
            ..table.as_ref().clone()
        };
        if let Some(rows) = settled_state(case, &then, &settled)? {
            let (expected, found) = (bag(&rows), folded.bag());
            if expected != found {
                return Ok(Err(format!(
                    "snapshot {id}: {expected:?}, streamed {found:?}"
                )));
            }
            compared += 1;
        }
    }
    Ok(Ok(compared))
}

#[test]
fn stream_folded_by_key_equals_each_state() {
    // RP-151, RP-303. Rows of one commit come in the order in which they were written, which is that of their sequence
    // numbers where no column orders them; level 0 shows at once where no vector hides it.
    let shape = HistoryShape {
        merge_engine: Some(MergeEngine::Deduplicate),
        versions: false,
        sequence_fields: false,
        deletion_vectors: false,
        append: false,
        evolution: false,
        ..HistoryShape::ALL
    };
    law(file!(), shape, |case, _| {
        let options = options(case);
        let told = |key: &str| options.get(key).is_some_and(|value| value == "true");
        let engine = options.get("merge-engine").unwrap_or("deduplicate");
        // Streams of changelogs take no overwrites.
        let changelogs = options.get("changelog-producer");
        let changelogs = changelogs.is_some_and(|producer| producer != "none");
        if told("ignore-delete") || changelogs || engine != "deduplicate" {
            return Ok(Ok(()));
        }
        let case = &Case::new(rewritten(&case.history, overwritten), &Layout::default());
        let overwrites = [("streaming-read-overwrite", "true")];
        let wrong: Refusable<_> = follow(case, &overwrites, |_| true).or_else(refused);
        match wrong {
            Ok(Ok(_)) => Ok(Ok(())),
            Ok(Err(wrong)) => Err(TestCaseError::fail(format!("{wrong}\n{}", case.history))),
            Err(refused) => Ok(Err(refused)),
        }
    });
}

/// Histories whose compactions write changelogs.
const COMPACTED: HistoryShape = HistoryShape {
    versions: false,
    append: false,
    evolution: false,
    option_changes: false,
    ..HistoryShape::ALL
};

/// The same history with a changelog producer, and a compaction behind every second commit. `None` where the reference
/// takes no such table.
fn with_producer(case: &Case, producer: &str, compaction: &str) -> Option<Case> {
    let options = options(case);
    let told = |key: &str, wanted: &str| options.get(key).is_some_and(|value| value == wanted);
    let refused = producer == "full-compaction"
        && (told("merge-engine", "first-row") || told("deletion-vectors.enabled", "true"));
    if refused {
        return None;
    }
    let rewrite = |history: &mut Value| {
        history["options"]["changelog-producer"] = Value::from(producer);
        let steps = history["steps"].as_array_mut().unwrap();
        let writes = steps
            .iter_mut()
            .filter(|step| step.get("write").is_some() || step.get("files").is_some());
        for step in writes.step_by(2) {
            step["compact"] = Value::from(compaction);
        }
        steps.push(json!({ "compact": compaction }));
    };
    Some(Case::new(
        rewritten(&case.history, rewrite),
        &Layout::default(),
    ))
}

/// Whether a state is one that changelogs of the producer have told all of: compactions had all rows, or full ones.
fn told_by(case: &Case, producer: &str) -> impl Fn(&Plan) -> bool + use<> {
    let top = options(case).num_levels().unwrap() - 1;
    let from = if producer == "lookup" { 1 } else { top };
    move |plan| on_levels(plan, from)
}

#[test]
fn changelog_folded_by_key_equals_each_compacted_state() {
    // ME 6.1, RP-151: for every merge engine. With changelog producers none and input what is streamed is what was written,
    // not what the engine makes of it, so that only `deduplicate` has the law there.
    let compared = Cell::new(0);
    law(file!(), COMPACTED, |case, _| {
        for (producer, compaction) in [("lookup", "level0"), ("full-compaction", "full")] {
            let Some(case) = &with_producer(case, producer, compaction) else {
                continue;
            };
            match follow(case, &[], told_by(case, producer)).or_else(refused) {
                Ok(Ok(states)) => compared.set(compared.get() + states),
                Ok(Err(wrong)) => {
                    let said = format!("{producer}: {wrong}\n{}", case.history);
                    return Err(TestCaseError::fail(said));
                }
                Err(refused) => return Ok(Err(refused)),
            }
        }
        Ok(Ok(()))
    });
    assert!(compared.get() > super::table::cases(), "{}", compared.get());
}

/// The changes of a range by the files of a mode.
fn between(case: &Case, (from, to): (i64, i64), mode: &str) -> Result<Vec<Change>> {
    let table = case.resolve(&Route {
        options: vec![
            (Options::INCREMENTAL_BETWEEN.key, format!("{from},{to}")),
            (Options::INCREMENTAL_BETWEEN_SCAN_MODE.key, mode.to_owned()),
        ],
        ..Route::default()
    })?;
    let plan = block_on(plan(&case.resources, &table, &ScanRequest::default()))?;
    changes(case, &Arc::new(table), &plan)
}

/// From one settled state to the next: the changelog leads from the one to the other, and tells of keys that the delta has
/// too; with `deduplicate` the delta leads there as well. Rows of a key in several files of a range come in no order
/// (RP-152), so that nothing follows of them.
fn agree(
    case: &Case,
    producer: &str,
    settled: impl Fn(&Plan) -> bool,
) -> Result<u32, TestCaseError> {
    let wrong =
        |error: paimon_meta::Error| TestCaseError::fail(format!("{error}\n{}", case.history));
    let snapshots = case.written.main().unwrap().snapshots();
    let ids: Vec<i64> = snapshots.map(|snapshot| snapshot.id).collect();
    let mut last: Option<(i64, Folded)> = None;
    let mut compared = 0;
    for id in ids {
        let table = at(case, id).map_err(wrong)?;
        // Where level 0 is hidden, what was written is not yet in the state.
        let snapshot = table.snapshot.as_ref().unwrap();
        if producer != "input" && snapshot.commit_kind != CommitKind::Compact {
            continue;
        }
        let rows = settled_state(case, &table, &settled).map_err(wrong)?;
        let Some(rows) = rows else { continue };
        let schema = &table.schema;
        let now = Folded::of(schema, rows);
        let Some((before, state)) = last.replace((id, now.clone())) else {
            continue;
        };
        let delta = between(case, (before, id), "delta").map_err(wrong)?;
        let changelog = between(case, (before, id), "changelog").map_err(wrong)?;
        let keys = |rows: &[Change]| -> Vec<String> {
            rows.iter().map(|(_, row)| key_of(schema, row)).collect()
        };
        let (written, told) = (keys(&delta), keys(&changelog));
        let once: BTreeSet<&String> = written.iter().collect();
        if once.len() < written.len() {
            continue;
        }
        let said = || {
            format!(
                "{producer}, {before} to {id}: {delta:?} {changelog:?}\n{}",
                case.history
            )
        };
        prop_assert!(told.iter().all(|key| once.contains(key)), "{}", said());
        let apply = |rows: &[Change]| {
            let mut state = state.clone();
            rows.iter().for_each(|change| state.take(schema, change));
            state.bag()
        };
        prop_assert_eq!(apply(&changelog), now.bag(), "changelog, {}", said());
        let engine = schema.options.get("merge-engine");
        if engine.is_none_or(|engine| engine == "deduplicate") {
            prop_assert_eq!(apply(&delta), now.bag(), "delta, {}", said());
        }
        compared += 1;
    }
    Ok(compared)
}

#[test]
fn delta_and_changelog_lead_to_the_same_state() {
    // RP-152
    let shape = HistoryShape {
        sequence_fields: false,
        ..COMPACTED
    };
    let compared = Cell::new(0);
    law(file!(), shape, |case, _| {
        let options = options(case);
        let told = |key: &str| options.get(key).is_some_and(|value| value == "true");
        if told("ignore-delete") {
            return Ok(Ok(()));
        }
        for (producer, compaction) in [("lookup", "level0"), ("full-compaction", "full")] {
            if let Some(case) = &with_producer(case, producer, compaction) {
                let states = agree(case, producer, told_by(case, producer))?;
                compared.set(compared.get() + states);
            }
        }
        let merges = options
            .get("merge-engine")
            .is_some_and(|engine| engine != "deduplicate");
        if !merges && !told("deletion-vectors.enabled") {
            let case = &with_producer(case, "input", "full").unwrap();
            compared.set(compared.get() + agree(case, "input", |_| true)?);
        }
        Ok(Ok(()))
    });
    assert!(compared.get() > super::table::cases(), "{}", compared.get());
}
