//! The tasks of a scan: splits, and parts of large ones where that gives every thread something to do.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use arrow_array::RecordBatch;
use paimon_meta::{Error, Result, Split};
use paimon_read::{BatchStream, ReadQueue, ReadTask, TableReader, block_on};

use crate::reading::Reading;
use crate::row_reader::RowReader;

/// Parts have at least so many bytes of files, the least that the format weighs a file with.
const LEAST_BYTES: u64 = 4 << 20;

/// What one thread reads at a time.
#[derive(Debug)]
pub(crate) struct ScanTask {
    pub(crate) split: usize,
    /// Part of the split; `None` is all of it, made when it is read.
    part: Option<ReadTask>,
}

impl ScanTask {
    /// That part of a split.
    pub(crate) fn of(split: usize, part: ReadTask) -> Self {
        Self {
            split,
            part: Some(part),
        }
    }

    /// All of a split.
    pub(crate) fn whole(split: usize) -> Self {
        Self { split, part: None }
    }

    /// Bytes of its files.
    fn bytes(&self, reading: &Reading) -> u64 {
        match self.part.as_ref().map(|part| &part.split) {
            Some(Split::Data(split) | Split::Fallback(split)) => {
                let bytes = split.files.iter().map(|file| file.file_size);
                bytes.fold(0, u64::saturating_add)
            }
            _ => {
                let split = reading.plan.get(self.split);
                split.map_or(0, |split| split.file_size())
            }
        }
    }

    /// The task itself.
    ///
    /// # Errors
    /// Those of the plan.
    pub(crate) fn task(&self, reading: &Reading) -> Result<ReadTask> {
        match &self.part {
            Some(part) => Ok(part.clone()),
            None => reading.task(self.split),
        }
    }
}

/// Every split as a whole.
pub(crate) fn splits(reading: &Reading) -> Vec<ScanTask> {
    (0..reading.plan.len()).map(ScanTask::whole).collect()
}

/// The splits, those divided that are much larger than what a thread has to do on average.
///
/// # Errors
/// As [`divided`].
pub(crate) fn tasks(reading: &Reading, reader: &TableReader) -> Result<Vec<ScanTask>> {
    divided(reading, reader, splits(reading))
}

/// The tasks, those divided that are much larger than what a thread has to do on average. Not under a limit, which the
/// first rows may satisfy, and not where rows are seen through a view, in which those of an update belong together.
///
/// # Errors
/// Of files that are looked into, with the split.
pub(crate) fn divided(
    reading: &Reading,
    reader: &TableReader,
    tasks: Vec<ScanTask>,
) -> Result<Vec<ScanTask>> {
    if reading.jobs.get() == 1 || reading.limit.is_some() || reading.has_view() {
        return Ok(tasks);
    }
    let bytes = tasks.iter().map(|task| task.bytes(reading));
    let total = bytes.fold(0, u64::saturating_add);
    let mut found = Vec::with_capacity(tasks.len());
    for task in tasks {
        let split = task.split;
        let number = parts_for(task.bytes(reading), total, reading.jobs);
        if number == NonZeroUsize::MIN {
            found.push(task);
            continue;
        }
        let parts = task.task(reading);
        let parts = parts.and_then(|task| block_on(reader.subdivide(task, number)));
        let parts = parts.map_err(|error| reading.error_in(split, error))?;
        found.extend(parts.into_iter().map(|part| ScanTask::of(split, part)));
    }
    Ok(found)
}

/// Tasks that threads read, with the first files of coming ones opened meanwhile.
#[derive(Debug)]
pub(crate) struct TaskQueue<'a> {
    reading: &'a Reading,
    tasks: &'a [ScanTask],
    streams: ReadQueue<'a>,
}

impl<'a> TaskQueue<'a> {
    /// Tasks that one reader reads.
    pub(crate) fn of(reading: &'a Reading, reader: &'a RowReader, tasks: &'a [ScanTask]) -> Self {
        let ahead = reader.table().tasks_ahead();
        Self::new(reading, tasks, ahead, |_, task| reader.read(task))
    }

    /// Tasks with what reads each by its number.
    pub(crate) fn new(
        reading: &'a Reading,
        tasks: &'a [ScanTask],
        ahead: usize,
        read: impl Fn(usize, ReadTask) -> Result<BatchStream> + Send + Sync + 'a,
    ) -> Self {
        let make = move |number: usize| {
            let task = tasks.get(number).map(|task| task.task(reading));
            let task = task.ok_or_else(|| Error::internal(format!("no task {number}")))?;
            read(number, task?)
        };
        Self {
            reading,
            tasks,
            streams: ReadQueue::new(tasks.len(), ahead, make),
        }
    }

    /// The split of a task.
    pub(crate) fn split(&self, task: usize) -> usize {
        self.tasks.get(task).map_or(0, |task| task.split)
    }

    /// Reads a task on this thread, until `each` breaks off.
    ///
    /// # Errors
    /// Of reading and of `each`, with the split.
    pub(crate) fn read(
        &self,
        task: usize,
        mut each: impl FnMut(RecordBatch) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let mut read = || {
            let mut stream = self.streams.take(task)?;
            while let Some(batch) = block_on(self.streams.next_batch(&mut stream)) {
                if each(batch?)?.is_break() {
                    break;
                }
            }
            Ok(())
        };
        let outcome = read();
        outcome.map_err(|error| self.reading.error_in(self.split(task), error))
    }
}

/// How many parts a split of so many bytes has: as if all of the plan were cut into two pieces for each thread.
fn parts_for(bytes: u64, total: u64, jobs: NonZeroUsize) -> NonZeroUsize {
    let jobs = u64::try_from(jobs.get()).unwrap_or(u64::MAX);
    let piece = (total / jobs.saturating_mul(2)).max(LEAST_BYTES);
    // A piece and a half stays whole.
    let parts = bytes.saturating_add(piece / 2) / piece;
    let parts = usize::try_from(parts).unwrap_or(usize::MAX);
    NonZeroUsize::new(parts).unwrap_or(NonZeroUsize::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_as_large_as_half_of_what_a_thread_has_to_do() {
        let parts = |bytes: u64, total: u64, jobs: usize| {
            parts_for(bytes << 20, total << 20, NonZeroUsize::new(jobs).unwrap()).get()
        };
        // One bucket.
        assert_eq!(parts(1000, 1000, 8), 16);
        assert_eq!(parts(1000, 1000, 2), 4);
        // Many splits alike need no parts; a large one among small ones does.
        assert_eq!(parts(128, 128 * 100, 8), 1);
        assert_eq!(parts(1000, 1100, 4), 7);
        // What is small stays whole.
        assert_eq!(parts(0, 0, 8), 1);
        assert_eq!(parts(5, 5, 8), 1);
        assert_eq!(parts(16, 16, 8), 4);
    }
}
