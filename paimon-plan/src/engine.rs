//! How rows of one key become one, as far as planning must know.

use paimon_meta::{Error, Frame, MergeEngine, Options, ResolvedTable, Result};

use crate::bucket_pass::RowOrigin;

/// What the options say of merging.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Engine {
    pub(crate) has_key: bool,
    pub(crate) merge: MergeEngine,
    pub(crate) deletion_vectors: bool,
    pub(crate) merge_on_read: bool,
}

impl Engine {
    pub(crate) fn of(table: &ResolvedTable) -> Result<Self> {
        let options = &table.options;
        Ok(Self {
            has_key: table.schema.has_primary_key(),
            merge: options.value(&Options::MERGE_ENGINE)?,
            deletion_vectors: options.value(&Options::DELETION_VECTORS_ENABLED)?,
            merge_on_read: options.value(&Options::DELETION_VECTORS_MERGE_ON_READ)?,
        })
    }

    /// Refuses by name what is not built.
    pub(crate) fn refuse(self) -> Result<()> {
        if self.deletion_vectors {
            let option = Frame::Option(Options::DELETION_VECTORS_ENABLED.key.to_owned());
            return Err(Error::unsupported("deletion vectors").at(option));
        }
        Ok(())
    }

    pub(crate) fn first_row(self) -> bool {
        self.has_key && self.merge == MergeEngine::FirstRow
    }

    /// RP-075
    pub(crate) fn hides_level_zero(self) -> bool {
        self.has_key
            && if self.deletion_vectors {
                !self.merge_on_read
            } else {
                self.first_row()
            }
    }

    pub(crate) fn row_origin(self) -> RowOrigin {
        match self.merge {
            MergeEngine::Deduplicate | MergeEngine::FirstRow => RowOrigin::Stored,
            _ if self.deletion_vectors => RowOrigin::CombinedOnLevelZero,
            _ => RowOrigin::Combined,
        }
    }
}
