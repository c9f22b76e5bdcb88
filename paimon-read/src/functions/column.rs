//! The column that a function is made for.

use paimon_meta::{DataField, DataType, Error, Frame, Options, Result};

/// A column of a table and the options about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct AggregateColumn<'a> {
    pub(super) field: &'a DataField,
    pub(super) options: &'a Options,
}

impl<'a> AggregateColumn<'a> {
    pub(super) fn data_type(&self) -> &'a DataType {
        &self.field.data_type
    }

    /// The key of an option about the column.
    pub(super) fn key(&self, name: &str) -> String {
        format!("fields.{}.{name}", self.field.name)
    }

    /// The text of an option about the column.
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.options.get(&self.key(name))
    }

    /// An option about the column that is true or false; false by default.
    pub(super) fn flag(&self, name: &str) -> Result<bool> {
        self.options.boolean(&self.key(name), false)
    }

    /// The names of a list, trimmed; none if the option is not set. Commas at the end mean nothing, as in Java.
    pub(super) fn names(&self, name: &str) -> Vec<&'a str> {
        let text = self.text(name).map(|text| text.trim_end_matches(','));
        text.map_or_else(Vec::new, |text| text.split(',').map(str::trim).collect())
    }

    /// Position of a field of nested rows that an option names.
    pub(super) fn position(&self, fields: &[DataField], option: &str, name: &str) -> Result<usize> {
        let position = fields.iter().position(|field| field.name == name);
        position.ok_or_else(|| {
            let option = self.key(option);
            self.refuse(format!(
                "{option} names {name:?}, which is no field of the rows"
            ))
        })
    }

    /// That the function takes the type of the column.
    pub(super) fn require(&self, function: &str, fits: bool, expected: &str) -> Result<()> {
        if fits {
            return Ok(());
        }
        let found = self.data_type();
        Err(self.refuse(format!(
            "aggregate function {function} takes {expected}, not {found}"
        )))
    }

    /// An error about the column.
    pub(super) fn refuse(&self, message: String) -> Error {
        Error::invalid_input(message).at(Frame::Column(self.field.name.clone()))
    }
}
