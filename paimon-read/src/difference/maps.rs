//! Maps in one order: that of their keys. A map is equal to another with the same entries, in whatever order a merge or a
//! file has them.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, MapArray, RecordBatch, StructArray, UInt32Array};
use arrow_row::{RowConverter, SortField};
use arrow_schema::{ArrowError, DataType as ArrowType, Schema};
use arrow_select::take::take;
use futures_util::TryStreamExt;
use paimon_meta::{Error, Result};

use crate::stream::BatchStream;

/// The same rows with the entries of maps in the order of their keys.
pub(super) fn ordered_maps(rows: BatchStream) -> BatchStream {
    let schema = rows.schema();
    if !has_maps(&schema) {
        return rows;
    }
    let ordered = rows.and_then(|batch| std::future::ready(ordered_batch(&batch)));
    BatchStream::new(schema, ordered)
}

/// Whether a column holds maps, however deep.
fn has_maps(schema: &Schema) -> bool {
    schema
        .fields()
        .iter()
        .any(|field| is_map(field.data_type()))
}

fn is_map(data_type: &ArrowType) -> bool {
    match data_type {
        ArrowType::Map(..) => true,
        ArrowType::List(item) => is_map(item.data_type()),
        ArrowType::Struct(fields) => fields.iter().any(|field| is_map(field.data_type())),
        _ => false,
    }
}

fn ordered_batch(batch: &RecordBatch) -> Result<RecordBatch> {
    let columns = batch.columns().iter().map(ordered);
    columns
        .collect::<Result<_, _>>()
        .and_then(|columns| RecordBatch::try_new(batch.schema(), columns))
        .map_err(|error| Error::internal("cannot order the entries of maps").with_source(error))
}

fn ordered(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match array.data_type() {
        data_type if !is_map(data_type) => Ok(Arc::clone(array)),
        ArrowType::Map(field, sorted) => {
            let map = array.as_map();
            let entries: ArrayRef = Arc::new(map.entries().clone());
            let entries = take(&ordered_children(&entries)?, &key_order(map)?, None)?;
            Ok(Arc::new(MapArray::try_new(
                Arc::clone(field),
                map.offsets().clone(),
                entries.as_struct().clone(),
                map.nulls().cloned(),
                *sorted,
            )?))
        }
        ArrowType::List(field) => {
            let list = array.as_list::<i32>();
            Ok(Arc::new(ListArray::try_new(
                Arc::clone(field),
                list.offsets().clone(),
                ordered(list.values())?,
                list.nulls().cloned(),
            )?))
        }
        _ => ordered_children(array),
    }
}

fn ordered_children(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let rows = array.as_struct();
    let children = rows.columns().iter().map(ordered);
    Ok(Arc::new(StructArray::try_new(
        rows.fields().clone(),
        children.collect::<Result<_, _>>()?,
        rows.nulls().cloned(),
    )?))
}

/// The entries of all maps, those of each map by key.
fn key_order(map: &MapArray) -> Result<UInt32Array, ArrowError> {
    let keys = map.keys();
    let converter = RowConverter::new(vec![SortField::new(keys.data_type().clone())])?;
    let encoded = converter.convert_columns(&[Arc::clone(keys)])?;
    let ends = map.offsets().windows(2);
    let mut order: Vec<u32> = (0u32..).take(keys.len()).collect();
    for range in ends {
        let [start, end] = range else { continue };
        let bound = |offset: &i32| usize::try_from(*offset).unwrap_or_default();
        if let Some(entries) = order.get_mut(bound(start)..bound(end)) {
            entries.sort_by(|a, b| encoded.row(*a as usize).cmp(&encoded.row(*b as usize)));
        }
    }
    Ok(order.into())
}

#[cfg(test)]
mod tests {
    use arrow_array::builder::{Int32Builder, MapBuilder, StringBuilder};

    use super::*;

    fn maps(rows: &[Option<&[(&str, i32)]>]) -> ArrayRef {
        let mut builder = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
        for row in rows {
            for (key, value) in row.unwrap_or_default() {
                builder.keys().append_value(key);
                builder.values().append_value(*value);
            }
            builder.append(row.is_some()).unwrap();
        }
        Arc::new(builder.finish())
    }

    #[test]
    fn entries_come_in_the_order_of_their_keys() {
        let given = maps(&[
            Some(&[("z", 9)]),
            Some(&[("b", 1), ("a", 2)]),
            None,
            Some(&[]),
        ]);
        let expected = maps(&[
            Some(&[("z", 9)]),
            Some(&[("a", 2), ("b", 1)]),
            None,
            Some(&[]),
        ]);
        assert_eq!(&ordered(&given).unwrap(), &expected);
        // A part of an array begins anywhere in it.
        assert_eq!(&ordered(&given.slice(1, 2)).unwrap(), &expected.slice(1, 2));
    }

    #[test]
    fn maps_are_found_inside_of_others() {
        let inner = maps(&[Some(&[("b", 1), ("a", 2)])]);
        let field = |array: &ArrayRef| {
            Arc::new(arrow_schema::Field::new(
                "m",
                array.data_type().clone(),
                true,
            ))
        };
        let row = |array: &ArrayRef| -> ArrayRef {
            Arc::new(StructArray::from(vec![(field(array), Arc::clone(array))]))
        };
        let list = |array: &ArrayRef| -> ArrayRef {
            let offsets = arrow_buffer::OffsetBuffer::from_lengths([array.len()]);
            Arc::new(ListArray::new(
                field(array),
                offsets,
                Arc::clone(array),
                None,
            ))
        };
        let nested = list(&row(&inner));
        let expected = list(&row(&maps(&[Some(&[("a", 2), ("b", 1)])])));
        assert_eq!(&ordered(&nested).unwrap(), &expected);
        assert!(is_map(nested.data_type()));
    }
}
