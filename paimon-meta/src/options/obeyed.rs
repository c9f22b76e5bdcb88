//! Which keys are those of options that a reader obeys.

use crate::options::Options;

/// Keys of the constants of [`Options`], but for what else they are called.
const KEYS: [&str; 60] = [
    Options::BUCKET.key,
    Options::BUCKET_FUNCTION_TYPE.key,
    Options::DATA_FILE_PATH_DIRECTORY.key,
    Options::INDEX_FILE_IN_DATA_FILE_DIR.key,
    Options::PARTITION_DEFAULT_NAME.key,
    Options::PARTITION_LEGACY_NAME.key,
    Options::NUM_LEVELS.key,
    Options::NUM_SORTED_RUN_COMPACTION_TRIGGER.key,
    Options::ORC_TIMESTAMP_LTZ_LEGACY_TYPE.key,
    Options::ROW_TRACKING_ENABLED.key,
    Options::BLOB_DESCRIPTOR_FIELD.key,
    Options::MERGE_ENGINE.key,
    Options::CHANGELOG_PRODUCER.key,
    Options::FULL_COMPACTION_DELTA_COMMITS.key,
    Options::SEQUENCE_FIELD.key,
    Options::SEQUENCE_FIELD_SORT_ORDER.key,
    Options::SEQUENCE_SNAPSHOT_ORDERING.key,
    Options::IGNORE_DELETE.key,
    Options::PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE.key,
    Options::PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP.key,
    Options::AGGREGATION_REMOVE_RECORD_ON_DELETE.key,
    Options::FIELDS_DEFAULT_AGGREGATE_FUNCTION.key,
    Options::PRIMARY_KEY_NULLABLE.key,
    Options::FORCE_LOOKUP.key,
    Options::DELETION_VECTORS_ENABLED.key,
    Options::DELETION_VECTORS_MERGE_ON_READ.key,
    Options::SCAN_MODE.key,
    Options::BATCH_SCAN_MODE.key,
    Options::SCAN_SNAPSHOT_ID.key,
    Options::SCAN_TAG_NAME.key,
    Options::SCAN_TIMESTAMP_MILLIS.key,
    Options::SCAN_TIMESTAMP.key,
    Options::SCAN_WATERMARK.key,
    Options::SCAN_VERSION.key,
    Options::SCAN_FILE_CREATION_TIME_MILLIS.key,
    Options::SCAN_CREATION_TIME_MILLIS.key,
    Options::INCREMENTAL_BETWEEN.key,
    Options::INCREMENTAL_BETWEEN_TIMESTAMP.key,
    Options::INCREMENTAL_TO_AUTO_TAG.key,
    Options::INCREMENTAL_BETWEEN_SCAN_MODE.key,
    Options::INCREMENTAL_BETWEEN_TAG_TO_SNAPSHOT.key,
    Options::SCAN_BUCKET.key,
    Options::SOURCE_SPLIT_TARGET_SIZE.key,
    Options::SOURCE_SPLIT_OPEN_FILE_COST.key,
    Options::SCAN_PLAN_SORT_PARTITION.key,
    Options::SCAN_MANIFEST_PARALLELISM.key,
    Options::SCAN_IGNORE_CORRUPT_FILES.key,
    Options::SCAN_IGNORE_LOST_FILES.key,
    Options::FILE_INDEX_READ_ENABLED.key,
    Options::READ_BATCH_SIZE.key,
    Options::BRANCH.key,
    Options::SCAN_FALLBACK_BRANCH.key,
    Options::TAG_CREATION_PERIOD.key,
    Options::TAG_CREATION_PERIOD_DURATION.key,
    Options::TAG_PERIOD_FORMATTER.key,
    Options::CONSUMER_ID.key,
    Options::CONSUMER_IGNORE_PROGRESS.key,
    Options::SCAN_BOUNDED_WATERMARK.key,
    Options::STREAMING_READ_OVERWRITE.key,
    Options::STREAMING_READ_APPEND_OVERWRITE.key,
];

/// Other names of options, and options that are read without a constant.
const OTHERS: [&str; 8] = [
    "type",
    "bucket-key",
    "log.scan",
    "log.scan.timestamp-millis",
    "blob.stored-descriptor-fields",
    "first-row.ignore-delete",
    "deduplicate.ignore-delete",
    "partial-update.ignore-delete",
];

impl Options {
    /// Whether a reader obeys the option of a key, or refuses it by its name. Other options mean something to writers, or
    /// nothing to anybody; a table may have them, but a read that sets one has its key wrong.
    ///
    /// ```
    /// use paimon_meta::Options;
    /// assert!(Options::is_obeyed("scan.snapshot-id"));
    /// assert!(!Options::is_obeyed("scan.snapshotid"));
    /// ```
    pub fn is_obeyed(key: &str) -> bool {
        let of_column = key.strip_prefix("fields.");
        of_column.is_some_and(|of_column| of_column.contains('.'))
            || KEYS.contains(&key)
            || OTHERS.contains(&key)
            || super::refuse::refused_keys().any(|refused| refused == key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_in_the_list_of_options_is_obeyed() {
        let source = include_str!("keys.rs");
        let quoted = source.split('"').skip(1).step_by(2);
        let keys = quoted.filter(|text| text.len() > 2 && text.contains(['-', '.']));
        let missing: Vec<&str> = keys.filter(|key| !Options::is_obeyed(key)).collect();
        // Defaults look like keys.
        assert!(missing.is_empty(), "{missing:?}");
        assert_eq!(KEYS.len(), source.matches("pub const ").count());
    }

    #[test]
    fn options_of_columns_and_refused_ones_are_obeyed_and_no_others() {
        for key in [
            "fields.v.ignore-retract",
            "data-evolution.enabled",
            "log.scan",
            "branch",
        ] {
            assert!(Options::is_obeyed(key), "{key}");
        }
        for key in [
            "",
            "fields.",
            "scan.snapshotid",
            "Scan.Snapshot-Id",
            "write-buffer-size",
        ] {
            assert!(!Options::is_obeyed(key), "{key}");
        }
    }
}
