//! Arrow arrays of cells.

use std::sync::Arc;

use arrow_array::{ArrayRef, ListArray, MapArray, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType as ArrowType, FieldRef, Fields};
use paimon_meta::{DataType, Error, Result, StringLayout, TypeKind, array_of};
use serde_json::Value;

use crate::cell::Cell;

/// The array of a column.
pub(super) fn array(cells: &[Cell], data_type: &DataType) -> Result<ArrayRef> {
    let arrow_type = data_type.to_arrow(StringLayout::Offset32)?;
    let nulls = NullBuffer::from_iter(cells.iter().map(|cell| *cell != Cell::Null));
    match (&data_type.kind, arrow_type) {
        (TypeKind::Array(element), ArrowType::List(field)) => {
            let lists = Lists::of(cells, |item| Cell::from_json(item, element))?;
            let items = array(&lists.items, element)?;
            let list = ListArray::try_new(field, lists.offsets(), items, Some(nulls));
            Ok(Arc::new(list.map_err(wrong)?))
        }
        (TypeKind::Map(key, value), ArrowType::Map(entries, _)) => {
            map(cells, (key, value), entries, nulls)
        }
        (TypeKind::Multiset(element), ArrowType::Map(entries, _)) => {
            map(cells, (element, &TypeKind::Int.not_null()), entries, nulls)
        }
        (TypeKind::Row(fields), ArrowType::Struct(arrow_fields)) => {
            let children = (0..).zip(fields).map(|(index, field)| {
                array(&children(cells, index, &field.data_type)?, &field.data_type)
            });
            row(arrow_fields, children.collect::<Result<_>>()?, nulls)
        }
        (_, arrow_type) => array_of(cells.iter().map(Cell::datum), &arrow_type),
    }
}

/// A child of rows, null where the row is.
pub(super) fn children(cells: &[Cell], index: usize, data_type: &DataType) -> Result<Vec<Cell>> {
    let child = |cell: &Cell| match cell {
        Cell::Nested(row) => Cell::from_json(row.get(index).unwrap_or(&Value::Null), data_type),
        _ => Ok(Cell::Null),
    };
    cells.iter().map(child).collect()
}

fn row(fields: Fields, children: Vec<ArrayRef>, nulls: NullBuffer) -> Result<ArrayRef> {
    // A child that may not be null holds nulls under rows that are null themselves.
    Ok(Arc::new(
        StructArray::try_new(fields, children, Some(nulls)).map_err(wrong)?,
    ))
}

fn map(
    cells: &[Cell],
    (key, value): (&DataType, &DataType),
    entries: FieldRef,
    nulls: NullBuffer,
) -> Result<ArrayRef> {
    let keys = Lists::entries(cells, 0, key)?;
    let values = Lists::entries(cells, 1, value)?;
    let ArrowType::Struct(fields) = entries.data_type() else {
        return Err(Error::internal("entries of a map are no struct"));
    };
    let columns = vec![array(&keys.items, key)?, array(&values.items, value)?];
    let pairs = StructArray::try_new(fields.clone(), columns, None).map_err(wrong)?;
    let map = MapArray::try_new(entries, keys.offsets(), pairs, Some(nulls), false);
    Ok(Arc::new(map.map_err(wrong)?))
}

/// The items of all lists of a column, and how many each has.
pub(super) struct Lists {
    pub(super) items: Vec<Cell>,
    pub(super) lengths: Vec<usize>,
}

impl Lists {
    pub(super) fn of(cells: &[Cell], item: impl Fn(&Value) -> Result<Cell>) -> Result<Self> {
        let mut lists = Self {
            items: Vec::new(),
            lengths: Vec::new(),
        };
        for cell in cells {
            let items: &[Value] = match cell {
                Cell::Nested(Value::Array(items)) => items,
                _ => &[],
            };
            for value in items {
                lists.items.push(item(value)?);
            }
            lists.lengths.push(items.len());
        }
        Ok(lists)
    }

    /// Keys (0) or values (1) of the entries of maps.
    pub(super) fn entries(cells: &[Cell], index: usize, data_type: &DataType) -> Result<Self> {
        Self::of(cells, |entry| {
            Cell::from_json(entry.get(index).unwrap_or(&Value::Null), data_type)
        })
    }

    fn offsets(&self) -> OffsetBuffer<i32> {
        OffsetBuffer::from_lengths(self.lengths.iter().copied())
    }
}

fn wrong(error: ArrowError) -> Error {
    Error::invalid_input("cannot make an array of the values").with_source(error)
}
