//! An opened Parquet file.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow_schema::DataType as ArrowType;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use paimon_meta::{Datum, Error, Frame, Result, ResultExt};
use parquet::DecodeResult;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReader, RowSelection};
use parquet::arrow::push_decoder::{ParquetPushDecoder, ParquetPushDecoderBuilder};
use parquet::basic::Compression;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use super::batches::{Batches, Decoder};
use super::error::corrupt;
use super::plan::{ScanPlan, ScanPlans};
use super::schema::FileSchema;
use super::{bloom, bounds, footer, page_index, pages};
use crate::reader::{Bounds, DataFile, Grain, GroupBatches, GroupLayout, Layout};
use crate::rows::{RowCursor, RowRanges};
use crate::scan::{FileColumn, ScanSpec};
use crate::single_flight::SingleFlight;
use crate::source::{ByteSource, read_all};

/// Most pages to ask for one by one: the decoder looks each of them up among all others. Beyond, columns are read whole.
const MOST_PAGES: usize = 2048;

/// An opened Parquet file. Cheap to clone, so that futures need not borrow it.
#[derive(Clone)]
pub(crate) struct ParquetFile(Arc<Inner>);

struct Inner {
    name: Arc<str>,
    source: Arc<dyn ByteSource>,
    /// Whether the source serves from memory, so that requests are free.
    resident: bool,
    schema: FileSchema,
    layout: Layout,
    plans: ScanPlans,
    /// The bytes of the page indexes, if they came with the footer.
    page_indexes: Option<(Range<u64>, Bytes)>,
    /// The footer with page indexes; `None` if the file has none.
    indexed: SingleFlight<Option<Arc<ParquetMetaData>>>,
}

/// What one fetch reads.
struct Part {
    group: usize,
    /// File positions.
    rows: RowRanges,
    plan: Arc<ScanPlan>,
    batch_size: usize,
}

impl ParquetFile {
    pub(crate) async fn open(source: Arc<dyn ByteSource>) -> Result<Self> {
        let name: Arc<str> = source.name().into();
        let opened = footer::open(source).await?;
        let schema = FileSchema::new(opened.metadata).at(|| Frame::File(name.to_string()))?;
        Ok(Self(Arc::new(Inner {
            name,
            source: opened.source,
            resident: opened.resident,
            layout: layout(&schema),
            schema,
            plans: ScanPlans::default(),
            page_indexes: opened.page_indexes,
            indexed: SingleFlight::default(),
        })))
    }

    /// What is stored, as a struct.
    pub(crate) fn stored(&self) -> ArrowType {
        ArrowType::Struct(self.0.schema.decoder.schema().fields().clone())
    }

    async fn fetch(
        self,
        group: usize,
        rows: RowRanges,
        scan: Arc<ScanSpec>,
    ) -> Result<GroupBatches> {
        let part = self
            .part(group, rows, &scan)
            .map_err(|error| self.here(group, error))?;
        let decoder = if part.plan.leaves.is_empty() || part.rows.is_empty() {
            Decoder::RowCount(part.batch_size as u64)
        } else {
            Decoder::Reader(Box::new(self.reader(&part).await?))
        };
        let Part { rows, plan, .. } = part;
        let file = Arc::clone(&self.0.name);
        Ok(Box::new(Batches {
            file,
            group,
            plan,
            positions: RowCursor::new(rows),
            decoder,
        }))
    }

    /// `rows` are those inside the group.
    fn part(&self, group: usize, rows: RowRanges, scan: &Arc<ScanSpec>) -> Result<Part> {
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
        })
    }

    /// Brings the bytes of a part, with one request, and gives the decoder that holds them.
    async fn reader(&self, part: &Part) -> Result<ParquetRecordBatchReader> {
        let here = |error| self.here(part.group, error);
        let (group, _) = self.group(part.group)?;
        let indexed = self.page_index_for(part).await?;
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

    async fn indexed(&self) -> Result<Option<Arc<ParquetMetaData>>> {
        let this = Arc::clone(&self.0);
        let fetch = || {
            page_index::read(
                this.schema.metadata(),
                &this.source,
                this.page_indexes.as_ref(),
            )
        };
        self.0.indexed.get(fetch).await
    }

    async fn bounds_of(self, column: FileColumn, grain: Grain) -> Result<Option<Bounds>> {
        let this = &self.0;
        if grain == Grain::Group {
            return Ok(bounds::of_groups(&this.schema, &this.layout, &column));
        }
        match self.indexed().await? {
            None => Ok(None),
            Some(indexed) => bounds::of_pages(&this.schema, &this.layout, &indexed, &column)
                .at(|| Frame::Column(column.name.clone()))
                .at(|| Frame::File(this.name.to_string())),
        }
    }

    async fn holds(
        self,
        group: usize,
        column: FileColumn,
        values: Vec<Datum>,
    ) -> Result<Vec<bool>> {
        let (metadata, _) = self.group(group)?;
        let this = &self.0;
        bloom::may_hold(
            &this.schema,
            this.source.as_ref(),
            metadata,
            &column.name,
            &values,
        )
        .await
        .map_err(|error| self.here(group, error))
    }

    fn group(&self, group: usize) -> Result<(&RowGroupMetaData, &GroupLayout)> {
        let metadata = self.0.schema.metadata().row_groups().get(group);
        metadata
            .zip(self.0.layout.groups.get(group))
            .ok_or_else(|| {
                let groups = self.0.layout.groups.len();
                Error::invalid_input(format!("row group {group} of a file with {groups}"))
            })
    }

    fn here(&self, group: usize, error: Error) -> Error {
        error
            .at(Frame::RowGroup(group))
            .at(Frame::File(self.0.name.to_string()))
    }
}

impl DataFile for ParquetFile {
    fn layout(&self) -> &Layout {
        &self.0.layout
    }

    fn group_bytes(&self, group: usize, scan: &ScanSpec) -> u64 {
        let Ok((metadata, _)) = self.group(group) else {
            return 0;
        };
        let columns = scan
            .columns
            .iter()
            .filter_map(|column| self.0.schema.column(&column.name));
        let chunks = columns
            .filter_map(|column| metadata.columns().get(column.leaves.clone()))
            .flatten();
        chunks
            .map(|chunk| u64::try_from(chunk.compressed_size()).unwrap_or(0))
            .sum()
    }

    fn heap_bytes(&self) -> u64 {
        let page_indexes = self
            .0
            .page_indexes
            .as_ref()
            .map_or(0, |(_, bytes)| bytes.len());
        let resident = if self.0.resident {
            self.0.source.size()
        } else {
            0
        };
        (self.0.schema.metadata().memory_size() + page_indexes) as u64 + resident
    }

    fn bounds(
        &self,
        column: &FileColumn,
        grain: Grain,
    ) -> BoxFuture<'static, Result<Option<Bounds>>> {
        self.clone().bounds_of(column.clone(), grain).boxed()
    }

    fn may_hold(
        &self,
        group: usize,
        column: &FileColumn,
        values: &[Datum],
    ) -> BoxFuture<'static, Result<Vec<bool>>> {
        self.clone()
            .holds(group, column.clone(), values.to_vec())
            .boxed()
    }

    fn fetch(
        &self,
        group: usize,
        rows: &RowRanges,
        scan: &Arc<ScanSpec>,
    ) -> BoxFuture<'static, Result<GroupBatches>> {
        let rows = self.0.layout.rows_in(group, rows);
        self.clone().fetch(group, rows, Arc::clone(scan)).boxed()
    }
}

impl fmt::Debug for ParquetFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParquetFile")
            .field("name", &self.0.name)
            .finish_non_exhaustive()
    }
}

fn layout(schema: &FileSchema) -> Layout {
    let mut layout = Layout {
        selects_rows: true,
        ..Layout::default()
    };
    for group in schema.metadata().row_groups() {
        let row_count = u64::try_from(group.num_rows()).unwrap_or(0);
        let sizes = group
            .columns()
            .iter()
            .map(|column| u64::try_from(column.compressed_size()).unwrap_or(0));
        layout.groups.push(GroupLayout {
            first_row: layout.row_count,
            row_count,
            compressed_bytes: sizes.sum(),
        });
        layout.row_count += row_count;
    }
    layout.columns = schema
        .columns()
        .iter()
        .map(|column| column.name.clone())
        .collect();
    layout
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
