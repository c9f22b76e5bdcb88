//! Which snapshot the options of a read ask for (RP-013, RP-014, RP-020, RP-021).

use paimon_meta::{
    ChangelogProducer, Datum, Error, Frame, Options, Result, StartupMode, TableOption, TypeKind,
};

use crate::incremental::Incremental;
use crate::zone::Zone;

/// A position in the history of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Travel {
    /// The latest snapshot.
    Latest,
    /// A snapshot by id.
    SnapshotId(i64),
    /// The snapshot that a tag keeps.
    Tag(String),
    /// The first snapshot whose watermark is this or later.
    Watermark(i64),
    /// The last snapshot committed at this time or before, in milliseconds since the epoch.
    Timestamp(i64),
    /// A tag, `watermark-<n>` or a snapshot id, whatever is there.
    Version(String),
    /// The last compacted snapshot, else the latest; with a number only such whose commit identifier it divides.
    Compacted(Option<i64>),
    /// The latest snapshot, but only files created at this time or later.
    FileCreation(i64),
    /// The snapshot after the last one committed before this time, else as [`Self::FileCreation`].
    Creation(i64),
    /// What the latest snapshot added.
    LatestDelta,
    /// Changes in place of a state.
    Incremental(Incremental),
}

/// The options that give the position of a start-up mode: exactly one is set, and none of another mode (RP-020).
fn keys(mode: StartupMode) -> &'static [&'static str] {
    match mode {
        StartupMode::FromTimestamp => &[
            Options::SCAN_TIMESTAMP_MILLIS.key,
            Options::SCAN_TIMESTAMP.key,
        ],
        StartupMode::FromSnapshot => &[
            Options::SCAN_SNAPSHOT_ID.key,
            Options::SCAN_TAG_NAME.key,
            Options::SCAN_WATERMARK.key,
            Options::SCAN_VERSION.key,
        ],
        StartupMode::FromSnapshotFull => {
            &[Options::SCAN_SNAPSHOT_ID.key, Options::SCAN_VERSION.key]
        }
        StartupMode::FromFileCreationTime => &[Options::SCAN_FILE_CREATION_TIME_MILLIS.key],
        StartupMode::FromCreationTimestamp => &[Options::SCAN_CREATION_TIME_MILLIS.key],
        StartupMode::Incremental => &[
            Options::INCREMENTAL_BETWEEN.key,
            Options::INCREMENTAL_BETWEEN_TIMESTAMP.key,
            Options::INCREMENTAL_TO_AUTO_TAG.key,
        ],
        _ => &[],
    }
}

/// The modes that have a position.
const POSITIONED: [StartupMode; 5] = [
    StartupMode::FromTimestamp,
    StartupMode::FromSnapshot,
    StartupMode::FromFileCreationTime,
    StartupMode::FromCreationTimestamp,
    StartupMode::Incremental,
];

impl Travel {
    /// The position that the options ask for, in batch or as the beginning of a stream. Text without a zone is a time of
    /// `zone` (RP-024).
    ///
    /// # Errors
    /// `InvalidInput` for options that contradict each other or do not parse, or that no stream can begin with.
    pub(crate) fn from_options(options: &Options, zone: Zone, stream: bool) -> Result<Self> {
        let mode = options.startup_mode()?;
        check_position(options, mode)?;
        if stream {
            check_stream(options, mode)?;
        }
        Ok(match mode {
            StartupMode::FromTimestamp => Self::Timestamp(timestamp(options, zone)?),
            StartupMode::FromSnapshot | StartupMode::FromSnapshotFull => from_snapshot(options)?,
            StartupMode::FromFileCreationTime => {
                Self::FileCreation(number(options, &Options::SCAN_FILE_CREATION_TIME_MILLIS)?)
            }
            StartupMode::FromCreationTimestamp => {
                Self::Creation(number(options, &Options::SCAN_CREATION_TIME_MILLIS)?)
            }
            StartupMode::CompactedFull => compacted(options)?,
            StartupMode::LatestDelta => Self::LatestDelta,
            StartupMode::Incremental => {
                Self::Incremental(Incremental::from_options(options, zone)?)
            }
            _ => Self::Latest,
        })
    }

    /// Whether the schema of the snapshot is the one to read with (RP-013).
    pub(crate) fn changes_schema(&self) -> bool {
        matches!(
            self,
            Self::SnapshotId(_)
                | Self::Tag(_)
                | Self::Watermark(_)
                | Self::Timestamp(_)
                | Self::Version(_)
        )
    }
}

/// Checks that a stream can begin with the mode.
fn check_stream(options: &Options, mode: StartupMode) -> Result<()> {
    let keys: &[&str] = match mode {
        StartupMode::LatestDelta => &[Options::SCAN_MODE.key],
        StartupMode::Incremental => keys(mode),
        StartupMode::FromSnapshot => &[Options::SCAN_WATERMARK.key, Options::SCAN_TAG_NAME.key],
        _ => return Ok(()),
    };
    match keys.iter().find(|key| options.get(key).is_some()) {
        None => Ok(()),
        Some(key) => Err(Error::invalid_input(format!(
            "option {key} is for batch reads, a stream cannot begin with it"
        ))
        .at(Frame::Option((*key).to_owned()))),
    }
}

/// Checks that one option gives the position of the mode, and none that of another.
fn check_position(options: &Options, mode: StartupMode) -> Result<()> {
    let is_set = |key: &&&str| options.get(key).is_some();
    let wanted = keys(mode);
    let set: Vec<&str> = wanted.iter().filter(is_set).copied().collect();
    let mut others = POSITIONED
        .iter()
        .flat_map(|mode| keys(*mode))
        .filter(is_set);
    let fault = |key: &str, message: String| {
        Err(Error::invalid_input(message).at(Frame::Option(key.to_owned())))
    };
    if let Some(stray) = others.find(|key| !wanted.contains(key)) {
        let with = set.first().copied().unwrap_or(Options::SCAN_MODE.key);
        return fault(stray, format!("option {stray} contradicts option {with}"));
    }
    match set.as_slice() {
        [] if !wanted.is_empty() => fault(
            Options::SCAN_MODE.key,
            format!(
                "the start-up mode needs one of the options {}",
                wanted.join(", ")
            ),
        ),
        [first, second, ..] => fault(
            second,
            format!("option {second} contradicts option {first}, only one may be set"),
        ),
        _ => Ok(()),
    }
}

fn number(options: &Options, option: &TableOption<Option<i64>>) -> Result<i64> {
    options
        .value(option)?
        .ok_or_else(|| Error::internal(format!("option {} is not set", option.key)))
}

fn from_snapshot(options: &Options) -> Result<Travel> {
    Ok(
        if let Some(id) = options.value(&Options::SCAN_SNAPSHOT_ID)? {
            Travel::SnapshotId(id)
        } else if let Some(name) = options.value(&Options::SCAN_TAG_NAME)? {
            Travel::Tag(name)
        } else if let Some(mark) = options.value(&Options::SCAN_WATERMARK)? {
            Travel::Watermark(mark)
        } else {
            Travel::Version(options.value(&Options::SCAN_VERSION)?.unwrap_or_default())
        },
    )
}

fn timestamp(options: &Options, zone: Zone) -> Result<i64> {
    let Some(text) = options.value(&Options::SCAN_TIMESTAMP)? else {
        return number(options, &Options::SCAN_TIMESTAMP_MILLIS);
    };
    instant(&text, zone).ok_or_else(|| {
        let key = Options::SCAN_TIMESTAMP.key;
        Error::invalid_input(format!(
            "option {key} is {text:?}, expected a time such as 2024-01-02 03:04:05"
        ))
        .at(Frame::Option(key.to_owned()))
    })
}

/// The instant of a time of `zone` as text, in milliseconds since the epoch (RP-024); `None` if it is no time.
pub(crate) fn instant(text: &str, zone: Zone) -> Option<i64> {
    match Datum::parse(text.trim(), &TypeKind::Timestamp(3).not_null()) {
        Ok(Datum::Timestamp { millis, .. }) => Some(zone.instant_of(millis)),
        _ => None,
    }
}

/// What "compacted" means for a table (RP-021): with full compactions at known commits only those count.
fn compacted(options: &Options) -> Result<Travel> {
    let commits = options.value(&Options::FULL_COMPACTION_DELTA_COMMITS)?;
    let producer = options.value(&Options::CHANGELOG_PRODUCER)?;
    let full = commits.is_some() || producer == ChangelogProducer::FullCompaction;
    Ok(Travel::Compacted(
        full.then(|| commits.unwrap_or(1).max(1).into()),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use paimon_meta::ErrorKind;

    fn travel(options: &[(&str, &str)]) -> Result<Travel> {
        let options = options
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Travel::from_options(
            &Options(options.collect()),
            Zone::parse("+01:00").unwrap(),
            false,
        )
    }

    #[test]
    fn options_name_a_position() {
        // RP-020, RP-021
        let cases: [(&[(&str, &str)], Travel); 14] = [
            (&[], Travel::Latest),
            (&[("scan.mode", "default")], Travel::Latest),
            (&[("scan.mode", "full")], Travel::Latest),
            (&[("scan.mode", "latest")], Travel::Latest),
            (&[("scan.snapshot-id", "2")], Travel::SnapshotId(2)),
            (
                &[
                    ("scan.mode", "from-snapshot-full"),
                    ("scan.snapshot-id", "2"),
                ],
                Travel::SnapshotId(2),
            ),
            (&[("scan.tag-name", "7")], Travel::Tag("7".to_owned())),
            (&[("scan.watermark", "-5")], Travel::Watermark(-5)),
            (
                &[("scan.mode", "from-snapshot"), ("scan.version", "2")],
                Travel::Version("2".to_owned()),
            ),
            (&[("scan.timestamp-millis", "9")], Travel::Timestamp(9)),
            (
                &[("scan.timestamp", "1970-01-01 01:00:00.5")],
                Travel::Timestamp(500),
            ),
            (
                &[("scan.file-creation-time-millis", "9")],
                Travel::FileCreation(9),
            ),
            (&[("scan.creation-time-millis", "9")], Travel::Creation(9)),
            (&[("scan.mode", "COMPACTED-FULL")], Travel::Compacted(None)),
        ];
        for (options, expected) in cases {
            assert_eq!(travel(options).unwrap(), expected, "{options:?}");
        }
    }

    #[test]
    fn full_compactions_count_where_the_table_makes_them() {
        let full = ("scan.mode", "compacted-full");
        let producer = ("changelog-producer", "full-compaction");
        let every = ("full-compaction.delta-commits", "5");
        assert_eq!(
            travel(&[full, producer]).unwrap(),
            Travel::Compacted(Some(1))
        );
        assert_eq!(travel(&[full, every]).unwrap(), Travel::Compacted(Some(5)));
    }

    #[test]
    fn contradicting_options_are_invalid_input_and_name_the_option() {
        let cases: [(&[(&str, &str)], &str); 9] = [
            (&[("scan.mode", "from-timestamp")], "scan.mode"),
            (&[("scan.mode", "from-snapshot")], "scan.mode"),
            (&[("scan.mode", "from-nowhere")], "scan.mode"),
            (
                &[("scan.mode", "latest-full"), ("scan.snapshot-id", "1")],
                "scan.snapshot-id",
            ),
            (
                &[("scan.snapshot-id", "1"), ("scan.tag-name", "7")],
                "scan.tag-name",
            ),
            (
                &[("scan.snapshot-id", "2"), ("scan.timestamp-millis", "9")],
                "scan.snapshot-id",
            ),
            (
                &[
                    ("scan.mode", "from-snapshot"),
                    ("incremental-between", "2,3"),
                ],
                "incremental-between",
            ),
            (&[("scan.snapshot-id", "two")], "scan.snapshot-id"),
            (&[("scan.timestamp", "yesterday")], "scan.timestamp"),
        ];
        for (options, option) in cases {
            let error = travel(options).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{options:?}");
            assert_eq!(
                error.frames().last(),
                Some(&Frame::Option(option.to_owned())),
                "{options:?}"
            );
        }
    }

    #[test]
    fn streams_do_not_begin_with_changes_tags_or_watermarks() {
        // RP-020
        let cases = [
            ("incremental-between", "1,2"),
            ("scan.mode", "latest-delta"),
            ("scan.tag-name", "a"),
            ("scan.watermark", "1"),
        ];
        for (key, value) in cases {
            let options = Options([(key.to_owned(), value.to_owned())].into());
            let zone = Zone::parse("UTC").unwrap();
            let error = Travel::from_options(&options, zone, true).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            assert_eq!(error.frames().last(), Some(&Frame::Option(key.to_owned())));
            assert!(Travel::from_options(&options, zone, false).is_ok());
        }
    }

    #[test]
    fn positions_in_the_history_bring_their_schema() {
        // RP-013
        assert!(travel(&[("scan.version", "a")]).unwrap().changes_schema());
        assert!(
            !travel(&[("scan.creation-time-millis", "1")])
                .unwrap()
                .changes_schema()
        );
    }
}
