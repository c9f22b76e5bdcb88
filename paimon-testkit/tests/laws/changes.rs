//! Changes lead from one state to another.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::Int8Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use paimon_meta::{MergeEngine, Options, ResolvedTable, Result, RowKind, TableSchema};
use paimon_plan::{
    Plan, ResolveRequest, ScanRequest, StreamScan, StreamStep, Table, exact_diff, plan,
};
use paimon_read::{
    BatchStream, DifferenceReader, ReadRequest, RowKinds, TableReader, block_on, read_blocking,
};
use paimon_testkit::{HistoryShape, JsonRow, JsonRows, Query};
use proptest::prelude::*;

use super::table::{Case, Refusable, Route, law, refused};

/// How often each row is there.
type Bag = BTreeMap<String, i64>;

fn text(row: &JsonRow) -> String {
    serde_json::to_string(row).unwrap()
}

fn bag<'a>(rows: impl IntoIterator<Item = &'a JsonRow>) -> Bag {
    let mut bag = Bag::new();
    for row in rows {
        *bag.entry(text(row)).or_default() += 1;
    }
    bag
}

fn request(table: &ResolvedTable, query: &Query) -> Result<ReadRequest> {
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
fn drain(
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
    let reader = TableReader::new(
        Arc::new(table.clone()),
        request(table, query)?,
        case.resources.clone(),
    )?;
    let rows = read(&reader, &planned)?;
    let rows = drain(rows, table, query, false)?;
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

fn read(reader: &TableReader, plan: &Plan) -> Result<BatchStream> {
    let splits = (0..plan.len()).map(|index| plan.split(index));
    reader.read_all(reader.tasks(splits.collect::<Result<Vec<_>>>()?))
}

fn at(case: &Case, snapshot: i64) -> Result<ResolvedTable> {
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

/// The newest row of each key.
#[derive(Default)]
struct Folded(BTreeMap<String, String>);

impl Folded {
    fn take(&mut self, schema: &TableSchema, (kind, row): &(RowKind, JsonRow)) {
        let names = schema.fields.iter().map(|field| &field.name).zip(row);
        let key: JsonRow = names
            .filter(|(name, _)| schema.primary_keys.contains(name))
            .map(|(_, value)| value.clone())
            .collect();
        match kind.is_add() {
            true => self.0.insert(text(&key), text(row)),
            false => self.0.remove(&text(&key)),
        };
    }
}

/// The stream's plans from the first snapshot on; after each the rows that it gave are those of its snapshot.
fn follow(case: &Case) -> Result<Option<String>> {
    let options = [
        ("scan.mode", "from-snapshot"),
        ("scan.snapshot-id", "1"),
        ("streaming-read-overwrite", "true"),
    ];
    let options = options.map(|(key, value)| (key.to_owned(), Some(value.to_owned())));
    let asked = ResolveRequest {
        options: options.into(),
        stream: true,
        ..ResolveRequest::default()
    };
    let table = block_on(Table::resolve(&case.resources, "memory:///t", &asked))?;
    let mut stream = StreamScan::new(case.resources.clone(), table, ScanRequest::default())?;
    let mut folded = Folded::default();
    let query = Query::default();
    while let StreamStep::Plan(plan) = block_on(stream.next_step())? {
        let table = Arc::clone(stream.table());
        let request = ReadRequest {
            row_kinds: RowKinds::Keep,
            ..request(&table, &query)?
        };
        let reader = TableReader::new(Arc::clone(&table), request, case.resources.clone())?;
        for change in drain(read(&reader, &plan)?, &table, &query, true)? {
            folded.take(&table.schema, &change);
        }
        let id = plan.snapshot_id().unwrap_or_default();
        let snapshot = at(case, id)?.snapshot;
        let then = ResolvedTable {
            snapshot,
            ..table.as_ref().clone()
        };
        let expected = bag(&state(case, &then, &query)?);
        let found: Bag = folded.0.values().map(|row| (row.clone(), 1)).collect();
        if expected != found {
            return Ok(Some(format!(
                "snapshot {id}: {expected:?}, streamed {found:?}"
            )));
        }
    }
    Ok(None)
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
        let options = super::table::options(case);
        let told = |key: &str| options.get(key).is_some_and(|value| value == "true");
        let engine = options.get("merge-engine").unwrap_or("deduplicate");
        // Streams of changelogs take no overwrites.
        let changelogs = options.get("changelog-producer");
        let changelogs = changelogs.is_some_and(|producer| producer != "none");
        if told("ignore-delete") || changelogs || engine != "deduplicate" {
            return Ok(Ok(()));
        }
        let wrong: Refusable<_> = follow(case).or_else(refused);
        match wrong {
            Ok(None) => Ok(Ok(())),
            Ok(Some(wrong)) => Err(TestCaseError::fail(format!("{wrong}\n{}", case.history))),
            Err(refused) => Ok(Err(refused)),
        }
    });
}
