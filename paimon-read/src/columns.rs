//! Which columns a read hands out, which it needs to decide, and where each one comes from.
//!
//! A row passes up to three stations: the key pass decodes *early* columns, the row filter its own, the value pass the
//! *late* ones, each for fewer rows than the one before. A column is decoded once, at the first station that needs it.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int8Array};
use arrow_schema::{DataType as ArrowType, Field, Schema, SchemaRef};
use paimon_meta::{
    DataField, Datum, Error, FieldId, Frame, MergeEngine, Options, Predicate, ResolvedTable,
    Result, ResultExt, RowKind, StringLayout, TablePredicate, TableSchema, array_of, arrow_field,
};

use crate::evolve::{Wanted, in_micros, target_type};
use crate::filter::RowFilter;
use crate::request::{FineTimestamps, ReadRequest, RowKinds};

/// Name of the column of row kinds that [`RowKinds::Show`] and [`RowKinds::Keep`] add in front.
pub const ROW_KIND_COLUMN: &str = "_ROW_KIND";

/// A checked request: what comes out, and what decides.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) output: Vec<Wanted>,
    pub(crate) schema: SchemaRef,
    pub(crate) strings: StringLayout,
    pub(crate) batch_size: usize,
    pub(crate) predicate: Option<TablePredicate>,
    pub(crate) row_filter: Option<Arc<dyn RowFilter>>,
    /// Kinds that the key pass does not give are read from the file; else such rows are inserts.
    pub(crate) stored_kinds: bool,
}

impl Shape {
    /// Checks a request against a table.
    ///
    /// # Errors
    /// `InvalidInput` for columns that the table does not have, `Unsupported` for types without an Arrow form.
    pub(crate) fn new(
        table: &ResolvedTable,
        request: &ReadRequest,
        row_filter: Option<&Arc<dyn RowFilter>>,
    ) -> Result<Self> {
        request.check()?;
        let mut output = Vec::new();
        let mut arrow = Vec::new();
        if request.row_kinds != RowKinds::Drop {
            output.push(Wanted::Kind);
            arrow.push(Field::new(ROW_KIND_COLUMN, ArrowType::Int8, false));
        }
        check_timestamps(table, request)?;
        for mut field in projected(&table.schema, request.projection.as_deref())? {
            if request.fine_timestamps == FineTimestamps::Microseconds
                && !table.schema.partition_keys.contains(&field.name)
            {
                field.data_type = in_micros(&field.data_type);
            }
            let target = DataField {
                data_type: target_type(table, &field),
                ..field.clone()
            };
            arrow.push(arrow_field(&target, request.strings)?);
            output.push(Wanted::Field(field));
        }
        let shape = Self {
            output,
            schema: Arc::new(Schema::new(arrow)),
            strings: request.strings,
            batch_size: request.batch_size,
            predicate: request.predicate.clone(),
            row_filter: row_filter.map(Arc::clone),
            stored_kinds: false,
        };
        for id in shape.filter_columns() {
            field_of(&table.schema, id)?;
        }
        Ok(shape)
    }

    /// Columns of the table that the read needs, each once: those of the output, then those of the filter.
    pub(crate) fn fields(&self, table: &TableSchema) -> Result<Vec<DataField>> {
        let output = self.output.iter().filter_map(|column| match column {
            Wanted::Field(field) => Some(Ok(field.clone())),
            Wanted::Sequence | Wanted::Kind => None,
        });
        let filtered = self.filter_columns().into_iter();
        let filtered = filtered.map(|id| field_of(table, id).cloned());
        let mut fields: Vec<DataField> = Vec::new();
        for field in output.chain(filtered) {
            let field = field?;
            if !fields.iter().any(|known| known.id == field.id) {
                fields.push(field);
            }
        }
        Ok(fields)
    }

    /// The same without partition columns: they come from no file.
    pub(crate) fn needed(&self, table: &TableSchema) -> Result<Vec<DataField>> {
        let mut fields = self.fields(table)?;
        fields.retain(|field| !table.partition_keys.contains(&field.name));
        Ok(fields)
    }

    fn filter_columns(&self) -> Vec<FieldId> {
        let mut ids = self
            .predicate
            .iter()
            .flat_map(Predicate::columns)
            .copied()
            .collect::<Vec<_>>();
        ids.extend(self.row_filter.iter().flat_map(|filter| filter.columns()));
        ids
    }
}

/// Functions of merge engines compute in the table's types.
fn check_timestamps(table: &ResolvedTable, request: &ReadRequest) -> Result<()> {
    if request.fine_timestamps == FineTimestamps::Nanoseconds || !table.schema.has_primary_key() {
        return Ok(());
    }
    match table.options.value(&Options::MERGE_ENGINE)? {
        MergeEngine::Deduplicate | MergeEngine::FirstRow => Ok(()),
        engine => Err(Error::unsupported(format!(
            "timestamps in microseconds with merge engine {engine}"
        ))),
    }
}

fn projected(schema: &TableSchema, projection: Option<&[FieldId]>) -> Result<Vec<DataField>> {
    match projection {
        None => Ok(schema.fields.clone()),
        Some(ids) => ids
            .iter()
            .map(|id| field_of(schema, *id).cloned())
            .collect(),
    }
}

fn field_of(schema: &TableSchema, id: FieldId) -> Result<&DataField> {
    schema
        .field_by_id(id)
        .ok_or_else(|| Error::invalid_input(format!("the table has no column of id {id}")))
}

/// Partition values of a split, by field.
pub(crate) type PartitionValues = Vec<(DataField, Option<Datum>)>;

/// Where a column comes from.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// Kept from the key pass, by index.
    Early(usize),
    /// Decoded by the row filter, by index.
    Filtered(usize),
    /// Decoded by the value pass, by index.
    Late(usize),
    /// One value for the whole split.
    Constant(Option<Datum>, DataField),
    /// Every row is an insert.
    Inserts,
}

/// What the row filter needs.
#[derive(Clone, Debug)]
pub(crate) struct FilterPlan {
    /// What is left of the condition for rows of this split; partition columns are resolved.
    pub(crate) predicate: Option<TablePredicate>,
    /// The caller's own filter.
    pub(crate) row_filter: Option<Arc<dyn RowFilter>>,
    /// Columns that must be decoded for it.
    pub(crate) read: Vec<Wanted>,
    /// Every column of predicate and row filter.
    origins: Vec<(DataField, Origin)>,
}

impl FilterPlan {
    /// Where a column of the filter comes from.
    pub(crate) fn origin(&self, id: FieldId) -> Result<&Origin> {
        self.find(id).map(|(_, origin)| origin)
    }

    /// A column of the filter.
    pub(crate) fn field(&self, id: FieldId) -> Result<&DataField> {
        self.find(id).map(|(field, _)| field)
    }

    /// Whether it needs columns that the key pass keeps.
    pub(crate) fn needs_early(&self) -> bool {
        let mut origins = self.origins.iter();
        origins.any(|(_, origin)| matches!(origin, Origin::Early(_)))
    }

    /// Whether it must be asked about winners alone: the caller's own filter may fail on versions that lost, and columns
    /// of the key pass are there for winners only.
    pub(crate) fn wants_winners(&self) -> bool {
        self.row_filter.is_some() || self.needs_early()
    }

    fn find(&self, id: FieldId) -> Result<&(DataField, Origin)> {
        self.origins
            .iter()
            .find(|(field, _)| field.id == id)
            .ok_or_else(|| Error::internal(format!("filter column {id} was not planned")))
    }
}

/// The columns of one section.
#[derive(Clone, Debug)]
pub(crate) struct ColumnPlan {
    /// Columns kept from the key pass, in the order of their arrays.
    pub(crate) early: Vec<Wanted>,
    /// The row filter, if there is one.
    pub(crate) filter: Option<FilterPlan>,
    /// Columns of the value pass.
    pub(crate) late: Vec<Wanted>,
    /// Origin of each output column.
    pub(crate) output: Vec<Origin>,
    /// No row of the split can pass the condition.
    pub(crate) nothing_passes: bool,
    /// Layout of text and bytes.
    pub(crate) strings: StringLayout,
    /// The early columns come in the order of the picks, not piece by piece.
    pub(crate) ordered: bool,
    /// As in [`Shape`].
    stored_kinds: bool,
}

impl ColumnPlan {
    /// What is asked of rows between the passes, as far as it is known to the library.
    pub(crate) fn condition(&self) -> Option<&TablePredicate> {
        self.filter.as_ref()?.predicate.as_ref()
    }

    /// Plans a section whose key pass decodes `decoded`; `condition` is what is left to be checked on whole rows.
    pub(crate) fn new(
        shape: &Shape,
        table: &TableSchema,
        decoded: &[Wanted],
        partition: &PartitionValues,
        condition: Option<TablePredicate>,
    ) -> Result<Self> {
        let condition = condition.map(|predicate| resolve_partition(&predicate, partition));
        let nothing_passes = matches!(condition, Some(Predicate::Constant(None | Some(false))));
        let condition = condition.filter(|predicate| !matches!(predicate, Predicate::Constant(_)));
        let mut plan = Self {
            early: Vec::new(),
            filter: None,
            late: Vec::new(),
            output: Vec::new(),
            nothing_passes,
            strings: shape.strings,
            ordered: false,
            stored_kinds: shape.stored_kinds,
        };
        if condition.is_some() || shape.row_filter.is_some() {
            plan.plan_filter(shape, table, decoded, partition, condition)?;
        }
        for column in &shape.output {
            let origin = match plan.find(column, decoded, partition) {
                Some(origin) => origin,
                None => {
                    plan.late.push(column.clone());
                    Origin::Late(plan.late.len() - 1)
                }
            };
            plan.output.push(origin);
        }
        Ok(plan)
    }

    fn plan_filter(
        &mut self,
        shape: &Shape,
        table: &TableSchema,
        decoded: &[Wanted],
        partition: &PartitionValues,
        predicate: Option<TablePredicate>,
    ) -> Result<()> {
        let mut ids: Vec<FieldId> = predicate
            .iter()
            .flat_map(Predicate::columns)
            .copied()
            .collect();
        ids.extend(shape.row_filter.iter().flat_map(|filter| filter.columns()));
        let row_filter = shape.row_filter.as_ref().map(Arc::clone);
        self.filter = Some(FilterPlan {
            predicate,
            row_filter,
            read: Vec::new(),
            origins: Vec::new(),
        });
        for id in ids {
            let field = field_of(table, id)?.clone();
            let column = Wanted::Field(field.clone());
            let known = self.find(&column, decoded, partition);
            let Some(filter) = &mut self.filter else {
                continue;
            };
            let origin = known.unwrap_or_else(|| {
                filter.read.push(column);
                Origin::Filtered(filter.read.len() - 1)
            });
            filter.origins.push((field, origin));
        }
        Ok(())
    }

    /// Whether the early columns are just these and no filter needs them.
    pub(crate) fn early_is_only(&self, columns: &[Wanted]) -> bool {
        let filtered = self.filter.as_ref().is_some_and(FilterPlan::needs_early);
        self.early == columns && !filtered
    }

    /// Whether the row filter decodes columns of its own.
    pub(crate) fn filter_reads(&self) -> bool {
        self.filter
            .as_ref()
            .is_some_and(|filter| !filter.read.is_empty())
    }

    /// Where a column comes from if it need not be read by the value pass.
    fn find(
        &mut self,
        column: &Wanted,
        decoded: &[Wanted],
        partition: &PartitionValues,
    ) -> Option<Origin> {
        if let Wanted::Field(field) = column
            && let Some((field, value)) = partition.iter().find(|(known, _)| known.id == field.id)
        {
            return Some(Origin::Constant(value.clone(), field.clone()));
        }
        if decoded.contains(column) {
            let index = self
                .early
                .iter()
                .position(|early| early == column)
                .unwrap_or_else(|| {
                    self.early.push(column.clone());
                    self.early.len() - 1
                });
            return Some(Origin::Early(index));
        }
        if *column == Wanted::Kind && !self.stored_kinds {
            return Some(Origin::Inserts);
        }
        let filtered = self
            .filter
            .as_ref()?
            .read
            .iter()
            .position(|read| read == column)?;
        Some(Origin::Filtered(filtered))
    }
}

/// The array of an origin that needs no file.
pub(crate) fn constant_column(
    origin: &Origin,
    strings: StringLayout,
    rows: usize,
) -> Result<Option<ArrayRef>> {
    match origin {
        Origin::Constant(value, field) => {
            let arrow = field.data_type.to_arrow(strings)?;
            let values = std::iter::repeat_n(value.as_ref(), rows);
            array_of(values, &arrow)
                .map(Some)
                .at(|| Frame::Column(field.name.clone()))
        }
        Origin::Inserts => Ok(Some(Arc::new(Int8Array::from(vec![
            RowKind::Insert as i8;
            rows
        ])))),
        Origin::Early(_) | Origin::Filtered(_) | Origin::Late(_) => Ok(None),
    }
}

/// Decides the leaves on partition columns: they have one value in a split.
fn resolve_partition(predicate: &TablePredicate, partition: &PartitionValues) -> TablePredicate {
    match predicate {
        Predicate::And(parts) => {
            Predicate::and(parts.iter().map(|part| resolve_partition(part, partition)))
        }
        Predicate::Or(parts) => {
            Predicate::or(parts.iter().map(|part| resolve_partition(part, partition)))
        }
        Predicate::Leaf(leaf) => {
            match partition.iter().find(|(field, _)| field.id == leaf.column) {
                Some((_, value)) => Predicate::Constant(leaf.test.evaluate(value.as_ref())),
                None => predicate.clone(),
            }
        }
        other => other.clone(),
    }
}
