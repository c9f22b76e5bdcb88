//! Work that may run beside the poll, on threads of the caller.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_channel::oneshot;
use futures_util::FutureExt;
use futures_util::future::{AbortHandle, BoxFuture, abortable};
use paimon_meta::{Error, Result};

/// Runs work on threads of the caller, for instance a runtime's.
///
/// Contract: `spawn` returns at once; the work is polled until it is done or dropped. Work that was cancelled wakes
/// itself once more and then ends.
pub trait Spawn: fmt::Debug + Send + Sync {
    /// Takes over `work`.
    fn spawn(&self, work: BoxFuture<'static, ()>);
}

/// The result of work that may run elsewhere. Dropping it cancels the work.
///
/// # Errors
/// The work's own error; [`ErrorKind::Internal`](paimon_meta::ErrorKind::Internal) if the caller's threads dropped the work before it was done.
#[must_use = "dropping it cancels the work"]
pub struct Spawned<T>(State<T>);

enum State<T> {
    Inline(BoxFuture<'static, Result<T>>),
    Remote {
        result: oneshot::Receiver<Result<T>>,
        cancel: AbortHandle,
    },
}

impl<T: Send + 'static> Spawned<T> {
    /// Hands `work` to `spawn`; without one the work runs where the value is polled.
    pub fn new(
        spawn: Option<&Arc<dyn Spawn>>,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Self {
        let Some(spawn) = spawn else {
            return Self(State::Inline(work.boxed()));
        };
        let (sender, result) = oneshot::channel();
        let (work, cancel) = abortable(work.map(move |output| {
            // The receiver is gone only if nobody wants the result any more.
            let _unwanted = sender.send(output);
        }));
        spawn.spawn(work.map(|_done_or_cancelled| ()).boxed());
        Self(State::Remote { result, cancel })
    }
}

impl<T> Future for Spawned<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            State::Inline(work) => work.poll_unpin(context),
            State::Remote { result, .. } => Poll::Ready(match ready!(result.poll_unpin(context)) {
                Ok(output) => output,
                Err(oneshot::Canceled) => Err(Error::internal(
                    "spawned work was dropped before it was done",
                )),
            }),
        }
    }
}

impl<T> Drop for Spawned<T> {
    fn drop(&mut self) {
        if let State::Remote { cancel, .. } = &self.0 {
            cancel.abort();
        }
    }
}

impl<T> fmt::Debug for Spawned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            State::Inline(_) => "Spawned(inline)",
            State::Remote { .. } => "Spawned(remote)",
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::future::{join, pending};
    use paimon_meta::ErrorKind;

    use super::*;
    use crate::object::tests::run;

    /// Keeps what was spawned until the test polls it.
    #[derive(Default)]
    struct Kept(Mutex<Vec<BoxFuture<'static, ()>>>);

    impl fmt::Debug for Kept {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("Kept")
        }
    }

    impl Spawn for Kept {
        fn spawn(&self, work: BoxFuture<'static, ()>) {
            self.0.lock().unwrap().push(work);
        }
    }

    fn kept() -> (Arc<Kept>, Arc<dyn Spawn>) {
        let kept = Arc::new(Kept::default());
        let spawn: Arc<dyn Spawn> = Arc::<Kept>::clone(&kept);
        (kept, spawn)
    }

    struct CountsDrop(Arc<AtomicUsize>);

    impl Drop for CountsDrop {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn work_without_spawn_runs_where_it_is_polled() {
        assert_eq!(run(Spawned::new(None, async { Ok(7) })).unwrap(), 7);
    }

    #[test]
    fn spawned_work_runs_elsewhere_and_returns_its_result_or_error() {
        let (kept, spawn) = kept();
        let good = Spawned::new(Some(&spawn), async { Ok(7) });
        let bad = Spawned::<u8>::new(Some(&spawn), async { Err(Error::corrupt("x")) });
        let works = std::mem::take(&mut *kept.0.lock().unwrap());
        let elsewhere = std::thread::spawn(|| works.into_iter().for_each(run));
        let (good, bad) = run(join(good, bad));
        assert_eq!(good.unwrap(), 7);
        assert_eq!(bad.unwrap_err().kind(), ErrorKind::Corrupt);
        elsewhere.join().unwrap();
    }

    #[test]
    fn dropping_the_handle_ends_the_work() {
        let (kept, spawn) = kept();
        let drops = Arc::new(AtomicUsize::new(0));
        let guard = CountsDrop(Arc::clone(&drops));
        let handle = Spawned::<()>::new(Some(&spawn), async move {
            let _held = guard;
            pending().await
        });
        drop(handle);
        let works = std::mem::take(&mut *kept.0.lock().unwrap());
        works.into_iter().for_each(run);
        assert_eq!(drops.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn work_that_its_threads_dropped_is_an_error_and_not_an_end() {
        let (kept, spawn) = kept();
        let handle = Spawned::new(Some(&spawn), async { Ok(()) });
        kept.0.lock().unwrap().clear();
        assert_eq!(run(handle).unwrap_err().kind(), ErrorKind::Internal);
    }
}
