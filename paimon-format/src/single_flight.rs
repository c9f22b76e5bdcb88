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
