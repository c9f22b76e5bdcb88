//! Values that several readers share: loaded once, kept while there is room.
//!
//! One budget in bytes serves values of all types. A key is being loaded or its value is there:
//!
//! ```text
//! absent ──first caller──▶ loading ──done──▶ ready ──least recently used, no room──▶ absent
//!    ▲                        │
//!    └──failed, or dropped by all callers
//! ```
//!
//! Callers of a key that is loading share the load: whoever is polled moves it on, so it ends although the caller that
//! began it is dropped, and stops when all are. A failure goes to each of them and is not kept.

mod store;

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use paimon_meta::Result;

use crate::metrics::{Counter, Metrics};
use store::{Lookup, Store, Ticket};

/// Caches of one budget, one per type of value. Cheap to clone; clones share the values.
#[derive(Clone)]
pub struct Caches(Option<Arc<Store>>);

impl Caches {
    /// Caches that keep values of up to `budget_bytes` together, by the weights given with them. With 0 nothing is
    /// kept, but callers still share loads.
    pub fn new(budget_bytes: u64) -> Self {
        Self(Some(Arc::new(Store::new(budget_bytes))))
    }

    /// No caches: every caller loads for itself.
    pub fn disabled() -> Self {
        Self(None)
    }

    /// The cache of the values of type `V`, usually an `Arc` of something.
    pub fn of<V: Clone + Send + Sync + 'static>(&self) -> Cache<V> {
        Cache {
            store: self.0.clone(),
            metrics: Metrics::default(),
            values: PhantomData,
        }
    }
}

impl Default for Caches {
    /// 64 MiB.
    fn default() -> Self {
        Self::new(64 << 20)
    }
}

impl fmt::Debug for Caches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(store) => store.fmt(f),
            None => f.write_str("Caches(disabled)"),
        }
    }
}

/// The cache of one type of values, by key. See [`Caches`].
#[derive(Clone)]
pub struct Cache<V> {
    store: Option<Arc<Store>>,
    metrics: Metrics,
    values: PhantomData<fn() -> V>,
}

impl<V: Clone + Send + Sync + 'static> Cache<V> {
    /// The same cache, which counts its hits and misses.
    pub(crate) fn counted(self, metrics: Metrics) -> Self {
        Self { metrics, ..self }
    }

    /// The value of `key`: from the cache, from a load under way, or from `load`, which then is the load that others
    /// share. `weight` gives the bytes that a value keeps alive.
    ///
    /// Nothing happens before the future is polled. A load must not ask for its own key.
    ///
    /// # Errors
    /// Those of the load.
    pub fn get_or_load<F>(
        &self,
        key: impl Into<Arc<str>>,
        weight: fn(&V) -> u64,
        load: impl FnOnce() -> F + Send + 'static,
    ) -> BoxFuture<'static, Result<V>>
    where
        F: Future<Output = Result<V>> + Send + 'static,
    {
        let metrics = self.metrics.clone();
        let Some(store) = self.store.clone() else {
            return async move {
                metrics.add(Counter::CacheMisses, 1);
                load().await
            }
            .boxed();
        };
        let key = key.into();
        async move {
            let fly = |ticket: Ticket| async move {
                let value = load().await?;
                ticket.keep(&value, weight(&value));
                Ok(value)
            };
            let lookup = store.lookup::<V>(key, |ticket| fly(ticket).boxed().shared());
            metrics.add(
                if matches!(lookup, Lookup::Started(_)) {
                    Counter::CacheMisses
                } else {
                    Counter::CacheHits
                },
                1,
            );
            match lookup {
                Lookup::Ready(value) => Ok(value),
                Lookup::Joined(flight) | Lookup::Started(flight) => flight.await,
            }
        }
        .boxed()
    }
}

impl<V> fmt::Debug for Cache<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cache<{}>", std::any::type_name::<V>())
    }
}

#[cfg(test)]
mod tests;
