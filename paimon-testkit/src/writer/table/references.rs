//! Which files the snapshots and tags of all branches still name.

use std::collections::BTreeSet;

use super::Table;
use crate::writer::state::{Branch, State};

impl Table {
    /// Removes manifests, index files and data files that nothing names any more.
    pub(super) fn remove_unnamed(&mut self) {
        let mut named = BTreeSet::new();
        for branch in self.branches.values() {
            for state in states(branch) {
                collect(state, &mut named);
            }
        }
        self.files.retain(|path, _| {
            let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
            let is_metadata = ["schema", "snapshot", "tag"]
                .iter()
                .any(|kind| directory == *kind || directory.ends_with(&format!("/{kind}")));
            is_metadata || named.contains(name)
        });
        self.rows.retain(|name, _| named.contains(name));
    }
}

fn states(branch: &Branch) -> impl Iterator<Item = &State> {
    let states = branch.snapshots.values().chain(branch.tags.values());
    states.map(|state| state.as_ref())
}

fn collect(state: &State, named: &mut BTreeSet<String>) {
    let snapshot = &state.snapshot;
    named.insert(snapshot.base_manifest_list.clone());
    named.insert(snapshot.delta_manifest_list.clone());
    named.extend(snapshot.changelog_manifest_list.clone());
    named.extend(snapshot.index_manifest.clone());
    named.extend(
        state
            .manifests
            .iter()
            .map(|manifest| manifest.file_name.clone()),
    );
    named.extend(state.index.iter().map(|entry| entry.file_name.clone()));
    named.extend(
        state
            .content
            .live
            .iter()
            .map(|entry| entry.file.file_name.clone()),
    );
    named.extend(state.changelog.iter().cloned());
}
