use std::task::{Context, Waker};

use futures_util::FutureExt;
use object_store::ObjectStoreExt;
use object_store::memory::InMemory;
use paimon_read::block_on;

use super::*;
use crate::{CountingStore, RequestOutcome};

fn store() -> FaultyStore {
    let inner = InMemory::new();
    for name in ["d/a", "d/b"] {
        block_on(inner.put(&Path::from(name), PutPayload::from_static(b"0123456789"))).unwrap();
    }
    FaultyStore::new(Arc::new(inner))
}

fn read(store: &FaultyStore, name: &str) -> Result<usize> {
    let path = Path::from(name);
    block_on(async { Ok(store.get(&path).await?.bytes().await?.len()) })
}

#[test]
fn faults_meet_the_requests_that_they_count() {
    let store = store();
    let failed = FaultKind::Failed { retryable: true };
    store.add(Fault::nth(failed, 1).on("d/a"));
    let answers: Vec<bool> = ["d/a", "d/b", "d/a", "d/a"]
        .map(|name| read(&store, name).is_ok())
        .into();
    assert_eq!(answers, [true, true, false, true]);
    store.add(Fault::always(FaultKind::Missing).on("b"));
    assert!(matches!(read(&store, "d/b"), Err(Error::NotFound { .. })));
    store.mend();
    assert_eq!(read(&store, "d/b").unwrap(), 10);
}

#[test]
fn short_answers_end_early_and_keep_their_range() {
    let store = store();
    store.add(Fault::always(FaultKind::Short { bytes: 4 }));
    let answer = block_on(store.get(&Path::from("d/a"))).unwrap();
    assert_eq!((answer.range.clone(), answer.meta.size), (0..10, 10));
    assert_eq!(block_on(answer.bytes()).unwrap().as_ref(), b"012345");
    let ranges = block_on(store.get_ranges(&Path::from("d/a"), &[0..5, 5..10])).unwrap();
    assert_eq!((ranges[0].len(), ranges[1].len()), (5, 1));
}

#[test]
fn listings_fail_too() {
    let store = store();
    store.add(Fault::always(FaultKind::Failed { retryable: false }));
    assert!(block_on(store.list_with_delimiter(None)).is_err());
    assert!(block_on(store.list(None).try_collect::<Vec<_>>()).is_err());
    store.mend();
    assert_eq!(
        block_on(store.list(None).try_collect::<Vec<_>>())
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn requests_wait_for_polls_or_for_their_release() {
    let store = store();
    let path = Path::from("d/a");
    let mut context = Context::from_waker(Waker::noop());
    store.set_latency(Latency::Polls(3));
    let mut slow = store.get(&path).boxed();
    let polls = (0..10)
        .take_while(|_| slow.poll_unpin(&mut context).is_pending())
        .count();
    assert_eq!(polls, 3);
    store.set_latency(Latency::Held);
    let mut requests = [store.get(&path).boxed(), store.get(&path).boxed()];
    let [first, second] = &mut requests;
    assert!(first.poll_unpin(&mut context).is_pending());
    assert!(second.poll_unpin(&mut context).is_pending());
    assert_eq!((store.held(), store.release(1)), (2, 1));
    assert!(first.poll_unpin(&mut context).is_ready());
    assert!(second.poll_unpin(&mut context).is_pending());
    drop(requests);
    assert_eq!(store.held(), 0);
}

#[test]
fn counting_store_sees_what_is_cancelled() {
    let store = Arc::new(store());
    let counted = CountingStore::new(Arc::<FaultyStore>::clone(&store));
    store.set_latency(Latency::Held);
    let path = Path::from("d/a");
    let mut request = counted.get(&path).boxed();
    let mut context = Context::from_waker(Waker::noop());
    assert!(request.poll_unpin(&mut context).is_pending());
    assert_eq!(counted.in_flight(), 1);
    drop(request);
    assert_eq!(counted.in_flight(), 0);
    assert_eq!(counted.take()[0].outcome, RequestOutcome::Cancelled);
}

#[test]
fn stale_listings_lack_objects_that_are_there() {
    let store = store();
    store.unlist(&Path::from("d/b"));
    let names = |store: &FaultyStore| {
        let listed = block_on(store.list(None).try_collect::<Vec<_>>()).unwrap();
        let direct = block_on(store.list_with_delimiter(Some(&Path::from("d")))).unwrap();
        (listed.len(), direct.objects.len())
    };
    assert_eq!(names(&store), (1, 1));
    assert_eq!(read(&store, "d/b").unwrap(), 10);
    store.mend();
    assert_eq!(names(&store), (2, 2));
}
