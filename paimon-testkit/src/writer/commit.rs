//! Commits: manifests, index manifest, snapshot, hints.

mod index;
mod manifests;

use std::sync::Arc;

use paimon_meta::{
    BranchPaths, CommitKind, EntryKind, ManifestEntry, ManifestFileMeta, Result, Snapshot,
};

use super::flush::Session;
use super::layout::WriterVersion;
use super::state::{Content, State};
use super::table::Table;

/// What a commit does.
pub(super) struct Change {
    pub(super) kind: CommitKind,
    pub(super) delta: Vec<ManifestEntry>,
    pub(super) changelog: Vec<ManifestEntry>,
    /// The content before, but for the oracle and the deletion vectors, which are those after.
    pub(super) content: Content,
}

/// Who commits.
#[derive(Clone, Debug)]
pub(super) struct Author {
    pub(super) user: String,
    pub(super) identifier: i64,
    pub(super) watermark: Option<i64>,
}

/// Names of one commit's files.
struct CommitNames {
    uuid: String,
    manifests: u32,
}

impl Table {
    /// Commits a change to a branch.
    pub(super) fn commit(
        &mut self,
        branch: &str,
        session: &Session,
        change: Change,
        author: &Author,
    ) -> Result<()> {
        let before = self.branch(branch)?.latest().cloned();
        let mut names = CommitNames {
            uuid: self.names.uuid(),
            manifests: 0,
        };
        let base = self.base(before.as_deref(), session, &mut names)?;
        let delta = self.manifests(&change.delta, session, &mut names)?;
        let changelog = self.manifests(&change.changelog, session, &mut names)?;
        let content = applied(change.content, &change.delta);
        let index = self.index_entries(before.as_deref(), &content, session)?;
        let counts = |kind| rows(change.delta.iter().filter(|entry| entry.kind == kind));
        let mut snapshot = self.snapshot(before.as_deref(), session, author);
        snapshot.commit_kind = change.kind;
        snapshot.total_record_count = Some(rows(content.live.iter()));
        snapshot.delta_record_count = Some(counts(EntryKind::Add) - counts(EntryKind::Delete));
        (
            snapshot.base_manifest_list,
            snapshot.base_manifest_list_size,
        ) = self.list(&base, &names.uuid, 0)?;
        (
            snapshot.delta_manifest_list,
            snapshot.delta_manifest_list_size,
        ) = self.list(&delta, &names.uuid, 1)?;
        if !changelog.is_empty() {
            let (name, size) = self.list(&changelog, &names.uuid, 2)?;
            snapshot.changelog_manifest_list = Some(name);
            snapshot.changelog_manifest_list_size = size;
            snapshot.changelog_record_count = Some(rows(change.changelog.iter()));
        }
        let same_index = before.as_ref().filter(|before| before.index == index);
        snapshot.index_manifest = match same_index {
            Some(before) => before.snapshot.index_manifest.clone(),
            None if index.is_empty() => None,
            None => Some(self.index_manifest(&index, &names.uuid)?),
        };
        let changelog_names = change
            .changelog
            .into_iter()
            .map(|entry| entry.file.file_name);
        let state = State {
            snapshot,
            content,
            manifests: base.into_iter().chain(delta).collect(),
            index,
            changelog: changelog_names.collect(),
        };
        self.names.tick();
        self.publish(branch, state)
    }

    /// Writes a snapshot's file and the hints.
    pub(super) fn publish(&mut self, branch: &str, state: State) -> Result<()> {
        let paths = BranchPaths::new(branch)?;
        let id = state.snapshot.id;
        let text = state.snapshot.to_json()?;
        self.files.insert(paths.snapshot(id), text.into());
        self.branch_mut(branch)?
            .snapshots
            .insert(id, Arc::new(state));
        self.write_hints(branch)
    }

    /// Writes `EARLIEST` and `LATEST` of a branch.
    pub(super) fn write_hints(&mut self, branch: &str) -> Result<()> {
        let directory = BranchPaths::new(branch)?.snapshot_directory();
        let ids = &self.branch(branch)?.snapshots;
        let hints = [
            ("EARLIEST", ids.keys().next()),
            ("LATEST", ids.keys().next_back()),
        ];
        let hints = hints.map(|(name, id)| (name, id.copied()));
        for (name, id) in hints {
            let path = format!("{}/{name}", directory.trim_end_matches('/'));
            match id {
                Some(id) => self.files.insert(path, id.to_string().into()),
                None => self.files.remove(&path),
            };
        }
        Ok(())
    }

    /// The manifests before the commit, merged if they are many.
    fn base(
        &mut self,
        before: Option<&State>,
        session: &Session,
        names: &mut CommitNames,
    ) -> Result<Vec<ManifestFileMeta>> {
        let Some(before) = before else {
            return Ok(Vec::new());
        };
        let most = session
            .options
            .integer("manifest.merge-min-count")?
            .unwrap_or(30);
        if usize::try_from(most).is_ok_and(|most| before.manifests.len() >= most) {
            return self.manifests(&before.content.live, session, names);
        }
        Ok(before.manifests.clone())
    }

    /// All live files in as few manifests as possible, as a commit of its own; `None` where that changes nothing.
    pub(super) fn compact_manifests(
        &mut self,
        branch: &str,
        session: &Session,
        author: &Author,
    ) -> Result<()> {
        let Some(before) = self.branch(branch)?.latest().cloned() else {
            return Ok(());
        };
        let mut names = CommitNames {
            uuid: self.names.uuid(),
            manifests: 0,
        };
        let base = self.manifests(&before.content.live, session, &mut names)?;
        let mut snapshot = self.snapshot(Some(&before), session, author);
        snapshot.commit_kind = CommitKind::Compact;
        snapshot.total_record_count = before.snapshot.total_record_count;
        snapshot.delta_record_count = Some(0);
        snapshot
            .index_manifest
            .clone_from(&before.snapshot.index_manifest);
        (
            snapshot.base_manifest_list,
            snapshot.base_manifest_list_size,
        ) = self.list(&base, &names.uuid, 0)?;
        (
            snapshot.delta_manifest_list,
            snapshot.delta_manifest_list_size,
        ) = self.list(&[], &names.uuid, 1)?;
        self.names.tick();
        let state = State {
            snapshot,
            manifests: base,
            changelog: Vec::new(),
            ..State::clone(&before)
        };
        self.publish(branch, state)
    }

    /// A snapshot without its lists and counts.
    fn snapshot(&mut self, before: Option<&State>, session: &Session, author: &Author) -> Snapshot {
        let version = self.layout.version;
        let before = before.map(|before| &before.snapshot);
        let newest = version >= WriterVersion::V2_1;
        Snapshot {
            version: 3,
            uuid: newest.then(|| self.names.uuid()),
            id: before.map_or(0, |before| before.id) + 1,
            schema_id: session.schema.id,
            base_manifest_list: String::new(),
            base_manifest_list_size: None,
            delta_manifest_list: String::new(),
            delta_manifest_list_size: None,
            changelog_manifest_list: None,
            changelog_manifest_list_size: None,
            index_manifest: None,
            commit_user: author.user.clone(),
            commit_identifier: author.identifier,
            commit_kind: CommitKind::Append,
            time_millis: self.names.now(),
            total_record_count: None,
            delta_record_count: None,
            changelog_record_count: None,
            watermark: author
                .watermark
                .max(before.and_then(|before| before.watermark)),
            statistics: None,
            properties: None,
            next_row_id: (version >= WriterVersion::V1_4).then_some(0),
            writer_version: newest.then(|| "paimon-testkit".to_owned()),
            operation: None,
        }
    }
}

/// A content after a delta.
fn applied(mut content: Content, delta: &[ManifestEntry]) -> Content {
    let gone = |live: &ManifestEntry| {
        let mut deleted = delta.iter().filter(|entry| entry.kind == EntryKind::Delete);
        deleted.any(|entry| {
            (&entry.file.file_name, entry.file.level) == (&live.file.file_name, live.file.level)
        })
    };
    content.live.retain(|live| !gone(live));
    let added = delta.iter().filter(|entry| entry.kind == EntryKind::Add);
    content.live.extend(added.cloned());
    let live = &content.live;
    content
        .vectors
        .retain(|name, _| live.iter().any(|entry| entry.file.file_name == *name));
    content
}

fn rows<'a>(entries: impl Iterator<Item = &'a ManifestEntry>) -> i64 {
    let rows: u64 = entries.map(|entry| entry.file.row_count).sum();
    i64::try_from(rows).unwrap_or(i64::MAX)
}
