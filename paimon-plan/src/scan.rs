//! A scan of a resolved table: options and condition to rules, entries to a plan.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use futures_util::future::try_join;
use paimon_io::Resources;
use paimon_meta::{
    BinaryRow, DataField, DataPaths, Error, FileTable, Frame, IndexManifestEntry, KeepStats,
    Options, ResolvedTable, Result, ResultExt, StartupMode, TablePredicate,
};

use serde::{Deserialize, Serialize};

use crate::bucket_pass::RowOrigin;
use crate::conjunct::residual;
use crate::engine::Engine;
use crate::entry_filter::{BucketKeys, EntryFilter};
use crate::file_stats::StatsTest;
use crate::filters::Filters;
use crate::generate::SplitSettings;
use crate::layout::{LayoutRules, lay_out};
use crate::manifests::{Entries, EntryDecoder, SchemaTests, read_entries};
use crate::partitions::{PartitionSpec, chosen_partitions};
use crate::plan::{Plan, PlannedTable, PlannedVectors};
use crate::prune::{LimitPruning, PruneRules, ValuePruning, prune};
use crate::pruning::{FileTotals, PruneStep, StepResult};
use crate::shard::{Shard, ShardPruning};
use crate::vectors::{attach, planned_entries};
use crate::zone::Zone;

/// Value of the option `bucket` for tables whose new rows wait in a bucket of their own until a compaction (RP-170).
const POSTPONE: i32 = -2;

/// What a read wants of a table. The default is everything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScanRequest {
    /// The condition. What prunes by it is the plan's business; what is left of it says [`Plan::residual`].
    pub predicate: Option<TablePredicate>,
    /// No more rows than this are wanted. Used only where no condition is left to evaluate; whoever reads must still stop.
    pub limit: Option<u64>,
    /// Only partitions that one of these names; with none, all (RP-033). Takes the place of what the condition says of
    /// partitions (RP-034).
    pub partitions: Vec<PartitionSpec>,
    /// Only this bucket; else the option `scan.bucket` counts.
    pub bucket: Option<i32>,
    /// Only one share of the plan.
    pub shard: Option<Shard>,
    /// Only the top level of tables with a key, which needs no merge: `$ro` (RP-652). Newer versions on lower levels are not
    /// seen.
    pub read_optimized: bool,
    /// Whether files keep their key and value statistics, for [`Plan::statistics`] and for other engines.
    pub keep_statistics: bool,
}

/// Plans a read: which files, as which splits, and why.
///
/// A table without a snapshot gives a plan without splits (RP-026). Manifests are read with bounded concurrency and decoded
/// beside the poll if the resources have threads; dropping the future stops everything.
///
/// # Errors
/// `Unsupported` for tables that need what is not built yet, `InvalidInput` for a request that does not fit the table,
/// `NotFound` if metadata files are gone (the snapshot expired: resolve again), `Corrupt` and `Storage` as the files are. All
/// with snapshot, manifest list, manifest, entry and field at fault.
pub async fn plan(
    resources: &Resources,
    table: &ResolvedTable,
    request: &ScanRequest,
) -> Result<Plan> {
    let planned = async {
        let scan = Scan::new(table, request)?;
        let Some(snapshot) = &table.snapshot else {
            return scan.assemble(Entries::default(), &[]);
        };
        let entries = read_entries(
            resources,
            &table.location,
            snapshot,
            Arc::clone(&scan.decoder),
        );
        let vectors = planned_entries(resources, table, scan.engine.deletion_vectors);
        try_join(entries, vectors)
            .await
            .and_then(|(entries, vectors)| scan.assemble(entries, &vectors))
            .at(|| Frame::Snapshot(snapshot.id))
    };
    planned.await.at(|| Frame::Table(table.location.clone()))
}

/// The request, held against the table.
struct Scan<'a> {
    table: &'a ResolvedTable,
    engine: Engine,
    filters: Filters,
    decoder: Arc<EntryDecoder>,
    rules: PruneRules,
    settings: SplitSettings,
    /// A limit that may drop splits.
    split_limit: Option<u64>,
}

impl<'a> Scan<'a> {
    fn new(table: &'a ResolvedTable, request: &ScanRequest) -> Result<Self> {
        let options = &table.options;
        let engine = Engine::of(table)?;
        let buckets: i32 = options.value(&Options::BUCKET)?;
        let filters = Filters::divide(
            &table.schema,
            request.predicate.as_ref(),
            chosen_partitions(table, &request.partitions)?,
            buckets > 0 || buckets == POSTPONE,
        )?;
        let bucket = match request.bucket {
            Some(bucket) => Some(bucket),
            None => options.value(&Options::SCAN_BUCKET)?,
        };
        let filter = EntryFilter::new(&table.schema, filters.partition.clone())?.with_buckets(
            bucket,
            buckets == POSTPONE,
            bucket_keys(table, &filters)?,
        );
        let keep = KeepStats {
            key: request.keep_statistics,
            value: request.keep_statistics,
        };
        let decoder = EntryDecoder {
            filter,
            tests: schema_tests(table, &filters)?,
            keep,
            by_index: (engine.deletion_vectors || !engine.has_key)
                && options.value(&Options::FILE_INDEX_READ_ENABLED)?,
        };
        let limit = request.limit.filter(|_| residual(&filters.uses).is_none());
        Ok(Self {
            table,
            engine,
            rules: PruneRules {
                only_level: top_level(table, request)?,
                ..prune_rules(table, engine, &filters, limit, request.shard)?
            },
            decoder: Arc::new(decoder),
            filters,
            settings: SplitSettings {
                target_size: options.value(&Options::SOURCE_SPLIT_TARGET_SIZE)?.0,
                open_file_cost: options.value(&Options::SOURCE_SPLIT_OPEN_FILE_COST)?.0,
                deletion_vectors: engine.deletion_vectors,
                first_row: engine.first_row(),
            },
            split_limit: limit,
        })
    }

    /// Entries to splits.
    fn assemble(&self, entries: Entries, vectors: &[IndexManifestEntry]) -> Result<Plan> {
        let Entries {
            added,
            deleted,
            mut pruning,
        } = entries;
        let pruned = prune(&added, &deleted, &self.rules);
        drop(deleted);
        pruning.steps.extend(pruned.steps);
        let files = added.files;
        self.check_schemas(&files, pruned.buckets.iter().flatten())?;
        let before = FileTotals::of(&files, pruned.buckets.iter().flatten());
        let vectors = match self.engine.deletion_vectors {
            true => Some(attach(vectors, &files, &pruned.buckets, self.table)?),
            false => None,
        };
        let layout = lay_out(
            &files,
            pruned.buckets,
            &self.layout_rules(vectors.as_ref())?,
        )?;
        if self.split_limit.is_some() {
            let after = FileTotals::of(&files, &layout.order);
            pruning.steps.push(StepResult {
                step: PruneStep::SplitLimit,
                before,
                after,
            });
        }
        let in_order = layout.order.len() == files.len()
            && (0u32..).zip(&layout.order).all(|(at, file)| at == *file);
        let files = if in_order {
            files
        } else {
            files.permute(&layout.order)?
        };
        Ok(Plan {
            snapshot_id: self.table.snapshot.as_ref().map(|snapshot| snapshot.id),
            bucket_parents: bucket_parents(self.table, &files)?,
            vectors: vectors.map(|vectors| vectors.permuted(&layout.order)),
            files,
            splits: layout.splits,
            run_ends: layout.run_ends,
            section_ends: layout.section_ends,
            table: PlannedTable {
                settings: self.settings,
                key: self
                    .key_fields()?
                    .into_iter()
                    .map(|field| (field.id, field.data_type.clone()))
                    .collect(),
                merge_on_read: self.engine.merge_on_read,
            },
            conjuncts: self.filters.uses.clone(),
            pruning,
        })
    }

    /// Trimmed key columns; none for append tables.
    fn key_fields(&self) -> Result<Vec<&'a DataField>> {
        if self.engine.has_key {
            self.table.schema.key_fields()
        } else {
            Ok(Vec::new())
        }
    }

    fn layout_rules<'v>(&self, vectors: Option<&'v PlannedVectors>) -> Result<LayoutRules<'v>>
    where
        'a: 'v,
    {
        let types =
            |fields: Vec<&'a DataField>| fields.into_iter().map(|field| &field.data_type).collect();
        let sorted = self
            .table
            .options
            .value(&Options::SCAN_PLAN_SORT_PARTITION)?;
        Ok(LayoutRules {
            settings: self.settings,
            key_types: if self.engine.has_key {
                Some(types(self.key_fields()?))
            } else {
                None
            },
            sort_partitions: if sorted {
                Some(types(self.table.schema.partition_fields()?))
            } else {
                None
            },
            limit: self.split_limit,
            vectors,
        })
    }

    /// Checks that there is a schema for every file, and that its keys can be compared with those of the others.
    fn check_schemas<'f>(
        &self,
        files: &FileTable,
        kept: impl Iterator<Item = &'f u32>,
    ) -> Result<()> {
        let mut checked = BTreeSet::new();
        for file in kept {
            let id = files.schema_id(*file as usize);
            if checked.insert(id) {
                self.check_schema(id)
                    .at(|| Frame::File(files.file_name(*file as usize).to_owned()))?;
            }
        }
        Ok(())
    }

    fn check_schema(&self, id: i64) -> Result<()> {
        let Some(schema) = self.table.schemas.get(&id) else {
            return Err(Error::corrupt(format!(
                "schema {id} does not exist, the file was written with it"
            ))
            .at(Frame::Schema(id)));
        };
        if !self.engine.has_key {
            return Ok(());
        }
        let (now, then) = (self.key_fields()?, schema.key_fields()?);
        let same = now.len() == then.len()
            && now
                .iter()
                .zip(&then)
                .all(|(a, b)| a.id == b.id && a.data_type.same_kind(&b.data_type));
        if same {
            Ok(())
        } else {
            Err(Error::unsupported("changed key columns").at(Frame::Schema(id)))
        }
    }
}

/// The condition on bucket keys, made ready; `None` if the condition does not name them all.
fn bucket_keys(table: &ResolvedTable, filters: &Filters) -> Result<Option<BucketKeys>> {
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
fn schema_tests(table: &ResolvedTable, filters: &Filters) -> Result<HashMap<i64, SchemaTests>> {
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
fn prune_rules(
    table: &ResolvedTable,
    engine: Engine,
    filters: &Filters,
    limit: Option<u64>,
    shard: Option<Shard>,
) -> Result<PruneRules> {
    let hide_level_zero = engine.hides_level_zero();
    let value = match filters.value {
        None => ValuePruning::Off,
        Some(_) if !engine.has_key || hide_level_zero => ValuePruning::PerFile,
        Some(_) => ValuePruning::PerBucket(engine.row_origin()),
    };
    // Deletion vectors take rows away that the files count.
    let limit = match limit.filter(|limit| *limit > 0 && !engine.deletion_vectors) {
        Some(limit) if !engine.has_key => LimitPruning::PerFile(limit),
        Some(limit) if engine.row_origin() == RowOrigin::Stored => LimitPruning::PerBucket(limit),
        _ => LimitPruning::Off,
    };
    // Under merge-on-read files of a bucket belong together, whatever the reference says (RP-163).
    let always_raw = !engine.has_key || hide_level_zero;
    Ok(PruneRules {
        hide_level_zero,
        created_since: created_since(table)?,
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
fn top_level(table: &ResolvedTable, request: &ScanRequest) -> Result<Option<i32>> {
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
fn bucket_parents(table: &ResolvedTable, files: &FileTable) -> Result<Vec<String>> {
    let paths = DataPaths::new(table)?;
    let parent = |partition: &BinaryRow| {
        let mut path = paths.bucket_path(partition.as_ref(), 0)?;
        path.truncate(path.rfind('/').map_or(0, |slash| slash + 1));
        Ok(path)
    };
    files.partitions().iter().map(parent).collect()
}
