//! A store that writes down what it is asked.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetRange, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result,
};

/// What sort of request it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RequestKind {
    /// Bytes of an object: all of it or ranges.
    Get,
    /// The size of an object, without bytes.
    Head,
    /// A listing of a directory, or of everything below one.
    List,
    /// An object written, at once or in parts.
    Put,
    /// An object deleted.
    Delete,
    /// An object copied.
    Copy,
    /// An object renamed.
    Rename,
}

/// How far a request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestOutcome {
    /// No answer yet. Streams (listings, deletions) are answered when they are made.
    InFlight,
    /// The store answered; what a body streams after that is not followed.
    Answered,
    /// The store answered with an error.
    Failed,
    /// Dropped before there was an answer.
    Cancelled,
}

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreRequest {
    /// Its sort.
    pub kind: RequestKind,
    /// The object in the store, or the directory of a listing; empty for the root.
    pub path: String,
    /// The ranges asked for, as the answer gives them where the request does not count from the start; none for a whole
    /// object.
    pub ranges: Vec<Range<u64>>,
    /// Bytes of the answer, or of what was written; 0 without an answer.
    pub bytes: u64,
    /// How far it came.
    pub outcome: RequestOutcome,
}

/// Requests by number, in the order in which they began.
#[derive(Debug, Default)]
struct Log {
    next: u64,
    requests: Vec<(u64, StoreRequest)>,
}

/// A store that writes down what it is asked before it asks the one behind it.
#[derive(Debug)]
pub struct CountingStore {
    inner: Arc<dyn ObjectStore>,
    log: Arc<Mutex<Log>>,
}

/// A request until it is answered or dropped.
struct Asked {
    number: u64,
    log: Arc<Mutex<Log>>,
}

impl Asked {
    /// Takes note of the answer.
    fn end<T>(self, result: &Result<T>, change: impl FnOnce(&mut StoreRequest, &T)) {
        self.with(|request| match result {
            Ok(answer) => {
                request.outcome = RequestOutcome::Answered;
                change(request, answer);
            }
            Err(_) => request.outcome = RequestOutcome::Failed,
        });
    }

    /// Changes the request unless it was taken out of the log.
    fn with(&self, change: impl FnOnce(&mut StoreRequest)) {
        let mut log = lock(&self.log);
        let mut requests = log.requests.iter_mut().rev();
        if let Some((_, request)) = requests.find(|(number, _)| *number == self.number) {
            change(request);
        }
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.with(|request| {
            if request.outcome == RequestOutcome::InFlight {
                request.outcome = RequestOutcome::Cancelled;
            }
        });
    }
}

fn lock(log: &Mutex<Log>) -> MutexGuard<'_, Log> {
    // The log is whole even if a test failed while it held the lock.
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CountingStore {
    /// Wraps a store.
    pub fn new(inner: Arc<dyn ObjectStore>) -> Self {
        Self {
            inner,
            log: Arc::default(),
        }
    }

    /// The requests since the log was last taken, in the order in which they began.
    pub fn requests(&self) -> Vec<StoreRequest> {
        let log = lock(&self.log);
        let requests = log.requests.iter().map(|(_, request)| request);
        requests.cloned().collect()
    }

    /// As [`Self::requests`], and clears the log. What is in flight goes on without being followed.
    pub fn take(&self) -> Vec<StoreRequest> {
        let requests = std::mem::take(&mut lock(&self.log).requests);
        requests.into_iter().map(|(_, request)| request).collect()
    }

    /// Requests in the log that have no answer yet.
    pub fn in_flight(&self) -> usize {
        let log = lock(&self.log);
        let outcomes = log.requests.iter().map(|(_, request)| request.outcome);
        outcomes
            .filter(|outcome| *outcome == RequestOutcome::InFlight)
            .count()
    }

    fn ask(&self, kind: RequestKind, path: &str, ranges: Vec<Range<u64>>) -> Asked {
        let request = StoreRequest {
            kind,
            path: path.to_owned(),
            ranges,
            bytes: 0,
            outcome: RequestOutcome::InFlight,
        };
        let mut log = lock(&self.log);
        let number = log.next;
        log.next += 1;
        log.requests.push((number, request));
        Asked {
            number,
            log: Arc::clone(&self.log),
        }
    }

    fn ask_stream(&self, kind: RequestKind, prefix: Option<&Path>) {
        let path = prefix.map_or("", AsRef::as_ref);
        self.ask(kind, path, Vec::new()).end(&Ok(()), |_, ()| {});
    }
}

impl fmt::Display for CountingStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CountingStore({})", self.inner)
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl ObjectStore for CountingStore {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        let bytes = payload.content_length() as u64;
        let asked = self.ask(RequestKind::Put, location.as_ref(), Vec::new());
        let result = self.inner.put_opts(location, payload, options).await;
        asked.end(&result, |request, _| request.bytes = bytes);
        result
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let asked = self.ask(RequestKind::Put, location.as_ref(), Vec::new());
        let result = self.inner.put_multipart_opts(location, options).await;
        asked.end(&result, |_, _| {});
        result
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let (head, whole) = (options.head, options.range.is_none());
        let kind = if head {
            RequestKind::Head
        } else {
            RequestKind::Get
        };
        let ranges = match &options.range {
            Some(GetRange::Bounded(range)) => vec![range.clone()],
            _ => Vec::new(),
        };
        let asked = self.ask(kind, location.as_ref(), ranges);
        let result = self.inner.get_opts(location, options).await;
        asked.end(&result, |request, answer| {
            if head {
                return;
            }
            request.bytes = answer.range.end - answer.range.start;
            if !whole {
                request.ranges = vec![answer.range.clone()];
            }
        });
        result
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let asked = self.ask(RequestKind::Get, location.as_ref(), ranges.to_vec());
        let result = self.inner.get_ranges(location, ranges).await;
        asked.end(&result, |request, answer| {
            request.bytes = answer.iter().map(|bytes| bytes.len() as u64).sum();
        });
        result
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.ask_stream(RequestKind::Delete, None);
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.ask_stream(RequestKind::List, prefix);
        self.inner.list(prefix)
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        self.ask_stream(RequestKind::List, prefix);
        self.inner.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let path = prefix.map_or("", AsRef::as_ref);
        let asked = self.ask(RequestKind::List, path, Vec::new());
        let result = self.inner.list_with_delimiter(prefix).await;
        asked.end(&result, |_, _| {});
        result
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        let asked = self.ask(RequestKind::Copy, from.as_ref(), Vec::new());
        let result = self.inner.copy_opts(from, to, options).await;
        asked.end(&result, |_, ()| {});
        result
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        let asked = self.ask(RequestKind::Rename, from.as_ref(), Vec::new());
        let result = self.inner.rename_opts(from, to, options).await;
        asked.end(&result, |_, ()| {});
        result
    }
}

#[cfg(test)]
mod tests;
