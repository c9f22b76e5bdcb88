//! Columns of one batch by name, checked once, so that reading a row cannot fail.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, TimestampMillisecondType};
use arrow_array::{Array, ArrayRef, BinaryArray, Int32Array, Int64Array, StringArray, StructArray};

use crate::binary_row::BinaryRow;
use crate::error::{Error, Frame, Result};
use crate::file_table::StatsRef;
use crate::stats::SimpleStats;

use super::entries::{EntryBatch, Want};
use super::entry::EntryKind;
use super::lists::{Lists, StatsColumns};

/// Fields of a statistics record.
pub(super) const STATS: &[(&str, Want)] = &[
    ("_MIN_VALUES", Want::Bytes),
    ("_MAX_VALUES", Want::Bytes),
    ("_NULL_COUNTS", Want::List(&Want::Long)),
];

/// The fields of one record type in a batch. An optional field may be missing or null (TF-039).
pub(super) struct Columns<'a> {
    record: &'a StructArray,
    /// Entry number of the first row.
    first: u64,
    /// The lists whose items the records are, one an entry.
    lists: Option<&'a Lists<StructArray>>,
    /// Fields that lead to the record, outermost first.
    path: Vec<&'static str>,
}

impl<'a> Columns<'a> {
    /// The fields of the entries themselves.
    pub(super) fn of_entries(batch: &'a EntryBatch) -> Result<Self> {
        let columns = Self {
            record: &batch.entries,
            first: batch.first,
            lists: None,
            path: Vec::new(),
        };
        match first_null(columns.record) {
            Some(row) => Err(columns.error(row, None, "entry is null, expected a record")),
            None => Ok(columns),
        }
    }

    /// The fields of the records in a list.
    pub(super) fn of_items(&self, name: &'static str, lists: &'a Lists<StructArray>) -> Self {
        let path = self.path.iter().copied().chain([name]).collect();
        Self {
            record: lists.items(),
            first: self.first,
            lists: Some(lists),
            path,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.record.len()
    }

    /// Number in the file of the entry that has `row`.
    fn entry(&self, row: usize) -> u64 {
        let row = self.lists.map_or(row, |lists| lists.row_of(row));
        self.first + u64::try_from(row).unwrap_or_default()
    }

    /// An error in one row.
    pub(super) fn error(
        &self,
        row: usize,
        name: Option<&str>,
        message: impl Into<String>,
    ) -> Error {
        self.locate(Error::corrupt(message), Some(row), name)
    }

    /// Adds the frames of a field and its entry.
    fn locate(&self, error: Error, row: Option<usize>, name: Option<&str>) -> Error {
        let names = name.into_iter().chain(self.path.iter().rev().copied());
        let error = names.fold(error, |error, name| error.at(Frame::Field(name.to_owned())));
        match row {
            Some(row) => error.at(Frame::Entry(self.entry(row))),
            None => error,
        }
    }

    fn optional<T: ?Sized>(
        &self,
        name: &str,
        cast: impl FnOnce(&'a ArrayRef) -> Option<&'a T>,
    ) -> Result<Option<&'a T>> {
        let Some(column) = self.record.column_by_name(name) else {
            return Ok(None);
        };
        cast(column).map(Some).ok_or_else(|| {
            let message = format!("decoded type is {}", column.data_type());
            self.locate(Error::internal(message), None, Some(name))
        })
    }

    fn present<T>(&self, name: &str, found: Option<T>) -> Result<T> {
        found.ok_or_else(|| {
            self.locate(
                Error::corrupt("required field is missing"),
                None,
                Some(name),
            )
        })
    }

    fn without_nulls<T: Array>(&self, name: &str, column: &'a T) -> Result<&'a T> {
        match first_null(column) {
            Some(row) => Err(self.error(row, Some(name), "required field is null")),
            None => Ok(column),
        }
    }

    pub(super) fn optional_int(&self, name: &str) -> Result<Option<&'a Int32Array>> {
        self.optional(name, |column| column.as_primitive_opt::<Int32Type>())
    }

    pub(super) fn int(&self, name: &str) -> Result<&'a Int32Array> {
        self.without_nulls(name, self.present(name, self.optional_int(name)?)?)
    }

    pub(super) fn optional_long(&self, name: &str) -> Result<Option<&'a Int64Array>> {
        self.optional(name, |column| column.as_primitive_opt::<Int64Type>())
    }

    /// Milliseconds, see [`Want::Millis`].
    pub(super) fn optional_millis(&self, name: &str) -> Result<Option<Int64Array>> {
        let Some(column) = self.record.column_by_name(name) else {
            return Ok(None);
        };
        match column.as_primitive_opt::<TimestampMillisecondType>() {
            Some(millis) => Ok(Some(millis.reinterpret_cast())),
            None => Ok(self.optional_long(name)?.cloned()),
        }
    }

    pub(super) fn long(&self, name: &str) -> Result<&'a Int64Array> {
        self.without_nulls(name, self.present(name, self.optional_long(name)?)?)
    }

    /// A count or size: no value is negative.
    pub(super) fn optional_size(&self, name: &str) -> Result<Option<&'a Int64Array>> {
        let Some(column) = self.optional_long(name)? else {
            return Ok(None);
        };
        let negative = |row: &usize| column.is_valid(*row) && column.value(*row) < 0;
        match (0..column.len()).find(negative) {
            Some(row) => {
                let message = format!("value is {}, expected 0 or more", column.value(row));
                Err(self.error(row, Some(name), message))
            }
            None => Ok(Some(column)),
        }
    }

    pub(super) fn size(&self, name: &str) -> Result<&'a Int64Array> {
        self.without_nulls(name, self.present(name, self.optional_size(name)?)?)
    }

    /// A code of two values: 0, 1 or null.
    pub(super) fn optional_code(&self, name: &str) -> Result<Option<&'a Int32Array>> {
        let Some(column) = self.optional_int(name)? else {
            return Ok(None);
        };
        let unknown = |row: &usize| column.is_valid(*row) && !(0..=1).contains(&column.value(*row));
        match (0..column.len()).find(unknown) {
            Some(row) => {
                let message = format!("value is {}, expected 0 or 1", column.value(row));
                Err(self.error(row, Some(name), message))
            }
            None => Ok(Some(column)),
        }
    }

    pub(super) fn code(&self, name: &str) -> Result<&'a Int32Array> {
        self.without_nulls(name, self.present(name, self.optional_code(name)?)?)
    }

    pub(super) fn optional_bytes(&self, name: &str) -> Result<Option<&'a BinaryArray>> {
        self.optional(name, |column| column.as_binary_opt::<i32>())
    }

    pub(super) fn bytes(&self, name: &str) -> Result<&'a BinaryArray> {
        self.without_nulls(name, self.present(name, self.optional_bytes(name)?)?)
    }

    pub(super) fn optional_text(&self, name: &str) -> Result<Option<&'a StringArray>> {
        self.optional(name, |column| column.as_string_opt::<i32>())
    }

    pub(super) fn text(&self, name: &str) -> Result<&'a StringArray> {
        self.without_nulls(name, self.present(name, self.optional_text(name)?)?)
    }

    /// Lists of texts, none of them null.
    pub(super) fn optional_texts(&self, name: &str) -> Result<Option<Lists<StringArray>>> {
        let lists = self.optional_lists(name, |items| items.as_string_opt::<i32>())?;
        self.without_null_items(name, lists)
    }

    /// Lists of longs, none of them null.
    pub(super) fn optional_longs(&self, name: &str) -> Result<Option<Lists<Int64Array>>> {
        let lists = self.optional_lists(name, |items| items.as_primitive_opt::<Int64Type>())?;
        self.without_null_items(name, lists)
    }

    /// Lists of records, none of them null.
    pub(super) fn optional_records(&self, name: &str) -> Result<Option<Lists<StructArray>>> {
        let lists = self.optional_lists(name, |items| items.as_struct_opt())?;
        self.without_null_items(name, lists)
    }

    fn optional_lists<T: Array + Clone + 'a>(
        &self,
        name: &str,
        cast: impl FnOnce(&'a ArrayRef) -> Option<&'a T>,
    ) -> Result<Option<Lists<T>>> {
        let Some(lists) = self.optional(name, |column| column.as_list_opt::<i32>())? else {
            return Ok(None);
        };
        Lists::new(lists, cast).map(Some).ok_or_else(|| {
            let message = format!("decoded type is {}", lists.data_type());
            self.locate(Error::internal(message), None, Some(name))
        })
    }

    fn without_null_items<T: Array>(
        &self,
        name: &str,
        lists: Option<Lists<T>>,
    ) -> Result<Option<Lists<T>>> {
        match lists
            .as_ref()
            .and_then(|lists| Some((lists, first_null(lists.items())?)))
        {
            Some((lists, item)) => {
                let row = lists.row_of(item);
                Err(self.error(row, Some(name), "item of the list is null"))
            }
            None => Ok(lists),
        }
    }

    fn optional_struct(&self, name: &str) -> Result<Option<&'a StructArray>> {
        self.optional(name, |column| column.as_struct_opt())
    }

    /// The fields of a record inside this one.
    fn inside(&self, name: &'static str, record: &'a StructArray) -> Self {
        let path = self.path.iter().copied().chain([name]).collect();
        Self {
            record,
            first: self.first,
            lists: self.lists,
            path,
        }
    }

    pub(super) fn record(&self, name: &'static str) -> Result<Self> {
        let record = self.present(name, self.optional_struct(name)?)?;
        Ok(self.inside(name, self.without_nulls(name, record)?))
    }

    pub(super) fn optional_stats(&self, name: &'static str) -> Result<Option<StatsColumns>> {
        let Some(record) = self.optional_struct(name)? else {
            return Ok(None);
        };
        let stats = self.inside(name, record);
        let null_counts = stats.optional_lists("_NULL_COUNTS", |items| items.as_primitive_opt())?;
        let (min, max) = (stats.bytes("_MIN_VALUES")?, stats.bytes("_MAX_VALUES")?);
        let valid = record.nulls().cloned();
        Ok(Some(StatsColumns::new(valid, min, max, null_counts)))
    }

    pub(super) fn stats(&self, name: &'static str) -> Result<StatsColumns> {
        self.present(name, self.optional_stats(name)?)
    }

    /// Whether all entries have the version of their kind of file (TF-038).
    pub(super) fn check_version(&self, expected: i32) -> Result<()> {
        let name = "_VERSION";
        let versions = self.int(name)?.values();
        let mut versions = versions.iter().enumerate();
        let Some((row, found)) = versions.find(|(_, version)| **version != expected) else {
            return Ok(());
        };
        let feature = format!("manifest version {found}, expected {expected}");
        let error = self.locate(Error::unsupported(feature), Some(row), Some(name));
        // Files of an earlier version belong to tables that no release can read any more (section 4.2).
        Err(if *found < expected {
            error.with_hint("recreate the table")
        } else {
            error
        })
    }

    /// A row of its own from the bytes in `row`.
    pub(super) fn binary_row(&self, name: &str, row: usize, bytes: &[u8]) -> Result<BinaryRow> {
        BinaryRow::from_serialized(bytes.to_vec())
            .map_err(|error| self.locate(error, Some(row), Some(name)))
    }

    /// Statistics of their own from those in `row`.
    pub(super) fn simple_stats(
        &self,
        name: &str,
        row: usize,
        stats: Option<StatsRef<'_>>,
    ) -> Result<SimpleStats> {
        let stats = stats.ok_or_else(|| Error::corrupt("required field is null"));
        stats
            .and_then(StatsRef::to_stats)
            .map_err(|error| self.locate(error, Some(row), Some(name)))
    }
}

fn first_null(array: &dyn Array) -> Option<usize> {
    if array.null_count() == 0 {
        return None;
    }
    (0..array.len()).find(|row| array.is_null(*row))
}

pub(super) fn int_at(column: Option<&Int32Array>, row: usize) -> Option<i32> {
    column
        .filter(|column| column.is_valid(row))
        .map(|column| column.value(row))
}

pub(super) fn long_at(column: Option<&Int64Array>, row: usize) -> Option<i64> {
    column
        .filter(|column| column.is_valid(row))
        .map(|column| column.value(row))
}

/// Value of a column that [`Columns::optional_size`] has checked.
pub(super) fn size_at(column: Option<&Int64Array>, row: usize) -> Option<u64> {
    long_at(column, row).map(i64::unsigned_abs)
}

pub(super) fn text_at(column: Option<&StringArray>, row: usize) -> Option<&str> {
    column
        .filter(|column| column.is_valid(row))
        .map(|column| column.value(row))
}

pub(super) fn bytes_at(column: Option<&BinaryArray>, row: usize) -> Option<&[u8]> {
    column
        .filter(|column| column.is_valid(row))
        .map(|column| column.value(row))
}

/// Kind from a column that [`Columns::code`] has checked.
pub(super) fn kind_at(kinds: &Int32Array, row: usize) -> EntryKind {
    if kinds.value(row) == 0 {
        EntryKind::Add
    } else {
        EntryKind::Delete
    }
}
