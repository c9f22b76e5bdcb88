//! Text and bytes that are stored as each other or with a fixed length.

use std::sync::Arc;

use arrow_array::builder::{BinaryViewBuilder, GenericBinaryBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BinaryArray, FixedSizeBinaryArray, LargeBinaryArray, LargeStringArray,
    StringArray,
};
use arrow_schema::{ArrowError, DataType as ArrowType};
use paimon_meta::{Error, Result};

use super::unexpected;

/// Bytes as text, checked.
pub(super) fn text(array: &ArrayRef, to: &ArrowType) -> Result<ArrayRef> {
    let array = match (array.data_type(), to) {
        (ArrowType::FixedSizeBinary(_), to) => fixed(array.as_fixed_size_binary(), to),
        _ => Arc::clone(array),
    };
    match (array.data_type(), to) {
        (ArrowType::BinaryView, ArrowType::Utf8View) => checked(
            array
                .as_binary_view()
                .clone()
                .to_string_view()
                .map(|text| Arc::new(text) as ArrayRef),
        ),
        (ArrowType::Binary, ArrowType::Utf8) => {
            let (offsets, values, nulls) = array.as_binary::<i32>().clone().into_parts();
            checked(
                StringArray::try_new(offsets, values, nulls).map(|text| Arc::new(text) as ArrayRef),
            )
        }
        (ArrowType::LargeBinary, ArrowType::LargeUtf8) => {
            let (offsets, values, nulls) = array.as_binary::<i64>().clone().into_parts();
            checked(
                LargeStringArray::try_new(offsets, values, nulls)
                    .map(|text| Arc::new(text) as ArrayRef),
            )
        }
        (from, to) => Err(unexpected(from, to)),
    }
}

/// Text or bytes of a fixed length as bytes.
pub(super) fn bytes(array: &ArrayRef, to: &ArrowType) -> Result<ArrayRef> {
    match (array.data_type(), to) {
        (ArrowType::FixedSizeBinary(_), to) => Ok(fixed(array.as_fixed_size_binary(), to)),
        (ArrowType::Utf8View, ArrowType::BinaryView) => {
            Ok(Arc::new(array.as_string_view().clone().to_binary_view()))
        }
        (ArrowType::Utf8, ArrowType::Binary) => Ok(Arc::new(BinaryArray::from(
            array.as_string::<i32>().clone(),
        ))),
        (ArrowType::LargeUtf8, ArrowType::LargeBinary) => Ok(Arc::new(LargeBinaryArray::from(
            array.as_string::<i64>().clone(),
        ))),
        (from, to) => Err(unexpected(from, to)),
    }
}

/// Bytes of a fixed length in the layout of `to`.
fn fixed(array: &FixedSizeBinaryArray, to: &ArrowType) -> ArrayRef {
    match to {
        ArrowType::Utf8View | ArrowType::BinaryView => {
            let mut builder = BinaryViewBuilder::with_capacity(array.len());
            array.iter().for_each(|value| builder.append_option(value));
            Arc::new(builder.finish())
        }
        ArrowType::LargeUtf8 | ArrowType::LargeBinary => {
            let mut builder =
                GenericBinaryBuilder::<i64>::with_capacity(array.len(), array.value_data().len());
            array.iter().for_each(|value| builder.append_option(value));
            Arc::new(builder.finish())
        }
        _ => {
            let mut builder =
                GenericBinaryBuilder::<i32>::with_capacity(array.len(), array.value_data().len());
            array.iter().for_each(|value| builder.append_option(value));
            Arc::new(builder.finish())
        }
    }
}

fn checked(text: Result<ArrayRef, ArrowError>) -> Result<ArrayRef> {
    text.map_err(|error| Error::corrupt("text is not UTF-8").with_source(error))
}
