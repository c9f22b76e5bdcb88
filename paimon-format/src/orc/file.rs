//! An opened ORC file.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow_schema::DataType as ArrowType;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use paimon_meta::{Error, Frame, Result, ResultExt};

use super::batches::{Batches, Plan, root_column};
use super::chunk::Inflater;
use super::column::{DATA, DICTIONARY_DATA, LENGTH, PRESENT, ROW_INDEX, SECONDARY, Streams};
use super::footer::{self, MOST_FOOTER, Opened, Stripe};
use super::integer::LONGEST;
use super::row_index::{Entry, Places, RowGroups, entries};
use super::statistics::{self, Said};
use super::stream::Parts;
use super::stripe::{Stream, StripeFooter};
use super::zone::Zone;
use crate::reader::{Bounds, DataFile, Grain, GroupBatches, GroupLayout, Layout};
use crate::rows::RowRanges;
use crate::scan::{FileColumn, ScanSpec};
use crate::source::{ByteSource, read_all};

/// An opened ORC file. Cheap to clone, so that futures need not borrow it.
#[derive(Clone)]
pub(crate) struct OrcFile(Arc<Inner>);

struct Inner {
    name: Arc<str>,
    source: Arc<dyn ByteSource>,
    layout: Layout,
    opened: Opened,
    instant_zone: Option<Zone>,
}

impl OrcFile {
    pub(super) async fn open(
        source: Arc<dyn ByteSource>,
        instant_zone: Option<Zone>,
    ) -> Result<Self> {
        let name: Arc<str> = source.name().into();
        let opened = footer::open(source.as_ref())
            .await
            .at(|| Frame::File(name.to_string()))?;
        Ok(Self(Arc::new(Inner {
            name,
            source,
            layout: layout(&opened),
            opened,
            instant_zone,
        })))
    }

    /// The names of what is stored, as a struct; of scalars nothing is told.
    pub(crate) fn stored(&self) -> ArrowType {
        footer::shape(&self.0.opened.types, 0)
    }

    /// `rows` are those inside the stripe.
    async fn fetch(
        self,
        stripe: usize,
        rows: RowRanges,
        scan: Arc<ScanSpec>,
    ) -> Result<GroupBatches> {
        let here = |error: Error| self.here(stripe, error);
        let (place, layout) = self.stripe(stripe).map_err(here)?;
        let plan = Plan::new(&self.0.opened.types, &scan).map_err(here)?;
        let inflater = Inflater::new(self.0.opened.compression);
        let footer = StripeFooter::parse(place, &inflater).map_err(here)?;
        let columns = plan.columns();
        let wanted = if rows.is_empty() {
            Vec::new()
        } else {
            value_streams(&footer, &columns)
        };
        let selected = RowGroups::selected(self.0.opened.group_rows, layout, &rows);
        let places = match &selected {
            Some(selected) if !wanted.is_empty() => {
                let indexes = self.indexes(stripe, &footer, &columns, &inflater).await?;
                let chunks = self.0.opened.compression.has_chunks();
                Places::new(&plan.nodes(), &indexes, &footer, chunks, selected)
            }
            _ => None,
        };
        let bytes = self.parts(&wanted, places.as_ref(), selected.as_ref());
        let streams = Streams {
            bytes: bytes.await?,
            encodings: footer.encodings,
            writer_zone: footer.writer_zone,
            instant_zone: self.0.instant_zone.clone(),
            inflater,
            places,
        };
        let place = (&self.0.name, stripe);
        let batches = Batches::new(
            place,
            plan,
            streams,
            rows,
            layout.first_row,
            scan.batch_size,
        );
        Ok(Box::new(batches.map_err(here)?))
    }

    /// The bytes of streams, as far as they are needed for the selected groups of rows.
    async fn parts(
        &self,
        streams: &[Stream],
        places: Option<&Places>,
        selected: Option<&RowGroups>,
    ) -> Result<HashMap<(usize, u64), Parts>> {
        let reach = self.0.opened.compression.reach(LONGEST);
        let ranges = |stream: &Stream| match places.zip(selected) {
            Some((places, selected)) => places.parts(stream, selected, reach),
            None => vec![stream.bytes.clone()],
        };
        let ranges: Vec<Vec<Range<u64>>> = streams.iter().map(ranges).collect();
        let mut buffers = self.buffers(ranges.concat()).await?.into_iter();
        let parts = streams.iter().zip(ranges).map(|(stream, ranges)| {
            let starts = ranges.iter().map(|range| range.start - stream.bytes.start);
            let parts = starts.zip(buffers.by_ref()).collect();
            ((stream.column, stream.kind), Parts::new(parts))
        });
        Ok(parts.collect())
    }

    /// The row indexes of some columns, which ascend, as far as they are there.
    async fn indexes(
        &self,
        stripe: usize,
        footer: &StripeFooter,
        columns: &[usize],
        inflater: &Inflater,
    ) -> Result<HashMap<usize, Vec<Entry>>> {
        let streams = footer.streams.iter().filter(|stream| {
            stream.kind == ROW_INDEX && columns.binary_search(&stream.column).is_ok()
        });
        let streams: Vec<&Stream> = streams.collect();
        let ranges = streams.iter().map(|stream| stream.bytes.clone()).collect();
        let buffers = self.buffers(ranges).await?;
        let indexes = streams.iter().zip(buffers).map(|(stream, bytes)| {
            let bytes = inflater.all(bytes, MOST_FOOTER)?;
            Ok((stream.column, entries(&bytes)?))
        });
        indexes
            .collect::<Result<_>>()
            .map_err(|error| self.here(stripe, error))
    }

    async fn buffers(&self, ranges: Vec<Range<u64>>) -> Result<Vec<Bytes>> {
        match &self.0.opened.bytes {
            Some(file) => {
                let slices = ranges.iter().map(|range| footer::slice(file, 0, range));
                slices
                    .collect::<Result<_>>()
                    .at(|| Frame::File(self.0.name.to_string()))
            }
            None if ranges.is_empty() => Ok(Vec::new()),
            None => read_all(self.0.source.as_ref(), ranges).await,
        }
    }

    fn stripe(&self, stripe: usize) -> Result<(&Stripe, &GroupLayout)> {
        let place = self.0.opened.stripes.get(stripe);
        place.zip(self.0.layout.groups.get(stripe)).ok_or_else(|| {
            let stripes = self.0.layout.groups.len();
            Error::invalid_input(format!("row group {stripe} of a file with {stripes}"))
        })
    }

    fn here(&self, stripe: usize, error: Error) -> Error {
        error
            .at(Frame::RowGroup(stripe))
            .at(Frame::File(self.0.name.to_string()))
    }

    /// The columns that are read for some of the file's, ascending.
    fn columns_below(&self, scan: &ScanSpec) -> Vec<usize> {
        let types = &self.0.opened.types;
        let mut columns: Vec<usize> = scan
            .columns
            .iter()
            .filter_map(|column| root_column(types, &column.name))
            .collect();
        let mut at = 0;
        while let Some(column) = columns.get(at) {
            let children = types.get(*column).map(|of| of.children.clone());
            columns.extend(children.unwrap_or_default());
            at += 1;
        }
        columns.sort_unstable();
        columns
    }
}

impl OrcFile {
    /// Bounds of stripes by the metadata of the file, of groups of rows by the row indexes.
    async fn find_bounds(self, column: FileColumn, grain: Grain) -> Result<Option<Bounds>> {
        let (opened, layout) = (&self.0.opened, &self.0.layout);
        let places = layout.groups.iter();
        let places = places.map(|group| (group.first_row, group.row_count));
        let Some(number) = root_column(&opened.types, &column.name) else {
            let places: Vec<_> = places.collect();
            return Ok(statistics::all_null(&column, &places, layout.row_count));
        };
        let Some(of) = opened.types.get(number) else {
            return Ok(None);
        };
        let said = match grain {
            Grain::Group => {
                let metadata = self.metadata().await?;
                let stripes = statistics::of_stripes(&metadata, number);
                let stripes = stripes.at(|| Frame::File(self.0.name.to_string()))?;
                if stripes.len() != layout.groups.len() {
                    return Ok(None);
                }
                let said = places.zip(stripes);
                said.map(|((start, rows), said)| (start, rows, said))
                    .collect()
            }
            Grain::Page => self.said_of_groups(number).await?,
        };
        let (version, rows) = (opened.writer_version, layout.row_count);
        Ok(statistics::bounds(&column, of.kind, version, said, rows))
    }

    /// The metadata of the file, inflated.
    async fn metadata(&self) -> Result<Bytes> {
        let opened = &self.0.opened;
        if opened.metadata.is_empty() {
            return Ok(Bytes::new());
        }
        let stored = match &opened.metadata_bytes {
            Some(bytes) => bytes.clone(),
            None => {
                let read = self.buffers(vec![opened.metadata.clone()]).await?;
                read.into_iter().next().unwrap_or_default()
            }
        };
        let inflater = Inflater::new(opened.compression);
        let inflated = inflater.all(stored, MOST_FOOTER);
        inflated.at(|| Frame::File(self.0.name.to_string()))
    }

    /// What the row indexes say of a column; of a stripe whose index does not fit, nothing.
    async fn said_of_groups(&self, column: usize) -> Result<Said> {
        let inflater = Inflater::new(self.0.opened.compression);
        let mut said = Said::new();
        for (number, layout) in self.0.layout.groups.iter().enumerate() {
            let (stripe, _) = self.stripe(number)?;
            let footer = StripeFooter::parse(stripe, &inflater);
            let footer = footer.map_err(|error| self.here(number, error))?;
            let columns = [column];
            let mut indexes = self.indexes(number, &footer, &columns, &inflater).await?;
            let entries = indexes.remove(&column).unwrap_or_default();
            let groups = RowGroups::all(self.0.opened.group_rows, layout);
            match groups.filter(|groups| groups.count == entries.len()) {
                Some(groups) => {
                    let rows = (0..entries.len()).map(|group| groups.rows(group));
                    let of = rows.zip(entries);
                    said.extend(of.map(|(rows, entry)| {
                        (rows.start, rows.end - rows.start, entry.statistics)
                    }));
                }
                None => said.push((layout.first_row, layout.row_count, None)),
            }
        }
        Ok(said)
    }
}

/// The streams that hold values of some columns, which ascend.
fn value_streams(footer: &StripeFooter, columns: &[usize]) -> Vec<Stream> {
    let holds_values = |stream: &&Stream| {
        matches!(
            stream.kind,
            PRESENT | DATA | LENGTH | DICTIONARY_DATA | SECONDARY
        ) && columns.binary_search(&stream.column).is_ok()
    };
    footer
        .streams
        .iter()
        .filter(holds_values)
        .cloned()
        .collect()
}

impl DataFile for OrcFile {
    fn layout(&self) -> &Layout {
        &self.0.layout
    }

    fn group_bytes(&self, group: usize, scan: &ScanSpec) -> u64 {
        let inflater = Inflater::new(self.0.opened.compression);
        let footer = self
            .stripe(group)
            .and_then(|(stripe, _)| StripeFooter::parse(stripe, &inflater));
        let Ok(footer) = footer else {
            return 0;
        };
        let streams = value_streams(&footer, &self.columns_below(scan));
        let bytes = streams
            .iter()
            .map(|stream| stream.bytes.end - stream.bytes.start);
        bytes.sum()
    }

    fn heap_bytes(&self) -> u64 {
        let opened = &self.0.opened;
        let footers = opened.stripes.iter().map(|stripe| stripe.footer.len());
        let names = opened.types.iter().flat_map(|of| &of.names);
        let metadata = opened.metadata_bytes.as_ref().map_or(0, Bytes::len);
        let bytes = match &opened.bytes {
            Some(file) => file.len(),
            None => footers.sum::<usize>() + metadata,
        };
        let types = size_of_val(opened.types.as_slice()) + names.map(String::len).sum::<usize>();
        (bytes + types + size_of_val(opened.stripes.as_slice())) as u64
    }

    fn bounds(
        &self,
        column: &FileColumn,
        grain: Grain,
    ) -> BoxFuture<'static, Result<Option<Bounds>>> {
        self.clone().find_bounds(column.clone(), grain).boxed()
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

impl fmt::Debug for OrcFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OrcFile")
            .field("name", &self.0.name)
            .finish_non_exhaustive()
    }
}

fn layout(opened: &Opened) -> Layout {
    let root = opened.types.first();
    let mut layout = Layout {
        selects_rows: true,
        columns: root.map(|root| root.names.clone()).unwrap_or_default(),
        ..Layout::default()
    };
    for stripe in &opened.stripes {
        layout.groups.push(GroupLayout {
            first_row: layout.row_count,
            row_count: stripe.rows,
            compressed_bytes: stripe.streams.end - stripe.streams.start,
        });
        layout.row_count += stripe.rows;
    }
    layout
}
