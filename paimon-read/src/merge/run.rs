//! One sorted run of a section as windows of comparable keys.
//!
//! A run decodes its files only when the merge reaches their smallest key: until then the key from the file's meta stands
//! as a sentinel for it. At most one window of keys per run is held here; the next row group's keys are requested while
//! this one is decoded.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::FutureExt;
use paimon_meta::{DataFileMeta, Error, Frame, Result, ResultExt};

use super::chunk::{KeyChunk, KeyPlan, RunFile};
use super::key_file::{KeyRequests, Next, Reading};
use super::keys::KeyWindow;
use crate::fetches::Ticket;
use crate::open::OpenFile;
use crate::opens::FileNumber;
use crate::window::Window;

/// What stands at the head of a run.
#[derive(Debug)]
pub(crate) enum RunHead {
    /// The smallest key of a file that is not opened yet.
    Sentinel(KeyWindow),
    /// Loaded keys, from the given position on.
    Loaded(KeyChunk, usize),
    /// Nothing more comes.
    Finished,
}

/// A run of a section.
pub(crate) struct Run {
    files: VecDeque<RunFile>,
    pub(crate) head: RunHead,
    /// The file behind the sentinel, open, with its first keys requested.
    preparing: Option<Ticket>,
    reading: Option<Reading>,
    /// The last key that was loaded, to see that keys ascend.
    last_key: Option<(KeyWindow, usize)>,
    /// Keys above the range that is read were met: nothing more comes.
    past_end: bool,
}

impl Run {
    /// A run of files in key order.
    ///
    /// # Errors
    /// `Corrupt` if the first file's smallest key does not decode.
    pub(crate) fn new(plan: &KeyPlan, files: VecDeque<RunFile>) -> Result<Self> {
        let mut run = Self {
            files,
            head: RunHead::Finished,
            preparing: None,
            reading: None,
            last_key: None,
            past_end: false,
        };
        run.seek_next_file(plan)?;
        Ok(run)
    }

    /// The file behind the sentinel, if [`Self::prepare`] waits for it.
    pub(crate) fn unopened(&self) -> Option<FileNumber> {
        self.sentinel()?;
        let file = self.files.front().filter(|_| self.preparing.is_none());
        file.map(|file| file.number)
    }

    /// Requests the first keys of the file behind the sentinel.
    ///
    /// # Errors
    /// `Internal` if the file is not there.
    pub(crate) fn prepare(
        &mut self,
        plan: &Arc<KeyPlan>,
        open: Option<Arc<OpenFile>>,
        requests: &mut KeyRequests,
    ) -> Result<()> {
        let (Some(file), Some(open)) = (self.files.pop_front(), open) else {
            return Err(Error::internal("a file of a run is not there"));
        };
        let plan = Arc::clone(plan);
        let reading = async move { Reading::new(&plan, file, open).await };
        self.preparing = Some(requests.files.start(reading.boxed()));
        Ok(())
    }

    /// The smallest key of the next file, while nothing of it is read.
    pub(crate) fn sentinel(&self) -> Option<&KeyWindow> {
        match &self.head {
            RunHead::Sentinel(keys) if self.reading.is_none() => Some(keys),
            _ => None,
        }
    }

    /// The last key of the loaded window and its place, unless the merge is past it.
    pub(crate) fn loaded_end(&self) -> Option<(&KeyWindow, usize)> {
        match &self.head {
            RunHead::Loaded(chunk, position) if *position < chunk.end => {
                Some((&chunk.keys, chunk.end - 1))
            }
            _ => None,
        }
    }

    /// Whether [`Self::load`] must be called again before the run can be merged.
    pub(crate) fn is_dry(&self) -> bool {
        match &self.head {
            RunHead::Finished => false,
            RunHead::Sentinel(_) => self.reading.is_some(),
            RunHead::Loaded(chunk, position) => *position == chunk.end,
        }
    }

    /// Takes note of how far the merge came in the loaded window.
    pub(crate) fn advance_to(&mut self, position: usize, window: &mut Window) {
        let RunHead::Loaded(chunk, at) = &mut self.head else {
            return;
        };
        *at = position;
        // The window holds fewer than 2^32 rows: it is part of a piece.
        if let Some(last) = position
            .checked_sub(1)
            .and_then(|last| u32::try_from(last).ok())
        {
            chunk
                .positions
                .rows(last, 1, |row, _| window.pass(chunk.piece, row + 1));
        }
    }

    /// Whether the first keys of the file behind the sentinel are requested.
    pub(crate) fn is_preparing(&self) -> bool {
        self.preparing.is_some()
    }

    /// Replaces the head by what comes next: the next window of keys, decoded here, or the next file's sentinel. Leaves
    /// a used-up window in place if the batch that was decoded had no row left.
    pub(crate) async fn load(
        &mut self,
        plan: &KeyPlan,
        window: &mut Window,
        requests: &mut KeyRequests,
    ) -> Result<()> {
        if self.past_end {
            if let Some(reading) = self.reading.take() {
                reading.leave(window);
            }
            self.head = RunHead::Finished;
            return Ok(());
        }
        if self.reading.is_none() {
            if !matches!(self.head, RunHead::Sentinel(_)) {
                return self.seek_next_file(plan);
            }
            if let Some(ticket) = self.preparing.take() {
                self.reading = Some(requests.files.wait(&ticket).await?);
            }
        }
        let Some(reading) = self.reading.as_mut() else {
            return Ok(());
        };
        let name = reading.file.meta.file_name.clone();
        match reading
            .next_batch(plan, window, requests)
            .await
            .at(|| Frame::File(name))?
        {
            Next::Keys(chunk) => self.take(*chunk, plan, window),
            Next::Nothing => Ok(()),
            Next::End => {
                if let Some(reading) = self.reading.take() {
                    self.check_end(plan, &reading.file.meta)?;
                }
                self.seek_next_file(plan)
            }
        }
    }

    fn take(&mut self, mut chunk: KeyChunk, plan: &KeyPlan, window: &mut Window) -> Result<()> {
        let disorder = |what: &str| {
            Err(
                Error::corrupt(format!("keys are not in ascending order {what}"))
                    .at(Frame::File(chunk.file.meta.file_name.clone())),
            )
        };
        if let Some((last, position)) = &self.last_key
            && last.compare(*position, &chunk.keys, 0) != Ordering::Less
        {
            return disorder("from one batch to the next");
        }
        if let RunHead::Sentinel(least) = &self.head
            && least.compare(0, &chunk.keys, 0) == Ordering::Greater
        {
            return disorder("or below the smallest key in the file's meta");
        }
        if let Some(row) = chunk.keys.disorder() {
            return disorder(&format!("at row {row} of a batch"));
        }
        self.last_key = Some((chunk.keys.clone(), chunk.keys.len() - 1));
        let wanted = plan.span.within(&chunk.keys);
        if wanted.end < chunk.keys.len() {
            self.check_end(plan, &chunk.file.meta)?;
            self.past_end = true;
            // The window holds fewer than 2^32 rows: it is part of a piece.
            let end = u32::try_from(wanted.end).unwrap_or(u32::MAX);
            chunk
                .positions
                .rows(end, 1, |row, _| window.close(chunk.piece, row));
        }
        chunk.end = wanted.end;
        self.head = RunHead::Loaded(chunk, 0);
        if wanted.start > 0 {
            self.advance_to(wanted.start, window);
        }
        Ok(())
    }

    /// A key above the largest one in the meta may belong to another section.
    fn check_end(&self, plan: &KeyPlan, meta: &DataFileMeta) -> Result<()> {
        let max = plan.max_key(meta)?;
        match &self.last_key {
            Some((last, position)) if last.compare(*position, &max, 0) == Ordering::Greater => {
                let message = "keys go on above the largest key in the file's meta";
                Err(Error::corrupt(message).at(Frame::File(meta.file_name.clone())))
            }
            _ => Ok(()),
        }
    }

    fn seek_next_file(&mut self, plan: &KeyPlan) -> Result<()> {
        self.head = match self.files.front() {
            None => RunHead::Finished,
            Some(next) => RunHead::Sentinel(plan.min_key(&next.meta)?),
        };
        Ok(())
    }
}
