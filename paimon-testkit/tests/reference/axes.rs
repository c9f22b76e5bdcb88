//! The kinds of histories that are run: one module and one line each.

mod append;
mod buckets;
mod engines;
mod evolutions;

use paimon_testkit::History;
use serde_json::Value;

use crate::differences::touched;
use crate::random::Random;

/// Who writes a table; the other one reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writer {
    /// The kit; the reference's rows must be the oracle's.
    Kit,
    /// The reference.
    Reference,
}

/// A kind of histories.
#[derive(Clone, Copy)]
pub(crate) struct Axis {
    pub(crate) name: &'static str,
    pub(crate) writers: &'static [Writer],
    /// A history and what is read of it.
    draw: fn(&mut Random, Writer) -> Case,
    /// What at least some of its histories must have.
    pub(crate) covers: &'static [Feature],
}

/// What plans of the reference show of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Feature {
    /// Several files that must be merged.
    Merged,
    /// Files read as they are.
    Raw,
    /// Files on two levels or more.
    Levels,
    /// Deletion vectors.
    Vectors,
    /// Reads that fail.
    Failing,
}

const BOTH: &[Writer] = &[Writer::Kit, Writer::Reference];

pub(crate) const AXES: &[Axis] = &[
    Axis {
        name: "deduplicate",
        writers: BOTH,
        draw: engines::deduplicate,
        covers: &[
            Feature::Merged,
            Feature::Raw,
            Feature::Levels,
            Feature::Vectors,
        ],
    },
    Axis {
        name: "partial-update",
        writers: BOTH,
        draw: engines::partial_update,
        covers: &[
            Feature::Merged,
            Feature::Raw,
            Feature::Levels,
            Feature::Vectors,
            Feature::Failing,
        ],
    },
    Axis {
        name: "aggregation",
        writers: BOTH,
        draw: engines::aggregation,
        covers: &[
            Feature::Merged,
            Feature::Raw,
            Feature::Levels,
            Feature::Vectors,
            Feature::Failing,
        ],
    },
    Axis {
        name: "first-row",
        writers: BOTH,
        draw: engines::first_row,
        covers: &[Feature::Raw, Feature::Levels],
    },
    Axis {
        name: "append",
        writers: BOTH,
        draw: append::append,
        covers: &[Feature::Raw, Feature::Vectors],
    },
    Axis {
        name: "buckets",
        writers: BOTH,
        draw: buckets::buckets,
        covers: &[Feature::Merged, Feature::Raw],
    },
    Axis {
        name: "evolutions",
        writers: BOTH,
        draw: evolutions::evolution,
        covers: &[Feature::Merged, Feature::Raw],
    },
];

/// A history and what is read of it.
#[derive(Clone)]
pub(crate) struct Case {
    /// The history as JSON.
    pub(crate) text: Value,
    pub(crate) reads: Vec<Value>,
}

impl Case {
    pub(crate) fn history(&self) -> History {
        History::from_json(self.text.to_string().as_bytes()).unwrap()
    }
}

impl Axis {
    /// The case of a seed, and the numbers of the differences for whose sake others were thrown away.
    pub(crate) fn case(&self, writer: Writer, seed: u64) -> (Case, Vec<&'static str>) {
        let mut thrown = Vec::new();
        let random = &mut Random::new(seed);
        loop {
            let case = (self.draw)(random, writer);
            match touched(&case) {
                None => return (case, thrown),
                Some(difference) => thrown.push(difference.number),
            }
        }
    }
}
