//! Bringing the bytes of some rows of a row group to a decoder.

use std::sync::Arc;

use paimon_meta::{Error, Frame, Result};
use parquet::DecodeResult;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReader, RowSelection};
use parquet::arrow::push_decoder::{ParquetPushDecoder, ParquetPushDecoderBuilder};
use parquet::basic::Compression;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use super::batches::Decoder;
use super::error::corrupt;
use super::file::ParquetFile;
use super::plan::ScanPlan;
use super::windows::Windows;
use super::{page_index, pages};
use crate::reader::GroupLayout;
use crate::rows::RowRanges;
use crate::scan::ScanSpec;
use crate::source::read_all;

/// Most pages to ask for one by one: the decoder looks each of them up among all others. Beyond, columns are read whole.
const MOST_PAGES: usize = 2048;

/// What one fetch reads.
pub(super) struct Part {
    pub(super) group: usize,
    /// File positions.
    pub(super) rows: RowRanges,
    pub(super) plan: Arc<ScanPlan>,
    pub(super) batch_size: usize,
    window_bytes: u64,
}

impl ParquetFile {
    /// `rows` are those inside the group.
    pub(super) fn part(&self, group: usize, rows: RowRanges, scan: &Arc<ScanSpec>) -> Result<Part> {
        let (metadata, _) = self.group(group)?;
        let plan = self.0.plans.get(&self.0.schema, scan)?;
        check_codecs(metadata, &plan.leaves)?;
        let row_count = usize::try_from(rows.row_count()).unwrap_or(usize::MAX);
        let batch_size = scan.batch_size.min(row_count).max(1);
        Ok(Part {
            group,
            rows,
            plan,
            batch_size,
            window_bytes: scan.window_bytes,
        })
    }

    /// Brings the bytes of a part, or the first window of them, and gives the decoder.
    pub(super) async fn decoder(&self, part: &Part) -> Result<(Decoder, Option<Windows>)> {
        let indexed = self.page_index_for(part).await?;
        let windows = if indexed.is_some() || self.0.resident {
            None
        } else {
            let (source, metadata) = (&self.0.source, self.0.schema.metadata());
            let leaves = &part.plan.leaves;
            Windows::new(source, metadata, part.group, leaves, part.window_bytes)
        };
        let Some(mut windows) = windows else {
            let reader = self.reader(part, indexed).await?;
            return Ok((Decoder::Reader(Box::new(reader)), None));
        };
        let (_, layout) = self.group(part.group)?;
        if let Some(first) = windows.more(1, layout.row_count) {
            first.await?;
        }
        let selection = selection(&part.rows, layout)?;
        let levels = part.plan.levels();
        let reader = levels.and_then(|levels| {
            let row_group = windows.row_group();
            ParquetRecordBatchReader::try_new_with_row_groups(
                &levels,
                &row_group,
                part.batch_size,
                selection,
            )
        });
        let reader = reader
            .map_err(|error| self.here(part.group, corrupt("row group does not decode", error)))?;
        Ok((Decoder::Reader(Box::new(reader)), Some(windows)))
    }

    /// Brings the bytes of a part, with one request, and gives the decoder that holds them.
    async fn reader(
        &self,
        part: &Part,
        indexed: Option<Arc<ParquetMetaData>>,
    ) -> Result<ParquetRecordBatchReader> {
        let here = |error| self.here(part.group, error);
        let (group, _) = self.group(part.group)?;
        let mut by_page = indexed.is_some();
        let metadata = match &indexed {
            Some(indexed) => part.plan.decoder_with(indexed).map_err(here)?,
            None => part.plan.decoder.clone(),
        };
        let failed = |error| here(corrupt("row group does not decode", error));
        let mut decoder = self.push_decoder(metadata, part).map_err(here)?;
        loop {
            match decoder.try_next_reader().map_err(failed)? {
                DecodeResult::Data(reader) => return Ok(reader),
                DecodeResult::Finished => {
                    return Err(here(Error::internal("decoder ends without rows")));
                }
                DecodeResult::NeedsData(ranges) if by_page && ranges.len() > MOST_PAGES => {
                    by_page = false;
                    let whole_chunks = part.plan.decoder.clone();
                    decoder = self.push_decoder(whole_chunks, part).map_err(here)?;
                }
                DecodeResult::NeedsData(ranges) => {
                    let buffers = read_all(self.0.source.as_ref(), ranges.clone()).await?;
                    pages::check(group, &part.plan.leaves, &ranges, &buffers).map_err(here)?;
                    decoder.push_ranges(ranges, buffers).map_err(failed)?;
                }
            }
        }
    }

    fn push_decoder(
        &self,
        metadata: ArrowReaderMetadata,
        part: &Part,
    ) -> Result<ParquetPushDecoder> {
        let (_, layout) = self.group(part.group)?;
        let builder = ParquetPushDecoderBuilder::new_with_metadata(metadata)
            .with_row_groups(vec![part.group])
            .with_projection(part.plan.mask.clone())
            .with_batch_size(part.batch_size);
        let builder = match selection(&part.rows, layout)? {
            Some(selection) => builder.with_row_selection(selection),
            None => builder,
        };
        builder
            .build()
            .map_err(|error| corrupt("row group does not decode", error))
    }

    /// The footer with page indexes, if choosing pages saves enough to be worth reading them.
    async fn page_index_for(&self, part: &Part) -> Result<Option<Arc<ParquetMetaData>>> {
        let (metadata, layout) = self.group(part.group)?;
        if self.0.resident || !page_index::pays(metadata, &part.plan.leaves, &part.rows, layout) {
            return Ok(None);
        }
        self.indexed().await
    }
}

/// The selected rows as the decoder counts them, from the start of the row group; `None` for all.
fn selection(rows: &RowRanges, layout: &GroupLayout) -> Result<Option<RowSelection>> {
    if rows.row_count() == layout.row_count {
        return Ok(None);
    }
    let too_many = |_| Error::internal("row group of more rows than memory can hold");
    let total = usize::try_from(layout.row_count).map_err(too_many)?;
    let mut ranges = Vec::with_capacity(rows.ranges().len());
    for range in rows.shifted_down(layout.first_row).ranges() {
        ranges.push(
            usize::try_from(range.start).map_err(too_many)?
                ..usize::try_from(range.end).map_err(too_many)?,
        );
    }
    Ok(Some(RowSelection::from_consecutive_ranges(
        ranges.into_iter(),
        total,
    )))
}

/// Codecs the reference writes or reads; others are refused by name before anything is read.
fn check_codecs(group: &RowGroupMetaData, leaves: &[usize]) -> Result<()> {
    for column in leaves.iter().filter_map(|leaf| group.columns().get(*leaf)) {
        match column.compression() {
            Compression::UNCOMPRESSED
            | Compression::SNAPPY
            | Compression::GZIP(_)
            | Compression::ZSTD(_)
            | Compression::LZ4
            | Compression::LZ4_RAW => {}
            codec @ (Compression::BROTLI(_) | Compression::LZO) => {
                let error = Error::unsupported(format!("Parquet codec {codec}"));
                return Err(error.at(Frame::Column(column.column_path().string())));
            }
        }
    }
    Ok(())
}
