//! Whatever a store does wrong, a read gives the right rows or an error that names the file: never fewer rows, no panic, no
//! hang. What could hang is polled here by hand: every request is pending for a poll, so that whoever asks for ever is
//! polled for ever, and whoever waits without being woken is seen to.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::TryStreamExt;
use object_store::path::Path;
use paimon_io::{ResourceParts, Resources, StoreRegistry};
use paimon_meta::{Error, ErrorKind, Result};
use paimon_plan::{Plan, ResolveRequest, ScanRequest, Table, plan};
use paimon_read::{ReadRequest, TableReader};
use paimon_testkit::{
    CountingStore, Fault, FaultKind, FaultyStore, HistoryShape, JsonRow, JsonRows, Latency, Query,
    RequestKind, StoreRequest,
};
use proptest::prelude::*;

use super::table::{Case, Refusable, Refused, law, query_types, same};

/// Polls that no read of a small table needs.
const MOST_POLLS: u32 = 20_000;

/// What a request that went wrong may cost in further ones: a listing in place of a hint, two more tries (TF-008).
const MOST_RETRIES: usize = 4;

const KINDS: [FaultKind; 5] = [
    FaultKind::Failed { retryable: true },
    FaultKind::Failed { retryable: false },
    FaultKind::Missing,
    FaultKind::Short { bytes: 1 },
    FaultKind::Short { bytes: u64::MAX },
];

/// A case's table behind stores that fail and count.
struct Stores {
    faulty: Arc<FaultyStore>,
    counting: Arc<CountingStore>,
    resources: Resources,
}

impl Stores {
    /// Nothing is cached; each request is pending for a poll.
    fn of(case: &Case) -> Self {
        let faulty = Arc::new(FaultyStore::new(Arc::<_>::clone(&case.store) as _));
        faulty.set_latency(Latency::Polls(1));
        let counting = Arc::new(CountingStore::new(Arc::<FaultyStore>::clone(&faulty)));
        let registry = StoreRegistry::new();
        let outermost = Arc::<CountingStore>::clone(&counting);
        registry.register("memory://", outermost).unwrap();
        let resources = Resources::new(ResourceParts {
            stores: Arc::new(registry),
            ..ResourceParts::default()
        });
        Self {
            faulty,
            counting,
            resources,
        }
    }

    async fn plan(&self, query: &Query) -> Result<(TableReader, Plan)> {
        let resolve = ResolveRequest::default();
        let table = Table::resolve(&self.resources, "memory:///t", &resolve).await?;
        let scan = ScanRequest {
            predicate: query.predicate(&table.schema.fields)?,
            ..ScanRequest::default()
        };
        let plan = plan(&self.resources, &table, &scan).await?;
        let mut request = ReadRequest {
            predicate: plan.residual(),
            batch_size: 3,
            ..ReadRequest::default()
        };
        if let Some(columns) = &query.columns {
            request = request.with_columns(&table.schema, columns)?;
        }
        let reader = TableReader::new(Arc::new(table), request, self.resources.clone())?;
        Ok((reader, plan))
    }

    async fn rows_of(
        &self,
        case: &Case,
        query: &Query,
        planned: &(TableReader, Plan),
    ) -> Result<Vec<JsonRow>> {
        let (reader, plan) = planned;
        let splits = (0..plan.len()).map(|index| plan.split(index));
        let tasks = reader.tasks(splits.collect::<Result<Vec<_>>>()?);
        let batches: Vec<_> = reader.read_all(tasks)?.try_collect().await?;
        let types = query_types(case, query);
        let rows = batches
            .iter()
            .map(|batch| JsonRows::new(batch, &types)?.rows());
        Ok(rows.collect::<Result<Vec<_>>>()?.concat())
    }

    async fn read(&self, case: &Case, query: &Query) -> Result<Vec<JsonRow>> {
        let planned = self.plan(query).await?;
        self.rows_of(case, query, &planned).await
    }
}

#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs a future to its end, or says that it hangs. `stuck` is asked where it waits for nothing that comes by itself.
pub(super) fn drive<T>(
    future: impl Future<Output = T>,
    mut stuck: impl FnMut() -> bool,
) -> Result<T, TestCaseError> {
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    for _ in 0..MOST_POLLS {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Ok(output);
        }
        if !woken.0.swap(false, Ordering::Relaxed) && !stuck() {
            return Err(TestCaseError::fail("it waits for ever: nobody wakes it"));
        }
    }
    Err(TestCaseError::fail("it is polled for ever"))
}

/// Runs a read to its end.
fn ended<T>(read: impl Future<Output = T>) -> Result<T, TestCaseError> {
    drive(read, || false)
}

fn unlimited(query: &Query) -> Query {
    Query {
        limit: None,
        ..query.clone()
    }
}

/// Requests and rows of a read without faults; whoever refuses it proves nothing.
fn undisturbed(case: &Case, query: &Query) -> Result<Refusable<Vec<StoreRequest>>, TestCaseError> {
    let stores = Stores::of(case);
    match ended(stores.read(case, query))? {
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(Err(Refused(error))),
        Err(error) => Err(TestCaseError::fail(format!("{error}\n{}", case.history))),
        Ok(rows) => {
            same(case, query, &case.answer(query), &rows)?;
            Ok(Ok(stores.counting.take()))
        }
    }
}

/// Up to six of many, other ones for another number.
fn some<T>(all: &[T]) -> impl Iterator<Item = (usize, &T)> {
    let step = all.len().div_ceil(6).max(1);
    all.iter().enumerate().skip(all.len() % step).step_by(step)
}

/// The last part of a path.
fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap()
}

/// The error is of the fault's kind and names the file: the table is not called corrupt for what the store did.
fn tells(error: &Error, kind: FaultKind, request: &StoreRequest) -> bool {
    let expected = match kind {
        FaultKind::Missing => (ErrorKind::NotFound, false),
        FaultKind::Failed { retryable } => (ErrorKind::Storage, retryable),
        _ => (ErrorKind::Storage, true),
    };
    (error.kind(), error.is_retryable()) == expected
        && error.to_string().contains(name(&request.path))
}

#[test]
fn a_request_that_fails_loses_no_rows() {
    law(file!(), HistoryShape::ALL, |case, query| {
        let query = unlimited(query);
        let requests = match undisturbed(case, &query)? {
            Ok(requests) => requests,
            Err(refused) => return Ok(Err(refused)),
        };
        let expected = case.answer(&query);
        for (number, request) in some(&requests) {
            let kind = KINDS[(number + requests.len()) % KINDS.len()];
            if request.kind == RequestKind::List && kind == FaultKind::Missing {
                continue; // a directory that is not there is empty, as stores say
            }
            let stores = Stores::of(case);
            stores.faulty.add(Fault::nth(kind, number as u64));
            let told = format!(
                "{kind:?} at request {number}, {request:?}\n{}",
                case.history
            );
            match ended(stores.read(case, &query))? {
                Ok(rows) => same(case, &query, &expected, &rows)?,
                Err(error) => prop_assert!(tells(&error, kind, request), "{error}: {told}"),
            }
            let asked = stores.counting.requests();
            prop_assert_eq!(&asked[number].path, &request.path, "{}", told);
            prop_assert!(
                asked.len() <= requests.len() + MOST_RETRIES,
                "{asked:?}: {told}"
            );
        }
        Ok(Ok(()))
    });
}

#[test]
fn a_file_that_vanishes_between_plan_and_read_is_missed() {
    law(file!(), HistoryShape::ALL, |case, query| {
        let query = unlimited(query);
        let stores = Stores::of(case);
        let planned = match ended(stores.plan(&query))? {
            Ok(planned) => planned,
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                return Ok(Err(Refused(error)));
            }
            Err(error) => return Err(TestCaseError::fail(format!("{error}\n{}", case.history))),
        };
        stores.counting.take();
        if let Err(error) = ended(stores.rows_of(case, &query, &planned))? {
            prop_assert_eq!(error.kind(), ErrorKind::Unsupported, "{}", error);
            return Ok(Err(Refused(error)));
        }
        let requests = stores.counting.take();
        for (_, request) in some(&requests) {
            let stores = Stores::of(case);
            let planned = ended(stores.plan(&query))?.unwrap();
            stores.counting.take();
            let gone = Fault::always(FaultKind::Missing).on(&request.path);
            stores.faulty.add(gone);
            let read = ended(stores.rows_of(case, &query, &planned))?;
            let told = read
                .as_ref()
                .is_err_and(|error| tells(error, FaultKind::Missing, request));
            prop_assert!(told, "{request:?} is gone: {read:?}\n{}", case.history);
            let asked = stores.counting.requests().len();
            prop_assert!(asked <= requests.len() + MOST_RETRIES);
        }
        Ok(Ok(()))
    });
}

#[test]
fn requests_may_take_long_and_end_in_any_order() {
    law(file!(), HistoryShape::ALL, |case, query| {
        let query = unlimited(query);
        if let Err(refused) = undisturbed(case, &query)? {
            return Ok(Err(refused));
        }
        let expected = case.answer(&query);
        for latency in [Latency::Polls(7), Latency::Held] {
            let stores = Stores::of(case);
            stores.faulty.set_latency(latency);
            let read = drive(stores.read(case, &query), || stores.faulty.release(1) == 1)?;
            same(case, &query, &expected, &read.unwrap())?;
        }
        Ok(Ok(()))
    });
}

#[test]
fn stale_listings_lose_no_rows_of_the_snapshot() {
    law(file!(), HistoryShape::ALL, |case, query| {
        let query = unlimited(query);
        if let Err(refused) = undisturbed(case, &query)? {
            return Ok(Err(refused));
        }
        let main = case.written.main().unwrap();
        let ids: Vec<i64> = main.snapshots().map(|snapshot| snapshot.id).collect();
        // The hint names the snapshot that listings do not show yet (TF-002): it is the latest nevertheless.
        let stores = Stores::of(case);
        for id in ids.iter().rev().take(2) {
            stores
                .faulty
                .unlist(&Path::from(format!("t/snapshot/snapshot-{id}")));
        }
        match ended(stores.read(case, &query))? {
            Ok(rows) => same(case, &query, &case.answer(&query), &rows)?,
            Err(error) => return Err(TestCaseError::fail(format!("{error}\n{}", case.history))),
        }
        // Nothing says that there is a newer one: the state is that of the last that is shown, as a whole.
        let no_hint = Fault::always(FaultKind::Missing).on("snapshot/LATEST");
        stores.faulty.add(no_hint);
        let shown = ids.iter().rev().nth(2);
        let shown = shown.and_then(|id| main.snapshots().find(|snapshot| snapshot.id == *id));
        if let Some(shown) = shown.filter(|shown| shown.schema_id == main.schema().unwrap().id) {
            let rows = ended(stores.read(case, &query))?.unwrap();
            let all = main.rows_at(shown.id).unwrap();
            same(
                case,
                &query,
                &query.answer(case.fields(), &all).unwrap(),
                &rows,
            )?;
        }
        Ok(Ok(()))
    });
}

#[test]
fn a_schema_that_is_not_listed_is_missed() {
    // The snapshot was written with a schema that the listing does not show yet: to read it with the one before would lose
    // columns and options.
    law(file!(), HistoryShape::ALL, |case, query| {
        let query = unlimited(query);
        if let Err(refused) = undisturbed(case, &query)? {
            return Ok(Err(refused));
        }
        let main = case.written.main().unwrap();
        let Some(last) = main.snapshots().last().map(|snapshot| snapshot.schema_id) else {
            return Ok(Ok(()));
        };
        let newest = main.schema().unwrap().id;
        let stores = Stores::of(case);
        for id in last..=newest {
            stores
                .faulty
                .unlist(&Path::from(format!("t/schema/schema-{id}")));
        }
        let error = ended(stores.read(case, &Query::default()))?;
        let Err(error) = error else {
            return Err(TestCaseError::fail(format!("it is read\n{}", case.history)));
        };
        let text = error.to_string();
        let named = text.contains(&format!("schema {last}")) || last == 0;
        prop_assert!(named, "{}\n{}", text, case.history);
        Ok(Ok(()))
    });
}

#[test]
fn a_snapshot_that_never_parses_is_asked_for_three_times() {
    // TF-008: a store may show a file half-written, but not for ever.
    law(file!(), HistoryShape::ALL, |case, query| {
        let main = case.written.main().unwrap();
        let Some(last) = main.snapshots().last().map(|snapshot| snapshot.id) else {
            return Ok(Ok(()));
        };
        case.put(
            &format!("snapshot/snapshot-{last}"),
            "{\"version\": 3, \"id\"",
        );
        let stores = Stores::of(case);
        let error = ended(stores.read(case, query))?.unwrap_err();
        let file = format!("snapshot-{last}");
        if error.kind() == ErrorKind::Unsupported {
            return Ok(Err(Refused(error)));
        }
        prop_assert_eq!(error.kind(), ErrorKind::Corrupt);
        prop_assert!(error.to_string().contains(&file), "{}", error);
        let asked = stores.counting.take();
        let tries = asked
            .iter()
            .filter(|request| request.kind == RequestKind::Get && name(&request.path) == file);
        prop_assert_eq!(tries.count(), 3);
        Ok(Ok(()))
    });
}
