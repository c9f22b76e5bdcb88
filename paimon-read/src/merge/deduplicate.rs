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

use paimon_meta::{Error, Result};

use super::kernel::Sink;
use super::picked_keys::PickedKeys;
use super::versions::{HeadRows, compare_versions};
use crate::window::Window;

/// What changes the choice of the winner.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rules {
    /// Retracts do not take part where a key has several versions.
    pub(crate) ignore_delete: bool,
    /// A lookup table: of the compacted versions only that of the smallest level counts (RP-347).
    pub(crate) lookup: bool,
    /// Retracts are rows of the result.
    pub(crate) keep_retracts: bool,
}

/// Picks winners.
#[derive(Debug)]
pub(crate) struct Deduplicate<'a> {
    rules: Rules,
    heads: &'a [HeadRows<'a>],
    window: &'a mut Window,
    picked_rows: usize,
    /// Keys of what is picked, if they are wanted in that order.
    picked: Option<PickedKeys>,
    /// Age of each head, the newest largest, where the heads alone decide.
    ages: Option<Vec<u32>>,
}

impl<'a> Deduplicate<'a> {
    pub(crate) fn new(
        rules: Rules,
        heads: &'a [HeadRows<'a>],
        window: &'a mut Window,
        picked: Option<PickedKeys>,
    ) -> Self {
        let ages = (!rules.lookup).then(|| ages(heads)).flatten();
        Self {
            rules,
            heads,
            window,
            picked_rows: 0,
            picked,
            ages,
        }
    }

    /// Number of rows that were picked.
    pub(crate) fn picked_rows(&self) -> usize {
        self.picked_rows
    }

    /// The keys of what was picked.
    pub(crate) fn into_picked(self) -> Option<PickedKeys> {
        self.picked
    }
}

/// Ages of heads whose sequence ranges are disjoint and that hold adds only: any row of one is newer than any of another.
fn ages(heads: &[HeadRows<'_>]) -> Option<Vec<u32>> {
    let mut order: Vec<usize> = (0..heads.len()).collect();
    let range = |head: &usize| {
        heads
            .get(*head)
            .map(|rows| (rows.sequences.min, rows.sequences.max))
    };
    order.sort_by_key(range);
    let sorted = || order.iter().filter_map(|head| heads.get(*head));
    let plain = sorted().all(|rows| rows.kinds.is_none() && rows.user.is_none());
    let disjoint = sorted()
        .zip(sorted().skip(1))
        .all(|(older, newer)| older.sequences.max < newer.sequences.min);
    if !plain || !disjoint {
        return None;
    }
    let mut ages = vec![0; heads.len()];
    for (head, age) in order.into_iter().zip(0..) {
        if let Some(slot) = ages.get_mut(head) {
            *slot = age;
        }
    }
    Some(ages)
}

impl Sink for Deduplicate<'_> {
    fn stretch(&mut self, head: usize, position: usize, length: usize) -> Result<()> {
        let Some(rows) = self.heads.get(head).copied() else {
            return Ok(());
        };
        if rows.kinds.is_none() || self.rules.keep_retracts {
            return self.emit(&rows, position, length);
        }
        let mut from = position;
        for at in position..position + length {
            if !rows.kind(at)?.is_add() {
                self.emit(&rows, from, at - from)?;
                from = at + 1;
            }
        }
        self.emit(&rows, from, position + length - from)
    }

    fn versions(&mut self, members: &[(usize, usize)]) -> Result<()> {
        if let Some(ages) = &self.ages {
            let newest = members.iter().max_by_key(|(head, _)| ages.get(*head));
            if let Some((head, position)) = newest
                && let Some(rows) = self.heads.get(*head).copied()
            {
                self.emit(&rows, *position, 1)?;
            }
            return Ok(());
        }
        let Some((rows, position)) = self.winner(members)? else {
            return Ok(());
        };
        if self.rules.keep_retracts || rows.kind(position)?.is_add() {
            self.emit(&rows, position, 1)?;
        }
        Ok(())
    }
}

impl<'a> Deduplicate<'a> {
    fn winner(&self, members: &[(usize, usize)]) -> Result<Option<(HeadRows<'a>, usize)>> {
        let compacted = self.smallest_level(members);
        let mut newest: Option<(HeadRows<'a>, usize)> = None;
        for (head, position) in members {
            let Some(rows) = self.heads.get(*head).copied() else {
                continue;
            };
            if compacted.is_some_and(|level| rows.level > 0 && rows.level != level) {
                continue;
            }
            if self.rules.ignore_delete && !rows.kind(*position)?.is_add() {
                continue;
            }
            let newer = match &newest {
                None => true,
                Some((best, at)) => {
                    compare_versions((&rows, *position), (best, *at))? == Ordering::Greater
                }
            };
            if newer {
                newest = Some((rows, *position));
            }
        }
        Ok(newest)
    }

    /// In a lookup table, the smallest level above 0 among the versions.
    fn smallest_level(&self, members: &[(usize, usize)]) -> Option<i32> {
        if !self.rules.lookup {
            return None;
        }
        members
            .iter()
            .filter_map(|(head, _)| self.heads.get(*head))
            .map(|rows| rows.level)
            .filter(|level| *level > 0)
            .min()
    }

    fn emit(&mut self, rows: &HeadRows<'_>, position: usize, length: usize) -> Result<()> {
        if length == 0 {
            return Ok(());
        }
        self.picked_rows += length;
        if let (Some(picked), Some(keys)) = (&mut self.picked, rows.keys) {
            picked.add(keys, position, length);
        }
        let (Ok(position), Ok(length)) = (u32::try_from(position), u32::try_from(length)) else {
            return Err(Error::internal("a window of 2^32 keys"));
        };
        rows.positions.rows(position, length, |row, count| {
            self.window.pick(rows.piece, row, count);
        });
        Ok(())
    }
}
