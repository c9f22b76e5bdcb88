use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use async_trait::async_trait;
use futures::future::poll_immediate;
use futures::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetRange, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use paimon_io::{Coalesce, Counter, ResourceParts, Resources, StoreRegistry};
use paimon_meta::ErrorKind;

use crate::run;

/// A store that answers a request only after some polls, knows which ranges were asked for, and how many at once.
#[derive(Debug, Default)]
struct SlowStore {
    inner: InMemory,
    ranges: Mutex<Vec<Range<u64>>>,
    in_flight: Arc<AtomicUsize>,
    most_in_flight: AtomicUsize,
    failing: bool,
}

/// Counts a request as in flight until it is dropped.
struct InFlight(Arc<AtomicUsize>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl fmt::Display for SlowStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SlowStore")
    }
}

async fn polls(mut left: u32) {
    std::future::poll_fn(move |context| {
        if left == 0 {
            return Poll::Ready(());
        }
        left -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[async_trait]
impl ObjectStore for SlowStore {
    async fn put_opts(
        &self,
        path: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.inner.put_opts(path, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(path, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        if let Some(GetRange::Bounded(range)) = &options.range {
            self.ranges.lock().unwrap().push(range.clone());
        }
        let now = self.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
        let _in_flight = InFlight(Arc::clone(&self.in_flight));
        self.most_in_flight.fetch_max(now, Ordering::SeqCst);
        polls(5).await;
        if self.failing {
            let source = Box::new(std::io::Error::from(std::io::ErrorKind::TimedOut));
            return Err(object_store::Error::Generic {
                store: "SlowStore",
                source,
            });
        }
        self.inner.get_opts(path, options).await
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

const FILE: &str = "slow://store/dir/file";
const SIZE: u64 = 10_000;

fn resources(store: SlowStore) -> (Arc<SlowStore>, Resources) {
    let content: Vec<u8> = (0..=u8::MAX).cycle().take(10_000).collect();
    run(store.inner.put(&Path::from("dir/file"), content.into())).unwrap();
    let store = Arc::new(store);
    let registry = StoreRegistry::new();
    registry
        .register("slow://store", Arc::<SlowStore>::clone(&store))
        .unwrap();
    let resources = Resources::new(ResourceParts {
        stores: Arc::new(registry),
        io_concurrency: 3,
        coalesce: Coalesce {
            gap_bytes: 100,
            request_bytes: 1000,
            ..Coalesce::default()
        },
        ..ResourceParts::default()
    });
    (store, resources)
}

#[test]
fn close_ranges_are_one_request_and_long_ones_several() {
    let (store, resources) = resources(SlowStore::default());
    let bytes = run(resources.source(FILE, SIZE).unwrap().read(vec![
        9000..9010,
        0..10,
        50..60,
        2000..4500,
    ]))
    .unwrap();
    let lengths: Vec<usize> = bytes.iter().map(|bytes| bytes.len()).collect();
    assert_eq!(lengths, [10, 10, 10, 2500]);
    assert_eq!(usize::from(bytes[3][1]), 2001 % 256);
    assert_eq!(
        *store.ranges.lock().unwrap(),
        [0..60, 2000..2834, 2834..3668, 3668..4500, 9000..9010]
    );
    assert_eq!(resources.metrics().get(Counter::Requests), 5);
    assert_eq!(resources.metrics().get(Counter::RequestedBytes), 2570);
}

#[test]
fn requests_in_flight_are_bounded() {
    let (store, resources) = resources(SlowStore::default());
    let ranges = (0..10)
        .map(|index| index * 1000..index * 1000 + 10)
        .collect();
    run(resources.source(FILE, SIZE).unwrap().read(ranges)).unwrap();
    assert_eq!(store.most_in_flight.load(Ordering::SeqCst), 3);
}

#[test]
fn dropping_a_read_cancels_its_requests() {
    let (store, resources) = resources(SlowStore::default());
    let mut read = resources
        .source(FILE, SIZE)
        .unwrap()
        .read(vec![0..10, 5000..5010]);
    assert!(run(poll_immediate(&mut read)).is_none());
    assert_eq!(store.in_flight.load(Ordering::SeqCst), 2);
    drop(read);
    assert_eq!(store.in_flight.load(Ordering::SeqCst), 0);
}

#[test]
fn fault_that_may_pass_is_a_retryable_error_by_location() {
    let (_store, resources) = resources(SlowStore {
        failing: true,
        ..SlowStore::default()
    });
    let error = run(resources.get(FILE)).unwrap_err();
    assert_eq!(
        (error.kind(), error.is_retryable()),
        (ErrorKind::Storage, true)
    );
    assert_eq!(
        error.to_string(),
        format!("storage: cannot read {FILE}: timed out")
    );
}

#[test]
fn one_read_is_measured_alone() {
    let (_store, resources) = resources(SlowStore::default());
    run(resources.get(FILE)).unwrap();
    let measured = resources.measured();
    run(measured.list_names("slow://store/dir")).unwrap();
    assert_eq!(measured.metrics().get(Counter::Requests), 1);
    assert_eq!(measured.metrics().get(Counter::Listings), 1);
    assert_eq!(resources.metrics().get(Counter::Requests), 2);
}

#[test]
fn callers_of_a_cached_value_share_one_request() {
    let (_store, resources) = resources(SlowStore::default());
    let load = || {
        let file = resources.get(FILE);
        resources
            .cache::<usize>()
            .get_or_load(FILE, |_| 8, || async move { Ok(file.await?.len()) })
    };
    let (first, second) = run(futures::future::join(load(), load()));
    assert_eq!((first.unwrap(), second.unwrap()), (10_000, 10_000));
    assert_eq!(resources.metrics().get(Counter::Requests), 1);
    assert_eq!(resources.metrics().get(Counter::CacheHits), 1);
}

#[test]
fn memory_that_the_budget_does_not_have_is_refused() {
    let memory = Arc::new(paimon_io::MemoryPool::bounded(1000));
    let resources = Resources::new(ResourceParts {
        memory,
        ..ResourceParts::default()
    });
    let held = resources.try_reserve(600).unwrap();
    assert_eq!(
        resources.try_reserve(600).unwrap_err().kind(),
        ErrorKind::ResourcesExhausted
    );
    drop(held);
    resources.try_reserve(600).unwrap();
}
