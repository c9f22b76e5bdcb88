//! Values as a person reads them.

use std::fmt;

use crate::value::Datum;

pub(crate) fn display(value: &Datum, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{value:?}")
}
