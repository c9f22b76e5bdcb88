//! Tasks that are read in order, by one reader or by several side by side.
//!
//! ```text
//! tasks   0 ▒▒▒▒▒▒▒▒  1 ▒▒▒▒▒  │ 2 opening  3 opening  4 opening │ 5 …
//!         read, each by one    └── files of coming tasks ────────┘
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Context;

use arrow_array::RecordBatch;
use futures_util::StreamExt;
use paimon_meta::{Error, Result};

use crate::stream::BatchStream;

/// Streams of tasks, with the first files of coming tasks opened while earlier ones are read: many small tasks behind a
/// store that takes its time then wait together instead of one after the other.
///
/// Each stream is taken once, in about their order, and read with [`Self::next_batch`]; several may be read side by side,
/// by tasks or threads that share the queue. Nothing runs before the first poll. Coming tasks hold opened files, not rows:
/// all together as many as one operation keeps requests in flight (`io_concurrency` of the resources).
///
/// ```
/// # use paimon_read::{ReadTask, TableReader};
/// # async fn read(reader: &TableReader, tasks: Vec<ReadTask>) -> paimon_meta::Result<()> {
/// let queue = reader.queue(tasks);
/// // As many of these side by side as wanted.
/// while let Some((task, stream)) = queue.take_next() {
///     let mut stream = stream?;
///     while let Some(batch) = queue.next_batch(&mut stream).await {
///         println!("{} rows of task {task}", batch?.num_rows());
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub struct ReadQueue<'a> {
    tasks: usize,
    ahead: usize,
    make: Box<dyn Fn(usize) -> Result<BatchStream> + Send + Sync + 'a>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Tasks below this one were made.
    made: usize,
    /// Streams that nobody took.
    coming: BTreeMap<usize, Result<BatchStream>>,
}

impl fmt::Debug for ReadQueue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadQueue")
            .field("tasks", &self.tasks)
            .field("ahead", &self.ahead)
            .finish_non_exhaustive()
    }
}

impl<'a> ReadQueue<'a> {
    /// So many tasks, whose streams are made when they come near; at most `ahead` files of coming tasks are opened.
    pub fn new(
        tasks: usize,
        ahead: usize,
        make: impl Fn(usize) -> Result<BatchStream> + Send + Sync + 'a,
    ) -> Self {
        Self {
            tasks,
            ahead,
            make: Box::new(make),
            state: Mutex::default(),
        }
    }

    /// The next task that nobody took, by its number; `None` if there is none.
    pub fn take_next(&self) -> Option<(usize, Result<BatchStream>)> {
        let mut state = self.lock();
        if state.coming.is_empty() {
            self.make_next(&mut state);
        }
        state.coming.pop_first()
    }

    /// The stream of that task.
    ///
    /// # Errors
    /// Those of making it; `InvalidInput` if there is no such task or its stream was taken.
    pub fn take(&self, task: usize) -> Result<BatchStream> {
        let mut state = self.lock();
        while state.made <= task && self.make_next(&mut state) {}
        let stream = state.coming.remove(&task);
        stream.unwrap_or_else(|| {
            let message = format!("task {task} of {} is not there any more", self.tasks);
            Err(Error::invalid_input(message))
        })
    }

    /// The next batch of a stream of this queue, while files of coming tasks are opened.
    pub async fn next_batch(&self, stream: &mut BatchStream) -> Option<Result<RecordBatch>> {
        poll_fn(|context| {
            // First what is wanted first.
            let batch = stream.poll_next_unpin(context);
            self.poll_ahead(context);
            batch
        })
        .await
    }

    fn make_next(&self, state: &mut State) -> bool {
        if state.made == self.tasks {
            return false;
        }
        let stream = (self.make)(state.made);
        state.coming.insert(state.made, stream);
        state.made += 1;
        true
    }

    /// A stream that is taken is not touched: only who reads it may wait for its files.
    fn poll_ahead(&self, context: &mut Context<'_>) {
        let mut state = self.lock();
        let (mut left, mut seen) = (self.ahead, 0);
        while left > 0 {
            let Some(stream) = state.coming.values().nth(seen) else {
                if self.make_next(&mut state) {
                    continue;
                }
                return;
            };
            let ahead = stream.as_ref().ok().and_then(BatchStream::ahead);
            let asked = ahead.map_or(0, |ahead| ahead.poll_ahead(left, context));
            // One that asks for nothing counts too, so that not all are made.
            left = left.saturating_sub(asked.max(1));
            seen += 1;
        }
    }

    /// The state is whole at every unlock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
