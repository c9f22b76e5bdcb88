//! Which columns of the versions are read, and what becomes of each. Facts: RP-310, RP-313, merge-engines section 2.6.

use std::sync::Arc;

use arrow_schema::{DataType as ArrowType, Field, Schema};
use paimon_meta::{
    DataField, Error, FieldId, MergeEngine, Options, Predicate, ResolvedTable, Result,
    StringLayout, TablePredicate, TableSchema, arrow_field, datum_at,
};

use super::aggregation::Aggregation;
use super::columns::{Fault, Folded};
use super::options::{PartialUpdateOptions, check_renames};
use super::partial_update::PartialUpdate;
use super::versions::VersionColumns;
use crate::columns::{ROW_KIND_COLUMN, Shape};
use crate::evolve::Wanted;
use crate::request::RowKinds;

/// What a fold reads and does.
#[derive(Debug)]
pub(crate) struct FoldPlan {
    /// What is read of the versions: kinds first if they are part of the output, then the columns that are merged. Its
    /// condition is what may be asked of versions.
    pub(crate) versions: Arc<Shape>,
    /// What comes out.
    pub(crate) output: Arc<Shape>,
    pub(super) engine: Engine,
    /// What is asked of merged rows.
    pub(crate) condition: Option<TablePredicate>,
    /// Columns that are read: those that are merged, then those that only decide or name a key.
    fields: Vec<DataField>,
    /// How many of them are merged.
    pub(super) merged: usize,
    /// Columns of the key.
    keys: Vec<DataField>,
    /// Kinds are part of the output, and the first column of the versions.
    pub(super) kinds: bool,
    /// Keys whose merged row is a retract are rows of the result.
    pub(super) keep_retracts: bool,
}

/// The engines that make a row of several versions.
#[derive(Debug)]
pub(super) enum Engine {
    PartialUpdate(PartialUpdate),
    Aggregation(Aggregation),
}

impl Engine {
    pub(super) fn merge(&self, columns: &VersionColumns<'_>) -> Result<Folded, Fault> {
        match self {
            Self::PartialUpdate(engine) => engine.merge(columns),
            Self::Aggregation(engine) => engine.merge(columns),
        }
    }
}

/// Checks the options of the table's merge engine, also for reads that do not merge: the reference opens no such table.
///
/// # Errors
/// `InvalidInput` that names the option.
pub(crate) fn check_options(table: &ResolvedTable) -> Result<()> {
    match table.options.value(&Options::MERGE_ENGINE)? {
        MergeEngine::PartialUpdate if table.schema.has_primary_key() => {
            PartialUpdateOptions::of(table).map(|_| ())
        }
        _ => Ok(()),
    }
}

/// Whether a retract among several versions of a key is an error by itself (ME-046).
///
/// # Errors
/// As [`check_options`].
pub(crate) fn refuses_retracts(table: &ResolvedTable) -> Result<bool> {
    Ok(match table.options.value(&Options::MERGE_ENGINE)? {
        MergeEngine::PartialUpdate => PartialUpdateOptions::of(table)?.refuses_retracts(),
        _ => false,
    })
}

impl FoldPlan {
    /// The plan of a read; `None` if the engine does not make a row of several versions.
    ///
    /// # Errors
    /// `InvalidInput` for options and functions that do not fit the table.
    pub(crate) fn new(
        table: &ResolvedTable,
        output: &Arc<Shape>,
        row_kinds: RowKinds,
    ) -> Result<Option<Self>> {
        let schema = &table.schema;
        let mut fields = output.fields(schema)?;
        let merged = fields.len();
        let engine = match table.options.value(&Options::MERGE_ENGINE)? {
            MergeEngine::PartialUpdate => {
                Engine::PartialUpdate(PartialUpdate::new(table, &mut fields)?)
            }
            MergeEngine::Aggregation => Engine::Aggregation(Aggregation::new(table, &mut fields)?),
            MergeEngine::Deduplicate | MergeEngine::FirstRow => return Ok(None),
            other => return Err(Error::unsupported(format!("merge engine {other}"))),
        };
        let kinds = output.output.contains(&Wanted::Kind);
        check_renames(table)?;
        let (of_versions, condition) = divide(output.predicate.as_ref(), schema)?;
        Ok(Some(Self {
            versions: Arc::new(version_shape(output, kinds, &fields, of_versions)?),
            output: Arc::clone(output),
            engine,
            condition,
            fields,
            merged,
            keys: schema.key_fields()?.into_iter().cloned().collect(),
            kinds,
            keep_retracts: row_kinds == RowKinds::Keep,
        }))
    }

    /// Whether the newest version of a key is its row, wherever it is an add without null.
    pub(crate) fn newest_decides(&self) -> bool {
        // The kind of a merged row is not that of its newest version.
        !self.kinds
            && match &self.engine {
                Engine::PartialUpdate(engine) => engine.newest_decides(),
                Engine::Aggregation(engine) => engine.newest_decides(),
            }
    }

    /// Name of the engine, as the table's option has it.
    pub(crate) fn engine_name(&self) -> &'static str {
        match self.engine {
            Engine::PartialUpdate(_) => "partial-update",
            Engine::Aggregation(_) => "aggregation",
        }
    }

    /// How many columns of the versions stand before those that are merged.
    pub(super) fn before(&self) -> usize {
        usize::from(self.kinds)
    }

    /// Where a column stands among those that are read; below [`Self::merged`] for those that are merged.
    pub(super) fn position(&self, id: FieldId) -> Option<usize> {
        self.fields.iter().position(|field| field.id == id)
    }

    /// The key of a merged version as text, for errors; `None` if it is not read.
    pub(super) fn key_text(&self, columns: &VersionColumns<'_>, version: usize) -> Option<String> {
        let text = |field: &DataField| {
            let value = columns.value(self.position(field.id)?, version)?;
            let value = datum_at(&value, 0, &field.data_type).ok()?;
            Some(value.map_or_else(|| "null".to_owned(), |value| value.to_string()))
        };
        let text: Option<Vec<String>> = self.keys.iter().map(text).collect();
        text.map(|text| text.join(", "))
    }

    /// Name of a column that is merged.
    pub(super) fn name(&self, id: FieldId) -> &str {
        let field = self.fields.iter().find(|field| field.id == id);
        field.map_or("", |field| &field.name)
    }
}

/// Reads the key, too: errors of functions name it.
pub(super) fn add_key(schema: &TableSchema, fields: &mut Vec<DataField>) -> Result<()> {
    for key in schema.key_fields()? {
        if !fields.iter().any(|field| field.id == key.id) {
            fields.push(key.clone());
        }
    }
    Ok(())
}

/// The shape of the versions: text as views, and nulls everywhere, for a version may be what a row may not.
fn version_shape(
    output: &Shape,
    kinds: bool,
    fields: &[DataField],
    predicate: Option<TablePredicate>,
) -> Result<Shape> {
    let kind = kinds.then(|| Field::new(ROW_KIND_COLUMN, ArrowType::Int8, false));
    let columns = fields
        .iter()
        .map(|field| Ok(arrow_field(field, StringLayout::View)?.with_nullable(true)));
    let arrow = kind.into_iter().map(Ok).chain(columns);
    let arrow = arrow.collect::<Result<Vec<_>>>()?;
    let wanted = fields.iter().cloned().map(Wanted::Field);
    Ok(Shape {
        output: kinds
            .then_some(Wanted::Kind)
            .into_iter()
            .chain(wanted)
            .collect(),
        schema: Arc::new(Schema::new(arrow)),
        strings: StringLayout::View,
        batch_size: output.batch_size,
        predicate,
        row_filter: None,
        stored_kinds: false,
    })
}

/// Divides a condition into what holds for all versions of a key or for none, and the rest: versions are only left out
/// key by key (merge-engines section 8.2).
fn divide(
    predicate: Option<&TablePredicate>,
    schema: &TableSchema,
) -> Result<(Option<TablePredicate>, Option<TablePredicate>)> {
    let ids = |fields: Vec<&DataField>| fields.into_iter().map(|field| field.id).collect();
    let keys: Vec<FieldId> = ids(schema.key_fields()?);
    let partition: Vec<FieldId> = ids(schema.partition_fields()?);
    let conjuncts = predicate.map(Predicate::conjuncts).unwrap_or_default();
    let (versions, rows): (Vec<_>, Vec<_>) = conjuncts.into_iter().cloned().partition(|conjunct| {
        let columns = conjunct.columns();
        let all_in = |ids: &[FieldId]| columns.iter().all(|column| ids.contains(column));
        all_in(&keys) || all_in(&partition)
    });
    let all = |parts: Vec<TablePredicate>| (!parts.is_empty()).then(|| Predicate::and(parts));
    Ok((all(versions), all(rows)))
}
