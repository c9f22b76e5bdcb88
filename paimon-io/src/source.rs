//! Ranges of one data file.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{StreamExt, TryStreamExt, iter};
use paimon_meta::{Error, Result};

use crate::coalesce::{Rules, assemble, requests};
use crate::object::Object;

/// The bytes of a file whose size is known beforehand (manifests say it). Ranges that lie close together are asked for
/// in one request, long ones of remote files in several at once ([`Coalesce`](crate::Coalesce)). Cheap to clone.
#[derive(Clone, Debug)]
pub struct ObjectSource {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    object: Object,
    size: u64,
    rules: Rules,
    concurrency: usize,
}

impl ObjectSource {
    pub(crate) fn new(object: Object, size: u64, rules: Rules, concurrency: usize) -> Self {
        Self {
            shared: Arc::new(Shared {
                object,
                size,
                rules,
                concurrency: concurrency.max(1),
            }),
        }
    }

    /// The file's location, for messages.
    pub fn name(&self) -> &str {
        self.shared.object.location()
    }

    /// The size that was given, in bytes.
    pub fn size(&self) -> u64 {
        self.shared.size
    }

    /// The bytes of each range: in the order asked for, each as long as its range. Ranges may overlap; an empty one
    /// costs nothing. Nothing is requested before the future is polled, and dropping it cancels.
    ///
    /// Holds the answers to its requests in memory, gaps among them, as long as one of the returned buffers lives.
    ///
    /// # Errors
    /// `Corrupt` if a range is not inside the size given, or the file is shorter than that; else as [`Object`].
    pub fn read(&self, ranges: Vec<Range<u64>>) -> BoxFuture<'static, Result<Vec<Bytes>>> {
        let shared = Arc::clone(&self.shared);
        async move {
            ranges.iter().try_for_each(|range| shared.check(range))?;
            let asked: Vec<_> = ranges
                .iter()
                .filter(|range| !range.is_empty())
                .cloned()
                .collect();
            let requests = requests(&asked, shared.rules);
            let answers: Vec<Bytes> = iter(requests.clone())
                .map(|request| shared.object.fetch(request, shared.size))
                .buffered(shared.concurrency)
                .try_collect()
                .await?;
            let whole =
                |range| assemble(range, &requests, &answers).ok_or_else(|| shared.hole(range));
            ranges.iter().map(whole).collect()
        }
        .boxed()
    }
}

impl Shared {
    fn check(&self, range: &Range<u64>) -> Result<()> {
        if range.start <= range.end && range.end <= self.size {
            return Ok(());
        }
        Err(Error::corrupt(format!(
            "bytes {}..{} are not inside {}, which has {}",
            range.start,
            range.end,
            self.object.location(),
            self.size
        )))
    }

    fn hole(&self, range: &Range<u64>) -> Error {
        Error::internal(format!(
            "no request brought bytes {}..{} of {}",
            range.start,
            range.end,
            self.object.location()
        ))
    }
}

#[cfg(test)]
mod tests {
    use paimon_meta::ErrorKind;

    use super::*;
    use crate::object::tests::{object, run};

    const RULES: Rules = Rules {
        gap_bytes: 2,
        request_bytes: 4,
        cut: true,
    };

    fn source(content: &'static [u8], size: u64) -> ObjectSource {
        ObjectSource::new(object(Some(content)), size, RULES, 2)
    }

    #[test]
    fn ranges_come_back_in_the_order_asked_for() {
        let bytes = run(source(b"0123456789", 10).read(vec![8..10, 0..10, 3..3, 1..2])).unwrap();
        assert_eq!(bytes, [&b"89"[..], b"0123456789", b"", b"1"]);
    }

    #[test]
    fn object_shorter_than_its_manifest_entry_is_corrupt_by_name() {
        // Once the store cuts the answer short, once it refuses the range.
        for range in [2..4, 6..9] {
            let error = run(source(b"01234", 9).read(vec![range])).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt);
            assert_eq!(
                error.message(),
                "memory:///x is shorter than the manifest says: expected 9 bytes, found 5"
            );
        }
    }

    #[test]
    fn range_past_the_given_size_is_never_asked_for() {
        for range in [8..11, 20..21, Range { start: 3, end: 2 }] {
            let error = run(source(b"0123456789", 10).read(vec![0..1, range])).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt);
        }
    }

    #[test]
    fn missing_object_is_not_found() {
        let source = ObjectSource::new(object(None), 10, RULES, 2);
        assert_eq!(
            run(source.read(vec![0..1])).unwrap_err().kind(),
            ErrorKind::NotFound
        );
    }
}
