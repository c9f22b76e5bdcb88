//! What a scan shows: a state as batch reads show it, the state a stream begins with, or changes.

use paimon_meta::{ChangelogProducer, Options, Result};

use crate::engine::Engine;
use crate::prune::{LevelRule, ValuePruning};

/// Value of the option `bucket` for tables whose new rows wait in a bucket of their own until a compaction (RP-170).
pub(crate) const POSTPONE: i32 = -2;

/// What a scan makes of the entries it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// A state, as a batch read shows it.
    Batch,
    /// A state with all its levels: one side of a difference.
    Side,
    /// The state that a stream begins with.
    StreamStart,
    /// Files of a range of snapshots, as batch splits (RP-152).
    Range,
    /// What one snapshot added, as streaming splits (RP-151).
    Delta,
    /// The changelog of one snapshot, as streaming splits (RP-151).
    Changelog,
}

impl View {
    /// Whether entries are changes and not a state: then nothing is merged, neither entries nor rows.
    pub(crate) fn is_changes(self) -> bool {
        matches!(self, Self::Range | Self::Delta | Self::Changelog)
    }

    /// Whether a bucket becomes one split, whatever its size (RP-150).
    pub(crate) fn has_streaming_splits(self) -> bool {
        matches!(self, Self::Delta | Self::Changelog)
    }

    /// The levels that are shown (RP-075, RP-078).
    ///
    /// # Errors
    /// `InvalidInput` for options that do not parse.
    pub(crate) fn levels(self, engine: Engine, options: &Options) -> Result<LevelRule> {
        Ok(match self {
            Self::Batch if engine.hides_level_zero() => LevelRule::AboveZero,
            Self::StreamStart if engine.has_key => {
                match options.value(&Options::CHANGELOG_PRODUCER)? {
                    ChangelogProducer::Lookup => LevelRule::AboveZero,
                    ChangelogProducer::FullCompaction => {
                        LevelRule::Only(options.num_levels()?.saturating_sub(1))
                    }
                    _ => LevelRule::All,
                }
            }
            _ => LevelRule::All,
        })
    }

    /// How value statistics drop files (RP-055, RP-056, RP-063).
    ///
    /// # Errors
    /// `InvalidInput` for options that do not parse.
    pub(crate) fn value_pruning(self, engine: Engine, options: &Options) -> Result<ValuePruning> {
        if !engine.has_key {
            return Ok(ValuePruning::PerFile);
        }
        Ok(match self {
            Self::Batch if engine.hides_level_zero() => ValuePruning::PerFile,
            Self::Batch | Self::Side | Self::StreamStart => {
                ValuePruning::PerBucket(engine.row_origin())
            }
            Self::Range | Self::Delta => ValuePruning::Off,
            Self::Changelog => match options.value(&Options::CHANGELOG_PRODUCER)? {
                ChangelogProducer::Lookup | ChangelogProducer::FullCompaction => {
                    ValuePruning::PerFile
                }
                _ => ValuePruning::Off,
            },
        })
    }

    /// Whether rows that wait for a compaction are left out (RP-170).
    ///
    /// # Errors
    /// `InvalidInput` for options that do not parse.
    pub(crate) fn only_real_buckets(self, options: &Options) -> Result<bool> {
        let postponed = options.value(&Options::BUCKET)? == POSTPONE;
        Ok(match self {
            Self::Batch | Self::Side | Self::Range => postponed,
            Self::StreamStart | Self::Delta | Self::Changelog => {
                postponed && options.value(&Options::CHANGELOG_PRODUCER)? != ChangelogProducer::None
            }
        })
    }
}
