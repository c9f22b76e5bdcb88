//! Reading without async: an iterator that polls on the calling thread.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use futures_util::stream::StreamExt;
use paimon_meta::Result;

use crate::stream::BatchStream;

/// Wakes the thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future to its end on this thread. Stores that need a runtime must be given one by the caller.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Batches of a stream, polled on the calling thread: an iterator of results, and arrow's `RecordBatchReader`, which
/// its C stream interface takes (feature `ffi`).
#[derive(Debug)]
pub struct BlockingReader(BatchStream);

/// Reads a stream on the calling thread.
pub fn read_blocking(stream: BatchStream) -> BlockingReader {
    BlockingReader(stream)
}

impl BlockingReader {
    /// The next batch with this library's own error.
    pub fn next_batch(&mut self) -> Option<Result<RecordBatch>> {
        block_on(self.0.next())
    }

    /// The batches as an Arrow C stream, for callers in other languages.
    #[cfg(feature = "ffi")]
    pub fn into_c_stream(self) -> arrow_array::ffi_stream::FFI_ArrowArrayStream {
        arrow_array::ffi_stream::FFI_ArrowArrayStream::new(Box::new(self))
    }
}

impl Iterator for BlockingReader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch()
            .map(|batch| batch.map_err(|error| ArrowError::ExternalError(Box::new(error))))
    }
}

impl RecordBatchReader for BlockingReader {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }
}
