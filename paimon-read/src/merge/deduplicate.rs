//! `deduplicate`: the newest version of a key is the row. Facts: RP-342, RP-346, merge-engines sections 1.5, 1.6, 2.1.
//!
//! | versions | result |
//! |---|---|
//! | one | itself, also if it is a retract and `ignore-delete` is set |
//! | several | the newest, its kind included; with `ignore-delete` the newest add, none if there is none |
//!
//! A result that is a retract is dropped after the merge, unless kinds are kept. Only keys, sequence and kind decide, so
//! the winner is known before any value is read.

use std::cmp::Ordering;

use paimon_meta::Result;

use super::kernel::Sink;
use super::picked_keys::Written;
use super::picker::{Picker, Version};
use super::versions::compare_versions;

/// Picks the newest versions.
#[derive(Debug)]
pub(crate) struct Deduplicate<'a, 'b>(pub(crate) &'b mut Picker<'a>);

impl Sink for Deduplicate<'_, '_> {
    fn stretch(&mut self, head: usize, position: usize, length: usize) -> Result<()> {
        self.0.lone(head, position, length)
    }

    fn versions(&mut self, members: &[(usize, usize)]) -> Result<()> {
        match self.newest(members)? {
            Some(newest) => self.0.winner(newest),
            None => Ok(()),
        }
    }

    fn precedence(&self) -> Option<Vec<usize>> {
        self.0.newest_first()
    }

    fn stretches<T: Written>(
        &mut self,
        keys: &[T],
        stretches: impl Iterator<Item = (usize, usize, usize)>,
    ) -> Result<()> {
        self.0.lone_all(keys, stretches)
    }
}

impl<'a> Deduplicate<'a, '_> {
    fn newest(&self, members: &[(usize, usize)]) -> Result<Option<Version<'a>>> {
        let mut newest: Option<Version<'a>> = None;
        for (rows, position) in self.0.counted(members) {
            if self.0.rules.ignore_delete && !rows.kind(position)?.is_add() {
                continue;
            }
            let newer = match &newest {
                None => true,
                Some((best, at)) => {
                    compare_versions((rows, position), (best, *at))? == Ordering::Greater
                }
            };
            if newer {
                newest = Some((rows, position));
            }
        }
        Ok(newest)
    }
}
