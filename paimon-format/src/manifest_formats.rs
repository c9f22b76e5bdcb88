//! Manifests in the formats of data files. Facts: table-format section 2, `manifest.format`.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{RecordBatch, StructArray};
use arrow_schema::DataType as ArrowType;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use futures_util::stream::StreamExt;
use paimon_meta::{
    DataField, DataType, EntryBatches, Error, ManifestFormat, Result, StringLayout, TypeKind,
};

use crate::reader::DataFile;
use crate::rows::RowRanges;
use crate::scan::{FileColumn, ScanSpec};
use crate::scan_file::scan_file;
use crate::source::ByteSource;

/// Entries of one batch.
const BATCH_ENTRIES: usize = 1024;

/// Reads manifests in ORC and Parquet, as far as the formats are compiled in.
#[derive(Clone, Copy, Debug, Default)]
pub struct ManifestFormats;

impl ManifestFormat for ManifestFormats {
    fn entries(&self, file: &[u8], fields: &[DataField]) -> Option<Result<EntryBatches>> {
        let source = || Arc::new(InMemory(Bytes::copy_from_slice(file)));
        match file {
            #[cfg(feature = "orc")]
            [b'O', b'R', b'C', ..] => {
                let opened = now(crate::orc::OrcReader::default().open_file(source()));
                Some(opened.and_then(|file| {
                    let stored = file.stored();
                    entries(Arc::new(file), &stored, fields)
                }))
            }
            #[cfg(feature = "parquet")]
            [b'P', b'A', b'R', b'1', ..] => {
                let opened = now(crate::parquet::ParquetFile::open(source()));
                Some(opened.and_then(|file| {
                    let stored = file.stored();
                    entries(Arc::new(file), &stored, fields)
                }))
            }
            _ => None,
        }
    }
}

/// `stored` is a struct of what the file has; of its scalars only the names are looked at.
fn entries(
    file: Arc<dyn DataFile>,
    stored: &ArrowType,
    fields: &[DataField],
) -> Result<EntryBatches> {
    let entry = TypeKind::Row(fields.to_vec()).nullable();
    let TypeKind::Row(fields) = there(&entry, stored).kind else {
        return Err(Error::internal("entries are rows"));
    };
    let columns = fields.into_iter().map(|field| FileColumn {
        name: field.name,
        data_type: field.data_type,
    });
    let scan = ScanSpec {
        columns: columns.collect(),
        batch_size: BATCH_ENTRIES,
        strings: StringLayout::Offset32,
        window_bytes: ScanSpec::WINDOW_BYTES,
    };
    let rows = RowRanges::from_range(0..file.layout().row_count);
    let mut batches = scan_file(file, rows, Arc::new(scan));
    Ok(Box::new(std::iter::from_fn(move || {
        let next = batches.next().now_or_never();
        let next = next.unwrap_or_else(|| Some(Err(pending())))?;
        Some(next.map(|(_, batch)| of_rows(batch)))
    })))
}

/// A batch without columns has rows too, which a struct array made of it had not.
fn of_rows(batch: RecordBatch) -> StructArray {
    if batch.num_columns() == 0 {
        return StructArray::new_empty_fields(batch.num_rows(), None);
    }
    batch.into()
}

/// The part of an asked type that is there. A container whose items lack all that is asked keeps one asked child, so
/// that reading it fails by name.
fn there(asked: &DataType, stored: &ArrowType) -> DataType {
    let kind = match (&asked.kind, stored) {
        (TypeKind::Row(fields), ArrowType::Struct(stored)) => {
            let found = fields.iter().filter_map(|field| {
                let stored = stored.iter().find(|stored| *stored.name() == field.name)?;
                Some(DataField {
                    data_type: there(&field.data_type, stored.data_type()),
                    ..field.clone()
                })
            });
            let found: Vec<_> = found.collect();
            TypeKind::Row(if found.is_empty() {
                fields.clone()
            } else {
                found
            })
        }
        (TypeKind::Array(element), ArrowType::List(stored)) => {
            TypeKind::Array(Box::new(there(element, stored.data_type())))
        }
        (kind, _) => kind.clone(),
    };
    DataType {
        kind,
        nullable: asked.nullable,
    }
}

/// The output of a future that waits for nothing but memory.
fn now<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    future.now_or_never().unwrap_or_else(|| Err(pending()))
}

fn pending() -> Error {
    Error::internal("bytes in memory are waited for")
}

#[derive(Debug)]
struct InMemory(Bytes);

impl ByteSource for InMemory {
    fn name(&self) -> &str {
        "manifest"
    }

    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn read(&self, ranges: Vec<Range<u64>>) -> BoxFuture<'static, Result<Vec<Bytes>>> {
        let slice = |range: &Range<u64>| {
            let range = usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?;
            self.0.get(range.clone()).map(|_| self.0.slice(range))
        };
        let slices: Option<Vec<Bytes>> = ranges.iter().map(slice).collect();
        ready(slices.ok_or_else(|| Error::corrupt("file ends early"))).boxed()
    }
}
