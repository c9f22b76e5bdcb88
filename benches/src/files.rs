//! Data files of a run, in all formats.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_avro::compression::CompressionCodec;
use arrow_avro::writer::format::AvroOcfFormat;
use arrow_avro::writer::{Writer, WriterBuilder};
use orc_rust::arrow_writer::{ArrowWriter as OrcWriter, ArrowWriterBuilder};
use orc_rust::compression::CompressionType;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::columns::{arrow_schema, batch};
use crate::merge_table::Layout;
use crate::runs::Run;

/// A format of data files; all are compressed with zstd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// By the `parquet` crate.
    Parquet,
    /// By the `orc-rust` crate: no dictionaries, no statistics.
    Orc,
    /// By the `arrow-avro` crate.
    Avro,
}

/// Uncompressed bytes of a row, about.
const ROW_BYTES: usize = 128;

/// Rows of an Avro block: about 64 KiB, as the reference writes them.
const BLOCK_ROWS: usize = 600;

impl FileFormat {
    /// What names of files end in.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Orc => "orc",
            Self::Avro => "avro",
        }
    }
}

/// Writes the rows of a run, with the sequence number of the first and the number of the run.
pub(crate) fn write_run(
    path: &Path,
    run: &Run,
    (sequence, number): (i64, usize),
    layout: Layout,
) -> io::Result<()> {
    let mut writer = FileWriter::new(File::create(path)?, layout)?;
    let mut from = 0;
    while from < run.len() {
        let keys = run.chunk(from);
        let first = sequence + i64::try_from(from).unwrap_or_default();
        let (key, nulls) = (layout.key, layout.nulls);
        writer.write(&batch(&keys, first, number as u64, key, nulls))?;
        from += keys.len();
    }
    writer.finish()
}

enum FileWriter {
    Parquet(Box<ArrowWriter<File>>),
    Orc(Box<OrcWriter<File>>),
    Avro(Box<Writer<File, AvroOcfFormat>>),
}

impl FileWriter {
    fn new(file: File, layout: Layout) -> io::Result<Self> {
        let schema = arrow_schema(layout.key);
        Ok(match layout.format {
            FileFormat::Parquet => {
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(ZstdLevel::default()))
                    .set_max_row_group_row_count(Some(layout.row_group_bytes / ROW_BYTES))
                    .build();
                let writer = ArrowWriter::try_new(file, Arc::new(schema), Some(properties));
                Self::Parquet(Box::new(writer.map_err(io::Error::other)?))
            }
            FileFormat::Orc => {
                let writer = ArrowWriterBuilder::new(file, Arc::new(schema))
                    .with_compression(CompressionType::Zstd)
                    .with_stripe_byte_size(layout.row_group_bytes)
                    .try_build();
                Self::Orc(Box::new(writer.map_err(io::Error::other)?))
            }
            FileFormat::Avro => {
                let writer = WriterBuilder::new(schema)
                    .with_compression(Some(CompressionCodec::ZStandard))
                    .build::<_, AvroOcfFormat>(file);
                Self::Avro(Box::new(writer.map_err(io::Error::other)?))
            }
        })
    }

    fn write(&mut self, rows: &RecordBatch) -> io::Result<()> {
        match self {
            Self::Parquet(writer) => writer.write(rows).map_err(io::Error::other),
            Self::Orc(writer) => writer.write(rows).map_err(io::Error::other),
            Self::Avro(writer) => {
                for start in (0..rows.num_rows()).step_by(BLOCK_ROWS) {
                    let count = BLOCK_ROWS.min(rows.num_rows() - start);
                    let block = writer.write(&rows.slice(start, count));
                    block.map_err(io::Error::other)?;
                }
                Ok(())
            }
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Parquet(writer) => writer.close().map(|_| ()).map_err(io::Error::other),
            Self::Orc(writer) => writer.close().map_err(io::Error::other),
            Self::Avro(mut writer) => writer.finish().map_err(io::Error::other),
        }
    }
}
