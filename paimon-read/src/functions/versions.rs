//! Versions of keys, and what each of them does.

use std::ops::Range;

use arrow_array::ArrayRef;
use paimon_meta::{Error, Result};

use super::MergeFault;

/// What one version does to the value of its key.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Nothing.
    Skip,
    /// An add: the value is accumulated.
    Add,
    /// An add that is older than what is accumulated already (`aggReversed`, ME-077).
    AddReversed,
    /// A retraction: the value is taken back.
    Retract,
    /// The value takes the place of what is accumulated, as it is: a lone version (ME-020), a version that removes the
    /// record (ME-090), or the base of a key that starts with a retraction (ME-048).
    Replace,
    /// [`Self::Replace`], then [`Self::Retract`] of the same value (ME-079).
    ReplaceThenRetract,
}

impl Step {
    /// Whether the value is taken back.
    pub fn retracts(self) -> bool {
        matches!(self, Self::Retract | Self::ReplaceThenRetract)
    }
}

/// Versions of keys in merge order: group `i` is the rows `offsets[i]..offsets[i + 1]` of a value array, oldest first.
/// A group may be empty; its result is null.
#[derive(Clone, Copy, Debug)]
pub struct Versions<'a> {
    offsets: &'a [u32],
    steps: &'a [Step],
}

/// One group of [`Versions`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Group<'a> {
    /// Row of its first version.
    pub(super) first: u32,
    /// What its versions do.
    pub(super) steps: &'a [Step],
}

impl<'a> Group<'a> {
    /// Its rows and what they do.
    #[inline]
    pub(super) fn rows(self) -> impl Iterator<Item = (u32, Step)> + 'a {
        (self.first..).zip(self.steps.iter().copied())
    }
}

impl<'a> Versions<'a> {
    /// One step a row; one more offset than groups, from 0 ascending to the number of rows.
    ///
    /// # Errors
    /// `InvalidInput` for offsets that are not so.
    pub fn new(offsets: &'a [u32], steps: &'a [Step]) -> Result<Self> {
        let ends = offsets.first() == Some(&0)
            && offsets.last().map(|last| *last as usize) == Some(steps.len());
        if ends && offsets.is_sorted() {
            return Ok(Self { offsets, steps });
        }
        Err(Error::invalid_input(format!(
            "offsets of groups do not ascend from 0 to {}",
            steps.len()
        )))
    }

    /// Groups.
    pub fn group_count(&self) -> usize {
        self.offsets.len() - 1
    }

    /// What each row does.
    pub fn steps(&self) -> &'a [Step] {
        self.steps
    }

    /// Rows of each group, in order.
    #[inline]
    pub(super) fn ranges(&self) -> impl Iterator<Item = Range<usize>> + use<'a> {
        let starts = self.offsets.iter();
        let ends = self.offsets.iter().skip(1);
        starts
            .zip(ends)
            .map(|(start, end)| *start as usize..*end as usize)
    }

    /// Whether every version is an add.
    pub(super) fn are_adds(&self) -> bool {
        self.steps.iter().all(|step| *step == Step::Add)
    }

    /// The same groups with other steps.
    pub(super) fn with_steps<'b>(&self, steps: &'b [Step]) -> Versions<'b>
    where
        'a: 'b,
    {
        Versions {
            offsets: self.offsets,
            steps,
        }
    }

    /// The groups in order.
    #[inline]
    pub(super) fn groups(&self) -> impl ExactSizeIterator<Item = Group<'a>> + use<'a> {
        let steps = self.steps;
        self.offsets.windows(2).map(move |ends| match *ends {
            [start, end] => Group {
                first: start,
                steps: steps.get(start as usize..end as usize).unwrap_or_default(),
            },
            _ => Group {
                first: 0,
                steps: &[],
            },
        })
    }

    /// That there is a value for each step.
    pub(super) fn check_length(&self, values: usize) -> Result<(), MergeFault> {
        let steps = self.steps.len();
        if values == steps {
            return Ok(());
        }
        let error = Error::invalid_input(format!("{values} values for {steps} versions"));
        Err(MergeFault::new(0, error))
    }
}

/// The error of a function that takes no retractions (ME-135).
#[cold]
pub(super) fn retraction_refused(function: &str) -> Error {
    Error::corrupt(format!(
        "aggregate function {function} takes no retractions"
    ))
    .with_hint("set fields.<column>.ignore-retract")
}

/// The error of an array that is not of a type that the function was made for.
pub(super) fn type_not_declared(function: &str, values: &ArrayRef) -> MergeFault {
    let found = values.data_type();
    MergeFault::new(
        0,
        Error::invalid_input(format!(
            "aggregate function {function} takes no array of {found}"
        )),
    )
}
