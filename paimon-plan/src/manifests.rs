//! Manifest lists and manifests: read with bounded concurrency, in order, and filtered while they are decoded (RP-030,
//! RP-031, RP-095).
//!
//! Each manifest is read once and gives its additions that pass and the identities of its deletions. What its value
//! statistics say is kept as one bit a file, the statistics themselves only if the request wants them.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt, TryStreamExt, stream};
use paimon_io::{Resources, join};
use paimon_meta::{
    EntryKind, Error, FileTable, FileTableBuilder, Frame, KeepStats, ManifestBatch,
    ManifestColumns, ManifestFileMeta, ManifestFormat, ManifestReader, Result, ResultExt,
    decode_manifest_list_with, manifest_path,
};

use crate::entry_filter::{EntryBounds, EntryFilter, EntryTests, EntryVerdict};
use crate::file_stats::{Nan, StatsTest};
use crate::list_file::{ListFile, Listed};
use crate::origins::Origins;
use crate::prune::{Added, StatsVerdict};
use crate::pruning::{FileTotals, PruneStep, Pruning, StepResult};

/// What to decode of a manifest, and what of it passes.
#[derive(Debug)]
pub(crate) struct EntryDecoder {
    pub(crate) filter: EntryFilter,
    /// Tests by statistics for the files of each schema; empty if there is no condition for them.
    pub(crate) tests: HashMap<i64, SchemaTests>,
    pub(crate) keep: KeepStats,
    /// Whether indexes embedded in entries are asked too.
    pub(crate) by_index: bool,
}

/// The tests of the files of one schema.
#[derive(Debug)]
pub(crate) struct SchemaTests {
    pub(crate) key: Option<StatsTest>,
    pub(crate) value: Option<StatsTest>,
}

/// The entries of a snapshot that pass.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    pub(crate) added: Added,
    pub(crate) deleted: FileTable,
    /// The report up to the tests of partition and bucket.
    pub(crate) pruning: Pruning,
    /// The manifests of the added files.
    pub(crate) origins: Origins,
}

/// A metadata file as it is in the cache. Files are never written twice under one name.
#[derive(Clone)]
struct CachedFile(Bytes);

/// The entries of manifest lists that pass, in the order of lists and manifests.
///
/// # Errors
/// `NotFound`, `Corrupt`, `Unsupported` and `Storage` as the files are, with list, manifest, entry and field at fault.
pub(crate) async fn read_entries(
    resources: &Resources,
    location: &str,
    lists: Vec<ListFile>,
    decoder: Arc<EntryDecoder>,
) -> Result<Entries> {
    let lists = lists
        .into_iter()
        .map(|list| read_list(resources, location, list));
    let lists: Vec<Vec<Listed>> = stream::iter(lists)
        .buffered(resources.io_concurrency())
        .try_collect()
        .await?;
    let mut entries = Entries::default();
    let opened = open_manifests(
        lists.into_iter().flatten(),
        &decoder.filter,
        &mut entries.pruning,
    )?;
    entries.origins = Origins::of(&opened);
    let parts = opened.into_iter().map(|(list, manifest)| {
        read_manifest(resources, location, &list, manifest, Arc::clone(&decoder))
    });
    let parts = stream::iter(parts).buffered(resources.io_concurrency());
    let mut parts = parts.enumerate();
    let mut gathered = Gathered::default();
    while let Some((number, part)) = parts.next().await {
        gathered.append(part?)?;
        entries.origins.end(number, gathered.added.len());
    }
    gathered.finish(&decoder.filter, &mut entries);
    Ok(entries)
}

/// The manifests that may hold entries that pass.
fn open_manifests(
    listed: impl Iterator<Item = Listed>,
    filter: &EntryFilter,
    pruning: &mut Pruning,
) -> Result<Vec<Listed>> {
    let (mut added, mut deleted) = (0u64, 0u64);
    let mut opened = Vec::new();
    for (list, manifest) in listed {
        pruning.manifests += 1;
        added = added.saturating_add(manifest.num_added_files);
        deleted = deleted.saturating_add(manifest.num_deleted_files);
        let bounds = EntryBounds {
            partition: &manifest.partition_stats,
            entries: manifest.entry_count(),
            buckets: (manifest.min_bucket, manifest.max_bucket),
        };
        let may_pass = filter
            .may_pass(&bounds)
            .at(|| Frame::Field("_PARTITION_STATS".to_owned()))
            .at(|| Frame::Manifest(manifest.file_name.clone()))
            .at(|| Frame::ManifestList(list.to_string()))?;
        if may_pass && manifest.entry_count() > 0 {
            opened.push((list, manifest));
        }
    }
    pruning.manifests_read = opened.len() as u64;
    // Every deletion takes away the addition of one file.
    pruning.snapshot_files = added.saturating_sub(deleted);
    Ok(opened)
}

/// The manifests of a list, in its order.
///
/// # Errors
/// As [`read_entries`].
pub(crate) async fn read_list(
    resources: &Resources,
    location: &str,
    list: ListFile,
) -> Result<Vec<Listed>> {
    let read = async {
        let file = read_file(resources, location, &list.name)?.await?;
        let manifests = decode_manifest_list_with(&file, resources.manifest_format())?;
        list.check(&file)?;
        Ok(manifests)
    };
    let manifests = read.await.at(|| Frame::ManifestList(list.name.clone()))?;
    let name: Arc<str> = list.name.into();
    Ok(manifests
        .into_iter()
        .map(|manifest| (Arc::clone(&name), manifest))
        .collect())
}

/// The content of a file in the directory of manifests.
///
/// # Errors
/// `Corrupt` for a name that leads out of the directory; of the future, those of the request.
pub(crate) fn read_file(
    resources: &Resources,
    location: &str,
    name: &str,
) -> Result<BoxFuture<'static, Result<Bytes>>> {
    let path = join(location, &manifest_path(name)?);
    let get = resources.get(&path);
    let cached = resources.cache::<CachedFile>().get_or_load(
        path,
        |file| file.0.len() as u64,
        || get.map(|file| file.map(CachedFile)),
    );
    Ok(cached.map(|file| file.map(|file| file.0)).boxed())
}

/// Reads and decodes one manifest, beside the poll if there are threads for it.
fn read_manifest(
    resources: &Resources,
    location: &str,
    list: &Arc<str>,
    manifest: ManifestFileMeta,
    decoder: Arc<EntryDecoder>,
) -> BoxFuture<'static, Result<Part>> {
    let file = read_file(resources, location, &manifest.file_name);
    let list = Arc::clone(list);
    let name = manifest.file_name.clone();
    let decoding = resources.clone();
    resources
        .spawn(async move { decoder.decode(&file?.await?, &manifest, decoding.manifest_format()) })
        .map(move |part| {
            part.at(|| Frame::Manifest(name))
                .at(|| Frame::ManifestList(list.to_string()))
        })
        .boxed()
}

/// What one manifest gives.
#[derive(Debug)]
struct Part {
    added: FileTable,
    verdicts: Vec<StatsVerdict>,
    deleted: FileTable,
    counts: Counts,
}

/// Additions that came to the tests of partition and bucket, and what each left.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    read: FileTotals,
    in_partitions: FileTotals,
    in_buckets: FileTotals,
}

impl EntryDecoder {
    fn columns(&self) -> ManifestColumns {
        let tested = |test: fn(&SchemaTests) -> bool| self.tests.values().any(test);
        ManifestColumns {
            key_stats: self.keep.key || tested(|tests| tests.key.is_some()),
            value_stats: self.keep.value || tested(|tests| tests.value.is_some()),
        }
    }

    fn decode(
        &self,
        file: &[u8],
        manifest: &ManifestFileMeta,
        format: Option<&dyn ManifestFormat>,
    ) -> Result<Part> {
        let mut decoding = Decoding {
            decoder: self,
            tests: self.filter.entries(),
            added: FileTableBuilder::new(),
            verdicts: Vec::new(),
            deleted: FileTableBuilder::new(),
            counts: Counts::default(),
            kinds: (0, 0),
        };
        for batch in ManifestReader::new_with(file, self.columns(), format)? {
            let batch = batch?;
            for row in 0..batch.len() {
                decoding.entry(&batch, row)?;
            }
        }
        let expected = (manifest.num_added_files, manifest.num_deleted_files);
        if decoding.kinds != expected {
            let (added, deleted) = decoding.kinds;
            return Err(Error::corrupt(format!(
                "manifest has {added} additions and {deleted} deletions, its list says {} and {}",
                expected.0, expected.1
            )));
        }
        Ok(Part {
            added: decoding.added.finish(),
            verdicts: decoding.verdicts,
            deleted: decoding.deleted.finish(),
            counts: decoding.counts,
        })
    }
}

/// A manifest while it is decoded.
struct Decoding<'a> {
    decoder: &'a EntryDecoder,
    tests: EntryTests<'a>,
    added: FileTableBuilder,
    verdicts: Vec<StatsVerdict>,
    deleted: FileTableBuilder,
    counts: Counts,
    /// Additions and deletions so far.
    kinds: (u64, u64),
}

impl Decoding<'_> {
    fn entry(&mut self, batch: &ManifestBatch, row: usize) -> Result<()> {
        let at = || Frame::Entry(batch.first_entry() + row as u64);
        let (partition, bucket) = (batch.partition(row), batch.bucket(row));
        match batch.kind(row) {
            EntryKind::Delete => {
                self.kinds.1 += 1;
                if self.tests.test_deleted(partition, bucket).at(at)? == EntryVerdict::Pass {
                    self.deleted.push(batch, row, KeepStats::default())?;
                }
                Ok(())
            }
            EntryKind::Add => {
                self.kinds.0 += 1;
                let verdict = self
                    .tests
                    .test_added(partition, bucket, batch.total_buckets(row))
                    .at(at)?;
                self.counts
                    .add(verdict, batch.row_count(row), batch.file_size(row));
                if verdict != EntryVerdict::Pass {
                    return Ok(());
                }
                self.added.push(batch, row, self.decoder.keep)?;
                if !self.decoder.tests.is_empty() {
                    let file = || Frame::File(batch.file_name(row).to_owned());
                    self.verdicts
                        .push(self.verdict(batch, row).at(file).at(at)?);
                }
                Ok(())
            }
        }
    }

    /// What the statistics of a file say. A file of an unknown schema stays; if it is live, the plan fails for it.
    fn verdict(&self, batch: &ManifestBatch, row: usize) -> Result<StatsVerdict> {
        let rows = batch.row_count(row);
        let nan = Nan::in_file(batch.file_name(row));
        let mut verdict = StatsVerdict {
            key: true,
            value: true,
        };
        let Some(tests) = self.decoder.tests.get(&batch.schema_id(row)) else {
            return Ok(verdict);
        };
        if let (Some(test), Some(stats)) = (&tests.key, batch.key_stats(row)) {
            verdict.key = test
                .may_match(stats, None, rows, nan)
                .at(|| Frame::Field("_KEY_STATS".to_owned()))?;
        }
        // Of a file that does not hold all columns of its schema the statistics are not counted from its fields.
        if let (Some(test), Some(stats), None) =
            (&tests.value, batch.value_stats(row), batch.write_cols(row))
        {
            verdict.value = test
                .may_match(stats, batch.value_stats_cols(row), rows, nan)
                .at(|| Frame::Field("_VALUE_STATS".to_owned()))?;
        }
        if let (Some(test), Some(index), true, true) = (
            &tests.value,
            batch.embedded_index(row),
            verdict.value,
            self.decoder.by_index,
        ) {
            verdict.value = test
                .index_may_match(index, rows)
                .at(|| Frame::Field("_EMBEDDED_FILE_INDEX".to_owned()))?;
        }
        Ok(verdict)
    }
}

impl Counts {
    fn add(&mut self, verdict: EntryVerdict, rows: u64, bytes: u64) {
        self.read.add(rows, bytes);
        if verdict != EntryVerdict::Partition {
            self.in_partitions.add(rows, bytes);
        }
        if verdict == EntryVerdict::Pass {
            self.in_buckets.add(rows, bytes);
        }
    }
}

/// Parts put together.
#[derive(Default)]
struct Gathered {
    added: FileTableBuilder,
    verdicts: Vec<StatsVerdict>,
    deleted: FileTableBuilder,
    counts: Counts,
}

impl Gathered {
    fn append(&mut self, part: Part) -> Result<()> {
        self.added.append(part.added)?;
        self.deleted.append(part.deleted)?;
        self.verdicts.extend(part.verdicts);
        self.counts.read.merge(part.counts.read);
        self.counts.in_partitions.merge(part.counts.in_partitions);
        self.counts.in_buckets.merge(part.counts.in_buckets);
        Ok(())
    }

    fn finish(self, filter: &EntryFilter, entries: &mut Entries) {
        let Counts {
            read,
            in_partitions,
            in_buckets,
        } = self.counts;
        let steps = &mut entries.pruning.steps;
        if filter.tests_partitions() {
            steps.push(StepResult {
                step: PruneStep::Partition,
                before: read,
                after: in_partitions,
            });
        }
        if filter.tests_buckets() {
            steps.push(StepResult {
                step: PruneStep::Bucket,
                before: in_partitions,
                after: in_buckets,
            });
        }
        entries.added = Added {
            files: self.added.finish(),
            verdicts: self.verdicts,
        };
        entries.deleted = self.deleted.finish();
    }
}
