//! An explanation for a person.

use paimon_plan::Why;

use super::levels::bucket_levels;
use super::model::{Explanation, KeyPassFacts, SectionFacts, SplitFacts};
use super::words::list;
use super::{estimate, measure};
use crate::human::{count, number, size, time};
use crate::keys::short_name;
use crate::paper::{Ink, LABEL, Paper, clip};

/// Sections and runs of a split that have a line each.
const SECTIONS: usize = 4;
const RUNS: usize = 6;
/// Columns of a range of keys among words.
const KEYS: usize = 60;

/// The explanation as lines. `name` is the table as the user called it.
pub(super) fn text(explanation: &Explanation, name: &str, colours: bool) -> String {
    let mut paper = Paper::new(colours);
    head(&mut paper, explanation, name);
    files(&mut paper, explanation);
    let key = explanation.table.key_label();
    for bucket in &explanation.buckets {
        paper.gap();
        bucket_levels(&mut paper, bucket, key);
    }
    more(
        &mut paper,
        explanation.totals.buckets,
        explanation.buckets.len(),
        "bucket",
    );
    for facts in &explanation.splits {
        paper.gap();
        split(&mut paper, facts, key);
    }
    more(
        &mut paper,
        explanation.totals.splits,
        explanation.splits.len(),
        "split",
    );
    paper.gap();
    foot(&mut paper, explanation);
    if let Some(estimated) = &explanation.estimated {
        estimate::lines(&mut paper, estimated);
    }
    if let Some(measured) = &explanation.measured {
        measure::lines(&mut paper, explanation, measured);
    }
    paper.finish()
}

fn more(paper: &mut Paper, all: u64, shown: usize, word: &str) {
    let left = all.saturating_sub(shown as u64);
    if left > 0 {
        paper.gap();
        paper.line(
            "",
            &format!("… and {}", count(left, &format!("more {word}"))),
        );
    }
}

fn head(paper: &mut Paper, explanation: &Explanation, name: &str) {
    let table = &explanation.table;
    paper.line("table", name);
    let mut facts = Vec::new();
    match &table.merge_engine {
        Some(engine) => {
            facts.push(format!("primary key ({})", list(&table.primary_key)));
            facts.push(engine.clone());
        }
        None => facts.push("no primary key".to_owned()),
    }
    if !table.partition_keys.is_empty() {
        facts.push(format!("partitions by {}", list(&table.partition_keys)));
    }
    facts.push(match table.bucket {
        -1 => "buckets as they come".to_owned(),
        -2 => "buckets postponed".to_owned(),
        buckets => count(u64::try_from(buckets).unwrap_or(0), "bucket"),
    });
    if !table.sequence_fields.is_empty() {
        facts.push(format!("newer by {}", list(&table.sequence_fields)));
    }
    if table.deletion_vectors {
        facts.push("deletion vectors".to_owned());
    }
    paper.line("", &facts.join(", "));
    match &explanation.snapshot {
        None => paper.line("snapshot", "none: nothing was committed yet"),
        Some(snapshot) => {
            let of = snapshot
                .latest
                .map_or(String::new(), |latest| format!(" of {latest}"));
            paper.line(
                "snapshot",
                &format!(
                    "{}{of}, schema {}, committed {}",
                    snapshot.id,
                    snapshot.schema,
                    time(snapshot.time_millis)
                ),
            );
        }
    }
}

fn files(paper: &mut Paper, explanation: &Explanation) {
    let (pruning, totals) = (&explanation.pruning, explanation.totals);
    paper.line(
        "files",
        &format!(
            "{} of {} · {} · {} · manifests {} of {}",
            number(totals.files.files),
            number(pruning.snapshot_files.max(totals.files.files)),
            count(totals.files.rows, "row"),
            size(totals.files.bytes),
            number(pruning.manifests_read),
            number(pruning.manifests),
        ),
    );
    for step in &pruning.steps {
        let dropped = format!(
            "- {}, {}",
            count(step.dropped.files, "file"),
            count(step.dropped.rows, "row")
        );
        paper.line("", &format!("{dropped}: {}", step.words));
    }
    if explanation.hidden.files > 0 {
        paper.label("hidden");
        paper.put(Ink::Faint, "░ ");
        let with = match explanation.table.deletion_vectors {
            true => "deletion vectors",
            false => "first-row",
        };
        paper.words(&format!(
            "{}, {}, on level 0: with {with} it shows only after a compaction",
            count(explanation.hidden.files, "file"),
            count(explanation.hidden.rows, "row")
        ));
    }
    if totals.splits == 0 {
        paper.line("splits", "none: this read returns no rows");
    } else {
        let merge = totals.splits - totals.raw - totals.changes;
        let mut parts = Vec::new();
        if totals.changes < totals.splits {
            parts.push(format!("{} raw", number(totals.raw)));
            parts.push(format!("{} to merge", number(merge)));
        }
        if totals.changes > 0 {
            parts.push(format!("{} of changes", number(totals.changes)));
        }
        paper.line("splits", &parts.join(", "));
    }
}

fn split(paper: &mut Paper, facts: &SplitFacts, key: &str) {
    paper.label(&format!("split {}", facts.index));
    match facts.why {
        Why::TwoStates => paper.put(Ink::Merge, "DIFF"),
        _ if facts.changes => paper.put(Ink::Raw, "AS WRITTEN"),
        _ if facts.raw_convertible => paper.put(Ink::Raw, "RAW"),
        _ => paper.put(Ink::Merge, "MERGE"),
    }
    paper.put(
        Ink::Plain,
        &format!(
            "  {}, {}, {}, {}",
            facts.bucket_path,
            count(facts.files, "file"),
            count(facts.rows, "row"),
            size(facts.size)
        ),
    );
    paper.line("  why", &facts.words);
    for overlap in &facts.overlaps {
        let [a, b] = &overlap.files;
        let line = format!(
            "{} and {} can both hold {key} {}",
            short_name(a),
            short_name(b),
            clip(&overlap.keys, KEYS)
        );
        paper.line("", &line);
    }
    if let Some(feature) = &facts.not_supported {
        paper.line("  reader", &format!("none, not supported: {feature}"));
    }
    if let Some(reader) = facts
        .reader
        .as_ref()
        .filter(|_| !facts.changes)
        .filter(|reader| (*reader == "raw") != facts.raw_convertible)
    {
        paper.line(
            "  reader",
            &format!("{reader}: the raw flag does not decide alone"),
        );
    }
    let told = facts.sections.len() > 1
        || facts
            .sections
            .iter()
            .any(|section| section.key_pass.is_some());
    for (index, section) in facts.sections.iter().enumerate().take(SECTIONS) {
        section_lines(paper, index, section, told.then_some(key));
    }
    let left = facts.sections.len().saturating_sub(SECTIONS) as u64;
    if left > 0 {
        paper.line("", &format!("… and {}", count(left, "more section")));
    }
    part_lines(paper, facts);
}

/// The parts of a split, and what was measured of them.
fn part_lines(paper: &mut Paper, facts: &SplitFacts) {
    for (number, part) in facts.parts.iter().enumerate() {
        paper.line(&format!("  part {number}"), &part.text());
        if let Some(measured) = &part.measured {
            paper.line("", &measured.text());
        }
    }
}

/// A section; with `key` also what is in it.
fn section_lines(paper: &mut Paper, index: usize, section: &SectionFacts, key: Option<&str>) {
    if let Some(key) = key {
        let range = |keys: &Option<String>| {
            let keys = keys.as_deref().unwrap_or_default();
            format!("{key} {}", clip(keys, KEYS))
        };
        let runs = section.runs.len();
        let facts = [
            range(&section.keys),
            count(runs as u64, "run"),
            count(section.rows, "row"),
        ];
        paper.line(&format!("  section {index}"), &facts.join(", "));
        for (index, run) in section.runs.iter().enumerate().take(RUNS) {
            if runs > 1 {
                let files: Vec<String> = run.files.iter().map(|name| short_name(name)).collect();
                let line = format!("run {index}, {} in {}", range(&run.keys), list(&files));
                paper.line("", &line);
            }
        }
        let left = runs.saturating_sub(RUNS) as u64;
        if left > 0 {
            paper.line("", &format!("… and {}", count(left, "more run")));
        }
    }
    paper.line("    reads", &reading(section));
}

/// What is read of a section, in order.
fn reading(section: &SectionFacts) -> String {
    if section.nothing_passes {
        return "nothing: the condition holds for no row".to_owned();
    }
    let mut steps = Vec::new();
    if let Some(key_pass) = &section.key_pass {
        steps.push(key_pass_words(key_pass, section));
    }
    if let Some(engine) = &section.fold {
        return fold_words(steps, section, engine);
    }
    if let Some(condition) = &section.condition {
        let of = if section.key_pass.is_some() {
            " of the rows that win"
        } else {
            ""
        };
        steps.push(match section.condition_columns.as_slice() {
            [] => format!("asks {condition}{of}"),
            columns => format!("{}{of} to ask {condition}", list(columns)),
        });
    }
    if !section.value_columns.is_empty() {
        let of = match (&section.condition, &section.key_pass) {
            (Some(_), _) => " of the rows that are left",
            (None, Some(_)) => " of the rows that win",
            (None, None) => "",
        };
        steps.push(format!("{}{of}", list(&section.value_columns)));
    }
    if steps.is_empty() {
        return "only the number of rows".to_owned();
    }
    steps.join(", then ")
}

/// What follows the key pass where a row is made of several versions.
fn fold_words(mut steps: Vec<String>, section: &SectionFacts, engine: &str) -> String {
    if !section.value_columns.is_empty() {
        steps.push(format!("{} of all versions", list(&section.value_columns)));
    }
    steps.push(format!("merges them column by column ({engine})"));
    if let Some(condition) = &section.condition {
        steps.push(format!("asks {condition} of the rows that come out"));
    }
    steps.join(", then ")
}

fn key_pass_words(key_pass: &KeyPassFacts, section: &SectionFacts) -> String {
    let runs = section.runs.len();
    let mut text = list(&key_pass.keys);
    if !key_pass.sequence_fields.is_empty() {
        text.push_str(&format!(" and {}", list(&key_pass.sequence_fields)));
    }
    if let Some(condition) = &key_pass.condition {
        text.push_str(&format!(" where {condition}"));
    }
    text.push_str(if section.fold.is_some() {
        " to find the versions of each key"
    } else {
        " to find the rows that win"
    });
    let files = |names: &[String]| count(names.len() as u64, "file");
    let sequence = match key_pass.sequence_number_of.as_slice() {
        [] if runs > 1 => {
            "not the sequence number (the files' ranges tell which is newer)".to_owned()
        }
        [] => "not the sequence number (one run)".to_owned(),
        some => format!("the sequence number of {}", files(some)),
    };
    let kind = match key_pass.row_kind_of.as_slice() {
        [] => "not the row kind (no delete rows)".to_owned(),
        some => format!("the row kind of {}", files(some)),
    };
    format!("{text}; {sequence}; {kind}")
}

fn foot(paper: &mut Paper, explanation: &Explanation) {
    let longest = explanation.conditions.iter();
    let longest = longest
        .map(|condition| condition.condition.chars().count())
        .max()
        .unwrap_or(0);
    for (index, condition) in explanation.conditions.iter().enumerate() {
        paper.label(if index == 0 { "filter" } else { "" });
        paper.words(&condition.condition);
        if longest <= 30 {
            paper.fill(LABEL + longest + 3);
            paper.words(&condition.words);
        } else {
            paper.line("", &format!("  {}", condition.words));
        }
    }
    paper.line("count(*)", &explanation.count.words);
    for (index, advice) in explanation.advice.iter().enumerate() {
        paper.line(if index == 0 { "faster" } else { "" }, &advice.words);
    }
}

#[cfg(test)]
mod tests {
    use paimon_plan::FileTotals;

    use super::super::model::{CountFacts, PlanTotals, PruningFacts, TableFacts};
    use super::*;

    /// What a table with deletion vectors shows before its first compaction.
    fn hidden() -> Explanation {
        Explanation {
            table: TableFacts {
                location: "/lake/dv_vis".to_owned(),
                primary_key: vec!["k".to_owned()],
                key: vec!["k".to_owned()],
                partition_keys: Vec::new(),
                sequence_fields: Vec::new(),
                bucket: 1,
                merge_engine: Some("deduplicate".to_owned()),
                deletion_vectors: true,
            },
            snapshot: None,
            pruning: PruningFacts {
                manifests: 1,
                manifests_read: 1,
                snapshot_files: 1,
                steps: Vec::new(),
            },
            totals: PlanTotals::default(),
            hidden: FileTotals {
                files: 1,
                rows: 2,
                bytes: 900,
            },
            buckets: Vec::new(),
            splits: Vec::new(),
            conditions: Vec::new(),
            count: CountFacts {
                rows: Some(0),
                words: "0, from metadata".to_owned(),
            },
            advice: Vec::new(),
            estimated: None,
            measured: None,
        }
    }

    #[test]
    fn hidden_rows_are_told_with_the_reason() {
        // RP-075
        let text = text(&hidden(), "dv_vis", false);
        assert!(
            text.contains(
                "hidden      ░ 1 file, 2 rows, on level 0: with deletion vectors it shows only after a compaction\n\
                 splits      none: this read returns no rows\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn colours_are_only_added() {
        let plain = text(&hidden(), "dv_vis", false);
        let coloured = text(&hidden(), "dv_vis", true);
        let mut stripped = String::new();
        for part in coloured.split('\u{1b}') {
            let (_code, rest) = part
                .split_once('m')
                .filter(|_| part.starts_with('['))
                .unwrap_or(("", part));
            stripped.push_str(rest);
        }
        assert_ne!(plain, coloured);
        assert_eq!(plain, stripped);
    }
}
