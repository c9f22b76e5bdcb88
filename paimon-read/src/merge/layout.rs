//! Key columns in the layout of the output: the key pass compares views, whatever layout the request wants.

use std::sync::Arc;

use arrow_array::builder::GenericByteBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    BinaryType, BinaryViewType, ByteArrayType, ByteViewType, LargeBinaryType, LargeUtf8Type,
    StringViewType, Utf8Type,
};
use arrow_array::{Array, ArrayRef, ListArray, MapArray, StructArray};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{DataType as ArrowType, Field, FieldRef, Fields};
use paimon_meta::{Error, Result, StringLayout};

/// A column of views in another layout; other columns as they are.
///
/// # Errors
/// `Unsupported` for more bytes than the layout can count.
pub(super) fn laid_out(column: ArrayRef, strings: StringLayout) -> Result<ArrayRef> {
    match (column.data_type(), strings) {
        (ArrowType::Utf8View, StringLayout::Offset32) => copied::<StringViewType, Utf8Type>(column),
        (ArrowType::Utf8View, StringLayout::Offset64) => {
            copied::<StringViewType, LargeUtf8Type>(column)
        }
        (ArrowType::BinaryView, StringLayout::Offset32) => {
            copied::<BinaryViewType, BinaryType>(column)
        }
        (ArrowType::BinaryView, StringLayout::Offset64) => {
            copied::<BinaryViewType, LargeBinaryType>(column)
        }
        _ => Ok(column),
    }
}

/// A column with its text and bytes in another layout, at every depth.
///
/// # Errors
/// As [`laid_out`].
pub(crate) fn relaid(column: ArrayRef, strings: StringLayout) -> Result<ArrayRef> {
    if strings == StringLayout::View {
        return Ok(column);
    }
    let wrong = |error| Error::internal("cannot lay out a column").with_source(error);
    let renewed = |field: &FieldRef, values: &ArrayRef| -> FieldRef {
        let field = Field::clone(field).with_data_type(values.data_type().clone());
        Arc::new(field)
    };
    match column.data_type() {
        ArrowType::List(field) => {
            let list = column.as_list::<i32>();
            let values = relaid(Arc::clone(list.values()), strings)?;
            let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
            let list = ListArray::try_new(renewed(field, &values), offsets, values, nulls);
            Ok(Arc::new(list.map_err(wrong)?))
        }
        ArrowType::Map(field, ordered) => {
            let map = column.as_map();
            let entries: ArrayRef = Arc::new(map.entries().clone());
            let entries = relaid(entries, strings)?;
            let (offsets, nulls) = (map.offsets().clone(), map.nulls().cloned());
            let field = renewed(field, &entries);
            let entries = entries.as_struct().clone();
            let map = MapArray::try_new(field, offsets, entries, nulls, *ordered);
            Ok(Arc::new(map.map_err(wrong)?))
        }
        ArrowType::Struct(fields) => {
            let row = column.as_struct();
            let columns = row.columns().iter();
            let columns = columns.map(|column| relaid(Arc::clone(column), strings));
            let columns = columns.collect::<Result<Vec<_>>>()?;
            let fields = fields.iter().zip(&columns);
            let fields: Fields = fields
                .map(|(field, column)| renewed(field, column))
                .collect();
            let nulls = row.nulls().cloned();
            let row = StructArray::try_new_with_length(fields, columns, nulls, row.len());
            Ok(Arc::new(row.map_err(wrong)?))
        }
        _ => laid_out(column, strings),
    }
}

fn copied<V, T>(column: ArrayRef) -> Result<ArrayRef>
where
    V: ByteViewType,
    T: ByteArrayType<Native = V::Native>,
{
    let Some(views) = column.as_byte_view_opt::<V>() else {
        return Ok(column);
    };
    let bytes = views
        .lengths()
        .map(|length| length as usize)
        .fold(0, usize::saturating_add);
    if T::Offset::from_usize(bytes).is_none() {
        let feature = "batches of more than 2 GiB of text or bytes in 32-bit offsets";
        return Err(Error::unsupported(feature));
    }
    let mut copy = GenericByteBuilder::<T>::with_capacity(views.len(), bytes);
    for value in views {
        copy.append_option(value);
    }
    Ok(Arc::new(copy.finish()))
}
