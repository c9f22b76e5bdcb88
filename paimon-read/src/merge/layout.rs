//! Key columns in the layout of the output: the key pass compares views, whatever layout the request wants.

use std::sync::Arc;

use arrow_array::builder::GenericByteBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    BinaryType, BinaryViewType, ByteArrayType, ByteViewType, LargeBinaryType, LargeUtf8Type,
    StringViewType, Utf8Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::ArrowNativeType;
use arrow_schema::DataType as ArrowType;
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
