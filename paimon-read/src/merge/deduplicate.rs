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
    pub(crate) rules: Rules,
    pub(crate) heads: &'a [HeadRows<'a>],
    pub(crate) window: &'a mut Window,
}

impl Sink for Deduplicate<'_> {
    fn stretch(&mut self, head: usize, position: usize, length: usize) -> Result<()> {
        let Some(rows) = self.heads.get(head).copied() else {
            return Ok(());
        };
        if rows.kinds.is_none() || self.rules.keep_retracts {
            self.emit(&rows, position, length);
            return Ok(());
        }
        let mut from = position;
        for at in position..position + length {
            if !rows.kind(at)?.is_add() {
                self.emit(&rows, from, at - from);
                from = at + 1;
            }
        }
        self.emit(&rows, from, position + length - from);
        Ok(())
    }

    fn versions(&mut self, members: &[(usize, usize)]) -> Result<()> {
        let Some((rows, position)) = self.winner(members)? else {
            return Ok(());
        };
        if self.rules.keep_retracts || rows.kind(position)?.is_add() {
            self.emit(&rows, position, 1);
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

    fn emit(&mut self, rows: &HeadRows<'_>, position: usize, length: usize) {
        // A window of keys has at most `u32::MAX` rows: it is part of one piece.
        let (Ok(position), Ok(length)) = (u32::try_from(position), u32::try_from(length)) else {
            return;
        };
        if length > 0 {
            rows.positions.rows(position, length, |row, count| {
                self.window.pick(rows.piece, row, count);
            });
        }
    }
}
