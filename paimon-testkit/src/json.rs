//! Rows as JSON, in the encoding of the golden tables (`golden/README.md`).
//!
//! ```text
//! integers                  number                      DATE        "2024-01-02"
//! FLOAT, DOUBLE             shortest number that        TIME        "12:34:56.789"
//!                           reads back; "NaN",          TIMESTAMP   "2024-01-02T03:04:05.123456"
//!                           "Infinity", "-Infinity"     … LTZ       the same in UTC, with a Z
//! DECIMAL                   text with its full scale    ARRAY, ROW  [..]
//! CHAR, VARCHAR, VARIANT    text                        MAP,        [[key, value], ..], sorted by the
//! BINARY, VARBINARY, …      text, lower-case hex        MULTISET    key's JSON text (as bytes)
//! ```
//!
//! Columns are looked at once per batch ([`JsonRows`]); a row is then written without allocation, but for maps.

mod column;
mod scalar;
mod variant;

use arrow_array::{Int8Array, RecordBatch};
use paimon_meta::{DataType, Datum, Error, Frame, Result, ResultExt};
use serde_json::Value;

use column::Column;

/// A row as JSON values, in column order. Row kinds, where they are kept, come first (`"+I"`).
pub type JsonRow = Vec<Value>;

/// The rows of a batch, ready to be written as JSON.
pub struct JsonRows<'a> {
    columns: Vec<Column<'a>>,
    /// Each `"name":` as it stands in an object.
    names: Vec<Vec<u8>>,
    rows: usize,
}

impl<'a> JsonRows<'a> {
    /// Prepares a batch whose columns hold values of these types, in Arrow's form for them with any string layout.
    ///
    /// # Errors
    /// `Internal` if a column's Arrow type is none of its type's, or there are not as many types as columns.
    pub fn new<'t>(
        batch: &'a RecordBatch,
        types: impl IntoIterator<Item = &'t DataType>,
    ) -> Result<Self> {
        let schema = batch.schema_ref();
        let types: Vec<&DataType> = types.into_iter().collect();
        if types.len() != batch.num_columns() {
            return Err(Error::internal(format!(
                "batch has {} columns, expected {}",
                batch.num_columns(),
                types.len()
            )));
        }
        let columns = batch.columns().iter().zip(&types).zip(schema.fields());
        let columns = columns.map(|((array, data_type), field)| {
            Column::new(array.as_ref(), data_type).at(|| Frame::Column(field.name().clone()))
        });
        Ok(Self {
            columns: columns.collect::<Result<_>>()?,
            names: schema
                .fields()
                .iter()
                .map(|field| member(field.name()))
                .collect(),
            rows: batch.num_rows(),
        })
    }

    /// Puts row kinds in front of the other columns, as `"+I"`, `"-U"`, `"+U"` and `"-D"`, in a column of this name.
    ///
    /// # Errors
    /// `Internal` if there are not as many kinds as rows.
    pub fn with_row_kinds(mut self, name: &str, kinds: &'a Int8Array) -> Result<Self> {
        if kinds.len() != self.rows {
            return Err(Error::internal(format!(
                "batch has {} row kinds, expected {}",
                kinds.len(),
                self.rows
            )));
        }
        self.columns.insert(0, Column::kinds(kinds));
        self.names.insert(0, member(name));
        Ok(self)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Appends a row as an array of its values.
    ///
    /// # Errors
    /// `Corrupt` if a variant does not decode or a row kind is none; `Internal` if there is no such row.
    pub fn write_row(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        self.check(row)?;
        out.push(b'[');
        for (index, column) in self.columns.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            column.write(row, out)?;
        }
        out.push(b']');
        Ok(())
    }

    /// Appends a row as an object with the names of the columns.
    ///
    /// # Errors
    /// As [`Self::write_row`].
    pub fn write_object(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        self.check(row)?;
        out.push(b'{');
        for (index, (column, name)) in self.columns.iter().zip(&self.names).enumerate() {
            if index > 0 {
                out.push(b',');
            }
            out.extend_from_slice(name);
            column.write(row, out)?;
        }
        out.push(b'}');
        Ok(())
    }

    /// Appends one value of a row. Row kinds, where they are, count as column 0.
    ///
    /// # Errors
    /// As [`Self::write_row`], and `Internal` if there is no such column.
    pub fn write_value(&self, row: usize, column: usize, out: &mut Vec<u8>) -> Result<()> {
        self.check(row)?;
        let columns = self.columns.len();
        self.columns
            .get(column)
            .ok_or_else(|| Error::internal(format!("no column {column} in a batch of {columns}")))?
            .write(row, out)
    }

    /// A row as values.
    ///
    /// # Errors
    /// As [`Self::write_row`].
    pub fn row(&self, row: usize) -> Result<JsonRow> {
        let mut text = Vec::new();
        self.write_row(row, &mut text)?;
        read_back(&text)
    }

    /// All rows as values.
    ///
    /// # Errors
    /// As [`Self::write_row`].
    pub fn rows(&self) -> Result<Vec<JsonRow>> {
        (0..self.rows).map(|row| self.row(row)).collect()
    }

    fn check(&self, row: usize) -> Result<()> {
        if row < self.rows {
            return Ok(());
        }
        Err(Error::internal(format!(
            "no row {row} in a batch of {}",
            self.rows
        )))
    }
}

/// A single value; `None` is null. The type tells timestamps with a zone from those without.
///
/// # Errors
/// `Internal` if the value has no JSON form.
pub fn datum_to_json(datum: Option<&Datum>, data_type: &DataType) -> Result<Value> {
    let Some(datum) = datum else {
        return Ok(Value::Null);
    };
    let mut text = Vec::new();
    scalar::datum(&mut text, datum, data_type)?;
    read_back(&text)
}

fn member(name: &str) -> Vec<u8> {
    let mut text = Vec::with_capacity(name.len() + 3);
    scalar::text(&mut text, name);
    text.push(b':');
    text
}

fn read_back<T: serde::de::DeserializeOwned>(text: &[u8]) -> Result<T> {
    serde_json::from_slice(text)
        .map_err(|error| Error::internal("wrote what is no JSON").with_source(error))
}

#[cfg(test)]
mod tests;
