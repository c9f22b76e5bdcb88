//! Which picked rows are versions of one key, for engines that make one row of them.
//!
//! The key pass marks groups as it picks; rows outside of groups stand alone. The fold takes the groups of each batch of
//! versions, which never ends inside one.

use std::collections::VecDeque;
use std::ops::Range;

use paimon_meta::{Error, Result, RowKind};

/// Groups among the picked rows that were not handed out yet.
#[derive(Debug, Default)]
pub(crate) struct GroupMarks {
    marks: VecDeque<Mark>,
    /// Kinds of the versions of groups that know them.
    kinds: VecDeque<RowKind>,
}

#[derive(Clone, Copy, Debug)]
struct Mark {
    /// Its first row, counted over all picks.
    first: u64,
    length: u32,
    /// Whether its kinds are kept; else all are adds.
    kinds: bool,
}

impl GroupMarks {
    /// Marks the `length` rows before `end` as versions of one key, with their kinds where they are known.
    ///
    /// # Errors
    /// Those of the kinds; `Internal` for 2^32 versions.
    pub(crate) fn push(
        &mut self,
        end: u64,
        length: usize,
        kinds: impl Iterator<Item = Result<RowKind>>,
    ) -> Result<()> {
        let before = self.kinds.len();
        let mut retracts = false;
        for kind in kinds {
            let kind = kind?;
            retracts |= !kind.is_add();
            self.kinds.push_back(kind);
        }
        if !retracts {
            self.kinds.truncate(before);
        }
        let length =
            u32::try_from(length).map_err(|_| Error::internal("2^32 versions of a key"))?;
        self.marks.push_back(Mark {
            first: end - u64::from(length),
            length,
            kinds: retracts,
        });
        Ok(())
    }

    /// How many rows from `row` on belong to the group of the row before it.
    pub(crate) fn rest(&self, row: u64) -> u32 {
        let after = self.marks.partition_point(|mark| mark.first < row);
        let mark = after.checked_sub(1).and_then(|at| self.marks.get(at));
        let end = mark.map_or(0, |mark| mark.first + u64::from(mark.length));
        // A group is no longer than its length.
        u32::try_from(end.saturating_sub(row)).unwrap_or(u32::MAX)
    }

    /// The groups of rows `from..from + rows`, which end with a group.
    pub(crate) fn take(&mut self, from: u64, rows: u32) -> KeyGroups {
        let end = from + u64::from(rows);
        let mut groups = KeyGroups {
            rows,
            ..KeyGroups::default()
        };
        let marks = self.marks.partition_point(|mark| mark.first < end);
        groups.merged.reserve(marks);
        groups.offsets.reserve(marks);
        for mark in self.marks.drain(..marks) {
            let row = u32::try_from(mark.first - from).unwrap_or(u32::MAX);
            if mark.kinds {
                groups.add_kinds(self.kinds.drain(..mark.length as usize));
            }
            groups.add(row, mark);
        }
        groups
    }

    /// Bytes that are held.
    pub(crate) fn bytes(&self) -> usize {
        self.marks.len() * size_of::<Mark>() + self.kinds.len()
    }
}

/// Rows of a batch of versions, by key. Versions that are merged are also counted by themselves, without lone ones:
/// merge functions see nothing else.
#[derive(Debug)]
pub(crate) struct KeyGroups {
    /// Rows of the batch.
    rows: u32,
    merged: Vec<MergedKey>,
    /// The versions of merged key `i` are numbers `offsets[i]..offsets[i + 1]` of the merged versions.
    offsets: Vec<u32>,
    kinds: Vec<RowKind>,
}

impl Default for KeyGroups {
    fn default() -> Self {
        Self {
            rows: 0,
            merged: Vec::new(),
            offsets: vec![0],
            kinds: Vec::new(),
        }
    }
}

/// A key whose versions are merged.
#[derive(Clone, Copy, Debug)]
struct MergedKey {
    /// Row of its first version.
    row: u32,
    /// Number of its first version among the merged ones.
    first: u32,
    length: u32,
    /// Where its kinds start, if it has retracts.
    kinds: Option<u32>,
}

/// The versions of one key that are merged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group<'a> {
    /// The key, counted over the merged keys.
    pub(crate) number: usize,
    /// The key, counted over the batch.
    pub(crate) key: usize,
    /// Row of its first version in the batch.
    pub(crate) row: u32,
    /// Number of its first version among the merged versions.
    pub(crate) first: u32,
    /// Number of versions.
    pub(crate) length: u32,
    /// Their kinds; empty if all are adds.
    pub(crate) kinds: &'a [RowKind],
}

impl Group<'_> {
    /// Numbers of its versions among the merged ones, oldest first.
    pub(crate) fn rows(&self) -> Range<u32> {
        self.first..self.first + self.length
    }

    /// Number of its newest version among the merged ones.
    pub(crate) fn last(&self) -> u32 {
        self.first + self.length - 1
    }

    /// Numbers of its versions with their kinds.
    pub(crate) fn versions(&self) -> impl Iterator<Item = (u32, RowKind)> + '_ {
        let known = self.kinds.iter().copied();
        let kinds = known.chain(std::iter::repeat(RowKind::Insert));
        self.rows().zip(kinds)
    }
}

impl KeyGroups {
    /// Adds a group that starts at `row`; its kinds, if it has some, are the last ones that were added.
    #[inline]
    fn add(&mut self, row: u32, mark: Mark) {
        let (first, length) = (self.merged_rows(), mark.length);
        // A batch has fewer than 2^32 rows.
        let kinds = u32::try_from(self.kinds.len()).unwrap_or(u32::MAX);
        self.merged.push(MergedKey {
            row,
            first,
            length,
            kinds: mark.kinds.then(|| kinds - length),
        });
        self.offsets.push(first + length);
    }

    fn add_kinds(&mut self, kinds: impl Iterator<Item = RowKind>) {
        self.kinds.extend(kinds);
    }

    /// Number of keys.
    pub(crate) fn key_count(&self) -> usize {
        (self.rows - self.merged_rows()) as usize + self.merged.len()
    }

    /// Number of versions that are merged.
    pub(crate) fn merged_rows(&self) -> u32 {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// The versions of merged key `i` are numbers `offsets[i]..offsets[i + 1]` of the merged versions.
    pub(crate) fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// Whether every row stands alone.
    pub(crate) fn are_lone(&self) -> bool {
        self.merged.is_empty()
    }

    /// Whether a group has retracts.
    pub(crate) fn retract(&self) -> bool {
        !self.kinds.is_empty()
    }

    /// The keys whose versions are merged, in order.
    #[inline]
    pub(crate) fn merged_keys(&self) -> impl ExactSizeIterator<Item = Group<'_>> {
        self.merged.iter().enumerate().map(|(number, merged)| {
            let kinds = merged.kinds.map(|start| start as usize);
            let kinds = kinds.and_then(|start| {
                let end = start + merged.length as usize;
                self.kinds.get(start..end)
            });
            Group {
                number,
                // Rows before it are lone keys, but for merged versions.
                key: (merged.row - merged.first) as usize + number,
                row: merged.row,
                first: merged.first,
                length: merged.length,
                kinds: kinds.unwrap_or_default(),
            }
        })
    }

    /// Row in the batch of the merged version of that number.
    pub(crate) fn row_of(&self, version: u32) -> Option<u32> {
        let after = self.merged.partition_point(|key| key.first <= version);
        let key = self.merged.get(after.checked_sub(1)?)?;
        Some(key.row + (version - key.first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(kinds: &[RowKind]) -> impl Iterator<Item = Result<RowKind>> {
        kinds.iter().copied().map(Ok)
    }

    #[test]
    fn rows_between_groups_stand_alone() {
        let mut marks = GroupMarks::default();
        marks.push(5, 2, kinds(&[])).unwrap();
        marks
            .push(
                8,
                3,
                kinds(&[RowKind::Insert, RowKind::Delete, RowKind::Insert]),
            )
            .unwrap();
        assert_eq!(marks.rest(3), 0);
        assert_eq!(marks.rest(4), 1);
        assert_eq!(marks.rest(5), 0);
        assert_eq!(marks.rest(6), 2);
        let groups = marks.take(1, 9);
        assert_eq!(groups.key_count(), 6);
        assert_eq!(
            (groups.offsets(), groups.merged_rows()),
            (&[0, 2, 5][..], 5)
        );
        let merged = groups.merged_keys();
        let merged = merged.map(|group| (group.key, group.row, group.rows(), group.kinds.len()));
        assert_eq!(
            merged.collect::<Vec<_>>(),
            [(2, 2, 0..2, 0), (3, 4, 2..5, 3)]
        );
        let rows: Vec<_> = (0..5).map(|version| groups.row_of(version)).collect();
        assert_eq!(rows, [2, 3, 4, 5, 6].map(Some));
        assert!(marks.take(10, 2).are_lone());
    }

    #[test]
    fn kinds_of_adds_are_not_kept() {
        let mut marks = GroupMarks::default();
        let adds = [RowKind::Insert, RowKind::UpdateAfter];
        marks.push(2, 2, kinds(&adds)).unwrap();
        let retract = [RowKind::UpdateBefore, RowKind::Insert];
        marks.push(4, 2, kinds(&retract)).unwrap();
        let groups = marks.take(0, 4);
        assert!(groups.retract());
        let merged: Vec<_> = groups.merged_keys().map(|group| group.kinds).collect();
        assert_eq!(merged, [&[][..], &retract[..]]);
    }
}
