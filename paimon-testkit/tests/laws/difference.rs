//! What an exact difference asks of the store, and the cases that it is for.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use object_store::memory::InMemory;
use paimon_io::{MemoryPool, ResourceParts, Resources, StoreRegistry};
use paimon_meta::{ErrorKind, Options, ResolvedTable, Result, RowKind};
use paimon_plan::{Difference, ResolveRequest, ScanRequest, Table, exact_diff};
use paimon_read::{
    BatchStream, DifferenceReader, ReadRequest, RowKinds, TableReader, block_on, read_blocking,
};
use paimon_testkit::{CountingStore, History, JsonRows, Layout, WrittenTable, write_table};
use serde_json::{Value, json};

/// A table behind a store that counts.
struct Counted {
    written: WrittenTable,
    store: Arc<CountingStore>,
    resources: Resources,
}

impl Counted {
    fn new(history: &Value) -> Self {
        let layout = Layout {
            file_rows: 10,
            ..Layout::default()
        };
        let history = History::from_json(history.to_string().as_bytes()).unwrap();
        let written = write_table(&history, &layout).unwrap();
        let inner = Arc::new(InMemory::new());
        block_on(written.put(inner.as_ref(), "t")).unwrap();
        let store = Arc::new(CountingStore::new(inner));
        Self {
            resources: over(&store, None),
            written,
            store,
        }
    }

    fn at(&self, snapshot: i64) -> ResolvedTable {
        let key = Options::SCAN_SNAPSHOT_ID.key.to_owned();
        let request = ResolveRequest {
            options: [(key, Some(snapshot.to_string()))].into(),
            ..ResolveRequest::default()
        };
        block_on(Table::resolve(&self.resources, "memory:///t", &request)).unwrap()
    }

    fn plan(&self, (from, to): (i64, i64)) -> Difference {
        let (from, to) = (self.at(from), self.at(to));
        let everything = ScanRequest::default();
        block_on(exact_diff(&self.resources, &from, &to, &everything)).unwrap()
    }

    fn read(&self, to: i64, difference: Difference, resources: &Resources) -> Result<Vec<String>> {
        let table = Arc::new(self.at(to));
        let request = ReadRequest::default();
        let reader = DifferenceReader::new(Arc::clone(&table), request, resources.clone())?;
        shown(reader.read_all(difference.splits)?, &table)
    }

    /// What a diff of the reference shows (RP-153), deletions too.
    fn diff(&self, (from, to): (i64, i64)) -> Vec<String> {
        let option = |key: &str, value: &str| (key.to_owned(), Some(value.to_owned()));
        let between = format!("{from},{to}");
        let options = [
            option(Options::INCREMENTAL_BETWEEN.key, &between),
            option(Options::INCREMENTAL_BETWEEN_SCAN_MODE.key, "diff"),
        ];
        let request = ResolveRequest {
            options: options.into(),
            ..ResolveRequest::default()
        };
        let resolved = Table::resolve(&self.resources, "memory:///t", &request);
        let table = Arc::new(block_on(resolved).unwrap());
        let everything = ScanRequest::default();
        let plan = block_on(paimon_plan::plan(&self.resources, &table, &everything)).unwrap();
        let request = ReadRequest {
            row_kinds: RowKinds::Keep,
            ..ReadRequest::default()
        };
        let reader = TableReader::new(Arc::clone(&table), request, self.resources.clone());
        let reader = reader.unwrap();
        let splits = (0..plan.len()).map(|index| plan.split(index).unwrap());
        let rows = reader.read_all(reader.tasks(splits)).unwrap();
        shown(rows, &table).unwrap()
    }

    fn rows(&self, pair: (i64, i64)) -> Vec<String> {
        let difference = self.plan(pair);
        self.read(pair.1, difference, &self.resources).unwrap()
    }

    /// Data files that were asked for since the last look.
    fn opened(&self) -> BTreeSet<String> {
        let requests = self.store.take().into_iter();
        let data = requests.filter(|request| request.path.contains("bucket-"));
        data.map(|request| request.path).collect()
    }
}

/// Rows as text: the kind and the values.
fn shown(rows: BatchStream, table: &ResolvedTable) -> Result<Vec<String>> {
    let fields = table.schema.fields.iter();
    let types: Vec<_> = fields.map(|field| field.data_type.clone()).collect();
    let mut batches = read_blocking(rows);
    let mut rows = Vec::new();
    while let Some(batch) = batches.next_batch() {
        let batch = batch?;
        let kinds = batch.column(0).as_primitive::<Int8Type>().values().to_vec();
        let values = batch
            .project(&(1..batch.num_columns()).collect::<Vec<_>>())
            .unwrap();
        let values = JsonRows::new(&values, &types)?.rows()?;
        rows.extend(kinds.into_iter().zip(values).map(|(kind, row)| {
            let kind = match RowKind::from_byte(kind).unwrap() {
                RowKind::Insert => "+I",
                RowKind::UpdateBefore => "-U",
                RowKind::UpdateAfter => "+U",
                RowKind::Delete => "-D",
            };
            let values: Vec<String> = row.iter().map(Value::to_string).collect();
            format!("{kind} {}", values.join(" "))
        }));
    }
    Ok(rows)
}

pub(crate) fn over(store: &Arc<CountingStore>, memory: Option<u64>) -> Resources {
    let registry = StoreRegistry::new();
    registry
        .register("memory://", Arc::<CountingStore>::clone(store))
        .unwrap();
    let mut parts = ResourceParts {
        stores: Arc::new(registry),
        ..ResourceParts::default()
    };
    if let Some(bytes) = memory {
        parts.memory = Arc::new(MemoryPool::bounded(bytes));
    }
    Resources::new(parts)
}

/// Rows `key, value` of these keys.
fn rows(keys: impl IntoIterator<Item = i64>, value: i64) -> Vec<Value> {
    keys.into_iter()
        .map(|key| json!(["+I", key, value]))
        .collect()
}

fn table(options: Value, steps: Value) -> Value {
    json!({
        "columns": [["k", "INT NOT NULL"], ["v", "INT"]], "primary_key": ["k"],
        "options": options, "steps": steps,
    })
}

fn keyed(steps: Value) -> Counted {
    Counted::new(&table(json!({"bucket": "1", "write-only": "true"}), steps))
}

#[test]
fn only_files_that_may_hold_a_changed_key_are_opened() {
    let table = keyed(json!([
        {"write": rows(1..=40, 0), "compact": "full"},
        {"write": [["+I", 14, 1], ["-D", 16, null]]},
    ]));
    // Snapshot 1 writes, 2 compacts to files of 10 rows, 3 writes into the second of them.
    let difference = table.plan((2, 3));
    assert!(table.opened().is_empty(), "planning opens no data file");
    assert_eq!((difference.common.files, difference.common.rows), (3, 30));
    assert_eq!(difference.splits.len(), 1);
    let found = table.read(3, difference, &table.resources).unwrap();
    assert_eq!(found, ["-U 14 0", "+U 14 1", "-D 16 0"]);
    assert_eq!(
        table.opened().len(),
        2,
        "the file written and the one that it lies in"
    );
}

#[test]
fn every_engine_and_deletion_vectors_open_only_what_may_have_changed() {
    let cases = [
        ("deduplicate", false),
        ("partial-update", false),
        ("aggregation", false),
        ("deduplicate", true),
        ("partial-update", true),
        ("aggregation", true),
        ("first-row", false),
    ];
    for (engine, vectors) in cases {
        let mut options = json!({"bucket": "1", "write-only": "true", "merge-engine": engine});
        if vectors {
            options["deletion-vectors.enabled"] = Value::from("true");
        }
        // A key that is there, or for first-row one that is not; where level 0 is hidden it shows once it is compacted.
        let hidden = vectors || engine == "first-row";
        let key = if engine == "first-row" { 81 } else { 28 };
        let mut write = json!({"write": [["+I", key, 1]]});
        if hidden {
            write["compact"] = Value::from("level0");
        }
        let even = (1..=40).map(|key| key * 2);
        let table = Counted::new(&table(
            options,
            json!([{"write": rows(even, 0), "compact": "full"}, write]),
        ));
        let pair = if hidden { (2, 4) } else { (2, 3) };
        let difference = table.plan(pair);
        table.opened();
        let found = table.read(pair.1, difference, &table.resources).unwrap();
        let expected: &[&str] = match engine {
            "first-row" => &["+I 81 1"],
            _ => &["-U 28 0", "+U 28 1"],
        };
        let said = format!("{engine}, vectors {vectors}");
        assert_eq!(found, expected, "{said}");
        let opened: Vec<String> = table.opened().into_iter().collect();
        let most = if engine == "first-row" { 1 } else { 2 };
        assert!(opened.len() <= most, "{said}: {opened:?}");
    }
}

#[test]
fn common_files_that_share_keys_with_each_other_alone_stay_shut() {
    // The changed file reaches from 18 to 22, into the second and the third file.
    let table = keyed(json!([
        {"write": rows(1..=40, 0), "compact": "full"},
        {"write": rows([1, 9], 5)},
        {"write": rows([18, 22], 1)},
    ]));
    let found = table.rows((3, 4));
    assert_eq!(found, ["-U 18 0", "+U 18 1", "-U 22 0", "+U 22 1"]);
    assert_eq!(table.opened().len(), 3);
}

#[test]
fn compaction_changes_no_row() {
    let table = keyed(json!([
        {"write": rows(1..=20, 0)},
        {"write": rows(5..=8, 1)},
        {"compact": "full"},
    ]));
    assert!(table.rows((2, 3)).is_empty());
    assert_eq!(table.rows((3, 1)).len(), 8);
    // A state is not read to be compared with itself.
    table.opened();
    assert!(table.plan((3, 3)).splits.is_empty());
    assert!(
        table
            .store
            .take()
            .iter()
            .all(|request| !request.path.contains("manifest"))
    );
}

#[test]
fn one_file_that_moves_up_is_not_opened() {
    // Its rows are the same on every level.
    let table = keyed(json!([{"write": rows(1..=5, 0)}, {"compact": "full"}]));
    let names = |id| {
        let at = table.at(id);
        let everything = ScanRequest::default();
        let planned = paimon_plan::plan(&table.resources, &at, &everything);
        let plan = block_on(planned).unwrap();
        (plan.files().file_name(0).to_owned(), plan.files().level(0))
    };
    assert_eq!(names(1).0, names(2).0, "the file was upgraded");
    assert_ne!(names(1).1, names(2).1);
    table.opened();
    assert!(table.rows((1, 2)).is_empty());
    assert!(table.opened().is_empty());
}

#[test]
fn rows_without_keys_are_counted() {
    let append = json!({
        "columns": [["a", "INT"], ["b", "INT"]], "primary_key": [], "options": {"bucket": "-1"},
        "steps": [
            {"write": [["+I", 1, 1], ["+I", 2, 2], ["+I", 2, 2]]},
            {"write": [["+I", 3, 3]]},
            {"write": [["+I", 2, 2], ["+I", 3, 3], ["+I", 3, 3], ["+I", null, 4]], "overwrite": {}},
        ],
    });
    let table = Counted::new(&append);
    assert_eq!(table.rows((1, 2)), ["+I 3 3"]);
    assert_eq!(
        table.opened().len(),
        1,
        "files of both states are left alone"
    );
    assert_eq!(table.rows((2, 1)), ["-D 3 3"]);
    assert_eq!(
        table.rows((2, 3)),
        ["-D 1 1", "-D 2 2", "+I 3 3", "+I null 4"]
    );
    let difference = table.plan((2, 3));
    let little = over(&table.store, Some(100));
    let error = table.read(3, difference, &little).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourcesExhausted);
    assert!(table.written.main().unwrap().snapshots().count() >= 3);
}

#[test]
fn another_number_of_buckets_moves_keys_but_changes_no_row() {
    let later = [rows(1..=29, 0), rows([30], 1)].concat();
    let table = Counted::new(&table(
        json!({"bucket": "2", "write-only": "true"}),
        json!([
            {"write": rows(1..=30, 0)},
            {"alter": [["set", "bucket", "3"]]},
            {"write": later, "overwrite": {}},
        ]),
    ));
    let difference = table.plan((1, 2));
    let both = |split: &paimon_plan::DifferenceSplit| (split.before.len(), split.after.len());
    assert!(
        difference.splits.iter().any(|split| both(split) == (2, 3)),
        "keys of a partition meet in a split, whatever their bucket"
    );
    assert_eq!(table.rows((1, 2)), ["-U 30 0", "+U 30 1"]);
}

#[test]
fn rows_that_deletion_vectors_alone_took_away_are_gone() {
    // RP-710, ME-150: a diff of the reference does not look at vectors.
    let table = Counted::new(&table(
        json!({"bucket": "1", "write-only": "true", "deletion-vectors.enabled": "true"}),
        json!([
            {"write": rows(1..=40, 0), "compact": "full"},
            {"write": [["-D", 16, null]], "compact": "level0"},
        ]),
    ));
    table.opened();
    assert_eq!(table.rows((2, 4)), ["-D 16 0"]);
    assert!(
        table
            .opened()
            .iter()
            .filter(|path| path.contains("data-"))
            .count()
            <= 2
    );
    assert!(table.diff((2, 4)).is_empty());
}

#[test]
fn rows_that_were_written_again_are_no_change() {
    // RP-638: their older file is in both states, and a diff of the reference does not look at it.
    let table = keyed(json!([
        {"write": rows(1..=3, 0)},
        {"write": rows([2], 0)},
    ]));
    assert!(table.rows((1, 2)).is_empty());
    assert_eq!(table.diff((1, 2)), ["+I 2 0"]);
}

#[test]
fn a_value_that_a_compaction_loses_shows() {
    // ME-063: in a lookup table a compaction takes the value of a lone version whose sequence is null, which a read shows.
    // A diff of 1.4.2 does not say so.
    let table = Counted::new(&json!({
        "columns": [["k", "INT NOT NULL"], ["a", "INT"], ["g", "INT"]], "primary_key": ["k"],
        "options": {
            "bucket": "1", "write-only": "true", "merge-engine": "partial-update",
            "fields.g.sequence-group": "a", "changelog-producer": "lookup",
        },
        "steps": [
            {"write": [["+I", 1, 5, 1]], "compact": "full"},
            {"write": [["+I", 2, 6, null]], "compact": "level0"},
        ],
    }));
    assert_eq!(table.rows((3, 4)), ["-U 2 6 null", "+U 2 null null"]);
    assert_eq!(table.diff((3, 4)), ["+I 2 null null"]);
}
