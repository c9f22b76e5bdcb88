//! An explanation for a person.

use super::bars::{WIDTH as BAR, axis, bar};
use super::model::{Bucket, Explanation, FileFacts, KeyPassFacts, SectionFacts, SplitFacts};
use super::words::list;
use crate::human::{count, number, size, time};
use crate::keys::{range_text, short_name};
use crate::paper::{Ink, LABEL, Paper, clip};

/// Files of a level that have a line each.
const FILES: usize = 8;
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
        paper.words(&format!(
            "{}, {}, on level 0: with deletion vectors it shows only after a compaction",
            count(explanation.hidden.files, "file"),
            count(explanation.hidden.rows, "row")
        ));
    }
    if totals.splits == 0 {
        paper.line("splits", "none: this read returns no rows");
    } else {
        paper.line(
            "splits",
            &format!(
                "{} raw, {} to merge",
                number(totals.raw),
                number(totals.splits - totals.raw)
            ),
        );
    }
}

/// Levels down, keys across.
fn bucket_levels(paper: &mut Paper, bucket: &Bucket, key: &str) {
    paper.label(&bucket.path);
    let values = bucket.partition.iter().filter(|(name, value)| {
        let plain = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        !bucket.path.contains(&format!("{name}={plain}/"))
    });
    let values: Vec<String> = values
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    if !values.is_empty() {
        paper.put(Ink::Plain, &format!("   {}", values.join(", ")));
    }
    let mut files = bucket.files.as_slice();
    while let Some(first) = files.first() {
        let end = files
            .iter()
            .position(|file| file.level != first.level)
            .unwrap_or(files.len());
        let (level, rest) = files.split_at_checked(end).unwrap_or((files, &[]));
        files = rest;
        level_lines(paper, bucket, level, key);
    }
    if !bucket.bounds.is_empty() {
        paper.label(&format!("  {}", clip(key, 8)));
        paper.put(Ink::Plain, " ");
        paper.put(Ink::Plain, &axis(&bucket.bounds));
    }
}

fn level_lines(paper: &mut Paper, bucket: &Bucket, files: &[FileFacts], key: &str) {
    let shown = if files.len() > FILES {
        FILES - 1
    } else {
        files.len()
    };
    let (alone, together) = files.split_at_checked(shown).unwrap_or((files, &[]));
    let widths = widths(&bucket.files);
    for (index, file) in alone.iter().enumerate() {
        let label = if index == 0 {
            match bucket.bounds.as_slice() {
                [] => "  files".to_owned(),
                _ => format!("  level {}", file.level),
            }
        } else {
            String::new()
        };
        paper.label(&label);
        bars(paper, bucket, std::slice::from_ref(file));
        let gap = if bucket.bounds.is_empty() { "" } else { "  " };
        paper.put(
            Ink::Plain,
            &format!("{gap}{}", file_line(bucket, file, key, widths)),
        );
    }
    if !together.is_empty() {
        paper.label("");
        bars(paper, bucket, together);
        let rows = together
            .iter()
            .map(|file| file.rows)
            .fold(0, u64::saturating_add);
        let more = count(together.len() as u64, "more file");
        paper.put(Ink::Plain, &format!("  {more}, {}", count(rows, "row")));
    }
}

fn bars(paper: &mut Paper, bucket: &Bucket, files: &[FileFacts]) {
    if bucket.bounds.is_empty() {
        return;
    }
    let merged = files.iter().any(|file| file.merged);
    let (char, ink) = if merged {
        ('▓', Ink::Merge)
    } else {
        ('█', Ink::Raw)
    };
    let intervals = files.iter().filter_map(|file| file.keys);
    paper.put(Ink::Plain, "▕");
    paper.put(ink, &bar(intervals, bucket.bounds.len(), char));
    paper.fill(LABEL + 1 + BAR);
    paper.put(Ink::Plain, "▏");
}

/// Columns of the longest name and number of rows.
fn widths(files: &[FileFacts]) -> (usize, usize) {
    let longest = |text: &dyn Fn(&FileFacts) -> String| {
        let lengths = files.iter().map(|file| text(file).chars().count());
        lengths.max().unwrap_or_default()
    };
    (
        longest(&|file| short_name(&file.name)),
        longest(&|file| count(file.rows, "row")),
    )
}

fn file_line(bucket: &Bucket, file: &FileFacts, key: &str, (name, rows): (usize, usize)) -> String {
    let mut parts = vec![format!(
        "{:<name$}  {:>rows$}",
        short_name(&file.name),
        count(file.rows, "row")
    )];
    match file.delete_rows {
        Some(0) => {}
        Some(deletes) => parts.push(count(deletes, "delete")),
        None => parts.push("deletes unknown".to_owned()),
    }
    let bound = |place| bucket.bounds.get(place).map_or("", String::as_str);
    if let Some((from, to)) = file.keys {
        parts.push(format!("{key} {}", range_text(bound(from), bound(to))));
    } else {
        parts.push(size(file.size));
    }
    parts.push(format!(
        "seq {}",
        range_text(
            &file.min_sequence_number.to_string(),
            &file.max_sequence_number.to_string()
        )
    ));
    parts.join("  ")
}

fn split(paper: &mut Paper, facts: &SplitFacts, key: &str) {
    paper.label(&format!("split {}", facts.index));
    if facts.raw_convertible {
        paper.put(Ink::Raw, "RAW");
    } else {
        paper.put(Ink::Merge, "MERGE");
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
        steps.push(key_pass_words(key_pass, section.runs.len()));
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

fn key_pass_words(key_pass: &KeyPassFacts, runs: usize) -> String {
    let mut text = list(&key_pass.keys);
    if !key_pass.sequence_fields.is_empty() {
        text.push_str(&format!(" and {}", list(&key_pass.sequence_fields)));
    }
    if let Some(condition) = &key_pass.condition {
        text.push_str(&format!(" where {condition}"));
    }
    text.push_str(" to find the rows that win");
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
