//! `paimon count`: how many rows, reading as little as it can.
//!
//! Section by section: the metadata of a section with one run and no deletes tells its rows, less those that deletion
//! vectors take away; of the others the keys are read, and nothing else. A condition that the plan does not answer wants
//! its columns too, and so does a group by columns that are none of the partition.

mod groups;
mod sections;

use std::io::Write;
use std::ops::ControlFlow;

use paimon_meta::{Error, StringLayout};
use paimon_read::ReadRequest;
use serde::Serialize;

use crate::args::{CountArguments, TextOrJson};
use crate::failure::Failure;
use crate::following::refuse_stream;
use crate::human::{count, number};
use crate::metadata::Listing;
use crate::ordered::in_order;
use crate::progress::Progress;
use crate::reading::Reading;
use groups::{By, Group, Groups};
use sections::count_split;

/// Rows of one split, one group, or of all.
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
        let counted = Counted {
            from_metadata: listing.count()?,
            from_reading: 0,
        };
        return Report::new(counted).write(arguments.format);
    }
    let reading = Reading::open(&arguments.selection)?;
    let by = match &arguments.by {
        Some(_) if reading.has_view() => return Err(no_groups().into()),
        Some(names) => Some(By::columns(&reading.table.schema, &names.0)?),
        None => None,
    };
    let mut splits = Vec::new();
    let (counted, groups) = count_splits(&reading, by.as_ref(), |split, counted| {
        if arguments.verbose {
            let planned = reading.plan.get(split);
            splits.push(SplitReport {
                bucket_path: planned.map(|split| split.bucket_path()).unwrap_or_default(),
                rows: counted.rows(),
                counted,
            });
        }
    })?;
    let report = Report {
        groups: by.as_ref().map(|by| groups.into_list(by)).transpose()?,
        splits,
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

/// Counts split by split, and tells of each.
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
    let (mut all, mut groups) = (Counted::default(), Groups::default());
    let mut progress = Progress::new(&reading.resources, reading.plan.len(), true);
    in_order(
        reading.plan.len(),
        reading.jobs,
        |split, lane| {
            let counted = count_split(reading, &reader, split, by)
                .map_err(|error| reading.error_in(split, error))?;
            let _wanted = lane.push((split, counted), 1);
            Ok(())
        },
        |(split, (counted, of_split)): (usize, (Counted, Groups))| {
            let counted = counted.at_most(limit - all.rows());
            tell(split, counted);
            all.add(counted);
            groups.append(of_split);
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
