//! Nested tables: lists of rows that have keys of their own (ME section 4.7).

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray};
use arrow_row::{Row, Rows};
use paimon_meta::{DataField, Error, Result, TypeKind};

use super::MergeFault;
use super::column::AggregateColumn;
use super::elements::{comparable, row_of};

/// What becomes of a row whose key holds a null: `nested-key-null-strategy` (ME-129).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NullKeys {
    /// Null is a key like any other.
    Merge,
    /// The row is dropped, also from what is accumulated.
    Ignore,
    /// The merge fails.
    Error,
}

/// The key of nested rows.
#[derive(Clone, Debug)]
pub(super) struct NestedKey {
    /// Positions of its fields in the rows.
    positions: Vec<usize>,
    null_keys: NullKeys,
}

/// The fields of the rows of a column of nested tables.
pub(super) fn nested_fields<'a>(
    function: &str,
    column: &AggregateColumn<'a>,
) -> Result<&'a [DataField]> {
    let fields = match &column.data_type().kind {
        TypeKind::Array(element) => match &element.kind {
            TypeKind::Row(fields) => Some(fields.as_slice()),
            _ => None,
        },
        _ => None,
    };
    column.require(function, fields.is_some(), "ARRAY of ROW")?;
    Ok(fields.unwrap_or_default())
}

/// Positions of the fields that an option names.
pub(super) fn positions(
    column: &AggregateColumn<'_>,
    fields: &[DataField],
    option: &str,
) -> Result<Vec<usize>> {
    let names = column.names(option).into_iter();
    names
        .map(|name| column.position(fields, option, name))
        .collect()
}

impl NestedKey {
    /// The key that the options name; `None` if there is none.
    pub(super) fn new(column: &AggregateColumn<'_>, fields: &[DataField]) -> Result<Option<Self>> {
        const STRATEGY: &str = "nested-key-null-strategy";
        let positions = positions(column, fields, "nested-key")?;
        let text = column.text(STRATEGY).unwrap_or("merge");
        let null_keys = match text.to_ascii_lowercase().as_str() {
            "merge" => NullKeys::Merge,
            "ignore" => NullKeys::Ignore,
            "error" => NullKeys::Error,
            _ => {
                let key = column.key(STRATEGY);
                let expected = "expected merge, ignore or error";
                return Err(column.refuse(format!("option {key} is {text:?}, {expected}")));
            }
        };
        Ok((!positions.is_empty()).then_some(Self {
            positions,
            null_keys,
        }))
    }

    /// The keys of all nested rows of an array.
    pub(super) fn of<'a>(&self, list: &'a ListArray) -> Result<KeyedRows<'a>, MergeFault> {
        let columns = columns(list, &self.positions)?;
        Ok(KeyedRows {
            keys: comparable(&columns)?,
            columns,
            rows: list.values(),
            null_keys: self.null_keys,
        })
    }
}

/// Columns of the nested rows of an array.
pub(super) fn columns(list: &ListArray, positions: &[usize]) -> Result<Vec<ArrayRef>, MergeFault> {
    let rows = list.values().as_struct_opt();
    let column = |position: &usize| rows?.columns().get(*position).cloned();
    let columns: Option<Vec<_>> = positions.iter().map(column).collect();
    columns.ok_or_else(|| {
        let found = list.data_type();
        let error = Error::invalid_input(format!("nested rows lack declared fields, in {found}"));
        MergeFault::new(0, error)
    })
}

/// Nested rows with their keys.
#[derive(Debug)]
pub(super) struct KeyedRows<'a> {
    keys: Rows,
    columns: Vec<ArrayRef>,
    rows: &'a ArrayRef,
    null_keys: NullKeys,
}

impl KeyedRows<'_> {
    /// The key of a nested row where rows are taken back, whatever it holds; `None` for null rows.
    pub(super) fn plain_key(&self, element: u32) -> Result<Option<Row<'_>>> {
        let key = row_of(&self.keys, element)?;
        Ok((!self.rows.is_null(element as usize)).then_some(key))
    }

    /// The key of a nested row; `None` where the row is to be dropped, as null rows always are.
    pub(super) fn key(&self, element: u32) -> Result<Option<Row<'_>>> {
        let key = row_of(&self.keys, element)?;
        let element = element as usize;
        if self.rows.is_null(element) {
            return Ok(None);
        }
        let has_null = self.columns.iter().any(|column| column.is_null(element));
        match self.null_keys {
            NullKeys::Ignore if has_null => Ok(None),
            NullKeys::Error if has_null => Err(Error::corrupt("the key of a nested row is null")),
            _ => Ok(Some(key)),
        }
    }
}
