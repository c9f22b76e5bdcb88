//! Manifest lists as snapshots name them.

use std::sync::Arc;

use paimon_meta::{Error, ManifestFileMeta, Result, Snapshot};

/// A manifest with the name of its list.
pub(crate) type Listed = (Arc<str>, ManifestFileMeta);

/// A manifest list as a snapshot names it.
#[derive(Clone, Debug)]
pub(crate) struct ListFile {
    pub(crate) name: String,
    /// Its size in bytes, where the snapshot's writer says it.
    size: Option<u64>,
}

impl ListFile {
    pub(crate) fn base(snapshot: &Snapshot) -> Self {
        Self {
            name: snapshot.base_manifest_list.clone(),
            size: snapshot.base_manifest_list_size,
        }
    }

    pub(crate) fn delta(snapshot: &Snapshot) -> Self {
        Self {
            name: snapshot.delta_manifest_list.clone(),
            size: snapshot.delta_manifest_list_size,
        }
    }

    /// `None` where the snapshot has no changelog.
    pub(crate) fn changelog(snapshot: &Snapshot) -> Option<Self> {
        Some(Self {
            name: snapshot.changelog_manifest_list.clone()?,
            size: snapshot.changelog_manifest_list_size,
        })
    }

    /// A list that was cut between two blocks looks whole, so its size must be the one that was written.
    /// # Errors
    /// `Corrupt` with both sizes.
    pub(crate) fn check(&self, file: &[u8]) -> Result<()> {
        let found = file.len() as u64;
        match self.size {
            Some(size) if size != found => Err(Error::corrupt(format!(
                "{found} bytes, the snapshot says {size}"
            ))),
            _ => Ok(()),
        }
    }
}

/// The manifest lists of a snapshot's state: base list, then delta list.
pub(crate) fn state_lists(snapshot: &Snapshot) -> Vec<ListFile> {
    vec![ListFile::base(snapshot), ListFile::delta(snapshot)]
}
