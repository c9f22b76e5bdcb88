//! Which changes the options of a read ask for.

use paimon_meta::{
    ChangeFiles, ChangelogProducer, Error, Frame, IncrementalScanMode, Options, Result,
};

use super::auto_tag::TagPeriod;
use crate::snapshots::at_time;
use crate::travel::instant;
use crate::zone::Zone;

/// The changes that the options ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Incremental {
    pub(crate) bounds: Bounds,
    /// The files that record the changes; `None` is the difference of the states.
    pub(crate) files: Option<ChangeFiles>,
}

/// Where changes begin and end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Bounds {
    /// Two tags if there are both, else two ids.
    Names {
        /// The state before the changes.
        from: String,
        /// The state after them.
        to: String,
        /// Two tags stand for their ids.
        tags_as_ids: bool,
    },
    /// Two commit times, milliseconds since the epoch.
    Times {
        /// The last time that does not count.
        from: i64,
        /// The last time that counts.
        to: i64,
    },
    /// A tag that was made automatically, from the one before.
    AutoTag(String, TagPeriod),
}

impl Incremental {
    /// # Errors
    /// `InvalidInput` for options that do not parse.
    pub(crate) fn from_options(options: &Options, zone: Zone) -> Result<Self> {
        let files = change_files(options)?;
        if let Some(text) = options.value(&Options::INCREMENTAL_BETWEEN)? {
            return between(options, &text, files);
        }
        if let Some(text) = options.value(&Options::INCREMENTAL_BETWEEN_TIMESTAMP)? {
            let bounds = between_times(&text, zone)?;
            return Ok(Self { bounds, files });
        }
        let tag = options.value(&Options::INCREMENTAL_TO_AUTO_TAG)?;
        let period = TagPeriod::from_options(options)?;
        Ok(Self {
            bounds: Bounds::AutoTag(tag.unwrap_or_default(), period),
            files: None,
        })
    }
}

fn change_files(options: &Options) -> Result<Option<ChangeFiles>> {
    Ok(
        match options.value(&Options::INCREMENTAL_BETWEEN_SCAN_MODE)? {
            IncrementalScanMode::Delta => Some(ChangeFiles::Delta),
            IncrementalScanMode::Changelog => Some(ChangeFiles::Changelog),
            IncrementalScanMode::Diff => None,
            IncrementalScanMode::Auto => {
                Some(match options.value(&Options::CHANGELOG_PRODUCER)? {
                    ChangelogProducer::None => ChangeFiles::Delta,
                    _ => ChangeFiles::Changelog,
                })
            }
            mode => return Err(Error::internal(format!("no meaning for the mode {mode:?}"))),
        },
    )
}

fn between(options: &Options, text: &str, files: Option<ChangeFiles>) -> Result<Incremental> {
    let key = Options::INCREMENTAL_BETWEEN.key;
    let Some((from, to)) = pair(text) else {
        return Err(fault(
            key,
            format!("option {key} is {text:?}, expected two tags or two snapshot ids with a comma"),
        ));
    };
    Ok(Incremental {
        bounds: Bounds::Names {
            from: from.to_owned(),
            to: to.to_owned(),
            tags_as_ids: options.value(&Options::INCREMENTAL_BETWEEN_TAG_TO_SNAPSHOT)?,
        },
        files,
    })
}

fn between_times(text: &str, zone: Zone) -> Result<Bounds> {
    let key = Options::INCREMENTAL_BETWEEN_TIMESTAMP.key;
    let wrong = || {
        fault(
            key,
            format!("option {key} is {text:?}, expected two times with a comma"),
        )
    };
    let (from, to) = pair(text).ok_or_else(wrong)?;
    let (from, to) = match (from.parse(), to.parse()) {
        (Ok(from), Ok(to)) => (from, to),
        _ => (
            instant(from, zone).ok_or_else(wrong)?,
            instant(to, zone).ok_or_else(wrong)?,
        ),
    };
    if to < from {
        return Err(fault(
            key,
            format!(
                "option {key} ends at {}, before it begins at {}",
                at_time(to),
                at_time(from)
            ),
        ));
    }
    Ok(Bounds::Times { from, to })
}

/// The two parts of a text. As in Java's `split`, commas at the end separate nothing.
fn pair(text: &str) -> Option<(&str, &str)> {
    let (from, to) = text.trim_end_matches(',').split_once(',')?;
    (!to.contains(',')).then_some((from, to))
}

pub(super) fn fault(key: &str, message: String) -> Error {
    Error::invalid_input(message).at(Frame::Option(key.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use paimon_meta::ErrorKind;

    fn parse(options: &[(&str, &str)]) -> Result<Incremental> {
        let options = options
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Incremental::from_options(&Options(options.collect()), Zone::parse("+01:00").unwrap())
    }

    fn files(options: &[(&str, &str)]) -> Option<ChangeFiles> {
        let mut all = vec![("incremental-between", "1,2")];
        all.extend(options);
        parse(&all).unwrap().files
    }

    #[test]
    fn auto_takes_changelog_files_where_the_table_makes_them() {
        // RP-152
        let mode = |mode| ("incremental-between-scan-mode", mode);
        let producer = ("changelog-producer", "lookup");
        assert_eq!(files(&[]), Some(ChangeFiles::Delta));
        assert_eq!(files(&[producer]), Some(ChangeFiles::Changelog));
        assert_eq!(files(&[producer, mode("delta")]), Some(ChangeFiles::Delta));
        assert_eq!(files(&[mode("changelog")]), Some(ChangeFiles::Changelog));
        assert_eq!(files(&[producer, mode("diff")]), None);
    }

    #[test]
    fn bounds_are_names_or_times() {
        let names = parse(&[("incremental-between", "a,b,,")]).unwrap().bounds;
        assert_eq!(
            names,
            Bounds::Names {
                from: "a".to_owned(),
                to: "b".to_owned(),
                tags_as_ids: false
            }
        );
        let key = "incremental-between-timestamp";
        assert_eq!(
            parse(&[(key, "5,7")]).unwrap().bounds,
            Bounds::Times { from: 5, to: 7 }
        );
        let text = "1970-01-01 01:00:00,1970-01-01 01:00:01.5";
        assert_eq!(
            parse(&[(key, text)]).unwrap().bounds,
            Bounds::Times { from: 0, to: 1500 }
        );
    }

    #[test]
    fn bounds_that_are_none_are_invalid_input() {
        let cases = [
            ("incremental-between", "1"),
            ("incremental-between", "1,"),
            ("incremental-between", "1,2,3"),
            ("incremental-between-timestamp", "7,5"),
            ("incremental-between-timestamp", "7,yesterday"),
        ];
        for (key, value) in cases {
            let error = parse(&[(key, value)]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{key} {value}");
            assert_eq!(error.frames().last(), Some(&Frame::Option(key.to_owned())));
        }
    }
}
