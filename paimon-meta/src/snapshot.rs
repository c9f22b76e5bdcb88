//! Snapshots. Facts: table-format section 3.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::json;

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
    #[serde(
        default,
        deserialize_with = "json::optional_texts",
        skip_serializing_if = "Option::is_none"
    )]
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
    /// A snapshot from its file, or from a changelog file.
    ///
    /// # Errors
    /// `Corrupt`, naming the member at fault; also for a commit kind that is unknown.
    pub fn from_json(bytes: &[u8]) -> Result<Self> {
        json::from_json(bytes)
    }

    /// The text of a snapshot file.
    ///
    /// # Errors
    /// `Internal` if there is none.
    pub fn to_json(&self) -> Result<String> {
        json::to_json(self)
    }

    /// The watermark, if there is one (TF-034).
    pub fn effective_watermark(&self) -> Option<i64> {
        self.watermark.filter(|mark| *mark != i64::MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{ErrorKind, Frame};

    const SNAPSHOT: &str = r#"{
        "version": 3, "id": 7, "schemaId": 1, "baseManifestList": "b", "deltaManifestList": "d",
        "commitUser": "u", "commitIdentifier": 9223372036854775807, "commitKind": "COMPACT",
        "logOffsets": {"0": 1}, "timeMillis": 9, "totalRecordCount": null, "watermark": -9223372036854775808,
        "properties": {"a": "b", "c": 5}, "operation": "SOMETHING_NEW"
    }"#;

    #[test]
    fn unknown_members_and_operations_are_tolerated() {
        // TF-033
        let snapshot = Snapshot::from_json(SNAPSHOT.as_bytes()).unwrap();
        assert_eq!(
            (snapshot.id, snapshot.commit_kind),
            (7, CommitKind::Compact)
        );
        assert_eq!(snapshot.operation.as_deref(), Some("SOMETHING_NEW"));
        assert_eq!(snapshot.total_record_count, None);
        assert_eq!(
            snapshot
                .properties
                .as_ref()
                .and_then(|all| all.get("c"))
                .map(String::as_str),
            Some("5")
        );
        assert_eq!(snapshot.effective_watermark(), None); // TF-034
        let text = snapshot.to_json().unwrap();
        assert_eq!(Snapshot::from_json(text.as_bytes()).unwrap(), snapshot);
    }

    #[test]
    fn members_at_fault_are_named() {
        let cases = [
            ("\"COMPACT\"", "\"SHRINK\"", "commitKind"),
            ("\"id\": 7", "\"id\": \"7\"", "id"),
            ("\"schemaId\": 1,", "", "schemaId"),
            ("\"timeMillis\": 9", "\"timeMillis\": 9.5", "timeMillis"),
            ("\"c\": 5", "\"c\": []", "properties"),
        ];
        for (from, to, name) in cases {
            let error = Snapshot::from_json(SNAPSHOT.replace(from, to).as_bytes()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt);
            assert_eq!(
                error.frames().collect::<Vec<_>>(),
                [&Frame::Field(name.into())],
                "{error}"
            );
        }
    }

    #[test]
    fn truncated_file_is_corrupt_without_member() {
        let error = Snapshot::from_json(b"{\"version\": 3, \"id\"").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.message().starts_with("not JSON: EOF"), "{error}");
    }
}
