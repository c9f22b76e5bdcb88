//! `Resources` itself: the parts, and the requests that plan and read make.

use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use object_store::path::Path;
use object_store::{ListResult, ObjectStoreExt};
use paimon_meta::{ManifestFormat, Result};

#[cfg(feature = "fs")]
use crate::buffers::Buffers;
use crate::cache::{Cache, Caches};
use crate::clock::{Clock, SystemClock};
use crate::coalesce::Coalesce;
use crate::location::Location;
use crate::memory::{MemoryBudget, MemoryPool, Reservation};
use crate::metrics::{Counter, Metrics};
use crate::object::Object;
use crate::source::ObjectSource;
use crate::spawn::{Spawn, Spawned};
use crate::storage_error::{if_found, storage_error};
use crate::stores::{StoreRegistry, Stores};

/// What [`Resources`] are made of.
#[derive(Clone, Debug)]
pub struct ResourceParts {
    /// Location to object store. By default a [`StoreRegistry`] without options.
    pub stores: Arc<dyn Stores>,
    /// Decoded manifests, opened data files, deletion vectors. By default 64 MiB.
    pub caches: Caches,
    /// Threads of the caller, if work may run beside the poll. By default none: everything runs where it is polled.
    pub spawn: Option<Arc<dyn Spawn>>,
    /// What windows and buffers are reserved from. By default a pool that never refuses.
    pub memory: Arc<dyn MemoryBudget>,
    /// Measures. By default the system's clock.
    pub clock: Arc<dyn Clock>,
    /// Counts. By default new counters.
    pub metrics: Metrics,
    /// How many requests one operation keeps in flight, at least 1. By default 16.
    pub io_concurrency: usize,
    /// How ranged reads become requests.
    pub coalesce: Coalesce,
    /// Reads manifests that are not Avro (`manifest.format` of old versions). By default none: they are refused by name.
    pub manifest_format: Option<Arc<dyn ManifestFormat>>,
}

impl Default for ResourceParts {
    fn default() -> Self {
        Self {
            stores: Arc::new(StoreRegistry::new()),
            caches: Caches::default(),
            spawn: None,
            memory: Arc::new(MemoryPool::unbounded()),
            clock: Arc::new(SystemClock::default()),
            metrics: Metrics::default(),
            io_concurrency: 16,
            coalesce: Coalesce::default(),
            manifest_format: None,
        }
    }
}

/// The only way of a read to the outside. Cheap to clone; clones share everything.
///
/// Locations are text, taken literally (see [`StoreRegistry`]). Every future is lazy and stops when dropped. Errors of
/// requests are those of [`Object`], and `InvalidInput` or `Unsupported` where the location leads to no store.
#[derive(Clone, Debug)]
pub struct Resources {
    parts: Arc<ResourceParts>,
    /// Those of the parts, or a child of them.
    metrics: Metrics,
    /// That of the parts, or another one.
    memory: Arc<dyn MemoryBudget>,
    #[cfg(feature = "fs")]
    buffers: Buffers,
}

impl Default for Resources {
    fn default() -> Self {
        Self::new(ResourceParts::default())
    }
}

impl Resources {
    /// Resources of these parts.
    pub fn new(parts: ResourceParts) -> Self {
        let metrics = parts.metrics.clone();
        let memory = Arc::clone(&parts.memory);
        Self {
            parts: Arc::new(parts),
            metrics,
            memory,
            #[cfg(feature = "fs")]
            buffers: Buffers::default(),
        }
    }

    /// Local files and stores in memory, nothing spawned, no memory limit.
    pub fn local() -> Self {
        Self::default()
    }

    /// The same resources with counters of their own, which also count into those of `self`: one read measured alone.
    #[must_use]
    pub fn measured(&self) -> Self {
        Self {
            metrics: self.metrics.child(),
            ..self.clone()
        }
    }

    /// The same resources with another memory budget: that of the query a read belongs to.
    #[must_use]
    pub fn with_memory(&self, memory: Arc<dyn MemoryBudget>) -> Self {
        Self {
            memory,
            ..self.clone()
        }
    }

    /// The counters.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// The clock's time in nanoseconds; only differences mean something.
    pub fn now_nanos(&self) -> u64 {
        self.parts.clock.now_nanos()
    }

    /// How many requests one operation may keep in flight, at least 1.
    pub fn io_concurrency(&self) -> usize {
        self.parts.io_concurrency.max(1)
    }

    /// What reads manifests that are not Avro.
    pub fn manifest_format(&self) -> Option<&dyn ManifestFormat> {
        self.parts.manifest_format.as_deref()
    }

    /// Whether work may run beside the poll.
    pub fn can_spawn(&self) -> bool {
        self.parts.spawn.is_some()
    }

    /// Work that runs beside the poll if there are threads for it, else where the result is polled.
    pub fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Spawned<T> {
        Spawned::new(self.parts.spawn.as_ref(), work)
    }

    /// Reserves memory; dropping the reservation gives it back.
    ///
    /// # Errors
    /// `ResourcesExhausted` if the budget does not have it.
    pub fn try_reserve(&self, bytes: u64) -> Result<Reservation> {
        Reservation::try_new(&self.memory, bytes)
    }

    /// The cache for values of a type.
    pub fn cache<V: Clone + Send + Sync + 'static>(&self) -> Cache<V> {
        self.parts.caches.of().counted(self.metrics.clone())
    }

    /// The object at a location. Requests nothing.
    ///
    /// # Errors
    /// `InvalidInput` or `Unsupported` where the location leads to no store.
    pub fn object(&self, location: &str) -> Result<Object> {
        let (store, path) = self.parts.stores.resolve(location)?;
        Ok(Object::new(
            store,
            path,
            location,
            self.metrics.clone(),
            #[cfg(feature = "fs")]
            self.buffers.clone(),
        ))
    }

    /// Ranged reads of a file of a known size. Requests nothing.
    ///
    /// # Errors
    /// As [`Resources::object`].
    pub fn source(&self, location: &str, size: u64) -> Result<ObjectSource> {
        let rules = self.parts.coalesce.rules(Location::is_local(location));
        Ok(ObjectSource::new(
            self.object(location)?,
            size,
            rules,
            self.io_concurrency(),
        ))
    }

    /// The whole content of a file.
    ///
    /// # Errors
    /// As the type says.
    pub fn get(&self, location: &str) -> BoxFuture<'static, Result<Bytes>> {
        self.with_object(location, Object::get)
    }

    /// The whole content of a file, or `None` if there is no such file.
    ///
    /// # Errors
    /// As the type says, without `NotFound`.
    pub fn get_if_exists(&self, location: &str) -> BoxFuture<'static, Result<Option<Bytes>>> {
        self.with_object(location, Object::get_if_exists)
    }

    /// Whether there is such a file; a directory is none.
    ///
    /// # Errors
    /// As the type says, without `NotFound`.
    pub fn exists(&self, location: &str) -> BoxFuture<'static, Result<bool>> {
        self.with_object(location, Object::exists)
    }

    /// Writes a whole file, over one that is there. Readers see the old content or the new, never a part.
    ///
    /// # Errors
    /// As the type says.
    pub fn put(&self, location: &str, content: Bytes) -> BoxFuture<'static, Result<()>> {
        let (store, path) = match self.parts.stores.resolve(location) {
            Ok(resolved) => resolved,
            Err(error) => return ready(Err(error)).boxed(),
        };
        let (location, metrics) = (location.to_owned(), self.metrics.clone());
        async move {
            metrics.add(Counter::Requests, 1);
            store
                .put(&path, content.into())
                .await
                .map(|_| ())
                .map_err(|error| storage_error(&location, error))
        }
        .boxed()
    }

    /// Names and sizes in bytes of the files directly in a directory, by name. A missing directory has none.
    ///
    /// # Errors
    /// As the type says, without `NotFound`.
    pub fn list_names(&self, directory: &str) -> BoxFuture<'static, Result<Vec<(String, u64)>>> {
        let names = |listing: ListResult| {
            let files = listing.objects.into_iter();
            files
                .filter_map(|file| Some((file.location.filename()?.to_owned(), file.size)))
                .collect()
        };
        self.list(directory, names)
    }

    /// Names of the files directly in a directory and when they were written last, in milliseconds since the epoch; by
    /// name. A missing directory has none.
    ///
    /// # Errors
    /// As the type says, without `NotFound`.
    pub fn list_times(&self, directory: &str) -> BoxFuture<'static, Result<Vec<(String, i64)>>> {
        let times = |listing: ListResult| {
            let files = listing.objects.into_iter();
            files
                .filter_map(|file| {
                    let millis = file.last_modified.timestamp_millis();
                    Some((file.location.filename()?.to_owned(), millis))
                })
                .collect()
        };
        self.list(directory, times)
    }

    /// Names of the directories directly in a directory, by name. A missing directory has none.
    ///
    /// # Errors
    /// As the type says, without `NotFound`.
    pub fn list_directories(&self, directory: &str) -> BoxFuture<'static, Result<Vec<String>>> {
        let names = |listing: ListResult| {
            listing
                .common_prefixes
                .iter()
                .filter_map(|path| Some(path.filename()?.to_owned()))
                .collect()
        };
        self.list(directory, names)
    }

    fn list<T: Ord + Send + 'static>(
        &self,
        directory: &str,
        names: impl FnOnce(ListResult) -> Vec<T> + Send + 'static,
    ) -> BoxFuture<'static, Result<Vec<T>>> {
        let (store, path) = match self.parts.stores.resolve(directory) {
            Ok(resolved) => resolved,
            Err(error) => return ready(Err(error)).boxed(),
        };
        let (location, metrics) = (directory.to_owned(), self.metrics.clone());
        async move {
            metrics.add(Counter::Requests, 1);
            metrics.add(Counter::Listings, 1);
            let prefix = (path != Path::ROOT).then_some(&path);
            let listing = store
                .list_with_delimiter(prefix)
                .await
                .map_err(|error| storage_error(&location, error));
            let mut names = if_found(listing)?.map(names).unwrap_or_default();
            names.sort_unstable();
            Ok(names)
        }
        .boxed()
    }

    fn with_object<T: Send + 'static>(
        &self,
        location: &str,
        request: impl FnOnce(&Object) -> BoxFuture<'static, Result<T>>,
    ) -> BoxFuture<'static, Result<T>> {
        match self.object(location) {
            Ok(object) => request(&object),
            Err(error) => ready(Err(error)).boxed(),
        }
    }
}
