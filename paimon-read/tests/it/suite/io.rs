//! How a read asks a store that takes its time: how often, how early, and nothing after it was dropped.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use futures_util::Stream;
use paimon_io::{Counter, ResourceParts, Resources, StoreRegistry};
use paimon_meta::{DataFileMeta, DataSplit, Split};
use paimon_read::{BatchStream, ReadRequest, ReadTask};
use paimon_testkit::{CountingStore, FaultyStore, Latency, RequestKind, RequestOutcome};

use super::big::{GROUP, asked, big_table, exact, records};
use super::table::{Layout, TestTable, over};

/// A waker that remembers.
#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A stream that is polled by hand.
pub(crate) struct Polled {
    stream: BatchStream,
    flag: Arc<Flag>,
    polls: usize,
}

pub(crate) enum Step {
    Batch(RecordBatch),
    /// The stream waits for the store.
    Waiting,
    End,
}

impl Polled {
    pub(crate) fn new(stream: BatchStream) -> Self {
        Self {
            stream,
            flag: Arc::default(),
            polls: 0,
        }
    }

    fn poll(&mut self) -> Poll<Option<RecordBatch>> {
        self.polls += 1;
        self.flag.0.store(false, Ordering::SeqCst);
        let waker = Waker::from(Arc::clone(&self.flag));
        let mut context = Context::from_waker(&waker);
        let item = Pin::new(&mut self.stream).poll_next(&mut context);
        item.map(|item| item.map(Result::unwrap))
    }

    /// Polls for as long as the stream wakes itself.
    pub(crate) fn step(&mut self) -> Step {
        loop {
            match self.poll() {
                Poll::Ready(Some(batch)) => return Step::Batch(batch),
                Poll::Ready(None) => return Step::End,
                Poll::Pending if self.flag.0.load(Ordering::SeqCst) => {}
                Poll::Pending => return Step::Waiting,
            }
        }
    }
}

/// A table behind a store that holds every request until it is let go.
pub(crate) struct Slow {
    table: TestTable,
    pub(crate) faulty: Arc<FaultyStore>,
    pub(crate) counting: Arc<CountingStore>,
}

impl Slow {
    pub(crate) fn new(table: &TestTable) -> Self {
        let faulty = table.faulty();
        faulty.set_latency(Latency::Held);
        Self {
            table: table.clone(),
            counting: Arc::new(CountingStore::new(Arc::<FaultyStore>::clone(&faulty))),
            faulty,
        }
    }

    fn read(&self, split: DataSplit, request: ReadRequest) -> Polled {
        self.read_with(split, request, exact(Arc::clone(&self.counting)))
    }

    fn read_with(&self, split: DataSplit, request: ReadRequest, resources: Resources) -> Polled {
        self.read_task(ReadTask::new(Split::Data(split)), request, resources)
    }

    fn read_task(&self, task: ReadTask, request: ReadRequest, resources: Resources) -> Polled {
        let reader = self.table.reader_with(request, resources);
        Polled::new(reader.read(task).unwrap())
    }

    /// Reads to the end, letting requests go whenever the stream waits; calls `each` after every batch.
    fn drain(&self, polled: &mut Polled, mut each: impl FnMut(&RecordBatch)) {
        loop {
            match polled.step() {
                Step::Batch(batch) => each(&batch),
                Step::Waiting => assert!(self.faulty.release(100) > 0, "the stream is stuck"),
                Step::End => return,
            }
        }
    }

    /// Row groups of which a column of values was asked for.
    fn groups_asked(&self, file: &DataFileMeta) -> Vec<usize> {
        let asked = asked(&self.table, &self.counting, file).into_keys();
        asked
            .filter(|(_, column)| column != "k")
            .map(|(group, _)| group)
            .collect()
    }
}

const ROWS: i32 = 12_000;

fn two_runs() -> (TestTable, DataFileMeta, DataFileMeta) {
    let table = big_table();
    let old = table.write_records("old", &records(0..ROWS, 0, "old"));
    let new = table.write_records("new", &records(ROWS / 2..ROWS / 2 * 3, 100_000, "new"));
    (table, old, new)
}

#[test]
fn small_file_is_one_request() {
    let table = TestTable::simple();
    let files = vec![
        table.write("a", &["+I 0 1 x", "+I 1 2 y"]),
        table.write("b", &["+I 2 2 z"]),
    ];
    for split in [
        table.split(files.clone()),
        table.raw_split(files[..1].to_vec()),
    ] {
        let store = table.counting();
        let resources = over(Arc::<CountingStore>::clone(&store));
        let reader = table.reader_with(ReadRequest::default(), resources);
        let files = split.files.len();
        super::table::rows(&reader, split).unwrap();
        let requests = store.take();
        assert_eq!(requests.len(), files);
        for request in requests {
            assert_eq!(
                request.kind,
                RequestKind::Get,
                "the size comes from the meta"
            );
            assert_eq!(request.outcome, RequestOutcome::Answered);
        }
    }
}

#[test]
fn big_file_is_one_request_for_the_footer_and_one_for_each_row_group() {
    let (table, old, new) = two_runs();
    let requests = |split| {
        let store = table.counting();
        let resources = over(Arc::<CountingStore>::clone(&store));
        let reader = table.reader_with(ReadRequest::default(), resources);
        super::table::rows(&reader, split).unwrap();
        let requests = store.take();
        assert!(
            requests
                .iter()
                .all(|request| request.kind == RequestKind::Get)
        );
        requests.len()
    };
    assert_eq!(requests(table.raw_split(vec![old.clone()])), 1 + 4);
    // Keys of four groups each, then values of the groups that have winners: two of the old run, four of the new one.
    let merged = table.split(vec![old, new]);
    assert_eq!(requests(merged), 2 * (1 + 4) + 2 + 4);
}

#[test]
fn opened_files_are_shared_by_readers_of_the_same_resources() {
    let (table, old, _) = two_runs();
    let store = table.counting();
    let resources = over(Arc::<CountingStore>::clone(&store));
    for expected in [1, 0] {
        let reader = table.reader_with(table.columns(&[]), resources.clone());
        super::table::rows(&reader, table.raw_split(vec![old.clone()])).unwrap();
        assert_eq!(store.take().len(), expected);
    }
}

/// Of each row group of `file`, whether the next one was asked for when its last row came out. `first_key` is the key of
/// the file's first row.
fn read_ahead(
    slow: &Slow,
    split: DataSplit,
    request: ReadRequest,
    (file, first_key): (&DataFileMeta, i32),
) -> Vec<bool> {
    let mut polled = slow.read(split, request);
    let mut ahead = Vec::new();
    slow.drain(&mut polled, |batch| {
        let keys = batch.column(0).as_primitive::<Int32Type>();
        let after = keys.value(keys.len() - 1) + 1 - first_key;
        let Ok(after) = usize::try_from(after) else {
            return;
        };
        let next = after / GROUP;
        let rows = usize::try_from(file.row_count).unwrap();
        if after.is_multiple_of(GROUP) && next > 0 && after < rows {
            ahead.push(slow.groups_asked(file).contains(&next));
        }
    });
    ahead
}

#[test]
fn next_row_group_is_in_flight_before_the_last_batch_of_a_raw_read() {
    let (table, old, _) = two_runs();
    for batches in [1, 2, 3, 6] {
        let request = ReadRequest {
            batch_size: GROUP / batches,
            ..ReadRequest::default()
        };
        let split = table.raw_split(vec![old.clone()]);
        let ahead = read_ahead(&Slow::new(&table), split, request, (&old, 0));
        assert_eq!(ahead, [true; 3], "{batches} batches a row group");
    }
}

#[test]
fn next_row_group_is_in_flight_before_the_last_batch_of_a_merge() {
    let (table, old, new) = two_runs();
    for batches in [1, 2, 3, 6] {
        let request = ReadRequest {
            batch_size: GROUP / batches,
            ..ReadRequest::default()
        };
        let split = table.split(vec![old.clone(), new.clone()]);
        let slow = Slow::new(&table);
        let ahead = read_ahead(&slow, split.clone(), request.clone(), (&new, ROWS / 2));
        assert_eq!(ahead, [true; 3], "{batches} batches a row group");
        let slow = Slow::new(&table);
        let ahead = read_ahead(&slow, split, request, (&old, 0));
        assert_eq!(ahead[..1], [true], "{batches} batches a row group");
    }
}

#[test]
fn next_row_group_is_in_flight_under_a_condition() {
    let (table, old, new) = two_runs();
    let n = table.field("n");
    let request = ReadRequest {
        batch_size: GROUP / 3,
        predicate: Some(paimon_meta::Predicate::is_not_null(n.id, n.data_type)),
        ..ReadRequest::default()
    };
    let split = table.raw_split(vec![old.clone()]);
    let ahead = read_ahead(&Slow::new(&table), split, request.clone(), (&old, 0));
    assert_eq!(ahead, [true; 3], "raw");
    let split = table.split(vec![old, new.clone()]);
    let ahead = read_ahead(&Slow::new(&table), split, request, (&new, ROWS / 2));
    assert_eq!(ahead, [true; 3], "merge");
}

#[test]
fn files_are_opened_together() {
    let table = TestTable::simple();
    let files: Vec<DataFileMeta> = (0..3)
        .map(|k| table.write(&format!("f{k}"), &[&format!("+I {k} {k} x")]))
        .collect();
    for split in [table.split(files.clone()), table.raw_split(files)] {
        let slow = Slow::new(&table);
        let mut polled = slow.read(split, ReadRequest::default());
        assert!(matches!(polled.step(), Step::Waiting));
        assert_eq!(slow.faulty.held(), 3);
    }
}

#[test]
fn overlapping_runs_are_opened_together() {
    let table = TestTable::simple();
    let files = vec![
        table.write("a", &["+I 0 1 x", "+I 1 9 x"]),
        table.write("b", &["+I 2 1 y", "+I 3 9 y"]),
        table.write("c", &["+I 4 1 z", "+I 5 9 z"]),
    ];
    let slow = Slow::new(&table);
    let mut polled = slow.read(table.split(files), ReadRequest::default());
    assert!(matches!(polled.step(), Step::Waiting));
    assert_eq!(slow.faulty.held(), 3);
}

#[test]
fn dropping_a_stream_cancels_what_is_in_flight() {
    let (table, old, new) = two_runs();
    let reader = table.reader(ReadRequest::default());
    let mut tasks = Vec::new();
    for split in [
        table.split(vec![old.clone(), new]),
        table.raw_split(vec![old]),
    ] {
        let task = ReadTask::new(Split::Data(split));
        let two = std::num::NonZeroUsize::new(2).unwrap();
        tasks.push(task.clone());
        tasks.extend(paimon_read::block_on(reader.subdivide(task, two)).unwrap());
    }
    assert_eq!(tasks.len(), 6);
    for task in tasks {
        // Dropped after so many waits: while files open, while keys come, while values come.
        for waits in 0..8 {
            let slow = Slow::new(&table);
            let request = ReadRequest {
                batch_size: 1000,
                ..ReadRequest::default()
            };
            let resources = exact(Arc::clone(&slow.counting));
            let mut polled = slow.read_task(task.clone(), request, resources);
            let mut left = waits;
            loop {
                match polled.step() {
                    Step::Waiting if left == 0 => break,
                    Step::Waiting => {
                        left -= 1;
                        slow.faulty.release(100);
                    }
                    Step::Batch(_) => {}
                    Step::End => break,
                }
            }
            drop(polled);
            let asked = slow.counting.requests().len();
            assert_eq!(
                (slow.faulty.held(), slow.counting.in_flight()),
                (0, 0),
                "{waits}"
            );
            slow.faulty.release(100);
            assert_eq!(slow.counting.requests().len(), asked);
        }
    }
}

#[test]
fn limit_one_asks_for_the_first_pages_alone() {
    let table = big_table().laid_out(Layout {
        page_rows: 500,
        ..Layout::default()
    });
    let old = table.write_records("old", &records(0..20_000, 0, "old"));
    let new = table.write_records("new", &records(10_000..30_000, 100_000, "new"));
    for split in [
        table.raw_split(vec![old.clone()]),
        table.split(vec![old.clone(), new.clone()]),
    ] {
        let store = table.counting();
        let request = ReadRequest {
            limit: Some(1),
            ..ReadRequest::default()
        };
        let reader = table.reader_with(request, exact(Arc::clone(&store)));
        assert_eq!(super::table::rows(&reader, split).unwrap().len(), 1);
        let of_old = asked(&table, &store, &old);
        for column in ["a", "b"] {
            let bytes = of_old[&(0, column.to_owned())];
            let all = super::big::chunk_bytes(&table, &old, 0, column);
            assert!(bytes * 20 <= all, "{bytes} of {all} bytes of {column}");
        }
        let of_new = asked(&table, &store, &new);
        assert!(
            of_new
                .keys()
                .all(|(_, column)| column != "a" && column != "b"),
            "{of_new:?}"
        );
    }
}

#[test]
fn nothing_is_asked_before_the_first_poll() {
    let (table, old, new) = two_runs();
    let slow = Slow::new(&table);
    let split = table.split(vec![old, new]);
    let mut polled = slow.read(split, ReadRequest::default());
    assert_eq!(slow.counting.requests(), []);
    assert!(matches!(polled.step(), Step::Waiting));
    assert_ne!(slow.counting.requests(), []);
}

#[test]
fn slow_store_gives_the_same_rows() {
    let (table, old, new) = two_runs();
    let split = table.split(vec![old, new]);
    let request = ReadRequest {
        batch_size: 700,
        ..ReadRequest::default()
    };
    let expected = table.rows(split.clone(), request.clone()).unwrap();
    let slow = Slow::new(&table);
    let reader = table.reader_with(request.clone(), table.resources());
    let mut polled = slow.read(split, request);
    let mut rows = Vec::new();
    slow.drain(&mut polled, |batch| {
        rows.extend(super::table::text(&reader, batch));
    });
    assert_eq!(rows, expected);
}

#[test]
fn poll_decodes_at_most_one_batch_and_then_yields() {
    let (table, old, new) = two_runs();
    let n = table.field("n");
    let condition = paimon_meta::Predicate::is_not_null(n.id, n.data_type);
    for predicate in [None, Some(condition)] {
        for split in [
            table.split(vec![old.clone(), new.clone()]),
            table.raw_split(vec![old.clone()]),
        ] {
            let registry = StoreRegistry::new();
            registry.register("memory://", table.faulty()).unwrap();
            let resources = Resources::new(ResourceParts {
                stores: Arc::new(registry),
                ..ResourceParts::default()
            });
            let request = ReadRequest {
                batch_size: 500,
                predicate: predicate.clone(),
                ..ReadRequest::default()
            };
            let reader = table.reader_with(request, resources.clone());
            let task = ReadTask::new(Split::Data(split));
            let mut polled = Polled::new(reader.read(task).unwrap());
            let decoded = || resources.metrics().get(Counter::RowsDecoded);
            let mut before = decoded();
            loop {
                let item = polled.poll();
                let now = decoded();
                assert!(now - before <= 500, "{} rows in one poll", now - before);
                before = now;
                match item {
                    Poll::Ready(None) => break,
                    Poll::Ready(Some(batch)) => assert!(batch.num_rows() <= 500),
                    Poll::Pending => assert!(polled.flag.0.load(Ordering::SeqCst), "stuck"),
                }
            }
            let batches = usize::try_from(decoded().div_ceil(500)).unwrap();
            assert!(polled.polls >= batches, "{} polls", polled.polls);
        }
    }
}
