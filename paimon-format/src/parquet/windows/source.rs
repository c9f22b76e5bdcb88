//! The bytes of windows as the decoder reads them.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::Arc;

use bytes::{Buf, Bytes};
use parquet::arrow::arrow_reader::RowGroups;
use parquet::column::page::{PageIterator, PageReader};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;

use super::{Chunk, Shared};

/// One row group, as the decoder sees it.
pub(super) struct Source(pub(super) Arc<Shared>);

impl RowGroups for Source {
    fn num_rows(&self) -> usize {
        let rows = self.0.row_group().map_or(0, RowGroupMetaData::num_rows);
        usize::try_from(rows).unwrap_or(0)
    }

    fn column_chunks(&self, leaf: usize) -> ParquetResult<Box<dyn PageIterator>> {
        let chunk = self.0.chunks.iter().find(|chunk| chunk.leaf == leaf);
        let column = self
            .0
            .row_group()
            .and_then(|group| group.columns().get(leaf));
        let (Some(chunk), Some(column)) = (chunk, column) else {
            let message = format!("column {leaf} was not asked for");
            return Err(ParquetError::General(message));
        };
        let pages = SerializedPageReader::new(Arc::clone(chunk), column, self.num_rows(), None)?;
        Ok(Box::new(OneChunk(Some(Box::new(pages)))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(self.0.row_group().into_iter())
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.0.metadata
    }
}

/// The pages of one column chunk.
struct OneChunk(Option<Box<dyn PageReader>>);

impl Iterator for OneChunk {
    type Item = ParquetResult<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(Ok)
    }
}

impl PageIterator for OneChunk {}

impl Length for Chunk {
    fn len(&self) -> u64 {
        self.range.end
    }
}

impl ChunkReader for Chunk {
    type T = Parts;

    fn get_read(&self, start: u64) -> ParquetResult<Parts> {
        let mut held = self.held();
        held.free(start);
        Ok(Parts(held.from(start)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        self.page(start, length)
            .ok_or_else(|| ParquetError::EOF("bytes of a page were not asked for".to_owned()))
    }
}

/// Bytes in parts, read one after the other.
pub(super) struct Parts(VecDeque<Bytes>);

impl Read for Parts {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while let Some(part) = self.0.front_mut() {
            if part.has_remaining() {
                let count = part.remaining().min(buffer.len());
                part.copy_to_slice(buffer.get_mut(..count).unwrap_or_default());
                return Ok(count);
            }
            self.0.pop_front();
        }
        Ok(0)
    }
}
