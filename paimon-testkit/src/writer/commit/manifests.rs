//! Manifests and manifest lists of a commit.

use paimon_meta::{
    DataType, EntryKind, Error, ManifestEntry, ManifestFileMeta, Result, SimpleStats, TableSchema,
    encode_row,
};

use super::CommitNames;
use crate::oracle::order;
use crate::writer::flush::Session;
use crate::writer::layout::WriterVersion;
use crate::writer::stats::no_stats;
use crate::writer::table::Table;

impl Table {
    /// Writes entries into manifests.
    pub(super) fn manifests(
        &mut self,
        entries: &[ManifestEntry],
        session: &Session,
        names: &mut CommitNames,
    ) -> Result<Vec<ManifestFileMeta>> {
        let drop_stats = session
            .options
            .boolean("manifest.delete-file-drop-stats", false)?;
        let mut manifests = Vec::new();
        for chunk in entries.chunks(self.layout.manifest_entries.max(1)) {
            let mut chunk = chunk.to_vec();
            for entry in &mut chunk {
                if drop_stats && entry.kind == EntryKind::Delete {
                    entry.file.value_stats = no_stats();
                    entry.file.value_stats_cols = Some(Vec::new());
                }
            }
            let name = format!("manifest-{}-{}", names.uuid, names.manifests);
            names.manifests += 1;
            let marker = self.names.marker();
            let bytes = self.avro.manifest(&chunk, marker)?;
            manifests.push(meta(&name, bytes.len() as u64, &chunk, &session.schema)?);
            self.files.insert(format!("manifest/{name}"), bytes.into());
        }
        Ok(manifests)
    }

    /// Writes a manifest list: its name, and its size where snapshots say it.
    pub(super) fn list(
        &mut self,
        manifests: &[ManifestFileMeta],
        uuid: &str,
        number: u32,
    ) -> Result<(String, Option<u64>)> {
        let name = format!("manifest-list-{uuid}-{number}");
        let marker = self.names.marker();
        let bytes = self.avro.list(manifests, marker)?;
        let size = bytes.len() as u64;
        self.files.insert(format!("manifest/{name}"), bytes.into());
        Ok((
            name,
            (self.layout.version >= WriterVersion::V1_4).then_some(size),
        ))
    }
}

/// What a manifest list says of a manifest.
fn meta(
    name: &str,
    size: u64,
    entries: &[ManifestEntry],
    schema: &TableSchema,
) -> Result<ManifestFileMeta> {
    let count = |kind| entries.iter().filter(|entry| entry.kind == kind).count() as u64;
    let buckets = || entries.iter().map(|entry| entry.bucket);
    let levels = || entries.iter().map(|entry| entry.file.level);
    Ok(ManifestFileMeta {
        file_name: name.to_owned(),
        file_size: size,
        num_added_files: count(EntryKind::Add),
        num_deleted_files: count(EntryKind::Delete),
        partition_stats: partition_stats(entries, schema)?,
        schema_id: entries
            .iter()
            .map(|entry| entry.file.schema_id)
            .max()
            .unwrap_or_default(),
        min_bucket: buckets().min(),
        max_bucket: buckets().max(),
        min_level: levels().min(),
        max_level: levels().max(),
        min_row_id: None,
        max_row_id: None,
    })
}

/// Bounds of the partition columns over all entries, in full.
fn partition_stats(entries: &[ManifestEntry], schema: &TableSchema) -> Result<SimpleStats> {
    let fields = schema.partition_fields()?;
    let types: Vec<&DataType> = fields.iter().map(|field| &field.data_type).collect();
    let rows = entries
        .iter()
        .map(|entry| entry.partition.as_ref().datums(&types));
    let rows: Vec<Vec<_>> = rows.collect::<Result<_>>()?;
    let (mut min, mut max, mut nulls) = (vec![], vec![], vec![]);
    for column in 0..types.len() {
        let values = || rows.iter().filter_map(|row| row.get(column)?.as_ref());
        let null = rows.len() - values().count();
        min.push(values().min_by(|a, b| order(Some(a), Some(b))).cloned());
        max.push(values().max_by(|a, b| order(Some(a), Some(b))).cloned());
        nulls.push(Some(
            i64::try_from(null).map_err(|_| Error::internal("too many rows"))?,
        ));
    }
    Ok(SimpleStats {
        min_values: encode_row(&types, &min)?,
        max_values: encode_row(&types, &max)?,
        null_counts: Some(nulls),
    })
}
