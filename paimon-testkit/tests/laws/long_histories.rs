//! What changes cost in a table with many snapshots: what they consist of, not what the table consists of.

use std::sync::Arc;

use bytes::Bytes;
use object_store::ObjectStoreExt;
use object_store::memory::InMemory;
use object_store::path::Path;
use paimon_io::Resources;
use paimon_meta::ChangeRange;
use paimon_plan::{Plan, ResolveRequest, ScanRequest, StreamScan, StreamStep, Table, plan};
use paimon_read::block_on;
use paimon_testkit::{
    CountingStore, History, Layout, RequestKind, StoreRequest, WrittenTable, write_table,
};
use serde_json::{Value, json};

use crate::difference::over;

/// Commits at the end of a history that are really there: each writes one row, and so one manifest and one file.
const COMMITS: i64 = 10;

/// A table with so many snapshots. All but the last [`COMMITS`] repeat the first one under other ids.
struct Long {
    length: i64,
    written: WrittenTable,
    store: Arc<InMemory>,
    counting: Arc<CountingStore>,
    resources: Resources,
}

impl Long {
    fn new(length: i64) -> Self {
        let write = |key| json!({"write": [["+I", key, key]]});
        let history = json!({
            "columns": [["k", "INT NOT NULL"], ["v", "BIGINT"]], "primary_key": ["k"],
            "options": {"bucket": "1", "write-only": "true"},
            "steps": (0..COMMITS).map(write).collect::<Vec<_>>(),
        });
        let history = History::from_json(history.to_string().as_bytes()).unwrap();
        let written = write_table(&history, &Layout::default()).unwrap();
        let store = Arc::new(InMemory::new());
        let counting = Arc::new(CountingStore::new(Arc::<InMemory>::clone(&store)));
        let table = Self {
            length,
            written,
            resources: over(&counting, None),
            counting,
            store,
        };
        for (path, content) in table.written.files() {
            if !path.starts_with("snapshot/") {
                table.put(path, content.clone());
            }
        }
        table.put("snapshot/EARLIEST", Bytes::from_static(b"1"));
        for id in 1..=length - COMMITS {
            table.commit(id);
        }
        table
    }

    fn put(&self, path: &str, content: Bytes) {
        let path = Path::from(format!("t/{path}"));
        block_on(self.store.put(&path, content.into())).unwrap();
    }

    /// Snapshot `id`, one second after the one before, and the hint.
    fn commit(&self, id: i64) {
        let as_written = (id - (self.length - COMMITS)).max(1);
        let name = format!("snapshot/snapshot-{as_written}");
        let mut files = self.written.files();
        let (_, content) = files.find(|(path, _)| *path == name).unwrap();
        let mut snapshot: Value = serde_json::from_slice(content).unwrap();
        snapshot["id"] = Value::from(id);
        snapshot["timeMillis"] = Value::from(id * 1000);
        self.put(
            &format!("snapshot/snapshot-{id}"),
            snapshot.to_string().into(),
        );
        self.put("snapshot/LATEST", id.to_string().into());
    }

    /// The same table after its last commit.
    fn whole(length: i64) -> Self {
        let table = Self::new(length);
        for id in length - COMMITS + 1..=length {
            table.commit(id);
        }
        table
    }

    fn changes(&self, option: &str, value: String) -> (Plan, Vec<StoreRequest>) {
        let request = ResolveRequest {
            options: [(option.to_owned(), Some(value))].into(),
            ..ResolveRequest::default()
        };
        let table = block_on(Table::resolve(&self.resources, "memory:///t", &request)).unwrap();
        assert!(matches!(table.changes, Some(ChangeRange::Files { .. })));
        let plan = block_on(plan(&self.resources, &table, &ScanRequest::default())).unwrap();
        (plan, self.counting.take())
    }

    fn stream(&self, options: &[(&str, String)]) -> StreamScan {
        let options = options
            .iter()
            .map(|(key, value)| ((*key).to_owned(), Some(value.clone())));
        let asked = ResolveRequest {
            options: options.collect(),
            stream: true,
            ..ResolveRequest::default()
        };
        let table = block_on(Table::resolve(&self.resources, "memory:///t", &asked)).unwrap();
        StreamScan::new(self.resources.clone(), table, ScanRequest::default()).unwrap()
    }
}

fn count(requests: &[StoreRequest], kind: RequestKind) -> usize {
    requests
        .iter()
        .filter(|request| request.kind == kind)
        .count()
}

/// Everything but the directory of schemas, which every read lists.
fn listed(requests: &[StoreRequest]) -> Vec<&str> {
    let lists = requests
        .iter()
        .filter(|request| request.kind == RequestKind::List);
    let paths = lists.map(|request| request.path.as_str());
    paths.filter(|path| !path.ends_with("/schema")).collect()
}

#[test]
fn changes_of_a_range_cost_the_range_whatever_the_table() {
    // RP-152: one snapshot, one manifest list and one manifest for each commit of the range.
    let cost = |length: i64, commits: i64| {
        let table = Long::whole(length);
        let between = format!("{},{length}", length - commits);
        let (plan, requests) = table.changes("incremental-between", between);
        assert_eq!(i64::try_from(plan.files().len()).unwrap(), commits);
        assert_eq!(listed(&requests), [""; 0]);
        requests.len()
    };
    let few = cost(20, 3);
    assert_eq!(cost(10_000, 3), few);
    assert_eq!(cost(10_000, 8), few + 3 * 5);
}

#[test]
fn changes_between_times_cost_the_range_and_a_search() {
    // RP-023: the ids are listed, and halved for each of the two times.
    let cost = |length: i64| {
        let table = Long::whole(length);
        let times = format!("{},{}", (length - 3) * 1000, length * 1000);
        let (plan, requests) = table.changes("incremental-between-timestamp", times);
        assert_eq!(plan.files().len(), 3);
        (listed(&requests).len(), count(&requests, RequestKind::Get))
    };
    let (few, many) = (cost(20), cost(10_000));
    assert_eq!(many.0, few.0);
    assert!(many.1 <= few.1 + 2 * 10, "{few:?}, {many:?}");
}

#[test]
fn following_costs_what_came_whatever_the_table() {
    // RP-151: the snapshot, its manifest list and its manifest; then a look whether there is more.
    let costs = |length: i64| {
        let table = Long::new(length);
        let mut stream = table.stream(&[("scan.mode", "latest".to_owned())]);
        assert!(matches!(
            block_on(stream.next_step()).unwrap(),
            StreamStep::NotYet
        ));
        table.counting.take();
        let mut costs = Vec::new();
        for id in length - COMMITS + 1..=length {
            table.commit(id);
            let StreamStep::Plan(plan) = block_on(stream.next_step()).unwrap() else {
                panic!("snapshot {id} was not seen");
            };
            assert_eq!((plan.snapshot_id(), plan.files().len()), (Some(id), 1));
            let came = table.counting.take();
            assert!(matches!(
                block_on(stream.next_step()).unwrap(),
                StreamStep::NotYet
            ));
            let nothing = table.counting.take();
            assert_eq!((listed(&came), listed(&nothing)), (Vec::new(), Vec::new()));
            costs.push((came.len(), nothing.len()));
        }
        costs
    };
    let few = costs(20);
    assert_eq!(few, vec![(3, 5); 10]);
    assert_eq!(costs(10_000), few);
}

#[test]
fn a_restored_stream_goes_on_without_a_look_at_what_it_had() {
    let cost = |length: i64| {
        let table = Long::whole(length);
        let from = (length - 5).to_string();
        let options = [
            ("scan.mode", "from-snapshot".to_owned()),
            ("scan.snapshot-id", from),
        ];
        let mut first = table.stream(&options);
        assert!(matches!(
            block_on(first.next_step()).unwrap(),
            StreamStep::Plan(_)
        ));
        let begun = table.counting.take();
        let mut second = table.stream(&options).restored(first.position().clone());
        table.counting.take();
        assert!(matches!(
            block_on(second.next_step()).unwrap(),
            StreamStep::Plan(_)
        ));
        let went_on = table.counting.take();
        assert_eq!(
            listed(&begun),
            ["t/changelog"],
            "where changelogs outlive snapshots"
        );
        assert_eq!(listed(&went_on), [""; 0]);
        (begun.len(), went_on.len())
    };
    let few = cost(20);
    assert_eq!(few.1, 3);
    assert_eq!(cost(10_000), few);
}
