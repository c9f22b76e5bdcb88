//! Statistics of row groups and pages as bounds of the asked type.
//!
//! What is not safe is unknown: statistics in the old fields where their order was wrong (text, bytes, decimals in bytes,
//! unsigned numbers), any of INT96, columns inside other columns, floats whose writer skipped NaN.

mod values;

use std::sync::Arc;

use arrow_array::new_null_array;
use arrow_schema::DataType as ArrowType;
use paimon_meta::{Error, Result, StringLayout};
use parquet::basic::{ColumnOrder, Type as PhysicalType};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescriptor;

use self::values::{Value, array_of, in_java_order, index_values, statistics_values};
use super::convert::Convert;
use super::schema::FileSchema;
use super::stored::Stored;
use crate::reader::{Bounds, Layout};
use crate::scan::FileColumn;

/// A top-level column whose statistics can be used.
struct Bounded<'a> {
    column: &'a FileColumn,
    leaf: usize,
    /// The type of the statistics as arrays.
    decoded: ArrowType,
    to: ArrowType,
    convert: Convert,
    /// Whether only statistics in a known order can be used.
    needs_order: bool,
    /// Whether text and bytes may have been cut.
    may_be_cut: bool,
    nan_is_largest: bool,
}

impl<'a> Bounded<'a> {
    /// `None` if nothing that is said of the column can be used.
    fn find(schema: &FileSchema, column: &'a FileColumn) -> Option<Self> {
        let stored = schema.column(&column.name)?;
        let root = stored.decoded.as_ref().ok()?;
        let leaf = schema.leaf(stored.leaves.start)?;
        let single =
            stored.leaves.len() == 1 && leaf.max_rep_level() == 0 && leaf.max_def_level() <= 1;
        let order = schema.metadata().file_metadata().column_orders();
        let order = order.map_or(Some(&ColumnOrder::UNDEFINED), |orders| {
            orders.get(stored.leaves.start)
        })?;
        let needs_order = needs_order(leaf);
        let ordered = match order {
            ColumnOrder::TYPE_DEFINED_ORDER(_) => true,
            ColumnOrder::UNDEFINED => !needs_order,
            ColumnOrder::UNKNOWN => false,
        };
        if !single || !ordered || Stored::of(leaf) == Stored::Int96 {
            return None;
        }
        let decoded = match schema.decoder.schema().fields().get(*root)?.data_type() {
            ArrowType::Utf8 => ArrowType::Utf8View,
            ArrowType::Binary => ArrowType::BinaryView,
            other => other.clone(),
        };
        let to = column.data_type.to_arrow(StringLayout::View).ok()?;
        let convert = Convert::choose(leaf, &decoded, &column.data_type.kind, &to).ok()?;
        Some(Self {
            column,
            leaf: stored.leaves.start,
            may_be_cut: matches!(
                Stored::of(leaf),
                Stored::Text | Stored::Bytes | Stored::Fixed
            ),
            decoded,
            to,
            convert,
            needs_order,
            nan_is_largest: schema.nan_is_largest,
        })
    }

    fn in_java_order<'v>(&self, bounds: (Value<'v>, Value<'v>)) -> Option<(Value<'v>, Value<'v>)> {
        in_java_order(bounds, self.nan_is_largest)
    }

    /// `None` if a bound is no value of the asked type.
    fn finish(&self, ranges: Ranges<'_>) -> Option<Bounds> {
        let convert = |values: &[Option<Value<'_>>]| {
            let array = array_of(values, &self.decoded)?;
            self.convert.apply(&array, &self.to).ok()
        };
        let (min, max) = (convert(&ranges.min)?, convert(&ranges.max)?);
        let exact = ranges.exact && !matches!(self.to, ArrowType::Float32 | ArrowType::Float64);
        Some(Bounds {
            data_type: self.column.data_type.clone(),
            starts: ranges.starts,
            min,
            max,
            null_counts: ranges.null_counts.into_iter().collect(),
            exact,
        })
    }
}

/// Whether statistics of the type were wrong before their order was defined.
fn needs_order(leaf: &ColumnDescriptor) -> bool {
    matches!(
        leaf.physical_type(),
        PhysicalType::BYTE_ARRAY | PhysicalType::FIXED_LEN_BYTE_ARRAY
    ) || Stored::of(leaf) == (Stored::Integer { signed: false })
}

/// What is said of consecutive ranges of rows.
#[derive(Default)]
struct Ranges<'a> {
    starts: Vec<u64>,
    min: Vec<Option<Value<'a>>>,
    max: Vec<Option<Value<'a>>>,
    null_counts: Vec<Option<u64>>,
    exact: bool,
}

impl<'a> Ranges<'a> {
    fn new(exact: bool) -> Self {
        Self {
            exact,
            ..Self::default()
        }
    }

    fn push(
        &mut self,
        start: u64,
        bounds: Option<(Value<'a>, Value<'a>)>,
        null_count: Option<u64>,
    ) {
        let (min, max) = bounds.unzip();
        self.starts.push(start);
        self.min.push(min);
        self.max.push(max);
        self.null_counts.push(null_count);
    }
}

/// Bounds of the row groups.
pub(super) fn of_groups(
    schema: &FileSchema,
    layout: &Layout,
    column: &FileColumn,
) -> Option<Bounds> {
    if schema.column(&column.name).is_none() {
        return all_null(layout, column);
    }
    let bounded = Bounded::find(schema, column)?;
    let mut ranges = Ranges::new(true);
    for (metadata, group) in schema.metadata().row_groups().iter().zip(&layout.groups) {
        let statistics = metadata.columns().get(bounded.leaf)?.statistics();
        let usable = statistics
            .filter(|statistics| !bounded.needs_order || !statistics.is_min_max_deprecated());
        let bounds = usable
            .and_then(statistics_values)
            .and_then(|bounds| bounded.in_java_order(bounds));
        ranges.exact &=
            bounds.is_none() || usable.is_some_and(|statistics| is_exact(statistics, &bounded));
        ranges.push(
            group.first_row,
            bounds,
            statistics.and_then(Statistics::null_count_opt),
        );
    }
    ranges.starts.push(layout.row_count);
    bounded.finish(ranges)
}

/// Numbers are never cut; text and bytes are not if the writer says so.
fn is_exact(statistics: &Statistics, bounded: &Bounded<'_>) -> bool {
    !bounded.may_be_cut || (statistics.min_is_exact() && statistics.max_is_exact())
}

/// A column that the file does not have is null in every row (RP-256).
fn all_null(layout: &Layout, column: &FileColumn) -> Option<Bounds> {
    let to = column
        .data_type
        .to_arrow(StringLayout::View)
        .ok()
        .filter(|_| column.data_type.nullable)?;
    let mut starts: Vec<u64> = layout.groups.iter().map(|group| group.first_row).collect();
    starts.push(layout.row_count);
    let unknown = new_null_array(&to, layout.groups.len());
    Some(Bounds {
        data_type: column.data_type.clone(),
        starts,
        min: Arc::clone(&unknown),
        max: unknown,
        null_counts: layout.groups.iter().map(|group| group.row_count).collect(),
        exact: false,
    })
}

/// Bounds of the pages of a file with page indexes.
///
/// # Errors
/// `Corrupt` for indexes that disagree.
pub(super) fn of_pages(
    schema: &FileSchema,
    layout: &Layout,
    indexed: &ParquetMetaData,
    column: &FileColumn,
) -> Result<Option<Bounds>> {
    if schema.column(&column.name).is_none() {
        return Ok(all_null(layout, column));
    }
    let Some(bounded) = Bounded::find(schema, column) else {
        return Ok(None);
    };
    let (Some(columns), Some(offsets)) = (indexed.column_index(), indexed.offset_index()) else {
        return Ok(None);
    };
    let mut ranges = Ranges::new(!bounded.may_be_cut);
    for ((columns, offsets), group) in columns.iter().zip(offsets).zip(&layout.groups) {
        let (Some(index), Some(offsets)) = (columns.get(bounded.leaf), offsets.get(bounded.leaf))
        else {
            return Ok(None);
        };
        let pages = offsets.page_locations();
        let known = !matches!(index, ColumnIndexMetaData::NONE);
        if known && index.num_pages() != pages.len() as u64 {
            let (found, expected) = (index.num_pages(), pages.len());
            return Err(Error::corrupt(format!(
                "column index of {found} pages, offset index of {expected}"
            )));
        }
        for (number, page) in pages.iter().enumerate() {
            let start = group.first_row + u64::try_from(page.first_row_index).unwrap_or_default();
            let (bounds, nulls) = if known {
                index_values(index, number)
            } else {
                (None, None)
            };
            ranges.push(
                start,
                bounds.and_then(|bounds| bounded.in_java_order(bounds)),
                nulls,
            );
        }
    }
    ranges.starts.push(layout.row_count);
    Ok(bounded.finish(ranges))
}

#[cfg(test)]
mod tests;
