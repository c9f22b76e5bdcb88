//! A scan of a resolved table: options and condition to rules, entries to a plan.

mod plans;
mod rules;

use std::collections::BTreeSet;
use std::sync::Arc;

use paimon_io::Resources;
use paimon_meta::{
    DataField, Error, FileTable, Frame, KeepStats, Options, ResolvedTable, Result, ResultExt,
    Snapshot, TablePredicate,
};

use serde::{Deserialize, Serialize};

use crate::conjunct::residual;
use crate::engine::Engine;
use crate::entry_filter::EntryFilter;
use crate::fallback::plan_with_fallback;
use crate::filters::Filters;
use crate::generate::SplitSettings;
use crate::incremental::in_hash_order;
use crate::layout::{LayoutRules, Streaming, lay_out};
use crate::list_file::ListFile;
use crate::manifests::{Entries, EntryDecoder, read_entries};
use crate::partitions::{PartitionSpec, chosen_partitions};
use crate::plan::{Plan, PlannedTable, PlannedVectors};
use crate::prune::{PruneRules, prune};
use crate::pruning::{FileTotals, PruneStep, Pruning, StepResult};
use crate::shard::Shard;
use crate::vectors::{VectorEntries, attach, planned_entries};
use crate::view::{POSTPONE, View};

use rules::{bucket_keys, bucket_parents, prune_rules, schema_tests, top_level};

use plans::plan_changes;

pub(crate) use plans::{plan_changes_of, plan_state};
pub(crate) use rules::created_since;

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
        match (&table.changes, &table.fallback) {
            (None, None) => {
                let snapshot = table.snapshot.as_ref();
                plan_state(resources, table, snapshot, request, View::Batch).await
            }
            (None, Some(fallback)) => plan_with_fallback(resources, table, fallback, request).await,
            (Some(changes), None) => plan_changes(resources, table, request, changes).await,
            (Some(_), Some(_)) => Err(Error::unsupported(
                "incremental read of a table with a fallback branch",
            )),
        }
    };
    planned.await.at(|| Frame::Table(table.location.clone()))
}

/// The request, held against the table.
pub(crate) struct Scan<'a> {
    pub(crate) table: &'a ResolvedTable,
    view: View,
    pub(crate) engine: Engine,
    filters: Filters,
    decoder: Arc<EntryDecoder>,
    pub(crate) rules: PruneRules,
    settings: SplitSettings,
    /// A limit that may drop splits.
    split_limit: Option<u64>,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(table: &'a ResolvedTable, request: &ScanRequest, view: View) -> Result<Self> {
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
            view.only_real_buckets(options)?,
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
        // Changes and differences have no rows that a file alone is sure of.
        let limit = request.limit.filter(|_| view == View::Batch);
        let limit = limit.filter(|_| residual(&filters.uses).is_none());
        Ok(Self {
            table,
            view,
            engine,
            rules: PruneRules {
                only_level: top_level(table, request)?,
                ..prune_rules(table, (engine, view), &filters, limit, request.shard)?
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

    /// Entries of manifest lists that pass.
    ///
    /// # Errors
    /// As [`read_entries`].
    pub(crate) async fn read(
        &self,
        resources: &Resources,
        lists: Vec<ListFile>,
    ) -> Result<Entries> {
        let decoder = Arc::clone(&self.decoder);
        read_entries(resources, &self.table.location, lists, decoder).await
    }

    /// The deletion vectors of a state; none for changes, which have none (RP-113).
    ///
    /// # Errors
    /// `Corrupt` and `Storage` as the index manifest is.
    pub(crate) async fn vectors(
        &self,
        resources: &Resources,
        snapshot: &Snapshot,
    ) -> Result<VectorEntries> {
        let applied = self.has_vectors();
        planned_entries(resources, &self.table.location, snapshot, applied).await
    }

    fn has_vectors(&self) -> bool {
        self.engine.deletion_vectors && !self.view.is_changes()
    }

    /// The deletion vectors of planned files, where they are applied.
    ///
    /// # Errors
    /// As [`attach`].
    pub(crate) fn attach(
        &self,
        vectors: &VectorEntries,
        files: &FileTable,
        buckets: &[Vec<u32>],
    ) -> Result<Option<PlannedVectors>> {
        let applied = self.has_vectors();
        applied
            .then(|| attach(vectors, files, buckets, self.table))
            .transpose()
    }

    /// Entries of a snapshot to splits.
    ///
    /// # Errors
    /// `Corrupt` and `Unsupported` as the files are.
    pub(crate) fn assemble(
        &self,
        snapshot: Option<&Snapshot>,
        entries: Entries,
        vectors: &VectorEntries,
    ) -> Result<Plan> {
        let Entries {
            added,
            deleted,
            mut pruning,
            origins,
        } = entries;
        let deleted = if self.view.is_changes() {
            FileTable::default() // changes are not merged (RP-045)
        } else {
            deleted
        };
        let mut pruned = prune(&added, &deleted, &self.rules);
        if self.view == View::Range {
            in_hash_order(&added.files, &mut pruned.buckets);
        }
        drop(deleted);
        pruning.steps.extend(pruned.steps);
        let files = added.files;
        let at_manifest = |error| origins.locate(&files, error);
        self.check_schemas(&files, pruned.buckets.iter().flatten())
            .map_err(at_manifest)?;
        bucket_parents(self.table, &files).map_err(at_manifest)?;
        let before = FileTotals::of(&files, pruned.buckets.iter().flatten());
        let vectors = self.attach(vectors, &files, &pruned.buckets)?;
        let layout = lay_out(
            &files,
            pruned.buckets,
            &self.layout_rules(vectors.as_ref())?,
        )
        .map_err(at_manifest)?;
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
            vectors: vectors.map(|vectors| vectors.permuted(&layout.order)),
            splits: layout.splits,
            run_ends: layout.run_ends,
            section_ends: layout.section_ends,
            pruning,
            ..self.plan_of(snapshot, files)?
        })
    }

    /// A plan without splits, of files in their order.
    ///
    /// # Errors
    /// `Corrupt` if partitions do not decode.
    pub(crate) fn plan_of(&self, snapshot: Option<&Snapshot>, files: FileTable) -> Result<Plan> {
        let key = self.key_fields()?.into_iter();
        Ok(Plan {
            snapshot_id: snapshot.map(|snapshot| snapshot.id),
            bucket_parents: bucket_parents(self.table, &files)?,
            files,
            vectors: self.has_vectors().then(PlannedVectors::default),
            splits: Vec::new(),
            run_ends: Vec::new(),
            section_ends: Vec::new(),
            streaming: self.view.is_changes(),
            fallback: None,
            after_starts: Vec::new(),
            table: PlannedTable {
                settings: self.settings,
                key: key
                    .map(|field| (field.id, field.data_type.clone()))
                    .collect(),
                merge_on_read: self.engine.merge_on_read,
            },
            conjuncts: self.filters.uses.clone(),
            pruning: Pruning::default(),
        })
    }

    /// Trimmed key columns; none for append tables.
    ///
    /// # Errors
    /// `Corrupt` if the schema names a key that it does not have.
    pub(crate) fn key_fields(&self) -> Result<Vec<&'a DataField>> {
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
            as_given: self.view == View::Range,
            streaming: self.view.has_streaming_splits().then_some(Streaming {
                unaware_bucket: self.table.options.value(&Options::BUCKET)? == -1,
            }),
        })
    }

    /// Checks that there is a schema for every file, and that its keys can be compared with those of the others.
    pub(crate) fn check_schemas<'f>(
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
