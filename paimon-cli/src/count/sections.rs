//! Counting one split, section by section.

use paimon_meta::{DataSplit, Result, Split};
use paimon_plan::PlannedSplit;
use paimon_read::ReadTask;

use super::groups::By;
use crate::parts::ScanTask;
use crate::reading::Reading;

/// What metadata tells of the rows of a split, and what must be read for the others.
///
/// # Errors
/// Those of the plan.
pub(super) fn count_split(
    reading: &Reading,
    split: usize,
    by: Option<&By>,
) -> Result<(u64, Option<ScanTask>)> {
    let Some(planned) = reading.plan.get(split) else {
        return Ok((0, None));
    };
    if by.is_some_and(By::reads) || !reading.is_counted_by_metadata() {
        return Ok((0, Some(ScanTask::whole(split))));
    }
    let known = planned.section_row_counts();
    let rows = known.iter().flatten().copied().fold(0, u64::saturating_add);
    if known.iter().all(Option::is_some) {
        return Ok((rows, None));
    }
    let unknown = only_sections(reading.task(split)?, planned, &known);
    Ok((rows, Some(ScanTask::of(split, unknown))))
}

/// The group of all rows of a split.
///
/// # Errors
/// `Corrupt` for a partition that does not decode.
pub(super) fn group_of(reading: &Reading, split: usize, by: &By) -> Result<String> {
    let planned = reading.plan.get(split);
    by.of_partition(planned.and_then(|planned| planned.partition()))
}

/// The part of a task whose rows metadata does not tell. Keys of one section are in no other, so it stands alone.
fn only_sections(task: ReadTask, planned: PlannedSplit<'_>, known: &[Option<u64>]) -> ReadTask {
    let Split::Data(split) = &task.split else {
        return task;
    };
    let sections = planned.sections();
    if sections.is_empty() {
        return task;
    }
    let first = planned.files().start;
    let unknown = sections
        .into_iter()
        .zip(known)
        .filter(|(_, known)| known.is_none());
    let files = unknown.flat_map(|(runs, _)| runs.into_iter().flatten());
    let files: Vec<usize> = files.filter_map(|file| file.checked_sub(first)).collect();
    let vectors = split.deletion_files.as_ref();
    ReadTask::new(Split::Data(DataSplit {
        files: chosen(&split.files, &files),
        deletion_files: vectors.map(|vectors| chosen(vectors, &files)),
        raw_convertible: false,
        ..split.clone()
    }))
}

fn chosen<T: Clone>(all: &[T], places: &[usize]) -> Vec<T> {
    let chosen = places.iter().filter_map(|place| all.get(*place).cloned());
    chosen.collect()
}
