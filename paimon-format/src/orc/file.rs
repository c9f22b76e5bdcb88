//! An opened ORC file.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use paimon_meta::{Error, Frame, Result, ResultExt};

use super::batches::{Batches, Plan, root_column};
use super::chunk::Inflater;
use super::column::{DATA, DICTIONARY_DATA, LENGTH, PRESENT, SECONDARY, Streams};
use super::footer::{self, Opened, Stripe};
use super::stripe::{Stream, StripeFooter};
use super::zone::Zone;
use crate::reader::{Bounds, DataFile, Grain, GroupBatches, GroupLayout, Layout};
use crate::rows::RowRanges;
use crate::scan::{FileColumn, ScanSpec};
use crate::source::{ByteSource, read_all};

/// An opened ORC file. Cheap to clone, so that futures need not borrow it.
#[derive(Clone)]
pub(super) struct OrcFile(Arc<Inner>);

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
        let wanted = if rows.is_empty() {
            Vec::new()
        } else {
            value_streams(&footer, &plan.columns())
        };
        let buffers = self.buffers(&wanted).await?;
        let bytes = wanted.iter().zip(buffers);
        let streams = Streams {
            bytes: bytes
                .map(|(stream, bytes)| ((stream.column, stream.kind), bytes))
                .collect(),
            encodings: footer.encodings,
            writer_zone: footer.writer_zone,
            instant_zone: self.0.instant_zone.clone(),
            inflater,
        };
        let place = (&self.0.name, stripe);
        let batches = Batches::new(
            place,
            plan,
            &streams,
            rows,
            layout.first_row,
            scan.batch_size,
        );
        Ok(Box::new(batches.map_err(here)?))
    }

    async fn buffers(&self, streams: &[Stream]) -> Result<Vec<Bytes>> {
        let ranges: Vec<Range<u64>> = streams.iter().map(|stream| stream.bytes.clone()).collect();
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
        let bytes = match &opened.bytes {
            Some(file) => file.len(),
            None => footers.sum(),
        };
        let types = size_of_val(opened.types.as_slice()) + names.map(String::len).sum::<usize>();
        (bytes + types + size_of_val(opened.stripes.as_slice())) as u64
    }

    /// The statistics of the file are not used: they skip NaN (table-format 4.6).
    fn bounds(&self, _: &FileColumn, _: Grain) -> BoxFuture<'static, Result<Option<Bounds>>> {
        ready(Ok(None)).boxed()
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
