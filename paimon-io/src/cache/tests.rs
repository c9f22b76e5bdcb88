use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::{join, join_all, poll_immediate};
use paimon_meta::{Error, ErrorKind};

use super::*;
use crate::object::tests::run;

/// Ready after this many polls, each of which wakes.
fn after(polls: usize) -> impl Future<Output = ()> + Send {
    let mut left = polls;
    std::future::poll_fn(move |context| {
        if left == 0 {
            return std::task::Poll::Ready(());
        }
        left -= 1;
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    })
}

/// A cache of numbers and how often it loaded.
struct Numbers {
    cache: Cache<u64>,
    loads: Arc<AtomicUsize>,
}

impl Numbers {
    fn of(caches: &Caches) -> Self {
        Self {
            cache: caches.of(),
            loads: Arc::default(),
        }
    }

    /// Weighs as much as its value.
    fn get(&self, key: &str, value: u64, polls: usize) -> BoxFuture<'static, Result<u64>> {
        let loads = Arc::clone(&self.loads);
        self.cache.get_or_load(
            key,
            |value| *value,
            move || async move {
                loads.fetch_add(1, Ordering::SeqCst);
                after(polls).await;
                Ok(value)
            },
        )
    }

    fn loads(&self) -> usize {
        self.loads.load(Ordering::SeqCst)
    }
}

#[test]
fn callers_of_one_key_share_one_load() {
    let numbers = Numbers::of(&Caches::new(100));
    let callers = (0..10).map(|_| numbers.get("a", 7, 3));
    for value in run(join_all(callers)) {
        assert_eq!(value.unwrap(), 7);
    }
    assert_eq!(run(numbers.get("a", 8, 0)).unwrap(), 7);
    assert_eq!(numbers.loads(), 1);
}

#[test]
fn loads_are_shared_across_threads() {
    let numbers = Numbers::of(&Caches::new(100));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for key in ["a", "b", "c", "d"] {
                    assert_eq!(run(numbers.get(key, 5, 50)).unwrap(), 5);
                }
            });
        }
    });
    assert_eq!(numbers.loads(), 4);
}

#[test]
fn nothing_is_loaded_before_a_poll() {
    let numbers = Numbers::of(&Caches::new(100));
    drop(numbers.get("a", 7, 0));
    assert_eq!(numbers.loads(), 0);
}

#[test]
fn failure_goes_to_every_waiter_and_is_not_kept() {
    let numbers = Numbers::of(&Caches::new(100));
    let fails = |polls: usize| {
        numbers.cache.get_or_load(
            "a",
            |value| *value,
            move || async move {
                after(polls).await;
                Err(Error::corrupt("bad"))
            },
        )
    };
    let (first, second) = run(join(fails(3), numbers.get("a", 7, 0)));
    assert_eq!(first.unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(second.unwrap_err().message(), "bad");
    assert_eq!(numbers.loads(), 0);
    assert_eq!(run(numbers.get("a", 7, 0)).unwrap(), 7);
}

#[test]
fn waiter_goes_on_with_the_load_of_a_dropped_caller() {
    let numbers = Numbers::of(&Caches::new(100));
    let mut first = numbers.get("a", 7, 5);
    let mut second = numbers.get("a", 8, 5);
    assert!(run(poll_immediate(&mut first)).is_none());
    assert!(run(poll_immediate(&mut second)).is_none());
    drop(first);
    assert_eq!(run(second).unwrap(), 7);
    assert_eq!(numbers.loads(), 1);
}

#[test]
fn load_stops_when_all_callers_are_dropped_and_starts_anew() {
    let caches = Caches::new(100);
    let numbers = Numbers::of(&caches);
    let mut first = numbers.get("a", 7, 5);
    assert!(run(poll_immediate(&mut first)).is_none());
    drop(first);
    assert_eq!(run(numbers.get("a", 8, 0)).unwrap(), 8);
    assert_eq!(numbers.loads(), 2);
}

#[test]
fn least_recently_used_values_leave_when_there_is_no_room() {
    let caches = Caches::new(100);
    let numbers = Numbers::of(&caches);
    for (key, value) in [("a", 40), ("b", 40), ("a", 40), ("c", 50)] {
        run(numbers.get(key, value, 0)).unwrap();
    }
    assert_eq!(
        format!("{caches:?}"),
        "Caches { budget_bytes: 100, used_bytes: 90, values: 2 }"
    );
    assert_eq!(numbers.loads(), 3);
    run(numbers.get("a", 40, 0)).unwrap();
    assert_eq!(numbers.loads(), 3, "a was used after b, so b left");
    run(numbers.get("b", 40, 0)).unwrap();
    assert_eq!(numbers.loads(), 4);
}

#[test]
fn value_larger_than_the_budget_is_returned_but_not_kept() {
    let caches = Caches::new(100);
    let numbers = Numbers::of(&caches);
    run(numbers.get("small", 10, 0)).unwrap();
    for _ in 0..2 {
        assert_eq!(run(numbers.get("large", 101, 0)).unwrap(), 101);
    }
    run(numbers.get("small", 10, 0)).unwrap();
    assert_eq!(numbers.loads(), 3);
}

#[test]
fn types_do_not_share_keys_but_share_the_budget() {
    let caches = Caches::new(100);
    let numbers = Numbers::of(&caches);
    let texts = caches.of::<Arc<str>>();
    run(numbers.get("a", 60, 0)).unwrap();
    let text = run(texts.get_or_load("a", |_| 60, || async { Ok(Arc::from("text")) })).unwrap();
    assert_eq!(text.as_ref(), "text");
    run(numbers.get("a", 60, 0)).unwrap();
    assert_eq!(numbers.loads(), 2, "the text took the number's room");
}

#[test]
fn disabled_caches_load_every_time() {
    let numbers = Numbers::of(&Caches::disabled());
    run(join(numbers.get("a", 7, 1), numbers.get("a", 7, 1)))
        .0
        .unwrap();
    assert_eq!(numbers.loads(), 2);
}

#[test]
fn hits_and_misses_are_counted() {
    let metrics = Metrics::default();
    let caches = Caches::new(100);
    let numbers = Numbers {
        cache: caches.of().counted(metrics.clone()),
        loads: Arc::default(),
    };
    run(join(numbers.get("a", 7, 2), numbers.get("a", 7, 2)))
        .0
        .unwrap();
    run(numbers.get("a", 7, 0)).unwrap();
    assert_eq!(
        (
            metrics.get(Counter::CacheHits),
            metrics.get(Counter::CacheMisses)
        ),
        (2, 1)
    );
}
