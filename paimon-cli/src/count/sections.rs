//! Counting one split, section by section.

use paimon_meta::{DataSplit, Result, Split};
use paimon_plan::PlannedSplit;
use paimon_read::{ReadTask, RowKinds, read_blocking};

use super::Counted;
use super::groups::{By, Groups};
use crate::reading::Reading;
use crate::row_reader::RowReader;

/// Counts the rows of a split, by groups if some are asked for.
///
/// # Errors
/// Those of reading.
pub(super) fn count_split(
    reading: &Reading,
    reader: &RowReader,
    split: usize,
    by: Option<&By>,
) -> Result<(Counted, Groups)> {
    let (mut counted, mut groups) = (Counted::default(), Groups::default());
    let Some(planned) = reading.plan.get(split) else {
        return Ok((counted, groups));
    };
    let task = reading.task(split)?;
    if let Some(by) = by.filter(|by| by.reads()) {
        counted.from_reading = read_groups(reader, task, by, &mut groups)?;
        return Ok((counted, groups));
    }
    if !reading.is_counted_by_metadata() {
        counted.from_reading = read_count(reader, task)?;
    } else {
        let known = planned.section_row_counts();
        counted.from_metadata = known.iter().flatten().copied().fold(0, u64::saturating_add);
        if known.iter().any(Option::is_none) {
            let unknown = only_sections(task, planned, &known);
            counted.from_reading = read_count(reader, unknown)?;
        }
    }
    if let Some(by) = by {
        groups.add(by.of_partition(planned.partition())?, counted);
    }
    Ok((counted, groups))
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

fn read_count(reader: &RowReader, task: ReadTask) -> Result<u64> {
    let mut batches = read_blocking(reader.read(task)?);
    let mut rows = 0_u64;
    while let Some(batch) = batches.next_batch() {
        rows = rows.saturating_add(batch?.num_rows() as u64);
    }
    Ok(rows)
}

fn read_groups(reader: &RowReader, task: ReadTask, by: &By, groups: &mut Groups) -> Result<u64> {
    let kinds = reader.table().context().request.row_kinds == RowKinds::Keep;
    let mut batches = read_blocking(reader.read(task)?);
    let mut rows = 0_u64;
    while let Some(batch) = batches.next_batch() {
        let batch = batch?;
        rows = rows.saturating_add(batch.num_rows() as u64);
        groups.add_rows(by, &batch, usize::from(kinds))?;
    }
    Ok(rows)
}
