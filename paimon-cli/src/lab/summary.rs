//! All tables of the lab in one table.

use super::show::{Answer, Shown};
use crate::human::number;
use crate::paper::{Ink, Paper};

/// Where the columns begin.
const COLUMNS: [usize; 7] = [0, 12, 19, 28, 34, 41, 61];

pub(super) fn summary(paper: &mut Paper, tables: &[Shown]) {
    line(
        paper,
        Ink::Strong,
        ["", "", "", "splits", "", "", "count(*) from metadata"].map(str::to_owned),
    );
    let head = [
        "table",
        "files",
        "levels",
        "raw",
        "merge",
        "rows",
        "reference    paimon",
    ];
    line(paper, Ink::Strong, head.map(str::to_owned));
    for table in tables {
        let (brief, rows) = match &table.answer {
            Answer::Read(brief, rows) => (brief, rows),
            Answer::Refused(feature) => {
                let refused = format!("not supported: {feature}");
                let cells = [table.name, &refused, "", "", "", "", ""];
                line(paper, Ink::Plain, cells.map(str::to_owned));
                continue;
            }
        };
        let levels: Vec<String> = brief.levels.iter().map(i32::to_string).collect();
        let answers = |yes: bool| if yes { "yes" } else { "no" };
        let counts = format!(
            "{:<13}{}",
            answers(table.reference_counts),
            answers(brief.counts_from_metadata)
        );
        let cells = [
            table.name.to_owned(),
            number(brief.files),
            levels.join(" "),
            number(brief.raw),
            number(brief.merge),
            number(*rows),
            counts,
        ];
        line(paper, Ink::Plain, cells);
    }
}

fn line(paper: &mut Paper, ink: Ink, cells: [String; 7]) {
    paper.end();
    for (column, cell) in COLUMNS.into_iter().zip(cells) {
        paper.fill(column);
        paper.put(ink, &cell);
    }
}
