//! What histories came across, by the plans and answers of the reference.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use paimon_testkit::{GoldenCase, GoldenDataSplit, GoldenSplit};

use crate::axes::{Axis, Feature};

#[derive(Default)]
pub(crate) struct Coverage {
    pub(crate) histories: usize,
    reads: usize,
    rows: usize,
    features: BTreeMap<Feature, usize>,
    /// Histories that were thrown away, by the number of the difference.
    thrown: BTreeMap<&'static str, usize>,
}

impl Coverage {
    pub(crate) fn throw(&mut self, differences: &[&'static str]) {
        for number in differences {
            *self.thrown.entry(number).or_default() += 1;
        }
    }

    pub(crate) fn add(&mut self, answer: &GoldenCase) {
        self.histories += 1;
        self.reads += answer.reads.len();
        let rows = answer
            .reads
            .iter()
            .filter_map(|read| read.rows.as_ref().ok());
        self.rows += rows.map(Vec::len).sum::<usize>();
        for feature in features(answer) {
            *self.features.entry(feature).or_default() += 1;
        }
    }

    /// Features of the axis that too few histories had; a run of a few may miss some.
    pub(crate) fn missing(&self, axis: &Axis) -> Vec<Feature> {
        let least = self.histories / 100;
        let had = |feature: &Feature| self.features.get(feature).copied().unwrap_or(0);
        let missing = axis.covers.iter().filter(|feature| had(feature) < least);
        missing.copied().collect()
    }
}

fn features(answer: &GoldenCase) -> BTreeSet<Feature> {
    let mut features = BTreeSet::new();
    for read in &answer.reads {
        if read.rows.is_err() {
            features.insert(Feature::Failing);
        }
        for split in read.plans.iter().flatten().flatten() {
            if let GoldenSplit::Data(split) = split {
                features.extend(features_of(split));
            }
        }
    }
    features
}

fn features_of(split: &GoldenDataSplit) -> Vec<Feature> {
    let levels: BTreeSet<i32> = split.files.iter().map(|file| file.level).collect();
    let vectors = split
        .files
        .iter()
        .any(|file| file.deletion_vector.is_some());
    let had = [
        (Feature::Raw, split.raw_convertible),
        (
            Feature::Merged,
            !split.raw_convertible && split.files.len() > 1,
        ),
        (Feature::Levels, levels.len() > 1),
        (Feature::Vectors, vectors),
    ];
    let had = had.into_iter().filter(|(_, had)| *had);
    had.map(|(feature, _)| feature).collect()
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} histories, {} reads, {} rows",
            self.histories, self.reads, self.rows
        )?;
        for (feature, count) in &self.features {
            let what = match feature {
                Feature::Merged => "merged",
                Feature::Raw => "raw",
                Feature::Levels => "on several levels",
                Feature::Vectors => "with deletion vectors",
                Feature::Failing => "with reads that fail",
            };
            write!(f, "; {count} {what}")?;
        }
        for (number, count) in &self.thrown {
            write!(f, "; {count} not run for {number}")?;
        }
        Ok(())
    }
}
