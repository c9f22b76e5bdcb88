//! `paimon plan`: the splits.

use std::io::{IsTerminal, Write};

use paimon_meta::{Error, Result, Split, TableSchema};
use paimon_plan::{ConjunctUse, PlannedSplit, PruneStep, Pruning, Why};
use paimon_read::TableReader;
use paimon_testkit::GoldenDataSplit;
use serde::Serialize;

use crate::args::{PlanArguments, TextOrJson};
use crate::failure::Failure;
use crate::human::{count, size};
use crate::names::condition_text;
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
    split: GoldenDataSplit,
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
}

pub(crate) fn run(arguments: &PlanArguments) -> Result<(), Failure> {
    let format = arguments
        .format
        .unwrap_or(if std::io::stdout().is_terminal() {
            TextOrJson::Text
        } else {
            TextOrJson::Json
        });
    let reading = Reading::open(&arguments.selection)?;
    let reader = reading.reader(reading.request(Default::default()))?;
    let splits = reading
        .plan
        .iter()
        .map(|split| report(&reading, &reader, split));
    let report = Report {
        snapshot: reading.plan.snapshot_id(),
        splits: splits.collect::<Result<_>>()?,
        pruning: reading.plan.pruning(),
        conditions: reading
            .plan
            .conjuncts()
            .iter()
            .map(|conjunct| ConditionReport::new(conjunct, &reading.table.schema))
            .collect(),
    };
    let mut out = std::io::stdout().lock();
    match format {
        TextOrJson::Json => {
            serde_json::to_writer(&mut out, &report).map_err(Failure::of_writer)?;
            writeln!(out)?;
        }
        TextOrJson::Text => out.write_all(report.text().as_bytes())?,
    }
    out.flush()?;
    Ok(())
}

fn report(
    reading: &Reading,
    reader: &TableReader,
    planned: PlannedSplit<'_>,
) -> Result<SplitReport> {
    let task = reading.task(planned.index())?;
    let Split::Data(split) = &task.split else {
        return Err(Error::internal("a plan of other splits"));
    };
    let first = planned.files().start;
    let sections = planned.sections().into_iter().map(|runs| {
        let run = |files: std::ops::Range<usize>| files.map(|file| file - first).collect();
        runs.into_iter().map(run).collect()
    });
    let reader = reader.provider(&task);
    Ok(SplitReport {
        split: GoldenDataSplit::of(split, &reading.table.schema.partition_fields()?)?,
        exact_row_count: planned.exact_row_count(),
        why: planned.why(),
        sections: sections.collect(),
        reader: reader.as_ref().ok().copied(),
        not_supported: reader.err().map(|error| error.message().to_owned()),
    })
}

impl Report<'_> {
    fn text(&self) -> String {
        let mut text = match self.snapshot {
            None => "no snapshot\n".to_owned(),
            Some(id) => format!(
                "snapshot {id}, {}\n",
                count(self.splits.len() as u64, "split")
            ),
        };
        for (index, split) in self.splits.iter().enumerate() {
            let bytes = split.split.files.iter().map(|file| file.size);
            text.push_str(&format!(
                "split {:<5} {:<6} {:<13} {}, {}, {}\n",
                index,
                split.reader.unwrap_or("-"),
                format!("{:?}", split.why),
                split.split.bucket_path,
                count(split.split.row_count, "row"),
                size(bytes.fold(0, u64::saturating_add)),
            ));
            for file in &split.split.files {
                text.push_str(&format!(
                    "  level {} {} {}, {}\n",
                    file.level,
                    file.name,
                    count(file.rows, "row"),
                    size(file.size)
                ));
            }
        }
        text
    }
}
