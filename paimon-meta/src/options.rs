//! Table options: text by key, read with type and default. Facts: table-format sections 2.4 and 2.5.

mod immutable;
mod keys;
mod obeyed;
mod read;
mod refuse;
mod text;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Frame, Result};

pub use read::{
    BatchScanMode, ChangelogProducer, IncrementalScanMode, MergeEngine, SortOrder, StartupMode,
};
pub use refuse::unsupported_feature;
pub use text::{FromOption, MemorySize};

/// Options of a table as text. Dynamic options of a read lie over those of the table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Options(pub BTreeMap<String, String>);

/// An option that a reader obeys: its keys, its default and, in `T`, how its text is read. They are constants of
/// [`Options`].
#[derive(Debug)]
pub struct TableOption<T> {
    /// The key.
    pub key: &'static str,
    /// Keys that are asked in turn where the key is not set.
    pub fallback_keys: &'static [&'static str],
    /// Text that counts where no key is set; `None` if there is no default.
    pub default: Option<&'static str>,
    value: std::marker::PhantomData<fn() -> T>,
}

impl Options {
    /// The text of an option, if it is set.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// The value of an option, or of its default.
    ///
    /// ```
    /// use paimon_meta::{MemorySize, Options};
    /// let options = Options([("source.split.target-size".to_owned(), "64 mb".to_owned())].into());
    /// assert_eq!(options.value(&Options::SOURCE_SPLIT_TARGET_SIZE)?, MemorySize(64 << 20));
    /// assert_eq!(options.value(&Options::SOURCE_SPLIT_OPEN_FILE_COST)?, MemorySize(4 << 20));
    /// assert_eq!(options.value(&Options::SCAN_SNAPSHOT_ID)?, None);
    /// # Ok::<(), paimon_meta::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidInput` that names the option.
    pub fn value<T: FromOption>(&self, option: &TableOption<T>) -> Result<T> {
        let set = self
            .set_key(option)
            .and_then(|key| self.get(key).map(|text| (key, text)));
        let (key, text) = set.map_or((option.key, option.default), |(key, text)| {
            (key, Some(text))
        });
        T::from_option(text)
            .ok_or_else(|| Self::invalid(key, text.unwrap_or_default(), T::EXPECTED))
    }

    /// Whether the text of an option is given, under any of its keys.
    pub fn is_set<T>(&self, option: &TableOption<T>) -> bool {
        self.set_key(option).is_some()
    }

    fn set_key<T>(&self, option: &TableOption<T>) -> Option<&'static str> {
        let mut keys = std::iter::once(&option.key)
            .chain(option.fallback_keys)
            .copied();
        keys.find(|key| self.0.contains_key(*key))
    }

    /// A boolean, `true` or `false` in any case.
    ///
    /// # Errors
    /// `InvalidInput` that names the option.
    pub fn boolean(&self, key: &str, default: bool) -> Result<bool> {
        match self.get(key) {
            None => Ok(default),
            text => bool::from_option(text)
                .ok_or_else(|| Self::invalid(key, text.unwrap_or_default(), bool::EXPECTED)),
        }
    }

    /// An integer.
    ///
    /// # Errors
    /// `InvalidInput` that names the option.
    pub fn integer(&self, key: &str) -> Result<Option<i64>> {
        let text = self.get(key);
        Option::from_option(text)
            .ok_or_else(|| Self::invalid(key, text.unwrap_or_default(), i64::EXPECTED))
    }

    /// These options with others laid over them; `None` removes one (RP-012).
    #[must_use]
    pub fn overlaid(&self, over: &BTreeMap<String, Option<String>>) -> Self {
        let mut options = self.0.clone();
        for (key, text) in over {
            match text {
                Some(text) => options.insert(key.clone(), text.clone()),
                None => options.remove(key),
            };
        }
        Self(options)
    }

    pub(crate) fn invalid(key: &str, found: &str, expected: &str) -> Error {
        Error::invalid_input(format!("option {key} is {found:?}, expected {expected}"))
            .at(Frame::Option(key.to_owned()))
    }
}
