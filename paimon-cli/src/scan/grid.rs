//! Rows as an aligned table for a person.

use std::fmt::Write as _;

use crate::paper::clip;

/// Widest cell; longer text is cut.
const WIDEST: usize = 40;

/// Lines of a table with its header. Cells are one line each and hold no control characters.
pub(crate) fn grid(names: &[String], right_aligned: &[bool], rows: &[Vec<String>]) -> String {
    let header: Vec<String> = names.iter().map(|name| clip(name, WIDEST)).collect();
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|text| clip(text, WIDEST)).collect())
        .collect();
    let widths: Vec<usize> = (0..names.len())
        .map(|column| {
            let cells = rows.iter().chain([&header]);
            let widths = cells.filter_map(|row| row.get(column).map(|text| text.chars().count()));
            widths.max().unwrap_or_default()
        })
        .collect();
    let mut out = String::new();
    push_line(&mut out, &header, &widths, right_aligned);
    let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
    push_line(&mut out, &rule, &widths, right_aligned);
    for row in &rows {
        push_line(&mut out, row, &widths, right_aligned);
    }
    out
}

fn push_line(out: &mut String, cells: &[String], widths: &[usize], right_aligned: &[bool]) {
    let columns = cells.iter().zip(widths).zip(right_aligned).enumerate();
    for (index, ((text, width), right)) in columns {
        let gap = if index == 0 { "" } else { "  " };
        let _infallible = if *right {
            write!(out, "{gap}{text:>width$}")
        } else {
            write!(out, "{gap}{text:<width$}")
        };
    }
    let length = out.trim_end_matches(' ').len();
    out.truncate(length);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_cells_stay_on_their_line() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let rows = [
            row(["5", "a\nb"]),
            row(["1234", &"x".repeat(50)]),
            row(["NULL", ""]),
        ];
        let text = grid(&row(["k", "value"]), &[true, false], &rows);
        let expected = format!(
            "   k  value\n────  {}\n   5  a\\nb\n1234  {}…\nNULL\n",
            "─".repeat(40),
            "x".repeat(39)
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn no_column_is_an_empty_line_per_row() {
        assert_eq!(grid(&[], &[], &[vec![], vec![]]), "\n\n\n\n");
    }
}
