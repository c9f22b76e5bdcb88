//! Snapshots. Facts: table-format section 3.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a commit did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum CommitKind {
    /// Only added files.
    Append,
    /// Replaced files without changing the logical content.
    Compact,
    /// Removed and added files.
    Overwrite,
    /// Changed nothing but the statistics.
    Analyze,
}

/// One snapshot file (also the body of tag and changelog files). Unknown members are ignored (TF-033).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// Version of the file, 1 to 3; 0 where missing.
    #[serde(default)]
    pub version: i32,
    /// Unique id, newest writers only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// Id, the number in the file name.
    pub id: i64,
    /// Schema at commit.
    pub schema_id: i64,
    /// Manifest list of all that was there before this commit.
    pub base_manifest_list: String,
    /// Its size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_manifest_list_size: Option<u64>,
    /// Manifest list of this commit's changes.
    pub delta_manifest_list: String,
    /// Its size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta_manifest_list_size: Option<u64>,
    /// Manifest list of this commit's changelog files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changelog_manifest_list: Option<String>,
    /// Its size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changelog_manifest_list_size: Option<u64>,
    /// The complete list of index files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_manifest: Option<String>,
    /// Who committed.
    pub commit_user: String,
    /// Identifier of the commit; the largest long for batch commits.
    pub commit_identifier: i64,
    /// What the commit did.
    pub commit_kind: CommitKind,
    /// Commit time, milliseconds since the epoch.
    pub time_millis: i64,
    /// Physical rows of all live files, unmerged (TF-035).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_record_count: Option<i64>,
    /// Rows added minus rows deleted by this commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta_record_count: Option<i64>,
    /// Rows in the changelog files of this commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changelog_record_count: Option<i64>,
    /// Watermark; the smallest long means none, see [`Snapshot::effective_watermark`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watermark: Option<i64>,
    /// Statistics file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistics: Option<String>,
    /// Free properties.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub properties: Option<BTreeMap<String, String>>,
    /// Next free row id, for row tracking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_row_id: Option<i64>,
    /// Version of the writer, newest writers only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer_version: Option<String>,
    /// What the user did, as text; values that are unknown here are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
}

impl Snapshot {
    /// The watermark, if there is one (TF-034).
    pub fn effective_watermark(&self) -> Option<i64> {
        self.watermark.filter(|mark| *mark != i64::MIN)
    }
}
