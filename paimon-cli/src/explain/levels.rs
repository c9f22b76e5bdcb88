//! The levels of a bucket in text.

use super::bars::{WIDTH as BAR, axis, bar};
use super::model::{Bucket, FileFacts};
use crate::human::{count, number, size};
use crate::keys::{range_text, short_name};
use crate::paper::{Ink, LABEL, Paper, clip};

/// Files of a level that have a line each.
const FILES: usize = 8;

/// Levels down, keys across.
pub(super) fn bucket_levels(paper: &mut Paper, bucket: &Bucket, key: &str) {
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
    let bound = |place| bucket.bounds.get(place).map_or("", String::as_str);
    if let Some((from, to)) = file.keys {
        parts.push(format!("{key} {}", range_text(bound(from), bound(to))));
    } else {
        parts.push(size(file.size));
    }
    match file.delete_rows {
        Some(0) => {}
        Some(deletes) => parts.push(count(deletes, "delete")),
        None => parts.push("deletes unknown".to_owned()),
    }
    if let Some(vector) = &file.deletion_vector {
        let rows = vector.cardinality.map_or("some".to_owned(), number);
        parts.push(format!("{rows} deleted"));
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
