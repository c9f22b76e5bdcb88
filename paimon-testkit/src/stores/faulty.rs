//! A store that fails and stalls as it is told.

use std::collections::BTreeSet;
use std::fmt;
use std::future::ready;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::{BoxStream, StreamExt, TryStreamExt, once};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions,
    Result,
};

use super::latency::{Gate, Latency};

/// What goes wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// The request fails: with a time-out if trying again may help, else for good.
    Failed {
        /// Whether trying again may help.
        retryable: bool,
    },
    /// There is no such object (any more).
    Missing,
    /// The answer's body ends that many bytes early.
    Short {
        /// Bytes that do not come.
        bytes: u64,
    },
}

/// A fault and the requests it meets: of those that read objects or list them, the ones whose path contains `path`; the
/// first `after` of them pass, the next `times` meet it, later ones pass again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What goes wrong.
    pub kind: FaultKind,
    /// Part of the paths that it concerns; empty for all.
    pub path: String,
    /// Requests that pass first.
    pub after: u64,
    /// Requests that meet it then.
    pub times: u64,
}

impl Fault {
    /// A fault of every request.
    pub fn always(kind: FaultKind) -> Self {
        Self {
            kind,
            path: String::new(),
            after: 0,
            times: u64::MAX,
        }
    }

    /// A fault of one request, counted from 0.
    pub fn nth(kind: FaultKind, number: u64) -> Self {
        Self {
            after: number,
            times: 1,
            ..Self::always(kind)
        }
    }

    /// The same for paths that contain `path` alone.
    #[must_use]
    pub fn on(self, path: &str) -> Self {
        Self {
            path: path.to_owned(),
            ..self
        }
    }

    /// Whether a request meets it; counts the request.
    fn meets(&mut self, path: &str) -> bool {
        if !path.contains(&self.path) {
            return false;
        }
        if self.after > 0 {
            self.after -= 1;
            return false;
        }
        let meets = self.times > 0;
        self.times = self.times.saturating_sub(1);
        meets
    }
}

/// A store whose reads and listings fail, wait and lag behind as a test says; writes pass untouched.
#[derive(Debug)]
pub struct FaultyStore {
    inner: Arc<dyn ObjectStore>,
    faults: Mutex<Vec<Fault>>,
    unlisted: Mutex<BTreeSet<Path>>,
    gate: Arc<Gate>,
}

impl FaultyStore {
    /// Wraps a store; it works like that one until it is told otherwise.
    pub fn new(inner: Arc<dyn ObjectStore>) -> Self {
        Self {
            inner,
            faults: Mutex::default(),
            unlisted: Mutex::default(),
            gate: Arc::default(),
        }
    }

    /// Adds a fault; it counts requests from now on. A request meets the first fault that concerns it.
    pub fn add(&self, fault: Fault) {
        self.faults().push(fault);
    }

    /// Listings that begin from now on are stale: they do not show this object, which other requests find.
    pub fn unlist(&self, path: &Path) {
        self.unlisted().insert(path.clone());
    }

    /// Forgets all faults, and shows all objects.
    pub fn mend(&self) {
        self.faults().clear();
        self.unlisted().clear();
    }

    /// How long reads and listings that begin from now on wait.
    pub fn set_latency(&self, latency: Latency) {
        self.gate.set(latency);
    }

    /// How many requests are [held](Latency::Held).
    pub fn held(&self) -> usize {
        self.gate.held()
    }

    /// Lets up to `count` held requests go, oldest first; returns how many it were.
    pub fn release(&self, count: usize) -> usize {
        self.gate.release(count)
    }

    fn faults(&self) -> MutexGuard<'_, Vec<Fault>> {
        // The list is whole even if a test failed while it held the lock.
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unlisted(&self) -> MutexGuard<'_, BTreeSet<Path>> {
        // Nor can this set be left half changed.
        self.unlisted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The fault that a request meets.
    fn fault(&self, path: &str) -> Option<FaultKind> {
        let mut faults = self.faults();
        let met = faults
            .iter_mut()
            .filter_map(|fault| fault.meets(path).then_some(fault.kind));
        // All of them count the request.
        met.fold(None, |first, kind| first.or(Some(kind)))
    }

    /// Waits, then fails or gives what is left of the fault: bytes to cut off.
    async fn ask(&self, path: &str) -> Result<u64> {
        let fault = self.fault(path);
        Arc::clone(&self.gate).pass().await;
        after(fault, path)
    }

    fn ask_listing(
        &self,
        prefix: Option<&Path>,
        listing: BoxStream<'static, Result<ObjectMeta>>,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        let path = prefix.map_or("", AsRef::as_ref).to_owned();
        let fault = self.fault(&path);
        let gate = Arc::clone(&self.gate);
        let unlisted = self.unlisted().clone();
        let begin = async move {
            gate.pass().await;
            after(fault, &path).map(|_| listing)
        };
        let listing = once(begin).try_flatten();
        listing
            .try_filter(move |object| ready(!unlisted.contains(&object.location)))
            .boxed()
    }
}

fn after(fault: Option<FaultKind>, path: &str) -> Result<u64> {
    let source = |kind| Box::new(io::Error::from(kind));
    match fault {
        None => Ok(0),
        Some(FaultKind::Short { bytes }) => Ok(bytes),
        Some(FaultKind::Missing) => Err(Error::NotFound {
            path: path.to_owned(),
            source: "the object vanished".into(),
        }),
        Some(FaultKind::Failed { retryable }) => Err(Error::Generic {
            store: "FaultyStore",
            source: source(if retryable {
                io::ErrorKind::TimedOut
            } else {
                io::ErrorKind::InvalidData
            }),
        }),
    }
}

/// The bytes without the last `cut`.
fn shortened(bytes: &Bytes, cut: u64) -> Bytes {
    let kept = usize::try_from(cut).map_or(0, |cut| bytes.len().saturating_sub(cut));
    bytes.slice(..kept)
}

impl fmt::Display for FaultyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FaultyStore({})", self.inner)
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl ObjectStore for FaultyStore {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.inner.put_opts(location, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, options).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let cut = self.ask(location.as_ref()).await?;
        let answer = self.inner.get_opts(location, options).await?;
        if cut == 0 {
            return Ok(answer);
        }
        let (meta, range, attributes) = (
            answer.meta.clone(),
            answer.range.clone(),
            answer.attributes.clone(),
        );
        let bytes = shortened(&answer.bytes().await?, cut);
        Ok(GetResult {
            payload: GetResultPayload::Stream(once(async { Ok(bytes) }).boxed()),
            meta,
            range,
            attributes,
        })
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let cut = self.ask(location.as_ref()).await?;
        let mut answer = self.inner.get_ranges(location, ranges).await?;
        if let Some(last) = answer.last_mut() {
            *last = shortened(last, cut);
        }
        Ok(answer)
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.ask_listing(prefix, self.inner.list(prefix))
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        self.ask_listing(prefix, self.inner.list_with_offset(prefix, offset))
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let unlisted = self.unlisted().clone();
        self.ask(prefix.map_or("", AsRef::as_ref)).await?;
        let mut listing = self.inner.list_with_delimiter(prefix).await?;
        let shown = |object: &ObjectMeta| !unlisted.contains(&object.location);
        listing.objects.retain(shown);
        Ok(listing)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.inner.rename_opts(from, to, options).await
    }
}

#[cfg(test)]
mod tests;
