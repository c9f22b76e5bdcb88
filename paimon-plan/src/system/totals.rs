//! `$partitions` and `$buckets`: files counted together (RP-654, RP-655).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use paimon_io::Resources;
use paimon_meta::{
    BinaryRow, BranchPaths, DataPaths, DataType, FileTable, IndexManifestEntry, KeepStats, Options,
    ResolvedTable, Result, Snapshot,
};

use super::cell::{Cell, Rows, time};
use super::file_values::row_text;
use super::manifests::index_entries;
use crate::entry_filter::EntryFilter;
use crate::list_file::state_lists;
use crate::live_files::live_files;
use crate::manifests::{Entries, EntryDecoder, read_entries};
use crate::snapshots::History;

/// Value of the option `bucket` for tables whose new rows wait in a bucket below 0 (RP-170).
const POSTPONE: i32 = -2;

/// Type of index files that hold deletion vectors.
const VECTORS: &str = "DELETION_VECTORS";

/// What is known of the files of a partition or bucket.
#[derive(Clone, Debug, Default)]
struct Totals {
    records: u64,
    bytes: u64,
    files: u64,
    /// The last creation time, of files that are gone too: the reference takes it from every entry of the manifests.
    last: Option<i64>,
    total_buckets: i32,
}

/// Totals by partition and bucket, in the order of their first files.
#[derive(Debug, Default)]
struct Groups<'a> {
    places: HashMap<(&'a BinaryRow, i32), usize>,
    totals: Vec<((&'a BinaryRow, i32), Totals)>,
}

impl<'a> Groups<'a> {
    /// Counts together what has the same partition and the same `bucket_of`.
    fn of(entries: &'a Entries, bucket_of: impl Fn(&FileTable, usize) -> i32) -> Self {
        let mut groups = Self::default();
        let tables = [&entries.added.files, &entries.deleted];
        for table in tables {
            for file in 0..table.len() {
                let created = table.creation_time_millis(file);
                groups.update((table.partition(file), bucket_of(table, file)), |group| {
                    group.last = group.last.max(created);
                });
            }
        }
        let added = &entries.added.files;
        for file in live_files(added, &entries.deleted) {
            let file = file as usize;
            groups.update((added.partition(file), bucket_of(added, file)), |group| {
                group.records = group.records.saturating_add(added.row_count(file));
                group.bytes = group.bytes.saturating_add(added.file_size(file));
                group.files += 1;
                group.total_buckets = added.total_buckets(file);
            });
        }
        groups.totals.retain(|(_, totals)| totals.files > 0);
        groups
    }

    fn update(&mut self, key: (&'a BinaryRow, i32), update: impl FnOnce(&mut Totals)) {
        let place = *self.places.entry(key).or_insert(self.totals.len());
        match self.totals.get_mut(place) {
            Some((_, totals)) => update(totals),
            None => {
                let mut totals = Totals::default();
                update(&mut totals);
                self.totals.push((key, totals));
            }
        }
    }
}

/// The partitions of the table, and those that only its fallback branch has (RP-537).
pub(super) async fn partitions(resources: &Resources, table: &ResolvedTable) -> Result<Rows> {
    let mut rows = partitions_of(resources, table).await?;
    if let Some(fallback) = &table.fallback {
        let own: HashSet<BinaryRow> = rows
            .iter()
            .map(|(partition, _)| partition.clone())
            .collect();
        let more = partitions_of(resources, fallback).await?;
        rows.extend(
            more.into_iter()
                .filter(|(partition, _)| !own.contains(partition)),
        );
    }
    rows.into_iter().map(|(_, row)| Ok(row)).collect()
}

async fn partitions_of(
    resources: &Resources,
    table: &ResolvedTable,
) -> Result<Vec<(BinaryRow, Vec<Cell>)>> {
    let entries = entries(
        resources,
        table,
        table.snapshot.as_ref(),
        |filter| Ok(filter.with_buckets(None, is_postponed(table)?, None)),
        KeepStats::default(),
    );
    let entries = entries.await?;
    let deleted = DeletedRows::read(resources, table).await?;
    let paths = DataPaths::new(table)?;
    let groups = Groups::of(&entries, |_, _| 0);
    let rows = groups.totals.iter().map(|((partition, _), totals)| {
        let name = paths.partition_name(partition.as_ref())?;
        let row = vec![
            name.into(),
            totals.records.into(),
            totals.bytes.into(),
            totals.files.into(),
            totals.last.map_or(Cell::Null, time),
            Cell::Null,
            Cell::Null,
            Cell::Null,
            Cell::Null,
            totals.total_buckets.into(),
            false.into(),
            deleted.of(partition).into(),
        ];
        Ok(((*partition).clone(), row))
    });
    rows.collect()
}

pub(super) async fn buckets(resources: &Resources, table: &ResolvedTable) -> Result<Rows> {
    let paths = BranchPaths::new(&table.branch)?;
    let latest = History::new(resources, &table.location, &paths)
        .latest()
        .await?;
    let entries = entries(resources, table, latest.as_ref(), Ok, KeepStats::default());
    let entries = entries.await?;
    let fields = table.schema.partition_fields()?;
    let types: Vec<&DataType> = fields.iter().map(|field| &field.data_type).collect();
    let groups = Groups::of(&entries, FileTable::bucket);
    let rows = groups.totals.iter().map(|((partition, bucket), totals)| {
        let text = row_text(partition.as_ref(), &types, &table.time_zone)?;
        Ok(vec![
            text.into(),
            (*bucket).into(),
            totals.records.into(),
            totals.bytes.into(),
            totals.files.into(),
            totals.last.map_or(Cell::Null, time),
        ])
    });
    rows.collect()
}

/// All entries of a snapshot that pass a filter.
pub(super) async fn entries(
    resources: &Resources,
    table: &ResolvedTable,
    snapshot: Option<&Snapshot>,
    filtered: impl FnOnce(EntryFilter) -> Result<EntryFilter>,
    keep: KeepStats,
) -> Result<Entries> {
    let Some(snapshot) = snapshot else {
        return Ok(Entries::default());
    };
    let decoder = EntryDecoder {
        filter: filtered(EntryFilter::new(&table.schema, None)?)?,
        tests: HashMap::new(),
        keep,
        by_index: false,
    };
    read_entries(
        resources,
        &table.location,
        state_lists(snapshot),
        Arc::new(decoder),
    )
    .await
}

/// Whether new rows wait in a bucket that reads do not see.
pub(super) fn is_postponed(table: &ResolvedTable) -> Result<bool> {
    let buckets: i32 = table.options.value(&Options::BUCKET)?;
    Ok(buckets == POSTPONE)
}

/// Rows that deletion vectors take away, by partition; `None` where a vector does not say how many.
struct DeletedRows(HashMap<BinaryRow, Option<u64>>);

impl DeletedRows {
    async fn read(resources: &Resources, table: &ResolvedTable) -> Result<Self> {
        let enabled: bool = table.options.value(&Options::DELETION_VECTORS_ENABLED)?;
        let entries = if enabled {
            index_entries(resources, table).await?
        } else {
            Vec::new()
        };
        let mut deleted = HashMap::new();
        for entry in entries.iter().filter(|entry| entry.index_type == VECTORS) {
            let rows: &mut Option<u64> = deleted.entry(entry.partition.clone()).or_insert(Some(0));
            *rows = rows
                .zip(rows_of(entry))
                .and_then(|(sum, rows)| sum.checked_add(rows));
        }
        Ok(Self(deleted))
    }

    fn of(&self, partition: &BinaryRow) -> Option<u64> {
        self.0.get(partition).copied().unwrap_or(Some(0))
    }
}

fn rows_of(entry: &IndexManifestEntry) -> Option<u64> {
    let mut vectors = entry.deletion_vectors.iter().flatten();
    vectors.try_fold(0u64, |sum, vector| sum.checked_add(vector.cardinality?))
}

#[cfg(test)]
mod tests {
    use paimon_meta::{DataFileMeta, FileTableBuilder};

    use super::*;
    use crate::prune::Added;
    use crate::testing::ints;

    /// Files by name with rows and creation time, all of one partition and bucket.
    fn table(files: &[(&str, u64, i64)]) -> FileTable {
        let mut builder = FileTableBuilder::new();
        for (name, rows, created) in files {
            let file = DataFileMeta {
                file_name: (*name).to_owned(),
                row_count: *rows,
                file_size: 100,
                creation_time_millis: Some(*created),
                ..DataFileMeta::default()
            };
            let pushed = builder.push_file(&ints(&[Some(1)]), 0, 4, &file, KeepStats::default());
            pushed.unwrap();
        }
        builder.finish()
    }

    #[test]
    fn live_files_count_and_times_of_deleted_ones_too() {
        // RP-658
        let entries = Entries {
            added: Added {
                files: table(&[("a", 5, 1), ("b", 7, 9), ("c", 11, 3)]),
                ..Added::default()
            },
            deleted: table(&[("b", 7, 9)]),
            ..Entries::default()
        };
        let groups = Groups::of(&entries, |_, _| 0);
        let [(_, totals)] = groups.totals.as_slice() else {
            panic!("{groups:?}");
        };
        assert_eq!((totals.records, totals.bytes, totals.files), (16, 200, 2));
        assert_eq!((totals.last, totals.total_buckets), (Some(9), 4));
    }

    #[test]
    fn partitions_without_live_files_are_none() {
        let entries = Entries {
            added: Added {
                files: table(&[("a", 5, 1)]),
                ..Added::default()
            },
            deleted: table(&[("a", 5, 1)]),
            ..Entries::default()
        };
        assert!(Groups::of(&entries, FileTable::bucket).totals.is_empty());
    }
}
