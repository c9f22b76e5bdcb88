//! How often a read waits for a store that takes its time. All requests in flight are answered together whenever the
//! read waits, so that each wait is one round trip, and rounds times the latency is the time that a read takes, its own
//! work left out.

use std::sync::Arc;

use paimon_meta::{DataFileMeta, Split};
use paimon_read::{ReadRequest, ReadTask};
use paimon_testkit::CountingStore;

use super::big::{big_table, exact, records};
use super::io::{Polled, Slow, Step};
use super::table::{TestTable, over};

/// What a read cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cost {
    rounds: usize,
    requests: usize,
    /// Most requests in flight.
    in_flight: usize,
    rows: usize,
}

/// Reads to the end.
fn drained(slow: &Slow, polled: &mut Polled) -> Cost {
    let mut cost = Cost {
        rounds: 0,
        requests: 0,
        in_flight: 0,
        rows: 0,
    };
    loop {
        match polled.step() {
            Step::Batch(batch) => cost.rows += batch.num_rows(),
            Step::Waiting => {
                let released = slow.faulty.release(usize::MAX);
                assert!(released > 0, "the stream is stuck");
                cost.in_flight = cost.in_flight.max(released);
                cost.rounds += 1;
            }
            Step::End => break,
        }
    }
    cost.requests = slow.counting.requests().len();
    cost
}

fn cost(table: &TestTable, tasks: Vec<ReadTask>, request: ReadRequest) -> Cost {
    let slow = Slow::new(table);
    let resources = over(Arc::<CountingStore>::clone(&slow.counting));
    let reader = table.reader_with(request, resources);
    let mut polled = Polled::new(reader.read_all(tasks).unwrap());
    drained(&slow, &mut polled)
}

fn task(split: paimon_meta::DataSplit) -> ReadTask {
    ReadTask::new(Split::Data(split))
}

/// A file of these keys.
fn file(table: &TestTable, name: &str, keys: &[usize], sequence: usize) -> DataFileMeta {
    let lines: Vec<String> = keys
        .iter()
        .enumerate()
        .map(|(row, key)| format!("+I {} {key} {name}", sequence + row))
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    table.write(name, &lines)
}

const FILES: usize = 2000;
/// Requests in flight at once: `io_concurrency` of the resources.
const AT_ONCE: usize = 16;

/// As many files as [`FILES`], one key each.
fn small_files(table: &TestTable) -> Vec<DataFileMeta> {
    let file = |key: usize| file(table, &format!("f{key}"), &[key], key);
    (0..FILES).map(file).collect()
}

#[test]
fn two_thousand_small_files_take_a_sixteenth_of_their_round_trips() {
    let expected = Cost {
        rounds: FILES / AT_ONCE,
        requests: FILES,
        in_flight: AT_ONCE,
        rows: FILES,
    };
    let append = TestTable::new(&[("k", "INT NOT NULL"), ("v", "STRING")], &[]);
    let files = small_files(&append);
    let one = vec![task(append.raw_split(files.clone()))];
    assert_eq!(cost(&append, one, ReadRequest::default()), expected, "raw");
    // As the planner packs them: 32 files a split, for each weighs 4 MiB of 128.
    let packed = files.chunks(32);
    let packed = packed.map(|files| task(append.raw_split(files.to_vec())));
    let packed = cost(&append, packed.collect(), ReadRequest::default());
    assert_eq!((packed.requests, packed.rows), (FILES, FILES));
    assert!(packed.rounds <= expected.rounds, "packed: {packed:?}");
    assert!(packed.in_flight <= 2 * AT_ONCE, "packed: {packed:?}");

    let keyed = TestTable::simple();
    let files = small_files(&keyed);
    let one = vec![task(keyed.split(files))];
    assert_eq!(cost(&keyed, one, ReadRequest::default()), expected, "merge");
}

#[test]
fn tasks_of_one_small_file_each_wait_together() {
    let table = TestTable::new(&[("k", "INT NOT NULL"), ("v", "STRING")], &[]);
    let files = small_files(&table);
    let tasks = files
        .into_iter()
        .map(|file| task(table.raw_split(vec![file])));
    let found = cost(&table, tasks.collect(), ReadRequest::default());
    assert_eq!((found.requests, found.rows), (FILES, FILES));
    assert!(found.rounds <= FILES / AT_ONCE + 1, "{found:?}");
    assert!(found.in_flight <= AT_ONCE + 1, "{found:?}");
}

#[test]
fn sections_of_two_small_files_wait_together() {
    let table = TestTable::simple();
    let pair = |section: usize| {
        let keys = [2 * section, 2 * section + 1];
        [("old", 0), ("new", 10)].map(|(name, sequence)| {
            file(
                &table,
                &format!("{name}{section}"),
                &keys,
                100 * section + sequence,
            )
        })
    };
    let files: Vec<_> = (0..FILES / 2).flat_map(pair).collect();
    let found = cost(
        &table,
        vec![task(table.split(files))],
        ReadRequest::default(),
    );
    assert_eq!((found.requests, found.rows), (FILES, FILES));
    assert!(found.rounds <= FILES / AT_ONCE + 1, "{found:?}");
    assert_eq!(found.in_flight, AT_ONCE);
}

#[test]
fn files_of_a_run_are_opened_ahead_of_a_merge() {
    let table = TestTable::simple();
    let mut files: Vec<_> = (0..200)
        .map(|number| {
            file(
                &table,
                &format!("f{number}"),
                &[2 * number, 2 * number + 1],
                number * 10,
            )
        })
        .collect();
    let across: Vec<usize> = (0..400).step_by(7).collect();
    files.push(file(&table, "across", &across, 10_000));
    let found = cost(
        &table,
        vec![task(table.split(files))],
        ReadRequest::default(),
    );
    assert_eq!((found.requests, found.rows), (201, 400));
    assert!(found.rounds <= 201_usize.div_ceil(AT_ONCE) + 1, "{found:?}");
}

#[test]
fn overlapping_runs_wait_together_for_footers_and_for_first_keys() {
    let table = big_table();
    let files: Vec<_> = (0..6)
        .map(|run| {
            table.write_records(
                &format!("r{run}"),
                &records(run..run + 12_000, i64::from(run) * 20_000, "v"),
            )
        })
        .collect();
    let slow = Slow::new(&table);
    let reader = table.reader_with(table.columns(&["k"]), exact(Arc::clone(&slow.counting)));
    let mut polled = Polled::new(reader.read(task(table.split(files))).unwrap());
    let found = drained(&slow, &mut polled);
    assert_eq!(found.rows, 12_005);
    // All footers, then all first keys; four row groups each, each asked for while the one before is decoded.
    assert_eq!(
        (found.rounds, found.requests),
        (5, 6 * (1 + 4)),
        "{found:?}"
    );
}

#[test]
fn limit_opens_no_file_whose_rows_are_not_wanted() {
    let requests = |table: &TestTable, split, limit| {
        let request = ReadRequest {
            limit: Some(limit),
            ..ReadRequest::default()
        };
        let found = cost(table, vec![task(split)], request);
        assert_eq!(found.rows, usize::try_from(limit).unwrap());
        found.requests
    };
    let table = TestTable::simple();
    let files: Vec<_> = (0..20)
        .map(|number| {
            file(
                &table,
                &format!("f{number}"),
                &[2 * number, 2 * number + 1],
                number * 10,
            )
        })
        .collect();
    for (limit, expected) in [(1, 1), (2, 1), (3, 2), (40, 20)] {
        let raw = table.raw_split(files.clone());
        assert_eq!(requests(&table, raw, limit), expected, "raw, {limit}");
        let merged = table.split(files.clone());
        assert_eq!(requests(&table, merged, limit), expected, "merge, {limit}");
    }
    // Runs beside each other are all needed for the first row.
    let runs: Vec<_> = (0..3)
        .map(|run| {
            file(
                &table,
                &format!("run{run}"),
                &[run, 50 + run],
                1000 + run * 10,
            )
        })
        .collect();
    assert_eq!(requests(&table, table.split(runs), 1), 3);
}

#[test]
fn readers_side_by_side_share_what_is_opened_ahead() {
    let table = TestTable::new(&[("k", "INT NOT NULL"), ("v", "STRING")], &[]);
    let files = small_files(&table);
    let tasks = files.iter().take(100);
    let tasks = tasks
        .map(|file| task(table.raw_split(vec![file.clone()])))
        .collect();
    let store = table.counting();
    let reader = table.reader_with(
        ReadRequest::default(),
        over(Arc::<CountingStore>::clone(&store)),
    );
    let queue = reader.queue(tasks);
    let found = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some((number, stream)) = queue.take_next() {
                    let mut stream = stream.unwrap();
                    let mut rows = 0;
                    while let Some(batch) = paimon_read::block_on(queue.next_batch(&mut stream)) {
                        rows += batch.unwrap().num_rows();
                    }
                    found.lock().unwrap().push((number, rows));
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort_unstable();
    let expected: Vec<_> = (0..100).map(|number| (number, 1)).collect();
    assert_eq!(found, expected);
    assert_eq!(store.take().len(), 100, "each file is asked for once");
    assert!(queue.take(3).is_err(), "it was taken");
}
