//! From one snapshot to the next (RP-151).

use paimon_io::join;
use paimon_meta::{
    BranchPaths, ChangelogProducer, CommitKind, Error, Frame, Result, ResultExt, Snapshot,
    earliest_from_hint, parse_hint,
};

use super::{StreamPosition, StreamScan, StreamStep};
use crate::incremental::plan_overwrite;
use crate::plan::Plan;
use crate::scan::plan_changes_of;
use crate::snapshots::{numbered_files, ranges, there_are};
use crate::view::View;

/// What a snapshot is to a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// No changes, or such as do not count.
    Skip,
    /// The files that it added.
    Delta,
    /// Its changelog.
    Changelog,
    /// The files that it took away and those that it added.
    Overwrite,
}

impl StreamScan {
    /// The plan of the first snapshot from `next` on that has changes.
    pub(super) async fn follow(&mut self, mut next: i64) -> Result<StreamStep> {
        loop {
            let Some(snapshot) = self.snapshot_or_changelog(next).await? else {
                self.check_not_gone(next).await?;
                self.position.next_snapshot = Some(next);
                return Ok(StreamStep::NotYet);
            };
            if self.ends_at(&snapshot) {
                self.position.ended = true;
                return Ok(StreamStep::Ended);
            }
            next = next.saturating_add(1);
            self.position.begun = true;
            let Some(plan) = self.plan_changes(&snapshot).await? else {
                continue;
            };
            if !plan.is_empty() {
                self.position = StreamPosition {
                    next_snapshot: Some(next),
                    begun: true,
                    watermark: snapshot.effective_watermark(),
                    ended: false,
                };
                return Ok(StreamStep::Plan(Box::new(plan)));
            }
        }
    }

    fn kind(&self, snapshot: &Snapshot) -> Kind {
        if snapshot.commit_kind == CommitKind::Overwrite && self.rules.overwrites {
            return match self.table.schema.has_primary_key() {
                true => Kind::Overwrite,
                false => Kind::Delta,
            };
        }
        match self.rules.producer {
            ChangelogProducer::None if snapshot.commit_kind == CommitKind::Append => Kind::Delta,
            ChangelogProducer::None => Kind::Skip,
            _ if snapshot.changelog_manifest_list.is_some() => Kind::Changelog,
            _ => Kind::Skip,
        }
    }

    async fn plan_changes(&mut self, snapshot: &Snapshot) -> Result<Option<Plan>> {
        let kind = self.kind(snapshot);
        if kind == Kind::Skip {
            return Ok(None);
        }
        self.know_schema(snapshot).await?;
        let (resources, table, request) = (&self.resources, &self.table, &self.request);
        let plan = match kind {
            Kind::Overwrite => plan_overwrite(resources, table, request, snapshot).await?,
            Kind::Changelog => {
                plan_changes_of(resources, table, snapshot, request, View::Changelog).await?
            }
            _ => plan_changes_of(resources, table, snapshot, request, View::Delta).await?,
        };
        Ok(Some(plan))
    }

    /// A snapshot, or the changelog that was kept when it expired.
    pub(super) async fn snapshot_or_changelog(&self, id: i64) -> Result<Option<Snapshot>> {
        if let Some(snapshot) = self.history().read_if_exists(id).await? {
            return Ok(Some(snapshot));
        }
        let path = self.paths.changelog(id);
        let file = join(&self.table.location, &path);
        match self.resources.get_if_exists(&file).await? {
            None => Ok(None),
            Some(content) => Snapshot::from_json(&content)
                .map(Some)
                .at(|| Frame::File(path)),
        }
    }

    /// The first id of which there is a snapshot or a changelog.
    pub(super) async fn earliest_change(&self) -> Result<Option<i64>> {
        let earliest = self.history().earliest().await?.map(|snapshot| snapshot.id);
        let changelog = self.earliest_changelog(&self.paths).await?;
        Ok(match (earliest, changelog) {
            (Some(earliest), Some(changelog)) => Some(earliest.min(changelog)),
            (earliest, changelog) => earliest.or(changelog),
        })
    }

    async fn earliest_changelog(&self, paths: &BranchPaths) -> Result<Option<i64>> {
        let directory = join(&self.table.location, &paths.changelog_directory());
        let hint = self
            .resources
            .get_if_exists(&join(&directory, "EARLIEST"))
            .await?;
        if let Some(id) = hint.and_then(|content| parse_hint(&content)) {
            let file = join(&self.table.location, &paths.changelog(id));
            let exists = self.resources.exists(&file).await?;
            if let Some(id) = earliest_from_hint(Some(id), exists) {
                return Ok(Some(id));
            }
        }
        let ids = numbered_files(&self.resources, &directory, "changelog-").await?;
        Ok(ids.first().copied())
    }

    /// Checks that a snapshot that is not there is still to come.
    async fn check_not_gone(&self, next: i64) -> Result<()> {
        let history = self.history();
        let latest = history.latest().await?.map_or(0, |latest| latest.id);
        let soon = next == latest.saturating_add(1) || latest == 0 && next <= 1;
        if soon || next > latest && !self.position.begun {
            return Ok(());
        }
        // It may have been committed since it was looked for.
        if latest >= next && self.snapshot_or_changelog(next).await?.is_some() {
            return Ok(());
        }
        let ids = history.ids().await?;
        let there = there_are("snapshots", &ranges(&ids));
        let message = match ids.first() {
            Some(first) if *first > next => format!(
                "snapshot {next} has expired: the stream is {} snapshots behind, {there}",
                latest.saturating_sub(next).saturating_add(1)
            ),
            _ if next > latest => format!(
                "the stream waits for snapshot {next}, {there}: was the table rolled back or made anew?"
            ),
            _ => format!("snapshot {next} does not exist, {there}"),
        };
        let hint = "a consumer-id whose file is written keeps snapshots until they have been read";
        Err(Error::not_found(message)
            .with_hint(hint)
            .at(Frame::Snapshot(next)))
    }
}
