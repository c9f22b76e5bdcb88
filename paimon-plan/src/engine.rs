//! How rows of one key become one, as far as planning must know.

use paimon_meta::{BatchScanMode, MergeEngine, Options, ResolvedTable, Result, StartupMode};

use crate::bucket_pass::RowOrigin;

/// What the options say of merging.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Engine {
    pub(crate) has_key: bool,
    pub(crate) merge: MergeEngine,
    pub(crate) deletion_vectors: bool,
    pub(crate) merge_on_read: bool,
    /// Level 0 is shown, whatever the table is: scans for compactions, and reads of changes.
    all_levels: bool,
}

impl Engine {
    pub(crate) fn of(table: &ResolvedTable) -> Result<Self> {
        let options = &table.options;
        let changes = matches!(
            options.startup_mode()?,
            StartupMode::Incremental | StartupMode::LatestDelta
        );
        Ok(Self {
            has_key: table.schema.has_primary_key(),
            merge: options.value(&Options::MERGE_ENGINE)?,
            deletion_vectors: options.value(&Options::DELETION_VECTORS_ENABLED)?,
            merge_on_read: options.value(&Options::DELETION_VECTORS_MERGE_ON_READ)?,
            all_levels: changes || options.value(&Options::BATCH_SCAN_MODE)? != BatchScanMode::None,
        })
    }

    pub(crate) fn first_row(self) -> bool {
        self.has_key && self.merge == MergeEngine::FirstRow
    }

    /// A row of level 0 is not shown before a compaction has found out which older row it replaces, or whether there is one
    /// (RP-075).
    pub(crate) fn hides_level_zero(self) -> bool {
        let waits = if self.deletion_vectors {
            !self.merge_on_read
        } else {
            self.first_row()
        };
        self.has_key && waits && !self.all_levels
    }

    pub(crate) fn row_origin(self) -> RowOrigin {
        match self.merge {
            MergeEngine::Deduplicate | MergeEngine::FirstRow => RowOrigin::Stored,
            _ if self.deletion_vectors => RowOrigin::CombinedOnLevelZero,
            _ => RowOrigin::Combined,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hides(options: &[(&str, &str)], keys: &[&str]) -> bool {
        let schema = crate::testing::schema(0, &[(0, "k", "INT")], keys, &[]);
        let options = options
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let table = ResolvedTable {
            location: String::new(),
            branch: "main".to_owned(),
            options: Options(options.collect()),
            snapshot: None,
            schemas: [(0, schema.clone())].into(),
            schema,
            time_zone: "UTC".to_owned(),
            changes: None,
            fallback: None,
        };
        Engine::of(&table).unwrap().hides_level_zero()
    }

    const VECTORS: (&str, &str) = ("deletion-vectors.enabled", "true");
    const ON_READ: (&str, &str) = ("deletion-vectors.merge-on-read", "true");
    const FIRST_ROW: (&str, &str) = ("merge-engine", "first-row");

    #[test]
    fn level_zero_is_hidden_until_old_versions_are_marked() {
        // RP-075, RP-079
        assert!(!hides(&[], &["k"]));
        assert!(!hides(&[ON_READ], &["k"]));
        assert!(hides(&[VECTORS], &["k"]));
        assert!(!hides(&[VECTORS, ON_READ], &["k"]));
        assert!(hides(&[FIRST_ROW], &["k"]));
        assert!(hides(&[FIRST_ROW, ON_READ], &["k"]));
        assert!(!hides(&[FIRST_ROW, VECTORS, ON_READ], &["k"]));
        assert!(!hides(&[VECTORS], &[]));
    }

    #[test]
    fn compactions_and_reads_of_changes_see_all_levels() {
        // RP-075
        for other in [
            ("batch-scan-mode", "compact"),
            ("incremental-between", "1,2"),
            ("scan.mode", "latest-delta"),
        ] {
            for waits in [VECTORS, FIRST_ROW] {
                assert!(!hides(&[waits, other], &["k"]), "{other:?}");
            }
        }
        // RP-077
        assert!(hides(&[VECTORS, ("scan.snapshot-id", "1")], &["k"]));
        assert!(hides(&[VECTORS, ("batch-scan-mode", "none")], &["k"]));
    }
}
