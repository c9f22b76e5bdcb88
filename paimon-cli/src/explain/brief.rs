//! A read in a few lines, where several stand below each other.

use paimon_meta::Result;
use paimon_plan::PlannedSplit;

use super::build::{Detail, explain};
use super::levels::bucket_levels;
use super::model::{Explanation, SplitFacts};
use super::words::list;
use crate::human::{count, number};
use crate::keys::short_name;
use crate::paper::{Ink, Paper};
use crate::reading::Reading;

/// What the lines say, in numbers.
#[derive(Debug)]
pub(crate) struct Brief {
    pub(crate) files: u64,
    /// Levels that have files, ascending.
    pub(crate) levels: Vec<i32>,
    /// Splits that are read as they are.
    pub(crate) raw: u64,
    /// Splits that are merged.
    pub(crate) merge: u64,
    /// What `COUNT(*)` takes, in words.
    pub(crate) count: String,
    pub(crate) counts_from_metadata: bool,
}

/// Puts the levels of a small read on paper if they are wanted, then its splits, a line or two each, with their sections
/// and runs.
///
/// # Errors
/// Those of explaining.
pub(crate) fn brief(reading: &Reading, paper: &mut Paper, levels: bool) -> Result<Brief> {
    let detail = Detail {
        splits: usize::MAX,
        buckets: usize::MAX,
        parts: None,
    };
    let explanation = explain(reading, detail)?;
    let key = explanation.table.key_label();
    if levels {
        for bucket in &explanation.buckets {
            bucket_levels(paper, bucket, key);
        }
    }
    if explanation.hidden.files > 0 {
        paper.label("hidden");
        paper.put(Ink::Faint, "░ ");
        let files = count(explanation.hidden.files, "file");
        let rows = count(explanation.hidden.rows, "row");
        paper.words(&format!("{files}, {rows}, on level 0 until a compaction"));
    }
    if explanation.splits.is_empty() {
        paper.line("splits", "none");
    }
    for (facts, split) in explanation.splits.iter().zip(reading.plan.iter()) {
        split_lines(paper, reading, facts, split);
    }
    Ok(numbers(&explanation))
}

fn numbers(explanation: &Explanation) -> Brief {
    let totals = explanation.totals;
    let files = explanation.buckets.iter().flat_map(|bucket| &bucket.files);
    let mut levels: Vec<i32> = files.map(|file| file.level).collect();
    levels.sort_unstable();
    levels.dedup();
    Brief {
        files: totals.files.files,
        levels,
        raw: totals.raw,
        merge: totals.splits - totals.raw,
        count: explanation.count.words.clone(),
        counts_from_metadata: explanation.count.rows.is_some(),
    }
}

fn split_lines(paper: &mut Paper, reading: &Reading, facts: &SplitFacts, split: PlannedSplit<'_>) {
    paper.label(&format!("split {}", facts.index));
    if facts.raw_convertible {
        paper.put(Ink::Raw, "RAW    ");
    } else {
        paper.put(Ink::Merge, "MERGE  ");
    }
    let words = match &facts.not_supported {
        Some(feature) => format!("{} · not supported: {feature}", facts.words),
        None => facts.words.clone(),
    };
    paper.words(&words);
    let sections = split.sections();
    let name = |file: usize| short_name(reading.plan.files().file_name(file));
    for (index, runs) in sections.iter().enumerate() {
        let files = runs
            .iter()
            .cloned()
            .map(|run| run.map(name).collect::<Vec<_>>());
        let files: Vec<String> = files.map(|run| list(&run)).collect();
        let runs = count(files.len() as u64, "run");
        paper.line(
            "",
            &format!(
                "section {}: {runs}: {}",
                number(index as u64),
                files.join(" | ")
            ),
        );
    }
}
