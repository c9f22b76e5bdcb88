//! The list of golden reads that are still refused.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use paimon_meta::{Error, Frame, Result, ResultExt};
use serde::Deserialize;

use super::{GOLDEN, GoldenCase, Verdict};

/// `golden/not-yet.toml`: one line per golden read that is refused as not supported, with the feature that is missing.
///
/// ```toml
/// reads = [
///     { case = "merge_agg_sketches", read = 0, feature = "aggregate function hll_sketch" },
/// ]
/// ```
///
/// Listed reads are made all the same and must be refused for that very feature, so that the list stays true: a read
/// that succeeds must be taken out of it. Wrong rows and wrong plans cannot be listed.
#[derive(Clone, Debug, Default)]
pub struct NotYet(BTreeMap<(String, usize), String>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    reads: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    case: String,
    read: usize,
    feature: String,
}

impl NotYet {
    /// The list of [`GOLDEN`].
    ///
    /// # Errors
    /// As [`Self::parse`], and `NotFound` without the file.
    pub fn load() -> Result<Self> {
        let path = Path::new(GOLDEN).join("not-yet.toml");
        let file = || Frame::File(path.display().to_string());
        let text = fs::read_to_string(&path)
            .map_err(|error| Error::not_found("cannot read it").with_source(error))
            .at(file)?;
        Self::parse(&text).at(file)
    }

    /// A list from its text.
    ///
    /// # Errors
    /// `Corrupt` if it is malformed or has a read twice.
    pub fn parse(text: &str) -> Result<Self> {
        let file: File = toml::from_str(text)
            .map_err(|error| Error::corrupt("no list of reads").with_source(error))?;
        let mut features = BTreeMap::new();
        for Entry {
            case,
            read,
            feature,
        } in file.reads
        {
            let key = (case, read);
            if features.contains_key(&key) {
                return Err(Error::corrupt(format!(
                    "read {read} of case {} is there twice",
                    key.0
                )));
            }
            features.insert(key, feature);
        }
        Ok(Self(features))
    }

    /// The feature that a read waits for, if it is listed.
    pub fn feature(&self, case: &str, read: usize) -> Option<&str> {
        self.0.get(&(case.to_owned(), read)).map(String::as_str)
    }

    /// Number of reads listed.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is missing any more.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Entries whose case or read does not exist.
    pub fn unknown(&self, cases: &[GoldenCase]) -> Vec<String> {
        let reads: BTreeMap<&str, usize> = cases
            .iter()
            .map(|case| (case.case.as_str(), case.reads.len()))
            .collect();
        let known = |case: &str, read: usize| reads.get(case).is_some_and(|reads| read < *reads);
        let unknown = self.0.keys().filter(|(case, read)| !known(case, *read));
        unknown
            .map(|(case, read)| format!("{case}[{read}]"))
            .collect()
    }

    /// Whether a read is as it should be: right, or refused for the feature that the list names.
    ///
    /// # Errors
    /// What is wrong, for a person.
    pub fn judge(&self, case: &str, read: usize, verdict: &Verdict) -> Result<(), String> {
        match (verdict, self.feature(case, read)) {
            (Verdict::Same | Verdict::Skipped(_), None) => Ok(()),
            (Verdict::Same | Verdict::Skipped(_), Some(feature)) => Err(format!(
                "{case}[{read}]: is right now, not-yet.toml still says {feature:?}"
            )),
            (Verdict::Refused(found), Some(feature)) if found == feature => Ok(()),
            (Verdict::Refused(found), Some(feature)) => Err(format!(
                "{case}[{read}]: refused for {found:?}, not-yet.toml says {feature:?}"
            )),
            (Verdict::Refused(found), None) => {
                Err(format!("{case}[{read}]: not supported: {found}"))
            }
            (Verdict::Different(difference), _) => Err(format!("{case}[{read}]: {difference}")),
        }
    }
}
