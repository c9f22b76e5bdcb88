//! Bytes of data files out of object stores.

use std::ops::Range;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use paimon_format::ByteSource;
use paimon_io::{ObjectSource, Resources};
use paimon_meta::Result;

/// A data file in a store, as formats see it.
#[derive(Debug)]
pub(crate) struct StoreSource(ObjectSource);

impl StoreSource {
    /// The file at a location, of the size that its meta gives. Requests nothing.
    ///
    /// # Errors
    /// `InvalidInput` or `Unsupported` where the location leads to no store.
    pub(crate) fn new(resources: &Resources, location: &str, size: u64) -> Result<Self> {
        resources.source(location, size).map(Self)
    }
}

impl ByteSource for StoreSource {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn size(&self) -> u64 {
        self.0.size()
    }

    fn read(&self, ranges: Vec<Range<u64>>) -> BoxFuture<'static, Result<Vec<Bytes>>> {
        self.0.read(ranges)
    }
}
