//! Formats of data files.

use arrow_array::RecordBatch;
use arrow_avro::compression::CompressionCodec;
use arrow_avro::errors::AvroError;
use arrow_avro::writer::WriterBuilder;
use arrow_avro::writer::format::AvroOcfFormat;
use paimon_meta::{Error, Options, Result};

/// A format that the kit writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Parquet,
    Orc,
    Avro,
}

impl Format {
    /// That of the files of a level, by `file.format.per.level` and `file.format`.
    ///
    /// # Errors
    /// `Unsupported` for one that is not written.
    pub(super) fn of_level(options: &Options, level: i32) -> Result<Self> {
        let per_level = options.get("file.format.per.level").unwrap_or_default();
        let mut per_level = per_level.split(',').filter_map(|pair| pair.split_once(':'));
        let found = per_level.find(|(of, _)| of.trim().parse() == Ok(level));
        let found = found.map(|(_, format)| format.trim());
        match found.unwrap_or_else(|| options.get("file.format").unwrap_or("parquet")) {
            "parquet" => Ok(Self::Parquet),
            "orc" => Ok(Self::Orc),
            "avro" => Ok(Self::Avro),
            other => Err(Error::unsupported(format!(
                "file formats but Parquet, ORC and Avro in the test kit, not {other}"
            ))),
        }
    }

    /// What the names of files end in.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Orc => "orc",
            Self::Avro => "avro",
        }
    }
}

/// An Avro file of a batch, in blocks of so many rows.
pub(super) fn avro_file(batch: &RecordBatch, block_rows: usize) -> Result<Vec<u8>> {
    let mut writer = WriterBuilder::new(batch.schema().as_ref().clone())
        .with_compression(Some(CompressionCodec::ZStandard))
        .build::<_, AvroOcfFormat>(Vec::new())
        .map_err(avro_error)?;
    let block_rows = block_rows.max(1);
    for start in (0..batch.num_rows()).step_by(block_rows) {
        let rows = block_rows.min(batch.num_rows() - start);
        writer
            .write(&batch.slice(start, rows))
            .map_err(avro_error)?;
    }
    writer.finish().map_err(avro_error)?;
    Ok(writer.into_inner())
}

fn avro_error(error: AvroError) -> Error {
    Error::unsupported("values in Avro in the test kit").with_source(error)
}
