//! `$audit_log` and `$binlog`: the rows of a table with their kinds as a column (RP-650).
//!
//! ```text
//! request on the view ─▶ condition for the plan, request for the table ─▶ rows with kinds ─▶ rows of the view
//! ```

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{Array, ArrayRef, Int8Array, ListArray, RecordBatch, RecordBatchOptions};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType as ArrowType, Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use arrow_select::filter::filter_record_batch;
use futures_util::StreamExt;
use futures_util::stream::unfold;
use paimon_meta::{
    DataField, DataType, Datum, Error, FieldId, MAX_LENGTH, Predicate, Result, RowKind,
    StringLayout, TablePredicate, TableSchema, TypeKind, array_of, arrow_field,
};
use serde::{Deserialize, Serialize};

use crate::columns::ROW_KIND_COLUMN;
use crate::fetches::yield_now;
use crate::filter::{PredicateFilter, RowFilter};
use crate::request::{FineTimestamps, ReadRequest, RowKinds};
use crate::stream::BatchStream;

/// Id of the column `rowkind`, as the reference numbers it.
const KIND_ID: FieldId = FieldId(2_147_483_643);

/// Which view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ChangelogTable {
    /// Each row behind its kind: `+I`, `-U`, `+U` or `-D`.
    AuditLog,
    /// The same, each value in a list of one; in streaming splits the row before an update and the one after it form one
    /// row with lists of two.
    Binlog,
}

impl ChangelogTable {
    /// The columns of the view: `rowkind`, then those of the table.
    pub fn schema(self, table: &TableSchema) -> TableSchema {
        let kind = field(KIND_ID, "rowkind", TypeKind::VarChar(MAX_LENGTH).nullable());
        let column = |column: &DataField| match self {
            Self::AuditLog => column.clone(),
            Self::Binlog => {
                let element = column.data_type.kind.clone().nullable();
                let list = TypeKind::Array(Box::new(element)).nullable();
                field(column.id, &column.name, list)
            }
        };
        let columns = table.fields.iter().map(column);
        TableSchema {
            fields: std::iter::once(kind).chain(columns).collect(),
            partition_keys: Vec::new(),
            primary_keys: Vec::new(),
            ..table.clone()
        }
    }
}

fn field(id: FieldId, name: &str, data_type: DataType) -> DataField {
    DataField {
        id,
        name: name.to_owned(),
        data_type,
        description: None,
        default_value: None,
    }
}

/// A request on a view, divided between the table and the view.
#[derive(Debug)]
pub struct ChangelogView {
    which: ChangelogTable,
    /// The view's columns in the order of the output.
    output: Vec<DataField>,
    /// Columns of the table that are read.
    columns: Vec<FieldId>,
    /// What the table's own read sees to.
    pushed: Option<TablePredicate>,
    rest: Option<Rest>,
    request: ReadRequest,
    schema: SchemaRef,
}

/// What only the view can tell.
#[derive(Debug)]
struct Rest {
    filter: PredicateFilter,
    fields: Vec<DataField>,
}

impl ChangelogView {
    /// A view of a table with the request's columns, condition, limit and layout; kinds that are shown add the kind of the
    /// view's own rows, which are all inserts. Ids are those of [`ChangelogTable::schema`].
    ///
    /// # Errors
    /// `InvalidInput` for columns that the view does not have, `Unsupported` for a condition that no filter knows.
    pub fn new(which: ChangelogTable, table: &TableSchema, request: &ReadRequest) -> Result<Self> {
        let schema = which.schema(table);
        let field = |id: &FieldId| {
            let field = schema.field_by_id(*id).cloned();
            field.ok_or_else(|| Error::invalid_input(format!("no column with id {id}")))
        };
        let output: Vec<DataField> = match &request.projection {
            None => schema.fields.clone(),
            Some(ids) => ids.iter().map(field).collect::<Result<_>>()?,
        };
        let (pushed, rest) = divide(which, request.predicate.as_ref());
        let rest = rest.as_ref().map(|predicate| {
            let filter = PredicateFilter::new(predicate)?;
            let fields = filter.columns().iter().map(field);
            let fields = fields.collect::<Result<_>>()?;
            Ok::<_, Error>(Rest { filter, fields })
        });
        let rest = rest.transpose()?;
        let used = rest.iter().flat_map(|rest| &rest.fields);
        let mut columns = Vec::new();
        for field in output
            .iter()
            .chain(used)
            .filter(|field| field.id != KIND_ID)
        {
            if !columns.contains(&field.id) {
                columns.push(field.id);
            }
        }
        Ok(Self {
            which,
            columns,
            pushed,
            rest,
            schema: arrow(&output, request)?,
            output,
            request: request.clone(),
        })
    }

    /// The condition to plan with.
    pub fn predicate(&self) -> Option<&TablePredicate> {
        self.pushed.as_ref()
    }

    /// The limit to plan with.
    pub fn limit(&self) -> Option<u64> {
        self.request.limit.filter(|_| self.rest.is_none())
    }

    /// The request for the table's rows; `residual` is what the plan left of the condition.
    pub fn request(&self, residual: Option<TablePredicate>) -> ReadRequest {
        ReadRequest {
            projection: Some(self.columns.clone()),
            predicate: residual,
            limit: self
                .limit()
                .filter(|_| self.which == ChangelogTable::AuditLog),
            row_kinds: RowKinds::Keep,
            fine_timestamps: FineTimestamps::Nanoseconds,
            ..self.request.clone()
        }
    }

    /// The columns of the output in order, the row kind left out.
    pub fn fields(&self) -> &[DataField] {
        &self.output
    }

    /// Schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }

    /// The view's rows out of those of one split that were read with [`Self::request`]. `streaming` says whether the split is
    /// one of a streaming or incremental read, whose updates `$binlog` folds.
    pub fn read(self: &Arc<Self>, rows: BatchStream, streaming: bool) -> BatchStream {
        let folds = streaming && self.which == ChangelogTable::Binlog;
        let state = (Arc::clone(self), Some(rows), None);
        let batches = unfold(state, move |(view, mut rows, mut left)| async move {
            loop {
                let next = match &mut rows {
                    Some(rows) => rows.next().await,
                    None => return None,
                };
                let ended = next.is_none();
                if ended {
                    rows = None;
                }
                let batch = match next.transpose() {
                    Err(error) => return Some((Err(error), (view, None, None))),
                    Ok(batch) => view.turn(batch, &mut left, folds),
                };
                if !matches!(&batch, Ok(batch) if batch.num_rows() == 0) {
                    return Some((batch, (view, rows, left)));
                }
                if !ended {
                    yield_now().await;
                }
            }
        });
        BatchStream::new(self.schema(), batches).limited(self.request.limit)
    }

    /// Rows of the table, with what was left of those before, to rows of the view.
    fn turn(
        &self,
        batch: Option<RecordBatch>,
        left: &mut Option<RecordBatch>,
        folds: bool,
    ) -> Result<RecordBatch> {
        let last = batch.is_none();
        let rows = match (left.take(), batch) {
            (Some(before), Some(batch)) => concat_batches(&batch.schema(), [&before, &batch])
                .map_err(|error| Error::internal("cannot join rows").with_source(error))?,
            (Some(batch), None) | (None, Some(batch)) => batch,
            (None, None) => return Ok(RecordBatch::new_empty(self.schema())),
        };
        let kinds = kinds(&rows)?;
        let mut lengths = lengths(kinds, folds);
        if !last && lengths.last().is_some_and(|length| *length == OPEN) {
            lengths.pop();
            *left = Some(rows.slice(rows.num_rows() - 1, 1));
        }
        let lengths: Vec<usize> = lengths.into_iter().map(|length| length.max(1)).collect();
        self.shown(&Group {
            rows: &rows,
            kinds,
            lengths: &lengths,
            strings: self.request.strings,
        })
    }

    fn shown(&self, group: &Group<'_>) -> Result<RecordBatch> {
        let rows = group.lengths.len();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let fault = |error| Error::internal("rows are not of their view").with_source(error);
        let mut arrays = Vec::with_capacity(self.output.len() + 1);
        if self.request.row_kinds != RowKinds::Drop {
            arrays.push(Arc::new(Int8Array::from(vec![RowKind::Insert as i8; rows])) as ArrayRef);
        }
        for field in &self.output {
            arrays.push(self.column(field, group)?);
        }
        let batch = RecordBatch::try_new_with_options(self.schema(), arrays, &options);
        let batch = batch.map_err(fault)?;
        let Some(rest) = &self.rest else {
            return Ok(batch);
        };
        let used = rest.fields.iter().map(|field| self.column(field, group));
        let used: Vec<ArrayRef> = used.collect::<Result<_>>()?;
        let fields = rest.fields.iter().zip(&used);
        let fields =
            fields.map(|(field, array)| Field::new(&field.name, array.data_type().clone(), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let used = RecordBatch::try_new_with_options(schema, used, &options).map_err(fault)?;
        filter_record_batch(&batch, &rest.filter.evaluate(&used)?).map_err(fault)
    }

    /// A column of the view.
    fn column(&self, field: &DataField, group: &Group<'_>) -> Result<ArrayRef> {
        if field.id == KIND_ID {
            return group.kind_texts();
        }
        let position = self.columns.iter().position(|id| *id == field.id);
        let position = position.ok_or_else(|| Error::internal("a column that was not read"))?;
        let array = group.rows.columns().get(position + 1);
        let array = array.ok_or_else(|| Error::internal("rows without a column"))?;
        match self.which {
            ChangelogTable::AuditLog => Ok(ArrayRef::clone(array)),
            ChangelogTable::Binlog => group.lists(array, field),
        }
    }
}

/// The part of a condition that the table's own read sees to, and the part that needs the view's columns.
fn divide(
    which: ChangelogTable,
    predicate: Option<&TablePredicate>,
) -> (Option<TablePredicate>, Option<TablePredicate>) {
    let parts = match predicate {
        None => Vec::new(),
        Some(Predicate::And(parts)) => parts.clone(),
        Some(predicate) => vec![predicate.clone()],
    };
    let of_table = |part: &TablePredicate| {
        which == ChangelogTable::AuditLog && !part.columns().contains(&&KIND_ID)
    };
    let (pushed, rest): (Vec<_>, Vec<_>) = parts.into_iter().partition(of_table);
    let all = |parts: Vec<TablePredicate>| (!parts.is_empty()).then(|| Predicate::and(parts));
    (all(pushed), all(rest))
}

fn arrow(output: &[DataField], request: &ReadRequest) -> Result<SchemaRef> {
    let keep = request.row_kinds != RowKinds::Drop;
    let kind = keep.then(|| Ok(Field::new(ROW_KIND_COLUMN, ArrowType::Int8, false)));
    let columns = output
        .iter()
        .map(|field| arrow_field(field, request.strings));
    let fields = kind.into_iter().chain(columns);
    Ok(Arc::new(Schema::new(fields.collect::<Result<Vec<_>>>()?)))
}

fn kinds(rows: &RecordBatch) -> Result<&Int8Array> {
    let kinds = rows.columns().first();
    let kinds = kinds.and_then(|kinds| kinds.as_primitive_opt::<Int8Type>());
    kinds.ok_or_else(|| Error::internal("rows without their kinds"))
}

/// Length of a row whose second half has not come.
const OPEN: usize = 0;

/// How many rows of the table form each row of the view, in order. Folded, the row before an update takes the next with it,
/// whatever that is, as in the reference.
fn lengths(kinds: &Int8Array, folds: bool) -> Vec<usize> {
    if !folds {
        return vec![1; kinds.len()];
    }
    let before = RowKind::UpdateBefore as i8;
    let mut lengths = Vec::with_capacity(kinds.len());
    let mut open = false;
    for kind in kinds.values() {
        if std::mem::take(&mut open) {
            if let Some(length) = lengths.last_mut() {
                *length = 2;
            }
        } else {
            open = *kind == before;
            lengths.push(if open { OPEN } else { 1 });
        }
    }
    lengths
}

/// Rows of the table that form rows of the view.
struct Group<'a> {
    rows: &'a RecordBatch,
    kinds: &'a Int8Array,
    /// How many form each row.
    lengths: &'a [usize],
    strings: StringLayout,
}

impl Group<'_> {
    /// The kind of the last row of each.
    fn kind_texts(&self) -> Result<ArrayRef> {
        let mut end = 0;
        let ends = self.lengths.iter().map(|length| {
            end += length;
            end - 1
        });
        let text = |row: usize| {
            let kind = self.kinds.values().get(row).copied().unwrap_or_default();
            Ok(Datum::String(RowKind::from_byte(kind)?.short().to_owned()))
        };
        let texts: Vec<Datum> = ends.map(text).collect::<Result<_>>()?;
        array_of(texts.iter().map(Some), &self.strings.text())
    }

    fn lists(&self, array: &ArrayRef, field: &DataField) -> Result<ArrayRef> {
        let ArrowType::List(element) = field.data_type.to_arrow(self.strings)? else {
            return Err(Error::internal("a column of no lists"));
        };
        let offsets = OffsetBuffer::from_lengths(self.lengths.iter().copied());
        let rows = self.lengths.iter().sum();
        let list = ListArray::try_new(element, offsets, array.slice(0, rows), None);
        list.map(|list| Arc::new(list) as ArrayRef)
            .map_err(|error| Error::internal("values do not form lists").with_source(error))
    }
}

#[cfg(test)]
mod tests;
