//! Types as text and JSON. Facts: table-format section 2.2.

use std::fmt;

use serde_json::Value;

use crate::error::{Error, Result};
use crate::types::DataType;

pub(super) fn to_json(data_type: &DataType) -> Value {
    Value::String(data_type.to_string())
}

pub(super) fn from_json(value: &Value) -> Result<DataType> {
    Err(Error::unsupported(format!("type {value}")))
}

pub(super) fn display(data_type: &DataType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{:?}", data_type.kind)
}
