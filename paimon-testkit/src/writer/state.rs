//! What the writer knows of a table: its branches, their snapshots, and the rows of every data file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use paimon_meta::{
    BinaryRow, IndexManifestEntry, ManifestEntry, ManifestFileMeta, Snapshot, TableSchema,
};

use crate::oracle::{Oracle, Place};

/// A branch: the main one, or another.
#[derive(Clone, Debug, Default)]
pub(super) struct Branch {
    pub(super) schemas: BTreeMap<i64, TableSchema>,
    pub(super) snapshots: BTreeMap<i64, Arc<State>>,
    pub(super) tags: BTreeMap<String, Arc<State>>,
}

/// All of one snapshot.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) snapshot: Snapshot,
    pub(super) content: Content,
    /// All manifests, base and delta.
    pub(super) manifests: Vec<ManifestFileMeta>,
    pub(super) index: Vec<IndexManifestEntry>,
    /// Names of files that only this snapshot's commit made.
    pub(super) changelog: Vec<String>,
}

/// What a snapshot has in it.
#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    pub(super) live: Vec<ManifestEntry>,
    /// Deleted positions of data files, by name.
    pub(super) vectors: BTreeMap<String, BTreeSet<u64>>,
    pub(super) oracle: Oracle,
}

impl Content {
    /// The files of a partition and bucket.
    pub(super) fn files(&self, place: &Place) -> impl Iterator<Item = &ManifestEntry> {
        let place = place.clone();
        self.live
            .iter()
            .filter(move |entry| entry.partition == place.0 && entry.bucket == place.1)
    }

    /// All partitions and buckets that have files, in order.
    pub(super) fn places(&self) -> BTreeSet<Place> {
        let places = self.live.iter();
        places
            .map(|entry| (entry.partition.clone(), entry.bucket))
            .collect()
    }

    /// All partitions that have files.
    pub(super) fn partitions(&self) -> BTreeSet<BinaryRow> {
        self.live
            .iter()
            .map(|entry| entry.partition.clone())
            .collect()
    }
}

impl Branch {
    /// The last snapshot.
    pub(super) fn latest(&self) -> Option<&Arc<State>> {
        self.snapshots.values().next_back()
    }
}
