//! Options with a fixed set of values, and what several options mean together.

use std::fmt;

use crate::bucket::BucketFunction;
use crate::error::Result;
use crate::options::Options;
use crate::options::text::{FromOption, one_of};

/// What becomes of rows with the same key (option `merge-engine`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MergeEngine {
    /// The last row stays.
    Deduplicate,
    /// Columns that are not null replace older ones.
    PartialUpdate,
    /// Columns are aggregated.
    Aggregation,
    /// The first row stays.
    FirstRow,
}

impl FromOption for MergeEngine {
    const EXPECTED: &'static str = "deduplicate, partial-update, aggregation or first-row";

    fn from_option(text: Option<&str>) -> Option<Self> {
        let names = [
            ("deduplicate", Self::Deduplicate),
            ("partial-update", Self::PartialUpdate),
            ("aggregation", Self::Aggregation),
            ("first-row", Self::FirstRow),
        ];
        one_of(text?, &names)
    }
}

/// Where the changes of a streaming read come from (option `changelog-producer`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChangelogProducer {
    /// From the files of writes.
    None,
    /// From changelog files that writes make of their input.
    Input,
    /// From changelog files of full compactions.
    FullCompaction,
    /// From changelog files of compactions that look up old rows.
    Lookup,
}

impl fmt::Display for MergeEngine {
    /// As the option spells it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Deduplicate => "deduplicate",
            Self::PartialUpdate => "partial-update",
            Self::Aggregation => "aggregation",
            Self::FirstRow => "first-row",
        })
    }
}

impl FromOption for ChangelogProducer {
    const EXPECTED: &'static str = "none, input, full-compaction or lookup";

    fn from_option(text: Option<&str>) -> Option<Self> {
        let names = [
            ("none", Self::None),
            ("input", Self::Input),
            ("full-compaction", Self::FullCompaction),
            ("lookup", Self::Lookup),
        ];
        one_of(text?, &names)
    }
}

/// Direction of a sequence field (option `sequence.field.sort-order`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SortOrder {
    /// The largest value is the newest.
    Ascending,
    /// The smallest value is the newest.
    Descending,
}

impl FromOption for SortOrder {
    const EXPECTED: &'static str = "ascending or descending";

    fn from_option(text: Option<&str>) -> Option<Self> {
        one_of(
            text?,
            &[
                ("ascending", Self::Ascending),
                ("descending", Self::Descending),
            ],
        )
    }
}

/// How a read starts (option `scan.mode`, RP-021).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StartupMode {
    /// As the other options say (RP-020).
    Default,
    /// The latest snapshot with all files; a stream goes on with the changes. Also called `full`.
    LatestFull,
    /// The latest snapshot; a stream has only the changes after it.
    Latest,
    /// What the latest snapshot added.
    LatestDelta,
    /// The latest compacted snapshot.
    CompactedFull,
    /// The latest snapshot at a time.
    FromTimestamp,
    /// The snapshot after a time, or else files from a time on.
    FromCreationTimestamp,
    /// Files from a time on.
    FromFileCreationTime,
    /// A snapshot; a stream has its changes and those after it.
    FromSnapshot,
    /// A snapshot with all files; a stream goes on with the changes.
    FromSnapshotFull,
    /// The changes between two snapshots.
    Incremental,
}

impl FromOption for StartupMode {
    const EXPECTED: &'static str = "default, latest-full, latest, latest-delta, compacted-full, from-timestamp, \
        from-creation-timestamp, from-file-creation-time, from-snapshot, from-snapshot-full or incremental";

    fn from_option(text: Option<&str>) -> Option<Self> {
        let names = [
            ("default", Self::Default),
            ("latest-full", Self::LatestFull),
            ("full", Self::LatestFull),
            ("latest", Self::Latest),
            ("latest-delta", Self::LatestDelta),
            ("compacted-full", Self::CompactedFull),
            ("from-timestamp", Self::FromTimestamp),
            ("from-creation-timestamp", Self::FromCreationTimestamp),
            ("from-file-creation-time", Self::FromFileCreationTime),
            ("from-snapshot", Self::FromSnapshot),
            ("from-snapshot-full", Self::FromSnapshotFull),
            ("incremental", Self::Incremental),
        ];
        one_of(text?, &names)
    }
}

/// What an incremental read takes for changes (option `incremental-between-scan-mode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IncrementalScanMode {
    /// Changelog files where the table makes them, else delta files.
    Auto,
    /// Files that commits added.
    Delta,
    /// Changelog files.
    Changelog,
    /// The difference of the rows at both ends.
    Diff,
}

impl FromOption for IncrementalScanMode {
    const EXPECTED: &'static str = "auto, delta, changelog or diff";

    fn from_option(text: Option<&str>) -> Option<Self> {
        let names = [
            ("auto", Self::Auto),
            ("delta", Self::Delta),
            ("changelog", Self::Changelog),
            ("diff", Self::Diff),
        ];
        one_of(text?, &names)
    }
}

/// What a batch read is for (option `batch-scan-mode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BatchScanMode {
    /// To show rows.
    None,
    /// To compact: it sees all levels.
    Compact,
}

impl FromOption for BatchScanMode {
    const EXPECTED: &'static str = "none or compact";

    fn from_option(text: Option<&str>) -> Option<Self> {
        one_of(text?, &[("none", Self::None), ("compact", Self::Compact)])
    }
}

impl FromOption for BucketFunction {
    const EXPECTED: &'static str = "default, mod or hive";

    fn from_option(text: Option<&str>) -> Option<Self> {
        one_of(
            text?,
            &[
                ("default", Self::Default),
                ("mod", Self::Mod),
                ("hive", Self::Hive),
            ],
        )
    }
}

impl Options {
    /// Columns that order rows of a key before their sequence number, in order; trimmed (TF-030), none by default.
    pub fn sequence_field(&self) -> Vec<String> {
        Vec::from_option(self.get(Self::SEQUENCE_FIELD.key)).unwrap_or_default()
    }

    /// Whether compaction looks up old rows (RP-007): with merge engine first-row, changelog producer lookup, deletion
    /// vectors, or when forced to.
    ///
    /// # Errors
    /// `InvalidInput` that names the option.
    pub fn needs_lookup(&self) -> Result<bool> {
        Ok(self.value(&Self::MERGE_ENGINE)? == MergeEngine::FirstRow
            || self.value(&Self::CHANGELOG_PRODUCER)? == ChangelogProducer::Lookup
            || self.value(&Self::DELETION_VECTORS_ENABLED)?
            || self.value(&Self::FORCE_LOOKUP)?)
    }

    /// Levels of the LSM tree: as set, or one more than the compaction trigger (RP-008).
    ///
    /// # Errors
    /// `InvalidInput` that names the option.
    pub fn num_levels(&self) -> Result<i32> {
        match self.value(&Self::NUM_LEVELS)? {
            Some(levels) => Ok(levels),
            None => Ok(self
                .value(&Self::NUM_SORTED_RUN_COMPACTION_TRIGGER)?
                .saturating_add(1)),
        }
    }

    /// How a read starts, never [`StartupMode::Default`]: where the mode is not set, the first of the options that name a
    /// time, a snapshot or a range decides (RP-020).
    ///
    /// # Errors
    /// `InvalidInput` that names the option.
    pub fn startup_mode(&self) -> Result<StartupMode> {
        let mode = self.value(&Self::SCAN_MODE)?;
        if mode != StartupMode::Default {
            return Ok(mode);
        }
        Ok(
            if self.is_set(&Self::SCAN_TIMESTAMP_MILLIS) || self.is_set(&Self::SCAN_TIMESTAMP) {
                StartupMode::FromTimestamp
            } else if self.is_set(&Self::SCAN_SNAPSHOT_ID)
                || self.is_set(&Self::SCAN_TAG_NAME)
                || self.is_set(&Self::SCAN_WATERMARK)
                || self.is_set(&Self::SCAN_VERSION)
            {
                StartupMode::FromSnapshot
            } else if self.is_set(&Self::SCAN_FILE_CREATION_TIME_MILLIS) {
                StartupMode::FromFileCreationTime
            } else if self.is_set(&Self::SCAN_CREATION_TIME_MILLIS) {
                StartupMode::FromCreationTimestamp
            } else if self.is_set(&Self::INCREMENTAL_BETWEEN)
                || self.is_set(&Self::INCREMENTAL_BETWEEN_TIMESTAMP)
                || self.is_set(&Self::INCREMENTAL_TO_AUTO_TAG)
            {
                StartupMode::Incremental
            } else {
                StartupMode::LatestFull
            },
        )
    }
}
