//! The row index of a stripe: what is said of each group of rows, and where it begins in the streams.
//!
//! An index only makes reading faster: one that does not fit its stripe is not used.

use std::collections::HashMap;
use std::ops::Range;

use paimon_meta::{Error, Result};

use super::column::{DATA, LENGTH, PRESENT, SECONDARY};
use super::proto::Message;
use super::resolve::{Node, Shape};
use super::statistics::Statistics;
use super::stripe::{Stream, StripeFooter};
use crate::reader::GroupLayout;
use crate::rows::RowRanges;

/// A group of rows of one column.
#[derive(Debug, Default)]
pub(super) struct Entry {
    positions: Vec<u64>,
    pub(super) statistics: Option<Statistics>,
}

/// The groups of a column, in their order, from the bytes of its stream.
///
/// # Errors
/// `Corrupt` if they are damaged.
pub(super) fn entries(bytes: &[u8]) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    let mut index = Message::new(bytes);
    while let Some((field, value)) = index.next()? {
        if field != 1 {
            continue;
        }
        let mut message = value.message()?;
        let mut entry = Entry::default();
        while let Some((field, value)) = message.next()? {
            match field {
                1 => value.numbers(&mut entry.positions)?,
                2 => entry.statistics = Some(Statistics::parse(value.message()?)?),
                _ => {}
            }
        }
        entries.push(entry);
    }
    Ok(entries)
}

/// The groups of rows of a stripe.
#[derive(Clone, Debug)]
pub(super) struct RowGroups {
    /// Rows of a group; the last one may have fewer.
    group_rows: u64,
    pub(super) count: usize,
    /// Of the stripe, as file positions.
    all: Range<u64>,
    /// Those that are wanted, in ranges that do not touch.
    wanted: Vec<Range<usize>>,
}

impl RowGroups {
    /// `None` for a file without an index.
    pub(super) fn all(group_rows: u64, stripe: &GroupLayout) -> Option<Self> {
        let count = stripe.row_count.checked_next_multiple_of(group_rows)? / group_rows;
        Some(Self {
            group_rows,
            count: usize::try_from(count).ok()?,
            all: stripe.first_row..stripe.first_row + stripe.row_count,
            wanted: Vec::new(),
        })
    }

    /// `None` if all groups have wanted rows, or none has.
    pub(super) fn selected(
        group_rows: u64,
        stripe: &GroupLayout,
        rows: &RowRanges,
    ) -> Option<Self> {
        let mut groups = Self::all(group_rows, stripe)?;
        let mut wanted: Vec<Range<usize>> = Vec::new();
        for range in rows.ranges() {
            let group = |row: u64| {
                let group = row.checked_sub(groups.all.start)? / group_rows;
                usize::try_from(group).ok()
            };
            let (first, end) = (group(range.start)?, group(range.end - 1)? + 1);
            match wanted.last_mut() {
                Some(before) if first <= before.end => before.end = before.end.max(end),
                _ => wanted.push(first..end),
            }
        }
        let selected: usize = wanted.iter().map(ExactSizeIterator::len).sum();
        groups.wanted = wanted;
        (selected > 0 && selected < groups.count).then_some(groups)
    }

    /// File positions of a group.
    pub(super) fn rows(&self, group: usize) -> Range<u64> {
        let start = self.all.start + self.group_rows * group as u64;
        start..(start + self.group_rows).min(self.all.end)
    }
}

/// Where a group of rows begins in a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// Where its chunk begins in the stream; where nothing is compressed, where its run begins.
    pub(super) chunk: u64,
    /// How far into the inflated chunk its run begins.
    pub(super) byte: usize,
    /// Values of the run, and bits of a byte, that come before it.
    pub(super) before: [usize; 2],
}

/// Where the groups of rows of a stripe begin, in each stream of the columns that are read.
#[derive(Debug)]
pub(super) struct Places {
    /// Rows of a group; the last one may have fewer.
    pub(super) group_rows: u64,
    groups: usize,
    /// By column and kind of stream.
    places: HashMap<(usize, u64), Vec<Place>>,
}

impl Places {
    /// `None` if the index does not have what is needed.
    pub(super) fn new(
        nodes: &[&Node],
        indexes: &HashMap<usize, Vec<Entry>>,
        footer: &StripeFooter,
        compressed: bool,
        groups: &RowGroups,
    ) -> Option<Self> {
        let mut places = Self {
            group_rows: groups.group_rows,
            groups: groups.count,
            places: HashMap::new(),
        };
        for node in nodes {
            places.add(node, indexes, footer, compressed)?;
        }
        Some(places)
    }

    fn add(
        &mut self,
        node: &Node,
        indexes: &HashMap<usize, Vec<Entry>>,
        footer: &StripeFooter,
        compressed: bool,
    ) -> Option<()> {
        let column = node.column;
        let entries = indexes.get(&column)?;
        if entries.len() != self.groups {
            return None;
        }
        let streams = streams(node, footer);
        for entry in entries {
            let mut positions = entry.positions.iter().copied();
            for (kind, counts) in &streams {
                let mut place = Place {
                    chunk: positions.next()?,
                    ..Place::default()
                };
                if compressed {
                    place.byte = positions.next()?.try_into().ok()?;
                }
                for before in place.before.iter_mut().take(*counts) {
                    *before = positions.next()?.try_into().ok()?;
                }
                let of = self.places.entry((column, *kind)).or_default();
                if of.last().is_some_and(|last| last.chunk > place.chunk) {
                    return None;
                }
                of.push(place);
            }
        }
        let mut children: Box<dyn Iterator<Item = &Node>> = match &node.shape {
            Shape::List(element) => Box::new(std::iter::once(element.as_ref())),
            Shape::Map(entry) => Box::new(entry.iter()),
            Shape::Row(children) => Box::new(children.iter().map(|(_, child)| child)),
            _ => Box::new(std::iter::empty()),
        };
        children.try_for_each(|child| self.add(child, indexes, footer, compressed))
    }

    /// The bytes of a stream that wanted groups need, as places in the file: all of a stream without positions, such as
    /// a dictionary. `reach` is how far behind the start of a group a run can lie that ends the group before.
    pub(super) fn parts(&self, stream: &Stream, groups: &RowGroups, reach: u64) -> Vec<Range<u64>> {
        let Some(places) = self.places.get(&(stream.column, stream.kind)) else {
            return vec![stream.bytes.clone()];
        };
        let Range { start, end } = stream.bytes;
        let inside = |place: u64| start.saturating_add(place).min(end);
        let mut parts: Vec<Range<u64>> = Vec::new();
        for wanted in &groups.wanted {
            let from = places.get(wanted.start).map_or(end, |at| inside(at.chunk));
            let to = places
                .get(wanted.end)
                .map_or(end, |at| inside(at.chunk.saturating_add(reach)));
            match parts.last_mut() {
                Some(before) if from <= before.end => before.end = before.end.max(to),
                _ => parts.push(from..to),
            }
        }
        parts
    }

    pub(super) fn at(&self, column: usize, kind: u64, group: usize) -> Result<Place> {
        let places = self.places.get(&(column, kind));
        let place = places.and_then(|places| places.get(group).copied());
        place.ok_or_else(|| Error::internal(format!("no place of group {group}")))
    }
}

/// The streams of a column that have positions, in their order, each with how many counts a position has behind its
/// bytes: of values in a run, and of bits.
fn streams(node: &Node, footer: &StripeFooter) -> Vec<(u64, usize)> {
    let mut streams = Vec::with_capacity(3);
    if footer.has(node.column, PRESENT) {
        streams.push((PRESENT, 2));
    }
    match &node.shape {
        Shape::Boolean => streams.push((DATA, 2)),
        Shape::Byte | Shape::Integer => streams.push((DATA, 1)),
        Shape::Float | Shape::Double | Shape::WidenedFloat => streams.push((DATA, 0)),
        Shape::Decimal(_) => streams.extend([(DATA, 0), (SECONDARY, 1)]),
        Shape::Text { .. } if footer.has_dictionary(node.column) => streams.push((DATA, 1)),
        Shape::Text { .. } | Shape::Bytes => streams.extend([(DATA, 0), (LENGTH, 1)]),
        Shape::Timestamp(_) | Shape::Instant(_) => streams.extend([(DATA, 1), (SECONDARY, 1)]),
        Shape::List(_) | Shape::Map(_) => streams.push((LENGTH, 1)),
        Shape::Row(_) => {}
    }
    streams
}
