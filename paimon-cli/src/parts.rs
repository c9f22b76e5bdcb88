//! The tasks of a scan: splits, and parts of large ones where that gives every thread something to do.

use std::num::NonZeroUsize;

use paimon_meta::Result;
use paimon_read::{ReadTask, TableReader, block_on};

use crate::reading::Reading;

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
    let whole = |split| ScanTask { split, part: None };
    (0..reading.plan.len()).map(whole).collect()
}

/// The splits, those divided that are much larger than what a thread has to do on average. Not under a limit, which the
/// first rows may satisfy, and not where rows are seen through a view, in which those of an update belong together.
///
/// # Errors
/// Of files that are looked into, with the split.
pub(crate) fn tasks(reading: &Reading, reader: &TableReader) -> Result<Vec<ScanTask>> {
    if reading.jobs.get() == 1 || reading.limit.is_some() || reading.has_view() {
        return Ok(splits(reading));
    }
    let bytes = reading.plan.iter().map(|split| split.file_size());
    let total = bytes.fold(0, u64::saturating_add);
    let mut tasks = Vec::new();
    for planned in reading.plan.iter() {
        let split = planned.index();
        let parts = parts_for(planned.file_size(), total, reading.jobs);
        if parts == NonZeroUsize::MIN {
            tasks.push(ScanTask { split, part: None });
            continue;
        }
        let found = reading.task(split);
        let found = found.and_then(|task| block_on(reader.subdivide(task, parts)));
        let found = found.map_err(|error| reading.error_in(split, error))?;
        tasks.extend(found.into_iter().map(|part| ScanTask {
            split,
            part: Some(part),
        }));
    }
    Ok(tasks)
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
