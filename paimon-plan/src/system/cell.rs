//! Single values of metadata tables, and columns of them.

use std::fmt::Debug;
use std::sync::Arc;

use arrow_array::{ArrayRef, ListArray, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType as ArrowType, FieldRef};
use paimon_meta::{Datum, DeletionVectorRange, Error, Result, array_of};

/// A value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Cell {
    #[default]
    Null,
    Value(Datum),
    Texts(Vec<String>),
    Vectors(Vec<DeletionVectorRange>),
}

/// The values of a table.
pub(super) trait Cells: Debug + Send + Sync {
    /// Number of rows.
    fn rows(&self) -> usize;

    /// The value of a column in a row; null past the end of either.
    ///
    /// # Errors
    /// What keeps metadata from being a value.
    fn cell(&self, row: usize, column: usize) -> Result<Cell>;
}

/// A table whose rows are all there.
pub(super) type Rows = Vec<Vec<Cell>>;

impl Cells for Rows {
    fn rows(&self) -> usize {
        self.len()
    }

    fn cell(&self, row: usize, column: usize) -> Result<Cell> {
        let cell = self.get(row).and_then(|row| row.get(column));
        Ok(cell.cloned().unwrap_or_default())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Value(Datum::String(text))
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<&String> for Cell {
    fn from(text: &String) -> Self {
        Self::from(text.clone())
    }
}

impl From<i32> for Cell {
    fn from(value: i32) -> Self {
        Self::Value(Datum::Int(value))
    }
}

impl From<i64> for Cell {
    fn from(value: i64) -> Self {
        Self::Value(Datum::BigInt(value))
    }
}

/// Counts and sizes, which metadata holds as positive longs.
impl From<u64> for Cell {
    fn from(value: u64) -> Self {
        Self::from(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<bool> for Cell {
    fn from(value: bool) -> Self {
        Self::Value(Datum::Boolean(value))
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// A wall-clock time in milliseconds.
pub(super) fn time(millis: i64) -> Cell {
    Cell::Value(Datum::Timestamp { millis, nanos: 0 })
}

/// A column.
///
/// # Errors
/// Those of the cells; `Internal` for cells of another type.
pub(super) fn column_array(
    cells: impl Iterator<Item = Result<Cell>>,
    arrow_type: &ArrowType,
) -> Result<ArrayRef> {
    let cells: Vec<Cell> = cells.collect::<Result<_>>()?;
    let ArrowType::List(element) = arrow_type else {
        let value = |cell: &Cell| match cell {
            Cell::Value(value) => Ok(Some(value.clone())),
            Cell::Null => Ok(None),
            _ => Err(Error::internal("a list in a column of single values")),
        };
        let values: Vec<Option<Datum>> = cells.iter().map(value).collect::<Result<_>>()?;
        return array_of(values.iter().map(Option::as_ref), arrow_type);
    };
    let length = |cell: &Cell| match cell {
        Cell::Texts(texts) => texts.len(),
        Cell::Vectors(vectors) => vectors.len(),
        _ => 0,
    };
    let valid: Vec<bool> = cells.iter().map(|cell| *cell != Cell::Null).collect();
    let offsets = OffsetBuffer::from_lengths(cells.iter().map(length));
    let items = match element.data_type() {
        ArrowType::Struct(fields) => vector_array(&cells, fields)?,
        text => text_array(&cells, text)?,
    };
    let list = ListArray::try_new(
        FieldRef::clone(element),
        offsets,
        items,
        Some(NullBuffer::from(valid)),
    );
    list.map(|list| Arc::new(list) as ArrayRef)
        .map_err(|error| Error::internal("cells do not form lists").with_source(error))
}

fn text_array(cells: &[Cell], arrow_type: &ArrowType) -> Result<ArrayRef> {
    let texts = cells.iter().flat_map(|cell| match cell {
        Cell::Texts(texts) => texts.as_slice(),
        _ => &[],
    });
    let texts: Vec<Datum> = texts.cloned().map(Datum::String).collect();
    array_of(texts.iter().map(Some), arrow_type)
}

fn vector_array(cells: &[Cell], fields: &arrow_schema::Fields) -> Result<ArrayRef> {
    let vectors = cells.iter().flat_map(|cell| match cell {
        Cell::Vectors(vectors) => vectors.as_slice(),
        _ => &[],
    });
    // As in the reference offsets and lengths are ints (TF-066).
    let int = |value: u64| Datum::Int(i32::try_from(value).unwrap_or(i32::MAX));
    let long = |value: u64| Datum::BigInt(i64::try_from(value).unwrap_or(i64::MAX));
    let rows: Vec<[Option<Datum>; 4]> = vectors
        .map(|vector| {
            [
                Some(Datum::String(vector.data_file.clone())),
                Some(int(vector.offset)),
                Some(int(vector.length)),
                vector.cardinality.map(long),
            ]
        })
        .collect();
    let column = |(position, field): (usize, &FieldRef)| {
        let values = rows
            .iter()
            .map(|row| row.get(position).and_then(Option::as_ref));
        array_of(values, field.data_type())
    };
    let columns = fields.iter().enumerate().map(column);
    StructArray::try_new(fields.clone(), columns.collect::<Result<_>>()?, None)
        .map(|array| Arc::new(array) as ArrayRef)
        .map_err(|error| Error::internal("vectors do not form rows").with_source(error))
}
