//! A table behind a store that takes its time, from its path to the last row. All requests in flight are answered
//! together whenever nothing else can be done: each time is one round trip.

use std::cell::Cell;
use std::sync::Arc;

use futures_util::TryStreamExt;
use object_store::memory::InMemory;
use paimon_io::{ResourceParts, Resources, StoreRegistry};
use paimon_meta::Result;
use paimon_plan::{ResolveRequest, ScanRequest, Table, plan};
use paimon_read::{ReadRequest, TableReader, block_on};
use paimon_testkit::{CountingStore, FaultyStore, History, Latency, Layout, write_table};
use serde_json::{Value, json};

use super::faults::drive;

/// Requests in flight at once: `io_concurrency` of the resources.
const AT_ONCE: usize = 16;
const FILES: usize = 400;

/// A table of many files of one row, and of many manifests.
fn stores(keys: &Value) -> (Arc<FaultyStore>, Arc<CountingStore>, Resources) {
    let rows: Vec<Value> = (0..FILES).map(|key| json!(["+I", key, 7])).collect();
    let history = json!({
        "columns": [["k", "INT NOT NULL"], ["v", "INT"]], "primary_key": keys,
        "options": {"bucket": if keys == &json!([]) { "-1" } else { "1" }, "write-only": "true"},
        "steps": [{"write": rows}],
    });
    let history = History::from_json(history.to_string().as_bytes()).unwrap();
    let layout = Layout {
        file_rows: 1,
        manifest_entries: 5,
        ..Layout::default()
    };
    let store = Arc::new(InMemory::new());
    let written = write_table(&history, &layout).unwrap();
    block_on(written.put(store.as_ref(), "t")).unwrap();
    let faulty = Arc::new(FaultyStore::new(store));
    faulty.set_latency(Latency::Held);
    let counting = Arc::new(CountingStore::new(Arc::<FaultyStore>::clone(&faulty)));
    let registry = StoreRegistry::new();
    let outermost = Arc::<CountingStore>::clone(&counting);
    registry.register("memory://", outermost).unwrap();
    let resources = Resources::new(ResourceParts {
        stores: Arc::new(registry),
        ..ResourceParts::default()
    });
    (faulty, counting, resources)
}

/// Runs to the end; returns the round trips, and the most requests in flight.
fn cost<T>(store: &FaultyStore, work: impl Future<Output = Result<T>>) -> (T, usize, usize) {
    let (rounds, most) = (Cell::new(0), Cell::new(0));
    let done = drive(work, || {
        let released = store.release(usize::MAX);
        rounds.set(rounds.get() + 1);
        most.set(most.get().max(released));
        released > 0
    });
    (done.unwrap().unwrap(), rounds.get(), most.get())
}

#[test]
fn planning_and_reading_wait_for_many_files_together() {
    for keys in [json!([]), json!(["k"])] {
        let (faulty, counting, resources) = stores(&keys);
        let resolve = ResolveRequest::default();
        let resolving = Table::resolve(&resources, "memory:///t", &resolve);
        let (table, rounds, _) = cost(&faulty, resolving);
        // The hint, whether there is a newer snapshot, the snapshot, and the schema.
        assert!(rounds <= 4, "{rounds} round trips to resolve a table");
        counting.take();

        let scan = ScanRequest::default();
        let (plan, rounds, at_once) = cost(&faulty, plan(&resources, &table, &scan));
        let manifests = FILES / 5;
        assert_eq!(counting.take().len(), 2 + manifests, "{keys}");
        assert_eq!(
            (rounds, at_once),
            (1 + manifests / AT_ONCE, AT_ONCE),
            "{keys}"
        );

        let reader = TableReader::new(Arc::new(table), ReadRequest::default(), resources).unwrap();
        let splits = (0..plan.len()).map(|split| plan.split(split).unwrap());
        let batches = reader.read_all(reader.tasks(splits)).unwrap();
        let (batches, rounds, _) = cost(&faulty, batches.try_collect::<Vec<_>>());
        let rows: usize = batches.iter().map(|batch| batch.num_rows()).sum();
        assert_eq!((rows, counting.take().len()), (FILES, FILES), "{keys}");
        assert!(
            rounds <= FILES / AT_ONCE,
            "{rounds} round trips to read, {keys}"
        );
    }
}
