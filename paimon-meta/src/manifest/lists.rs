//! Columns of lists, and of statistics, which have one.

use std::ops::Range;

use arrow_array::{Array, ArrayRef, BinaryArray, Int64Array, ListArray, StringArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};

use crate::file_table::{NullCounts, StatsRef, TextList};

/// A column of lists.
#[derive(Clone, Debug)]
pub(super) struct Lists<T> {
    offsets: OffsetBuffer<i32>,
    valid: Option<NullBuffer>,
    items: T,
}

impl<T: Array + Clone> Lists<T> {
    /// `None` if the items are of another type.
    pub(super) fn new<'a>(
        lists: &'a ListArray,
        cast: impl FnOnce(&'a ArrayRef) -> Option<&'a T>,
    ) -> Option<Self>
    where
        T: 'a,
    {
        Some(Self {
            offsets: lists.offsets().clone(),
            valid: lists.nulls().cloned(),
            items: cast(lists.values())?.clone(),
        })
    }
}

impl<T> Lists<T> {
    pub(super) fn items(&self) -> &T {
        &self.items
    }

    /// The row whose list has an item.
    pub(super) fn row_of(&self, item: usize) -> usize {
        let item = i32::try_from(item).unwrap_or(i32::MAX);
        self.offsets
            .partition_point(|start| *start <= item)
            .saturating_sub(1)
    }

    /// Items of the list in `row`; `None` if it is null.
    pub(super) fn range(&self, row: usize) -> Option<Range<usize>> {
        if self.valid.as_ref().is_some_and(|valid| valid.is_null(row)) {
            return None;
        }
        let (start, end) = (self.offsets.get(row)?, self.offsets.get(row + 1)?);
        Some(usize::try_from(*start).ok()?..usize::try_from(*end).ok()?)
    }
}

impl Lists<StringArray> {
    pub(super) fn texts(&self, row: usize) -> Option<TextList<'_>> {
        self.range(row)
            .map(|range| TextList::of_array(&self.items, range))
    }
}

impl Lists<Int64Array> {
    /// The longs of the list in `row`; at a null there is some long.
    pub(super) fn longs(&self, row: usize) -> Option<&[i64]> {
        self.items.values().get(self.range(row)?)
    }
}

/// Columns of a statistics record.
#[derive(Clone, Debug)]
pub(super) struct StatsColumns {
    valid: Option<NullBuffer>,
    min: BinaryArray,
    max: BinaryArray,
    null_counts: Option<Lists<Int64Array>>,
}

impl StatsColumns {
    /// Of bounds without nulls; `valid` tells which rows have statistics.
    pub(super) fn new(
        valid: Option<NullBuffer>,
        min: &BinaryArray,
        max: &BinaryArray,
        null_counts: Option<Lists<Int64Array>>,
    ) -> Self {
        let (min, max) = (min.clone(), max.clone());
        Self {
            valid,
            min,
            max,
            null_counts,
        }
    }

    pub(super) fn get(&self, row: usize) -> Option<StatsRef<'_>> {
        if self.valid.as_ref().is_some_and(|valid| valid.is_null(row)) {
            return None;
        }
        Some(StatsRef {
            min: self.min.value(row),
            max: self.max.value(row),
            null_counts: self.null_counts(row).unwrap_or_default(),
        })
    }

    fn null_counts(&self, row: usize) -> Option<NullCounts<'_>> {
        let lists = self.null_counts.as_ref()?;
        let start = lists.range(row)?.start;
        let valid = lists.items.nulls().map(|valid| (valid, start));
        let counts = lists.longs(row)?;
        Some(NullCounts::Longs { counts, valid })
    }
}
