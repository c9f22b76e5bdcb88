//! `paimon diff`: the exact difference of two states.

use std::io::{BufWriter, IsTerminal, Write};
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::RecordBatch;
use paimon_meta::{Error, Frame, Options, Result, StringLayout};
use paimon_plan::{Difference, exact_diff};
use paimon_read::{DifferenceReader, RowKinds, block_on, read_blocking};

use super::grid::grid;
use super::rows::RowText;
use super::writer::RowWriter;
use super::{SHOWN, layout, written};
use crate::args::{DiffArguments, RowFormat, Selection};
use crate::failure::Failure;
use crate::human::{count, number};
use crate::ordered::{Lane, in_order};
use crate::progress::Progress;
use crate::reading::Asked;

pub(crate) fn run(arguments: &DiffArguments) -> Result<(), Failure> {
    let terminal = std::io::stdout().is_terminal();
    let format = arguments.format.unwrap_or(match terminal {
        true => RowFormat::Table,
        false => RowFormat::Json,
    });
    if terminal && matches!(format, RowFormat::Arrow | RowFormat::Parquet) {
        return Err(Failure::Usage(
            Error::invalid_input("a terminal shows no such file").with_hint("> FILE"),
        ));
    }
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout());
    let Some(format) = written(format) else {
        return Comparing::open(arguments, StringLayout::View)?.write_table(&mut out);
    };
    let comparing = Comparing::open(arguments, layout(format))?;
    let mut writer = RowWriter::new(out, format, &comparing.reader.schema(), &comparing.text)?;
    comparing.rows(|batch| writer.write(&batch).map(|()| ControlFlow::Continue(())))?;
    writer.finish()
}

/// A difference that was planned.
struct Comparing {
    asked: Asked,
    difference: Difference,
    reader: DifferenceReader,
    text: RowText,
    limit: u64,
}

impl Comparing {
    fn open(arguments: &DiffArguments, strings: StringLayout) -> Result<Self, Failure> {
        let (from, _) = Asked::of(&arguments.selection(Some(&arguments.from)), false)?;
        let (asked, scan) = Asked::of(&arguments.selection(arguments.to.as_deref()), false)?;
        if asked.has_view() {
            return Err(Failure::Usage(Error::invalid_input(
                "a difference is that of a table's rows, it has no system tables",
            )));
        }
        let (resources, table) = (&asked.resources, &asked.table);
        let difference = block_on(exact_diff(resources, &from.table, table, &scan))?;
        let request = asked.request(difference.residual.clone(), strings);
        let reader = DifferenceReader::new(Arc::clone(table), request, resources.clone())?;
        Ok(Self {
            text: RowText::new(&asked.fields(), RowKinds::Show),
            limit: arguments.limit.unwrap_or(u64::MAX),
            asked,
            difference,
            reader,
        })
    }

    /// Hands out the rows in the order of the splits, until `write` breaks off or the limit is reached.
    fn rows(
        &self,
        mut write: impl FnMut(RecordBatch) -> Result<ControlFlow<()>, Failure>,
    ) -> Result<(), Failure> {
        let splits = &self.difference.splits;
        let mut progress = Progress::new(&self.asked.resources, splits.len(), false);
        let mut left = self.limit;
        in_order(
            if left > 0 { splits.len() } else { 0 },
            self.asked.jobs,
            |split, lane| self.read(split, lane),
            |(split, batch): (usize, RecordBatch)| {
                let rows = usize::try_from(left).unwrap_or(usize::MAX);
                let batch = batch.slice(0, rows.min(batch.num_rows()));
                left = left.saturating_sub(batch.num_rows() as u64);
                progress.advance(batch.num_rows() as u64, split);
                let more = write(batch)?;
                Ok(if left > 0 {
                    more
                } else {
                    ControlFlow::Break(())
                })
            },
        )
    }

    fn read(&self, split: usize, lane: &Lane<'_, (usize, RecordBatch)>) -> Result<()> {
        let read = || {
            let wanted = self.difference.splits.get(split).cloned();
            let wanted = wanted.ok_or_else(|| Error::internal("a split that is not there"))?;
            let mut batches = read_blocking(self.reader.read(wanted)?);
            while let Some(batch) = batches.next_batch() {
                let batch = batch?;
                let bytes = batch.get_array_memory_size();
                if lane.push((split, batch), bytes).is_break() {
                    break;
                }
            }
            Ok(())
        };
        read().map_err(|error: Error| {
            error
                .at(Frame::Split(split as u64))
                .at(Frame::Table(self.asked.table.location.clone()))
        })
    }

    /// The first rows, and how many more there are.
    fn write_table(&self, out: &mut impl Write) -> Result<(), Failure> {
        let (mut rows, mut all) = (Vec::new(), 0_u64);
        self.rows(|batch| {
            all = all.saturating_add(batch.num_rows() as u64);
            let room = SHOWN.saturating_sub(rows.len()).min(batch.num_rows());
            rows.extend(self.text.cells(&batch.slice(0, room))?);
            Ok(ControlFlow::Continue(()))
        })?;
        let text = &self.text;
        out.write_all(grid(&text.names, &text.right_aligned(), &rows).as_bytes())?;
        match all.saturating_sub(rows.len() as u64) {
            0 => writeln!(out, "{}", count(all, "row"))?,
            more => writeln!(out, "… and {} more rows of {}", number(more), number(all))?,
        }
        out.flush()?;
        Ok(())
    }
}

impl DiffArguments {
    /// What to read of the state of a name: a tag, a snapshot id, `watermark-<n>`, or a time with hours and minutes.
    fn selection(&self, state: Option<&str>) -> Selection {
        let mut options = self.options.clone();
        if let Some(state) = state {
            let key = match state.contains(':') {
                true => Options::SCAN_TIMESTAMP.key,
                false => Options::SCAN_VERSION.key,
            };
            options.push((key.to_owned(), state.to_owned()));
        }
        Selection {
            table: self.table.clone(),
            columns: self.columns.clone(),
            condition: self.condition.clone(),
            limit: None,
            partitions: self.partitions.clone(),
            bucket: self.bucket,
            rowkind: true,
            micros: self.micros,
            keep_deletes: false,
            snapshot: None,
            tag: None,
            timestamp: None,
            branch: self.branch.clone(),
            stream: false,
            options,
            jobs: self.jobs,
        }
    }
}
