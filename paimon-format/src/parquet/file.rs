//! An opened Parquet file.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow_schema::DataType as ArrowType;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use paimon_meta::{Datum, Error, Frame, Result, ResultExt};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use super::batches::{Batches, Decoder};
use super::plan::ScanPlans;
use super::schema::FileSchema;
use super::{bloom, bounds, footer, page_index};
use crate::reader::{Bounds, DataFile, Grain, GroupBatches, GroupLayout, Layout};
use crate::rows::{RowCursor, RowRanges};
use crate::scan::{FileColumn, ScanSpec};
use crate::single_flight::SingleFlight;
use crate::source::ByteSource;

/// An opened Parquet file. Cheap to clone, so that futures need not borrow it.
#[derive(Clone)]
pub(crate) struct ParquetFile(pub(super) Arc<Inner>);

pub(super) struct Inner {
    name: Arc<str>,
    pub(super) source: Arc<dyn ByteSource>,
    /// Whether the source serves from memory, so that requests are free.
    pub(super) resident: bool,
    pub(super) schema: FileSchema,
    layout: Layout,
    pub(super) plans: ScanPlans,
    /// The bytes of the page indexes, if they came with the footer.
    page_indexes: Option<(Range<u64>, Bytes)>,
    /// The footer with page indexes; `None` if the file has none.
    indexed: SingleFlight<Option<Arc<ParquetMetaData>>>,
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
        let (decoder, windows) = if part.plan.leaves.is_empty() || part.rows.is_empty() {
            (Decoder::RowCount(part.batch_size as u64), None)
        } else {
            self.decoder(&part).await?
        };
        let (_, layout) = self.group(group)?;
        Ok(Box::new(Batches {
            file: Arc::clone(&self.0.name),
            group,
            first_row: layout.first_row,
            batch_size: part.batch_size as u64,
            plan: part.plan,
            positions: RowCursor::new(part.rows),
            decoder,
            windows,
        }))
    }

    pub(super) async fn indexed(&self) -> Result<Option<Arc<ParquetMetaData>>> {
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

    pub(super) fn group(&self, group: usize) -> Result<(&RowGroupMetaData, &GroupLayout)> {
        let metadata = self.0.schema.metadata().row_groups().get(group);
        metadata
            .zip(self.0.layout.groups.get(group))
            .ok_or_else(|| {
                let groups = self.0.layout.groups.len();
                Error::invalid_input(format!("row group {group} of a file with {groups}"))
            })
    }

    pub(super) fn here(&self, group: usize, error: Error) -> Error {
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
