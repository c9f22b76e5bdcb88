//! One table of the lab: its levels, splits, rows and count.

use std::collections::BTreeMap;
use std::path::Path;

use paimon_meta::{Datum, Error, ErrorKind, Result, StringLayout, datum_at};
use paimon_read::read_blocking;

use super::tables::{More, Table};
use crate::args::Selection;
use crate::explain::{Brief, brief};
use crate::failure::Failure;
use crate::human::{count, number};
use crate::paper::Paper;
use crate::reading::Reading;

/// What the last table shows of a table.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) name: &'static str,
    pub(super) answer: Answer,
    pub(super) reference_counts: bool,
}

/// What comes of a read.
#[derive(Debug)]
pub(super) enum Answer {
    /// The plan, and the number of rows.
    Read(Brief, u64),
    /// A feature that is not supported.
    Refused(String),
}

/// Rows of each value of `v`.
type RowsOfValues = BTreeMap<String, u64>;

/// Shows a table.
///
/// # Errors
/// Those of planning and reading; what is not supported is shown by name instead.
pub(super) fn show(paper: &mut Paper, table: &Table, directory: &Path) -> Result<Shown, Failure> {
    paper.line(table.name, table.about);
    if let Some((snapshot, label)) = table.earlier {
        paper.line("then", label);
        let mut selection = selection(directory);
        selection.snapshot = Some(snapshot);
        show_read(paper, &selection, true)?;
        paper.line("now", "");
    }
    let answer = show_read(paper, &selection(directory), true)?;
    if let Answer::Read(brief, _) = &answer {
        let reference = if table.reference_counts {
            "the reference too takes it from metadata"
        } else {
            "the reference reads every row"
        };
        paper.line("count(*)", &format!("{}; {reference}", brief.count));
    }
    for more in table.more {
        show_more(paper, directory, more)?;
    }
    Ok(Shown {
        name: table.name,
        answer,
        reference_counts: table.reference_counts,
    })
}

/// Shows one read: levels if wanted, splits, rows.
fn show_read(paper: &mut Paper, selection: &Selection, levels: bool) -> Result<Answer, Failure> {
    match read(paper, selection, levels) {
        Ok((brief, rows)) => Ok(Answer::Read(brief, rows)),
        Err(Failure::Read(error)) if error.kind() == ErrorKind::Unsupported => {
            let feature = error.feature().unwrap_or(error.message()).to_owned();
            paper.line("refused", &format!("not supported: {feature}"));
            Ok(Answer::Refused(feature))
        }
        Err(failure) => Err(failure),
    }
}

fn read(paper: &mut Paper, selection: &Selection, levels: bool) -> Result<(Brief, u64), Failure> {
    let reading = Reading::open(selection)?;
    let brief = brief(&reading, paper, levels)?;
    let rows = rows(&reading)?;
    rows_line(paper, &rows);
    Ok((brief, rows.values().sum()))
}

/// A read by another option or with a condition, on the same table.
fn show_more(paper: &mut Paper, directory: &Path, more: &More) -> Result<(), Failure> {
    let mut selection = selection(directory);
    selection.condition = more.condition.map(str::to_owned);
    let option = more.option.iter();
    let option = option.map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    selection.options = option.collect();
    let words = match (more.option, more.condition) {
        (Some((key, value)), _) => format!("{key} = '{value}'"),
        (None, condition) => condition.unwrap_or_default().to_owned(),
    };
    paper.line(more.label, &words);
    show_read(paper, &selection, false)?;
    Ok(())
}

fn rows_line(paper: &mut Paper, rows: &RowsOfValues) {
    if rows.is_empty() {
        paper.line("rows", "none");
        return;
    }
    let values = rows.iter();
    let values = values.map(|(value, rows)| format!("{} of v = '{value}'", number(*rows)));
    let all = count(rows.values().sum(), "row");
    let values: Vec<String> = values.collect();
    paper.line("rows", &format!("{all}: {}", values.join(", ")));
}

/// Rows of each value of `v`.
fn rows(reading: &Reading) -> Result<RowsOfValues> {
    let request = reading.request(StringLayout::View);
    let request = request.with_columns(&reading.table.schema, &["v"])?;
    let reader = reading.reader(request)?;
    reading.check(&reader)?;
    let data_type = &reading.table.schema.field("v")?.data_type;
    let mut rows = RowsOfValues::new();
    for split in 0..reading.plan.len() {
        let mut batches = read_blocking(reader.read(reading.task(split)?)?);
        while let Some(batch) = batches.next_batch() {
            let batch = batch?;
            let values = batch.columns().first();
            let values = values.ok_or_else(|| Error::internal("a batch without its column"))?;
            for row in 0..batch.num_rows() {
                let value = datum_at(values.as_ref(), row, data_type)?;
                let text = match value {
                    Some(Datum::String(text)) => text,
                    _ => "null".to_owned(),
                };
                *rows.entry(text).or_default() += 1;
            }
        }
    }
    Ok(rows)
}

fn selection(directory: &Path) -> Selection {
    Selection {
        table: directory.display().to_string(),
        columns: None,
        condition: None,
        limit: None,
        partitions: Vec::new(),
        bucket: None,
        rowkind: false,
        micros: false,
        keep_deletes: false,
        snapshot: None,
        tag: None,
        timestamp: None,
        branch: None,
        stream: false,
        options: Vec::new(),
        jobs: None,
    }
}
