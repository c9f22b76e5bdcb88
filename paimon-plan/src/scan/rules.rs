//! From the request to the rules by which entries pass.

use std::collections::HashMap;

use paimon_meta::{
    BinaryRow, DataPaths, FileTable, Frame, Options, ResolvedTable, Result, StartupMode,
};

use super::ScanRequest;
use crate::bucket_pass::RowOrigin;
use crate::engine::Engine;
use crate::entry_filter::BucketKeys;
use crate::file_stats::StatsTest;
use crate::filters::Filters;
use crate::manifests::SchemaTests;
use crate::prune::{LevelRule, LimitPruning, PruneRules, ValuePruning};
use crate::shard::{Shard, ShardPruning};
use crate::view::View;
use crate::zone::Zone;

/// The condition on bucket keys, made ready; `None` if the condition does not name them all.
pub(super) fn bucket_keys(table: &ResolvedTable, filters: &Filters) -> Result<Option<BucketKeys>> {
    let Some(predicate) = filters.bucket.clone() else {
        return Ok(None);
    };
    let keys = table.schema.bucket_fields()?;
    Ok(Some(BucketKeys {
        predicate,
        keys: keys
            .into_iter()
            .map(|field| (field.id, field.data_type.clone()))
            .collect(),
        function: table.options.value(&Options::BUCKET_FUNCTION_TYPE)?,
    }))
}

/// The tests by statistics for files of each schema; none if there is no condition for them.
pub(super) fn schema_tests(
    table: &ResolvedTable,
    filters: &Filters,
) -> Result<HashMap<i64, SchemaTests>> {
    if filters.key.is_none() && filters.value.is_none() {
        return Ok(HashMap::new());
    }
    let now = &table.schema;
    let tests = table.schemas.values().map(|then| {
        let key = filters
            .key
            .as_ref()
            .map(|key| StatsTest::of_keys(key, now, then))
            .transpose()?;
        let value = filters
            .value
            .as_ref()
            .map(|value| StatsTest::of_values(value, now, then));
        Ok((then.id, SchemaTests { key, value }))
    });
    tests.collect()
}

/// What to drop beside deleted files.
pub(super) fn prune_rules(
    table: &ResolvedTable,
    (engine, view): (Engine, View),
    filters: &Filters,
    limit: Option<u64>,
    shard: Option<Shard>,
) -> Result<PruneRules> {
    let levels = view.levels(engine, &table.options)?;
    let value = match filters.value {
        None => ValuePruning::Off,
        Some(_) => view.value_pruning(engine, &table.options)?,
    };
    // Deletion vectors take rows away that the files count.
    let limit = match limit.filter(|limit| *limit > 0 && !engine.deletion_vectors) {
        Some(limit) if !engine.has_key => LimitPruning::PerFile(limit),
        Some(limit) if engine.row_origin() == RowOrigin::Stored => LimitPruning::PerBucket(limit),
        _ => LimitPruning::Off,
    };
    let always_raw = !engine.has_key || levels == LevelRule::AboveZero && view == View::Batch;
    Ok(PruneRules {
        levels,
        created_since: created_since(table)?.filter(|_| !view.is_changes()),
        shard: shard.map(if always_raw {
            ShardPruning::PerFile
        } else {
            ShardPruning::PerBucket
        }),
        by_key: filters.key.is_some(),
        value,
        limit,
        ..PruneRules::default()
    })
}

/// The only level to read, if there is one.
pub(super) fn top_level(table: &ResolvedTable, request: &ScanRequest) -> Result<Option<i32>> {
    let top = request.read_optimized && table.schema.has_primary_key();
    top.then(|| Ok(table.options.num_levels()?.saturating_sub(1)))
        .transpose()
}

/// The earliest creation time of files to read, with the zone of their writers' clocks.
pub(crate) fn created_since(table: &ResolvedTable) -> Result<Option<(i64, Zone)>> {
    if table.options.startup_mode()? != StartupMode::FromFileCreationTime {
        return Ok(None);
    }
    let since = table
        .options
        .value(&Options::SCAN_FILE_CREATION_TIME_MILLIS)?;
    since
        .map(|since| Ok((since, Zone::parse(&table.time_zone)?)))
        .transpose()
}

/// The directory that holds the buckets of each partition.
///
/// # Errors
/// `Corrupt` if a partition does not decode, with a file of it.
pub(super) fn bucket_parents(table: &ResolvedTable, files: &FileTable) -> Result<Vec<String>> {
    let paths = DataPaths::new(table)?;
    let parent = |(id, partition): (u32, &BinaryRow)| {
        let path = paths.bucket_path(partition.as_ref(), 0).map_err(|error| {
            let file = (0..files.len()).find(|file| files.partition_id(*file) == id);
            match file {
                Some(file) => error.at(Frame::File(files.file_name(file).to_owned())),
                None => error,
            }
        });
        let mut path = path?;
        path.truncate(path.rfind('/').map_or(0, |slash| slash + 1));
        Ok(path)
    };
    (0u32..).zip(files.partitions()).map(parent).collect()
}
