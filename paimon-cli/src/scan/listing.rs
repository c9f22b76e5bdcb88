//! Rows of metadata tables, in every format of rows.

use std::io::{BufWriter, Stdout, Write};

use paimon_meta::StringLayout;
use paimon_read::read_blocking;

use super::grid::grid;
use super::rows::RowText;
use super::writer::RowWriter;
use super::{SHOWN, Written, layout};
use crate::failure::Failure;
use crate::human::{count, number};
use crate::metadata::Listing;

pub(super) fn write_rows(
    listing: &Listing,
    out: BufWriter<Stdout>,
    format: Written,
) -> Result<(), Failure> {
    let text = RowText::new(&listing.fields(), listing.row_kinds());
    let batches = listing.batches(layout(format))?;
    let mut writer = RowWriter::new(out, format, &batches.schema(), &text)?;
    let mut batches = read_blocking(batches);
    while let Some(batch) = batches.next_batch() {
        writer.write(&batch?)?;
    }
    writer.finish()
}

/// The first rows, and how many more there are.
pub(super) fn write_table(listing: &Listing, out: &mut impl Write) -> Result<(), Failure> {
    let text = RowText::new(&listing.fields(), listing.row_kinds());
    let mut batches = read_blocking(listing.batches(StringLayout::View)?);
    let (mut rows, mut all) = (Vec::new(), 0_u64);
    while let Some(batch) = batches.next_batch() {
        let batch = batch?;
        all = all.saturating_add(batch.num_rows() as u64);
        let room = SHOWN.saturating_sub(rows.len()).min(batch.num_rows());
        rows.extend(text.cells(&batch.slice(0, room))?);
    }
    out.write_all(grid(&text.names, &text.right_aligned(), &rows).as_bytes())?;
    let more = all.saturating_sub(rows.len() as u64);
    if more > 0 {
        writeln!(out, "… and {} more rows of {}", number(more), number(all))?;
    } else {
        writeln!(out, "{}", count(all, "row"))?;
    }
    out.flush()?;
    Ok(())
}
