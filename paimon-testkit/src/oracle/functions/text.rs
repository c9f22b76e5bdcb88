//! `listagg` (ME 4.4).

use paimon_meta::{Datum, Result};

use super::{Column, of_another_type};
use crate::cell::Cell;

/// Texts that Java takes for white space.
const BLANKS: &str = "\u{9}\u{a}\u{b}\u{c}\u{d}\u{1c}\u{1d}\u{1e}\u{1f}\u{20}\u{1680}\u{2000}\u{2001}\u{2002}\u{2003}\
    \u{2004}\u{2005}\u{2006}\u{2008}\u{2009}\u{200a}\u{2028}\u{2029}\u{205f}\u{3000}";

#[derive(Clone, Debug)]
pub(super) struct Listagg {
    delimiter: String,
    distinct: bool,
}

impl Listagg {
    pub(super) fn of(column: Column<'_>) -> Result<Self> {
        let delimiter = column.text("list-agg-delimiter").unwrap_or(",");
        Ok(Self {
            delimiter: delimiter.to_owned(),
            distinct: column.flag("distinct")?,
        })
    }

    pub(super) fn add(&self, old: Cell, input: Cell) -> Result<Cell> {
        if is_blank(&input)? {
            return Ok(old);
        }
        if is_blank(&old)? {
            return Ok(input);
        }
        let (old, input) = (text(&old)?, text(&input)?);
        let mut parts = vec![old];
        if self.distinct {
            // ME-114: an empty delimiter splits at spaces, but joins with nothing.
            let separator = match self.delimiter.as_str() {
                "" => " ",
                delimiter => delimiter,
            };
            let mut seen: Vec<&str> = old.split(separator).collect();
            for token in input.split(separator) {
                if !blank(token) && !seen.contains(&token) {
                    seen.push(token);
                    parts.push(token);
                }
            }
        } else {
            parts.push(input);
        }
        Ok(Cell::Scalar(Datum::String(parts.join(&self.delimiter))))
    }
}

/// Null, empty or nothing but white space (ME-113, ME-116).
fn is_blank(cell: &Cell) -> Result<bool> {
    Ok(*cell == Cell::Null || blank(text(cell)?))
}

fn blank(text: &str) -> bool {
    text.chars().all(|character| BLANKS.contains(character))
}

fn text(cell: &Cell) -> Result<&str> {
    match cell {
        Cell::Scalar(Datum::String(text)) => Ok(text),
        other => Err(of_another_type(other)),
    }
}
