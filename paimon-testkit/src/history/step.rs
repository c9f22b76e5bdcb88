//! What is done to a table.

mod raw;

use std::collections::BTreeMap;

use paimon_meta::RowKind;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::change::SchemaChange;
use super::range::RangeRows;
use raw::RawStep;

/// One step of a history. In JSON an object: the members of its action, and `branch` and `options` where given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawStep", into = "RawStep")]
pub struct Step {
    /// Branch it is done on; the main branch without.
    pub branch: Option<String>,
    /// Dynamic options, for this step alone.
    pub options: BTreeMap<String, String>,
    /// What is done.
    pub action: Action,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Writes rows, compacts, or both: one commit of rows and one of the compaction, each only if it changes something.
    Commit(Commit),
    /// `parallel`: several writers open on the same snapshot and commit one after the other, so that sequence numbers
    /// occur twice.
    Parallel(Vec<Vec<HistoryRow>>),
    /// `alter`: one new schema with all of these changes.
    Alter(Vec<SchemaChange>),
    /// `tag`: names a snapshot (`snapshot`), the last one without.
    Tag {
        /// Name of the tag.
        name: String,
        /// The snapshot.
        snapshot: Option<i64>,
    },
    /// `delete_tag`.
    DeleteTag(String),
    /// `create_branch`: an empty branch with the table's schemas, or one that begins at a tag (`from_tag`).
    CreateBranch {
        /// Name of the branch.
        name: String,
        /// The tag it begins at.
        from_tag: Option<String>,
    },
    /// `fast_forward`: the main branch becomes this branch.
    FastForward(String),
    /// `rollback` to a snapshot (a number) or a tag (a text): later snapshots and tags are gone.
    Rollback(RollbackTo),
    /// `expire_retain`: all snapshots but this many of the last are gone, with the files that nothing names any more.
    /// Schemas stay.
    ExpireRetain(u32),
    /// `truncate`: all rows are gone.
    Truncate,
    /// `drop_partitions`: all rows of these partitions are gone.
    DropPartitions(Vec<BTreeMap<String, String>>),
    /// `delete`: rows of an append table that satisfy a condition are deleted by vectors (`deletion-vectors.enabled`).
    Delete(Value),
    /// `compact_manifests`: the same files in as few manifests as possible.
    CompactManifests,
}

/// Rows and a compaction. Members in JSON are those of this model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Commit {
    /// Batches of rows, each flushed into a level-0 file for each partition and bucket that it has.
    pub files: Vec<Vec<HistoryRow>>,
    /// Rows of the last batch.
    pub write: Vec<HistoryRow>,
    /// More rows of the last batch, behind [`Self::write`].
    pub range: Option<RangeRows>,
    /// What is compacted once all is flushed. Without it nothing is: the reference is told so by `write-only`.
    pub compact: Option<Compaction>,
    /// The only bucket that is compacted.
    pub only_bucket: Option<i32>,
    /// Bucket of all rows that do not name their own; computed without.
    pub bucket: Option<i32>,
    /// The rows replace a partition: that of these values; those they are in if there are none.
    pub overwrite: Option<BTreeMap<String, String>>,
    /// Who commits.
    pub user: Option<String>,
    /// Identifier of the commit; the number of the step, from 1, without.
    pub commit_identifier: Option<i64>,
    /// Watermark of the commit.
    pub watermark: Option<i64>,
}

/// Which runs of a bucket are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compaction {
    /// All, to the highest level.
    Full,
    /// Those that the reference would choose by itself (universal compaction by its options).
    Minor,
    /// Level 0 alone, to the highest level below the next run; to the level of the next run, and with it, where there
    /// is none between.
    #[serde(rename = "level0")]
    LevelZero,
    /// `{"up_to": n}`: all up to this level, to this level.
    UpTo(i32),
}

/// Where a rollback goes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RollbackTo {
    /// A snapshot.
    Snapshot(i64),
    /// A tag.
    Tag(String),
}

/// One row: `["+I", 1, "a"]`, its kind and its values in the encoding of the golden tables. One value more than there are
/// columns is the row's bucket.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryRow {
    /// Kind.
    pub kind: RowKind,
    /// Value of each column of the schema at that step, and perhaps the bucket.
    pub values: Vec<Value>,
}

impl Step {
    /// A step on the main branch without options.
    pub fn new(action: Action) -> Self {
        Self {
            branch: None,
            options: BTreeMap::new(),
            action,
        }
    }

    /// A step that writes rows in one batch.
    pub fn write(rows: Vec<HistoryRow>) -> Self {
        Self::new(Action::Commit(Commit {
            write: rows,
            ..Commit::default()
        }))
    }

    /// A step that only compacts.
    pub fn compact(compaction: Compaction) -> Self {
        Self::new(Action::Commit(Commit {
            compact: Some(compaction),
            ..Commit::default()
        }))
    }
}

impl Serialize for HistoryRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kind = Value::from(self.kind.short());
        serializer.collect_seq(std::iter::once(&kind).chain(&self.values))
    }
}

impl<'de> Deserialize<'de> for HistoryRow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut values = Vec::<Value>::deserialize(deserializer)?;
        let kind = values.first().and_then(Value::as_str).and_then(kind_of);
        let Some(kind) = kind else {
            let row = Value::from(values);
            return Err(serde::de::Error::custom(format!(
                "row {row} does not begin with a row kind"
            )));
        };
        values.remove(0);
        Ok(Self { kind, values })
    }
}

pub(crate) fn kind_of(text: &str) -> Option<RowKind> {
    (0..4)
        .filter_map(|byte| RowKind::from_byte(byte).ok())
        .find(|kind| kind.short() == text)
}

/// A row kind as its short text.
pub(super) mod kind_text {
    use paimon_meta::RowKind;
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde passes fields by reference"
    )]
    pub(crate) fn serialize<S: Serializer>(kind: &RowKind, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(kind.short())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<RowKind, D::Error> {
        let text = String::deserialize(from)?;
        super::kind_of(&text)
            .ok_or_else(|| serde::de::Error::custom(format!("{text:?} is no row kind")))
    }
}
