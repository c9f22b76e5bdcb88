//! Index files and index manifests of a commit: deletion vectors.

use std::collections::{BTreeMap, BTreeSet};

use paimon_meta::{EntryKind, IndexManifestEntry, Options, Result};

use crate::oracle::Place;
use crate::writer::deletion;
use crate::writer::flush::Session;
use crate::writer::state::{Content, State};
use crate::writer::table::Table;

impl Table {
    /// The index files of a content: those of before where nothing changed.
    pub(super) fn index_entries(
        &mut self,
        before: Option<&State>,
        content: &Content,
        session: &Session,
    ) -> Result<Vec<IndexManifestEntry>> {
        let bitmap64 = session
            .options
            .boolean("deletion-vectors.bitmap64", false)?;
        let mut entries = Vec::new();
        for place in content.places() {
            let names = content
                .files(&place)
                .map(|entry| entry.file.file_name.as_str());
            let vectors: BTreeMap<_, _> = names
                .filter_map(|name| content.vectors.get_key_value(name))
                .collect();
            if vectors.is_empty() {
                continue;
            }
            if let Some(entry) = before.and_then(|before| kept(before, &place, &vectors)) {
                entries.push(entry.clone());
                continue;
            }
            let vectors: Vec<_> = vectors
                .iter()
                .map(|(name, vector)| (name.as_str(), *vector))
                .collect();
            let (bytes, ranges) = deletion::container(&vectors, bitmap64)?;
            let file_name = format!("index-{}-0", self.names.uuid());
            entries.push(IndexManifestEntry {
                kind: EntryKind::Add,
                partition: place.0.clone(),
                bucket: place.1,
                index_type: "DELETION_VECTORS".to_owned(),
                file_name: file_name.clone(),
                file_size: bytes.len() as u64,
                row_count: ranges.len() as u64,
                deletion_vectors: Some(ranges),
                external_path: None,
            });
            let in_bucket = session
                .options
                .value(&Options::INDEX_FILE_IN_DATA_FILE_DIR)?;
            let directory = if in_bucket {
                session.bucket_path(&place)?
            } else {
                "index".to_owned()
            };
            self.files
                .insert(format!("{directory}/{file_name}"), bytes.into());
        }
        Ok(entries)
    }

    pub(super) fn index_manifest(
        &mut self,
        index: &[IndexManifestEntry],
        uuid: &str,
    ) -> Result<String> {
        let name = format!("index-manifest-{uuid}-0");
        let marker = self.names.marker();
        let bytes = self.avro.index(index, marker)?;
        self.files.insert(format!("manifest/{name}"), bytes.into());
        Ok(name)
    }
}

/// The entry of before for a place whose vectors are the same.
fn kept<'a>(
    before: &'a State,
    place: &Place,
    vectors: &BTreeMap<&String, &BTreeSet<u64>>,
) -> Option<&'a IndexManifestEntry> {
    let old = &before.content.vectors;
    let same = vectors
        .iter()
        .all(|(name, vector)| old.get(*name) == Some(*vector));
    let mut index = before.index.iter();
    let entry = index.find(|entry| (&entry.partition, entry.bucket) == (&place.0, place.1))?;
    let count = entry.deletion_vectors.as_ref().map_or(0, Vec::len);
    (same && count == vectors.len()).then_some(entry)
}
