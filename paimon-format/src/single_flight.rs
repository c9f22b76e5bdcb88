//! A value that is fetched when it is first needed, once, by whoever asks first.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use paimon_meta::Result;

type Flight<T> = Shared<BoxFuture<'static, Result<T>>>;

/// A value fetched on first use. All who wait for it share one fetch, which any of them drives; a fetch that fails is
/// forgotten, so that the next one who asks tries again.
pub(crate) struct SingleFlight<T: Clone>(Mutex<Option<Flight<T>>>);

impl<T: Clone> Default for SingleFlight<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T: Clone + Send + Sync + 'static> SingleFlight<T> {
    /// The value; `fetch` makes the future that gets it and is called only if there is none yet.
    pub(crate) async fn get(
        &self,
        fetch: impl FnOnce() -> BoxFuture<'static, Result<T>>,
    ) -> Result<T> {
        let flight = self.slot().get_or_insert_with(|| fetch().shared()).clone();
        let value = flight.clone().await;
        if value.is_err() {
            let mut slot = self.slot();
            if slot.as_ref().is_some_and(|current| current.ptr_eq(&flight)) {
                *slot = None;
            }
        }
        value
    }

    fn slot(&self) -> MutexGuard<'_, Option<Flight<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Clone> fmt::Debug for SingleFlight<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SingleFlight").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::ready;

    use paimon_meta::Error;

    use super::*;

    fn now<T>(future: impl Future<Output = T>) -> T {
        future.now_or_never().expect("nothing to wait for")
    }

    #[test]
    fn value_is_fetched_once() {
        let fetches = Cell::new(0);
        let value = SingleFlight::<u32>::default();
        let fetch = || {
            fetches.set(fetches.get() + 1);
            ready(Ok(fetches.get())).boxed()
        };
        assert_eq!(now(value.get(fetch)).unwrap(), 1);
        assert_eq!(now(value.get(fetch)).unwrap(), 1);
        assert_eq!(fetches.get(), 1);
    }

    #[test]
    fn failure_is_shared_by_those_who_wait_but_not_remembered() {
        let value = SingleFlight::<u32>::default();
        let fail = || ready(Err(Error::corrupt("broken"))).boxed();
        assert!(now(value.get(fail)).is_err());
        assert_eq!(now(value.get(|| ready(Ok(7)).boxed())).unwrap(), 7);
        assert_eq!(now(value.get(fail)).unwrap(), 7);
    }
}
