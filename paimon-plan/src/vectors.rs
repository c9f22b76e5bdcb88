//! Deletion vectors of the planned snapshot: from its index manifest to planned files (RP-100 to RP-103).

use std::collections::HashMap;

use paimon_io::Resources;
use paimon_meta::{
    BinaryRow, DataPaths, DeletionVectorRange, EntryKind, Error, FileTable, Frame,
    IndexManifestEntry, ResolvedTable, Result, ResultExt, Snapshot, decode_index_manifest_with,
    index_path,
};

use crate::manifests::read_file;
use crate::plan::PlannedVectors;

/// Type of the index files that hold deletion vectors; all others are none of a plan's business (TF-072).
const DELETION_VECTORS: &str = "DELETION_VECTORS";

/// The entries of an index manifest that hold deletion vectors.
#[derive(Debug, Default)]
pub(crate) struct VectorEntries {
    /// Name of the index manifest; empty without one.
    manifest: String,
    entries: Vec<IndexManifestEntry>,
}

/// The entries of an index manifest that hold deletion vectors. It is the full state of its snapshot (TF-073).
///
/// # Errors
/// `NotFound`, `Corrupt`, `Unsupported` and `Storage` as the file is, with entry and field at fault.
async fn read_index_manifest(
    resources: &Resources,
    location: &str,
    name: &str,
) -> Result<VectorEntries> {
    let read = async {
        let file = read_file(resources, location, name)?.await?;
        let mut entries = decode_index_manifest_with(&file, resources.manifest_format())?;
        entries.retain(|entry| entry.index_type == DELETION_VECTORS);
        match entries.iter().find(|entry| entry.kind != EntryKind::Add) {
            None => Ok(VectorEntries {
                manifest: name.to_owned(),
                entries,
            }),
            Some(entry) => Err(Error::corrupt(
                "an index manifest holds a deletion, expected additions alone",
            )
            .at(Frame::File(entry.file_name.clone()))),
        }
    };
    read.await.at(|| Frame::IndexManifest(name.to_owned()))
}

/// The vectors of the files of these buckets. Vectors of other files are passed over: they outlive their files.
///
/// # Errors
/// `Corrupt` if a vector is not inside its index file, a file has two vectors, or a name leads out of its directory. All with
/// the index manifest.
pub(crate) fn attach(
    entries: &VectorEntries,
    files: &FileTable,
    buckets: &[Vec<u32>],
    table: &ResolvedTable,
) -> Result<PlannedVectors> {
    attach_entries(&entries.entries, files, buckets, table)
        .at(|| Frame::IndexManifest(entries.manifest.clone()))
}

fn attach_entries(
    entries: &[IndexManifestEntry],
    files: &FileTable,
    buckets: &[Vec<u32>],
    table: &ResolvedTable,
) -> Result<PlannedVectors> {
    let mut vectors = PlannedVectors::default();
    if entries.is_empty() {
        return Ok(vectors);
    }
    let mut by_bucket: HashMap<(&BinaryRow, i32), Vec<&IndexManifestEntry>> = HashMap::new();
    for entry in entries {
        let bucket = by_bucket.entry((&entry.partition, entry.bucket));
        bucket.or_default().push(entry);
    }
    let paths = DataPaths::new(table)?;
    for bucket in buckets {
        let Some(first) = bucket.first().map(|file| *file as usize) else {
            continue;
        };
        let place = (files.partition(first), files.bucket(first));
        let Some(entries) = by_bucket.get(&place) else {
            continue;
        };
        let bucket_path = match paths.index_in_bucket() {
            true => Some(paths.bucket_path(place.0.as_ref(), place.1)?),
            false => None,
        };
        let mut index_files = IndexFiles::new(entries, bucket_path)?;
        for file in bucket {
            index_files.attach(&mut vectors, files, *file)?;
        }
    }
    Ok(vectors)
}

/// The index files of one bucket.
struct IndexFiles<'a> {
    /// By data file: place of the entry, and where the vector is in its index file.
    ranges: HashMap<&'a str, (usize, &'a DeletionVectorRange)>,
    entries: &'a [&'a IndexManifestEntry],
    bucket_path: Option<String>,
    /// Numbers of the paths that are in use.
    numbers: Vec<Option<u32>>,
}

impl<'a> IndexFiles<'a> {
    fn new(entries: &'a [&'a IndexManifestEntry], bucket_path: Option<String>) -> Result<Self> {
        let mut ranges = HashMap::new();
        for (place, entry) in entries.iter().enumerate() {
            for range in entry.deletion_vectors.iter().flatten() {
                let name = range.data_file.as_str();
                if ranges.insert(name, (place, range)).is_some() {
                    return Err(Error::corrupt("a data file has two deletion vectors")
                        .at(Frame::File(range.data_file.clone())));
                }
            }
        }
        Ok(Self {
            ranges,
            entries,
            bucket_path,
            numbers: vec![None; entries.len()],
        })
    }

    fn attach(&mut self, vectors: &mut PlannedVectors, files: &FileTable, file: u32) -> Result<()> {
        let name = files.file_name(file as usize);
        let Some((place, range)) = self.ranges.get(name).copied() else {
            return Ok(());
        };
        let (Some(entry), Some(number)) = (self.entries.get(place), self.numbers.get_mut(place))
        else {
            return Ok(());
        };
        check_inside(range, entry)
            .at(|| Frame::File(name.to_owned()))
            .at(|| Frame::File(entry.file_name.clone()))?;
        let number = match number {
            Some(number) => *number,
            None => {
                let external = entry.external_path.as_deref();
                let path = index_path(&entry.file_name, external, self.bucket_path.as_deref())?;
                *number.insert(vectors.add_path(path))
            }
        };
        vectors.push(file, number, range);
        Ok(())
    }
}

fn check_inside(range: &DeletionVectorRange, entry: &IndexManifestEntry) -> Result<()> {
    let end = range.offset.checked_add(range.length);
    if end.is_some_and(|end| end <= entry.file_size) {
        return Ok(());
    }
    Err(Error::corrupt(format!(
        "a deletion vector of {} bytes at {} is not inside its index file of {} bytes",
        range.length, range.offset, entry.file_size
    )))
}

/// The entries that a plan needs: none where vectors are off (RP-103) or the snapshot has none (RP-101).
///
/// # Errors
/// As [`read_index_manifest`].
pub(crate) async fn planned_entries(
    resources: &Resources,
    location: &str,
    snapshot: &Snapshot,
    applied: bool,
) -> Result<VectorEntries> {
    match snapshot.index_manifest.as_deref().filter(|_| applied) {
        Some(name) => read_index_manifest(resources, location, name).await,
        None => Ok(VectorEntries::default()),
    }
}

#[cfg(test)]
mod tests;
