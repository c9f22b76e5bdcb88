//! The options that a reader obeys, each with its key and default. Facts: table-format section 2.5, RP-008. Options that
//! only writers use are not here.

use std::marker::PhantomData;

use crate::bucket::BucketFunction;
use crate::options::{
    BatchScanMode, ChangelogProducer, IncrementalScanMode, MemorySize, MergeEngine, Options,
    SortOrder, StartupMode, TableOption,
};

const fn with_default<T>(key: &'static str, default: &'static str) -> TableOption<T> {
    TableOption {
        key,
        fallback_keys: &[],
        default: Some(default),
        value: PhantomData,
    }
}

const fn without_default<T>(key: &'static str) -> TableOption<T> {
    TableOption {
        key,
        fallback_keys: &[],
        default: None,
        value: PhantomData,
    }
}

impl<T> TableOption<T> {
    const fn or(self, fallback_keys: &'static [&'static str]) -> Self {
        Self {
            fallback_keys,
            ..self
        }
    }
}

/// How rows are laid out and found.
impl Options {
    /// Number of buckets; -1 is dynamic or unaware, -2 postponed.
    pub const BUCKET: TableOption<i32> = with_default("bucket", "-1");
    /// How a bucket key becomes a bucket.
    pub const BUCKET_FUNCTION_TYPE: TableOption<BucketFunction> =
        with_default("bucket-function.type", "default");
    /// Directory between the table's root and the partition directories.
    pub const DATA_FILE_PATH_DIRECTORY: TableOption<Option<String>> =
        without_default("data-file.path-directory");
    /// Index files are in the directories of their buckets.
    pub const INDEX_FILE_IN_DATA_FILE_DIR: TableOption<bool> =
        with_default("index-file-in-data-file-dir", "false");
    /// Directory name of null, empty and blank partition values.
    pub const PARTITION_DEFAULT_NAME: TableOption<String> =
        with_default("partition.default-name", "__DEFAULT_PARTITION__");
    /// Partition values are spelled as Java's `toString` has them.
    pub const PARTITION_LEGACY_NAME: TableOption<bool> =
        with_default("partition.legacy-name", "true");
    /// Levels of the LSM tree, of which the last is the top; the trigger below decides where it is not set.
    pub const NUM_LEVELS: TableOption<Option<i32>> = without_default("num-levels");
    /// Sorted runs that trigger a compaction; one more is the default number of levels.
    pub const NUM_SORTED_RUN_COMPACTION_TRIGGER: TableOption<i32> =
        with_default("num-sorted-run.compaction-trigger", "5");
    /// Legacy ORC timestamps with local time zone were shifted by the zone of their writer.
    pub const ORC_TIMESTAMP_LTZ_LEGACY_TYPE: TableOption<bool> =
        with_default("orc.timestamp-ltz.legacy.type", "true");
    /// Rows have ids and sequence numbers of their own.
    pub const ROW_TRACKING_ENABLED: TableOption<bool> =
        with_default("row-tracking.enabled", "false");
    /// BLOB columns that hold a descriptor inline.
    pub const BLOB_DESCRIPTOR_FIELD: TableOption<Vec<String>> =
        without_default("blob-descriptor-field").or(&["blob.stored-descriptor-fields"]);
}

/// How rows of one key become one.
impl Options {
    /// What becomes of rows with the same key.
    pub const MERGE_ENGINE: TableOption<MergeEngine> = with_default("merge-engine", "deduplicate");
    /// Which changes a streaming read finds.
    pub const CHANGELOG_PRODUCER: TableOption<ChangelogProducer> =
        with_default("changelog-producer", "none");
    /// Compactions of a full-compaction changelog between two changelogs.
    pub const FULL_COMPACTION_DELTA_COMMITS: TableOption<Option<i32>> =
        without_default("full-compaction.delta-commits");
    /// Columns that order rows of a key before their sequence number.
    pub const SEQUENCE_FIELD: TableOption<Vec<String>> = without_default("sequence.field");
    /// Direction of those columns; nulls come first in both.
    pub const SEQUENCE_FIELD_SORT_ORDER: TableOption<SortOrder> =
        with_default("sequence.field.sort-order", "ascending");
    /// Files of writes take their smallest sequence number for all rows (TF-089).
    pub const SEQUENCE_SNAPSHOT_ORDERING: TableOption<bool> =
        with_default("sequence.snapshot-ordering", "false");
    /// Retract rows are dropped while merging (TF-031).
    pub const IGNORE_DELETE: TableOption<bool> = with_default("ignore-delete", "false").or(&[
        "first-row.ignore-delete",
        "deduplicate.ignore-delete",
        "partial-update.ignore-delete",
    ]);
    /// A delete removes the whole row, in partial-update.
    pub const PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE: TableOption<bool> =
        with_default("partial-update.remove-record-on-delete", "false");
    /// Sequence-group columns whose delete removes the whole row, in partial-update.
    pub const PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP: TableOption<Vec<String>> =
        without_default("partial-update.remove-record-on-sequence-group");
    /// A delete removes the whole row, in aggregation.
    pub const AGGREGATION_REMOVE_RECORD_ON_DELETE: TableOption<bool> =
        with_default("aggregation.remove-record-on-delete", "false");
    /// Aggregate function of columns that name none.
    pub const FIELDS_DEFAULT_AGGREGATE_FUNCTION: TableOption<Option<String>> =
        without_default("fields.default-aggregate-function");
    /// Key columns may be null.
    pub const PRIMARY_KEY_NULLABLE: TableOption<bool> =
        with_default("primary-key.nullable", "false");
    /// Compaction looks up old rows, as if the changelog producer were lookup (RP-007).
    pub const FORCE_LOOKUP: TableOption<bool> = with_default("force-lookup", "false");
    /// Deletion vectors are applied; tables with a key hide level 0 unless merged on read.
    pub const DELETION_VECTORS_ENABLED: TableOption<bool> =
        with_default("deletion-vectors.enabled", "false");
    /// Level 0 is read and merged under deletion vectors.
    pub const DELETION_VECTORS_MERGE_ON_READ: TableOption<bool> =
        with_default("deletion-vectors.merge-on-read", "false");
}

/// Which snapshot and which of its rows are read.
impl Options {
    /// How a read starts; [`Options::startup_mode`] derives what `default` means.
    pub const SCAN_MODE: TableOption<StartupMode> =
        with_default("scan.mode", "default").or(&["log.scan"]);
    /// Whether level 0 is shown that waits for a compaction (RP-075).
    pub const BATCH_SCAN_MODE: TableOption<BatchScanMode> = with_default("batch-scan-mode", "none");
    /// Snapshot id to read.
    pub const SCAN_SNAPSHOT_ID: TableOption<Option<i64>> = without_default("scan.snapshot-id");
    /// Tag to read.
    pub const SCAN_TAG_NAME: TableOption<Option<String>> = without_default("scan.tag-name");
    /// Commit time to read at, milliseconds since the epoch.
    pub const SCAN_TIMESTAMP_MILLIS: TableOption<Option<i64>> =
        without_default("scan.timestamp-millis").or(&["log.scan.timestamp-millis"]);
    /// Commit time to read at, as local time of the reader's zone (RP-024).
    pub const SCAN_TIMESTAMP: TableOption<Option<String>> = without_default("scan.timestamp");
    /// Watermark to read at.
    pub const SCAN_WATERMARK: TableOption<Option<i64>> = without_default("scan.watermark");
    /// Tag, watermark or snapshot id to read (RP-014).
    pub const SCAN_VERSION: TableOption<Option<String>> = without_default("scan.version");
    /// Creation time of the oldest file to read, milliseconds since the epoch.
    pub const SCAN_FILE_CREATION_TIME_MILLIS: TableOption<Option<i64>> =
        without_default("scan.file-creation-time-millis");
    /// Time of the snapshot, or else of the oldest file, to read from, milliseconds since the epoch.
    pub const SCAN_CREATION_TIME_MILLIS: TableOption<Option<i64>> =
        without_default("scan.creation-time-millis");
    /// Two snapshot ids or tags with a comma: the changes after the first up to the second.
    pub const INCREMENTAL_BETWEEN: TableOption<Option<String>> =
        without_default("incremental-between");
    /// The same by two times.
    pub const INCREMENTAL_BETWEEN_TIMESTAMP: TableOption<Option<String>> =
        without_default("incremental-between-timestamp");
    /// The changes up to a tag from the one before that was made automatically.
    pub const INCREMENTAL_TO_AUTO_TAG: TableOption<Option<String>> =
        without_default("incremental-to-auto-tag");
    /// What an incremental read takes for changes.
    pub const INCREMENTAL_BETWEEN_SCAN_MODE: TableOption<IncrementalScanMode> =
        with_default("incremental-between-scan-mode", "auto");
    /// Two tags of an incremental read stand for their snapshot ids.
    pub const INCREMENTAL_BETWEEN_TAG_TO_SNAPSHOT: TableOption<bool> =
        with_default("incremental-between-tag-to-snapshot", "false");
    /// The one bucket to read.
    pub const SCAN_BUCKET: TableOption<Option<i32>> = without_default("scan.bucket");
    /// Bytes of files in one split.
    pub const SOURCE_SPLIT_TARGET_SIZE: TableOption<MemorySize> =
        with_default("source.split.target-size", "128 mb");
    /// Bytes that a file counts at least.
    pub const SOURCE_SPLIT_OPEN_FILE_COST: TableOption<MemorySize> =
        with_default("source.split.open-file-cost", "4 mb");
    /// Partitions are planned in order.
    pub const SCAN_PLAN_SORT_PARTITION: TableOption<bool> =
        with_default("scan.plan-sort-partition", "false");
    /// Manifests that are read at a time.
    pub const SCAN_MANIFEST_PARALLELISM: TableOption<Option<usize>> =
        without_default("scan.manifest.parallelism");
    /// Data files that cannot be read are left out.
    pub const SCAN_IGNORE_CORRUPT_FILES: TableOption<bool> =
        with_default("scan.ignore-corrupt-files", "false");
    /// Data files that are missing are left out.
    pub const SCAN_IGNORE_LOST_FILES: TableOption<bool> =
        with_default("scan.ignore-lost-files", "false");
    /// File indexes are used for skipping.
    pub const FILE_INDEX_READ_ENABLED: TableOption<bool> =
        with_default("file-index.read.enabled", "true");
    /// Rows in a batch.
    pub const READ_BATCH_SIZE: TableOption<usize> = with_default("read.batch-size", "1024");
}

/// Branches, tags and streams.
impl Options {
    /// The branch to read, in the options of a read.
    pub const BRANCH: TableOption<Option<String>> = without_default("branch");
    /// The branch that has the partitions which are missing (RP-537).
    pub const SCAN_FALLBACK_BRANCH: TableOption<Option<String>> =
        without_default("scan.fallback-branch");
    /// How often tags are made automatically: `daily`, `hourly` or `two-hours`.
    pub const TAG_CREATION_PERIOD: TableOption<String> =
        with_default("tag.creation-period", "daily");
    /// Time between tags that are made automatically, in place of the option above.
    pub const TAG_CREATION_PERIOD_DURATION: TableOption<Option<String>> =
        without_default("tag.creation-period-duration");
    /// How their names spell the time: `with_dashes`, `without_dashes` or `without_dashes_and_spaces`.
    pub const TAG_PERIOD_FORMATTER: TableOption<String> =
        with_default("tag.period-formatter", "with_dashes");
    /// Name under which a streaming read keeps its place.
    pub const CONSUMER_ID: TableOption<Option<String>> = without_default("consumer-id");
    /// A streaming read does not start where its consumer is.
    pub const CONSUMER_IGNORE_PROGRESS: TableOption<bool> =
        with_default("consumer.ignore-progress", "false");
    /// Watermark at which a streaming read ends.
    pub const SCAN_BOUNDED_WATERMARK: TableOption<Option<i64>> =
        without_default("scan.bounded.watermark");
    /// A streaming read of a table with a key shows what overwrites change (RP-151).
    pub const STREAMING_READ_OVERWRITE: TableOption<bool> =
        with_default("streaming-read-overwrite", "false");
    /// A streaming read of a table without a key shows what overwrites add (RP-151).
    pub const STREAMING_READ_APPEND_OVERWRITE: TableOption<bool> =
        with_default("streaming-read-append-overwrite", "false");
}
