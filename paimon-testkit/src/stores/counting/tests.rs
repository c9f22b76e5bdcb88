use object_store::memory::InMemory;
use object_store::{CopyMode, ObjectStoreExt};
use paimon_read::block_on;

use super::*;

fn store() -> CountingStore {
    let inner = InMemory::new();
    block_on(inner.put(&Path::from("d/a"), PutPayload::from_static(b"0123456789"))).unwrap();
    CountingStore::new(Arc::new(inner))
}

fn kinds(requests: &[StoreRequest]) -> Vec<RequestKind> {
    requests.iter().map(|request| request.kind).collect()
}

#[test]
fn reads_are_logged_with_path_ranges_and_bytes() {
    let (store, path) = (store(), Path::from("d/a"));
    block_on(store.get(&path)).unwrap();
    block_on(store.get_range(&path, 2..5)).unwrap();
    block_on(store.head(&path)).unwrap();
    block_on(store.get_ranges(&path, &[0..1, 8..10])).unwrap();
    let suffix = GetOptions {
        range: Some(GetRange::Suffix(4)),
        ..GetOptions::default()
    };
    block_on(store.get_opts(&path, suffix)).unwrap();
    let log = store.requests();
    assert_eq!(
        kinds(&log),
        [
            RequestKind::Get,
            RequestKind::Get,
            RequestKind::Head,
            RequestKind::Get,
            RequestKind::Get
        ]
    );
    let asked: Vec<_> = log
        .iter()
        .map(|request| (request.ranges.clone(), request.bytes))
        .collect();
    assert_eq!(
        asked,
        [
            (vec![], 10),
            (vec![2..5], 3),
            (vec![], 0),
            (vec![0..1, 8..10], 3),
            (vec![6..10], 4)
        ]
    );
    assert!(log.iter().all(|request| request.path == "d/a"));
}

#[test]
fn failures_are_logged_and_taking_the_log_clears_it() {
    let store = store();
    assert!(block_on(store.get(&Path::from("none"))).is_err());
    let log = store.take();
    assert_eq!(log[0].outcome, RequestOutcome::Failed);
    assert_eq!(store.requests(), []);
}

#[test]
fn writes_and_listings_are_logged() {
    let (store, a, b) = (store(), Path::from("d/a"), Path::from("d/b"));
    let options = CopyOptions::new().with_mode(CopyMode::Overwrite);
    block_on(store.copy_opts(&a, &b, options)).unwrap();
    block_on(store.rename_opts(&b, &Path::from("d/c"), RenameOptions::default())).unwrap();
    block_on(store.put(&a, PutPayload::from_static(b"abc"))).unwrap();
    block_on(store.delete(&a)).unwrap();
    block_on(store.list_with_delimiter(Some(&Path::from("d")))).unwrap();
    drop(store.list(None));
    drop(store.list_with_offset(None, &b));
    let log = store.take();
    assert_eq!(
        kinds(&log),
        [
            RequestKind::Copy,
            RequestKind::Rename,
            RequestKind::Put,
            RequestKind::Delete,
            RequestKind::List,
            RequestKind::List,
            RequestKind::List
        ]
    );
    assert_eq!((log[2].bytes, log[4].path.as_str()), (3, "d"));
    assert!(
        log.iter()
            .all(|request| request.outcome == RequestOutcome::Answered)
    );
}
