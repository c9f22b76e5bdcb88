//! Rows to the standard output.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::RecordBatch;
use arrow_csv::Writer as CsvWriter;
use arrow_json::WriterBuilder;
use arrow_json::writer::{LineDelimited, Writer as JsonWriter};
use arrow_schema::{DataType, Schema, SchemaRef};
use clap::ValueEnum;
use datafusion::arrow::util::pretty::pretty_format_batches_with_schema;
use parquet::arrow::ArrowWriter;

use super::failure::Failure;

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table for a person.
    Table,
    /// An object a row, a line each; nulls are written.
    Json,
    /// Comma-separated values with a line of names.
    Csv,
    /// A Parquet file.
    Parquet,
}

impl Format {
    /// Whether a row of these columns can be written.
    ///
    /// # Errors
    /// Usage, with the name of a column that it has no place for.
    fn verify(self, schema: &Schema) -> Result<(), Failure> {
        let fields = schema.fields();
        for (index, field) in fields.iter().enumerate() {
            let name = field.name();
            let lacking = match self {
                Self::Csv if field.data_type().is_nested() => Some("nested columns"),
                Self::Json if !has_text_keys(field.data_type()) => Some("maps without text keys"),
                _ => None,
            };
            if let Some(lacking) = lacking {
                return Err(Failure::usage(&format!(
                    "column {name}: this format has no {lacking}, use --format table or parquet"
                )));
            }
            let by_name = matches!(self, Self::Json | Self::Parquet);
            if by_name
                && fields
                    .iter()
                    .skip(index + 1)
                    .any(|other| other.name() == name)
            {
                return Err(Failure::usage(&format!(
                    "two columns are called {name}: in this format each has a name of its own, give it one with AS"
                )));
            }
        }
        Ok(())
    }
}

/// Whether all maps in a value have keys that can be names of members.
fn has_text_keys(data_type: &DataType) -> bool {
    match data_type {
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(fields) => {
                let key = fields.first();
                key.is_some_and(|key| key.data_type().is_string())
                    && has_text_keys(entries.data_type())
            }
            _ => false,
        },
        DataType::Struct(fields) => fields.iter().all(|field| has_text_keys(field.data_type())),
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _) => has_text_keys(item.data_type()),
        _ => true,
    }
}

/// The standard output. What is written after its reader has gone is lost, without an error: writers of rows do not tell
/// that error from others.
#[derive(Clone, Default)]
struct Out {
    gone: Arc<AtomicBool>,
}

impl Out {
    fn unless_gone<T>(&self, written: io::Result<T>, lost: T) -> io::Result<T> {
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.gone.store(true, Ordering::Relaxed);
                Ok(lost)
            }
            written => written,
        }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unless_gone(io::stdout().write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_gone(io::stdout().flush(), ())
    }
}

/// Writes the rows of one statement.
pub(crate) struct Output {
    out: Out,
    target: Target,
}

enum Target {
    /// A statement that gives no rows.
    Nothing,
    /// All rows: the width of columns depends on them.
    Table(SchemaRef, Vec<RecordBatch>),
    Json(Box<JsonWriter<Out, LineDelimited>>),
    Csv(Box<CsvWriter<Out>>),
    Parquet(Box<ArrowWriter<Out>>),
}

impl Output {
    /// # Errors
    /// Those of a schema that the format does not hold.
    pub(crate) fn new(format: Format, schema: &SchemaRef) -> Result<Self, Failure> {
        format.verify(schema)?;
        let out = Out::default();
        let target = match format {
            _ if schema.fields().is_empty() => Target::Nothing,
            Format::Table => Target::Table(SchemaRef::clone(schema), Vec::new()),
            Format::Json => {
                let builder = WriterBuilder::new().with_explicit_nulls(true);
                Target::Json(Box::new(builder.build(out.clone())))
            }
            Format::Csv => {
                let mut writer = CsvWriter::new(out.clone());
                // The line of names stands there without rows too.
                let names = RecordBatch::new_empty(SchemaRef::clone(schema));
                writer.write(&names).map_err(Failure::output)?;
                Target::Csv(Box::new(writer))
            }
            Format::Parquet => {
                let writer = ArrowWriter::try_new(out.clone(), SchemaRef::clone(schema), None);
                Target::Parquet(Box::new(writer.map_err(Failure::output)?))
            }
        };
        Ok(Self { out, target })
    }

    /// Whether nobody reads any more.
    pub(crate) fn is_gone(&self) -> bool {
        self.out.gone.load(Ordering::Relaxed)
    }

    /// # Errors
    /// Those of writing.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), Failure> {
        match &mut self.target {
            Target::Nothing => Ok(()),
            Target::Table(_, batches) => {
                batches.push(batch.clone());
                Ok(())
            }
            Target::Json(writer) => writer.write(batch).map_err(Failure::output),
            Target::Csv(writer) => writer.write(batch).map_err(Failure::output),
            Target::Parquet(writer) => writer.write(batch).map_err(Failure::output),
        }
    }

    /// # Errors
    /// Those of writing.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        match self.target {
            Target::Nothing | Target::Csv(_) => {}
            Target::Table(schema, batches) => {
                let table = pretty_format_batches_with_schema(schema, &batches);
                let table = table.map_err(Failure::output)?;
                writeln!(self.out, "{table}").map_err(Failure::output)?;
            }
            Target::Json(mut writer) => writer.finish().map_err(Failure::output)?,
            Target::Parquet(writer) => {
                writer.close().map_err(Failure::output)?;
            }
        }
        self.out.flush().map_err(Failure::output)
    }
}
