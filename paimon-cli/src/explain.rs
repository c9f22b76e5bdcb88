//! `paimon explain`: what a read of a table does, and why.

mod bars;
mod brief;
mod buckets;
mod build;
mod estimate;
mod levels;
mod measure;
mod model;
mod splits;
mod svg;
mod text;
mod words;

use std::io::Write;

use crate::args::{ExplainArguments, ExplainFormat};
use crate::environment;
use crate::failure::Failure;
use crate::following::refuse_stream;
use crate::reading::Reading;
pub(crate) use brief::{Brief, brief};
use build::{Detail, explain};
use estimate::estimate;
use measure::measure;
use model::Explanation;

pub(crate) fn run(arguments: &ExplainArguments) -> Result<(), Failure> {
    refuse_stream(&arguments.selection)?;
    let reading = Reading::open(&arguments.selection)?;
    // The clock is as old as the resources, which are made first.
    let planning_nanos = reading.resources.now_nanos();
    let detail = match arguments.format {
        ExplainFormat::Text => Detail {
            splits: 12,
            buckets: 6,
            parts: arguments.parts,
        },
        ExplainFormat::Svg | ExplainFormat::Html => Detail {
            splits: 100,
            buckets: 100,
            parts: arguments.parts,
        },
        ExplainFormat::Json => Detail {
            splits: usize::MAX,
            buckets: usize::MAX,
            parts: arguments.parts,
        },
    };
    let mut explanation = explain(&reading, detail)?;
    explanation.estimated = Some(estimate(&reading, arguments.footers)?);
    if arguments.analyze {
        measure(&reading, planning_nanos, &mut explanation)?;
    }
    let name = arguments.selection.table.as_str();
    let mut out = std::io::stdout().lock();
    match arguments.format {
        ExplainFormat::Text => {
            let text = text::text(&explanation, name, environment::colours());
            out.write_all(text.as_bytes())?;
        }
        ExplainFormat::Svg => out.write_all(svg::svg(&explanation).as_bytes())?,
        ExplainFormat::Html => out.write_all(page(&explanation, name).as_bytes())?,
        ExplainFormat::Json => {
            serde_json::to_writer(&mut out, &explanation).map_err(Failure::of_writer)?;
            writeln!(out)?;
        }
    }
    out.flush()?;
    Ok(())
}

/// The picture, and the words below it.
fn page(explanation: &Explanation, name: &str) -> String {
    let title = svg::escaped(name);
    let picture = svg::svg(explanation);
    let words = svg::escaped(&text::text(explanation, name, false));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{title}</title></head>\n\
         <body>\n{picture}<pre>\n{words}</pre>\n</body>\n</html>\n"
    )
}
