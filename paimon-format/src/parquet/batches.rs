//! Decoding one row group, batch by batch.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use futures_util::future::BoxFuture;
use paimon_meta::{Error, Frame, Result, ResultExt};
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;

use super::error::corrupt_arrow;
use super::plan::ScanPlan;
use super::windows::Windows;
use crate::reader::GroupDecoder;
use crate::rows::{RowCursor, RowRanges};

/// The selected rows of one row group.
pub(super) struct Batches {
    /// Where this is, for errors.
    pub(super) file: Arc<str>,
    pub(super) group: usize,
    /// File position of its first row.
    pub(super) first_row: u64,
    pub(super) batch_size: u64,
    pub(super) plan: Arc<ScanPlan>,
    /// Positions of the rows that are still to come.
    pub(super) positions: RowCursor,
    pub(super) decoder: Decoder,
    /// Where the decoder's bytes come from, if not all of them are here.
    pub(super) windows: Option<Windows>,
}

pub(super) enum Decoder {
    Reader(Box<ParquetRecordBatchReader>),
    /// No column of the file is asked for; batches of this many rows come out of the footer alone.
    RowCount(u64),
    /// An error came out.
    Failed,
}

/// Runs the decoder of the `parquet` crate, which panics on some pages that break the format: such a panic is an error of
/// the file. The decoder is not used again after it.
fn guarded<T>(decode: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(decode)).map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        let reason = text.unwrap_or("no reason given");
        Error::corrupt(format!(
            "page does not decode, the decoder panicked: {reason}"
        ))
    })
}

impl Iterator for Batches {
    type Item = Result<(RowRanges, RecordBatch)>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.step().transpose()?;
        if next.is_err() {
            self.decoder = Decoder::Failed;
        }
        Some(
            next.at(|| Frame::RowGroup(self.group))
                .at(|| Frame::File(self.file.to_string())),
        )
    }
}

impl GroupDecoder for Batches {
    fn is_ready(&self) -> bool {
        match (&self.windows, self.next_needs()) {
            _ if matches!(self.decoder, Decoder::Failed) => true,
            (Some(windows), Some(rows)) => windows.hold(rows),
            _ => true,
        }
    }

    fn more(&mut self) -> Option<BoxFuture<'static, Result<()>>> {
        let rows = self.next_needs()?;
        let end = self.positions.end().saturating_sub(self.first_row);
        self.windows.as_mut()?.more(rows, end)
    }
}

impl Batches {
    /// The next batch comes out of the first so many rows of the group; `None` if none is left.
    fn next_needs(&self) -> Option<u64> {
        let end = self.positions.end_of_next(self.batch_size)?;
        Some(end.saturating_sub(self.first_row))
    }

    fn step(&mut self) -> Result<Option<(RowRanges, RecordBatch)>> {
        if !self.is_ready() {
            return Err(Error::internal("a batch is taken before its bytes came"));
        }
        let decoded = match &mut self.decoder {
            Decoder::Failed => return Ok(None),
            Decoder::RowCount(batch_size) => {
                let positions = self.positions.take(*batch_size);
                return if positions.is_empty() {
                    Ok(None)
                } else {
                    self.finish(positions, &[]).map(Some)
                };
            }
            Decoder::Reader(reader) => guarded(|| reader.next())?,
        };
        let left = self.positions.remaining();
        match decoded {
            None if left == 0 => Ok(None),
            None => Err(Error::corrupt(format!("row group ends {left} rows early"))),
            Some(Err(error)) => Err(corrupt_arrow("page does not decode", error)),
            Some(Ok(batch)) if batch.num_rows() as u64 > left => {
                let more = batch.num_rows() as u64 - left;
                Err(Error::corrupt(format!(
                    "row group holds at least {more} rows more than the footer says"
                )))
            }
            Some(Ok(batch)) => {
                let positions = self.positions.take(batch.num_rows() as u64);
                self.finish(positions, batch.columns()).map(Some)
            }
        }
    }

    fn finish(
        &self,
        positions: RowRanges,
        decoded: &[ArrayRef],
    ) -> Result<(RowRanges, RecordBatch)> {
        let rows = usize::try_from(positions.row_count());
        let rows = rows.map_err(|_| Error::internal("batch of more rows than memory can hold"))?;
        let batch = self.plan.batch(decoded, rows)?;
        Ok((positions, batch))
    }
}

#[cfg(test)]
mod tests {
    use paimon_meta::ErrorKind;

    use super::*;

    #[test]
    fn a_panic_of_the_decoder_is_an_error_with_its_reason() {
        let values: Vec<u8> = Vec::new();
        let error = guarded(|| values[3]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.message().contains("len is 0"), "{error}");
    }
}
