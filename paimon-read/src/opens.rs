//! The files of a split, opened before they are needed.
//!
//! ```text
//! files in the order in which they are needed      ▏taken▕ open │ opening  opening  opening │ waiting …
//!                                                         └──── at most so many at once ────┘
//! ```
//!
//! All pick sources of a split take their files here, so that the latencies of a store overlap over files, runs and
//! sections. A small file comes whole with its footer.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use paimon_io::Metrics;
use paimon_meta::{DataFileMeta, Result};

use crate::columns::ColumnPlan;
use crate::fetches::{Fetches, Ticket};
use crate::open::{FileOpener, OpenFile};

/// An opened file; `None` if its indexes exclude all of its rows.
type Opened = Option<Arc<OpenFile>>;

/// A file that will be taken.
#[derive(Debug)]
pub(crate) struct ComingFile {
    pub(crate) meta: Arc<DataFileMeta>,
    pub(crate) columns: Arc<ColumnPlan>,
    /// Whether it stays closed if its indexes exclude all of its rows.
    pub(crate) may_stay_closed: bool,
    /// Rows that may come out before its own. It is not opened ahead where a limit wants no more than these.
    pub(crate) rows_before: u64,
}

/// Place of a file among those of its split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileNumber(u64);

/// Opens the files of a split. Clones share the files; one of them waits at a time.
#[derive(Clone, Debug)]
pub(crate) struct Opens {
    opener: FileOpener,
    queue: Arc<Mutex<Queue>>,
}

struct Queue {
    coming: VecDeque<(FileNumber, ComingFile)>,
    opening: Fetches<Opened>,
    /// Files that were asked for and are not taken.
    tickets: HashMap<FileNumber, Ticket>,
    next: u64,
    rows: u64,
    most_rows: u64,
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("coming", &self.coming.len())
            .field("tickets", &self.tickets.len())
            .finish_non_exhaustive()
    }
}

impl Opens {
    /// No files yet.
    pub(crate) fn new(opener: FileOpener) -> Self {
        let request = &opener.context().request;
        // A condition may drop rows, so that a limit does not tell which files are needed.
        let asks = request.predicate.is_some() || opener.context().filter.is_some();
        let most_rows = request.limit.filter(|_| !asks).unwrap_or(u64::MAX);
        Self {
            opener,
            queue: Arc::new(Mutex::new(Queue {
                coming: VecDeque::new(),
                opening: Fetches::new(),
                tickets: HashMap::new(),
                next: 0,
                rows: 0,
                most_rows,
            })),
        }
    }

    /// What opens them.
    pub(crate) fn opener(&self) -> &FileOpener {
        &self.opener
    }

    /// The counters of the read.
    pub(crate) fn metrics(&self) -> &Metrics {
        self.opener.context().resources.metrics()
    }

    /// Rows of all files so far.
    pub(crate) fn rows(&self) -> u64 {
        self.lock().rows
    }

    /// Adds a file that is needed after all others so far.
    pub(crate) fn add(&self, file: ComingFile) -> FileNumber {
        let mut queue = self.lock();
        let number = FileNumber(queue.next);
        queue.next += 1;
        queue.rows = queue.rows.saturating_add(file.meta.row_count);
        queue.coming.push_back((number, file));
        number
    }

    /// The file, once it is open; those that follow are asked for meanwhile.
    ///
    /// # Errors
    /// As [`FileOpener::open_for`].
    pub(crate) async fn take(&self, number: FileNumber) -> Result<Opened> {
        poll_fn(|context| self.poll_take(number, context)).await
    }

    fn poll_take(&self, number: FileNumber, context: &mut Context<'_>) -> Poll<Result<Opened>> {
        let mut queue = self.lock();
        queue.want(number, &self.opener);
        queue.fill(self.most(), &self.opener);
        let Queue {
            opening, tickets, ..
        } = &mut *queue;
        let file = match tickets.get(&number) {
            Some(ticket) => ready!(opening.poll_wait(ticket, context)),
            None => Ok(None),
        };
        queue.tickets.remove(&number);
        queue.fill(self.most(), &self.opener);
        queue.opening.poll_all(context);
        Poll::Ready(file)
    }

    /// The file, if it is open already.
    pub(crate) fn take_open(&self, number: FileNumber) -> Option<Result<Opened>> {
        let mut queue = self.lock();
        let Queue {
            opening, tickets, ..
        } = &mut *queue;
        let file = opening.take_done(tickets.get(&number)?)?;
        queue.tickets.remove(&number);
        Some(file)
    }

    /// Asks for the first files without waiting; returns how many are open or being opened. Only before somebody takes.
    pub(crate) fn poll_ahead(&self, most: usize, context: &mut Context<'_>) -> usize {
        let mut queue = self.lock();
        queue.fill(most.min(self.most()), &self.opener);
        queue.opening.poll_all(context);
        queue.tickets.len()
    }

    fn most(&self) -> usize {
        self.opener.context().resources.io_concurrency()
    }

    /// The queue is whole at every unlock.
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    /// Asks for a file, if that was not done before.
    fn want(&mut self, number: FileNumber, opener: &FileOpener) {
        let place = self.coming.iter().position(|(coming, _)| *coming == number);
        if let Some((number, file)) = place.and_then(|place| self.coming.remove(place)) {
            self.start(number, &file, opener);
        }
    }

    /// Asks for files in order until so many are open or being opened.
    fn fill(&mut self, most: usize, opener: &FileOpener) {
        while self.tickets.len() < most
            && let Some((_, next)) = self.coming.front()
            && next.rows_before < self.most_rows
            && let Some((number, file)) = self.coming.pop_front()
        {
            self.start(number, &file, opener);
        }
    }

    fn start(&mut self, number: FileNumber, file: &ComingFile, opener: &FileOpener) {
        let open = if file.may_stay_closed {
            opener.open_matching(&file.meta, &file.columns)
        } else {
            opener.open_for(&file.meta, &file.columns)
        };
        self.tickets.insert(number, self.opening.start(open));
    }
}
