//! Decoded arrays as arrays of the asked type, nested ones from the inside out. Nothing is copied that is of the asked
//! type already.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, ListArray, MapArray, StructArray, UInt32Array,
};
use arrow_schema::{ArrowError, DataType as ArrowType, FieldRef, Fields};
use arrow_select::take::take;
use paimon_meta::{Error, Frame, Result, ResultExt};

use super::convert::Convert;

/// How a decoded column becomes an array of the asked type.
#[derive(Clone, Debug)]
pub(super) enum Conversion {
    Leaf {
        convert: Convert,
        to: ArrowType,
    },
    List {
        element: Box<Conversion>,
        field: FieldRef,
    },
    Vector {
        element: Box<Conversion>,
        field: FieldRef,
        length: i32,
    },
    Map {
        key: Box<Conversion>,
        value: Box<Conversion>,
        entries: FieldRef,
    },
    /// Each asked child with its index among the children that are read.
    Row {
        children: Vec<(usize, Conversion)>,
        fields: Fields,
    },
}

impl Conversion {
    /// The array in the asked type.
    ///
    /// # Errors
    /// `Corrupt` for values that the asked type cannot hold, nulls where there may be none included.
    pub(super) fn apply(&self, array: &ArrayRef) -> Result<ArrayRef> {
        match self {
            Self::Leaf { convert, to } => convert.apply(array, to),
            Self::List { element, field } => list(array, element, field),
            Self::Vector {
                element,
                field,
                length,
            } => vector(array, element, field, *length),
            Self::Map {
                key,
                value,
                entries,
            } => map(array, key, value, entries),
            Self::Row { children, fields } => row(array, children, fields),
        }
    }
}

fn list(array: &ArrayRef, element: &Conversion, field: &FieldRef) -> Result<ArrayRef> {
    let list = array
        .as_list_opt::<i32>()
        .ok_or_else(|| unexpected(array))?;
    let values = element.apply(list.values())?;
    let built = ListArray::try_new(
        Arc::clone(field),
        list.offsets().clone(),
        values,
        list.nulls().cloned(),
    );
    Ok(Arc::new(built.map_err(not_of_the_type)?))
}

/// A vector is stored as a list of exactly its length; where it is null there are no elements.
fn vector(
    array: &ArrayRef,
    element: &Conversion,
    field: &FieldRef,
    length: i32,
) -> Result<ArrayRef> {
    let list = array
        .as_list_opt::<i32>()
        .ok_or_else(|| unexpected(array))?;
    let mut indices = Vec::with_capacity(
        list.len()
            .saturating_mul(usize::try_from(length).unwrap_or(0)),
    );
    for (row, pair) in list.offsets().windows(2).enumerate() {
        let [start, end] = pair else { continue };
        if list.is_null(row) {
            indices.extend((0..length).map(|_| None));
        } else if end - start == length {
            indices.extend((*start..*end).map(|index| u32::try_from(index).ok()));
        } else {
            return Err(Error::corrupt(format!(
                "vector of {} elements, expected {length}",
                end - start
            )));
        }
    }
    let values = element.apply(list.values())?;
    let values = take(&values, &UInt32Array::from(indices), None).map_err(not_of_the_type)?;
    let built =
        FixedSizeListArray::try_new(Arc::clone(field), length, values, list.nulls().cloned());
    Ok(Arc::new(built.map_err(not_of_the_type)?))
}

/// A map is decoded as a list of its entries.
fn map(
    array: &ArrayRef,
    key: &Conversion,
    value: &Conversion,
    entries: &FieldRef,
) -> Result<ArrayRef> {
    let list = array
        .as_list_opt::<i32>()
        .ok_or_else(|| unexpected(array))?;
    let stored = list.values().as_struct_opt().map(StructArray::columns);
    let (Some([keys, values]), ArrowType::Struct(fields)) = (stored, entries.data_type()) else {
        return Err(unexpected(array));
    };
    let columns = vec![key.apply(keys)?, value.apply(values)?];
    let built = StructArray::try_new(fields.clone(), columns, None).map_err(not_of_the_type)?;
    let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
    let built = MapArray::try_new(Arc::clone(entries), offsets, built, nulls, false);
    Ok(Arc::new(built.map_err(not_of_the_type)?))
}

fn row(array: &ArrayRef, children: &[(usize, Conversion)], fields: &Fields) -> Result<ArrayRef> {
    let row = array.as_struct_opt().ok_or_else(|| unexpected(array))?;
    let convert = |((index, conversion), field): (&(usize, Conversion), &FieldRef)| {
        let child = row.columns().get(*index).ok_or_else(|| unexpected(array))?;
        conversion
            .apply(child)
            .at(|| Frame::Field(field.name().clone()))
    };
    let columns = children
        .iter()
        .zip(fields)
        .map(convert)
        .collect::<Result<_>>()?;
    let built = StructArray::try_new(fields.clone(), columns, row.nulls().cloned());
    Ok(Arc::new(built.map_err(not_of_the_type)?))
}

fn unexpected(array: &ArrayRef) -> Error {
    Error::internal(format!("decoder gave {}", array.data_type()))
}

/// What Arrow refuses here is a null where the type has none.
fn not_of_the_type(error: ArrowError) -> Error {
    Error::corrupt("values do not fit their type").with_source(error)
}
