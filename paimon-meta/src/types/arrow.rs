//! Types as Arrow hands them out. Facts: table-format section 8.1.

use arrow_schema::{Field, Schema};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::schema::DataField;
use crate::types::DataType;

/// How text and bytes are laid out in Arrow arrays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum StringLayout {
    /// `Utf8View`, `BinaryView`: no copy at decode or gather.
    #[default]
    View,
    /// `Utf8`, `Binary`.
    Offset32,
    /// `LargeUtf8`, `LargeBinary`.
    Offset64,
}

/// The Arrow field of a column.
///
/// # Errors
/// `Unsupported` for types that have no Arrow form here.
pub fn arrow_field(field: &DataField, strings: StringLayout) -> Result<Field> {
    let _ = (&field.data_type as &DataType, strings);
    Err(Error::unsupported("arrow mapping"))
}

/// The Arrow schema of columns.
///
/// # Errors
/// As [`arrow_field`].
pub fn arrow_schema<'a>(
    fields: impl IntoIterator<Item = &'a DataField>,
    strings: StringLayout,
) -> Result<Schema> {
    fields
        .into_iter()
        .map(|field| arrow_field(field, strings))
        .collect::<Result<Vec<_>>>()
        .map(Schema::new)
}
