//! Rows that need no data file, such as those of metadata tables, read with the same requests.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Int8Array, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType as ArrowType, Field, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use futures_util::stream::unfold;
use paimon_meta::{DataField, Error, FieldId, Result, RowKind, arrow_field};

use crate::columns::ROW_KIND_COLUMN;
use crate::fetches::yield_now;
use crate::filter::{PredicateFilter, RowFilter};
use crate::request::{ReadRequest, RowKinds};
use crate::stream::BatchStream;

/// Reads rows that the caller has: condition, projection, limit, batch size and row kinds of the request hold as in a read
/// of a table; each row is an insert. `batch` gives some of the rows with the columns of these ids in this order, in the
/// request's layout of text. It is asked for the condition's columns first, and for the others only where rows pass.
///
/// # Errors
/// `InvalidInput` for columns that `fields` do not have or a batch size of 0, `Unsupported` for a condition of a sort that is
/// not known here. The stream ends with the first error of `batch`.
pub fn read_rows(
    fields: &[DataField],
    rows: usize,
    request: &ReadRequest,
    batch: impl Fn(Range<usize>, &[FieldId]) -> Result<RecordBatch> + Send + Sync + 'static,
) -> Result<BatchStream> {
    request.check()?;
    let columns = match &request.projection {
        None => fields.iter().map(|field| field.id).collect(),
        Some(columns) => columns.clone(),
    };
    let filter = request.predicate.as_ref().map(PredicateFilter::new);
    let filter = filter.transpose()?;
    let used = filter.iter().flat_map(|filter| filter.columns());
    used.map(|id| field_of(fields, *id))
        .collect::<Result<Vec<_>>>()?;
    let kinds = request.row_kinds != RowKinds::Drop;
    let given = Given {
        schema: schema(fields, &columns, kinds, request)?,
        columns,
        filter,
        kinds,
        batch,
    };
    let schema = SchemaRef::clone(&given.schema);
    let size = request.batch_size;
    let batches = unfold((given, 0), move |(given, mut start)| async move {
        while start < rows {
            let end = start.saturating_add(size).min(rows);
            let read = given.read(start..end);
            start = end;
            if !matches!(&read, Ok(batch) if batch.num_rows() == 0) {
                return Some((read, (given, start)));
            }
            yield_now().await;
        }
        None
    });
    Ok(BatchStream::new(schema, batches).limited(request.limit))
}

struct Given<B> {
    schema: SchemaRef,
    columns: Vec<FieldId>,
    filter: Option<PredicateFilter>,
    kinds: bool,
    batch: B,
}

impl<B: Fn(Range<usize>, &[FieldId]) -> Result<RecordBatch>> Given<B> {
    /// Those of some rows that pass.
    fn read(&self, rows: Range<usize>) -> Result<RecordBatch> {
        let passed = match &self.filter {
            None => None,
            Some(filter) => {
                let used = (self.batch)(rows.clone(), filter.columns())?;
                Some(filter.evaluate(&used)?)
            }
        };
        let none = |passed: &BooleanArray| passed.true_count() == 0;
        if passed.as_ref().is_some_and(none) {
            return Ok(RecordBatch::new_empty(SchemaRef::clone(&self.schema)));
        }
        let mut batch = (self.batch)(rows, &self.columns)?;
        if let Some(passed) = passed {
            batch = filter_record_batch(&batch, &passed)
                .map_err(|error| Error::internal("cannot filter rows").with_source(error))?;
        }
        let rows = batch.num_rows();
        let inserts = || Arc::new(Int8Array::from(vec![RowKind::Insert as i8; rows])) as ArrayRef;
        let kinds = self.kinds.then(inserts);
        let arrays = kinds.into_iter().chain(batch.columns().iter().cloned());
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let schema = SchemaRef::clone(&self.schema);
        RecordBatch::try_new_with_options(schema, arrays.collect(), &options)
            .map_err(|error| Error::internal("rows are not of their schema").with_source(error))
    }
}

fn schema(
    fields: &[DataField],
    columns: &[FieldId],
    kinds: bool,
    request: &ReadRequest,
) -> Result<SchemaRef> {
    let kind = kinds.then(|| Ok(Field::new(ROW_KIND_COLUMN, ArrowType::Int8, false)));
    let columns = columns
        .iter()
        .map(|id| field_of(fields, *id).and_then(|field| arrow_field(field, request.strings)));
    let fields = kind.into_iter().chain(columns);
    Ok(Arc::new(Schema::new(fields.collect::<Result<Vec<_>>>()?)))
}

fn field_of(fields: &[DataField], id: FieldId) -> Result<&DataField> {
    let field = fields.iter().find(|field| field.id == id);
    field.ok_or_else(|| Error::invalid_input(format!("no column with id {id}")))
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int32Type;
    use arrow_array::{Array, Int32Array};
    use paimon_meta::{CompareOp, Datum, Predicate, Test, TypeKind};

    use super::*;
    use crate::read_blocking;

    fn fields() -> [DataField; 2] {
        [(0, "k"), (1, "v")].map(|(id, name)| DataField {
            id: FieldId(id),
            name: name.to_owned(),
            data_type: TypeKind::Int.not_null(),
            description: None,
            default_value: None,
        })
    }

    /// Rows `0..rows`, of which `k` is the number and `v` its square.
    fn read(rows: usize, request: &ReadRequest) -> Result<Vec<RecordBatch>> {
        let stream = read_rows(&fields(), rows, request, |rows, columns| {
            let all = fields();
            let columns = columns.iter().map(|id| field_of(&all, *id).unwrap());
            let arrays = columns.map(|field| {
                let numbers = rows.clone().map(|row| i32::try_from(row).unwrap());
                let power = if field.name == "k" { 1 } else { 2 };
                let array = Int32Array::from_iter_values(numbers.map(|number| number.pow(power)));
                let field = arrow_field(field, paimon_meta::StringLayout::View).unwrap();
                (field, Arc::new(array) as ArrayRef)
            });
            let (fields, arrays): (Vec<_>, Vec<_>) = arrays.unzip();
            let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
            let schema = Arc::new(Schema::new(fields));
            Ok(RecordBatch::try_new_with_options(schema, arrays, &options).unwrap())
        })?;
        let mut batches = read_blocking(stream);
        std::iter::from_fn(|| batches.next_batch()).collect()
    }

    fn above(column: i32, value: i32) -> Predicate<FieldId> {
        Predicate::leaf(
            FieldId(column),
            TypeKind::Int.not_null(),
            Test::Compare(CompareOp::Gt, Datum::Int(value)),
        )
    }

    fn column(batches: &[RecordBatch], index: usize) -> Vec<i32> {
        let arrays = batches.iter().map(|batch| batch.column(index));
        let values = arrays.flat_map(|array| array.as_primitive::<Int32Type>().values().to_vec());
        values.collect()
    }

    #[test]
    fn condition_projection_limit_and_batch_size_hold() {
        let request = ReadRequest {
            projection: Some(vec![FieldId(0)]),
            predicate: Some(above(1, 30)),
            limit: Some(3),
            batch_size: 2,
            ..ReadRequest::default()
        };
        let batches = read(100, &request).unwrap();
        assert_eq!(column(&batches, 0), [6, 7, 8]);
        assert!(
            batches
                .iter()
                .all(|batch| (1..=2).contains(&batch.num_rows()))
        );
        assert_eq!(batches.first().map(RecordBatch::num_columns), Some(1));
    }

    #[test]
    fn kinds_come_first_and_no_columns_count() {
        let request = ReadRequest {
            row_kinds: RowKinds::Keep,
            ..ReadRequest::default()
        };
        let batches = read(3, &request).unwrap();
        assert_eq!(batches[0].schema().field(0).name(), ROW_KIND_COLUMN);
        assert_eq!(
            batches[0].column(0).as_ref(),
            &Int8Array::from(vec![0; 3]) as &dyn Array
        );
        let counting = ReadRequest {
            projection: Some(Vec::new()),
            predicate: Some(above(0, 0)),
            ..ReadRequest::default()
        };
        assert_eq!(read(3, &counting).unwrap()[0].num_rows(), 2);
    }

    #[test]
    fn unknown_columns_are_invalid_input() {
        for (projection, predicate) in [(Some(vec![FieldId(7)]), None), (None, Some(above(7, 0)))] {
            let request = ReadRequest {
                projection,
                predicate,
                ..ReadRequest::default()
            };
            let error = read(3, &request).unwrap_err();
            assert_eq!(error.kind(), paimon_meta::ErrorKind::InvalidInput);
        }
        assert!(read(0, &ReadRequest::default()).unwrap().is_empty());
    }
}
