//! The branch that a table falls back to: it has the partitions that the table does not have (RP-537).
//!
//! A partition is taken whole from the table if the table has a file of it, else whole from the branch. That is decided by
//! partitions alone, before any other condition.

use std::collections::{BTreeMap, HashSet};

use paimon_io::Resources;
use paimon_meta::{
    BinaryRow, DataType, Error, FieldId, FileTableBuilder, Frame, Leaf, Options, Predicate,
    ResolvedTable, Result, ResultExt, TablePredicate, TableSchema,
};

use crate::branches::Branch;
use crate::list_file::state_lists;
use crate::partitions::{PartitionSpec, PartitionValue};
use crate::plan::{FallbackSplits, Plan};
use crate::prune::prune;
use crate::resolve::{ResolveRequest, resolve_branch};
use crate::scan::{Scan, ScanRequest, plan_state};
use crate::snapshots::History;
use crate::view::View;

/// The branch that a table falls back to, in the state that goes with that of the table; `None` if the option names none, if the
/// table's own option names one that does not exist, or if the table is read as a stream.
///
/// # Errors
/// `NotFound` if the option of a read names a branch that does not exist, `InvalidInput` if it has other columns than the table,
/// else those of resolving.
pub(crate) async fn resolve_fallback(
    resources: &Resources,
    table: &ResolvedTable,
    request: &ResolveRequest,
) -> Result<Option<ResolvedTable>> {
    let option = &Options::SCAN_FALLBACK_BRANCH;
    let name: Option<String> = table.options.value(option)?;
    let name = name.as_deref().map(str::trim).unwrap_or_default();
    if name.is_empty() || name == table.branch || request.stream {
        return Ok(None);
    }
    let at = || Frame::Option(option.key.to_owned());
    // One that a read names has to be there; that of a table may have been deleted.
    let branch = if request.options.contains_key(option.key) {
        Some(Branch::existing(resources, &table.location, name).await)
    } else {
        let found = Branch::find(resources, &table.location, name).await;
        found.transpose()
    };
    let Some(branch) = branch.transpose().at(at)? else {
        return Ok(None);
    };
    let mut options = request.options.clone();
    options.remove(Options::BUCKET.key);
    options.remove(Options::BRANCH.key);
    let id = Options::SCAN_SNAPSHOT_ID.key;
    if options.get(id).is_some_and(Option::is_some)
        && let Some(snapshot) = &table.snapshot
    {
        // Ids of two branches have nothing in common, but times do.
        let history = History::new(resources, &table.location, &branch.paths);
        let same_time = history.at_or_before(snapshot.time_millis).await.at(at)?;
        let same_time = same_time.map_or(1, |snapshot| snapshot.id);
        options.insert(id.to_owned(), Some(same_time.to_string()));
    }
    let request = ResolveRequest {
        options,
        ..request.clone()
    };
    let fallback = resolve_branch(resources, &table.location, branch, &request)
        .await
        .at(at)?;
    check_columns(&table.schema, &fallback).at(at)?;
    Ok(Some(fallback))
}

/// Columns are the same by position: names and nullability may differ.
fn check_columns(schema: &TableSchema, fallback: &ResolvedTable) -> Result<()> {
    let kinds = |schema: &TableSchema| {
        let kinds = schema.fields.iter().map(|field| &field.data_type.kind);
        kinds.cloned().collect::<Vec<_>>()
    };
    if kinds(schema) == kinds(&fallback.schema) {
        return Ok(());
    }
    let types = |schema: &TableSchema| {
        let types = schema
            .fields
            .iter()
            .map(|field| field.data_type.to_string());
        types.collect::<Vec<_>>().join(", ")
    };
    Err(Error::invalid_input(format!(
        "branch {} has columns {}, expected those of the table: {}",
        fallback.branch,
        types(&fallback.schema),
        types(schema)
    )))
}

/// Plans both: splits of the table first.
///
/// # Errors
/// As [`plan`](crate::plan), for either.
pub(crate) async fn plan_with_fallback(
    resources: &Resources,
    table: &ResolvedTable,
    fallback: &ResolvedTable,
    request: &ScanRequest,
) -> Result<Plan> {
    let there = to_fallback(table, fallback, request)?;
    let complete = live_partitions(resources, table, request).await?;
    let complete: HashSet<BinaryRow> = complete.into_iter().collect();
    let mut missing = live_partitions(resources, fallback, &there).await?;
    missing.retain(|partition| !complete.contains(partition));
    let snapshot = table.snapshot.as_ref();
    let mut plan = plan_state(resources, table, snapshot, request, View::Batch).await?;
    if missing.is_empty() {
        return Ok(plan);
    }
    let partitions = missing.iter().map(|row| spec(&fallback.schema, row));
    let there = ScanRequest {
        partitions: partitions.collect::<Result<_>>()?,
        ..there
    };
    let at = || Frame::Option(Options::SCAN_FALLBACK_BRANCH.key.to_owned());
    let snapshot = fallback.snapshot.as_ref();
    let more = plan_state(resources, fallback, snapshot, &there, View::Batch)
        .await
        .at(at)?;
    append(&mut plan, more)?;
    Ok(plan)
}

/// The partitions that a state has files of, going by what a request says of partitions.
async fn live_partitions(
    resources: &Resources,
    table: &ResolvedTable,
    request: &ScanRequest,
) -> Result<Vec<BinaryRow>> {
    let Some(snapshot) = &table.snapshot else {
        return Ok(Vec::new());
    };
    let keys = table.schema.partition_fields()?;
    let keys: Vec<FieldId> = keys.into_iter().map(|field| field.id).collect();
    let predicate = request.predicate.as_ref();
    let request = ScanRequest {
        predicate: predicate.and_then(|predicate| predicate.split_partition(&keys).0),
        partitions: request.partitions.clone(),
        ..ScanRequest::default()
    };
    let scan = Scan::new(table, &request, View::Batch)?;
    let entries = scan
        .read(resources, state_lists(snapshot))
        .await
        .at(|| Frame::Snapshot(snapshot.id))?;
    let files = &entries.added.files;
    let pruned = prune(&entries.added, &entries.deleted, &scan.rules);
    let mut seen = HashSet::new();
    let first = pruned.buckets.iter().filter_map(|bucket| bucket.first());
    let new = first.filter(|file| seen.insert(files.partition_id(**file as usize)));
    Ok(new
        .map(|file| files.partition(*file as usize).clone())
        .collect())
}

/// The request in the columns of the fallback branch.
fn to_fallback(
    table: &ResolvedTable,
    fallback: &ResolvedTable,
    request: &ScanRequest,
) -> Result<ScanRequest> {
    let predicate = request.predicate.as_ref();
    Ok(ScanRequest {
        predicate: predicate
            .map(|predicate| columns_to_fallback(table, fallback, predicate))
            .transpose()?,
        partitions: request
            .partitions
            .iter()
            .map(|spec| names_to_fallback(table, fallback, spec))
            .collect(),
        ..request.clone()
    })
}

fn columns_to_fallback(
    table: &ResolvedTable,
    fallback: &ResolvedTable,
    predicate: &TablePredicate,
) -> Result<TablePredicate> {
    let mapped = predicate.try_map(&mut |leaf: &Leaf<FieldId>| {
        let fields = &table.schema.fields;
        let position = fields.iter().position(|field| field.id == leaf.column)?;
        let field = fallback.schema.fields.get(position)?;
        Some(Predicate::leaf(
            field.id,
            field.data_type.clone(),
            leaf.test.clone(),
        ))
    });
    mapped.ok_or_else(|| Error::invalid_input("the condition names no column of the table"))
}

/// A name that the table does not have stays, and is refused by the table.
fn names_to_fallback(
    table: &ResolvedTable,
    fallback: &ResolvedTable,
    spec: &PartitionSpec,
) -> PartitionSpec {
    let name = |name: &String| {
        let fields = &table.schema.fields;
        let position = fields.iter().position(|field| field.name == *name)?;
        Some(fallback.schema.fields.get(position)?.name.clone())
    };
    spec.iter()
        .map(|(key, value)| (name(key).unwrap_or_else(|| key.clone()), value.clone()))
        .collect()
}

/// A partition by its values.
fn spec(schema: &TableSchema, partition: &BinaryRow) -> Result<PartitionSpec> {
    let fields = schema.partition_fields()?;
    let types: Vec<&DataType> = fields.iter().map(|field| &field.data_type).collect();
    let values = partition.as_ref().datums(&types)?;
    Ok(fields
        .iter()
        .zip(values)
        .map(|(field, value)| (field.name.clone(), PartitionValue::Value(value)))
        .collect::<BTreeMap<_, _>>())
}

/// Puts splits of the fallback branch behind those of the table. They are of other partitions.
fn append(plan: &mut Plan, more: Plan) -> Result<()> {
    let offset = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    let files = offset(plan.files.len());
    let (runs, sections) = (offset(plan.run_ends.len()), offset(plan.section_ends.len()));
    let mut builder = FileTableBuilder::new();
    builder.append(std::mem::take(&mut plan.files))?;
    builder.append(more.files)?;
    plan.files = builder.finish();
    plan.fallback = Some(FallbackSplits {
        first: plan.splits.len(),
        snapshot_id: more.snapshot_id.unwrap_or(0),
    });
    let later = |end: &u32, by: u32| end.saturating_add(by);
    plan.run_ends
        .extend(more.run_ends.iter().map(|end| later(end, files)));
    plan.section_ends
        .extend(more.section_ends.iter().map(|end| later(end, runs)));
    plan.splits.extend(more.splits.into_iter().map(|mut split| {
        split.files_end = later(&split.files_end, files);
        split.runs_end = later(&split.runs_end, runs);
        split.sections_end = later(&split.sections_end, sections);
        split
    }));
    plan.bucket_parents.extend(more.bucket_parents);
    if let Some(more) = more.vectors {
        plan.vectors.get_or_insert_default().append(more, files);
    }
    plan.pruning.append(more.pruning);
    Ok(())
}
