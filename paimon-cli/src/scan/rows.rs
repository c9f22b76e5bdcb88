//! Rows as text: JSON objects, lines of CSV, cells of a table. Values are written as in the golden tables.

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use paimon_meta::{DataField, DataType, Error, Result};
use paimon_read::RowKinds;
use paimon_testkit::JsonRows;

/// Name of the column of row kinds.
const ROW_KIND: &str = "rowkind";

/// The columns of the output, and how a batch of them becomes text.
#[derive(Clone, Debug)]
pub(crate) struct RowText {
    types: Vec<DataType>,
    kinds: bool,
    /// Names of the columns, the one of row kinds among them.
    pub(crate) names: Vec<String>,
}

impl RowText {
    pub(crate) fn new(fields: &[DataField], row_kinds: RowKinds) -> Self {
        let kinds = row_kinds != RowKinds::Drop;
        let names = fields.iter().map(|field| field.name.clone());
        Self {
            types: fields.iter().map(|field| field.data_type.clone()).collect(),
            kinds,
            names: kinds
                .then(|| ROW_KIND.to_owned())
                .into_iter()
                .chain(names)
                .collect(),
        }
    }

    /// Calls `write` with the rows of a batch.
    fn with_rows<T>(
        &self,
        batch: &RecordBatch,
        write: impl FnOnce(&JsonRows<'_>) -> Result<T>,
    ) -> Result<T> {
        if !self.kinds {
            return write(&JsonRows::new(batch, &self.types)?);
        }
        let kinds = batch
            .columns()
            .first()
            .and_then(|column| column.as_primitive_opt::<Int8Type>())
            .ok_or_else(|| Error::internal("rows without their kinds"))?;
        let columns: Vec<usize> = (1..batch.num_columns()).collect();
        let values = batch
            .project(&columns)
            .map_err(|error| Error::internal("columns without row kinds").with_source(error))?;
        write(&JsonRows::new(&values, &self.types)?.with_row_kinds(ROW_KIND, kinds)?)
    }

    /// One JSON object per row and line.
    ///
    /// # Errors
    /// Those of values that have no text.
    pub(crate) fn json(&self, batch: &RecordBatch) -> Result<Vec<u8>> {
        self.with_rows(batch, |rows| {
            let mut out = Vec::new();
            for row in 0..rows.len() {
                rows.write_object(row, &mut out)?;
                out.push(b'\n');
            }
            Ok(out)
        })
    }

    /// One line per row. Null is nothing at all, empty text is `""`.
    ///
    /// # Errors
    /// As for [`Self::json`].
    pub(crate) fn csv(&self, batch: &RecordBatch) -> Result<Vec<u8>> {
        self.with_rows(batch, |rows| {
            let (mut out, mut value) = (Vec::new(), Vec::new());
            for row in 0..rows.len() {
                for column in 0..self.names.len() {
                    if column > 0 {
                        out.push(b',');
                    }
                    value.clear();
                    rows.write_value(row, column, &mut value)?;
                    if value != b"null" {
                        csv_cell(&plain(&value)?, &mut out);
                    }
                }
                out.push(b'\n');
            }
            Ok(out)
        })
    }

    /// The header of [`Self::csv`].
    pub(crate) fn csv_header(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (index, name) in self.names.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            csv_cell(name, &mut out);
        }
        out.push(b'\n');
        out
    }

    /// Each row as its cells, null as `NULL`.
    ///
    /// # Errors
    /// As for [`Self::json`].
    pub(crate) fn cells(&self, batch: &RecordBatch) -> Result<Vec<Vec<String>>> {
        self.with_rows(batch, |rows| {
            let cell = |row, column| {
                let mut value = Vec::new();
                rows.write_value(row, column, &mut value)?;
                if value == b"null" {
                    Ok("NULL".to_owned())
                } else {
                    plain(&value)
                }
            };
            let row = |row| {
                (0..self.names.len())
                    .map(|column| cell(row, column))
                    .collect()
            };
            (0..rows.len()).map(row).collect()
        })
    }

    /// Which columns stand to the right: numbers.
    pub(crate) fn right_aligned(&self) -> Vec<bool> {
        let kinds = self.kinds.then_some(false).into_iter();
        let is_number = |data_type: &DataType| {
            use paimon_meta::TypeKind::{Decimal, Double, Float};
            let kind = &data_type.kind;
            kind.integer_bits().is_some() || matches!(kind, Decimal { .. } | Float | Double)
        };
        kinds.chain(self.types.iter().map(is_number)).collect()
    }
}

/// A JSON value as text: a string without its quotes, anything else as it is.
fn plain(json: &[u8]) -> Result<String> {
    let fault = |error| Error::internal("wrote what is no JSON").with_source(error);
    match json.strip_prefix(b"\"") {
        Some(_) => serde_json::from_slice(json).map_err(fault),
        None => Ok(String::from_utf8_lossy(json).into_owned()),
    }
}

/// In double quotes if it is empty or holds what has a meaning in CSV.
fn csv_cell(text: &str, out: &mut Vec<u8>) {
    if !text.is_empty() && !text.contains(['"', ',', '\n', '\r']) {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    out.push(b'"');
    out.extend_from_slice(text.replace('"', "\"\"").as_bytes());
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, Int8Array, StringViewArray};
    use paimon_meta::{FieldId, TypeKind};

    use super::*;

    fn field(name: &str, kind: TypeKind) -> DataField {
        DataField {
            id: FieldId(0),
            name: name.to_owned(),
            data_type: kind.nullable(),
            description: None,
            default_value: None,
        }
    }

    fn batch() -> (RowText, RecordBatch) {
        let fields = [
            field("d", TypeKind::Double),
            field("a,b", TypeKind::VarChar(9)),
        ];
        let text = RowText::new(&fields, RowKinds::Keep);
        let batch = RecordBatch::try_from_iter([
            (
                "_ROW_KIND",
                Arc::new(Int8Array::from(vec![0, 3])) as ArrayRef,
            ),
            (
                "d",
                Arc::new(Float64Array::from(vec![Some(f64::NAN), None])),
            ),
            (
                "a,b",
                Arc::new(StringViewArray::from(vec!["", "say \"hi\",\nthere"])),
            ),
        ]);
        (text, batch.unwrap())
    }

    #[test]
    fn rows_become_objects_lines_and_cells() {
        let (text, batch) = batch();
        let shown = |bytes: Result<Vec<u8>>| String::from_utf8(bytes.unwrap()).unwrap();
        assert_eq!(
            shown(text.json(&batch)),
            "{\"rowkind\":\"+I\",\"d\":\"NaN\",\"a,b\":\"\"}\n\
             {\"rowkind\":\"-D\",\"d\":null,\"a,b\":\"say \\\"hi\\\",\\nthere\"}\n"
        );
        assert_eq!(shown(Ok(text.csv_header())), "rowkind,d,\"a,b\"\n");
        assert_eq!(
            shown(text.csv(&batch)),
            "+I,NaN,\"\"\n-D,,\"say \"\"hi\"\",\nthere\"\n"
        );
        assert_eq!(
            text.cells(&batch).unwrap(),
            [["+I", "NaN", ""], ["-D", "NULL", "say \"hi\",\nthere"]]
        );
        assert_eq!(text.right_aligned(), [false, true, false]);
    }
}
