//! `$manifests`, `$table_indexes`, `$statistics`: what the snapshot names beside its files.

use paimon_io::{Resources, join};
use paimon_meta::{
    ColumnStatistics, DataType, Error, Frame, IndexManifestEntry, ManifestFileMeta, ResolvedTable,
    Result, ResultExt, Statistics, decode_index_manifest_with, manifest_path, statistics_path,
};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::cell::{Cell, Rows};
use super::file_values::row_text;
use super::java_json::pretty_json;
use crate::list_file::ListFile;
use crate::manifests::read_list;

/// The manifests of base, delta and changelog.
pub(super) async fn manifests(resources: &Resources, table: &ResolvedTable) -> Result<Rows> {
    let Some(snapshot) = &table.snapshot else {
        return Ok(Rows::new());
    };
    let lists = [
        Some(ListFile::base(snapshot)),
        Some(ListFile::delta(snapshot)),
        ListFile::changelog(snapshot),
    ];
    let fields = table.schema.partition_fields()?;
    let types: Vec<&DataType> = fields.iter().map(|field| &field.data_type).collect();
    let mut rows = Rows::new();
    for list in lists.into_iter().flatten() {
        let manifests = read_list(resources, &table.location, list.clone())
            .await
            .at(|| Frame::Snapshot(snapshot.id))?;
        for (_, manifest) in manifests {
            let row = manifest_row(&manifest, &types, &table.time_zone)
                .at(|| Frame::Manifest(manifest.file_name.clone()))
                .at(|| Frame::ManifestList(list.name.clone()))?;
            rows.push(row);
        }
    }
    Ok(rows)
}

fn manifest_row(
    manifest: &ManifestFileMeta,
    types: &[&DataType],
    time_zone: &str,
) -> Result<Vec<Cell>> {
    let stats = &manifest.partition_stats;
    Ok(vec![
        (&manifest.file_name).into(),
        manifest.file_size.into(),
        manifest.num_added_files.into(),
        manifest.num_deleted_files.into(),
        manifest.schema_id.into(),
        row_text(stats.min_values.as_ref(), types, time_zone)?.into(),
        row_text(stats.max_values.as_ref(), types, time_zone)?.into(),
        manifest.min_row_id.into(),
        manifest.max_row_id.into(),
    ])
}

/// The index files of the snapshot.
pub(super) async fn indexes(resources: &Resources, table: &ResolvedTable) -> Result<Rows> {
    let fields = table.schema.partition_fields()?;
    let types: Vec<&DataType> = fields.iter().map(|field| &field.data_type).collect();
    let entries = index_entries(resources, table).await?;
    let rows = entries.into_iter().map(|entry| {
        Ok(vec![
            row_text(entry.partition.as_ref(), &types, &table.time_zone)?.into(),
            entry.bucket.into(),
            entry.index_type.into(),
            entry.file_name.into(),
            entry.file_size.into(),
            entry.row_count.into(),
            entry.deletion_vectors.map_or(Cell::Null, Cell::Vectors),
            Cell::Null,
            Cell::Null,
            Cell::Null,
            Cell::Null,
        ])
    });
    rows.collect()
}

/// The entries of the snapshot's index manifest; none if it names none, or one that is gone, as in the reference.
pub(super) async fn index_entries(
    resources: &Resources,
    table: &ResolvedTable,
) -> Result<Vec<IndexManifestEntry>> {
    let snapshot = table.snapshot.as_ref();
    let Some(name) = snapshot.and_then(|snapshot| snapshot.index_manifest.as_ref()) else {
        return Ok(Vec::new());
    };
    let read = async {
        let path = join(&table.location, &manifest_path(name)?);
        let file = resources.get_if_exists(&path).await?;
        match file {
            Some(file) => decode_index_manifest_with(&file, resources.manifest_format()),
            None => Ok(Vec::new()),
        }
    };
    read.await.at(|| Frame::IndexManifest(name.clone()))
}

/// The statistics that the snapshot names, one row at most.
pub(super) async fn statistics(resources: &Resources, table: &ResolvedTable) -> Result<Rows> {
    let snapshot = table.snapshot.as_ref();
    let Some(name) = snapshot.and_then(|snapshot| snapshot.statistics.as_ref()) else {
        return Ok(Rows::new());
    };
    let read = async {
        let path = join(&table.location, &statistics_path(name)?);
        let statistics = Statistics::from_json(&resources.get(&path).await?)?;
        Ok::<_, Error>(vec![vec![
            statistics.snapshot_id.into(),
            statistics.schema_id.into(),
            statistics.merged_record_count.into(),
            statistics.merged_record_size.into(),
            pretty_json(&Columns(&statistics.col_stats))?.into(),
        ]])
    };
    read.await.at(|| Frame::File(name.clone()))
}

/// Statistics by column, in the order of their file.
struct Columns<'a>(&'a [(String, ColumnStatistics)]);

impl Serialize for Columns<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, statistics) in self.0 {
            map.serialize_entry(name, statistics)?;
        }
        map.end()
    }
}
