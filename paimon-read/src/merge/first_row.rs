//! `first-row`: the oldest add of a key is the row. Facts: RP-343, merge-engines sections 2.4 and 5.
//!
//! | versions | result |
//! |---|---|
//! | one | itself, also if it is a retract |
//! | several | the oldest add with its kind; a retract among them is an error, with `ignore-delete` it does not count |
//!
//! What it decides by is what `deduplicate` decides by, so the winner is known before any value is read here too. The rule
//! of lookup tables (RP-347) is not for this engine.

use std::cmp::Ordering;

use paimon_meta::{Error, Frame, Result};

use super::kernel::Sink;
use super::picked_keys::Written;
use super::picker::{Picker, Version};
use super::versions::compare_versions;

/// Picks the oldest adds.
#[derive(Debug)]
pub(crate) struct FirstRow<'a, 'b>(pub(crate) &'b mut Picker<'a>);

impl Sink for FirstRow<'_, '_> {
    fn stretch(&mut self, head: usize, position: usize, length: usize) -> Result<()> {
        self.0.lone(head, position, length)
    }

    fn versions(&mut self, members: &[(usize, usize)]) -> Result<()> {
        let mut oldest: Option<Version<'_>> = None;
        for (rows, position) in self.0.counted(members) {
            if !rows.kind(position)?.is_add() {
                if self.0.rules.ignore_delete {
                    continue;
                }
                return Err(
                    Error::corrupt("merge engine first-row takes no retractions")
                        .with_hint("set ignore-delete")
                        .at(Frame::File(rows.file.to_owned())),
                );
            }
            let older = match &oldest {
                None => true,
                Some((first, at)) => {
                    compare_versions((rows, position), (first, *at))? == Ordering::Less
                }
            };
            if older {
                oldest = Some((rows, position));
            }
        }
        match oldest {
            Some(oldest) => self.0.winner(oldest),
            None => Ok(()),
        }
    }

    fn precedence(&self) -> Option<Vec<usize>> {
        self.0.oldest_first()
    }

    fn stretches<T: Written>(
        &mut self,
        keys: &[T],
        stretches: impl Iterator<Item = (usize, usize, usize)>,
    ) -> Result<()> {
        self.0.lone_all(keys, stretches)
    }
}
