//! Where a stream begins (RP-020, RP-078, RP-151).

use paimon_io::join;
use paimon_meta::{Consumer, Error, Frame, Options, Result, ResultExt, Snapshot, StartupMode};

use super::{StreamPosition, StreamScan, StreamStep};
use crate::resolve::becomes_file_creation;
use crate::scan::plan_state;
use crate::travel::Travel;
use crate::view::View;

/// What the first plan is, where the position alone does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// The state at the position.
    State,
    /// The changes from the position on.
    Changes,
}

/// The beginning, found.
enum Begin {
    /// With a state; files created before a time are left out.
    State(Box<Snapshot>, Option<i64>),
    /// With the changes of a snapshot that may not be there yet.
    Changes(i64),
    /// The table has no snapshot.
    NotYet,
}

impl Start {
    pub(super) fn of(options: &Options) -> Result<Self> {
        Ok(match options.startup_mode()? {
            StartupMode::Latest | StartupMode::FromTimestamp | StartupMode::FromSnapshot => {
                Self::Changes
            }
            _ => Self::State,
        })
    }
}

impl StreamScan {
    /// The first plan, or the first look at what follows.
    pub(super) async fn first(&mut self) -> Result<StreamStep> {
        match self.begin().await? {
            Begin::NotYet => Ok(StreamStep::NotYet),
            Begin::Changes(next) => {
                self.position.next_snapshot = Some(next);
                let before = self
                    .history()
                    .read_if_exists(next.saturating_sub(1))
                    .await?;
                if before.is_some_and(|snapshot| self.ends_at(&snapshot)) {
                    self.position.ended = true;
                    return Ok(StreamStep::Ended);
                }
                self.follow(next).await
            }
            Begin::State(snapshot, created_since) => {
                self.know_schema(&snapshot).await?;
                let mut table = self.table.as_ref().clone();
                if let Some(since) = created_since {
                    becomes_file_creation(&mut table.options, since);
                }
                let planned = plan_state(
                    &self.resources,
                    &table,
                    Some(&snapshot),
                    &self.request,
                    View::StreamStart,
                );
                let plan = planned.await?;
                self.position = StreamPosition {
                    next_snapshot: Some(snapshot.id.saturating_add(1)),
                    begun: true,
                    watermark: snapshot.effective_watermark(),
                    ended: self.ends_at(&snapshot),
                };
                Ok(StreamStep::Plan(Box::new(plan)))
            }
        }
    }

    async fn begin(&self) -> Result<Begin> {
        if let Some(next) = self.consumer_progress().await? {
            return self.changes_from(next).await;
        }
        let history = self.history();
        Ok(match (&self.rules.travel, self.rules.start) {
            (Travel::Latest, Start::Changes) => match history.latest().await? {
                Some(latest) => Begin::Changes(latest.id.saturating_add(1)),
                // What comes first is new.
                None => Begin::Changes(1),
            },
            (Travel::SnapshotId(id), Start::Changes) => self.changes_from(*id).await?,
            (Travel::Version(name), _) => {
                let id = self.version(name).await?;
                self.changes_from(id).await?
            }
            (Travel::SnapshotId(id), Start::State) => match history.earliest().await? {
                None => Begin::NotYet,
                Some(earliest) if earliest.id >= *id => state(Some(earliest), None),
                Some(_) => state(Some(history.by_id(*id).await?), None),
            },
            (Travel::Timestamp(millis), _) => match self.first_since(*millis).await? {
                Some(id) => Begin::Changes(id),
                None => Begin::NotYet,
            },
            (Travel::Creation(millis), _) => self.begin_created(*millis).await?,
            (travel, _) => {
                let found = history.find(travel).await?;
                state(found.snapshot, found.created_since)
            }
        })
    }

    /// With changes where something older is kept, else with the files created since.
    async fn begin_created(&self, millis: i64) -> Result<Begin> {
        let found = self.history().find(&self.rules.travel).await?;
        if let (Some(snapshot), None) = (&found.snapshot, found.created_since) {
            return self.changes_from(snapshot.id).await;
        }
        if let Some(id) = self.first_since(millis).await?
            && self
                .snapshot_or_changelog(id.saturating_sub(1))
                .await?
                .is_some()
        {
            return Ok(Begin::Changes(id));
        }
        Ok(state(found.snapshot, Some(millis)))
    }

    /// The snapshot that the consumer reads next, if there is one that counts.
    async fn consumer_progress(&self) -> Result<Option<i64>> {
        let name = self.rules.consumer.as_ref();
        let Some(name) = name.filter(|_| !self.rules.ignore_progress) else {
            return Ok(None);
        };
        let path = self.paths.consumer(name)?;
        let file = join(&self.table.location, &path);
        match self.resources.get_if_exists(&file).await? {
            None => Ok(None),
            Some(content) => Consumer::from_json(&content)
                .map(|consumer| Some(consumer.next_snapshot))
                .at(|| Frame::File(path)),
        }
    }

    /// Changes from a snapshot on, or from the earliest one that is there.
    async fn changes_from(&self, id: i64) -> Result<Begin> {
        Ok(match self.earliest_change().await? {
            None => Begin::NotYet,
            Some(earliest) => Begin::Changes(id.max(earliest)),
        })
    }

    /// The id that a version stands for: a stream begins with no tag and no watermark.
    async fn version(&self, name: &str) -> Result<i64> {
        let tag = self.history().tag_if_exists(name).await?;
        let digits = !name.is_empty() && name.bytes().all(|digit| digit.is_ascii_digit());
        match name.parse() {
            Ok(id) if digits && tag.is_none() => Ok(id),
            _ => {
                let key = Options::SCAN_VERSION.key;
                Err(Error::invalid_input(format!(
                    "option {key} is {name:?}, a stream begins with a snapshot id"
                ))
                .at(Frame::Option(key.to_owned())))
            }
        }
    }

    /// The first snapshot committed at a time or later, or the one that will be.
    async fn first_since(&self, millis: i64) -> Result<Option<i64>> {
        let history = self.history();
        if let Some(last_before) = history.before(millis).await? {
            return Ok(Some(last_before.saturating_add(1)));
        }
        // Changelogs that outlive their snapshots count too; commit times ascend.
        let Some(mut first) = self.earliest_change().await? else {
            return Ok(None);
        };
        let mut end = history
            .earliest()
            .await?
            .map_or(first, |snapshot| snapshot.id);
        while first < end {
            let middle = first + (end - first) / 2;
            match self.snapshot_or_changelog(middle).await? {
                Some(changes) if changes.time_millis < millis => first = middle + 1,
                _ => end = middle,
            }
        }
        Ok(Some(first))
    }
}

fn state(snapshot: Option<Snapshot>, created_since: Option<i64>) -> Begin {
    snapshot.map_or(Begin::NotYet, |snapshot| {
        Begin::State(Box::new(snapshot), created_since)
    })
}
