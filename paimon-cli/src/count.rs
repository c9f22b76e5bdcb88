//! `paimon count`: how many rows, reading as little as it can.
//!
//! Section by section: the metadata of a section with one run and no deletes tells its rows; of the others the keys are
//! read, and nothing else. A condition that the plan does not answer wants its columns too.

use std::io::Write;
use std::ops::ControlFlow;

use paimon_meta::{DataSplit, FieldId, Result, Split, StringLayout};
use paimon_plan::PlannedSplit;
use paimon_read::{ReadRequest, ReadTask, read_blocking};
use serde::Serialize;

use crate::args::{CountArguments, TextOrJson};
use crate::failure::Failure;
use crate::human::{count, number};
use crate::metadata::Listing;
use crate::ordered::in_order;
use crate::progress::Progress;
use crate::reading::Reading;
use crate::row_reader::RowReader;

/// Rows of one split, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counted {
    /// Rows that metadata is sure of.
    pub(crate) from_metadata: u64,
    /// Rows that were found by reading.
    pub(crate) from_reading: u64,
}

impl Counted {
    pub(crate) fn rows(self) -> u64 {
        self.from_metadata.saturating_add(self.from_reading)
    }

    fn add(&mut self, other: Self) {
        self.from_metadata = self.from_metadata.saturating_add(other.from_metadata);
        self.from_reading = self.from_reading.saturating_add(other.from_reading);
    }
}

/// The answer as JSON.
#[derive(Debug, Serialize)]
struct Report {
    rows: u64,
    #[serde(flatten)]
    counted: Counted,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    splits: Vec<SplitReport>,
}

#[derive(Debug, Serialize)]
struct SplitReport {
    bucket_path: String,
    rows: u64,
    #[serde(flatten)]
    counted: Counted,
}

pub(crate) fn run(arguments: &CountArguments) -> Result<(), Failure> {
    if let Some(listing) = Listing::open(&arguments.selection)? {
        let counted = Counted {
            from_metadata: listing.count()?,
            from_reading: 0,
        };
        return Report::new(counted, Vec::new()).write(arguments.format);
    }
    let reading = Reading::open(&arguments.selection)?;
    let mut splits = Vec::new();
    let counted = count_splits(&reading, |split, counted| {
        if arguments.verbose {
            let planned = reading.plan.get(split);
            splits.push(SplitReport {
                bucket_path: planned.map(|split| split.bucket_path()).unwrap_or_default(),
                rows: counted.rows(),
                counted,
            });
        }
    })?;
    Report::new(counted, splits).write(arguments.format)
}

impl Report {
    fn new(counted: Counted, splits: Vec<SplitReport>) -> Self {
        Self {
            rows: counted.rows(),
            counted,
            splits,
        }
    }

    fn write(&self, format: TextOrJson) -> Result<(), Failure> {
        let mut out = std::io::stdout().lock();
        match format {
            TextOrJson::Json => {
                serde_json::to_writer(&mut out, self).map_err(Failure::of_writer)?;
                writeln!(out)?;
            }
            TextOrJson::Text => out.write_all(self.text().as_bytes())?,
        }
        out.flush()?;
        Ok(())
    }

    /// The number alone on the first line.
    fn text(&self) -> String {
        let mut text = format!("{}\n  {}\n", self.rows, sources(self.counted));
        for (index, split) in self.splits.iter().enumerate() {
            text.push_str(&format!(
                "  split {:<5} {:<16} {:>12}   {}\n",
                number(index as u64),
                split.bucket_path,
                count(split.rows, "row"),
                sources(split.counted)
            ));
        }
        text
    }
}

fn sources(counted: Counted) -> String {
    format!(
        "{} from metadata, {} from reading",
        number(counted.from_metadata),
        number(counted.from_reading)
    )
}

/// Rows of a read, its limit counted in.
///
/// # Errors
/// Those of reading; nothing is guessed.
pub(crate) fn count_rows(reading: &Reading) -> Result<Counted, Failure> {
    count_splits(reading, |_, _| {})
}

/// Counts split by split, and tells of each.
fn count_splits(
    reading: &Reading,
    mut tell: impl FnMut(usize, Counted),
) -> Result<Counted, Failure> {
    let request = ReadRequest {
        projection: Some(Vec::<FieldId>::new()),
        batch_size: 1 << 16,
        ..reading.request(StringLayout::View)
    };
    let reader = reading.row_reader(request)?;
    reading.check(reader.table())?;
    let limit = reading.limit.unwrap_or(u64::MAX);
    let mut all = Counted::default();
    let mut progress = Progress::new(&reading.resources, reading.plan.len(), true);
    in_order(
        reading.plan.len(),
        reading.jobs,
        |split, lane| {
            let counted = count_split(reading, &reader, split)
                .map_err(|error| reading.error_in(split, error))?;
            let _wanted = lane.push((split, counted), 1);
            Ok(())
        },
        |(split, counted): (usize, Counted)| {
            let counted = counted.at_most(limit - all.rows());
            tell(split, counted);
            all.add(counted);
            progress.advance(counted.rows(), split);
            Ok(if all.rows() < limit {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            })
        },
    )?;
    Ok(all)
}

impl Counted {
    fn at_most(self, rows: u64) -> Self {
        let from_metadata = self.from_metadata.min(rows);
        Self {
            from_metadata,
            from_reading: self.from_reading.min(rows - from_metadata),
        }
    }
}

fn count_split(reading: &Reading, reader: &RowReader, split: usize) -> Result<Counted> {
    let Some(planned) = reading.plan.get(split) else {
        return Ok(Counted::default());
    };
    let mut counted = Counted::default();
    let all = reading.task(split)?;
    if !reading.is_counted_by_metadata() {
        counted.from_reading = read_count(reader, all)?;
        return Ok(counted);
    }
    let known = planned.section_row_counts();
    counted.from_metadata = known.iter().flatten().copied().fold(0, u64::saturating_add);
    if known.iter().any(Option::is_none) {
        let unknown = only_sections(all, planned, &known);
        counted.from_reading = read_count(reader, unknown)?;
    }
    Ok(counted)
}

/// The part of a task whose rows metadata does not tell. Keys of one section are in no other, so it stands alone.
fn only_sections(task: ReadTask, planned: PlannedSplit<'_>, known: &[Option<u64>]) -> ReadTask {
    let Split::Data(split) = &task.split else {
        return task;
    };
    let sections = planned.sections();
    if sections.is_empty() || split.deletion_files.is_some() {
        return task;
    }
    let first = planned.files().start;
    let unknown = sections
        .into_iter()
        .zip(known)
        .filter(|(_, known)| known.is_none());
    let files = unknown.flat_map(|(runs, _)| runs.into_iter().flatten());
    let files = files.filter_map(|file| split.files.get(file.checked_sub(first)?).cloned());
    ReadTask::new(Split::Data(DataSplit {
        files: files.collect(),
        raw_convertible: false,
        ..split.clone()
    }))
}

fn read_count(reader: &RowReader, task: ReadTask) -> Result<u64> {
    let mut batches = read_blocking(reader.read(task)?);
    let mut rows = 0_u64;
    while let Some(batch) = batches.next_batch() {
        rows = rows.saturating_add(batch?.num_rows() as u64);
    }
    Ok(rows)
}
