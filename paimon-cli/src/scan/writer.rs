//! Where rows go: text, an Arrow stream, a Parquet file.

use std::io::{BufWriter, Stdout, Write};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::Written;
use super::rows::RowText;
use crate::failure::Failure;

/// Writes batches one after the other.
pub(super) struct RowWriter {
    text: RowText,
    target: Target,
}

enum Target {
    Json(BufWriter<Stdout>),
    Csv(BufWriter<Stdout>),
    Arrow(Box<StreamWriter<BufWriter<Stdout>>>),
    Parquet(Box<ArrowWriter<BufWriter<Stdout>>>),
}

impl RowWriter {
    /// Writes what comes before the rows.
    pub(super) fn new(
        mut out: BufWriter<Stdout>,
        format: Written,
        schema: &SchemaRef,
        text: &RowText,
    ) -> Result<Self, Failure> {
        let target = match format {
            Written::Json => Target::Json(out),
            Written::Csv => {
                out.write_all(&text.csv_header())?;
                Target::Csv(out)
            }
            Written::Arrow => {
                let writer = StreamWriter::try_new(out, schema).map_err(Failure::of_writer)?;
                Target::Arrow(Box::new(writer))
            }
            Written::Parquet => {
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(ZstdLevel::default()))
                    .build();
                let writer = ArrowWriter::try_new(out, Arc::clone(schema), Some(properties))
                    .map_err(Failure::of_writer)?;
                Target::Parquet(Box::new(writer))
            }
        };
        Ok(Self {
            text: text.clone(),
            target,
        })
    }

    /// Writes rows.
    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<(), Failure> {
        match &mut self.target {
            Target::Json(out) => out.write_all(&self.text.json(batch)?)?,
            Target::Csv(out) => out.write_all(&self.text.csv(batch)?)?,
            Target::Arrow(writer) => writer.write(batch).map_err(Failure::of_writer)?,
            Target::Parquet(writer) => writer.write(batch).map_err(Failure::of_writer)?,
        }
        Ok(())
    }

    /// Writes rows that are text already.
    pub(super) fn write_text(&mut self, text: &[u8]) -> Result<(), Failure> {
        match &mut self.target {
            Target::Json(out) | Target::Csv(out) => out.write_all(text)?,
            Target::Arrow(_) | Target::Parquet(_) => {}
        }
        Ok(())
    }

    /// Hands on what was written so far; a Parquet file only when it is finished.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        match &mut self.target {
            Target::Json(out) | Target::Csv(out) => out.flush()?,
            Target::Arrow(writer) => writer.get_mut().flush()?,
            Target::Parquet(_) => {}
        }
        Ok(())
    }

    /// Writes what comes after the rows.
    pub(super) fn finish(self) -> Result<(), Failure> {
        match self.target {
            Target::Json(mut out) | Target::Csv(mut out) => out.flush()?,
            Target::Arrow(mut writer) => {
                writer.finish().map_err(Failure::of_writer)?;
                writer.get_mut().flush()?;
            }
            Target::Parquet(writer) => {
                let mut out = writer.into_inner().map_err(Failure::of_writer)?;
                out.flush()?;
            }
        }
        Ok(())
    }
}
