//! Streams of batches.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use futures_util::stream::{BoxStream, Stream, StreamExt, unfold};
use paimon_meta::Result;

/// A lazy stream of batches with its schema.
///
/// Contract: nothing runs before the first poll; one poll decodes at most one batch per set of columns and then gives
/// the executor a turn; dropping the stream stops all it started. Every batch has exactly the schema, at least one row
/// and at most the requested number. After an error the stream has ended: rows that came before it are never all.
pub struct BatchStream {
    schema: SchemaRef,
    inner: Option<BoxStream<'static, Result<RecordBatch>>>,
    ahead: Option<Arc<dyn Ahead>>,
}

/// What a stream can do before it is polled.
pub(crate) trait Ahead: Send + Sync {
    /// Asks for the first files, at most so many, without waiting; returns how many were asked for in all. Once the stream
    /// was polled it does nothing.
    fn poll_ahead(&self, most: usize, context: &mut Context<'_>) -> usize;
}

impl BatchStream {
    /// A stream whose batches all have `schema`.
    pub fn new(
        schema: SchemaRef,
        batches: impl Stream<Item = Result<RecordBatch>> + Send + 'static,
    ) -> Self {
        Self {
            schema,
            inner: Some(batches.boxed()),
            ahead: None,
        }
    }

    /// The same with what it can do before it is polled.
    pub(crate) fn with_ahead(self, ahead: Arc<dyn Ahead>) -> Self {
        Self {
            ahead: Some(ahead),
            ..self
        }
    }

    /// What the stream can do before it is polled.
    pub(crate) fn ahead(&self) -> Option<&dyn Ahead> {
        self.ahead.as_deref()
    }

    /// Each batch made into one of another schema.
    pub(crate) fn map(
        self,
        schema: SchemaRef,
        each: impl Fn(RecordBatch) -> Result<RecordBatch> + Send + 'static,
    ) -> Self {
        let ahead = self.ahead.clone();
        let batches = StreamExt::map(self, move |batch| batch.and_then(&each));
        Self {
            ahead,
            ..Self::new(schema, batches)
        }
    }

    /// At most this many rows, then the end; what follows is not decoded.
    #[must_use]
    pub fn limited(self, limit: Option<u64>) -> Self {
        let Some(limit) = limit else { return self };
        let (schema, ahead) = (self.schema(), self.ahead.clone());
        let rows = unfold((self, limit), |(mut stream, left)| async move {
            if left == 0 {
                return None;
            }
            let item = match stream.next().await? {
                Ok(batch) => {
                    let kept = usize::try_from(left)
                        .unwrap_or(usize::MAX)
                        .min(batch.num_rows());
                    Ok(batch.slice(0, kept))
                }
                Err(error) => Err(error),
            };
            let rows = item.as_ref().map_or(0, |batch| batch.num_rows() as u64);
            Some((item, (stream, left - rows)))
        });
        Self {
            ahead,
            ..Self::new(schema, rows)
        }
    }

    /// The schema, known also if no row comes.
    pub fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}

impl fmt::Debug for BatchStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchStream")
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}

impl Stream for BatchStream {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(inner) = &mut self.inner else {
            return Poll::Ready(None);
        };
        let item = inner.poll_next_unpin(context);
        if matches!(item, Poll::Ready(None | Some(Err(_)))) {
            self.inner = None;
            self.ahead = None;
        }
        item
    }
}
