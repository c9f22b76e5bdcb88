//! A column that fills up with the values of records.

use arrow_array::ArrayRef;
use arrow_buffer::NullBufferBuilder;
use arrow_schema::DataType as ArrowType;
use paimon_meta::{Error, Frame, Result, ResultExt};

use super::cursor::Cursor;
use super::schema::Type;
use super::values::Values;
use crate::assemble::row_array;

/// Values of one type and where they are null.
#[derive(Debug)]
pub(super) struct Column {
    branches: Branches,
    values: Values,
    /// The asked type.
    to: ArrowType,
    nulls: NullBufferBuilder,
}

/// How values are told from nulls.
#[derive(Clone, Copy, Debug)]
pub(super) enum Branches {
    /// There are no nulls.
    None,
    /// A union; the numbers of its branches.
    Union { null: Option<i64>, value: i64 },
}

impl Column {
    pub(super) fn new(branches: Branches, values: Values, to: &ArrowType) -> Self {
        Self {
            branches,
            values,
            to: to.clone(),
            nulls: NullBufferBuilder::new(0),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.nulls.len()
    }

    /// Appends the next value of a record.
    ///
    /// # Errors
    /// `Corrupt` if there is none, or one that the asked type cannot hold. The column is of no use after that.
    #[inline]
    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        if let Branches::Union { null, value } = self.branches {
            let branch = cursor.long()?;
            if branch != value {
                if Some(branch) != null {
                    return Err(Error::corrupt(format!("branch {branch} of a union")));
                }
                self.push_null();
                return Ok(());
            }
        }
        let valid = self.values.read(cursor)?;
        self.nulls.append(valid);
        Ok(())
    }

    /// Appends a null.
    pub(super) fn push_null(&mut self) {
        self.values.push_empty();
        self.nulls.append_null();
    }

    /// The values so far, in the asked type; the column is empty again.
    ///
    /// # Errors
    /// `Corrupt` for values that the asked type cannot hold.
    pub(super) fn finish(&mut self) -> Result<ArrayRef> {
        let nulls = self.nulls.finish();
        self.values.finish(nulls, &self.to)
    }
}

/// Columns that fill up together: a record.
#[derive(Debug)]
pub(super) struct Row {
    /// What to do with the fields of the record, in their order.
    pub(super) steps: Vec<Step>,
    pub(super) columns: Vec<Column>,
    pub(super) names: Vec<String>,
}

/// What to do with a field.
#[derive(Debug)]
pub(super) enum Step {
    /// Nobody asks for it.
    Skip(Type),
    /// Append it to the column of that number.
    Read(usize),
}

impl Row {
    /// # Errors
    /// As [`Column::read`], with the field at fault.
    #[inline]
    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        for step in &self.steps {
            match step {
                Step::Skip(data_type) => data_type.skip(cursor)?,
                Step::Read(index) => {
                    if let Some(column) = self.columns.get_mut(*index) {
                        column.read(cursor).at(|| frame(&self.names, *index))?;
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn push_empty(&mut self) {
        self.columns.iter_mut().for_each(Column::push_null);
    }

    /// The columns so far; they are empty again.
    ///
    /// # Errors
    /// As [`Column::finish`], with the field at fault.
    pub(super) fn finish(&mut self) -> Result<Vec<ArrayRef>> {
        let columns = self.columns.iter_mut().enumerate();
        columns
            .map(|(index, column)| column.finish().at(|| frame(&self.names, index)))
            .collect()
    }

    /// [`Self::finish`] as one array.
    pub(super) fn finish_row(
        &mut self,
        nulls: Option<arrow_buffer::NullBuffer>,
        to: &ArrowType,
    ) -> Result<ArrayRef> {
        row_array(self.finish()?, nulls, to)
    }
}

fn frame(names: &[String], index: usize) -> Frame {
    Frame::Field(names.get(index).cloned().unwrap_or_default())
}
