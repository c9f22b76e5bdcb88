//! `paimon scan`: the rows.

pub(crate) mod difference;
mod grid;
mod listing;
mod rows;
mod writer;

use std::io::{BufWriter, IsTerminal, Stdout, Write};
use std::ops::ControlFlow;
use std::time::Duration;

use arrow_array::RecordBatch;
use paimon_meta::{Error, Result, StringLayout};
use paimon_read::ReadRequest;

use crate::args::{RowFormat, ScanArguments};
use crate::count::count_rows;
use crate::failure::Failure;
use crate::following::{Following, Next};
use crate::human::{count, number};
use crate::metadata::Listing;
use crate::ordered::{Lane, in_order};
use crate::parts::{self, TaskQueue};
use crate::progress::Progress;
use crate::reading::Reading;
use grid::grid;
use rows::RowText;
use writer::RowWriter;

/// How long a stream that is followed waits before it looks again.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Rows that the format `table` shows.
const SHOWN: usize = 40;

pub(crate) fn run(arguments: &ScanArguments) -> Result<(), Failure> {
    let terminal = std::io::stdout().is_terminal();
    let streams = arguments.selection.stream || arguments.follow;
    if arguments.store_consumer && !streams {
        return Err(Failure::Usage(
            Error::invalid_input("--store-consumer is for a stream").with_hint("--stream"),
        ));
    }
    let format = arguments.format.unwrap_or(if terminal && !streams {
        RowFormat::Table
    } else {
        RowFormat::Json
    });
    if terminal && matches!(format, RowFormat::Arrow | RowFormat::Parquet) {
        return Err(Failure::Usage(
            Error::invalid_input("a terminal shows no such file").with_hint("> FILE"),
        ));
    }
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout());
    let written = written(format);
    if streams {
        let format = written.ok_or_else(|| {
            Failure::Usage(Error::invalid_input(
                "a stream is no table, the other formats go on",
            ))
        })?;
        return write_stream(arguments, out, format);
    }
    let listing = Listing::open(&arguments.selection)?;
    if let Some(listing) = listing {
        return match written {
            None => listing::write_table(&listing, &mut out),
            Some(format) => listing::write_rows(&listing, out, format),
        };
    }
    let reading = Reading::open(&arguments.selection)?;
    match written {
        None => write_table(&reading, &mut out),
        Some(format) => write_rows(&reading, out, format),
    }
}

/// The format of rows that come one after the other; `None` for a table.
fn written(format: RowFormat) -> Option<Written> {
    match format {
        RowFormat::Table => None,
        RowFormat::Json => Some(Written::Json),
        RowFormat::Csv => Some(Written::Csv),
        RowFormat::Arrow => Some(Written::Arrow),
        RowFormat::Parquet => Some(Written::Parquet),
    }
}

/// Layout of text and bytes in batches that are written.
fn layout(format: Written) -> StringLayout {
    match format {
        Written::Json | Written::Csv => StringLayout::View,
        // Readers of files know these since long.
        Written::Arrow | Written::Parquet => StringLayout::Offset32,
    }
}

/// A format that rows are written in one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    Json,
    Csv,
    Arrow,
    Parquet,
}

/// Part of a task's rows.
struct Chunk {
    split: usize,
    rows: usize,
    content: Content,
}

enum Content {
    Rows(RecordBatch),
    /// Rows that a thread has written already.
    Text(Vec<u8>),
}

fn write_rows(reading: &Reading, out: BufWriter<Stdout>, format: Written) -> Result<(), Failure> {
    let reader = reading.row_reader(reading.request(layout(format)))?;
    let text = RowText::new(&reading.fields(), reading.row_kinds);
    let writer = RowWriter::new(out, format, &reader.schema(), &text)?;
    let mut rows = Rows::new(writer, text, format, reading.limit);
    rows.write(reading)?;
    rows.writer.finish()
}

/// Plan after plan, to the last one that there is or without an end.
fn write_stream(
    arguments: &ScanArguments,
    out: BufWriter<Stdout>,
    format: Written,
) -> Result<(), Failure> {
    let mut following = Following::open(&arguments.selection)?;
    let text = RowText::new(&following.fields(), following.row_kinds());
    let schema = following.schema(layout(format))?;
    let writer = RowWriter::new(out, format, &schema, &text)?;
    let mut rows = Rows::new(writer, text, format, arguments.selection.limit);
    while rows.left > 0 {
        match following.next()? {
            Next::Reading(reading) => {
                rows.write(&reading)?;
                if arguments.store_consumer {
                    rows.writer.flush()?;
                    following.store_consumer()?;
                }
            }
            Next::NotYet if arguments.follow => {
                rows.writer.flush()?;
                std::thread::sleep(LOOK_AGAIN);
            }
            Next::NotYet | Next::Ended => break,
        }
    }
    rows.writer.finish()
}

/// Rows on their way out, plan by plan.
struct Rows {
    writer: RowWriter,
    text: RowText,
    format: Written,
    /// How many more are wanted.
    left: u64,
    limited: bool,
}

impl Rows {
    fn new(writer: RowWriter, text: RowText, format: Written, limit: Option<u64>) -> Self {
        Self {
            writer,
            text,
            format,
            left: limit.unwrap_or(u64::MAX),
            limited: limit.is_some(),
        }
    }

    /// Writes the rows of a plan.
    fn write(&mut self, reading: &Reading) -> Result<(), Failure> {
        let reader = reading.row_reader(reading.request(layout(self.format)))?;
        reading.check(reader.table())?;
        let Self {
            writer,
            text,
            format,
            left,
            limited,
        } = self;
        // Under a limit rows are cut before they become text.
        let encode = |batch: RecordBatch| match (*format, *limited) {
            (Written::Json, false) => text.json(&batch).map(Content::Text),
            (Written::Csv, false) => text.csv(&batch).map(Content::Text),
            _ => Ok(Content::Rows(batch)),
        };
        let tasks = parts::tasks(reading, reader.table())?;
        let queue = TaskQueue::of(reading, &reader, &tasks);
        let mut progress = Progress::new(&reading.resources, reading.plan.len(), false);
        in_order(
            tasks.len(),
            reading.jobs,
            |task, lane| read_task(&queue, task, &encode, lane),
            |chunk: Chunk| {
                let rows = (*left).min(chunk.rows as u64);
                *left -= rows;
                match chunk.content {
                    Content::Text(text) => writer.write_text(&text)?,
                    Content::Rows(batch) => {
                        let rows = usize::try_from(rows).unwrap_or(usize::MAX);
                        writer.write(&batch.slice(0, rows.min(batch.num_rows())))?;
                    }
                }
                progress.advance(rows, chunk.split);
                Ok(go_on_if(*left > 0))
            },
        )
    }
}

/// Reads one task into a lane.
fn read_task(
    queue: &TaskQueue<'_>,
    task: usize,
    encode: &(impl Fn(RecordBatch) -> Result<Content> + Sync),
    lane: &Lane<'_, Chunk>,
) -> Result<()> {
    let split = queue.split(task);
    queue.read(task, |batch| {
        let rows = batch.num_rows();
        let content = encode(batch)?;
        let bytes = match &content {
            Content::Rows(batch) => batch.get_array_memory_size(),
            Content::Text(text) => text.len(),
        };
        let chunk = Chunk {
            split,
            rows,
            content,
        };
        Ok(lane.push(chunk, bytes))
    })
}

fn go_on_if(more: bool) -> ControlFlow<()> {
    if more {
        ControlFlow::Continue(())
    } else {
        ControlFlow::Break(())
    }
}

/// The first rows, and how many more there are: that is counted, mostly from metadata or keys alone.
fn write_table(reading: &Reading, out: &mut impl Write) -> Result<(), Failure> {
    let asked = SHOWN as u64 + 1;
    let request = ReadRequest {
        limit: Some(reading.limit.unwrap_or(asked).min(asked)),
        ..reading.request(StringLayout::View)
    };
    let wanted = request.limit.unwrap_or(asked);
    let reader = reading.row_reader(request)?;
    reading.check(reader.table())?;
    let text = RowText::new(&reading.fields(), reading.row_kinds);
    let mut rows = Vec::new();
    if wanted > 0 {
        let splits = parts::splits(reading);
        let queue = TaskQueue::of(reading, &reader, &splits);
        in_order(
            splits.len(),
            reading.jobs,
            |split, lane| read_task(&queue, split, &|batch| Ok(Content::Rows(batch)), lane),
            |chunk: Chunk| {
                if let Content::Rows(batch) = &chunk.content {
                    rows.extend(text.cells(batch)?);
                }
                Ok(go_on_if((rows.len() as u64) < wanted))
            },
        )?;
    }
    let all = if rows.len() > SHOWN {
        count_rows(reading)?.rows()
    } else {
        rows.len() as u64
    };
    rows.truncate(SHOWN);
    let more = all.saturating_sub(rows.len() as u64);
    let table = grid(&text.names, &text.right_aligned(), &rows);
    out.write_all(table.as_bytes())?;
    if more > 0 {
        writeln!(out, "… and {} more rows of {}", number(more), number(all))?;
    } else {
        writeln!(out, "{}", count(all, "row"))?;
    }
    out.flush()?;
    Ok(())
}
