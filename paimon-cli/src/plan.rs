//! `paimon plan`: the splits.

use std::io::{IsTerminal, Write};
use std::num::NonZeroUsize;

use paimon_meta::{JavaVersion, Result, TableSchema, split_to_java_object, with_absolute_paths};
use paimon_plan::{ConjunctUse, PlannedSplit, PruneStep, Pruning, Why};
use paimon_read::TableReader;
use paimon_testkit::{GoldenFile, GoldenSplit};
use serde::Serialize;

use crate::args::{PlanArguments, PlanFormat};
use crate::failure::Failure;
use crate::following::{Following, Next};
use crate::human::{count, size};
use crate::names::condition_text;
use crate::part_report::PartReport;
use crate::reading::Reading;

/// A plan as JSON.
#[derive(Debug, Serialize)]
struct Report<'a> {
    snapshot: Option<i64>,
    splits: Vec<SplitReport>,
    pruning: &'a Pruning,
    /// The parts of the condition, all of which a row must satisfy.
    conditions: Vec<ConditionReport<'a>>,
}

#[derive(Debug, Serialize)]
struct ConditionReport<'a> {
    condition: String,
    /// Whether every row of the splits satisfies it.
    exact: bool,
    prunes: &'a [PruneStep],
}

impl<'a> ConditionReport<'a> {
    fn new(conjunct: &'a ConjunctUse, schema: &TableSchema) -> Self {
        Self {
            condition: condition_text(&conjunct.predicate, schema),
            exact: conjunct.exact,
            prunes: &conjunct.prunes,
        }
    }
}

/// A split with the names that the golden tables use, and what the reference does not say.
#[derive(Debug, Serialize)]
struct SplitReport {
    #[serde(flatten)]
    split: GoldenSplit,
    #[serde(skip)]
    shown: Shown,
    /// Rows that a read returns before what is left of the condition, where metadata is sure of it.
    exact_row_count: Option<u64>,
    why: Why,
    /// Sections, runs, files by their index in the split.
    sections: Vec<Vec<Vec<usize>>>,
    /// Who reads it.
    reader: Option<&'static str>,
    /// Why nobody does.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_supported: Option<String>,
    /// What it is cut into, if that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<Vec<PartReport>>,
}

/// What the text shows of a split.
#[derive(Debug)]
struct Shown {
    bucket_path: String,
    rows: u64,
    files: Vec<GoldenFile>,
}

pub(crate) fn run(arguments: &PlanArguments) -> Result<(), Failure> {
    let format = arguments
        .format
        .unwrap_or(if std::io::stdout().is_terminal() {
            PlanFormat::Text
        } else {
            PlanFormat::Json
        });
    let mut out = std::io::stdout().lock();
    if arguments.selection.stream {
        return write_plans(arguments, format, &mut out);
    }
    let reading = Reading::open(&arguments.selection)?;
    match format {
        PlanFormat::Json => {
            let report = Report::of(&reading, arguments.parts)?;
            serde_json::to_writer(&mut out, &report).map_err(Failure::of_writer)?;
            writeln!(out)?;
        }
        PlanFormat::Text => {
            out.write_all(Report::of(&reading, arguments.parts)?.text().as_bytes())?;
        }
        PlanFormat::Java => write_java(&reading, &mut out)?,
    }
    out.flush()?;
    Ok(())
}

/// Every plan that a stream has now: a list in JSON, one after the other in text.
fn write_plans(
    arguments: &PlanArguments,
    format: PlanFormat,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let mut following = Following::open(&arguments.selection)?;
    let mut first = true;
    while let Next::Reading(reading) = following.next()? {
        if format == PlanFormat::Java {
            write_java(&reading, out)?;
            continue;
        }
        let report = Report::of(&reading, arguments.parts)?;
        match format {
            PlanFormat::Json => {
                out.write_all(if first { b"[" } else { b",\n" })?;
                serde_json::to_writer(&mut *out, &report).map_err(Failure::of_writer)?;
            }
            PlanFormat::Text | PlanFormat::Java => out.write_all(report.text().as_bytes())?,
        }
        first = false;
    }
    match (format, first) {
        (PlanFormat::Json, true) => writeln!(out, "[]")?,
        (PlanFormat::Json, false) => writeln!(out, "]")?,
        (PlanFormat::Text | PlanFormat::Java, _) => {}
    }
    out.flush()?;
    Ok(())
}

/// The splits as the Java implementation sends them, one a line; version 1.4 and later read them (RP-115).
fn write_java(reading: &Reading, out: &mut impl Write) -> Result<(), Failure> {
    for index in 0..reading.plan.len() {
        let split = with_absolute_paths(reading.plan.split(index)?, &reading.table.location);
        let object = split_to_java_object(&split, JavaVersion::V1_4)
            .map_err(|error| reading.error_in(index, error))?;
        for byte in object {
            write!(out, "{byte:02x}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn report(
    reading: &Reading,
    reader: &TableReader,
    planned: PlannedSplit<'_>,
    parts: Option<NonZeroUsize>,
) -> Result<SplitReport> {
    let task = reading.task(planned.index())?;
    let first = planned.files().start;
    let sections = planned.sections().into_iter().map(|runs| {
        let run = |files: std::ops::Range<usize>| files.map(|file| file - first).collect();
        runs.into_iter().map(run).collect()
    });
    let provider = reader.provider(&task);
    let schema = reading.schema_of(&task);
    let split = GoldenSplit::of(&task.split, &schema.partition_fields()?)?;
    Ok(SplitReport {
        shown: shown(planned, &split),
        split,
        exact_row_count: planned.exact_row_count(),
        why: planned.why(),
        sections: sections.collect(),
        parts: parts
            .filter(|_| provider.is_ok())
            .map(|parts| PartReport::all(reader, task, parts, schema))
            .transpose()
            .map_err(|error| reading.error_in(planned.index(), error))?,
        reader: provider.as_ref().ok().copied(),
        not_supported: provider.err().map(|error| error.message().to_owned()),
    })
}

fn shown(planned: PlannedSplit<'_>, split: &GoldenSplit) -> Shown {
    let files = match split {
        GoldenSplit::Data(split) => split.files.clone(),
        GoldenSplit::Fallback(split) => split.split.files.clone(),
        GoldenSplit::Incremental(split) => {
            let files = split.before.iter().chain(&split.after);
            files.cloned().collect()
        }
        GoldenSplit::Other { .. } => Vec::new(),
    };
    Shown {
        bucket_path: planned.bucket_path(),
        rows: planned.row_count(),
        files,
    }
}

impl<'a> Report<'a> {
    fn of(reading: &'a Reading, parts: Option<NonZeroUsize>) -> Result<Self> {
        let reader = reading.reader(reading.request(Default::default()))?;
        let splits = reading
            .plan
            .iter()
            .map(|split| report(reading, &reader, split, parts));
        let conjuncts = reading.plan.conjuncts().iter();
        Ok(Self {
            snapshot: reading.plan.snapshot_id(),
            splits: splits.collect::<Result<_>>()?,
            pruning: reading.plan.pruning(),
            conditions: conjuncts
                .map(|conjunct| ConditionReport::new(conjunct, &reading.table.schema))
                .collect(),
        })
    }

    fn text(&self) -> String {
        let mut text = match self.snapshot {
            None => "no snapshot\n".to_owned(),
            Some(id) => format!(
                "snapshot {id}, {}\n",
                count(self.splits.len() as u64, "split")
            ),
        };
        for (index, split) in self.splits.iter().enumerate() {
            let shown = &split.shown;
            let bytes = shown.files.iter().map(|file| file.size);
            text.push_str(&format!(
                "split {:<5} {:<6} {:<13} {}, {}, {}\n",
                index,
                split.reader.unwrap_or("-"),
                format!("{:?}", split.why),
                shown.bucket_path,
                count(shown.rows, "row"),
                size(bytes.fold(0, u64::saturating_add)),
            ));
            for file in &shown.files {
                text.push_str(&format!(
                    "  level {} {} {}, {}\n",
                    file.level,
                    file.name,
                    count(file.rows, "row"),
                    size(file.size)
                ));
            }
            for (number, part) in split.parts.iter().flatten().enumerate() {
                text.push_str(&format!("  part {number} {}\n", part.text()));
            }
        }
        text
    }
}
