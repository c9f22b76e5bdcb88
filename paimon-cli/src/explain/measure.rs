//! `--analyze`: the read that was explained, done, and what it took.

use std::ops::ControlFlow;

use paimon_io::{Counter, MetricsSnapshot, Resources};
use paimon_meta::StringLayout;
use paimon_read::TableReader;
use serde::Serialize;

use super::estimate::pages;
use super::model::{Explanation, SplitFacts};
use crate::failure::Failure;
use crate::human::{count, duration, number, size};
use crate::ordered::in_order;
use crate::paper::Paper;
use crate::part_report::PartMeasured;
use crate::parts::{self, ScanTask, TaskQueue};
use crate::reading::Reading;
use crate::row_reader::RowReader;

/// What a read took. Times of stages are sums over the tasks, which run side by side.
#[derive(Debug, Serialize)]
pub(super) struct Measured {
    /// Rows that came out.
    pub(super) rows: u64,
    /// Rows of the files that the plan reads, of which these are: the estimate before.
    pub(super) planned_rows: u64,
    /// Files that the plan reads.
    pub(super) planned_files: u64,
    pub(super) counters: Counters,
    /// From the command line to the plan, in nanoseconds.
    pub(super) planning_nanos: u64,
    /// From the plan to the last row, in nanoseconds.
    pub(super) reading_nanos: u64,
    /// Tasks at once.
    pub(super) tasks: u64,
    /// Most memory that the process had, in bytes; `None` where the system does not tell.
    pub(super) peak_memory: Option<u64>,
}

/// What the library counted while reading; requests and bytes of planning too.
#[derive(Debug, Serialize)]
pub(super) struct Counters {
    pub(super) requests: u64,
    pub(super) requested_bytes: u64,
    pub(super) files_opened: u64,
    pub(super) files_skipped: u64,
    pub(super) row_groups: u64,
    pub(super) row_groups_skipped: u64,
    pub(super) pages: u64,
    pub(super) pages_skipped: u64,
    pub(super) rows_skipped: u64,
    pub(super) rows_decoded: u64,
    pub(super) rows_superseded: u64,
    pub(super) rows_filtered: u64,
    pub(super) pick_nanos: u64,
    pub(super) wait_nanos: u64,
    pub(super) filter_nanos: u64,
    pub(super) value_nanos: u64,
    pub(super) output_nanos: u64,
}

impl Counters {
    fn of(metrics: &MetricsSnapshot) -> Self {
        Self {
            requests: metrics.get(Counter::Requests),
            requested_bytes: metrics.get(Counter::RequestedBytes),
            files_opened: metrics.get(Counter::FilesOpened),
            files_skipped: metrics.get(Counter::FilesSkipped),
            row_groups: metrics.get(Counter::RowGroups),
            row_groups_skipped: metrics.get(Counter::RowGroupsSkipped),
            pages: metrics.get(Counter::Pages),
            pages_skipped: metrics.get(Counter::PagesSkipped),
            rows_skipped: metrics.get(Counter::RowsSkipped),
            rows_decoded: metrics.get(Counter::RowsDecoded),
            rows_superseded: metrics.get(Counter::RowsSuperseded),
            rows_filtered: metrics.get(Counter::RowsFiltered),
            pick_nanos: metrics.get(Counter::PickNanos),
            wait_nanos: metrics.get(Counter::WaitNanos),
            filter_nanos: metrics.get(Counter::FilterNanos),
            value_nanos: metrics.get(Counter::ValueNanos),
            output_nanos: metrics.get(Counter::OutputNanos),
        }
    }
}

/// Reads all rows and forgets them; tells of the whole, and of each part if there are some.
///
/// # Errors
/// Those of reading.
pub(super) fn measure(
    reading: &Reading,
    planning_nanos: u64,
    explanation: &mut Explanation,
) -> Result<(), Failure> {
    let start = reading.resources.now_nanos();
    let reader = reading.row_reader(reading.request(StringLayout::View))?;
    reading.check(reader.table())?;
    let tasks = tasks(reading, reader.table(), explanation)?;
    let found = read(reading, &reader, &tasks)?;
    let rows = found.iter().map(|part| part.rows);
    let rows = rows.fold(0, u64::saturating_add);
    explanation.measured = Some(Measured {
        rows: reading.limit.map_or(rows, |limit| rows.min(limit)),
        planned_rows: reading
            .plan
            .iter()
            .fold(0, |sum, split| sum.saturating_add(split.row_count())),
        planned_files: reading.plan.files().len() as u64,
        counters: Counters::of(&reading.resources.metrics().snapshot()),
        planning_nanos,
        reading_nanos: reading.resources.now_nanos().saturating_sub(start),
        tasks: reading.jobs.get() as u64,
        peak_memory: peak_memory(),
    });
    let splits = explanation.splits.iter_mut();
    let parts = splits.flat_map(|split| split.parts.iter_mut());
    for (part, measured) in parts.zip(found) {
        part.measured = Some(measured);
    }
    Ok(())
}

/// The parts that are shown, then what is not shown; as the scan would have it where no parts are asked for.
fn tasks(
    reading: &Reading,
    reader: &TableReader,
    explanation: &Explanation,
) -> Result<Vec<ScanTask>, Failure> {
    let shown = |split: &&SplitFacts| !split.parts.is_empty();
    let shown: Vec<&SplitFacts> = explanation.splits.iter().filter(shown).collect();
    if shown.is_empty() {
        return Ok(parts::tasks(reading, reader)?);
    }
    let parts = shown.iter().flat_map(|split| {
        let parts = split.parts.iter();
        parts.map(|part| ScanTask::of(split.index, part.task.clone()))
    });
    let is_shown = |task: &ScanTask| shown.iter().any(|split| split.index == task.split);
    let others = parts::splits(reading).into_iter();
    Ok(parts.chain(others.filter(|task| !is_shown(task))).collect())
}

/// Reads tasks, each with counters of its own.
fn read(
    reading: &Reading,
    reader: &RowReader,
    tasks: &[ScanTask],
) -> Result<Vec<PartMeasured>, Failure> {
    let counters: Vec<Resources> = tasks.iter().map(|_| reading.resources.measured()).collect();
    let queue = TaskQueue::new(
        reading,
        tasks,
        reader.table().tasks_ahead(),
        |number, task| {
            let resources = counters.get(number).unwrap_or(&reading.resources);
            let request = reading.request(StringLayout::View);
            reading
                .row_reader_over(request, resources.clone())?
                .read(task)
        },
    );
    let mut found = vec![PartMeasured::default(); tasks.len()];
    let mut left = reading.limit.unwrap_or(u64::MAX);
    in_order(
        tasks.len(),
        reading.jobs,
        |task, lane| {
            let start = reading.resources.now_nanos();
            queue.read(task, |batch| {
                let nanos = reading.resources.now_nanos().saturating_sub(start);
                Ok(lane.push((task, batch.num_rows() as u64, nanos), 1))
            })
        },
        |(task, rows, nanos): (usize, u64, u64)| {
            left = left.saturating_sub(rows);
            if let Some(part) = found.get_mut(task) {
                part.rows = part.rows.saturating_add(rows);
                part.nanos = nanos;
            }
            Ok(if left > 0 {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            })
        },
    )?;
    for (part, resources) in found.iter_mut().zip(&counters) {
        let metrics = resources.metrics();
        part.rows_decoded = metrics.get(Counter::RowsDecoded);
        part.requests = metrics.get(Counter::Requests);
        part.requested_bytes = metrics.get(Counter::RequestedBytes);
    }
    Ok(found)
}

/// The largest resident size that Linux saw.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// The lines below the explanation.
pub(super) fn lines(paper: &mut Paper, explanation: &Explanation, measured: &Measured) {
    let counters = &measured.counters;
    paper.gap();
    let memory = measured.peak_memory.map_or(String::new(), |bytes| {
        format!(" · {} of memory at most", size(bytes))
    });
    paper.line(
        "measured",
        &format!(
            "planned in {} · read in {} by {}{memory}",
            duration(measured.planning_nanos),
            duration(measured.reading_nanos),
            count(measured.tasks, "task"),
        ),
    );
    let pruning = &explanation.pruning;
    paper.line(
        "  files",
        &format!(
            "{} of the snapshot, {} planned, {} opened, {} excluded by their indexes",
            number(pruning.snapshot_files.max(measured.planned_files)),
            number(measured.planned_files),
            number(counters.files_opened),
            number(counters.files_skipped),
        ),
    );
    let kept = counters
        .row_groups
        .saturating_sub(counters.row_groups_skipped);
    paper.line(
        "  groups",
        &format!(
            "{}, {} kept{}",
            count(counters.row_groups, "row group"),
            number(kept),
            pages(
                counters.pages,
                counters.pages.saturating_sub(counters.pages_skipped)
            ),
        ),
    );
    paper.line(
        "  rows",
        &format!(
            "at most {} by the plan; {} skipped, {} decoded, {} superseded by other versions, {} filtered; {} came out",
            number(measured.planned_rows),
            number(counters.rows_skipped),
            number(counters.rows_decoded),
            number(counters.rows_superseded),
            number(counters.rows_filtered),
            number(measured.rows),
        ),
    );
    requests_and_times(paper, counters);
}

fn requests_and_times(paper: &mut Paper, counters: &Counters) {
    paper.line(
        "  requests",
        &format!(
            "{}, {}, those of planning among them",
            number(counters.requests),
            size(counters.requested_bytes)
        ),
    );
    paper.line(
        "  time",
        &format!(
            "{} opening files and choosing rows, {} waiting for columns, {} asking the condition, {} decoding values, \
             {} filling batches, over all tasks",
            duration(counters.pick_nanos),
            duration(counters.wait_nanos),
            duration(counters.filter_nanos),
            duration(counters.value_nanos),
            duration(counters.output_nanos),
        ),
    );
}
