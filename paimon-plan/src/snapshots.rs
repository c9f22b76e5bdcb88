//! The snapshots and tags of a branch: the latest by hint or listing, and by id, tag, time and watermark.
//!
//! Every snapshot is one small JSON file. The latest costs two requests at once; positions in time list the ids once and
//! then halve them. Facts: RP-020 to RP-025, TF-001 to TF-008.

mod files;
mod words;

use futures_util::future::try_join;
use paimon_io::{Resources, join};
use paimon_meta::{
    BranchPaths, ChangeRange, CommitKind, Error, Frame, Result, ResultExt, Snapshot,
    earliest_from_hint, latest_from_hint, latest_from_listing, parse_hint,
};

use crate::incremental;
use crate::travel::Travel;

use files::read_snapshot;

pub(crate) use files::numbered_files;
pub(crate) use words::{at_time, ranges, there_are};

/// How often a snapshot file is read that does not parse: a store may show it half-written (TF-008).
const PARSE_TRIES: usize = 3;

/// The history of one branch.
pub(crate) struct History<'a> {
    resources: &'a Resources,
    /// Root of the table.
    root: &'a str,
    paths: &'a BranchPaths,
}

/// A position of the history, found.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Found {
    /// The snapshot; `None` if the table has none.
    pub(crate) snapshot: Option<Snapshot>,
    /// Keep only files created at this time or later, milliseconds since the epoch.
    pub(crate) created_since: Option<i64>,
    /// The changes that are read up to the snapshot, in place of its state.
    pub(crate) changes: Option<ChangeRange>,
}

impl<'a> History<'a> {
    pub(crate) fn new(resources: &'a Resources, root: &'a str, paths: &'a BranchPaths) -> Self {
        Self {
            resources,
            root,
            paths,
        }
    }

    /// The snapshot at a position.
    ///
    /// # Errors
    /// `NotFound` that lists what there is if the position names nothing, `Corrupt`, or `Storage`.
    pub(crate) async fn find(&self, travel: &Travel) -> Result<Found> {
        let whole = |snapshot| Found {
            snapshot,
            ..Found::default()
        };
        Ok(match travel {
            Travel::Latest => whole(self.latest().await?),
            Travel::SnapshotId(id) => whole(Some(self.by_id(*id).await?)),
            Travel::Tag(name) => whole(Some(self.by_tag(name).await?)),
            Travel::Watermark(mark) => whole(Some(self.by_watermark(*mark).await?)),
            Travel::Timestamp(millis) => whole(Some(self.by_timestamp(*millis).await?)),
            Travel::Version(name) => whole(Some(self.by_version(name).await?)),
            Travel::Compacted(every) => whole(self.compacted(*every).await?),
            Travel::FileCreation(millis) => Found {
                snapshot: self.latest().await?,
                created_since: Some(*millis),
                changes: None,
            },
            Travel::Creation(millis) => match self.after_commit_before(*millis).await? {
                Some(snapshot) => whole(Some(snapshot)),
                None => Found {
                    snapshot: self.latest().await?,
                    created_since: Some(*millis),
                    changes: None,
                },
            },
            Travel::LatestDelta => incremental::latest_delta(self).await?,
            Travel::Incremental(wanted) => incremental::find(self, wanted).await?,
        })
    }

    /// The latest snapshot. The hint is taken if the next snapshot does not exist, else the largest id found by listing.
    /// A hint above every snapshot is an error, unlike one that lags behind (RP-022, TF-001 to TF-004).
    pub(crate) async fn latest(&self) -> Result<Option<Snapshot>> {
        let hint = self.hint("LATEST").await;
        if let Some(id) = hint.filter(|id| *id > 0) {
            let next = join(self.root, &self.paths.snapshot(id.saturating_add(1)));
            let (next_exists, snapshot) =
                try_join(self.resources.exists(&next), self.read_if_exists(id)).await?;
            if latest_from_hint(hint, next_exists, snapshot.is_some()).is_some() {
                return Ok(snapshot);
            }
        }
        match latest_from_listing(hint, self.ids().await?)? {
            Some(id) => self.by_id(id).await.map(Some),
            None => Ok(None),
        }
    }

    /// The number in a hint file; `None` if there is none or it cannot be read: hints only save listing.
    async fn hint(&self, name: &str) -> Option<i64> {
        let file = join(&self.directory(), name);
        parse_hint(&self.resources.get_if_exists(&file).await.ok()??)
    }

    fn directory(&self) -> String {
        join(self.root, &self.paths.snapshot_directory())
    }

    /// Ids of all snapshot files, ascending; other names are ignored (TF-007).
    pub(crate) async fn ids(&self) -> Result<Vec<i64>> {
        numbered_files(self.resources, &self.directory(), "snapshot-").await
    }

    /// Names of all tags.
    pub(crate) async fn tags(&self) -> Result<Vec<String>> {
        let files = self
            .resources
            .list_names(&join(self.root, &self.paths.tag_directory()))
            .await?;
        Ok(files
            .into_iter()
            .filter_map(|(name, _)| Some(name.strip_prefix("tag-")?.to_owned()))
            .collect())
    }

    /// Ids from the earliest snapshot on. An `EARLIEST` that exists is believed (TF-005).
    pub(crate) async fn ids_from_earliest(&self) -> Result<Vec<i64>> {
        let (hint, ids) = (self.hint("EARLIEST").await, self.ids().await?);
        let exists = hint.is_some_and(|hint| ids.binary_search(&hint).is_ok());
        let from = earliest_from_hint(hint, exists).unwrap_or(i64::MIN);
        Ok(ids.into_iter().filter(|id| *id >= from).collect())
    }

    /// The snapshot that has no earlier one (RP-022).
    pub(crate) async fn earliest(&self) -> Result<Option<Snapshot>> {
        if let Some(id) = self.hint("EARLIEST").await
            && let Some(snapshot) = self.read_if_exists(id).await?
        {
            return Ok(Some(snapshot));
        }
        match self.ids().await?.first() {
            Some(id) => self.by_id(*id).await.map(Some),
            None => Ok(None),
        }
    }

    /// The snapshot of an id.
    ///
    /// # Errors
    /// `NotFound` that says which there are, `Corrupt`, or `Storage`.
    pub(crate) async fn by_id(&self, id: i64) -> Result<Snapshot> {
        match self.read_if_exists(id).await? {
            Some(snapshot) => Ok(snapshot),
            None => Err(Error::not_found(format!(
                "snapshot {id} does not exist, {}",
                there_are("snapshots", &ranges(&self.ids().await?))
            ))),
        }
    }

    async fn by_tag(&self, name: &str) -> Result<Snapshot> {
        match self.tag_if_exists(name).await? {
            Some(snapshot) => Ok(snapshot),
            None => Err(Error::not_found(format!(
                "tag {name:?} does not exist, {}",
                there_are("tags", &self.tags().await?.join(", "))
            ))),
        }
    }

    /// The snapshot that a tag keeps, if there is the tag.
    pub(crate) async fn tag_if_exists(&self, name: &str) -> Result<Option<Snapshot>> {
        let Ok(path) = self.paths.tag(name) else {
            return Ok(None); // no tag can have such a name
        };
        let path = join(self.root, &path);
        read_snapshot(self.resources, &path, 1)
            .await
            .at(|| Frame::Tag(name.to_owned()))
    }

    /// RP-014: a tag of that name, else a watermark, else an id.
    async fn by_version(&self, name: &str) -> Result<Snapshot> {
        if let Some(snapshot) = self.tag_if_exists(name).await? {
            return Ok(snapshot);
        }
        if let Some(mark) = name
            .strip_prefix("watermark-")
            .and_then(|mark| mark.parse().ok())
        {
            return self.by_watermark(mark).await;
        }
        if !name.is_empty()
            && name.bytes().all(|digit| digit.is_ascii_digit())
            && let Ok(id) = name.parse()
        {
            return self.by_id(id).await;
        }
        Err(Error::not_found(format!(
            "version {name:?} is no tag, no snapshot id and no watermark-<number>, {} and {}",
            there_are("tags", &self.tags().await?.join(", ")),
            there_are("snapshots", &ranges(&self.ids().await?))
        )))
    }

    /// The last snapshot committed at `millis` or before, taking commit times to ascend; of several that were committed
    /// just then, the one that the reference's search probes first (RP-023).
    pub(crate) async fn at_or_before(&self, millis: i64) -> Result<Option<Snapshot>> {
        let ids = self.ids_from_earliest().await?;
        let mut candidates = ids.as_slice();
        let mut found = None;
        while let Some((before, id, after)) = halves(candidates) {
            let snapshot = self.by_id(id).await?;
            if snapshot.time_millis > millis {
                candidates = before;
                continue;
            }
            let exact = snapshot.time_millis == millis;
            found = Some(snapshot);
            if exact {
                break;
            }
            candidates = after;
        }
        Ok(found)
    }

    async fn by_timestamp(&self, millis: i64) -> Result<Snapshot> {
        if let Some(snapshot) = self.at_or_before(millis).await? {
            return Ok(snapshot);
        }
        Err(Error::not_found(match self.earliest().await? {
            None => format!(
                "no snapshot at {}, the table has no snapshots",
                at_time(millis)
            ),
            Some(first) => format!(
                "no snapshot at {}, the earliest is {}, committed at {}",
                at_time(millis),
                first.id,
                at_time(first.time_millis)
            ),
        }))
    }

    /// The first snapshot whose watermark is `mark` or later; one without a watermark has that of the nearest earlier one
    /// (RP-025).
    async fn by_watermark(&self, mark: i64) -> Result<Snapshot> {
        let ids = self.ids_from_earliest().await?;
        let mut candidates = ids.as_slice();
        let mut found = None;
        let mut last = None;
        while let Some((before, id, after)) = halves(candidates) {
            let at = self.watermark_at(&ids, id).await?;
            last = last.max(at);
            if at.is_some_and(|at| at >= mark) {
                found = Some(id);
                candidates = before;
            } else {
                candidates = after;
            }
        }
        match found {
            Some(id) => self.by_id(id).await,
            None => Err(Error::not_found(match last {
                Some(last) => format!(
                    "no snapshot with watermark {mark} or later, the latest watermark is {last}"
                ),
                None => {
                    format!("no snapshot with watermark {mark} or later, there are no watermarks")
                }
            })),
        }
    }

    /// Watermark of a snapshot or the nearest earlier one that has one.
    async fn watermark_at(&self, ids: &[i64], id: i64) -> Result<Option<i64>> {
        for earlier in ids.iter().rev().skip_while(|other| **other > id) {
            if let Some(mark) = self.by_id(*earlier).await?.effective_watermark() {
                return Ok(Some(mark));
            }
        }
        Ok(None)
    }

    /// The newest snapshot of a compaction, else the latest (RP-021).
    async fn compacted(&self, every: Option<i64>) -> Result<Option<Snapshot>> {
        let counts = |snapshot: &Snapshot| {
            let identifier = snapshot.commit_identifier;
            snapshot.commit_kind == CommitKind::Compact
                && every.is_none_or(|every| identifier % every == 0 || identifier == i64::MAX)
        };
        let Some(latest) = self.latest().await? else {
            return Ok(None);
        };
        for id in self
            .ids_from_earliest()
            .await?
            .into_iter()
            .rev()
            .filter(|id| *id <= latest.id)
        {
            if let Some(snapshot) = self.read_if_exists(id).await?.filter(counts) {
                return Ok(Some(snapshot));
            }
        }
        Ok(Some(latest))
    }

    /// The id of the last snapshot that was committed before `millis`.
    pub(crate) async fn before(&self, millis: i64) -> Result<Option<i64>> {
        let ids = self.ids_from_earliest().await?;
        let mut candidates = ids.as_slice();
        let mut last_before = None;
        while let Some((before, id, after)) = halves(candidates) {
            if self.by_id(id).await?.time_millis < millis {
                last_before = Some(id);
                candidates = after;
            } else {
                candidates = before;
            }
        }
        Ok(last_before)
    }

    /// The snapshot after the last one that was committed before `millis`, if there are both.
    async fn after_commit_before(&self, millis: i64) -> Result<Option<Snapshot>> {
        let Some(last) = self.before(millis).await? else {
            return Ok(None);
        };
        let ids = self.ids().await?;
        match ids.into_iter().find(|id| *id > last) {
            Some(next) => self.by_id(next).await.map(Some),
            None => Ok(None),
        }
    }

    /// The snapshot of an id, if it is there.
    pub(crate) async fn read_if_exists(&self, id: i64) -> Result<Option<Snapshot>> {
        let path = join(self.root, &self.paths.snapshot(id));
        let snapshot = read_snapshot(self.resources, &path, PARSE_TRIES).await;
        let snapshot = snapshot.and_then(|found| {
            found
                .map(|snapshot| checked_id(snapshot, id, &path))
                .transpose()
        });
        snapshot.at(|| Frame::Snapshot(id))
    }
}

/// A snapshot under another one's name would be another table.
fn checked_id(snapshot: Snapshot, id: i64, path: &str) -> Result<Snapshot> {
    if snapshot.id == id {
        return Ok(snapshot);
    }
    let message = format!("snapshot has id {}, its file name says {id}", snapshot.id);
    let error = Error::corrupt(message).at(Frame::Field("id".to_owned()));
    Err(error.at(Frame::File(path.to_owned())))
}

/// What comes before the middle, the middle as the reference's binary search takes it, and what comes after.
fn halves(ids: &[i64]) -> Option<(&[i64], i64, &[i64])> {
    let (before, rest) = ids.split_at_checked(ids.len().saturating_sub(1) / 2)?;
    let (middle, after) = rest.split_first()?;
    Some((before, *middle, after))
}

#[cfg(test)]
mod tests;
