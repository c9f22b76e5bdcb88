//! Table options: text by key, read with type, default and unit. Facts: table-format sections 2.4 and 2.5.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Frame, Result};

/// Options of a table as text. Dynamic options of a read lie over those of the table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Options(pub BTreeMap<String, String>);

impl Options {
    /// The text of an option, if it is set.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// A boolean, `true` or `false` in any case.
    ///
    /// # Errors
    /// `InvalidInput` that names the option.
    pub fn boolean(&self, key: &str, default: bool) -> Result<bool> {
        match self.get(key).map(str::trim) {
            None => Ok(default),
            Some(text) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(text) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(text) => Err(Self::invalid(key, text, "true or false")),
        }
    }

    /// An integer.
    ///
    /// # Errors
    /// `InvalidInput` that names the option.
    pub fn integer(&self, key: &str) -> Result<Option<i64>> {
        self.get(key)
            .map(|text| {
                text.trim()
                    .parse()
                    .map_err(|_| Self::invalid(key, text, "an integer"))
            })
            .transpose()
    }

    pub(crate) fn invalid(key: &str, found: &str, expected: &str) -> Error {
        Error::invalid_input(format!("option {key} is {found:?}, expected {expected}"))
            .at(Frame::Option(key.to_owned()))
    }
}
