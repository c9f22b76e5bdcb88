//! A step as JSON has it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Action, Commit, Compaction, HistoryRow, RollbackTo, Step};
use crate::history::change::SchemaChange;
use crate::history::range::RangeRows;

/// Members say what is done.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawStep {
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    options: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<Vec<Vec<HistoryRow>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    write: Option<Vec<HistoryRow>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<RangeRows>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compact: Option<Compaction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    only_bucket: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bucket: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    overwrite: Option<BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit_identifier: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    watermark: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel: Option<Vec<Vec<HistoryRow>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    alter: Option<Vec<SchemaChange>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delete_tag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    create_branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from_tag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fast_forward: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rollback: Option<RollbackTo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expire_retain: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncate: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    drop_partitions: Option<Vec<BTreeMap<String, String>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delete: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compact_manifests: Option<bool>,
}

impl TryFrom<RawStep> for Step {
    type Error = String;

    fn try_from(mut raw: RawStep) -> Result<Self, String> {
        let branch = raw.branch.take();
        let options = std::mem::take(&mut raw.options);
        let action = raw.commit().or_else(|| raw.other_action());
        Ok(Self {
            branch,
            options,
            action: action.ok_or("step says nothing that is done")?,
        })
    }
}

impl RawStep {
    fn commit(&mut self) -> Option<Action> {
        let is_commit = self.files.is_some()
            || self.write.is_some()
            || self.range.is_some()
            || self.compact.is_some();
        is_commit.then(|| {
            Action::Commit(Commit {
                files: self.files.take().unwrap_or_default(),
                write: self.write.take().unwrap_or_default(),
                range: self.range.take(),
                compact: self.compact,
                only_bucket: self.only_bucket,
                bucket: self.bucket,
                overwrite: self.overwrite.take(),
                user: self.user.take(),
                commit_identifier: self.commit_identifier,
                watermark: self.watermark,
            })
        })
    }

    fn other_action(&mut self) -> Option<Action> {
        let from_tag = self.from_tag.take();
        let snapshot = self.snapshot;
        (self.parallel.take().map(Action::Parallel))
            .or_else(|| self.alter.take().map(Action::Alter))
            .or_else(|| self.tag.take().map(|name| Action::Tag { name, snapshot }))
            .or_else(|| self.delete_tag.take().map(Action::DeleteTag))
            .or_else(|| {
                let name = self.create_branch.take()?;
                Some(Action::CreateBranch { name, from_tag })
            })
            .or_else(|| self.fast_forward.take().map(Action::FastForward))
            .or_else(|| self.rollback.take().map(Action::Rollback))
            .or_else(|| self.expire_retain.map(Action::ExpireRetain))
            .or_else(|| self.truncate.map(|_| Action::Truncate))
            .or_else(|| self.drop_partitions.take().map(Action::DropPartitions))
            .or_else(|| self.delete.take().map(Action::Delete))
            .or_else(|| self.compact_manifests.map(|_| Action::CompactManifests))
    }
}

impl From<Step> for RawStep {
    fn from(step: Step) -> Self {
        let raw = Self {
            branch: step.branch,
            options: step.options,
            ..Self::default()
        };
        match step.action {
            Action::Commit(commit) => raw.with_commit(commit),
            Action::Parallel(writers) => Self {
                parallel: Some(writers),
                ..raw
            },
            Action::Alter(changes) => Self {
                alter: Some(changes),
                ..raw
            },
            Action::Tag { name, snapshot } => Self {
                tag: Some(name),
                snapshot,
                ..raw
            },
            Action::DeleteTag(name) => Self {
                delete_tag: Some(name),
                ..raw
            },
            Action::CreateBranch { name, from_tag } => Self {
                create_branch: Some(name),
                from_tag,
                ..raw
            },
            Action::FastForward(name) => Self {
                fast_forward: Some(name),
                ..raw
            },
            Action::Rollback(to) => Self {
                rollback: Some(to),
                ..raw
            },
            Action::ExpireRetain(count) => Self {
                expire_retain: Some(count),
                ..raw
            },
            Action::Truncate => Self {
                truncate: Some(true),
                ..raw
            },
            Action::DropPartitions(partitions) => Self {
                drop_partitions: Some(partitions),
                ..raw
            },
            Action::Delete(condition) => Self {
                delete: Some(condition),
                ..raw
            },
            Action::CompactManifests => Self {
                compact_manifests: Some(true),
                ..raw
            },
        }
    }
}

impl RawStep {
    fn with_commit(self, commit: Commit) -> Self {
        let only_write =
            commit.files.is_empty() && commit.range.is_none() && commit.compact.is_none();
        let has_write = only_write || !commit.write.is_empty();
        Self {
            files: (!commit.files.is_empty()).then_some(commit.files),
            write: has_write.then_some(commit.write),
            range: commit.range,
            compact: commit.compact,
            only_bucket: commit.only_bucket,
            bucket: commit.bucket,
            overwrite: commit.overwrite,
            user: commit.user,
            commit_identifier: commit.commit_identifier,
            watermark: commit.watermark,
            ..self
        }
    }
}
