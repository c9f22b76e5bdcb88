//! An explanation as a picture: of each bucket the levels down, the keys across, a bar for each file, sections boxed.

use std::fmt::Write as _;

use super::model::{Bucket, Explanation, FileFacts};
use crate::human::{count, size};
use crate::keys::{range_text, short_name};
use crate::paper::clip;

const WIDTH: usize = 960;
/// Where the keys begin and how far they go.
const LEFT: usize = 90;
const ACROSS: usize = WIDTH - LEFT - 20;
const ROW: usize = 26;
const BAR: usize = 20;

const STYLE: &str = "text{font:12px sans-serif;fill:#222}.title{font-weight:bold}.faint{fill:#666}\
.raw{fill:#3a9b62}.merge{fill:#dd9a2b}.name{fill:#fff;font-size:11px}\
.box{fill:none;stroke:#888;stroke-dasharray:4 3}";

/// The picture.
pub(super) fn svg(explanation: &Explanation) -> String {
    let mut body = String::new();
    let mut top = 10;
    let key = explanation.table.key_label();
    for bucket in &explanation.buckets {
        top = bucket_picture(&mut body, bucket, key, top) + 20;
    }
    let left = explanation.totals.buckets - explanation.buckets.len() as u64;
    if left > 0 || explanation.buckets.is_empty() {
        let line = match explanation.buckets.len() {
            0 => "no files".to_owned(),
            _ => format!("… and {}", count(left, "more bucket")),
        };
        text(&mut body, "faint", 10, top + 12, &line);
        top += 24;
    }
    legend(&mut body, top);
    let height = top + 30;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\">\n<style>{STYLE}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{body}</svg>\n"
    )
}

/// Draws a bucket and returns where it ends.
fn bucket_picture(body: &mut String, bucket: &Bucket, key: &str, top: usize) -> usize {
    text(body, "title", 10, top + 14, &bucket.path);
    let begin = top + 24;
    let rows = rows(&bucket.files);
    let end = begin + rows.len() * ROW;
    for (index, row) in rows.iter().enumerate() {
        let y = begin + index * ROW;
        let first_of_level = index == 0
            || rows
                .get(index - 1)
                .and_then(|before| before.first())
                .map(|file| file.level)
                != row.first().map(|file| file.level);
        if let Some(file) = row.first().filter(|_| first_of_level) {
            text(body, "faint", 10, y + 15, &format!("level {}", file.level));
        }
        for file in row {
            bar(body, bucket, file, y);
        }
    }
    for section in &bucket.sections {
        let (x, width) = across(Some(section.keys), bucket.bounds.len());
        let _infallible = writeln!(
            body,
            "<rect class=\"box\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\"><title>section of split {}, \
             {}</title></rect>",
            x.saturating_sub(3),
            begin - 3,
            width + 6,
            (end - begin).max(ROW),
            section.split,
            if section.merged {
                "merged"
            } else {
                "read as it is"
            },
        );
    }
    axis(body, bucket, key, end + 14);
    end + 20
}

/// Rows of bars: files of a level share one as long as their keys do not meet.
fn rows(files: &[FileFacts]) -> Vec<Vec<&FileFacts>> {
    let mut rows: Vec<Vec<&FileFacts>> = Vec::new();
    for file in files {
        let fits = rows.last().and_then(|row| row.last()).is_some_and(|last| {
            let apart = last
                .keys
                .zip(file.keys)
                .is_some_and(|(last, keys)| last.1 < keys.0);
            last.level == file.level && apart
        });
        match rows.last_mut() {
            Some(row) if fits => row.push(file),
            _ => rows.push(vec![file]),
        }
    }
    rows
}

fn bar(body: &mut String, bucket: &Bucket, file: &FileFacts, y: usize) {
    let (x, width) = across(file.keys, bucket.bounds.len());
    let class = if file.merged { "merge" } else { "raw" };
    let bound = |place| bucket.bounds.get(place).map_or("", String::as_str);
    let keys = file
        .keys
        .map(|(from, to)| range_text(bound(from), bound(to)));
    let deletes = match file.delete_rows {
        Some(0) => String::new(),
        Some(deletes) => format!(", {}", count(deletes, "delete")),
        None => ", deletes unknown".to_owned(),
    };
    let title = format!(
        "{}, {}{deletes}, {}, sequence {}..{}, keys {}",
        file.name,
        count(file.rows, "row"),
        size(file.size),
        file.min_sequence_number,
        file.max_sequence_number,
        keys.unwrap_or_else(|| "none".to_owned()),
    );
    let _infallible = writeln!(
        body,
        "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{BAR}\" rx=\"3\"><title>{}</title></rect>",
        escaped(&title)
    );
    let label = format!("{} · {}", short_name(&file.name), count(file.rows, "row"));
    // About seven units a letter.
    if label.chars().count() * 7 < width {
        text(body, "name", x + 5, y + 14, &label);
    }
}

/// Begin and width of an interval; files without keys take all.
fn across(keys: Option<(usize, usize)>, bounds: usize) -> (usize, usize) {
    let Some(((from, to), last)) = keys.zip(bounds.checked_sub(1).filter(|last| *last > 0)) else {
        return (LEFT, ACROSS);
    };
    let at = |place: usize| LEFT + place.min(last) * (ACROSS - 6) / last;
    (at(from), at(to) - at(from) + 6)
}

fn axis(body: &mut String, bucket: &Bucket, key: &str, y: usize) {
    let last = bucket.bounds.len().saturating_sub(1);
    if bucket.bounds.is_empty() {
        return;
    }
    text(body, "faint", 10, y, &clip(key, 12));
    let mut free_from = 0;
    for (place, bound) in bucket.bounds.iter().enumerate() {
        let label = clip(bound, 20);
        let width = label.chars().count() * 7;
        let (x, _) = across(Some((place, place)), bucket.bounds.len());
        let x = if place == last && place > 0 {
            (WIDTH - 20).saturating_sub(width)
        } else {
            x
        };
        let before_last = place == last || x + width < WIDTH - 110;
        if x >= free_from && before_last {
            text(body, "faint", x, y, &label);
            free_from = x + width + 8;
        }
    }
}

fn legend(body: &mut String, top: usize) {
    for (class, x, word) in [("raw", 10, "read raw"), ("merge", 110, "merged")] {
        let _infallible = writeln!(
            body,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{top}\" width=\"14\" height=\"14\" rx=\"3\"/>"
        );
        text(body, "faint", x + 20, top + 12, word);
    }
    text(
        body,
        "faint",
        200,
        top + 12,
        "dashed: a section, whose files share keys with no other; keys in order, not to scale",
    );
}

fn text(body: &mut String, class: &str, x: usize, y: usize, text: &str) {
    let _infallible = writeln!(
        body,
        "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>",
        escaped(text)
    );
}

/// Text inside of XML and HTML.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push('\n'),
            char if char.is_control() => out.extend(char.escape_default()),
            char => out.push(char),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_stay_inside_of_the_picture() {
        for bounds in 0..20 {
            for from in 0..bounds {
                for to in from..bounds {
                    let (x, width) = across(Some((from, to)), bounds);
                    assert!(x >= LEFT && width >= 6 && x + width <= WIDTH - 20);
                }
            }
        }
    }

    #[test]
    fn text_does_not_become_markup() {
        assert_eq!(
            escaped("<a & \"b\">\u{1b}"),
            "&lt;a &amp; &quot;b&quot;&gt;\\u{1b}"
        );
    }
}
