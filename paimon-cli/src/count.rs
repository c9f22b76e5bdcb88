//! `paimon count`: how many rows, reading as little as it can.
//!
//! Section by section: the metadata of a section with one run and no deletes tells its rows, less those that deletion
//! vectors take away; of the others the keys are read, and nothing else. A condition that the plan does not answer wants
//! its columns too, and so does a group by columns that are none of the partition.

mod groups;
mod sections;

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::ControlFlow;

use paimon_meta::{Error, Result, StringLayout};
use paimon_read::{ReadRequest, RowKinds};
use serde::Serialize;

use crate::args::{CountArguments, TextOrJson};
use crate::failure::Failure;
use crate::following::refuse_stream;
use crate::human::{count, number};
use crate::metadata::Listing;
use crate::ordered::in_order;
use crate::parts::{self, ScanTask, TaskQueue};
use crate::progress::Progress;
use crate::reading::Reading;
use groups::{By, Group, Groups};
use sections::{count_split, group_of};

/// Rows of one split, one group, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counted {
    /// Rows that metadata is sure of.
    pub(crate) from_metadata: u64,
    /// Rows that were found by reading.
    pub(crate) from_reading: u64,
}

impl Counted {
    /// Rows that metadata tells.
    fn known(rows: u64) -> Self {
        Self {
            from_metadata: rows,
            from_reading: 0,
        }
    }

    /// Rows that were read.
    fn read(rows: u64) -> Self {
        Self {
            from_metadata: 0,
            from_reading: rows,
        }
    }

    pub(crate) fn rows(self) -> u64 {
        self.from_metadata.saturating_add(self.from_reading)
    }

    fn add(&mut self, other: Self) {
        self.from_metadata = self.from_metadata.saturating_add(other.from_metadata);
        self.from_reading = self.from_reading.saturating_add(other.from_reading);
    }

    fn at_most(self, rows: u64) -> Self {
        let from_metadata = self.from_metadata.min(rows);
        Self {
            from_metadata,
            from_reading: self.from_reading.min(rows - from_metadata),
        }
    }
}

/// The answer as JSON.
#[derive(Debug, Serialize)]
struct Report {
    rows: u64,
    #[serde(flatten)]
    counted: Counted,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<Vec<Group>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    splits: Vec<SplitReport>,
    /// What is said of how groups were found.
    #[serde(skip)]
    by: String,
}

#[derive(Debug, Serialize)]
struct SplitReport {
    bucket_path: String,
    rows: u64,
    #[serde(flatten)]
    counted: Counted,
}

pub(crate) fn run(arguments: &CountArguments) -> Result<(), Failure> {
    refuse_stream(&arguments.selection)?;
    if arguments
        .by
        .as_ref()
        .is_some_and(|names| names.0.is_empty())
    {
        let message = "--by names no column";
        return Err(Failure::Usage(Error::invalid_input(message)));
    }
    if let Some(listing) = Listing::open(&arguments.selection)? {
        if arguments.by.is_some() {
            return Err(no_groups().into());
        }
        return Report::new(Counted::known(listing.count()?)).write(arguments.format);
    }
    let reading = Reading::open(&arguments.selection)?;
    let by = match &arguments.by {
        Some(_) if reading.has_view() => return Err(no_groups().into()),
        Some(names) => Some(By::columns(&reading.table.schema, &names.0)?),
        None => None,
    };
    let mut of_splits: BTreeMap<usize, Counted> = BTreeMap::new();
    let (counted, groups) = count_splits(&reading, by.as_ref(), |split, counted| {
        of_splits.entry(split).or_default().add(counted);
    })?;
    let splits = of_splits.into_iter().filter(|_| arguments.verbose);
    let splits = splits.map(|(split, counted)| {
        let planned = reading.plan.get(split);
        SplitReport {
            bucket_path: planned.map(|split| split.bucket_path()).unwrap_or_default(),
            rows: counted.rows(),
            counted,
        }
    });
    let report = Report {
        groups: by.as_ref().map(|by| groups.into_list(by)).transpose()?,
        splits: splits.collect(),
        by: by.as_ref().map(By::words).unwrap_or_default(),
        ..Report::new(counted)
    };
    report.write(arguments.format)
}

fn no_groups() -> Error {
    Error::unsupported("groups of a system table")
}

impl Report {
    fn new(counted: Counted) -> Self {
        Self {
            rows: counted.rows(),
            counted,
            groups: None,
            splits: Vec::new(),
            by: String::new(),
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
        if let Some(groups) = &self.groups {
            text.push_str(&format!("  {}\n", self.by));
            let names: Vec<String> = groups.iter().map(Group::name).collect();
            let longest = names.iter().map(|name| name.chars().count()).max();
            let width = longest.unwrap_or(0);
            for (group, name) in groups.iter().zip(&names) {
                text.push_str(&format!(
                    "  {name:<width$} {:>12}   {}\n",
                    count(group.rows, "row"),
                    sources(group.counted)
                ));
            }
        }
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
    count_splits(reading, None, |_, _| {}).map(|(counted, _)| counted)
}

/// Counts what metadata tells, then what must be read, and tells of each split.
fn count_splits(
    reading: &Reading,
    by: Option<&By>,
    mut tell: impl FnMut(usize, Counted),
) -> Result<(Counted, Groups), Failure> {
    let request = ReadRequest {
        projection: Some(by.map(By::read).unwrap_or_default()),
        batch_size: 1 << 16,
        ..reading.request(StringLayout::View)
    };
    let reader = reading.row_reader(request)?;
    reading.check(reader.table())?;
    let limit = reading.limit.unwrap_or(u64::MAX);
    let mut all = Counted::default();
    let (mut groups, tasks) = count_known(reading, by, |split, rows| {
        let counted = Counted::known(rows.min(limit - all.rows()));
        tell(split, counted);
        all.add(counted);
    })?;
    if all.rows() == limit {
        return Ok((all, groups));
    }
    let tasks = parts::divided(reading, reader.table(), tasks)?;
    let queue = TaskQueue::of(reading, &reader, &tasks);
    let mut progress = Progress::new(&reading.resources, reading.plan.len(), true);
    let kinds = usize::from(reader.table().context().request.row_kinds != RowKinds::Drop);
    in_order(
        tasks.len(),
        reading.jobs,
        |task, lane| {
            let (mut rows, mut groups) = (0, Groups::default());
            queue.read(task, |batch| {
                rows += batch.num_rows() as u64;
                if let Some(by) = by.filter(|by| by.reads()) {
                    groups.add_rows(by, &batch, kinds)?;
                }
                Ok(ControlFlow::Continue(()))
            })?;
            let split = queue.split(task);
            if let Some(by) = by.filter(|by| !by.reads()) {
                groups.add(group_of(reading, split, by)?, Counted::read(rows));
            }
            let _wanted = lane.push((split, Counted::read(rows), groups), 1);
            Ok(())
        },
        |(split, counted, of_task): (usize, Counted, Groups)| {
            let counted = counted.at_most(limit - all.rows());
            tell(split, counted);
            all.add(counted);
            groups.append(of_task);
            progress.advance(counted.rows(), split);
            Ok(if all.rows() < limit {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            })
        },
    )?;
    Ok((all, groups))
}

/// Rows that metadata tells, by split and by groups, and what must be read.
fn count_known(
    reading: &Reading,
    by: Option<&By>,
    mut tell: impl FnMut(usize, u64),
) -> Result<(Groups, Vec<ScanTask>)> {
    let (mut groups, mut tasks) = (Groups::default(), Vec::new());
    for split in 0..reading.plan.len() {
        let known = count_split(reading, split, by);
        let (rows, task) = known.map_err(|error| reading.error_in(split, error))?;
        tell(split, rows);
        tasks.extend(task);
        if let Some(by) = by.filter(|by| !by.reads()) {
            groups.add(group_of(reading, split, by)?, Counted::known(rows));
        }
    }
    Ok((groups, tasks))
}
