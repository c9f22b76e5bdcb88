//! One object of a store: a whole file or ranges of it.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
#[cfg(feature = "fs")]
use object_store::GetResultPayload;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, GetResult, ObjectStore};
use paimon_meta::{Error, Result};

#[cfg(feature = "fs")]
use crate::buffers::Buffers;
use crate::metrics::{Counter, Metrics};
use crate::storage_error::{if_found, storage_error};

/// An object by its location. Cheap to clone. Making one requests nothing; its futures do nothing before they are
/// polled, and dropping them cancels.
///
/// # Errors
/// Of each method: `NotFound` if there is no such file (also if it is a directory), `Storage` if the request failed,
/// retryable if it may succeed later. All of them name the location, which is why callers need add no file frame.
#[derive(Clone, Debug)]
pub struct Object {
    store: Arc<dyn ObjectStore>,
    path: Path,
    location: Arc<str>,
    metrics: Metrics,
    #[cfg(feature = "fs")]
    buffers: Buffers,
}

impl Object {
    pub(crate) fn new(
        store: Arc<dyn ObjectStore>,
        path: Path,
        location: &str,
        metrics: Metrics,
        #[cfg(feature = "fs")] buffers: Buffers,
    ) -> Self {
        Self {
            store,
            path,
            location: location.into(),
            metrics,
            #[cfg(feature = "fs")]
            buffers,
        }
    }

    /// The location's text as it was asked for.
    pub fn location(&self) -> &str {
        &self.location
    }

    /// The whole content.
    ///
    /// # Errors
    /// As the type says.
    pub fn get(&self) -> BoxFuture<'static, Result<Bytes>> {
        let object = self.clone();
        async move {
            object
                .collect(object.request(GetOptions::default()).await?)
                .await
        }
        .boxed()
    }

    /// The whole content, or `None` if there is no such file.
    ///
    /// # Errors
    /// As the type says, without `NotFound`.
    pub fn get_if_exists(&self) -> BoxFuture<'static, Result<Option<Bytes>>> {
        self.get().map(if_found).boxed()
    }

    /// The bytes of a range that begins inside the object, as far as the object goes.
    ///
    /// # Errors
    /// As the type says, and `Corrupt` if the range begins behind the end.
    pub fn get_range(&self, range: Range<u64>) -> BoxFuture<'static, Result<Bytes>> {
        let object = self.clone();
        async move {
            let options = GetOptions {
                range: Some(GetRange::Bounded(range.clone())),
                ..GetOptions::default()
            };
            match object.request(options).await {
                Ok(answer) => object.collect(answer).await,
                Err(error) => Err(object.short_or(error, range.start.saturating_add(1)).await),
            }
        }
        .boxed()
    }

    /// The size in bytes.
    ///
    /// # Errors
    /// As the type says.
    pub fn size(&self) -> BoxFuture<'static, Result<u64>> {
        let object = self.clone();
        async move {
            Ok(object
                .request(GetOptions {
                    head: true,
                    ..GetOptions::default()
                })
                .await?
                .meta
                .size)
        }
        .boxed()
    }

    /// Whether there is such a file.
    ///
    /// # Errors
    /// As the type says, without `NotFound`.
    pub fn exists(&self) -> BoxFuture<'static, Result<bool>> {
        self.size()
            .map(|size| Ok(if_found(size)?.is_some()))
            .boxed()
    }

    /// Bytes of a range inside the object, which must have `size` bytes or more.
    pub(crate) async fn fetch(&self, range: Range<u64>, size: u64) -> Result<Bytes> {
        let options = GetOptions {
            range: Some(GetRange::Bounded(range.clone())),
            ..GetOptions::default()
        };
        let answer = match self.request(options).await {
            Ok(answer) => answer,
            Err(error) => return Err(self.short_or(error, size).await),
        };
        if answer.meta.size < size {
            return Err(self.short(size, answer.meta.size));
        }
        if answer.range != range {
            let found = &answer.range;
            return Err(Error::internal(format!(
                "asked for bytes {}..{} of {}, the store answered with {}..{}",
                range.start, range.end, self.location, found.start, found.end
            )));
        }
        self.collect(answer).await
    }

    async fn request(&self, options: GetOptions) -> Result<GetResult> {
        self.metrics.add(Counter::Requests, 1);
        self.store
            .get_opts(&self.path, options)
            .await
            .map_err(|error| storage_error(&self.location, error))
    }

    async fn collect(&self, answer: GetResult) -> Result<Bytes> {
        let range = answer.range.clone();
        let expected = range.end.saturating_sub(range.start);
        let bytes = match answer.payload {
            #[cfg(feature = "fs")]
            GetResultPayload::File(file, _) => {
                let read = crate::local_file::read(file, range, &self.buffers).await;
                read.map_err(|error| {
                    let failed = format!("cannot read {}", self.location);
                    Error::storage(failed, error, false)
                })?
            }
            _ => answer
                .bytes()
                .await
                .map_err(|error| storage_error(&self.location, error))?,
        };
        self.metrics
            .add(Counter::RequestedBytes, bytes.len() as u64);
        if bytes.len() as u64 == expected {
            return Ok(bytes);
        }
        let cut = std::io::Error::new(
            std::io::ErrorKind::UnexpectedEof,
            format!("the answer has {} bytes, expected {expected}", bytes.len()),
        );
        Err(Error::storage(
            format!("cannot read {}", self.location),
            cut,
            true,
        ))
    }

    /// A range past the end of an object is an error with some stores: tells it from other faults, by the size.
    async fn short_or(&self, error: Error, expected: u64) -> Error {
        if error.kind() != paimon_meta::ErrorKind::Storage || error.is_retryable() {
            return error;
        }
        match self.size().await {
            Ok(found) if found < expected => self.short(expected, found),
            _ => error,
        }
    }

    fn short(&self, expected: u64, found: u64) -> Error {
        Error::corrupt(format!(
            "{} is shorter than the manifest says: expected {expected} bytes, found {found}",
            self.location
        ))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::future::Future;

    use object_store::memory::InMemory;
    use object_store::{ObjectStoreExt, PutPayload};
    use paimon_meta::ErrorKind;

    use super::*;

    /// Runs a future of a test to its end.
    #[expect(
        clippy::disallowed_methods,
        reason = "tests have no runtime, and nothing else to do meanwhile"
    )]
    pub(crate) fn run<F: Future>(future: F) -> F::Output {
        futures::executor::block_on(future)
    }

    /// An object `x` of a store in memory, with this content if there is one.
    pub(crate) fn object(content: Option<&'static [u8]>) -> Object {
        let store = Arc::new(InMemory::new());
        let path = Path::from("x");
        if let Some(content) = content {
            run(store.put(&path, PutPayload::from_static(content))).unwrap();
        }
        Object::new(
            store,
            path,
            "memory:///x",
            Metrics::default(),
            #[cfg(feature = "fs")]
            Buffers::default(),
        )
    }

    #[test]
    fn missing_object_is_not_found_by_its_location() {
        let missing = object(None);
        assert_eq!(
            run(missing.get()).unwrap_err().to_string(),
            "not found: memory:///x does not exist"
        );
        assert_eq!(run(missing.size()).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(run(missing.get_if_exists()).unwrap(), None);
        assert!(!run(missing.exists()).unwrap());
    }

    #[test]
    fn content_size_and_requests_are_counted() {
        let there = object(Some(b"hello"));
        assert_eq!(run(there.get()).unwrap().as_ref(), b"hello");
        assert_eq!(
            run(there.get_if_exists()).unwrap().unwrap().as_ref(),
            b"hello"
        );
        assert_eq!(run(there.size()).unwrap(), 5);
        assert!(run(there.exists()).unwrap());
        assert_eq!(there.metrics.get(Counter::Requests), 4);
        assert_eq!(there.metrics.get(Counter::RequestedBytes), 10);
    }

    #[test]
    fn a_range_goes_as_far_as_the_object() {
        let there = object(Some(b"hello"));
        assert_eq!(run(there.get_range(1..3)).unwrap().as_ref(), b"el");
        assert_eq!(run(there.get_range(3..99)).unwrap().as_ref(), b"lo");
        let error = run(there.get_range(7..9)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        let missing = run(object(None).get_range(0..1)).unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
    }

    #[test]
    fn nothing_is_requested_before_a_future_is_polled() {
        let there = object(Some(b"hello"));
        drop((
            there.get(),
            there.size(),
            there.exists(),
            there.get_if_exists(),
        ));
        assert_eq!(there.metrics.get(Counter::Requests), 0);
    }
}
