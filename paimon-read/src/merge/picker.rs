//! Picking rows of heads: what the sinks of all engines have in common.

use std::cmp::Ordering;

use paimon_meta::{Error, MergeEngine, Result};

use super::picked_keys::{PickedKeys, Written};
use super::picks::Stretch;
use super::versions::{HeadRows, compare_versions};
use crate::positions::Positions;
use crate::window::Window;

/// Rules of the table and the request that decide which rows make the result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// What becomes of the versions of a key.
    pub(crate) engine: MergeEngine,
    /// Retracts do not take part where a key has several versions.
    pub(crate) ignore_delete: bool,
    /// A lookup table: of the compacted versions only that of the smallest level counts (RP-347).
    pub(crate) lookup: bool,
    /// A retract among several versions is an error (ME-046).
    pub(crate) refuses_retracts: bool,
    /// Retracts are rows of the result.
    pub(crate) keep_retracts: bool,
}

/// One version of a key: the rows of its head, and which of them it is.
pub(crate) type Version<'a> = (&'a HeadRows<'a>, usize);

/// Picks rows of heads.
#[derive(Debug)]
pub(crate) struct Picker<'a> {
    pub(crate) rules: Rules,
    heads: &'a [HeadRows<'a>],
    window: &'a mut Window,
    /// What is picked, to be handed over at once.
    picks: Vec<Stretch>,
    picked_rows: usize,
    /// Keys of what is picked, if they are wanted in that order.
    picked: Option<PickedKeys>,
    /// Age of each head, the newest largest, where the heads alone decide.
    ages: Option<Vec<u32>>,
}

impl<'a> Picker<'a> {
    pub(crate) fn new(
        rules: Rules,
        heads: &'a [HeadRows<'a>],
        window: &'a mut Window,
        picked: Option<PickedKeys>,
    ) -> Self {
        Self {
            ages: (!rules.lookup).then(|| ages(heads)).flatten(),
            rules,
            heads,
            window,
            picks: Vec::new(),
            picked_rows: 0,
            picked,
        }
    }

    /// Number of rows that were picked.
    pub(crate) fn picked_rows(&self) -> usize {
        self.picked_rows
    }

    /// Hands the picks over; returns their keys.
    pub(crate) fn finish(self) -> Option<PickedKeys> {
        self.window.pick_all(&self.picks);
        self.picked
    }

    /// Age of each head, the newest largest, where heads alone decide: then all versions are adds, and all count.
    pub(crate) fn ages(&self) -> Option<&[u32]> {
        self.ages.as_deref()
    }

    /// The heads, the one with the newest rows first, if the newest version of a key is its result and the heads alone
    /// decide which one that is.
    pub(crate) fn newest_first(&self) -> Option<Vec<usize>> {
        let has_kinds = self.heads.iter().any(|rows| rows.kinds.is_some());
        if self.rules.lookup || self.rules.ignore_delete && has_kinds {
            return None;
        }
        let mut order = by_age(self.heads)?;
        order.reverse();
        Some(order)
    }

    /// The heads, the one with the oldest rows first, if they hold adds only and alone decide which version is the oldest.
    pub(crate) fn oldest_first(&self) -> Option<Vec<usize>> {
        self.ages.as_ref().and_then(|_| by_age(self.heads))
    }

    /// As [`Self::newest_first`], if the newest version is known to be the row of its key.
    pub(crate) fn whole_rows_newest_first(&self) -> Option<Vec<usize>> {
        let mut with_rows = self.heads.iter().filter(|rows| rows.keys.is_some());
        let whole = with_rows.all(|rows| rows.wholeness.whole && rows.wholeness.sound);
        let plain = whole && self.ages.is_some();
        plain.then(|| self.newest_first()).flatten()
    }

    pub(crate) fn head(&self, head: usize) -> Option<&'a HeadRows<'a>> {
        self.heads.get(head)
    }

    /// Picks rows whose keys have one version each: as they are, retracts only if they are kept (ME 1.5).
    pub(crate) fn lone(&mut self, head: usize, position: usize, length: usize) -> Result<()> {
        let Some(rows) = self.head(head) else {
            return Ok(());
        };
        if rows.kinds.is_none() || self.rules.keep_retracts {
            return self.emit(rows, position, length);
        }
        let mut from = position;
        for at in position..position + length {
            if !rows.kind(at)?.is_add() {
                self.emit(rows, from, at - from)?;
                from = at + 1;
            }
        }
        self.emit(rows, from, position + length - from)
    }

    /// As [`Self::lone`] for rows in the order of their keys.
    pub(crate) fn lone_all<T: Written>(
        &mut self,
        keys: &[T],
        stretches: impl Iterator<Item = (usize, usize, usize)>,
    ) -> Result<()> {
        let Some(starts) = self.starts() else {
            for (head, position, length) in stretches {
                self.lone(head, position, length)?;
            }
            return Ok(());
        };
        self.picked_rows += keys.len();
        if let Some(picked) = &mut self.picked {
            T::write(keys, picked);
        }
        self.picks.reserve(stretches.size_hint().0);
        for (head, position, length) in stretches {
            let start = starts.get(head).copied();
            let range = u32::try_from(position).ok().zip(u32::try_from(length).ok());
            let Some(((piece, first), (position, length))) = start.zip(range) else {
                return Err(Error::internal("a window of 2^32 keys"));
            };
            let row = first + position;
            self.picks.push(Stretch { piece, row, length });
        }
        Ok(())
    }

    /// Piece and first row of each head, if all rows are picked that win, and rows that follow each other in a head do in
    /// its piece.
    fn starts(&self) -> Option<Vec<(u32, u32)>> {
        let start = |rows: &HeadRows<'_>| match rows.positions {
            Positions::From { first, .. } if rows.kinds.is_none() || self.rules.keep_retracts => {
                Some((rows.piece, *first))
            }
            _ => None,
        };
        self.heads.iter().map(start).collect()
    }

    /// Picks a version that is the result of its key, unless it is a retract that is dropped.
    pub(crate) fn winner(&mut self, (rows, position): Version<'a>) -> Result<()> {
        if self.rules.keep_retracts || rows.kind(position)?.is_add() {
            self.emit(rows, position, 1)?;
        }
        Ok(())
    }

    /// The versions that count: in a lookup table not those of deeper levels than the first compacted one.
    pub(crate) fn counted(&self, members: &[(usize, usize)]) -> impl Iterator<Item = Version<'a>> {
        let compacted = self.smallest_level(members);
        let heads = self.heads;
        let versions = members
            .iter()
            .filter_map(move |(head, position)| Some((heads.get(*head)?, *position)));
        versions.filter(move |(rows, _)| {
            compacted.is_none_or(|level| rows.level <= 0 || rows.level == level)
        })
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

    /// Picks rows.
    #[inline]
    pub(crate) fn emit(
        &mut self,
        rows: &HeadRows<'_>,
        position: usize,
        length: usize,
    ) -> Result<()> {
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
        let (piece, picks) = (rows.piece, &mut self.picks);
        rows.positions
            .rows(position, length, |row, length| match picks.last_mut() {
                Some(last) if last.piece == piece && last.row + last.length == row => {
                    last.length += length;
                }
                _ => picks.push(Stretch { piece, row, length }),
            });
        Ok(())
    }

    /// Picks versions of one key that are merged, oldest first.
    pub(crate) fn group(&mut self, versions: &[Version<'a>]) -> Result<()> {
        for (rows, position) in versions {
            self.emit(rows, *position, 1)?;
        }
        let known = self.ages.is_none() && versions.iter().any(|(rows, _)| rows.kinds.is_some());
        let kinds = versions
            .iter()
            .filter(|_| known)
            .map(|(rows, at)| rows.kind(*at));
        let end = self.window.picked_rows() + self.picked_rows as u64;
        self.window.group(end, versions.len(), kinds)
    }
}

/// Sorts versions, the oldest first (ME 1.3).
///
/// # Errors
/// `Corrupt` for a bad kind byte.
pub(crate) fn sort_versions(versions: &mut [Version<'_>]) -> Result<()> {
    // Runs are few, and their files often come in the order of their age.
    let mut failed = None;
    versions.sort_by(|(a, at_a), (b, at_b)| {
        compare_versions((*a, *at_a), (*b, *at_b)).unwrap_or_else(|error| {
            failed = Some(error);
            Ordering::Equal
        })
    });
    failed.map_or(Ok(()), Err)
}

/// Ages of heads whose sequence ranges are disjoint and that hold adds only: any row of one is newer than any of another.
fn ages(heads: &[HeadRows<'_>]) -> Option<Vec<u32>> {
    if heads.iter().any(|rows| rows.kinds.is_some()) {
        return None;
    }
    let mut ages = vec![0; heads.len()];
    for (head, age) in by_age(heads)?.into_iter().zip(0..) {
        if let Some(slot) = ages.get_mut(head) {
            *slot = age;
        }
    }
    Some(ages)
}

/// Heads in the order of their age, the oldest first, if any row of one is newer than any of another: nothing but sequence
/// numbers decides, and their ranges are disjoint. Sentinels have no rows and come anywhere.
fn by_age(heads: &[HeadRows<'_>]) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = (0..heads.len()).collect();
    let range = |head: &usize| {
        heads
            .get(*head)
            .map(|rows| (rows.sequences.min, rows.sequences.max))
    };
    order.sort_by_key(range);
    let with_rows = || {
        let sorted = order.iter().filter_map(|head| heads.get(*head));
        sorted.filter(|rows| rows.keys.is_some())
    };
    let plain = with_rows().all(|rows| rows.user.is_none());
    let disjoint = with_rows()
        .zip(with_rows().skip(1))
        .all(|(older, newer)| older.sequences.max < newer.sequences.min);
    (plain && disjoint).then_some(order)
}
